"""OMS's facts of each source, one row per source.

`dbType`: "Data formats", hosted page and Community Edition; DbTypeEnum of oblogclient. The page offers MySQL, Oracle
and OceanBase in both modes; the other sources are written only where that is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from simulator import registry
from simulator.formats.format import Settings
from simulator.formats.oms.types.columns import Types


@dataclass(frozen=True, slots=True)
class System:
    """A row. `types`: by the name of their table, below. `tenants`: names of databases begin with their tenant's.
    `offered`: OMS reads the system."""

    db_type: str
    types: str
    tenants: bool = False
    offered: bool = True


SYSTEMS: Final[Mapping[str, System]] = {
    "gaussdb": System("POSTGRESQL", "postgresql", offered=False),
    "mariadb": System("MYSQL", "mysql", offered=False),
    "mongodb": System("UNKNOWN", "mongodb", offered=False),
    "mysql": System("MYSQL", "mysql"),
    "oceanbase-mysql": System("OB_MYSQL", "mysql", tenants=True),
    "oceanbase-oracle": System("OB_ORACLE", "oracle", tenants=True),
    "oracle": System("ORACLE", "oracle"),
    "postgresql": System("POSTGRESQL", "postgresql", offered=False),
    "sqlserver": System("UNKNOWN", "others", offered=False),
}
# Row of plug-in sources: values by families of types.
OTHERS: Final = System("UNKNOWN", "others", offered=False)
# Package of the types; imported when a run needs them.
_HERE: Final = "simulator.formats.oms.types"
TYPES: Final[Mapping[str, str]] = {
    "mongodb": f"{_HERE}.nearest:mongodb",
    "mysql": f"{_HERE}.columns:mysql",
    "oracle": f"{_HERE}.columns:oracle",
    "others": f"{_HERE}.nearest:nearest",
    "postgresql": f"{_HERE}.nearest:postgresql",
}
SOURCES: Final = tuple(id for id, system in SYSTEMS.items() if system.offered)
# Default source: projects of Community Edition V3.3.1 read nothing else.
SOURCE: Final = "oceanbase-mysql"


def system_of(settings: Settings[Any]) -> System:
    """The row of the settings' source."""
    return SYSTEMS.get(settings.source.id, OTHERS)


def types_of(settings: Settings[Any]) -> Types:
    """OMS's treatment of the types of the settings' source."""
    types: Types = registry.load("table of types", TYPES, system_of(settings).types)(settings.source)
    return types
