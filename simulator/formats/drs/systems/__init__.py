"""DRS's treatment of each source: one module per family of sources, imported when a run needs it; read `system` first.

Sources that DRS does not read are treated like the systems that they are compatible with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from simulator import registry
from simulator.errors import NotOffered
from simulator.formats.drs.options import DrsOptions, source_options
from simulator.formats.drs.systems.system import DocumentSystem, TableSystem
from simulator.formats.format import Settings

_HERE: Final = "simulator.formats.drs.systems"
SYSTEMS: Final[Mapping[str, str]] = {
    "gaussdb": f"{_HERE}.postgresql:gaussdb",
    "mariadb": f"{_HERE}.mysql:system",
    "mongodb": f"{_HERE}.dds:system",
    "mysql": f"{_HERE}.mysql:system",
    "oceanbase-mysql": f"{_HERE}.mysql:system",
    "oceanbase-oracle": f"{_HERE}.oracle:system",
    "oracle": f"{_HERE}.oracle:system",
    "postgresql": f"{_HERE}.postgresql:system",
    "sqlserver": f"{_HERE}.sqlserver:system",
}


def system_of(settings: Settings[DrsOptions]) -> TableSystem | DocumentSystem:
    """DRS's treatment of the source under these settings. Raises NotOffered."""
    if settings.source.id not in SYSTEMS:
        raise NotOffered(f"DRS has no types for {settings.source.title}: choose one of {', '.join(SYSTEMS)}.")
    row = registry.load("DRS system", SYSTEMS, settings.source.id)
    system: TableSystem | DocumentSystem = row(source_options(settings.options))
    return system


def tables_of(settings: Settings[DrsOptions], format: str) -> TableSystem:
    """DRS's treatment of the source for a format that has only tables. Raises NotOffered for documents."""
    system = system_of(settings)
    if isinstance(system, DocumentSystem):
        raise NotOffered(f"-f {format}: DRS writes documents of {settings.source.title} as JSON; drs-json has them.")
    return system
