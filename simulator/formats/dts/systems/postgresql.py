"""PostgreSQL and GaussDB. Their values have the server's text."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Final

import pyarrow as pa

from simulator.formats.dts.cells import UNESCAPED, byte_text
from simulator.formats.dts.options import TextOptions
from simulator.formats.dts.record import postgresql_times
from simulator.formats.dts.record.values import Values, values_of
from simulator.formats.dts.systems.system import System
from simulator.formats.dts.types import DtsType, types_of
from simulator.formats.format import Settings
from simulator.model import Column, ColumnType
from simulator.sources.postgresql import type_table
from simulator.sources.postgresql import type_table as postgresql_table
from simulator.sources.postgresql import types as postgresql_types
from simulator.sources.postgresql import values as postgresql_values
from simulator.text import postgresql as postgresql_text
from simulator.text.columns import distinct_text
from simulator.wire.fields import Cell

_CLOCK: Final = re.compile(r"(\d\d:\d\d:\d\d)(?:\.(\d+))?")


def cell(column: Column, settings: Settings[TextOptions]) -> Cell:
    """A column's values: always strings."""
    options, type, family = settings.options, column.type, postgresql_table.family(column.type)
    if family == "binary" and options.binary is not None:
        return Cell(lambda array: byte_text(array, type, options), escaped=options.binary == "latin1")

    def text(array: pa.Array) -> pa.Array:
        return postgresql_text.column_text(
            array, type, family, postgresql_values.show_value, zone=options.timestamp_zone
        )

    if options.frac == "pad" and type.name.startswith("time") and family != "array":
        return Cell(lambda array: padded(text(array), postgresql_table.fraction_digits(type)))
    return Cell(text, escaped=family == "binary" or family not in UNESCAPED)


def padded(texts: pa.Array, digits: int) -> pa.Array:
    """Times with as many fraction digits as their type has; each distinct text is made once.

    >>> padded(pa.array(["2024-02-29 12:34:56.5+08", "infinity", "0044-03-15 12:00:00 BC"]), 3).to_pylist()
    ['2024-02-29 12:34:56.500+08', 'infinity', '0044-03-15 12:00:00.000 BC']
    """

    def longer(match: re.Match[str]) -> str:
        return f"{match[1]}.{match[2] or '':0<{digits}}"

    if not digits:
        return texts
    return distinct_text(texts, lambda text: _CLOCK.sub(longer, text, count=1))


def values(dts: DtsType, type: ColumnType, fraction: int) -> Values:
    """Dates and timestamps have PostgreSQL's calendar."""
    match dts.record, dts.detail:
        case "DateTime", "YMD":
            return postgresql_times.dates
        case "DateTime", "YMDhmsf":
            return lambda array: postgresql_times.timestamps(array, dts.detail, fraction)
        case "TimestampWithTimeZone", "YMDhmsf":
            return lambda array: postgresql_times.zoned_timestamps(array, dts.detail, fraction)
        case "TimestampWithTimeZone", "hmsf":
            return lambda array: postgresql_times.zoned_times(array, dts.detail, fraction)
    return values_of(dts, type, fraction)


def numbers(system: str) -> dict[str, int]:
    return {name: row.oid for name, row in type_table.types_of(system).items()}


POSTGRESQL: Final = System(
    source_types=("PostgreSQL", "PPAS"),
    versions={"16": "16.4", "14": "14.13", "12": "12.20"},
    types=cache(lambda: types_of("postgresql", numbers("postgresql"))),
    type_name=lambda type: postgresql_types.type_text(type, style="bare"),
    values=values,
    fraction=1,
    cell=cell,
)
GAUSSDB: Final = replace(
    POSTGRESQL,
    source_types=("PostgreSQL",),
    versions={"505": "9.2.4"},
    types=cache(lambda: types_of("postgresql", numbers("gaussdb"))),
)
