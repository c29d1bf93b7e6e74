"""DTS's facts of each source, one row per source, imported when a run needs it. `system` describes a row.

Sources that DTS does not read are treated like the systems that they are compatible with.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from simulator import registry
from simulator.errors import NotOffered

if TYPE_CHECKING:
    from simulator.formats.dts.systems.system import System
    from simulator.sources.source import Source

_HERE: Final = "simulator.formats.dts.systems"
SYSTEMS: Final[Mapping[str, str]] = {
    "gaussdb": f"{_HERE}.postgresql:GAUSSDB",
    "mariadb": f"{_HERE}.mysql:MARIADB",
    "mongodb": f"{_HERE}.mongodb:MONGODB",
    "mysql": f"{_HERE}.mysql:MYSQL",
    "oceanbase-mysql": f"{_HERE}.mysql:OCEANBASE",
    "oceanbase-oracle": f"{_HERE}.oracle:OCEANBASE",
    "oracle": f"{_HERE}.oracle:ORACLE",
    "postgresql": f"{_HERE}.postgresql:POSTGRESQL",
    "sqlserver": f"{_HERE}.sqlserver:SQLSERVER",
}


@cache
def row(id: str) -> System:
    """The row of a source's id. Raises NotOffered."""
    if id not in SYSTEMS:
        raise NotOffered(f"DTS has no types for {id}: choose one of {', '.join(SYSTEMS)}.")
    system: System = registry.load("DTS system", SYSTEMS, id)
    return system


def system_of(source: Source) -> System:
    return row(source.id)
