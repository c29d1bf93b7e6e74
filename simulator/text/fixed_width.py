"""Texts of one width, copied from tables: days of a century, seconds of a day, digits; and timestamps taken apart.

A table holds its texts as fixed-size cells, so that a column of dates is one indexed copy and no join.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.carriers import FIRST_DAY, US_PER_DAY, numbers, storage, validity
from simulator.errors import UsageError
from simulator.partial_dates import are_partial, date_text, split_all

Ints = npt.NDArray[np.int64]
Cells = npt.NDArray[np.void]
Nulls = npt.NDArray[np.bool_] | None


def nulls_of(array: pa.Array) -> Nulls:
    return array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None


def whole_numbers(array: pa.Array) -> tuple[Ints, Nulls]:
    """The raw 64-bit numbers of an array, 0 where it is null, and the nulls."""
    nulls = nulls_of(array)
    values = numbers(array)
    if nulls is not None:
        values = np.where(nulls, values.dtype.type(0), values)
    return values.astype(np.int64, copy=False), nulls


def _cells(texts: list[str]) -> Cells:
    """A table of texts that all have the same width, to be copied as a whole."""
    encoded = np.array([text.encode("ascii") for text in texts])
    return encoded.view(f"V{encoded.dtype.itemsize}")


@lru_cache(maxsize=32)
def digits_table(width: int, prefix: str = "") -> Cells:
    """All numbers of this many digits, padded with zeros."""
    return _cells([f"{prefix}{number:0{width}}" for number in range(10**width)])


# First day of the table of days; days outside the table are printed one by one.
_FIRST_TABLED: Final = dt.date(1970, 1, 1).toordinal() + FIRST_DAY - 1
_LAST_TABLED: Final = dt.date(2099, 12, 31).toordinal() + FIRST_DAY - 1


@lru_cache(maxsize=1)
def _days_table() -> Cells:
    return _cells([date_text(day) for day in range(_FIRST_TABLED, _LAST_TABLED + 1)])


@lru_cache(maxsize=1)
def seconds_table() -> Cells:
    """The seconds of a day with a blank before: ` 12:34:56`."""
    seconds = np.arange(86_400)
    return _beside(digits_table(2, " ")[seconds // 3600], minutes_table()[seconds % 3600])


@lru_cache(maxsize=1)
def minutes_table() -> Cells:
    """The seconds of an hour: `:34:56`."""
    return _cells([f":{s // 60:02}:{s % 60:02}" for s in range(3600)])


def day_cells(days: Ints) -> Cells:
    if len(days) and (int(days.min()) < _FIRST_TABLED or int(days.max()) > _LAST_TABLED):
        distinct, inverse = np.unique(days, return_inverse=True)
        return _cells([date_text(day) for day in distinct.tolist()])[inverse]
    return _days_table()[days]


def _beside(*parts: Cells) -> Cells:
    """Each row's cells as one."""
    out = np.empty(len(parts[0]), dtype=[(f"part{i}", part.dtype) for i, part in enumerate(parts)])
    for i, part in enumerate(parts):
        out[f"part{i}"] = part
    return out.view(f"V{out.dtype.itemsize}")


def joined(count: int, nulls: Nulls, *parts: Cells, type: pa.DataType | None = None) -> pa.Array:
    """Texts of one width: the parts side by side. `type`: the result's type, such as binary (default: text)."""
    width = sum(part.dtype.itemsize for part in parts)
    if count * width >= 1 << 31:
        raise OverflowError("a column of this block holds more than 2 GiB as text")
    out = _beside(*parts)
    ends = np.arange(0, (count + 1) * width, width, dtype=np.int32)
    return pa.Array.from_buffers(
        type or pa.string(), count, [validity(nulls), pa.py_buffer(ends), pa.py_buffer(out)], -1
    )


# The last day and the last microsecond of 9999.
LAST_DAY: Final = dt.date(9999, 12, 31).toordinal() + FIRST_DAY - 1
LAST_US: Final = (LAST_DAY + 1) * US_PER_DAY - 1


