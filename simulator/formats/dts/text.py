"""Column values as text in the JSON formats of DTS, and as the text that partitions are made of.

The page shows strings only. How each type looks follows the vendor's own SDK where that prints values, else:

| values | text |
| --- | --- |
| whole numbers, BIT | digits |
| decimals, NUMBER | plain, the scale of the column kept |
| floating point | as Java prints it |
| dates and times | `2021-01-27 15:34:46.35`: fractions without zeros at their end (`frac=pad`: as declared) |
| moments without a zone of their own | at `timestamp_zone`; with it behind, ` +08:00`, unless MySQL's |
| moments with a zone | the zone behind a blank |
| ENUM, SET | labels |
| bytes, geometries | MySQL: ISO-8859-1 characters, as Canal has them; others: hexadecimal digits, as the SDK prints |
| Oracle's intervals | `-4-3`, `1 2:3:4.000000005` |
| all of PostgreSQL's | as the server prints them: `t`, `1e+20`, `infinity`, moments `2021-01-27 15:34:46+08` |
| all else | the database's own text |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.carriers import FIRST_DAY, US_PER_DAY, text_us
from simulator.formats.canal import cells as canal_json_cells
from simulator.formats.dts.options import TextOptions
from simulator.formats.dts.record.record import decoded_type
from simulator.formats.dts.record.times import members_of
from simulator.formats.dts.types import system_of
from simulator.formats.format import Settings
from simulator.model import Column, ColumnType
from simulator.sources import mysql, postgresql
from simulator.text import decimals as decimal_text
from simulator.text import mysql as binlog_text
from simulator.text import postgresql as postgresql_text
from simulator.text.fixed_width import whole_numbers
from simulator.text.template import join
from simulator.text.timestamps import without_zeros
from simulator.wire.fields import Cell

MYSQL: Final[Mapping[str, Any]] = {
    **canal_json_cells.TEXT,
    "decimal": decimal_text.decimal_plain,
    "datetime": binlog_text.datetime_trimmed,
    "time": binlog_text.time_trimmed,
    "enum": binlog_text.enum_label,
    "set": binlog_text.set_labels,
}
ESCAPED: Final = canal_json_cells.ESCAPED | {"enum", "set"}
# Families of types of which no value holds a character that JSON escapes.
SAFE: Final = frozenset(
    {
        *("integer", "decimal", "float", "bit", "boolean", "date", "datetime", "time", "timestamptz", "zoned", "uuid"),
        *("binary", "geometry"),
    }
)
LIKE_MYSQL: Final = ("mysql", "mariadb", "oceanbase-mysql")


def like_mysql(source: str) -> bool:
    """Whether a source such as `mariadb-10.11` has MySQL's types."""
    return source.startswith(LIKE_MYSQL)


def logged(type: ColumnType, source: str) -> ColumnType:
    """A type as the source's log has it: JSON of MariaDB is a LONGTEXT that the server checks."""
    return ColumnType("longtext") if type.name == "json" and source.startswith("mariadb") else type


def family(column: Column, settings: Settings[TextOptions]) -> str:
    """What a column's values are, in the words of `sources.TypeSystem`."""
    return settings.source.types.family(column.type)


def cell(column: Column, settings: Settings[TextOptions]) -> Cell:
    """How a column's values are written: always a string."""
    if like_mysql(str(settings.source)):
        return mysql_cell(column, settings)
    words = family(column, settings)
    if system_of(str(settings.source)).source_type == "PostgreSQL":
        return postgresql_cell(column, words, settings)
    render = OTHERS.get(words, as_it_is)
    latin1 = settings.options.binary == "latin1" and words in ("binary", "geometry")
    return Cell(lambda array: render(array, column.type, settings), escaped=latin1 or words not in SAFE)


