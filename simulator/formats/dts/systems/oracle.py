"""Oracle, and OceanBase in Oracle mode."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from simulator.formats.dts.systems.system import System
from simulator.formats.dts.types import types_of
from simulator.sources.oracle.type_table import TYPES

ORACLE: Final = System(
    source_types=("Oracle",),
    versions={"21c": "21.0.0.0.0", "19c": "19.0.0.0.0", "11g": "11.2.0.4.0"},
    types=types_of("oracle", {name: row.dty for name, row in TYPES.items()}),
    names=lambda id: (id.schema, id.name),
    table_text="{schema}.{table}",
    rowids=True,
    userid=84,
)
OCEANBASE: Final = replace(ORACLE, versions={"4.3": "4.3.0.0"})
