"""Texts of values by the product's classes.

Source: "Data formats" of OMS Community Edition V3.3.1, section "Data formats used when data is transmitted from
OceanBase Database to a message queue system", and the samples of that page.

| class | JSON | text |
| --- | --- | --- |
| Long | number | plain digits; booleans are 1 and 0 |
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

A float that is no number is a string (`"NaN"`), which is decided here. Projects created before V3.3.0 write BIT and
TIMESTAMP as whole numbers, and dates and times as java.time prints them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from simulator.carriers import FIRST_DAY, US_PER_DAY, storage
from simulator.model import ColumnType
from simulator.sources.mysql.values import format_values
from simulator.text import decimals as decimal_text
from simulator.text import mysql as binlog_text
from simulator.text.base64 import Base64, number_bytes
from simulator.text.columns import distinct_text, whole_numbers
from simulator.text.java import decimal as java_decimal
from simulator.text.template import Piece
from simulator.text.timestamps import (
    chosen,
    epoch_trimmed,
    local_datetime,
    local_time,
    partial,
    shortened,
    without_zeros,
)

ZERO_TIMESTAMP: Final = "0000-00-00 00:00:00"


@dataclass(frozen=True)
class ValueStyle:
    """Style of values besides their class: decimals without exponent (Dataworks), bits in full width (full
    synchronization), the project's age, the zone of timestamps without one of their own.
    """

    plain: bool = False
    full: bool = False
    legacy: bool = False
    zone: str = "Asia/Shanghai"


Text = Callable[[pa.Array, ColumnType, ValueStyle], Piece]


@dataclass(frozen=True)
class Class:
    """A class of values. `legacy_number`: projects before V3.3.0 write a number. `lossy`: different values may look the
    same."""

    text: Text
    quoted: bool = True
    escaped: bool = False
    legacy_number: bool = False
    lossy: bool = False


def long(array: pa.Array, type: ColumnType, style: ValueStyle) -> Piece:
    return array.cast(pa.int8()).cast(pa.string()) if pa.types.is_boolean(array.type) else array


def big_decimal(array: pa.Array, type: ColumnType, style: ValueStyle) -> Piece:
    """An exact number of any carrier."""
    if pa.types.is_integer(array.type):
        return array
    if not pa.types.is_decimal(array.type):
        return java_decimal.quoted_where_none(java_decimal.number_text(array, plain=style.plain))
    return decimal_text.decimal_piece(array, grouped=False) if style.plain else java_decimal.decimal_piece(array)


def double(array: pa.Array, type: ColumnType, style: ValueStyle) -> pa.Array:
    digits = java_decimal.DECIMAL32 if pa.types.is_float32(array.type) else java_decimal.DECIMAL64
    return java_decimal.quoted_where_none(java_decimal.float_text(array, digits, plain=style.plain))


def string(array: pa.Array, type: ColumnType, style: ValueStyle) -> pa.Array:
    return array


def enum(array: pa.Array, type: ColumnType, style: ValueStyle) -> pa.Array:
    return binlog_text.enum_label(array, type)


def set_(array: pa.Array, type: ColumnType, style: ValueStyle) -> pa.Array:
    return binlog_text.set_labels(array, type)


def bytes_(array: pa.Array, type: ColumnType, style: ValueStyle) -> Piece:
    return Base64(array)


def bit(array: pa.Array, type: ColumnType, style: ValueStyle) -> Piece:
    if style.legacy:
        return binlog_text.number(array, type)
    return Base64(number_bytes(array, ((type.length or 1) + 7) // 8 if style.full else None))


def date(array: pa.Array, type: ColumnType, style: ValueStyle) -> Piece:
    return binlog_text.date_piece(array)


def time(array: pa.Array, type: ColumnType, style: ValueStyle) -> Piece:
    if pa.types.is_string(array.type):
        return shortened(array) if style.legacy else without_zeros(array)
    us, _ = whole_numbers(array)
    outside = (us < 0) | (us >= US_PER_DAY)
    if not style.legacy and not outside.any():
        return binlog_text.trimmed_time_piece(array)
    texts = local_time(array) if style.legacy else binlog_text.time_trimmed(array, type)
    return chosen(outside, binlog_text.time_fixed(array, type), texts) if outside.any() else texts


def datetime(array: pa.Array, type: ColumnType, style: ValueStyle) -> Piece:
    if pa.types.is_string(array.type):
        return shortened(pc.replace_substring(array, " ", "T")) if style.legacy else without_zeros(array)
    invalid = partial(array)
    if not style.legacy and not invalid.any():
        return binlog_text.trimmed_datetime_piece(array)
    texts = local_datetime(array) if style.legacy else binlog_text.datetime_trimmed(array, type)
    return chosen(invalid, binlog_text.datetime_fixed(array, type), texts) if invalid.any() else texts


def timestamp(array: pa.Array, type: ColumnType, style: ValueStyle) -> pa.Array:
    if style.legacy:
        seconds = pc.replace_substring_regex(epoch_trimmed(array), r"\..*", "")
        return chosen(partial(array), f'"{ZERO_TIMESTAMP}"', seconds)
    return chosen(partial(array), ZERO_TIMESTAMP, epoch_trimmed(array))


def zoned(array: pa.Array, type: ColumnType, style: ValueStyle) -> pa.Array:
    return without_zeros(array)


def in_zone(array: pa.Array, type: ColumnType, style: ValueStyle) -> pa.Array:
    """A timestamp without its own zone, in the task's zone; in UTC if it would pass an end of the calendar."""
    fraction = None
    if pa.types.is_string(array.type):
        # more than microseconds: only whole seconds move
        fraction = pc.utf8_slice_codeunits(array, 19, 40)
        array = pc.utf8_slice_codeunits(array, 0, 19).cast(pa.timestamp("us"))
    us, _ = whole_numbers(array)
    ends = (us < _CALENDAR[0]) | (us >= _CALENDAR[1])
    if ends.any():
        array = storage(array)
        in_range = pc.if_else(pa.array(ends), pa.scalar(0, array.type), array)
        texts = _in_zone(in_range, type, fraction, style.zone)
        return chosen(ends, _in_zone(array, type, fraction, "UTC"), texts)
    return _in_zone(array, type, fraction, style.zone)


