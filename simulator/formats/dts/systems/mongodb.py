"""MongoDB: records have documents."""

from __future__ import annotations

from typing import Final

from simulator.formats.dts.systems.system import System

MONGODB: Final = System(
    source_types=("MongoDB",),
    versions={"6.0": "6.0.16", "4.4": "4.4.29"},
    types=dict,
    names=lambda id: (id.database, id.name),
    documents=True,
)
