"""Oracle's dates, timestamps and intervals: literals to carriers.

Up to six fraction digits a date or timestamp is microseconds; with more it is text with all declared digits; timestamps
with a time zone and intervals are always text. Years are 1 to 9999; carriers cannot hold earlier ones, although
Oracle's calendar begins in 4712 BC.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Final

from simulator.carriers import FIRST_DAY, US_PER_DAY
from simulator.errors import short
from simulator.model import ColumnType
from simulator.sources import literals

_CLOCK: Final = r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?"
_MOMENT: Final = re.compile(
    rf"(\d{{4}})-(\d{{1,2}})-(\d{{1,2}})(?:[ T]{_CLOCK})?\s*(Z|[+-]\d{{1,2}}:\d{{2}}|[A-Za-z]+(?:[/_+-][A-Za-z0-9]+)*)?"
)
_MONTHS: Final = re.compile(r"([+-]?)(\d+)(?:-(\d+))?")
_SECONDS: Final = re.compile(rf"([+-]?)(?:(\d+) +)?{_CLOCK}|([+-]?)(\d+)")
# 1 second and 1 minute in nanoseconds, the unit of intervals
_NS: Final = 1_000_000_000
_LAST_DAY: Final = dt.date.max.toordinal() + FIRST_DAY - 1


def _wall_clock(text: str, type: ColumnType) -> tuple[int, int, str | None]:
    """(days since 1970, nanoseconds of the day, zone) of a literal, rounded to the type's digits."""
    match = _MOMENT.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{short(text)} is not a date and time such as 2024-02-29 12:34:56")
    year, month, day, hour, minute, second, digits, zone = match.groups()
    clock = literals.seconds(text, hour, minute, second)
    days = literals.day(text.strip(), int(year), int(month), int(day))
    ns = clock * _NS + literals.fraction(digits, 0 if type.name == "date" else type.length or 0, 9)
    days, ns = days + ns // (86_400 * _NS), ns % (86_400 * _NS)
    if days > _LAST_DAY:
        raise ValueError(f"{text.strip()} is rounded beyond the year 9999")
    return days, ns, zone


def _offset_minutes(text: str, zone: str) -> int:
    """Minutes east of UTC of `+08:00` or `Z`; Oracle's offsets are -15:59 to +15:59."""
    if zone == "Z":
        return 0
    hours, minutes = int(zone[1:-3]), int(zone[-2:])
    if hours > 15 or minutes > 59:
        raise ValueError(f"{short(text)}: an offset is -15:59 to +15:59")
    return (hours * 60 + minutes) * (-1 if zone[0] == "-" else 1)


def _carrier(days: int, ns: int, digits: int) -> int | str:
    us = days * US_PER_DAY + ns // 1000
    return us if digits <= 6 else wall_text(days, ns, digits)


def wall_text(days: int, ns: int, digits: int) -> str:
    """`2024-05-01 10:00:00.123456789`, with this number of fraction digits."""
    seconds, fraction_ns = divmod(ns, _NS)
    day = dt.date.fromordinal(days - FIRST_DAY + 1).isoformat()
    text = f"{day} {literals.clock(seconds)}"
    return f"{text}.{fraction_ns:09}"[: len(text) + 1 + digits] if digits else text


def show(us: int, digits: int) -> str:
    """The text of microseconds since 1970, with up to six digits."""
    days, time_us = divmod(us, US_PER_DAY)
    return wall_text(days, time_us * 1000, digits)


def parse_datetime(text: str, type: ColumnType) -> int | str:
    days, ns, zone = _wall_clock(text, type)
    if zone is not None:
        raise ValueError(f"{short(text)} has a time zone, and {type.name} has none")
    return _carrier(days, ns, type.length or 0)


def parse_zoned(text: str, type: ColumnType) -> str:
    """`2024-05-01 10:00:00.123 +08:00`: the wall clock of its zone."""
    days, ns, zone = _wall_clock(text, type)
    if zone is None or zone == "Z":
        zone = "+00:00"
    elif zone[0] in "+-":
        minutes = _offset_minutes(text, zone)
        zone = f"{zone[0]}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    return f"{wall_text(days, ns, type.length or 0)} {zone}"


def parse_moment(text: str, type: ColumnType) -> int | str:
    """A TIMESTAMP WITH LOCAL TIME ZONE, in UTC."""
    days, ns, zone = _wall_clock(text, type)
    if zone is not None:
        if zone != "Z" and zone[0] not in "+-":
            raise ValueError(f"{short(text)}: {type.name} is written in UTC or with an offset such as +08:00")
        ns -= _offset_minutes(text, zone) * 60 * _NS
        days, ns = days + ns // (86_400 * _NS), ns % (86_400 * _NS)
    if not FIRST_DAY <= days <= _LAST_DAY:
        raise ValueError(f"{text.strip()} is outside the years 1 to 9999 in UTC")
    return _carrier(days, ns, type.length or 0)


def interval_us(text: str) -> int:
    """The microseconds of an interval of days and seconds as Oracle prints it; finer parts are cut."""
    days, _, clock = text[1:].partition(" ")
    hours, minutes, seconds = clock.split(":")
    integer, _, fraction = seconds.partition(".")
    us = ((int(days) * 24 + int(hours)) * 60 + int(minutes)) * 60_000_000 + int(integer) * 1_000_000
    us += int((fraction or "0")[:6].ljust(6, "0"))
    return -us if text[0] == "-" else us


def parse_months(text: str, type: ColumnType) -> str:
    """`+02-03`: two years and three months, as Oracle prints an interval of YEAR(2)."""
    match = _MONTHS.fullmatch(text.strip())
    if not match or int(match[3] or 0) > 11:
        raise ValueError(f"{short(text)} is not an interval of years and months such as 2-3 or -4-11")
    digits = 2 if type.length is None else type.length
    if int(match[2]) >= 10**digits:
        raise ValueError(f"{text.strip()} has more years than {digits} digits hold")
    negative = match[1] == "-" and (int(match[2]) or int(match[3] or 0))
    return f"{'-' if negative else '+'}{int(match[2]):0{max(digits, 1)}}-{int(match[3] or 0):02}"


def parse_seconds(text: str, type: ColumnType) -> str:
    """`+01 02:03:04.500000`: as Oracle prints an interval of DAY(2) TO SECOND(6)."""
    match = _SECONDS.fullmatch(text.strip())
    digits, fraction_digits = 2 if type.length is None else type.length, 6 if type.scale is None else type.scale
    if not match or int(match[3] or 0) > 23 or int(match[4] or 0) > 59 or int(match[5] or 0) > 59:
        raise ValueError(f"{short(text)} is not an interval of days and seconds such as 1 02:03:04.5")
    days = int(match[2] or match[8] or 0)
    ns = (int(match[3] or 0) * 3600 + int(match[4] or 0) * 60 + int(match[5] or 0)) * _NS
    ns += days * 86_400 * _NS + literals.fraction(match[6], fraction_digits, 9)
    days, ns_of_day = divmod(ns, 86_400 * _NS)
    if days >= 10**digits:
        raise ValueError(f"{text.strip()} has more days than {digits} digits hold")
    sign = "-" if ns and "-" in (match[1], match[7]) else "+"
    seconds, ns_of_day = divmod(ns_of_day, _NS)
    fraction = f".{ns_of_day:09}"[: fraction_digits + 1] if fraction_digits else ""
    return f"{sign}{days:0{max(digits, 1)}} {literals.clock(seconds)}{fraction}"
