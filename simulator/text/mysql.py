"""Columns of a MySQL binary log as text: one function per notation.

Each takes a carrier array and its column type and gives texts; null stays null, and of a dictionary array only the
dictionary is rendered. Nothing is escaped for JSON. Dates and times within the calendar are written by the library;
partial dates, and all of them without the library, one by one, once for each distinct value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.carriers import FIRST_DAY, US_PER_DAY, decimals, validity
from simulator.model import ColumnType
from simulator.native.program import Kind, Program, compiled
from simulator.partial_dates import are_partial, date_text, datetime_text
from simulator.text.base64 import number_bytes
from simulator.text.bytewise import HEX, mapped
from simulator.text.columns import (
    LAST_DAY,
    LAST_US,
    distinct_text,
    in_calendar,
    looked_up,
    nulls_of,
    offset_us,
    whole_numbers,
)
from simulator.text.decimals import decimal_plain
from simulator.text.java import numbers as java
from simulator.text.template import TEXT, Compound, Piece, join

Ints = npt.NDArray[np.int64]
Nulls = npt.NDArray[np.bool_] | None
Renderer = Callable[..., pa.Array]
# Whole numbers below this are looked up.
SMALL: Final = 1 << 12
# Times of day have up to three digits of hours.
CLOCK_END_US: Final = 1000 * 3_600_000_000
# What the library writes: microseconds of the calendar, and of such times.
CALENDAR: Final = (FIRST_DAY * US_PER_DAY, LAST_US)
CLOCKS: Final = (1 - CLOCK_END_US, CLOCK_END_US - 1)


def _of_dictionary(render: Renderer) -> Renderer:
    @wraps(render)
    def rendered(array: pa.Array, type: ColumnType, **options: Any) -> pa.Array:
        if pa.types.is_dictionary(array.type):
            return pa.DictionaryArray.from_arrays(array.indices, render(array.dictionary, type, **options))
        return render(array, type, **options)

    return rendered


# ------------------------------------------------------------------------------------------------------ numbers


def integer(array: pa.Array, type: ColumnType) -> pa.Array:
    """Decimal digits; ZEROFILL does not pad.

    >>> integer(pa.array([-128, 0, None]), ColumnType("tinyint")).to_pylist()
    ['-128', '0', None]
    """
    if len(array) > 1000 and array.null_count == 0 and pa.types.is_int64(array.type):
        low, high = (bound.as_py() for bound in pc.min_max(array).values())
        if low >= 0 and high < SMALL:
            # a range of a power of two: few different tables, which are reused
            texts = small_texts().slice(0, 1 << high.bit_length())
            return pa.DictionaryArray.from_arrays(array.cast(pa.int32()), texts)
    return join([array], len(array)) if compiled() and pa.types.is_int64(array.type) else pc.cast(array, pa.string())


@lru_cache(maxsize=1)
def small_texts() -> pa.Array:
    """`0`, `1`, `2` …: ages, quantities, line numbers are looked up rather than printed."""
    return pa.array(np.arange(SMALL)).cast(pa.string())


def float_(array: pa.Array, type: ColumnType) -> pa.Array:
    """A double or float as Java prints it (see `simulator.text.java.numbers`): `3.14`, `1.0E7`, `-0.0`."""
    return java.float_text(array) if pa.types.is_float32(array.type) else java.double_text(array)


def number(array: pa.Array, type: ColumnType) -> pa.Array:
    """The number that the log holds: the bits of a BIT (`5` for b'101'), the label of an ENUM from 1 (`0` is the error
    value), the members of a SET (`3` is the first and the second)."""
    return pc.cast(array, pa.string())


def bit_hex(array: pa.Array, type: ColumnType) -> pa.Array:
    """The bits as bytes, highest first, in upper-case hexadecimal digits.

    >>> bit_hex(pa.array([513, 1, None], pa.uint64()), ColumnType("bit", 10)).to_pylist()
    ['0201', '0001', None]
    """
    return mapped(number_bytes(array, ((type.length or 1) + 7) // 8), HEX)


def year(array: pa.Array, type: ColumnType) -> pa.Array:
    """Four digits: `2024`, `0000`."""
    return pc.utf8_lpad(pc.cast(array, TEXT), 4, "0")


# ----------------------------------------------------------------------------------------------- dates and times


def date(array: pa.Array, type: ColumnType) -> pa.Array:
    """`2024-02-29`, `0000-00-00`, `2020-00-00`."""
    return join([date_piece(array)], len(array))


def date_piece(array: pa.Array) -> Piece:
    """The text of `date`, to be joined with more; null where the value is."""
    days, nulls = whole_numbers(array)
    return written(days, nulls, Kind.DAY, 0, (FIRST_DAY, LAST_DAY), date_text)


@dataclass(frozen=True, slots=True, eq=False)
class Times(Compound):
    """Dates, dates and times within the calendar, or times of less than 1000 hours, as the library writes them;
    `digits` is the option of their kind."""

    numbers: Ints
    kind: Kind
    digits: int
    nulls: Nulls

    def column(self) -> pa.Array:
        raise TypeError("only the library writes these")

    def add_to(self, program: Program) -> None:
        program.numbers(np.ascontiguousarray(self.numbers), self.kind, self.digits)


def datetime_fixed(array: pa.Array, type: ColumnType, *, zone: str | None = None, offset_minutes: int = 0) -> pa.Array:
    """A date and time with exactly as many fraction digits as the column has.

    | datetime | datetime(3) |
    | --- | --- |
    | `2024-02-29 12:34:56` | `2024-02-29 12:34:56.700` |
    | `0000-00-00 00:00:00` | `0000-01-00 01:02:03.400` |

    `zone` moves UTC times to an IANA zone with its summer time (`Asia/Shanghai`) or by a fixed offset (`+08:00`);
    zero and partial dates stay.
    """
    return join([datetime_piece(array, type.length or 0, zone, offset_minutes)], len(array))


def datetime_piece(array: pa.Array, digits: int, zone: str | None = None, offset_minutes: int = 0) -> Piece:
    """The text of `datetime_fixed`, to be joined with more; null where the value is."""
    us, nulls = moments(array, zone, offset_minutes)
    return written(us, nulls, Kind.TIME, digits, CALENDAR, lambda us: _cut(datetime_text(us), digits))


def datetime_trimmed(
    array: pa.Array, type: ColumnType, *, zone: str | None = None, offset_minutes: int = 0
) -> pa.Array:
    """A date and time whose fraction has no zeros at its end, and no point if it is zero: `2024-02-29 12:34:56.35`."""
    return join([trimmed_datetime_piece(array, zone, offset_minutes)], len(array))


def trimmed_datetime_piece(array: pa.Array, zone: str | None = None, offset_minutes: int = 0) -> Piece:
    """The text of `datetime_trimmed`, to be joined with more; null where the value is."""
    us, nulls = moments(array, zone, offset_minutes)
    return written(us, nulls, Kind.TRIMMED, 0, CALENDAR, lambda us: _trimmed(datetime_text(us)))


def moments(array: pa.Array, zone: str | None, offset_minutes: int) -> tuple[Ints, Nulls]:
    """The numbers of timestamps, moved to a zone, and their nulls; zero and partial dates stay."""
    us, nulls = whole_numbers(array)
    if zone is None and not offset_minutes:
        return us, nulls
    partial = are_partial(us)
    if not partial.any():
        return in_calendar(us + offset_us(us, zone, offset_minutes)), nulls
    ordinary: Ints = np.where(partial, 0, us)
    return np.where(partial, us, in_calendar(ordinary + offset_us(ordinary, zone, offset_minutes))), nulls


def written(
    numbers: Ints,
    nulls: Nulls,
    kind: Kind,
    digits: int,
    bounds: tuple[int, int],
    text: Callable[[int], str | bytes],
    type: pa.DataType = TEXT,
) -> Piece:
    """Numbers as the library writes them; those out of bounds, such as partial dates, and all without the library, are
    written by `text`, once for each distinct number."""
    low, high = bounds
    if not compiled():
        return _one_by_one(numbers, nulls, text, type)
    if not len(numbers) or (int(numbers.min()) >= low and int(numbers.max()) <= high):
        return Times(numbers, kind, digits, nulls)
    rare = (numbers < low) | (numbers > high)
    texts = join([Times(np.where(rare, low, numbers), kind, digits, nulls)], len(numbers), type)
    return pc.replace_with_mask(texts, pa.array(rare), _one_by_one(numbers[rare], None, text, type))


def _one_by_one(numbers: Ints, nulls: Nulls, text: Callable[[int], str | bytes], type: pa.DataType) -> pa.Array:
    distinct, inverse = np.unique(numbers, return_inverse=True)
    return pa.array(map(text, distinct.tolist()), type).take(pa.array(inverse, mask=nulls))


def _cut(text: str, digits: int) -> str:
    """A time with some of its six fraction digits."""
    return text[: digits - 6 or None] if digits else text[:-7]


def _trimmed(text: str) -> str:
    """A time without zeros at the end of its fraction."""
    return text.rstrip("0").rstrip(".")


def epoch_fixed(array: pa.Array, type: ColumnType) -> pa.Array:
    """A timestamp as seconds since 1970 in UTC, with exactly as many fraction digits as the column has.

    | timestamp | timestamp(3) |
    | --- | --- |
    | `1624614713`, `0` for the zero date | `1624614713.201`, `0.000` |
    """
    us, nulls = whole_numbers(array)
    return epoch_text(us, nulls, type.length or 0)


def epoch_text(us: Ints, nulls: Nulls, digits: int) -> pa.Array:
    """Microseconds since 1970 as seconds with this many fraction digits, which count upwards before 1970, too; zero and
    partial dates as second 0."""
    units = np.where(are_partial(us), 0, us) // 10 ** (6 - digits)
    if not digits or not (units < 0).any():
        return decimal_plain(decimals(units, 18, digits, nulls), ColumnType("decimal"))
    return _one_by_one(units, nulls, lambda n: f"{n // 10**digits}.{n % 10**digits:0{digits}}", TEXT)


def time_fixed(array: pa.Array, type: ColumnType) -> pa.Array:
    """A time of day or an interval with exactly the column's fraction digits.

    | time | time(2) |
    | --- | --- |
    | `12:34:56`, `-00:00:01` | `12:34:56.70`, `-00:00:00.05` |
    | `838:59:59`, `-100:00:00` | `00:00:00.00` |
    """
    return join([time_piece(array, type.length or 0)], len(array))


def time_piece(array: pa.Array, digits: int) -> Piece:
    """The text of `time_fixed`, to be joined with more; null where the value is."""
    us, nulls = whole_numbers(array)
    return written(us, nulls, Kind.CLOCK, digits, CLOCKS, lambda us: _cut(_clock(us), digits))


def time_trimmed(array: pa.Array, type: ColumnType) -> pa.Array:
    """A time without zeros at the end of its fraction: `00:00:00.5`, `-838:59:59`."""
    return join([trimmed_time_piece(array)], len(array))


def trimmed_time_piece(array: pa.Array) -> Piece:
    """The text of `time_trimmed`, to be joined with more; null where the value is."""
    us, nulls = whole_numbers(array)
    return written(us, nulls, Kind.TRIMMED_CLOCK, 0, CLOCKS, lambda us: _trimmed(_clock(us)))


def _clock(us: int) -> str:
    """`[-]HH:MM:SS.ffffff`, hours of two digits or three."""
    seconds, fraction = divmod(abs(us), 1_000_000)
    sign = "-" if us < 0 else ""
    return f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:06}"


# ------------------------------------------------------------------------------------------------ texts and bytes


def enum_label(array: pa.Array, type: ColumnType) -> pa.Array:
    """The label; the error value is empty."""
    values, nulls = whole_numbers(array)
    return looked_up(["", *type.labels], values, nulls)


def set_labels(array: pa.Array, type: ColumnType) -> pa.Array:
    """The labels of the members in the type's order, with commas between."""
    return distinct_text(array, lambda mask: ",".join(label for i, label in enumerate(type.labels) if mask >> i & 1))


