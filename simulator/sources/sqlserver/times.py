"""SQL Server's dates and times: literals to carriers, rounded as the server rounds.

The unit is 100 ns, the server's finest step.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.carriers import FIRST_DAY, cut_times, primitive
from simulator.model import ColumnType
from simulator.sources import literals
from simulator.sources.sqlserver.type_table import digits
from simulator.text.timestamps import time_text

SECOND: Final = 10_000_000
DAY: Final = 86_400 * SECOND
_DATE: Final = r"(\d{4})-(\d{1,2})-(\d{1,2})"
_CLOCK: Final = r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,7}))?)?"
_ZONE: Final = r"\s*(Z|[+-]\d{2}:\d{2})"
_MOMENT: Final = re.compile(rf"{_DATE}(?:[ T]{_CLOCK})?(?:{_ZONE})?")
_TIME: Final = re.compile(_CLOCK)
_JUST_DATE: Final = re.compile(_DATE)

# Bounds in days: 0001-01-01, 9999-12-31; datetime begins in 1753, smalldatetime spans 1900-01-01 to 2079-06-06.
_LAST_DAY: Final = 2_932_896
_DAYS: Final = {"datetime": (-79_257, _LAST_DAY), "smalldatetime": (-25_567, 39_968)}
_LAST: Final = {
    "datetime": (_LAST_DAY + 1) * DAY - 30_000,  # 23:59:59.997
    "smalldatetime": (39_968 + 1) * DAY - 1,
}


def day(text: str) -> int:
    """Days since 1970. Raises ValueError."""
    match = _JUST_DATE.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is not a date such as 2024-02-29")
    return literals.day(text, *map(int, match.groups()))


def _clock(text: str, hour: str | None, minute: str | None, second: str | None, fraction: str | None) -> int:
    return literals.seconds(text, hour, minute, second) * SECOND + int((fraction or "").ljust(7, "0"))


def _rounded(steps: int, scale: int) -> int:
    """Steps rounded half up to `scale` digits."""
    unit = int(10 ** (7 - scale))
    return (steps + unit // 2) // unit * unit


def clock(text: str, type: ColumnType) -> int:
    """A time of day in steps. Raises ValueError."""
    match = _TIME.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is not a time such as 12:34:56.1234567")
    steps = _rounded(_clock(text, *match.groups()), digits(type))
    if steps >= DAY:
        raise ValueError(f"{text} is rounded to 24:00:00, beyond its day")
    return steps


def parse_datetime(text: str, type: ColumnType) -> int:
    """A datetime2, datetime or smalldatetime in steps since 1970. Raises ValueError."""
    steps, zone = _date_and_time(text)
    if zone is not None:
        raise ValueError(f"{text!r} has a time zone, and {type.name} has none")
    low, high = _DAYS.get(type.name, (FIRST_DAY, _LAST_DAY))
    if not low <= steps // DAY <= high:
        first, last = (dt.date.fromordinal(days - FIRST_DAY + 1) for days in (low, high))
        raise ValueError(f"{text} is outside {first} to {last}, the days of {type.name}")
    if type.name == "datetime":
        steps = int(thirds(np.array([steps // 10]))[0]) * 10
    elif type.name == "smalldatetime":
        steps = int(minutes(np.array([steps // 10]))[0]) * 10
    else:
        steps = _rounded(steps, digits(type))
    if steps > _LAST.get(type.name, (_LAST_DAY + 1) * DAY - 1):
        raise ValueError(f"{text} is rounded beyond the last {type.name}")
    return steps


def _date_and_time(text: str) -> tuple[int, str | None]:
    match = _MOMENT.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is not a date and time such as 2024-02-29 12:34:56.1234567")
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    days = literals.day(text, int(year), int(month), int(day))
    return days * DAY + _clock(text, hour, minute, second, fraction), zone


def offset_text(text: str, type: ColumnType) -> str:
    """A datetimeoffset as its carrier: `2024-02-29 12:34:56.1234567 +08:00`; without an offset it is UTC."""
    steps, zone = _date_and_time(text)
    zone = "+00:00" if zone in (None, "Z", "-00:00") else zone
    assert zone is not None
    minutes = int(zone[1:3]) * 60 + int(zone[4:])
    if int(zone[4:]) > 59 or minutes > 14 * 60:
        raise ValueError(f"{text!r} has an offset outside -14:00 to +14:00")
    steps = _rounded(steps, digits(type))
    utc = steps - (minutes if zone[0] == "+" else -minutes) * 60 * SECOND
    for value in (steps, utc):
        if not FIRST_DAY <= value // DAY <= _LAST_DAY:
            raise ValueError(f"{text} is outside the years 1 to 9999, in its zone or in UTC")
    return f"{datetime_text(steps, digits(type))} {zone}"


def datetime_text(steps: int, scale: int) -> str:
    """`2024-02-29 12:34:56.1234567` with `scale` fraction digits."""
    days, time_steps = divmod(steps, DAY)
    return f"{dt.date.fromordinal(days - FIRST_DAY + 1).isoformat()} {clock_text(time_steps, scale)}"


def clock_text(steps: int, scale: int) -> str:
    seconds, fraction = divmod(steps, SECOND)
    text = literals.clock(seconds)
    return f"{text}.{fraction:07}"[: 1 + scale - 8 or None] if scale else text


# ------------------------------------------------------------------------------------------------------ whole columns


def thirds(us: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Microseconds as a datetime keeps them: in 1/300 s, shown with the last digits .000, .003 and .007.

    >>> thirds(np.array([1_000, 2_000, 4_000, 5_000, 8_000, 9_000, 998_000])).tolist()
    [0, 3000, 3000, 7000, 7000, 10000, 997000]
    """
    seconds, us_of_second = us // 1_000_000, us % 1_000_000
    ticks = (us_of_second * 3 + 5_000) // 10_000
    printed: npt.NDArray[np.int64] = seconds * 1_000_000 + (ticks * 10 + 1) // 3 * 1_000
    return printed


