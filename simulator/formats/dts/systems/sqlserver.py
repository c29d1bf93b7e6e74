"""SQL Server."""

from __future__ import annotations

from functools import cache
from typing import Final

import pyarrow as pa

from simulator.formats.dts.record.geometry import well_known_binary
from simulator.formats.dts.record.record import of_distinct
from simulator.formats.dts.record.values import Values, objects, values_of
from simulator.formats.dts.systems.system import System
from simulator.formats.dts.types import DtsType, types_of
from simulator.model import ColumnType
from simulator.sources.sqlserver.type_table import TYPES


def values(dts: DtsType, type: ColumnType, fraction: int) -> Values:
    """Shapes are stored in SQL Server's own way."""
    if dts.record == "BinaryGeometry":
        return lambda array: objects("BinaryGeometry", dts.detail, shapes(array, type))
    return values_of(dts, type, fraction)


def shapes(array: pa.Array, type: ColumnType) -> pa.Array:
    """SQL Server's shapes as well-known binary."""
    geography = type.name == "geography"
    return of_distinct(array, lambda stored: well_known_binary(stored, latitude_first=geography))


SQLSERVER: Final = System(
    source_types=("SQLServer",),
    versions={"2022": "16.0.1000.6", "2019": "15.0.2000.5", "2016": "13.0.1601.5"},
    types=cache(lambda: types_of("sqlserver", {name: row.number for name, row in TYPES.items()})),
    values=values,
)
