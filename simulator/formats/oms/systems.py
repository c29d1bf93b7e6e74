"""What OMS says of each source: a row a source.

`dbType`: "Data formats", hosted page and Community Edition; DbTypeEnum of oblogclient. The page offers MySQL, Oracle
and OceanBase in both modes; the other sources are written only where that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from simulator.errors import NotOffered
from simulator.formats.format import Settings
from simulator.formats.oms import nearest
from simulator.formats.oms.columns import Types, listed
from simulator.sources.source import Source


@dataclass(frozen=True, slots=True)
class System:
    """A row. `tenants`: names of databases begin with their tenant's. `offered`: OMS reads the system."""

    db_type: str
    types: Callable[[Source], Types]
    tenants: bool = False
    offered: bool = True


SYSTEMS: Final[Mapping[str, System]] = {
    "gaussdb": System("POSTGRESQL", nearest.postgresql, offered=False),
    "mariadb": System("MYSQL", listed("mysql"), offered=False),
    "mongodb": System("UNKNOWN", nearest.mongodb, offered=False),
    "mysql": System("MYSQL", listed("mysql")),
    "oceanbase-mysql": System("OB_MYSQL", listed("mysql"), tenants=True),
    "oceanbase-oracle": System("OB_ORACLE", listed("oracle"), tenants=True),
    "oracle": System("ORACLE", listed("oracle")),
    "postgresql": System("POSTGRESQL", nearest.postgresql, offered=False),
    "sqlserver": System("UNKNOWN", nearest.nearest, offered=False),
}
SOURCES: Final = tuple(id for id, system in SYSTEMS.items() if system.offered)


def system_of(settings: Settings[Any]) -> System:
    """The row of the settings' source. Raises NotOffered."""
    system = SYSTEMS.get(settings.source.id)
    if system is None:
        raise NotOffered(f"OMS has no types for {settings.source.title}: choose one of {', '.join(SYSTEMS)}.")
    return system
