"""Oracle, and OceanBase in Oracle mode.

A NUMBER is written as Oracle stores it, without trailing zeros: 12.5 in a NUMBER(10,2). The redo log holds the bytes of
the row, and a dump of a block shows the same bytes for 25.20 and 25.2.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Final

import pyarrow as pa

from simulator.batch import decoded
from simulator.formats.dts import cells
from simulator.formats.dts.options import TextOptions
from simulator.formats.dts.record.record import decoded_type
from simulator.formats.dts.record.values import Values, decimals, values_of
from simulator.formats.dts.systems.system import System
from simulator.formats.dts.types import DtsType, types_of
from simulator.formats.format import Settings
from simulator.model import Column, ColumnType
from simulator.sources.oracle.type_table import TYPES
from simulator.text import decimals as decimal_text
from simulator.wire.fields import Cell


def cell(column: Column, settings: Settings[TextOptions]) -> Cell:
    """A column's values: always strings."""
    of_family = cells.cell(column, settings)

    def number(array: pa.Array) -> pa.Array:
        if not pa.types.is_decimal(decoded_type(array)):
            return of_family.text(array)
        return decimal_text.decimal_trimmed(decoded(array), column.type)

    return Cell(number) if column.type.name == "number" else of_family


def values(dts: DtsType, type: ColumnType, fraction: int) -> Values:
    if dts.record == "Decimal":
        return lambda array: decimals(array, trimmed=True)
    return values_of(dts, type, fraction)


ORACLE: Final = System(
    source_types=("Oracle",),
    versions={"21c": "21.0.0.0.0", "19c": "19.0.0.0.0", "11g": "11.2.0.4.0"},
    types=cache(lambda: types_of("oracle", {name: row.dty for name, row in TYPES.items()})),
    values=values,
    cell=cell,
    names=lambda id: (id.schema, id.name),
    table_text="{schema}.{table}",
    rowids=True,
    userid=84,
)
OCEANBASE: Final = replace(ORACLE, versions={"4.3": "4.3.0.0"})
