"""How the OMS formats write column values, by type of column: the product's classes, the names and the codes of types.

Source: "Data formats" of OMS Community Edition V3.3.1, section "Data formats used when data is transmitted from
OceanBase Database to a message queue system", and that page's samples.

| class | JSON | how |
| --- | --- | --- |
| Long | number | plain digits |
| BigDecimal | number | `BigDecimal.toString()`; Dataworks: `toPlainString()` |
| Double | number | 7 (FLOAT) or 16 digits (DOUBLE), then as BigDecimal |
| String | string | UTF-8; labels of ENUM and SET |
| Bytes | string | Base64; BIT too, in as few bytes as its number takes, in full width in a full synchronization |
| Date | string | `2020-11-25` |
| Time | string | `00:01:02`, `00:01:02.5`; no time of day: all digits of the column (`838:59:59`, `-01:00:00.50`) |
| DateTime | string | `2020-11-25 00:01:02.5`; no date: all digits of the column (`0000-00-00 00:00:00.00`) |
| Timestamp | string | seconds since 1970, `1606233662.012345`; no date: `0000-00-00 00:00:00` |
| ZonedDateTime | string | `2020-11-25 00:01:02.012345 Asia/Shanghai` |
| Interval | string | `INTERVAL '3' DAY`, `INTERVAL '4-2' YEAR TO MONTH` |

Decisions where the page has nothing: how a value that is not a number looks (`"NaN"`), the names and codes of types
that its samples do not show (own name in capitals, java.sql.Types), all types of the Oracle mode but for zoned times
and intervals. Systems that OMS does not read are in `nearest`. Projects created before V3.3.0 write BIT and
TIMESTAMP as whole numbers, dates and times as java.time prints them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.carriers import FIRST_DAY, US_PER_DAY
from simulator.model import ColumnType
from simulator.sources import Source, mysql
from simulator.text import decimals as decimal_text
from simulator.text import mysql as binlog_text
from simulator.text.base64 import base64, number_bytes
from simulator.text.fixed_width import whole_numbers
from simulator.text.java import decimal as java_decimal
from simulator.text.timestamps import (
    chosen,
    epoch_trimmed,
    local_datetime,
    local_time,
    partial,
    shortened,
    without_zeros,
)


@dataclass(frozen=True)
class Writing:
    """What decides how values look beside their type: decimals without exponent (Dataworks), whole bits (full
    synchronization), the project's age, the zone in which moments without one of their own are printed."""

    plain: bool = False
    full: bool = False
    legacy: bool = False
    zone: str = "Asia/Shanghai"


Text = Callable[[pa.Array, ColumnType, Writing], pa.Array]
NO_MOMENT: Final = "0000-00-00 00:00:00"


@dataclass(frozen=True)
class Shown:
    """A type of column: how its values are written, its name (in capitals; Canal's `mysqlType` has small letters) and
    its java.sql.Types code.

    `bare`: projects before V3.3.0 write a number. `lossy`: different values may look the same. `lob`: a large object,
    which OceanBase leaves out of its log where it did not change.
    """

    text: Text
    name: str
    code: int
    quoted: bool = True
    escaped: bool = False
    bare: bool = False
    lossy: bool = False
    lob: bool = False


# -------------------------------------------------------------------------------------------------------------- classes


def long(array: pa.Array, type: ColumnType, how: Writing) -> pa.Array:
    return binlog_text.integer(array, type)


def boolean(array: pa.Array, type: ColumnType, how: Writing) -> pa.Array:
    """1 and 0."""
    return array.cast(pa.int8()).cast(pa.string())


def big_decimal(array: pa.Array, type: ColumnType, how: Writing) -> pa.Array:
    """An exact number, whatever carries it."""
    if pa.types.is_integer(array.type):
        return binlog_text.integer(array, type)
    if not pa.types.is_decimal(array.type):
        return java_decimal.quoted_where_none(java_decimal.number_text(array, plain=how.plain))
    return decimal_text.decimal_plain(array, type) if how.plain else java_decimal.decimal_text(array)


def double(array: pa.Array, type: ColumnType, how: Writing) -> pa.Array:
    digits = java_decimal.DECIMAL32 if pa.types.is_float32(array.type) else java_decimal.DECIMAL64
    return java_decimal.quoted_where_none(java_decimal.float_text(array, digits, plain=how.plain))


def string(array: pa.Array, type: ColumnType, how: Writing) -> pa.Array:
    return array


def enum(array: pa.Array, type: ColumnType, how: Writing) -> pa.Array:
    return binlog_text.enum_label(array, type)


def members(array: pa.Array, type: ColumnType, how: Writing) -> pa.Array:
    return binlog_text.set_labels(array, type)


def bytes_(array: pa.Array, type: ColumnType, how: Writing) -> pa.Array:
    return base64(array)


