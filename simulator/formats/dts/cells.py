"""Column values as text in the JSON formats, and as the text that partitions are made of.

The page shows strings only. Values look as the vendor's own SDK prints them where it does, else:

| values | text |
| --- | --- |
| integers, BIT | digits |
| decimals, NUMBER | plain, the column's scale kept |
| floating point | as Java prints it |
| dates and times | `2021-01-27 15:34:46.35`: fractions without trailing zeros (`frac=pad`: as declared) |
| timestamps that keep no time zone | at `timestamp_zone`; followed by it, ` +08:00`, except MySQL's |
| timestamps with a time zone | followed by a blank and the zone |
| ENUM, SET | labels |
| bytes, geometries | MySQL: ISO-8859-1 characters, as in Canal; others: hexadecimal digits, as the SDK prints them |
| Oracle's intervals | `-4-3`, `1 2:3:4.000000005`, as the vendor's demo prints them |
| PostgreSQL's | as the server prints them: `t`, `1e+20`, `infinity`, `2021-01-27 15:34:46+08` |
| all else | the database's own text |

Those of MySQL and PostgreSQL are made in `systems`, all others here, by family of types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.carriers import FIRST_DAY, US_PER_DAY, storage, text_us
from simulator.formats.dts.options import TextOptions
from simulator.formats.dts.record.record import decoded_type
from simulator.formats.dts.record.times import members_of
from simulator.formats.format import Settings
from simulator.model import Column, ColumnType
from simulator.text import decimals as decimal_text
from simulator.text import mysql as binlog_text
from simulator.text.columns import distinct_text, whole_numbers
from simulator.text.template import join
from simulator.text.timestamps import without_zeros
from simulator.wire.fields import Cell

# Families of types whose values have no character that JSON escapes.
UNESCAPED: Final = frozenset(
    {"integer", "decimal", "float", "bit", "boolean", "date", "datetime", "time", "timestamptz", "zoned", "uuid"}
    | {"binary", "geometry"}
)
_SECONDS: Final = ColumnType("datetime")
_LAST_DAY: Final = 2_932_896  # 9999-12-31
# Members of Oracle's intervals.
_INTERVALS: Final = {"interval year to month": "YM", "interval day to second": "Dhmsf"}


def cell(column: Column, settings: Settings[TextOptions]) -> Cell:
    """A column's values: always strings."""
    options, family = settings.options, settings.source.family(column.type)
    render = RENDER.get(family, other_text)
    latin1 = options.binary == "latin1" and family in ("binary", "geometry")
    return Cell(lambda array: render(array, column.type, options), escaped=latin1 or family not in UNESCAPED)


def other_text(array: pa.Array, type: ColumnType, options: TextOptions) -> pa.Array:
    """Texts as they are; numbers in digits, bytes in hexadecimal ones."""
    carrier = decoded_type(array)
    if pa.types.is_integer(carrier):
        return binlog_text.integer(array, type)
    return byte_text(array, type, options) if pa.types.is_binary(carrier) else array


def number(array: pa.Array, type: ColumnType, options: TextOptions) -> pa.Array:
    carrier = decoded_type(array)
    if pa.types.is_string(carrier):
        return array
    return (decimal_text.decimal_plain if pa.types.is_decimal(carrier) else binlog_text.integer)(array, type)


def date_time(array: pa.Array, type: ColumnType, options: TextOptions) -> pa.Array:
    """Dates and times without a time zone, or followed by it."""
    padded = options.frac == "pad"
    if pa.types.is_string(decoded_type(array)):
        return array if padded else without_zeros(decoded(array))
    if pa.types.is_duration(array.type):
        return (binlog_text.time_fixed if padded else binlog_text.time_trimmed)(array, type)
    return (binlog_text.datetime_fixed if padded else binlog_text.datetime_trimmed)(array, type)


def timestamp(array: pa.Array, type: ColumnType, options: TextOptions) -> pa.Array:
    """Timestamps without time zone in the configured one; on the first and last day of the calendar in UTC."""
    zone, padded = options.timestamp_zone, options.frac == "pad"
    if not pa.types.is_string(decoded_type(array)):
        return at_zone(array, type, zone, padded=padded)
    coded = decoded(array).dictionary_encode()
    texts = coded.dictionary
    seconds = pa.array([text_us(text[:19]) for text in texts.to_pylist()], pa.timestamp("us"))
    shifted = at_zone(seconds, _SECONDS, zone, padded=True, fraction=pc.utf8_slice_codeunits(texts, 19))
    return (shifted if padded else without_zeros(shifted)).take(coded.indices)


def at_zone(array: pa.Array, type: ColumnType, zone: str, *, padded: bool, fraction: pa.Array | str = "") -> pa.Array:
    us, _ = whole_numbers(array)
    edge = (us < (FIRST_DAY + 1) * US_PER_DAY) | (us >= _LAST_DAY * US_PER_DAY)
    if edge.any() and zone != "+00:00":
        array = storage(array)
        in_range = pc.if_else(pa.array(edge), pa.scalar(0, array.type), array)
        shifted = at_zone(in_range, type, zone, padded=padded, fraction=fraction)
        return pc.if_else(pa.array(edge), at_zone(array, type, "+00:00", padded=padded, fraction=fraction), shifted)
    datetime = binlog_text.datetime_fixed if padded else binlog_text.datetime_trimmed
    return join([datetime(array, type, zone=zone), fraction, f" {zone}"], len(array))


def byte_text(array: pa.Array, type: ColumnType, options: TextOptions) -> pa.Array:
    return (binlog_text.latin1_bytes if options.binary == "latin1" else binlog_text.hex_bytes)(array, type)


def interval(array: pa.Array, type: ColumnType, options: TextOptions) -> pa.Array:
    return distinct_text(decoded(array), lambda text: interval_text(text, _INTERVALS[type.name]))


def interval_text(text: str, members: str) -> str:
    """
    >>> interval_text("-04-03", "YM"), interval_text("+01 02:03:04.000000005", "Dhmsf")
    ('-4-3', '1 2:3:4.000000005')
    """
    values = {letter: abs(number) for letter, number in members_of(text, members).items()}
    sign = "-" if text.startswith("-") else ""
    if members == "YM":
        return f"{sign}{values['Y']}-{values['M']}"
    fraction = f".{values.get('f', 0):09}".rstrip("0").rstrip(".")
    return f"{sign}{values['D']} {values['h']}:{values['m']}:{values['s']}{fraction}"


RENDER: Final[Mapping[str, Callable[[pa.Array, ColumnType, TextOptions], pa.Array]]] = {
    "integer": number,
    "bit": number,
    "decimal": number,
    "boolean": lambda array, type, options: pc.if_else(array, "t", "f"),
    "float": lambda array, type, options: binlog_text.float_(decoded(array), type),
    "date": lambda array, type, options: binlog_text.date(array, type),
    "datetime": date_time,
    "time": date_time,
    "zoned": date_time,
    "timestamptz": timestamp,
    "interval": interval,
    "binary": byte_text,
    "geometry": byte_text,
}
