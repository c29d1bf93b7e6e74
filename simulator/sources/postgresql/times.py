"""PostgreSQL's dates, times and intervals: parsing of its literals, and the text that it prints (DateStyle ISO, UTC).

Days are counted in the Gregorian calendar, also before it began; the year before 1 is `0001 BC`.
"""

from __future__ import annotations

import re
from typing import Final

from simulator.carriers import INFINITE_DAYS, INFINITE_US, US_PER_DAY
from simulator.errors import short
from simulator.sources import literals
from simulator.text.postgresql import offset_text

# 4714-11-24 BC, the first day of the Julian count, and 5874897-12-31.
FIRST_DAY: Final = -2_440_588
LAST_DAY: Final = 2_145_042_905
# 294246-12-31 23:59:59.999999: PostgreSQL goes thirty years further, but 64 bits of microseconds since 1970 do not.
LAST_US: Final = 9_223_371_244_799_999_999
# 2000-01-01, from which PostgreSQL counts when it rounds.
_EPOCH_US: Final = 946_684_800_000_000
_DAY: Final = r"(\d{4,7})-(\d{1,2})-(\d{1,2})"
_CLOCK: Final = r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?"
_ZONE: Final = r"(Z|UTC|GMT|[+-]\d{1,2}(?::?\d{2}(?::\d{2})?)?)"
_DATE: Final = re.compile(rf"{_DAY}(?:\s+(BC|AD))?", re.IGNORECASE)
_MOMENT: Final = re.compile(rf"{_DAY}(?:[ T]{_CLOCK})?\s*{_ZONE}?(?:\s+(BC|AD))?", re.IGNORECASE)
_TIME: Final = re.compile(rf"{_CLOCK}\s*{_ZONE}?", re.IGNORECASE)
_INFINITE: Final = {"infinity": 1, "+infinity": 1, "-infinity": -1}


def day_number(year: int, month: int, day: int) -> int:
    """Days since 1970 of a day of any year (0 is 1 BC). Raises ValueError for a day that no month has.

    >>> day_number(1970, 1, 1), day_number(2000, 1, 1), day_number(0, 1, 1), day_number(-4713, 11, 24)
    (0, 10957, -719528, -2440588)
    """
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    longest = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    if not 1 <= month <= 12 or not 1 <= day <= longest[month - 1]:
        raise ValueError("no such day")
    # years begin in March, so that the leap day is the last
    shifted = year - (month <= 2)
    in_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return shifted * 365 + shifted // 4 - shifted // 100 + shifted // 400 + in_year - 719_468