def mysql_cell(column: Column, settings: Settings[TextOptions]) -> Cell:
    type, words = column.type, mysql.family(column.type)
    if type.name == "timestamp":
        zone = settings.options.timestamp_zone
        if settings.options.frac == "pad":
            return Cell(lambda array: binlog_text.datetime_fixed(array, type, zone=zone))
        return Cell(lambda array: binlog_text.datetime_trimmed(array, type, zone=zone))
    if settings.options.frac == "pad" and words in ("datetime", "time"):
        return Cell(lambda array: canal_json_cells.TEXT[words](array, type))
    if settings.options.binary == "hex" and words in ("binary", "geometry"):
        return Cell(lambda array: binlog_text.hex_bytes(array, type))
    render = MYSQL[words]
    parts = (lambda array: decimal_text.decimal_parts(array, grouped=False)) if words == "decimal" else None
    return Cell(lambda array: render(array, type), escaped=words in ESCAPED, parts=parts)


def postgresql_cell(column: Column, words: str, settings: Settings[TextOptions]) -> Cell:
    type, zone = column.type, settings.options.timestamp_zone
    if words == "binary" and settings.options.binary is not None:
        return Cell(lambda array: hexadecimal(array, type, settings), escaped=settings.options.binary == "latin1")

    def text(array: pa.Array) -> pa.Array:
        return postgresql_text.column_text(array, type, words, postgresql.show_value, zone=zone)

    if settings.options.frac == "pad" and type.name.startswith("time") and words != "array":
        return Cell(lambda array: padded(text(array), postgresql.fraction_digits(type)))
    return Cell(text, escaped=words == "binary" or words not in SAFE)


_CLOCK: Final = re.compile(r"(\d\d:\d\d:\d\d)(?:\.(\d+))?")


def padded(texts: pa.Array, digits: int) -> pa.Array:
    """Times with as many fraction digits as their type has; each different text is made once.

    >>> padded(pa.array(["2024-02-29 12:34:56.5+08", "infinity", "0044-03-15 12:00:00 BC"]), 3).to_pylist()
    ['2024-02-29 12:34:56.500+08', 'infinity', '0044-03-15 12:00:00.000 BC']
    """

    def longer(match: re.Match[str]) -> str:
        return f"{match[1]}.{match[2] or '':0<{digits}}"

    if not digits:
        return texts
    coded = texts if pa.types.is_dictionary(texts.type) else texts.dictionary_encode()
    made = [None if text is None else _CLOCK.sub(longer, text, count=1) for text in coded.dictionary.to_pylist()]
    return pa.array(made, pa.string()).take(coded.indices)


# ------------------------------------------------------------------------------------------------------- other systems

Render = Callable[[pa.Array, ColumnType, Settings[TextOptions]], pa.Array]
_SECONDS: Final = ColumnType("datetime")
_LAST_DAY: Final = 2_932_896  # 9999-12-31


def as_it_is(array: pa.Array, type: ColumnType, settings: Settings[TextOptions]) -> pa.Array:
    """Texts; numbers in digits, bytes in hexadecimal ones."""
    carrier = decoded_type(array)
    if pa.types.is_integer(carrier):
        return binlog_text.integer(array, type)
    return hexadecimal(array, type, settings) if pa.types.is_binary(carrier) else array


def number(array: pa.Array, type: ColumnType, settings: Settings[TextOptions]) -> pa.Array:
    carrier = decoded_type(array)
    if pa.types.is_string(carrier):
        return array
    render = decimal_text.decimal_plain if pa.types.is_decimal(carrier) else binlog_text.integer
    return render(array, type)


def letter(array: pa.Array, type: ColumnType, settings: Settings[TextOptions]) -> pa.Array:
    """`t` and `f`, as PostgreSQL writes them."""
    return pc.if_else(array, "t", "f")