def text(array: pa.Array, type: ColumnType) -> pa.Array:
    """The text as it is."""
    return array


@_of_dictionary
def latin1_bytes(array: pa.Array, type: ColumnType) -> pa.Array:
    """Bytes as ISO-8859-1 characters."""
    return java.latin1(array)


def hex_bytes(array: pa.Array, type: ColumnType) -> pa.Array:
    """Bytes as upper-case hexadecimal digits.

    >>> hex_bytes(pa.array([b"jk", b"", None]), ColumnType("blob")).to_pylist()
    ['6A6B', '', None]
    """
    return mapped(array, HEX)


@_of_dictionary
def binary_stripped(array: pa.Array, type: ColumnType) -> pa.Array:
    """BINARY(n) as the binary log holds it, without the zeros at the end, as ISO-8859-1 characters.

    >>> binary_stripped(pa.array([b"a\\0\\0\\0", b"\\0\\0\\0\\0", None]), ColumnType("binary", 4)).to_pylist()
    ['a', '', None]
    """
    return java.latin1(without_trailing_zeros(array))


@_of_dictionary
def byte_list(array: pa.Array, type: ColumnType) -> pa.Array:
    """Bytes as Java's Arrays.toString prints them: `[106, 103]`, `[-128]`, `[]`."""
    return java.byte_list(array)


