"""CloudCanal's facts of each source, one row per source.

Pages: the pages of links, `api_datajob_mapping` (ids of instances), and the release notes up to 5.4.0.0. Only MySQL's
`connector` is printed anywhere; the others are decisions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from simulator.errors import NotOffered
from simulator.formats.format import Broker, Settings
from simulator.formats.members import EVENT_MS, LOGGED_SECOND_MS
from simulator.wire.fields import PerChange

PRODUCT: Final = "CloudCanal"
SPEC: Final = "Message Format, and the product's documentation up to 5.4.0.0"


@dataclass(frozen=True, slots=True)
class Library:
    """A type library of the product, and the facts that all its systems share.

    * `types`: its rows of `types.csv`; `style`: the spelling of types in the source's catalogue; empty: the spelling of
      the version's SHOW CREATE TABLE.
    * `instance`: prefix of instance ids.
    * `event_ms`: the time at the source; `table_changes`: DDL has this member.
    * `triggers`: triggers report DDL.
    """

    types: str
    instance: str
    style: str = ""
    event_ms: PerChange = EVENT_MS
    table_changes: bool = False
    triggers: bool = False


@dataclass(frozen=True, slots=True)
class System:
    """A row: the type library, the data source's type in the product's spelling, and the kinds of broker that the
    product links it to (none for GaussDB: of its family the product reads openGauss). `log_blobs`: the log shows BLOBs;
    LogMiner does so only with `oraLmLobEnable` (5.5.0.0). `types`: rows of `types.csv` that replace those of the
    library."""

    library: Library
    connector: str
    brokers: tuple[Broker, ...] = ("kafka",)
    log_blobs: bool = True
    types: str = ""


MYSQL: Final = Library("mysql", "my", event_ms=LOGGED_SECOND_MS, table_changes=True)
ORACLE: Final = Library("oracle", "ora", "dictionary")
POSTGRESQL: Final = Library("postgresql", "pg", "format_type", triggers=True)
SQLSERVER: Final = Library("sqlserver", "sqlserver", "catalogue")
MONGODB: Final = Library("mongodb", "mongo")

SYSTEMS: Final[Mapping[str, System]] = {
    "gaussdb": System(POSTGRESQL, "openGauss", (), types="gaussdb"),
    "mariadb": System(MYSQL, "MariaDB"),
    "mongodb": System(MONGODB, "MongoDB"),
    "mysql": System(MYSQL, "MySQL", ("kafka", "rocketmq", "rabbitmq")),
    "oceanbase-mysql": System(MYSQL, "OceanBase", ("kafka", "rocketmq"), types="oceanbase-mysql"),
    "oceanbase-oracle": System(ORACLE, "OceanBase", ("kafka", "rocketmq")),
    "oracle": System(ORACLE, "Oracle", ("kafka", "rocketmq"), log_blobs=False),
    "postgresql": System(POSTGRESQL, "PostgreSQL", ("kafka", "rocketmq", "rabbitmq")),
    "sqlserver": System(SQLSERVER, "SQLServer"),
}
SOURCES: Final = tuple(id for id, system in SYSTEMS.items() if system.brokers)
BROKERS: Final[tuple[Broker, ...]] = ("kafka", "rocketmq", "rabbitmq")
# The sources with links to each kind of broker.
LINKS: Final = {broker: tuple(id for id, system in SYSTEMS.items() if broker in system.brokers) for broker in BROKERS}


def system_of(settings: Settings[Any]) -> System:
    """The row of the settings' source. Raises NotOffered."""
    system = SYSTEMS.get(settings.source.id)
    if system is None:
        raise NotOffered(f"{PRODUCT} has no types for {settings.source.title}: choose one of {', '.join(SOURCES)}.")
    return system


def library_of(settings: Settings[Any]) -> Library:
    return system_of(settings).library
