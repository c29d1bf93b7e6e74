"""Columns taken apart for printers: raw numbers, nulls, offsets of time zones; and texts by distinct value."""

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

from simulator.carriers import FIRST_DAY, US_PER_DAY, numbers, storage
from simulator.errors import UsageError

Ints = npt.NDArray[np.int64]
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


# The last day and the last microsecond of 9999.
LAST_DAY: Final = dt.date(9999, 12, 31).toordinal() + FIRST_DAY - 1
LAST_US: Final = (LAST_DAY + 1) * US_PER_DAY - 1


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


def looked_up(texts: list[str], indexes: Ints, nulls: Nulls) -> pa.Array:
    """The table's text at each index; null where the mask is true."""
    return pa.array(texts, type=pa.string()).take(pa.array(indexes, mask=nulls))


def distinct_text(array: pa.Array, text: Callable[[Any], str | None]) -> pa.Array:
    """Texts made one by one, once for each distinct value; None is null."""
    encoded = array if pa.types.is_dictionary(array.type) else storage(array).dictionary_encode()
    texts = [None if value is None else text(value) for value in encoded.dictionary.to_pylist()]
    return pa.array(texts, type=pa.string()).take(encoded.indices)