def bit(array: pa.Array, type: ColumnType, how: Writing) -> pa.Array:
    if how.legacy:
        return binlog_text.bit(array, type)
    return base64(number_bytes(array, ((type.length or 1) + 7) // 8 if how.full else None))


def date(array: pa.Array, type: ColumnType, how: Writing) -> pa.Array:
    return binlog_text.date(array, type)


def time(array: pa.Array, type: ColumnType, how: Writing) -> pa.Array:
    if pa.types.is_string(array.type):
        return shortened(array) if how.legacy else without_zeros(array)
    us, _ = whole_numbers(array)
    none = (us < 0) | (us >= US_PER_DAY)
    texts = local_time(array) if how.legacy else binlog_text.time_trimmed(array, type)
    return chosen(none, binlog_text.time_fixed(array, type), texts) if none.any() else texts


def datetime(array: pa.Array, type: ColumnType, how: Writing) -> pa.Array:
    if pa.types.is_string(array.type):
        return shortened(pc.replace_substring(array, " ", "T")) if how.legacy else without_zeros(array)
    none = partial(array)
    texts = local_datetime(array) if how.legacy else binlog_text.datetime_trimmed(array, type)
    return chosen(none, binlog_text.datetime_fixed(array, type), texts) if none.any() else texts


def timestamp(array: pa.Array, type: ColumnType, how: Writing) -> pa.Array:
    if how.legacy:
        seconds = pc.replace_substring_regex(epoch_trimmed(array), r"\..*", "")
        return chosen(partial(array), f'"{NO_MOMENT}"', seconds)
    return chosen(partial(array), NO_MOMENT, epoch_trimmed(array))


def zoned(array: pa.Array, type: ColumnType, how: Writing) -> pa.Array:
    return without_zeros(array)


def moment(array: pa.Array, type: ColumnType, how: Writing) -> pa.Array:
    """A moment without a zone of its own, in the task's; in UTC where it would pass the ends of the calendar."""
    fraction = None
    if pa.types.is_string(array.type):
        # more than microseconds: only whole seconds move
        fraction = pc.utf8_slice_codeunits(array, 19, 40)
        array = pc.utf8_slice_codeunits(array, 0, 19).cast(pa.timestamp("us"))
    us, _ = whole_numbers(array)
    ends = (us < _CALENDAR[0]) | (us >= _CALENDAR[1])
    if ends.any():
        moved = pc.if_else(pa.array(ends), pa.scalar(0, array.type), array)
        here = _zoned(moved, type, fraction, how.zone)
        return chosen(ends, _zoned(array, type, fraction, "UTC"), here)
    return _zoned(array, type, fraction, how.zone)


# A day inside the first and the last of the calendar, in microseconds since 1970.
_CALENDAR: Final = ((FIRST_DAY + 1) * US_PER_DAY, 2_932_896 * US_PER_DAY)


def _zoned(array: pa.Array, type: ColumnType, fraction: pa.Array | None, zone: str) -> pa.Array:
    texts = binlog_text.datetime_trimmed(array, type, zone=zone)
    if fraction is not None:
        texts = without_zeros(pc.binary_join_element_wise(texts, fraction, ""))
    return pc.binary_join_element_wise(texts, pa.scalar(zone, pa.string()), " ")


_MONTHS: Final = re.compile(r"([+-]?)0*(\d+)-0*(\d+)")
_SECONDS: Final = re.compile(r"([+-]?)0*(\d+) (\d+:\d+:\d+)(\.\d*?)?0*")


def interval(array: pa.Array, type: ColumnType, how: Writing) -> pa.Array:
    """`+04-00` is `INTERVAL '4' YEAR`, `+03 04:05:06.789000` is `INTERVAL '3 04:05:06.789' DAY TO SECOND`."""
    encoded = array.dictionary_encode()
    texts = [_interval(text) for text in encoded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(encoded.indices)


def _interval(text: str) -> str:
    if match := _MONTHS.fullmatch(text):
        sign, years, months = match[1].strip("+"), int(match[2]), int(match[3])
        if months and years:
            return f"INTERVAL '{sign}{years}-{months}' YEAR TO MONTH"
        return f"INTERVAL '{sign}{months}' MONTH" if months else f"INTERVAL '{sign}{years}' YEAR"
    if match := _SECONDS.fullmatch(text):
        sign, days, clock, fraction = match[1].strip("+"), match[2], match[3], (match[4] or "").rstrip(".")
        if clock == "00:00:00" and not fraction:
            return f"INTERVAL '{sign}{days}' DAY"
        return f"INTERVAL '{sign}{days} {clock}{fraction}' DAY TO SECOND"
    return text


def geometry(array: pa.Array, type: ColumnType, how: Writing) -> pa.Array:
    """Well-known text with its reference system, 0 too: `SRID=0;POINT(1 2)`, as libobcdc prints it."""
    if pa.types.is_string(array.type):
        return array
    encoded = array.dictionary_encode()
    texts = mysql.format_values(encoded.dictionary, type)
    shown = [text if text is None or text.startswith("SRID=") else f"SRID=0;{text}" for text in texts]
    return pa.array(shown, pa.string()).take(encoded.indices)


# --------------------------------------------------------------------------------------------------------------- tables


def _number(text: Text, name: str, code: int, **more: Any) -> Shown:
    return Shown(text, name, code, quoted=False, **more)


def _string(name: str, code: int, text: Text = string, **more: Any) -> Shown:
    return Shown(text, name, code, escaped=True, **more)


_GEOMETRY: Final = _string("GEOMETRY", 12, geometry, lob=True)

# MySQL, and OceanBase in MySQL mode. Names of tinyint to decimal and of varchar, blob, date to timestamp, and the codes
# of these: samples of the page; other codes: java.sql.Types, as OceanBase's fork of Canal has them.
MYSQL: Final[Mapping[str, Shown]] = {
    "tinyint": _number(long, "TINYINT", -6),
    "smallint": _number(long, "SMALLINT", 5),
    "mediumint": _number(long, "MEDIUMINT", 4),
    "int": _number(long, "INT", 4),
    "bigint": _number(long, "BIGINT", -5),
    "year": _number(long, "YEAR", 4),
    "decimal": _number(big_decimal, "DECIMAL", 3),
    "float": _number(double, "FLOAT", 6, lossy=True),
    "double": _number(double, "DOUBLE", 8, lossy=True),
    "char": _string("CHAR", 1),
    "varchar": _string("VARCHAR", 12),
    "tinytext": _string("TINYTEXT", 2005, lob=True),
    "text": _string("TEXT", 2005, lob=True),
    "mediumtext": _string("MEDIUMTEXT", 2005, lob=True),
    "longtext": _string("LONGTEXT", 2005, lob=True),
    "enum": _string("ENUM", 1, enum),
    "set": _string("SET", 1, members),
    "json": _string("JSON", 12, lob=True),
    "tinyblob": Shown(bytes_, "TINYBLOB", 2004),
    "blob": Shown(bytes_, "BLOB", 2004),
    "mediumblob": Shown(bytes_, "MEDIUMBLOB", 2004),
    "longblob": Shown(bytes_, "LONGBLOB", 2004),
    "binary": Shown(bytes_, "BINARY", -2),
    "varbinary": Shown(bytes_, "VARBINARY", -3),
    "bit": Shown(bit, "BIT", -7, bare=True),
    "date": Shown(date, "DATE", 91),
    "time": Shown(time, "TIME", 92),
    "datetime": Shown(datetime, "DATETIME", 93),
    "timestamp": Shown(timestamp, "TIMESTAMP", 93, bare=True, lossy=True),
    **dict.fromkeys((name for name, row in mysql.TYPES.items() if row.family == "geometry"), _GEOMETRY),
}

# Oracle, and OceanBase in Oracle mode. Names of zoned times and intervals: samples of the page; the rest is decided.
ORACLE: Final[Mapping[str, Shown]] = {
    "number": _number(big_decimal, "NUMBER", 3),
    "float": _number(big_decimal, "FLOAT", 6),
    "binary_float": _number(double, "BINARY_FLOAT", 6, lossy=True),
    "binary_double": _number(double, "BINARY_DOUBLE", 8, lossy=True),
    "char": _string("CHAR", 1),
    "nchar": _string("NCHAR", 1),
    "varchar2": _string("VARCHAR2", 12),
    "nvarchar2": _string("NVARCHAR2", 12),
    "clob": _string("CLOB", 2005, lob=True),
    "nclob": _string("NCLOB", 2005, lob=True),
    "long": _string("LONG", 12),
    "rowid": _string("ROWID", 12),
    "urowid": _string("UROWID", 12),
    "xmltype": _string("XMLTYPE", 12, lob=True),
    "json": _string("JSON", 12, lob=True),
    "raw": Shown(bytes_, "RAW", -3),
    "long raw": Shown(bytes_, "LONG RAW", -3),
    "blob": Shown(bytes_, "BLOB", 2004),
    "date": Shown(datetime, "DATE", 93),
    "timestamp": Shown(datetime, "TIMESTAMP", 93),
    "timestamp with time zone": Shown(zoned, "ZONED_DATETIME", 2014),
    "timestamp with local time zone": Shown(moment, "ZONED_DATETIME", 2014),
    "interval day to second": Shown(interval, "INTERVAL_DAY_TO_SECOND", 12),
    "interval year to month": Shown(interval, "INTERVAL_YEAR_TO_MONTH", 12),
}

Types = Callable[[ColumnType], Shown | None]


def types_of(source: Source) -> Types | None:
    """How the columns of a system that OMS reads are shown, None for a type that it does not carry; None for a system
    that it does not read."""
    if "oracle" in source.id:
        return lambda type: ORACLE.get(type.name)
    return (lambda type: MYSQL.get(type.name)) if source.types is mysql else None


def differ(old: pa.Array, new: pa.Array) -> Any:
    """Where two columns of text differ; null differs from everything but null."""
    unequal = np.asarray(pc.fill_null(pc.not_equal(decoded(old), decoded(new)), False))
    return unequal | (np.asarray(old.is_null()) != np.asarray(new.is_null()))
