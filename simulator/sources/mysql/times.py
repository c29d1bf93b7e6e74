"""MySQL's dates and times: literals as a person writes them to carriers, and back; zero and partial dates included."""

from __future__ import annotations

import re
from typing import Final

from simulator.carriers import FIRST_DAY, US_PER_DAY
from simulator.errors import short
from simulator.model import ColumnType
from simulator.partial_dates import ZERO_DAY, date_text, joined_us, partial_day, split_us
from simulator.sources import literals

_DATE: Final = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_CLOCK: Final = r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?"
_DATETIME: Final = re.compile(rf"(\d{{4}}-\d{{1,2}}-\d{{1,2}})(?:[ T]{_CLOCK})?\s*(Z|[+-]\d{{2}}:\d{{2}})?")
_TIME: Final = re.compile(r"(-?)(\d{1,3}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?")
# 838:59:59
MAX_TIME_US: Final = (838 * 3600 + 59 * 60 + 59) * 1_000_000
# 1970-01-01 00:00:01 and 2038-01-19 03:14:07.999999, UTC
TIMESTAMP_US: Final = (1_000_000, (1 << 31) * 1_000_000 - 1)
# 9999-12-31 23:59:59.999999
_LAST_US: Final = 253_402_300_800_000_000 - 1


def _day(text: str) -> int:
    """The carrier of a date: days since 1970, or the code of a partial date."""
    match = _DATE.fullmatch(text)
    if not match:
        raise ValueError(f"{short(text)} is not a date such as 2024-02-29")
    year, month, day = (int(part) for part in match.groups())
    if month and day and year:
        return literals.day(text, year, month, day)
    if month > 12 or day > 31 or (month and day > _longest(month)):
        raise ValueError(f"{short(text)} is not in the calendar")
    return partial_day(year, month, day)


def _longest(month: int) -> int:
    return 29 if month == 2 else 30 if month in (4, 6, 9, 11) else 31


def date(text: str, type: ColumnType) -> int:
    return _day(text.strip())


def datetime(text: str, type: ColumnType) -> int:
    word = text.strip()
    match = _DATETIME.fullmatch(word)
    if not match:
        raise ValueError(f"{short(text)} is not a date and time such as 2024-02-29 12:34:56")
    day_text, hour, minute, second, digits, zone = match.groups()
    time_us = literals.seconds(text, hour, minute, second) * 1_000_000
    time_us += literals.fraction(digits, type.length or 0, 6)
    day = _day(day_text)
    if day < FIRST_DAY:
        return _partial(word, day, time_us, type, zone)
    us = day * US_PER_DAY + time_us
    if zone is not None:
        if type.name != "timestamp":
            raise ValueError(f"{short(text)} has a time zone, and {type.name} has none")
        if zone != "Z":
            sign = -1 if zone[0] == "-" else 1
            us -= sign * (int(zone[1:3]) * 60 + int(zone[4:])) * 60_000_000
    if type.name == "timestamp" and not TIMESTAMP_US[0] <= us <= TIMESTAMP_US[1]:
        raise ValueError(
            f"{word} is outside 1970-01-01 00:00:01 to 2038-01-19 03:14:07.999999, the bounds of timestamp"
        )
    if us > _LAST_US:
        raise ValueError(f"{word} is rounded beyond the year 9999")
    return us


def _partial(word: str, day: int, time_us: int, type: ColumnType, zone: str | None) -> int:
    if type.name == "timestamp" and (day != ZERO_DAY or time_us):
        raise ValueError(f"{word} is no point in time; a timestamp has no partial date but 0000-00-00 00:00:00")
    if zone is not None:
        raise ValueError(f"{word} has a time zone, but is no point in time")
    if time_us >= US_PER_DAY:
        raise ValueError(f"{word} is rounded beyond its day, which is none of the calendar")
    return joined_us(day, time_us)


def show_datetime(us: int, type: ColumnType) -> str:
    day, time_us = split_us(us)
    return f"{date_text(day)} {_show_clock(time_us, type.length or 0)}"


def _show_clock(us: int, digits: int) -> str:
    seconds, us = divmod(us, 1_000_000)
    text = literals.clock(seconds)
    return f"{text}.{us:06}"[: 1 + digits - 7 or None] if digits else text


def time(text: str, type: ColumnType) -> int:
    word = text.strip()
    match = _TIME.fullmatch("00:00:00" if word == "0" else word)
    if not match or int(match[3]) > 59 or int(match[4] or 0) > 59:
        raise ValueError(f"{short(text)} is not a time such as 12:34:56 or -838:59:59")
    us = (int(match[2]) * 3600 + int(match[3]) * 60 + int(match[4] or 0)) * 1_000_000
    us += literals.fraction(match[5], type.length or 0, 6)
    if us > MAX_TIME_US:
        raise ValueError(f"{word} is outside -838:59:59 to 838:59:59")
    return -us if match[1] else us


def show_time(us: int, type: ColumnType) -> str:
    return ("-" if us < 0 else "") + _show_clock(abs(us), type.length or 0)
