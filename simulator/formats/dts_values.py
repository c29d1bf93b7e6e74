"""Values of row images as DTS Avro has them: a branch of the union and its record, column by column.

Each function takes a column of carriers and gives its values as pieces (`simulator.wire.avro`): bytes that all rows
have, and columns of bytes that are null where the carrier is.

| branch | record | members |
| --- | --- | --- |
| 1 | Integer | precision (bytes of the type), value (text) |
| 2 | Character | charset, value (bytes in it) |
| 3 | Decimal | value (text), precision and scale of the value, as BigDecimal counts them |
| 4 | Float | value (double), precision, scale (0: readers ignore them) |
| 5 | Timestamp | timestamp (epoch seconds), millis (microseconds) |
| 6 | DateTime | year, month, day, hour, minute, second, millis: null where the type has none |
| 7 | TimestampWithTimeZone | value (DateTime), timezone |
| 8, 9 | BinaryGeometry, TextGeometry | type, value |
| 10, 11 | BinaryObject, TextObject | type, value |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.carriers import FIRST_DAY, PARTIAL_DAYS, split_partial, unscaled, validity
from simulator.formats import dts_geometry
from simulator.formats.dts_types import DtsType, System
from simulator.model import ColumnType
from simulator.sources import mysql
from simulator.wire import avro, binlog_text
from simulator.wire.avro import Bytes
from simulator.wire.cells import joined, nulls_of, split_moments, whole_numbers

Ints = npt.NDArray[np.int64]
# A column of carriers to the pieces of its values.
Values = Callable[[pa.Array], list[Bytes]]

BRANCHES: Final[Mapping[str, bytes]] = {
    name: avro.long(branch)
    for branch, name in enumerate(
        (
            "null", "Integer", "Character", "Decimal", "Float", "Timestamp", "DateTime", "TimestampWithTimeZone",
            "BinaryGeometry", "TextGeometry", "BinaryObject", "TextObject", "EmptyObject",
        )
    )
}  # fmt: skip
# What stands for a value that is not known in an image (EmptyObject NONE).
NONE: Final = BRANCHES["EmptyObject"] + avro.long(1)
MEMBERS: Final = "YMDhmsf"


def values_of(dts: DtsType, type: ColumnType, system: System, *, fraction: int | None = None) -> Values:
    """How a column's values are written. `fraction`: units of DateTime's fraction in a microsecond, if not the
    system's."""
    units = system.fraction if fraction is None else fraction
    match dts.record:
        case "Integer":
            size = int(dts.detail) or ((type.length or 1) + 7) // 8
            return lambda array: integers(array, size)
        case "Character":
            # the names of MySQL's character sets are those that readers know; texts of other systems come in one
            charset = type.charset if type.charset and system.source_type == "MySQL" else system.charset
            return lambda array: characters(array, charset)
        case "Decimal":
            return decimals
        case "Float":
            return floats
        case "Timestamp":
            return timestamps
        case "DateTime":
            return lambda array: datetimes(array, str(dts.detail), units)
        case "TimestampWithTimeZone":
            return lambda array: zoned(array, str(dts.detail), units)
        case "BinaryGeometry":
            if system.source_type == "SQLServer":
                return lambda array: objects("BinaryGeometry", str(dts.detail), shapes(array, type))
            return lambda array: objects("BinaryGeometry", str(dts.detail), well_known_binary(array))
        case "BinaryObject" | "TextObject" | "TextGeometry":
            return lambda array: objects(dts.record, str(dts.detail), label_texts(array, type))


def whole(pieces: Sequence[Bytes], count: int) -> pa.Array:
    """The pieces of a column put together; null is the union's first branch."""
    return avro.present(avro.join(pieces, count))


def integers(array: pa.Array, size: int) -> list[Bytes]:
    """`size` bytes of the type, and the digits."""
    texts = array if pa.types.is_string(decoded_type(array)) else binlog_text.integer(array, ColumnType("integer"))
    return [BRANCHES["Integer"] + avro.long(size), *avro.string_pieces(texts)]


def decoded_type(array: pa.Array) -> pa.DataType:
    """The type of a column's values, whether they come from a dictionary or not."""
    return array.type.value_type if pa.types.is_dictionary(array.type) else array.type