# A day inside the first and the last of the calendar, in microseconds since 1970.
_CALENDAR: Final = ((FIRST_DAY + 1) * US_PER_DAY, 2_932_896 * US_PER_DAY)


def _in_zone(array: pa.Array, type: ColumnType, fraction: pa.Array | None, zone: str) -> pa.Array:
    texts = binlog_text.datetime_trimmed(array, type, zone=zone)
    if fraction is not None:
        texts = without_zeros(pc.binary_join_element_wise(texts, fraction, ""))
    return pc.binary_join_element_wise(texts, pa.scalar(zone, pa.string()), " ")


_MONTHS: Final = re.compile(r"([+-]?)0*(\d+)-0*(\d+)")
_SECONDS: Final = re.compile(r"([+-]?)0*(\d+) (\d+:\d+:\d+)(\.\d*?)?0*")


def interval(array: pa.Array, type: ColumnType, style: ValueStyle) -> pa.Array:
    """`+04-00` is `INTERVAL '4' YEAR`, `+03 04:05:06.789000` is `INTERVAL '3 04:05:06.789' DAY TO SECOND`."""
    return distinct_text(array, _interval)


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


def geometry(array: pa.Array, type: ColumnType, style: ValueStyle) -> pa.Array:
    """Well-known text with its reference system, 0 too: `SRID=0;POINT(1 2)`, as libobcdc prints it."""
    encoded = array.dictionary_encode()
    texts = format_values(encoded.dictionary, type)
    with_srid = [text if text is None or text.startswith("SRID=") else f"SRID=0;{text}" for text in texts]
    return pa.array(with_srid, pa.string()).take(encoded.indices)


CLASSES: Final[Mapping[str, Class]] = {
    "Long": Class(long, quoted=False),
    "BigDecimal": Class(big_decimal, quoted=False),
    "Double": Class(double, quoted=False, lossy=True),
    "String": Class(string, escaped=True),
    "Enum": Class(enum, escaped=True),
    "Set": Class(set_, escaped=True),
    "Geometry": Class(geometry, escaped=True),
    "Bytes": Class(bytes_),
    "Bit": Class(bit, legacy_number=True),
    "Date": Class(date),
    "Time": Class(time),
    "DateTime": Class(datetime),
    "Timestamp": Class(timestamp, legacy_number=True, lossy=True),
    "ZonedDateTime": Class(zoned),
    "LocalDateTime": Class(in_zone),
    "Interval": Class(interval),
}
