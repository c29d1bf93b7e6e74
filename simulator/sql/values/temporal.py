"""Dates and times in expressions: parsed from texts and numbers as MySQL does, and converted to carriers."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from simulator.carriers import FIRST_DAY, US_PER_DAY
from simulator.partial_dates import ZERO_DAY, date_parts, date_text, joined_us, partial_day, split_us
from simulator.sources.mysql import times as mysql_times

DAY_US: Final = US_PER_DAY
# 9999-12-31, and the greatest time.
LAST_DAY: Final = 2_932_896
MAX_TIME_US: Final = mysql_times.MAX_TIME_US
_DELIMITED: Final = re.compile(
    r"\s*(\d{1,4})[^\w\s](\d{1,2})[^\w\s](\d{1,2})"
    r"(?:(?:T|\s+)(\d{1,2})(?:[^\w\s](\d{1,2})(?:[^\w\s](\d{1,2})(?:\.(\d*))?)?)?)?\s*(.*)",
    re.DOTALL,
)
_DIGITS: Final = re.compile(r"\s*(\d{5,14})(?:\.(\d*))?\s*(.*)", re.DOTALL)
_OFFSET: Final = re.compile(r"([+-])(\d{2}):(\d{2})$")
_TIME: Final = re.compile(r"\s*(-?)(?:(\d+)\s+)?(\d+)(?::(\d{1,2}))?(?::(\d{1,2}))?(?:\.(\d*))?\s*(.*)", re.DOTALL)
_MONTH: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True, slots=True)
class Temporal:
    """A date, a datetime, or a time. `day` is a date's carrier (also of partial dates), `us` the microseconds since
    midnight, or of a time with its sign; `digits` the printed fraction digits."""

    kind: str  # date, datetime, time
    day: int = 0
    us: int = 0
    digits: int = 0

    def __repr__(self) -> str:
        return f"<{self.kind} {self.text()}>"

    def text(self) -> str:
        if self.kind == "date":
            return date_text(self.day)
        if self.kind == "time":
            return ("-" if self.us < 0 else "") + clock_text(abs(self.us), self.digits)
        return f"{date_text(self.day)} {clock_text(self.us, self.digits)}"

    def number(self) -> int:
        """`20240229123456`: the digits of the text (whole seconds)."""
        digits = re.sub(r"[^\d]", "", self.text().partition(".")[0])
        return -int(digits) if self.us < 0 and self.kind == "time" else int(digits)

    @property
    def key(self) -> tuple[int, int]:
        """Orders values of the same kind."""
        return (_ordered(self.day), self.us)


def _ordered(day: int) -> int:
    """A number that orders (year, month, day), also of partial dates."""
    year, month, date = date_parts(day)
    return (year * 16 + month) * 32 + date


def clock_text(us: int, digits: int) -> str:
    seconds, fraction_us = divmod(us, 1_000_000)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{fraction_us:06}"[: 1 + digits - 7 or None] if digits else text


def day_of(year: int, month: int, day: int) -> int | None:
    """The carrier of a date, None if it does not exist; parts may be zero."""
    if month > 12 or day > 31 or (month and day > _MONTH[month - 1]):
        return None
    if year and month and day:
        if month == 2 and day == 29 and (year % 4 or (year % 100 == 0 and year % 400)):
            return None
        return dt.date(year, month, day).toordinal() + FIRST_DAY - 1
    return partial_day(year, month, day)


def date_of(text: str) -> int:
    """The carrier of a date as `Temporal.text` writes it."""
    year, month, day = map(int, text.split("-"))
    return day_of(year, month, day) or ZERO_DAY


def of_us(us: int, digits: int = 6) -> Temporal:
    """The datetime of a carrier."""
    day, time_us = split_us(us)
    return Temporal("datetime", day, time_us, digits)


def us_of(value: Temporal) -> int:
    """The carrier of a datetime."""
    return joined_us(value.day, value.us)


def _year(text: str) -> int:
    year = int(text)
    return year if len(text) > 2 else year + (2000 if year < 70 else 1900)


def _fraction(digits: str | None, *, truncate: bool = False) -> int:
    """Microseconds; a seventh digit rounds."""
    if not digits:
        return 0
    us = int(digits[:6].ljust(6, "0"))
    return us + (len(digits) > 6 and digits[6] >= "5" and not truncate)


def parse_datetime(text: str, *, truncate: bool = False) -> tuple[Temporal, bool] | None:
    """A date with or without a time, and whether the whole text was read. None: no date.

    `truncate`: a seventh fraction digit does not round.
    """
    digits: str | None
    if match := _DELIMITED.match(text):
        year, month, day, hour, minute, second, digits, unread = match.groups()
        numbers = _year(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0)
    elif match := _DIGITS.match(text):
        packed, digits, unread = match.groups()
        wide = len(packed) in (8, 14)
        if len(packed) not in (6, 8, 12, 14):
            return None
        head = 4 if wide else 2
        tail = [int(packed[i : i + 2]) for i in range(head, len(packed), 2)]
        numbers = (_year(packed[:head]), *(tail + [0] * 5)[:5])  # type: ignore[assignment]
    else:
        return None
    carrier = day_of(*numbers[:3])
    hour_, minute_, second_ = numbers[3:]
    if carrier is None or hour_ > 23 or minute_ > 59 or second_ > 59:
        return None
    us = (hour_ * 3600 + minute_ * 60 + second_) * 1_000_000 + _fraction(digits, truncate=truncate)
    value = Temporal("datetime", carrier, us, min(len(digits or ""), 6))
    return value, not unread or offset_minutes(unread) is not None


def offset_minutes(text: str) -> int | None:
    """The UTC offset at the end of a datetime text; None without one."""
    match = _OFFSET.search(text)
    return None if match is None else (1 if match[1] == "+" else -1) * (int(match[2]) * 60 + int(match[3]))


# Ranges of numbers that are dates, what is added for the century, and the factor for the time (number_to_datetime).
_NUMBERS: Final = (
    (101, 691231, 20_000_000, 1_000_000),
    (700101, 991231, 19_000_000, 1_000_000),
    (10_000_101, 99_991_231, 0, 1_000_000),
    (101_000_000, 691_231_235_959, 20_000_000_000_000, 1),
    (700_101_000_000, 991_231_235_959, 19_000_000_000_000, 1),
    (10_000_101_000_000, 99_991_231_235_959, 0, 1),
)


def number_datetime(number: int) -> Temporal | None:
    """20240229 or 20240229123456 as a datetime; 0 is the zero date."""
    if number == 0:
        return Temporal("datetime", ZERO_DAY)
    for low, high, century, scale in _NUMBERS:
        if low <= number <= high:
            parsed = parse_datetime(str((number + century) * scale).zfill(14))
            return parsed[0] if parsed else None
    return None


def parse_time(text: str, *, truncate: bool = False) -> tuple[int, int, bool] | None:
    """Microseconds with sign, fraction digits, and whether the whole text was read. None: no time."""
    if re.match(r"\s*\d{2,4}[-/.]\d{1,2}[-/.]\d{1,2}[T ]", text):
        parsed = parse_datetime(text, truncate=truncate)
        return None if parsed is None else (parsed[0].us, parsed[0].digits, parsed[1])
    match = _TIME.match(text)
    if not match:
        return None
    sign, days, hour, minute, second, digits, unread = match.groups()
    if minute is None and days is None:
        packed = hour.zfill(6)
        hour, minute, second = packed[:-4], packed[-4:-2], packed[-2:]
    if int(minute or 0) > 59 or int(second or 0) > 59:
        return None
    hours = int(hour) + 24 * int(days or 0)
    us = (hours * 3600 + int(minute or 0) * 60 + int(second or 0)) * 1_000_000 + _fraction(digits, truncate=truncate)
    return (-us if sign else us), min(len(digits or ""), 6), not unread


def rounded(us: int, digits: int, *, truncate: bool = False) -> int:
    """Microseconds rounded to this many fraction digits: half away from zero, or truncated."""
    unit = int(10 ** (6 - digits))
    size = abs(us)
    size = size // unit * unit if truncate else (size + unit // 2) // unit * unit
    return -size if us < 0 else size


class Zone:
    """A session's time zone: `+08:00`, `SYSTEM` (UTC here), or an IANA name. Raises ValueError for others.

    `offsets`: the smallest and largest offset in minutes.
    """

    def __init__(self, text: str, offsets: tuple[int, int] = (-839, 840)) -> None:
        self.text = text
        match = re.fullmatch(r"([+-])(\d{1,2}):(\d{2})", text)
        self.rules: dt.tzinfo
        if text.upper() in ("SYSTEM", "UTC"):
            self.rules = dt.UTC
        elif match:
            minutes = int(match[2]) * 60 + int(match[3])
            if not offsets[0] <= (-minutes if match[1] == "-" else minutes) <= offsets[1]:
                raise ValueError(text)
            self.rules = dt.timezone(dt.timedelta(minutes=-minutes if match[1] == "-" else minutes))
        else:
            try:
                self.rules = ZoneInfo(text)
            except (ZoneInfoNotFoundError, ValueError, OSError):
                raise ValueError(text) from None

    def to_utc(self, us: int) -> int:
        """Local microseconds as UTC; a local time skipped by summer time is the first one after it."""
        if self.rules is dt.UTC:
            return us
        local = dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=us)  # noqa: DTZ001 (made aware just below)
        offset = local.replace(tzinfo=self.rules).utcoffset() or dt.timedelta()
        return us - round(offset.total_seconds()) * 1_000_000

    def to_local(self, us: int) -> int:
        if self.rules is dt.UTC:
            return us
        offset = (dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(microseconds=us)).astimezone(
            self.rules
        ).utcoffset() or dt.timedelta()
        return us + round(offset.total_seconds()) * 1_000_000