def characters(array: pa.Array, charset: str) -> list[Bytes]:
    """Texts in their character set."""
    codec = mysql.CHARSETS.get(charset, (0, "utf-8"))[1]
    if codec != "utf-8":
        array = of_distinct(array, lambda text: text.encode(codec, errors="replace"))
    return [BRANCHES["Character"] + avro.string(charset), *avro.string_pieces(array)]


def of_distinct(array: pa.Array, bytes_of: Callable[[Any], bytes]) -> pa.Array:
    """Bytes made one by one, of each different value, as a dictionary array."""
    coded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    made = [None if value is None else bytes_of(value) for value in coded.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(coded.indices, pa.array(made, pa.binary()))


# ------------------------------------------------------------------------------------------------------------- numbers

_POWERS: Final = 10 ** np.arange(1, 19, dtype=np.int64)
_PRECISIONS: Final = [avro.long(digits) for digits in range(80)]


def decimals(array: pa.Array) -> list[Bytes]:
    """The number in plain digits, its scale kept; `348.00` has precision 5 and scale 2, `0.00` 1 and 2.

    A decimal's carrier is an Arrow decimal, or text where the number keeps the scale that it was given.
    """
    type = decoded_type(array)
    if pa.types.is_decimal(type) and type.precision <= 18:
        array = decoded(array)
        texts = binlog_text.decimal_plain(array, ColumnType("decimal"))
        size = np.abs(unscaled(array))
        nulls = nulls_of(array)
        if nulls is not None:
            size = np.where(nulls, 0, size)
        digits = np.searchsorted(_POWERS, size, side="right") + 1
        return [
            BRANCHES["Decimal"],
            *avro.string_pieces(texts),
            avro.looked_up(_PRECISIONS[:20], digits),
            avro.long(type.scale),
        ]
    if not pa.types.is_string(type):
        array = (
            binlog_text.decimal_plain(decoded(array), ColumnType("decimal"))
            if pa.types.is_decimal(type)
            else binlog_text.integer(array, ColumnType("integer"))
        )
    made = of_distinct(array, decimal_record)
    return [BRANCHES["Decimal"], made.dictionary.take(made.indices)]


def decimal_record(text: str) -> bytes:
    """A single Decimal.

    >>> [part for part in decimal_record("-0.01")]
    [10, 45, 48, 46, 48, 49, 2, 4]
    """
    whole_part, _, fraction = text.lstrip("-").partition(".")
    digits = (whole_part + fraction).lstrip("0")
    return avro.string(text) + avro.long(len(digits) or 1) + avro.long(len(fraction))


def floats(array: pa.Array) -> list[Bytes]:
    """Floats of 32 bits are widened exactly."""
    values = np.asarray(decoded(array).fill_null(0)).astype(np.float64)
    column = avro.doubles(values)
    return [BRANCHES["Float"], with_nulls_of(column, array), avro.long(0) * 2]


def with_nulls_of(column: pa.Array, array: pa.Array) -> pa.Array:
    """The column with null where the carriers are null."""
    if not array.null_count:
        return column
    return pc.if_else(array.is_valid(), column, pa.scalar(None, column.type))


# ----------------------------------------------------------------------------------------------------- dates and times


def timestamps(array: pa.Array) -> list[Bytes]:
    """Epoch seconds and microseconds; the zero timestamp is 0 and 0."""
    us, _ = whole_numbers(array)
    us = np.where(us < FIRST_DAY * 86_400_000_000, 0, us)
    seconds = us // 1_000_000
    fraction = us - seconds * 1_000_000
    rest: Bytes = avro.longs(fraction) if fraction.any() else avro.long(0)
    return [BRANCHES["Timestamp"], with_nulls_of(avro.longs(seconds), array), rest]


def datetimes(array: pa.Array, members: str, units: int, branch: str = "DateTime") -> list[Bytes]:
    """The members that the type has, null for the others.

    Of carriers: days, moments, times of day; whole numbers are years; texts are taken apart (`members_of`).
    """
    type = decoded_type(array)
    lead = BRANCHES[branch]
    if pa.types.is_string(type):
        made = of_distinct(array, lambda text: datetime_record(members_of(text, members), members, units))
        return [lead, made.dictionary.take(made.indices)]
    array = decoded(array)
    if pa.types.is_integer(type):
        years, _ = whole_numbers(array)
        return [lead + b"\x02", with_nulls_of(avro.longs(years), array), b"\x00" * 6]
    if pa.types.is_date32(type):
        days, _ = whole_numbers(array)
        clock = b"\x00" * 4 if "h" not in members else b"\x02\x00" * 3 + (b"\x02\x00" if "f" in members else b"\x00")
        return [lead, with_nulls_of(day_members(days), array), clock]
    if pa.types.is_duration(type):
        return [lead + b"\x00" * 3, *time_members(array, units)]
    days, seconds, fraction, _ = split_moments(array, None, 0)
    pieces: list[Bytes] = [lead, with_nulls_of(day_members(days), array), clock_members(seconds)]
    return [*pieces, fraction_member(fraction * units) if "f" in members else b"\x00"]


def record_of(numbers: Sequence[int | None]) -> bytes:
    """A DateTime of its seven members."""
    return b"".join(b"\x00" if number is None else b"\x02" + avro.long(number) for number in numbers)


def datetime_record(found: Mapping[str, int], members: str, units: int) -> bytes:
    """A DateTime of members by their letters, the fraction in nanoseconds, which `units` makes smaller."""
    scaled = {**found, "f": int(found.get("f", 0) / (1000 / units))}
    return record_of([scaled.get(letter, 0) if letter in members else None for letter in MEMBERS])


# The days of two centuries, which all take the same number of bytes; others are made one by one.
_FIRST_TABLED: Final = -25_567  # 1900-01-01
_TABLED: Final = 84_006  # up to 2129


@lru_cache(maxsize=1)
def _days() -> npt.NDArray[np.void]:
    days = np.arange(_FIRST_TABLED, _FIRST_TABLED + _TABLED).astype("datetime64[D]")
    years = days.astype("datetime64[Y]").astype(np.int64) + 1970
    months = days.astype("datetime64[M]").astype(np.int64) % 12 + 1
    dates = (days - days.astype("datetime64[M]")).astype(np.int64) + 1
    out = np.empty((_TABLED, 7), dtype=np.uint8)
    out[:, (0, 3, 5)] = 2
    out[:, 1], out[:, 2] = (years << 1) & 0x7F | 0x80, years >> 6
    out[:, 4], out[:, 6] = months << 1, dates << 1
    return out.view("V7").reshape(-1)


@lru_cache(maxsize=1)
def _clock() -> npt.NDArray[np.void]:
    seconds = np.arange(86_400)
    out = np.full((86_400, 6), 2, dtype=np.uint8)
    out[:, 1], out[:, 3], out[:, 5] = seconds // 3600 << 1, seconds // 60 % 60 << 1, seconds % 60 << 1
    return out.view("V6").reshape(-1)


def day_members(days: Ints) -> pa.Array:
    """Year, month, day."""
    places = days - _FIRST_TABLED
    if not len(days) or (int(places.min()) >= 0 and int(places.max()) < _TABLED):
        return joined(len(days), None, _days()[places], type=pa.binary())
    distinct, inverse = np.unique(days, return_inverse=True)
    return avro.looked_up([record_of(day_numbers(day)) for day in distinct.tolist()], inverse)


def day_numbers(day: int) -> tuple[int, int, int]:
    """Year, month and day of an epoch day, or of the code of a partial date."""
    if day < FIRST_DAY:
        return split_partial(day - PARTIAL_DAYS)
    moment = np.datetime64(day, "D").item()
    return moment.year, moment.month, moment.day


def clock_members(seconds: npt.NDArray[Any]) -> pa.Array:
    """Hour, minute, second of seconds of the day."""
    return joined(len(seconds), None, _clock()[seconds], type=pa.binary())


def fraction_member(fraction: Ints) -> Bytes:
    if not fraction.any():
        return b"\x02\x00"
    return avro.join([b"\x02", avro.longs(fraction)], len(fraction))


def time_members(array: pa.Array, units: int) -> list[Bytes]:
    """Hour, minute, second and fraction, each negative where the time is: `-00:30:00.5` is 0, -30, 0, -500000."""
    us, _ = whole_numbers(array)
    sign, size = np.sign(us), np.abs(us)
    seconds = size // 1_000_000
    pieces: list[Bytes] = []
    if (us >= 0).all() and (seconds < 86_400).all():
        pieces = [with_nulls_of(clock_members(seconds), array)]
    else:
        parts = (seconds // 3600, seconds // 60 % 60, seconds % 60)
        pieces = [piece for part in parts for piece in (b"\x02", with_nulls_of(avro.longs(sign * part), array))]
    return [*pieces, fraction_member(sign * (size - seconds * 1_000_000) * units)]


def zoned(array: pa.Array, members: str, units: int) -> list[Bytes]:
    """A wall clock and its zone. Of moments that keep none, the wall clock at UTC."""
    if not pa.types.is_string(decoded_type(array)):
        return [*datetimes(array, members, units, "TimestampWithTimeZone"), avro.string("+00:00")]

    def record(text: str) -> bytes:
        clock, _, zone = text.rpartition(" ")
        if ":" in zone and zone[0].isdigit():
            clock, zone = text, "+00:00"  # a moment that keeps no zone, with more digits than microseconds have
        return datetime_record(members_of(clock, members), members, units) + avro.string(zone)

    made = of_distinct(array, record)
    return [BRANCHES["TimestampWithTimeZone"], made.dictionary.take(made.indices)]


_MOMENT: Final = re.compile(r"(-?)(?:(-?\d+)-(\d\d)-(\d\d))?[ T]?(?:(\d+):(\d\d):(\d\d)(?:\.(\d+))?)?")
_YEARS: Final = re.compile(r"([+-]?)(\d+)-(\d+)")
_DAYS: Final = re.compile(r"([+-]?)(\d+) (\d+):(\d+):(\d+)(?:\.(\d+))?")


def members_of(text: str, members: str) -> dict[str, int]:
    """A text's members, the fraction in nanoseconds. Intervals have their sign on all of them.

    >>> members_of("2024-05-01 10:00:00.1234567", "YMDhmsf")
    {'Y': 2024, 'M': 5, 'D': 1, 'h': 10, 'm': 0, 's': 0, 'f': 123456700}
    >>> members_of("-1 02:03:04.5", "Dhmsf"), members_of("+04-03", "YM")
    ({'D': -1, 'h': -2, 'm': -3, 's': -4, 'f': -500000000}, {'Y': 4, 'M': 3})
    """
    pattern = {"YM": _YEARS, "Dhmsf": _DAYS}.get(members, _MOMENT)
    match = pattern.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not made of {members}")
    sign, *parts = match.groups()
    letters = "YMDhmsf" if pattern is _MOMENT else members
    found = {letter: int(part.ljust(9, "0")[:9] if letter == "f" else part)
             for letter, part in zip(letters, parts, strict=True) if part is not None}  # fmt: skip
    return {letter: -number for letter, number in found.items()} if sign == "-" else found


# --------------------------------------------------------------------------------------------------- texts and bytes


def objects(record: str, type: str, values: pa.Array) -> list[Bytes]:
    """What an object is, and its text or bytes."""
    return [BRANCHES[record] + avro.string(type), *avro.string_pieces(values)]


def well_known_binary(array: pa.Array) -> pa.Array:
    """Geometries without the four bytes of their reference system."""
    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, well_known_binary(array.dictionary))
    if array.null_count == len(array):
        return array
    offsets = np.frombuffer(array.buffers()[1], dtype=np.int32)[array.offset : array.offset + len(array) + 1]
    starts = (offsets[:-1] - offsets[0])[np.asarray(array.is_valid())]
    kept = np.ones(int(offsets[-1] - offsets[0]), dtype=bool)
    kept[(starts[:, None] + np.arange(4)).ravel()] = False
    data = np.frombuffer(array.buffers()[2], dtype=np.uint8)[offsets[0] : offsets[-1]][kept]
    ends = np.append(0, np.cumsum(kept, dtype=np.int32))[offsets - offsets[0]].astype(np.int32)
    buffers = [validity(nulls_of(array)), pa.py_buffer(ends), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), len(array), buffers, -1)


def shapes(array: pa.Array, type: ColumnType) -> pa.Array:
    """SQL Server's shapes as well-known binary."""
    geography = type.name == "geography"
    return of_distinct(array, lambda stored: dts_geometry.well_known_binary(stored, latitude_first=geography))


def label_texts(array: pa.Array, type: ColumnType) -> pa.Array:
    """Texts and bytes as they are, numbers of labels as the labels."""
    if type.labels and pa.types.is_integer(decoded_type(array)):
        render = binlog_text.set_labels if type.name == "set" else binlog_text.enum_label
        return render(decoded(array), type)
    if pa.types.is_boolean(decoded_type(array)):
        return pc.if_else(decoded(array), "t", "f")
    return array