def minutes(us: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Microseconds as a smalldatetime keeps them: in minutes, 29.999 s and more are rounded up."""
    rounded: npt.NDArray[np.int64] = (us + 30_001_000) // 60_000_000 * 60_000_000
    return rounded


def unit_us(type: ColumnType) -> int:
    """Step between values of a time type, in microseconds; for a datetime three of its own steps, the first whole
    number.
    """
    if type.name == "smalldatetime":
        return 60_000_000
    if type.name == "datetime":
        return 10_000
    return int(10 ** (6 - min(digits(type), 6)))


def stored(array: pa.Array, type: ColumnType) -> pa.Array:
    """Timestamps, times of day or narrower texts as the carrier of a time type; finer parts are cut."""
    scale = digits(type)
    if pa.types.is_string(array.type):
        return _refilled(array, scale)
    if type.name == "datetimeoffset":
        return time_text(array, scale, zone="+00:00")
    if scale > 6:
        return time_text(array, scale)
    if scale == 6:
        return array
    if type.name not in ("datetime", "smalldatetime"):
        return cut_times(array, unit_us(type))
    us = (thirds if type.name == "datetime" else minutes)(np.asarray(array.view(pa.int64()).fill_null(0)))
    return primitive(us, array.type, np.asarray(array.is_null()) if array.null_count else None)


def _refilled(array: pa.Array, scale: int) -> pa.Array:
    """Texts of times with another number of fraction digits."""
    if not len(array) or array.null_count == len(array):
        return array
    first = array.drop_null()[0].as_py()
    clock, _, zone = first[11:].partition(" ") if first[4:5] == "-" else (first, "", "")
    if len(clock) == (9 + scale if scale else 8):
        return array
    width = len(first) - len(zone) - (1 if zone else 0)

    def refill(text: str) -> str:
        head, tail = text[:width], text[width:]
        integer, _, fraction = head.partition(".")
        return integer + ("." + fraction.ljust(scale, "0")[:scale] if scale else "") + tail

    return pa.array([None if text is None else refill(text) for text in array.to_pylist()], pa.string())
