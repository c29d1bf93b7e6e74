"""Columns of a MySQL binary log as text: one function per notation.

Each takes a carrier array and its column type and gives texts; null stays null, and of a dictionary array only the
dictionary is rendered. Nothing is escaped for JSON. Parts of values come from tables of finished texts: the days of a
century, the seconds of a day, the fractions of a second.
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

from simulator.carriers import FIRST_DAY, US_PER_DAY, validity
from simulator.model import ColumnType
from simulator.native.program import Kind, Program, compiled
from simulator.partial_dates import are_partial
from simulator.text.base64 import number_bytes
from simulator.text.bytewise import HEX, mapped
from simulator.text.fixed_width import (
    LAST_DAY,
    LAST_US,
    day_cells,
    digits_table,
    distinct_text,
    fraction_cells,
    in_calendar,
    joined,
    looked_up,
    minutes_table,
    nulls_of,
    offset_us,
    seconds_table,
    split_moments,
    whole_numbers,
)
from simulator.text.java import numbers as java
from simulator.text.template import Compound, Piece, join

Ints = npt.NDArray[np.int64]
Nulls = npt.NDArray[np.bool_] | None
Renderer = Callable[..., pa.Array]
# Whole numbers below this are looked up.
SMALL: Final = 1 << 12
# Times of day have up to three digits of hours.
CLOCK_END_US: Final = 1000 * 3_600_000_000


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
    values, nulls = whole_numbers(array)
    return joined(len(values), nulls, digits_table(4)[values])


# ----------------------------------------------------------------------------------------------- dates and times


def date(array: pa.Array, type: ColumnType) -> pa.Array:
    """`2024-02-29`, `0000-00-00`, `2020-00-00`."""
    return join([date_piece(array)], len(array))


def date_piece(array: pa.Array) -> Piece:
    """The text of `date`, to be joined with more; null where the value is."""
    days, nulls = whole_numbers(array)
    if compiled() and len(days) and int(days.min()) >= FIRST_DAY and int(days.max()) <= LAST_DAY:
        return Times(days, Kind.DAY, 0, nulls)
    return joined(len(days), nulls, day_cells(days))


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
        program.numbers(pa.array(self.numbers), self.kind, self.digits)


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
    if compiled() and (written := written_times(array, Kind.TIME, digits, zone, offset_minutes)) is not None:
        return written
    days, seconds, fraction, nulls = split_moments(array, zone, offset_minutes)
    parts = [day_cells(days), seconds_table()[seconds]]
    return joined(len(days), nulls, *parts, *fraction_cells(fraction, digits))


def datetime_trimmed(
    array: pa.Array, type: ColumnType, *, zone: str | None = None, offset_minutes: int = 0
) -> pa.Array:
    """A date and time whose fraction has no zeros at its end, and no point if it is zero: `2024-02-29 12:34:56.35`."""
    return join([trimmed_datetime_piece(array, zone, offset_minutes)], len(array))


def trimmed_datetime_piece(array: pa.Array, zone: str | None = None, offset_minutes: int = 0) -> Piece:
    """The text of `datetime_trimmed`, to be joined with more; null where the value is."""
    if compiled() and (written := written_times(array, Kind.TRIMMED, 0, zone, offset_minutes)) is not None:
        return written
    days, seconds, fraction, nulls = split_moments(array, zone, offset_minutes)
    clock = joined(len(days), nulls, day_cells(days), seconds_table()[seconds])
    return with_trimmed(clock, fraction)


def written_times(
    array: pa.Array, kind: Kind, digits: int, zone: str | None = None, offset_minutes: int = 0
) -> Times | None:
    """Times as the library writes them; None if one is out of the calendar."""
    us, nulls = whole_numbers(array)
    if not len(us) or int(us.min()) < FIRST_DAY * US_PER_DAY or int(us.max()) > LAST_US:
        return None
    if zone is not None or offset_minutes:
        us = in_calendar(us + offset_us(us, zone, offset_minutes))
    return Times(us, kind, digits, nulls)


def epoch_fixed(array: pa.Array, type: ColumnType) -> pa.Array:
    """A timestamp as seconds since 1970 in UTC, with exactly as many fraction digits as the column has.

    | timestamp | timestamp(3) |
    | --- | --- |
    | `1624614713`, `0` for the zero date | `1624614713.201`, `0.000` |
    """
    us, nulls = whole_numbers(array)
    us = np.where(are_partial(us), 0, us)
    seconds = us // 1_000_000
    text = pc.cast(pa.array(seconds, mask=nulls), pa.string())
    digits = type.length or 0
    if not digits:
        return text
    return join([text, joined(len(us), None, *fraction_cells(us - seconds * 1_000_000, digits))], len(us))


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
    if compiled() and (written := _written_clock(array, Kind.CLOCK, digits)) is not None:
        return written
    clock, fraction = _clock(array)
    if not digits:
        return clock
    return join([clock, joined(len(array), None, *fraction_cells(fraction, digits))], len(array))


def time_trimmed(array: pa.Array, type: ColumnType) -> pa.Array:
    """A time without zeros at the end of its fraction: `00:00:00.5`, `-838:59:59`."""
    return join([trimmed_time_piece(array)], len(array))


def trimmed_time_piece(array: pa.Array) -> Piece:
    """The text of `time_trimmed`, to be joined with more; null where the value is."""
    if compiled() and (written := _written_clock(array, Kind.TRIMMED_CLOCK, 0)) is not None:
        return written
    return with_trimmed(*_clock(array))


def _written_clock(array: pa.Array, kind: Kind, digits: int) -> Times | None:
    """Times of day as the library writes them; None if one is too long."""
    us, nulls = whole_numbers(array)
    if not len(us) or int(us.min()) <= -CLOCK_END_US or int(us.max()) >= CLOCK_END_US:
        return None
    return Times(us, kind, digits, nulls)


@lru_cache(maxsize=2)
def _trimmed_table(prefix: str) -> pa.Array:
    """Three digits without the zeros at their end; nothing for 0."""
    texts = [f"{prefix}{number:03}".rstrip("0") for number in range(1000)]
    texts[0] = ""
    return pa.array(texts, type=pa.string())


def with_trimmed(clock: pa.Array, fraction: Ints) -> pa.Array:
    """Texts followed by their fraction (in microseconds) without trailing zeros; no point if the fraction is zero."""
    if not fraction.any():
        return clock
    high = fraction // 1000
    low = fraction - high * 1000
    if not low.any():
        return join([clock, _trimmed_table(".").take(pa.array(high))], len(fraction))
    full = joined(len(high), None, digits_table(3, ".")[high])
    start = pc.if_else(pa.array(low > 0), full, _trimmed_table(".").take(pa.array(high)))
    return join([clock, start, _trimmed_table("").take(pa.array(low))], len(fraction))


def _clock(array: pa.Array) -> tuple[pa.Array, Ints]:
    """`[-]HH:MM:SS`, hours of two digits or three, and the microseconds above."""
    us, nulls = whole_numbers(array)
    size = np.abs(us)
    seconds = size // 1_000_000
    hours = seconds // 3600
    minutes = seconds - hours * 3600
    if not (us < 0).any() and not (hours > 99).any():
        clock = joined(len(us), nulls, digits_table(2)[hours], minutes_table()[minutes])
    else:
        texts = [f"{sign}{hour:02}" for sign in ("", "-") for hour in range(1000)]
        sign = looked_up(texts, hours + (us < 0) * 1000, nulls)
        clock = join([sign, joined(len(us), None, minutes_table()[minutes])], len(us))
    return clock, size - seconds * 1_000_000


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
    kept = np.zeros(len(array) + 1, dtype=np.int64)
    np.cumsum(sizes, out=kept[1:])
    indexes = np.arange(int(kept[-1])) + np.repeat(starts - kept[:-1], sizes)
    buffers = [validity(nulls_of(array)), pa.py_buffer(kept.astype(np.int32)), pa.py_buffer(data[indexes])]
    return pa.Array.from_buffers(array.type, len(array), buffers, -1)