def split_moments(
    array: pa.Array, zone: str | None, offset_minutes: int
) -> tuple[Ints, npt.NDArray[np.uint32], Ints, Nulls]:
    """Days (of MySQL also those of partial dates), seconds of the day, microseconds, and the nulls."""
    us, nulls = whole_numbers(array)
    partial = are_partial(us)
    strange = bool(partial.any())
    if zone is not None or offset_minutes:
        moved = us + offset_us(np.where(partial, 0, us) if strange else us, zone, offset_minutes)
        moved = in_calendar(moved)
        us = np.where(partial, us, moved) if strange else moved
    if strange:
        days, time_us = split_all(us)
        return days, (time_us // 1_000_000).astype(np.uint32), time_us % 1_000_000, nulls
    seconds = us // 1_000_000
    days = seconds // 86_400
    rest = (seconds - days * 86_400).astype(np.uint32)
    fraction = us - seconds * 1_000_000
    return days, rest, fraction, nulls


def in_calendar(us: Ints) -> Ints:
    """Timestamps limited to the calendar, which no zone may move them out of."""
    if len(us) and (int(us.max()) > LAST_US or int(us.min()) < FIRST_DAY * US_PER_DAY):
        return np.clip(us, FIRST_DAY * US_PER_DAY, LAST_US)
    return us


_FIXED_ZONE: Final = re.compile(r"(?:UTC|GMT)?([+-])(\d{1,2}):?(\d{2})")


def offset_us(us: Ints, zone: str | None, offset_minutes: int) -> Ints | int:
    if zone is None:
        return offset_minutes * 60_000_000
    if zone.upper() in ("UTC", "Z", "GMT"):
        return 0
    if match := _FIXED_ZONE.fullmatch(zone):
        minutes = int(match[2]) * 60 + int(match[3])
        return (-minutes if match[1] == "-" else minutes) * 60_000_000
    try:
        rules = ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise UsageError(f"no time zone {zone!r}; write one such as 'Asia/Shanghai' or '+08:00'.") from error
    # One look-up of the rules per day that occurs; if clocks change on that day, one per quarter of an hour.
    days = us // US_PER_DAY
    first = int(days.min(initial=0))
    present = np.zeros(int(days.max(initial=0)) - first + 1, dtype=bool)
    present[days - first] = True
    of_day = np.zeros(len(present), dtype=np.int64)
    for day in np.flatnonzero(present).tolist():
        of_day[day] = _day_offset(zone, first + day)
    offsets = of_day[days - first]
    changing = np.flatnonzero(offsets == _CHANGES)
    if len(changing):
        quarters, inverse = np.unique(us[changing] // 900_000_000, return_inverse=True)
        offsets[changing] = np.array([_offset_at(rules, int(q) * 900) for q in quarters], dtype=np.int64)[inverse]
    return offsets


def offsets_us(us: Ints, zone: str) -> Ints:
    """Microseconds that the zone's clocks are ahead of UTC at each timestamp."""
    return np.broadcast_to(np.asarray(offset_us(us, zone, 0), dtype=np.int64), us.shape)


_CHANGES: Final = 1 << 62


@lru_cache(maxsize=1 << 16)
def _day_offset(zone: str, day: int) -> int:
    """A zone's offset all day long, in microseconds, or _CHANGES."""
    rules = ZoneInfo(zone)
    start, end = (_offset_at(rules, second) for second in (day * 86_400, day * 86_400 + 86_399))
    return start if start == end else _CHANGES


def _offset_at(rules: ZoneInfo, second: int) -> int:
    moment = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=second)
    try:
        offset = moment.astimezone(rules).utcoffset()
    except OverflowError:
        # at the ends of the calendar
        offset = moment.replace(tzinfo=rules).utcoffset()
    assert offset is not None
    return round(offset.total_seconds()) * 1_000_000


def fraction_cells(fraction: Ints, digits: int) -> list[Cells]:
    if not digits:
        return []
    if digits <= 3:
        return [digits_table(digits, ".")[fraction // 10 ** (6 - digits)]]
    high = fraction // 1000
    return [digits_table(3, ".")[high], digits_table(digits - 3)[(fraction - high * 1000) // 10 ** (6 - digits)]]


def looked_up(texts: list[str], indexes: Ints, nulls: Nulls) -> pa.Array:
    """The table's text at each index; null where the mask is true."""
    return pa.array(texts, type=pa.string()).take(pa.array(indexes, mask=nulls))


def distinct_text(array: pa.Array, text: Callable[[Any], str | None]) -> pa.Array:
    """Texts made one by one, once for each distinct value; None is null."""
    encoded = array if pa.types.is_dictionary(array.type) else storage(array).dictionary_encode()
    texts = [None if value is None else text(value) for value in encoded.dictionary.to_pylist()]
    return pa.array(texts, type=pa.string()).take(encoded.indices)