def civil(day: int) -> tuple[int, int, int]:
    """(year, month, day) of a number of days since 1970; the inverse of `day_number`."""
    era, in_era = divmod(day + 719_468, 146_097)
    year = (in_era - in_era // 1460 + in_era // 36_524 - in_era // 146_096) // 365
    in_year = in_era - (365 * year + year // 4 - year // 100)
    month = (5 * in_year + 2) // 153
    day = in_year - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    return year + era * 400 + (month <= 2), month, day


def _parsed_day(text: str, year: str, month: str, day: str, era: str | None) -> int:
    number = int(year)
    if era is not None and era.upper() == "BC":
        number = 1 - number
    try:
        if not int(year):
            raise ValueError
        number_of_day = day_number(number, int(month), int(day))
    except ValueError:
        raise ValueError(f"{short(text)} is not in the calendar") from None
    if not FIRST_DAY <= number_of_day <= LAST_DAY:
        raise ValueError(f"{text} is outside 4714-11-24 BC to 5874897-12-31")
    return number_of_day


def date(text: str) -> int:
    """The carrier of a date: days since 1970.

    >>> date("2024-02-29"), date("0001-01-01 BC"), date("-infinity") == -INFINITE_DAYS
    (19782, -719528, True)
    """
    word = text.strip()
    if sign := _INFINITE.get(word.lower()):
        return sign * INFINITE_DAYS
    match = _DATE.fullmatch(word)
    if not match:
        raise ValueError(f"{short(text)} is not a date such as 2024-02-29, 0044-03-15 BC or infinity")
    return _parsed_day(word, *match.groups())


def show_date(days: int) -> str:
    if abs(days) == INFINITE_DAYS:
        return "infinity" if days > 0 else "-infinity"
    year, month, day = civil(days)
    return f"{year:04}-{month:02}-{day:02}" if year > 0 else f"{1 - year:04}-{month:02}-{day:02} BC"


def _clock_us(text: str, hour: str | None, minute: str | None, second: str | None, digits: str | None) -> int:
    parts = int(hour or 0), int(minute or 0), int(second or 0)
    us = (parts[0] * 3600 + parts[1] * 60 + parts[2]) * 1_000_000
    if digits:
        us += (int(digits[:7].ljust(7, "0")) + 5) // 10
    if parts[1] > 59 or parts[2] > 60 or us > US_PER_DAY:
        raise ValueError(f"{short(text)} has no such time of day")
    return us


def _zone_us(zone: str) -> int:
    if zone.upper() in ("Z", "UTC", "GMT"):
        return 0
    parts = re.findall(r"\d{2}|\d", zone[1:])
    seconds = sum(int(part) * unit for part, unit in zip(parts, (3600, 60, 1), strict=False))
    if seconds > 15 * 3600 + 59 * 60 + 59:
        raise ValueError(f"{zone} is no offset from UTC")
    return (-seconds if zone[0] == "-" else seconds) * 1_000_000


def _rounded(us: int, digits: int) -> int:
    """Microseconds rounded half away from zero to this many fraction digits."""
    unit = int(10 ** (6 - digits))
    return (us + unit // 2) // unit * unit if us >= 0 else -((-us + unit // 2) // unit * unit)


def parse_timestamp(text: str, digits: int, *, zoned: bool, minutes: bool = False) -> int:
    """The carrier of a timestamp: microseconds since 1970, rounded to `digits` of a second (or to whole `minutes`).

    For a type with time zone (`zoned`), a text without a zone is UTC; for others, the zone must be missing.
    """
    word = text.strip()
    if sign := _INFINITE.get(word.lower()):
        return int(sign * INFINITE_US)
    match = _MOMENT.fullmatch(word)
    if not match:
        raise ValueError(f"{short(text)} is not a date and time such as 2024-02-29 12:34:56")
    year, month, day, hour, minute, second, fraction, zone, era = match.groups()
    us = _parsed_day(word, year, month, day, era) * US_PER_DAY + _clock_us(word, hour, minute, second, fraction)
    if zone is not None:
        if not zoned:
            raise ValueError(f"{short(text)} has a time zone, and the column has none")
        us -= _zone_us(zone)
    if minutes:
        us = (us + 30_000_000) // 60_000_000 * 60_000_000
    us = _rounded(us - _EPOCH_US, digits) + _EPOCH_US
    if not FIRST_DAY * US_PER_DAY <= us <= LAST_US:
        raise ValueError(f"{word} is outside 4714-11-24 BC to 294246-12-31")
    return us


def _fraction(us: int) -> str:
    return f".{us:06}".rstrip("0") if us else ""


def show_clock(us: int) -> str:
    """`12:34:56.5`: without zeros at the end of the fraction."""
    seconds, us = divmod(us, 1_000_000)
    return literals.clock(seconds) + _fraction(us)


def show_timestamp(us: int, offset_us: int | None = None) -> str:
    """`2024-02-29 12:34:56.5`; with an offset from UTC, the time there and the offset: `2024-02-29 20:34:56.5+08`.

    >>> show_timestamp(0), show_timestamp(-62_135_596_800_000_001), show_timestamp(0, 19_800_000_000)
    ('1970-01-01 00:00:00', '0001-12-31 23:59:59.999999 BC', '1970-01-01 05:30:00+05:30')
    """
    if abs(us) == INFINITE_US:
        return "infinity" if us > 0 else "-infinity"
    days, time_us = divmod(us + (offset_us or 0), US_PER_DAY)
    day, blank, era = show_date(days).partition(" ")
    return f"{day} {show_clock(time_us)}{'' if offset_us is None else offset_text(offset_us)}{blank}{era}"


def time(text: str, digits: int) -> int:
    """The carrier of a time of day: microseconds, up to 24:00:00."""
    match = _TIME.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{short(text)} is not a time such as 12:34:56")
    if match[5]:
        raise ValueError(f"{short(text)} has a time zone, and the column has none")
    return _rounded(_clock_us(text.strip(), *match.groups()[:4]), digits)


def time_zoned(text: str, digits: int) -> str:
    """A time of day and its offset as PostgreSQL prints it; a text without an offset is UTC.

    >>> time_zoned("12:34:56.789-0530", 6), time_zoned("24:00", 6)
    ('12:34:56.789-05:30', '24:00:00+00')
    """
    match = _TIME.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{short(text)} is not a time with a zone such as 12:34:56+08")
    us = _rounded(_clock_us(text.strip(), *match.groups()[:4]), digits)
    return show_clock(us) + offset_text(_zone_us(match[5] or "Z"))


# ------------------------------------------------------------------------------------------------------- intervals

# Units: months, days, microseconds.
_UNITS: Final = {
    **dict.fromkeys(("y", "yr", "yrs", "year", "years"), (12, 0, 0)),
    **dict.fromkeys(("mon", "mons", "month", "months"), (1, 0, 0)),
    **dict.fromkeys(("w", "week", "weeks"), (0, 7, 0)),
    **dict.fromkeys(("d", "day", "days"), (0, 1, 0)),
    **dict.fromkeys(("h", "hr", "hour", "hours"), (0, 0, 3_600_000_000)),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), (0, 0, 60_000_000)),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), (0, 0, 1_000_000)),
}
_PART: Final = re.compile(
    r"\s*(?:([+-]?)(\d+):(\d{2})(?::(\d{2})(?:\.(\d+))?)?|([+-]?\d+)(?:\.(\d+))?\s*([A-Za-z]+))(?=\s|[+-]|\d|$)"
)
_ISO: Final = re.compile(
    r"P(?:(-?\d+)Y)?(?:(-?\d+)M)?(?:(-?\d+)W)?(?:(-?\d+)D)?"
    r"(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?)(\d+)(?:\.(\d+))?S)?)?"
)


