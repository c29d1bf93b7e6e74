"""What DRS does with each source: a row a source. Sources that DRS does not read are treated as the system that they
are compatible with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from simulator.errors import NotOffered
from simulator.formats.drs import dds, mysql, oracle, postgresql, sqlserver
from simulator.formats.drs.options import DrsOptions, SourceOptions, source_options
from simulator.formats.drs.system import System, TableSystem
from simulator.formats.format import Settings

SYSTEMS: Final[Mapping[str, Callable[[SourceOptions], System]]] = {
    "gaussdb": postgresql.gaussdb,
    "mariadb": mysql.system,
    "mongodb": dds.system,
    "mysql": mysql.system,
    "oceanbase-mysql": mysql.system,
    "oceanbase-oracle": oracle.system,
    "oracle": oracle.system,
    "postgresql": postgresql.system,
    "sqlserver": sqlserver.system,
}


def system_of(settings: Settings[DrsOptions]) -> System:
    """What DRS does with the source under these settings."""
    return SYSTEMS[settings.source.id](source_options(settings.options))


def tables_of(settings: Settings[DrsOptions], format: str) -> TableSystem:
    """The same for a format that has tables only. Raises NotOffered for documents."""
    system = system_of(settings)
    if not isinstance(system, TableSystem):
        raise NotOffered(f"-f {format}: DRS writes documents of {settings.source.title} as JSON; drs-json has them.")
    return system