@_of_dictionary
def byte_list_stripped(array: pa.Array, type: ColumnType) -> pa.Array:
    """BINARY(n) as the binary log holds it, without the zeros at the end, as a list of numbers.

    >>> byte_list_stripped(pa.array([b"a\\0\\0", b"\\0\\0", None]), ColumnType("binary", 3)).to_pylist()
    ['[97]', '[]', None]
    """
    return java.byte_list(without_trailing_zeros(array))


def without_trailing_zeros(array: pa.Array) -> pa.Array:
    """Binary values without the zero bytes at their ends."""
    if not len(array) or array.buffers()[2] is None:
        return array
    offsets = np.frombuffer(array.buffers()[1], dtype=np.int32)[array.offset : array.offset + len(array) + 1]
    data = np.frombuffer(array.buffers()[2], dtype=np.uint8)
    starts, ends = offsets[:-1].astype(np.int64), offsets[1:].astype(np.int64)
    rows = np.flatnonzero(ends > starts)
    rows = rows[data[ends[rows] - 1] == 0]
    if not len(rows):
        return array
    while len(rows):
        ends[rows] -= 1
        rows = rows[ends[rows] > starts[rows]]
        rows = rows[data[ends[rows] - 1] == 0]
    sizes = ends - starts
    kept_lengths = np.zeros(len(array) + 1, dtype=np.int64)
    np.cumsum(sizes, out=kept_lengths[1:])
    indexes = np.arange(int(kept_lengths[-1])) + np.repeat(starts - kept_lengths[:-1], sizes)
    buffers = [validity(nulls_of(array)), pa.py_buffer(kept_lengths.astype(np.int32)), pa.py_buffer(data[indexes])]
    return pa.Array.from_buffers(array.type, len(array), buffers, -1)