def interval(text: str, digits: int) -> str:
    """An interval in the style `postgres`, from that style, from ISO 8601, or from numbers and units.

    >>> interval("1 year 2 mons 3 days 04:05:06.789", 6), interval("-1 day 02:00:00", 6)
    ('1 year 2 mons 3 days 04:05:06.789', '-1 days +02:00:00')
    >>> interval("P1Y2M-3DT4H5M6S", 6), interval("90 minutes ago", 6), interval("0", 6)
    ('1 year 2 mons -3 days +04:05:06', '-01:30:00', '00:00:00')
    """
    return show_interval(*interval_parts(text, digits))


def interval_parts(text: str, digits: int = 6) -> tuple[int, int, int]:
    """(months, days, microseconds) of an interval's text."""
    word = text.strip()
    if (match := _ISO.fullmatch(word)) and word not in ("P", "PT"):
        years, months, weeks, days, hours, minutes, sign, seconds, fraction = match.groups()
        us = int(seconds or 0) * 1_000_000 + (int(fraction[:6].ljust(6, "0")) if fraction else 0)
        us = (-us if sign else us) + (int(hours or 0) * 3600 + int(minutes or 0) * 60) * 1_000_000
        return int(years or 0) * 12 + int(months or 0), int(weeks or 0) * 7 + int(days or 0), _rounded(us, digits)
    if word == "0":
        return 0, 0, 0
    body = re.sub(r"\s+ago$", "", word)
    total = [0, 0, 0]
    end = 0
    while match := _PART.match(body, end):
        end = match.end()
        sign, hour, minute, second, fraction, number, decimals, unit = match.groups()
        if hour is not None:
            us = (int(hour) * 3600 + int(minute) * 60 + int(second or 0)) * 1_000_000
            us += int(fraction[:6].ljust(6, "0")) if fraction else 0
            total[2] += -us if sign == "-" else us
            continue
        size = _UNITS.get(unit.lower())
        if size is None or (decimals and size != _UNITS["second"]):
            break
        for index in range(3):
            total[index] += int(number) * size[index]
        if decimals:
            us = int(decimals[:6].ljust(6, "0"))
            total[2] += -us if number.startswith("-") else us
    else:
        if end == len(body) and body:
            months, days, us = (-part for part in total) if body != word else total
            return months, days, _rounded(us, digits)
    raise ValueError(f"{short(text)} is not an interval such as 1 year 2 mons 3 days 04:05:06")


def show_interval(months: int, days: int, us: int) -> str:
    """The style `postgres`: parts after a negative part have an explicit sign."""
    parts: list[str] = []
    negative = False
    sign = -1 if months < 0 else 1
    for value, unit in ((abs(months) // 12 * sign, "year"), (abs(months) % 12 * sign, "mon"), (days, "day")):
        if value:
            parts.append(f"{'+' if negative and value > 0 else ''}{value} {unit}{'' if value == 1 else 's'}")
            negative = value < 0
    if us or not parts:
        parts.append(("-" if us < 0 else "+" if negative else "") + show_clock(abs(us)))
    return " ".join(parts)