def trimmed(array: pa.Array, type: ColumnType, settings: Settings[TextOptions]) -> pa.Array:
    """Dates and times that are in no zone, or have theirs behind."""
    padded = settings.options.frac == "pad"
    if pa.types.is_string(decoded_type(array)):
        return array if padded else without_zeros(decoded(array))
    if pa.types.is_duration(array.type):
        return (binlog_text.time_fixed if padded else binlog_text.time_trimmed)(array, type)
    return (binlog_text.datetime_fixed if padded else binlog_text.datetime_trimmed)(array, type)


def moment(array: pa.Array, type: ColumnType, settings: Settings[TextOptions]) -> pa.Array:
    """Moments that keep no zone, at the configured one; those of the calendar's first and last day at UTC."""
    if pa.types.is_string(decoded_type(array)):
        coded = decoded(array).dictionary_encode()
        texts = coded.dictionary
        seconds = pa.array([text_us(text[:19]) for text in texts.to_pylist()], pa.timestamp("us"))
        fraction = pc.utf8_slice_codeunits(texts, 19)
        made = at_zone(seconds, _SECONDS, settings.options.timestamp_zone, padded=True, fraction=fraction)
        return (made if settings.options.frac == "pad" else without_zeros(made)).take(coded.indices)
    return at_zone(array, type, settings.options.timestamp_zone, padded=settings.options.frac == "pad")


def at_zone(array: pa.Array, type: ColumnType, zone: str, *, padded: bool, fraction: pa.Array | str = "") -> pa.Array:
    us, _ = whole_numbers(array)
    edge = (us < (FIRST_DAY + 1) * US_PER_DAY) | (us >= _LAST_DAY * US_PER_DAY)
    if edge.any() and zone != "+00:00":
        inside = pc.if_else(pa.array(edge), pa.scalar(0, array.type), array)
        moved = at_zone(inside, type, zone, padded=padded, fraction=fraction)
        return pc.if_else(pa.array(edge), at_zone(array, type, "+00:00", padded=padded, fraction=fraction), moved)
    render = binlog_text.datetime_fixed if padded else binlog_text.datetime_trimmed
    return join([render(array, type, zone=zone), fraction, f" {zone}"], len(array))


def hexadecimal(array: pa.Array, type: ColumnType, settings: Settings[TextOptions]) -> pa.Array:
    render = binlog_text.latin1_bytes if settings.options.binary == "latin1" else binlog_text.hex_bytes
    return render(array, type)


def interval(array: pa.Array, type: ColumnType, settings: Settings[TextOptions]) -> pa.Array:
    """Oracle's intervals as the vendor's demo prints them; others as their database does."""
    members = INTERVALS.get(type.name)
    if members is None:
        return array
    coded = decoded(array).dictionary_encode()
    texts = [interval_text(text, members) for text in coded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(coded.indices)


INTERVALS: Final = {"interval year to month": "YM", "interval day to second": "Dhmsf"}


def interval_text(text: str, members: str) -> str:
    """
    >>> interval_text("-04-03", "YM"), interval_text("+01 02:03:04.000000005", "Dhmsf")
    ('-4-3', '1 2:3:4.000000005')
    """
    found = {letter: abs(number) for letter, number in members_of(text, members).items()}
    sign = "-" if text.startswith("-") else ""
    if members == "YM":
        return f"{sign}{found['Y']}-{found['M']}"
    fraction = f".{found.get('f', 0):09}".rstrip("0").rstrip(".")
    return f"{sign}{found['D']} {found['h']}:{found['m']}:{found['s']}{fraction}"


OTHERS: Final[Mapping[str, Render]] = {
    "integer": number,
    "bit": number,
    "decimal": number,
    "boolean": letter,
    "float": lambda array, type, settings: binlog_text.float_(decoded(array), type),
    "date": lambda array, type, settings: binlog_text.date(array, type),
    "datetime": trimmed,
    "time": trimmed,
    "zoned": trimmed,
    "timestamptz": moment,
    "interval": interval,
    "binary": hexadecimal,
    "geometry": hexadecimal,
}
