"""Maxwell's text of the values of columns: `schema/columndef/*.java`, and messages captured from 1.44.0.

* An integer is unsigned where `unsigned` is typed; `int zerofill` is a signed one to Maxwell.
* TIME is a time of day to Maxwell: a negative one, or one of a day or more, is what its bits read as (`time_of_day`).
* A date of which a part is zero is the zero date, YEAR 0000 is 1900.
* The labels of ENUM and SET keep the quotes doubled, as they stand in the DDL.
* BIT is shifted in 32 bits; from 33 bits on the true value is written here.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.carriers import US_PER_DAY, storage_type
from simulator.formats.binlog_json import binlog_text
from simulator.formats.format import Settings
from simulator.formats.maxwell.geometry import well_known_text
from simulator.formats.maxwell.options import MaxwellOptions
from simulator.model import Column, ColumnType
from simulator.partial_dates import ZERO_DAY, ZERO_US, are_partial, are_partial_days
from simulator.sources.mysql.source import MysqlSource
from simulator.sources.mysql.type_table import bounds, family
from simulator.text import mysql as mysql_text
from simulator.text.base64 import base64
from simulator.text.columns import Ints, distinct_text, looked_up, whole_numbers
from simulator.text.java import decimal as java_decimal
from simulator.text.java import numbers as java
from simulator.text.json_style import JACKSON_BYTES, quote
from simulator.text.pieces import PIECES
from simulator.wire.fields import Cell, rendered

# Bytes of the fraction of a TIME(n), and the microseconds of their unit.
FRACTION_BYTES: Final = (0, 1, 1, 2, 2, 3, 3)
FRACTION_UNITS: Final = (1_000_000, 10_000, 10_000, 100, 100, 1, 1)


def cell(column: Column, settings: Settings[MaxwellOptions], *, bootstrap: bool = False) -> Cell:
    """Writer of a column's values; `bootstrap`: as a SELECT gives dates and documents, the server's own text."""
    type, words = column.type, family(column.type)
    match words:
        case "integer":
            if type.unsigned and not is_unsigned(type):
                return Cell(lambda array: mysql_text.integer(wrapped(array, type), type), quoted=False)
            return rendered(mysql_text.integer, type, quoted=False)
        case "decimal":
            return Cell(java_decimal.decimal_text, quoted=False, piece=java_decimal.decimal_piece)
        case "float":
            return Cell(
                lambda array: java.float_text(array) if pa.types.is_float32(array.type) else java.double_text(array),
                quoted=False,
            )
        case "bit":
            if (type.length or 1) <= 32:
                return Cell(lambda array: array.cast(pa.uint32()).view(pa.int32()).cast(pa.string()), quoted=False)
            return rendered(mysql_text.number, type, quoted=False)
        case "year":
            return Cell(lambda array: years(array).cast(pa.string()), quoted=False)
        case "date" if bootstrap:
            return rendered(mysql_text.date, type)
        case "date" | "datetime":
            render = mysql_text.date if words == "date" else mysql_text.datetime_fixed
            return Cell(
                lambda array: render(whole_dates(array, settings.options), type),
                piece=lambda array: PIECES[render](whole_dates(array, settings.options), type),
            )
        case "time":
            return Cell(lambda array: mysql_text.time_fixed(time_of_day(array, type.length or 0), type))
        case "binary":
            strip = type.name == "binary"
            return Cell(lambda array: base64(mysql_text.without_trailing_zeros(decoded(array)) if strip else array))
        case "enum":
            return Cell(lambda array: enum_labels(array, type), escaped=True)
        case "set":
            return Cell(lambda array: set_labels(array, type), quoted=False)
        case "geometry":
            return Cell(lambda array: distinct_text(array, well_known_text))
        case "json" if not (isinstance(settings.source, MysqlSource) and settings.source.json_is_text):
            return Cell((lambda array: array) if bootstrap else binlog_text, quoted=False)
        case _:
            return Cell(lambda array: array, escaped=True)


def is_unsigned(type: ColumnType) -> bool:
    """Tests whether Maxwell treats an integer type as unsigned: by its typed text, and for SERIAL."""
    typed = type.spelled.lower()
    return "unsigned" in typed or typed == "serial" if typed else type.unsigned


def wrapped(array: pa.Array, type: ColumnType) -> pa.Array:
    """Unsigned integers whose bits are read as signed ones: 4294967295 of an INT is -1."""
    if pa.types.is_uint64(array.type):
        return array.view(pa.int64())
    values, nulls = whole_numbers(array)
    count = bounds(type)[1] + 1
    return pa.array(np.where(values >= count // 2, values - count, values), mask=nulls)


def years(array: pa.Array) -> pa.Array:
    """Years as numbers: the year 0000 counts from 1900 as all do in the log."""
    return pc.if_else(pc.equal(array, 0), 1900, array)


def whole_dates(array: pa.Array, options: MaxwellOptions) -> pa.Array:
    """Dates, or dates and times, with the zero date, or null, for those of which a part is zero."""
    values, nulls = whole_numbers(array)
    by_day = pa.types.is_date(storage_type(array.type))
    partial = are_partial_days(values) if by_day else are_partial(values)
    if nulls is not None:
        partial &= ~nulls
    if not partial.any():
        return array
    if options.output_null_zerodates:
        nulls = partial if nulls is None else nulls | partial
    values = np.where(partial, ZERO_DAY if by_day else ZERO_US, values)
    return pa.array(values.astype(np.int32) if by_day else values, mask=nulls).view(array.type)


def time_of_day(array: pa.Array, digits: int) -> pa.Array:
    """TIMEs as the log's bytes read without their sign: ten bits of hours, six of minutes, six of seconds, and the
    fraction, all of them modulo a day.

    >>> time_of_day(pa.array([-1_000_000, 100 * 3_600_000_000], pa.duration("us")), 0).cast(pa.int64()).to_pylist()
    [57843000000, 14400000000]
    """
    us, nulls = whole_numbers(array)
    unit, base = FRACTION_UNITS[digits], 256 ** FRACTION_BYTES[digits]
    seconds, fraction = np.divmod(np.abs(us), 1_000_000)
    clock = seconds // 3600 << 12 | seconds // 60 % 60 << 6 | seconds % 60
    packed: Ints = np.sign(us) * (clock * base + fraction // unit)
    clock, fraction = np.divmod(packed, base)
    seconds = (clock >> 12 & 0x3FF) * 3600 + (clock >> 6 & 0x3F) * 60 + (clock & 0x3F)
    return pa.array((seconds * 1_000_000 + fraction * unit) % US_PER_DAY, mask=nulls).view(pa.duration("us"))


def as_typed(label: str) -> str:
    """A label with its quotes doubled, as in the DDL."""
    return label.replace("'", "''")


def enum_labels(array: pa.Array, type: ColumnType) -> pa.Array:
    """The labels; the error value is null."""
    values, nulls = whole_numbers(array)
    errors = values == 0
    nulls = errors if nulls is None else nulls | errors
    return looked_up(["", *map(as_typed, type.labels)], values, nulls)


def set_labels(array: pa.Array, type: ColumnType) -> pa.Array:
    """Lists of the members' labels: `["x","y"]`."""
    labels = [quote(as_typed(label), JACKSON_BYTES) for label in type.labels]
    return distinct_text(array, lambda mask: f"[{','.join(text for i, text in enumerate(labels) if mask >> i & 1)}]")
