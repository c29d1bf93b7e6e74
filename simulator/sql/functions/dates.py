"""Functions on dates and times."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from simulator.carriers import FIRST_DAY
from simulator.partial_dates import ZERO_DAY, date_parts, is_partial
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.functions.arguments import Function, integer_of, strict
from simulator.sql.values import temporal
from simulator.sql.values.kinds import number_of, text_of
from simulator.sql.values.temporal import DAY_US, MAX_TIME_US, Temporal, Zone

# Days from year 0 to 0001-01-01, as TO_DAYS counts.
_TO_DAYS: Final = 366
SECOND_US: Final = 1_000_000


def datetime_of(session: Any, value: Any) -> Temporal | None:
    """The date and time of a value; a TIME is combined with the current date."""
    if isinstance(value, Temporal):
        if value.kind != "time":
            return value
        today = session.connection.zone.to_local(session.now_us) // DAY_US
        return temporal.of_us(today * DAY_US + value.us, value.digits)
    if isinstance(value, int | Decimal | float):
        return temporal.number_datetime(int(value))
    parsed = temporal.parse_datetime(text_of(value))
    return parsed[0] if parsed else None


def date_part(part: Callable[[Temporal], Any], *, whole_date: bool = False) -> Function:
    """A function of a date. `whole_date`: NULL for dates with zero parts."""

    def read(session: Any, value: Any) -> Any:
        datetime = datetime_of(session, value)
        if datetime is None or (whole_date and is_partial(datetime.day)):
            return None
        return part(datetime)

    return strict(read)


def time_part(part: Callable[[int], int]) -> Function:
    """A function of a time, or of the time of a datetime."""

    def read(session: Any, value: Any) -> Any:
        us = time_us(value)
        return None if us is None else part(abs(us))

    return strict(read)


def time_us(value: Any) -> int | None:
    if isinstance(value, Temporal):
        return value.us
    if isinstance(value, int | Decimal | float) and abs(float(value)) > 8_385_959:
        datetime = temporal.number_datetime(int(value))
        return None if datetime is None else datetime.us
    parsed = temporal.parse_time(text_of(value))
    return None if parsed is None else parsed[0]


def date(datetime: Temporal) -> Temporal:
    return Temporal("date", datetime.day)


def time_of(session: Any, value: Any) -> Any:
    if isinstance(value, Temporal):
        return Temporal("time", 0, value.us, value.digits)
    parsed = temporal.parse_time(text_of(value))
    return None if parsed is None else Temporal("time", 0, parsed[0], parsed[1])


def unix_timestamp(session: Any, value: Any = None) -> Any:
    if value is None:
        return session.now_us // SECOND_US
    datetime = datetime_of(session, value)
    if datetime is None or is_partial(datetime.day):
        return 0
    us = session.connection.zone.to_utc(temporal.us_of(datetime))
    if not 0 <= us < 1 << 31 << 20:
        return 0
    digits = 6 if isinstance(value, str) else datetime.digits
    return Decimal(us).scaleb(-6).quantize(Decimal(1).scaleb(-digits)) if datetime.digits else us // SECOND_US


def _fraction_digits(seconds: Any) -> int:
    """Fraction digits of a result: those of a decimal, six of a double."""
    return 6 if isinstance(seconds, float) else min(6, max(0, -int(Decimal(seconds).as_tuple().exponent)))


def from_unixtime(session: Any, value: Any, format: Any = None) -> Any:
    number = number_of(value)
    if number < 0:
        return None
    digits = _fraction_digits(number)
    us = session.connection.zone.to_local(
        int(Decimal(repr(number) if isinstance(number, float) else number) * SECOND_US)
    )
    if format is not None:
        raise Unsupported("FROM_UNIXTIME with a format")
    return temporal.of_us(us, digits)


def datediff(session: Any, a: Any, b: Any) -> Any:
    left, right = datetime_of(session, a), datetime_of(session, b)
    if left is None or right is None or is_partial(left.day) or is_partial(right.day):
        return None
    return left.day - right.day


def last_day(datetime: Temporal) -> Temporal:
    year, month, _ = date_parts(datetime.day)
    return Temporal("date", first_day(year + month // 12, month % 12 + 1) - 1)


def first_day(year: int, month: int) -> int:
    return temporal.day_of(year, month, 1) or 0


def day_of_year(datetime: Temporal) -> int:
    return datetime.day - first_day(date_parts(datetime.day)[0], 1) + 1


def weekday(datetime: Temporal) -> int:
    """Index of the weekday: 0 for Monday."""
    return (datetime.day - FIRST_DAY) % 7


def to_days(datetime: Temporal) -> int:
    return datetime.day - FIRST_DAY + _TO_DAYS


def from_days(session: Any, value: Any) -> Any:
    number = integer_of(value)
    if not _TO_DAYS <= number < 3_652_425:
        return Temporal("date", ZERO_DAY) if 0 <= number < _TO_DAYS else None
    return Temporal("date", number - _TO_DAYS + FIRST_DAY)


def week(session: Any, value: Any, mode: Any = 0) -> Any:
    datetime = datetime_of(session, value)
    if datetime is None or is_partial(datetime.day):
        return None
    return week_and_year(datetime, integer_of(mode))[0]


def yearweek(session: Any, value: Any, mode: Any = 0) -> Any:
    datetime = datetime_of(session, value)
    if datetime is None or is_partial(datetime.day):
        return None
    number, year = week_and_year(datetime, integer_of(mode) | 2)
    return year * 100 + number


def week_and_year(datetime: Temporal, mode: int) -> tuple[int, int]:
    """calc_week: modes 0 to 7 (bit 0: weeks begin on Monday; bit 1: weeks count 1 to 53; bit 2: the first week contains
    the first such weekday)."""
    mode &= 7
    mode = mode if mode & 1 else mode ^ 4
    monday_first, week_year, first_weekday = bool(mode & 1), bool(mode & 2), bool(mode & 4)
    year = date_parts(datetime.day)[0]
    year_start = first_day(year, 1)
    weekday_of_first = (year_start - FIRST_DAY + (0 if monday_first else 1)) % 7
    if date_parts(datetime.day)[1] == 1 and date_parts(datetime.day)[2] <= 7 - weekday_of_first:
        begins_before = (first_weekday and weekday_of_first != 0) or (not first_weekday and weekday_of_first >= 4)
        if not week_year and begins_before:
            return 0, year
        if begins_before:
            year -= 1
            days = year_start - first_day(year, 1)
            year_start -= days
            weekday_of_first = (weekday_of_first + 53 * 7 - days) % 7
    late = (first_weekday and weekday_of_first != 0) or (not first_weekday and weekday_of_first >= 4)
    days = datetime.day - year_start - (7 - weekday_of_first if late else -weekday_of_first)
    if week_year and days >= 52 * 7:
        length = first_day(year + 1, 1) - first_day(year, 1)
        weekday_of_first = (weekday_of_first + length) % 7
        if (not first_weekday and weekday_of_first < 4) or (first_weekday and weekday_of_first == 0):
            return 1, year + 1
    return days // 7 + 1, year


_UNIT_US: Final = {
    "microsecond": 1, "second": SECOND_US, "minute": 60 * SECOND_US, "hour": 3600 * SECOND_US, "day": DAY_US,
    "week": 7 * DAY_US,
}  # fmt: skip
_UNIT_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12}


def timestampdiff(session: Any, unit: str, first: Any, second: Any) -> Any:
    a, b = datetime_of(session, first), datetime_of(session, second)
    if a is None or b is None or is_partial(a.day) or is_partial(b.day):
        return None
    start, stop = temporal.us_of(a), temporal.us_of(b)
    if unit in _UNIT_US:
        count = abs(stop - start) // _UNIT_US[unit]
        return count if stop >= start else -count
    sign = 1
    if stop < start:
        a, b, sign = b, a, -1
    (y1, m1, d1), (y2, m2, d2) = date_parts(a.day), date_parts(b.day)
    months = (y2 - y1) * 12 + m2 - m1
    if (d2, b.us) < (d1, a.us):
        months -= 1
    return sign * (months // _UNIT_MONTHS[unit])


def addtime(session: Any, value: Any, by: Any) -> Any:
    """ADDTIME of a time or a datetime."""
    added = temporal.parse_time(text_of(by))
    if added is None:
        return None
    text = text_of(value)
    is_time = value.kind == "time" if isinstance(value, Temporal) else not re.match(r"\s*\d+[-/.]\d+[-/.]\d", text)
    if is_time:
        time = temporal.parse_time(text)
        if time is None:
            return None
        us = max(-MAX_TIME_US, min(MAX_TIME_US, time[0] + added[0]))
        result = Temporal("time", 0, us, 6 if (time[1] or added[1]) else 0)
    else:
        datetime = datetime_of(session, value)
        if datetime is None:
            return None
        us = temporal.us_of(Temporal("datetime", datetime.day, datetime.us)) + added[0]
        result = temporal.of_us(us, 6 if (datetime.digits or added[1]) else 0)
    return result if isinstance(value, Temporal) else result.text()


def timediff(session: Any, a: Any, b: Any) -> Any:
    def us_of(value: Any) -> tuple[bool, int, int] | None:
        text = text_of(value)
        if isinstance(value, Temporal) and value.kind == "time":
            return True, value.us, value.digits
        if isinstance(value, Temporal) or re.match(r"\s*\d+[-/.]\d+[-/.]\d", text):
            datetime = datetime_of(session, value)
            return None if datetime is None else (False, temporal.us_of(datetime), datetime.digits)
        time = temporal.parse_time(text)
        return None if time is None else (True, time[0], time[1])

    first, second = us_of(a), us_of(b)
    if first is None or second is None or first[0] is not second[0]:
        return None
    us = max(-MAX_TIME_US, min(MAX_TIME_US, first[1] - second[1]))
    return Temporal("time", 0, us, max(first[2], second[2]))


def timestamp(session: Any, value: Any, time: Any) -> Any:
    """TIMESTAMP(date, time)."""
    datetime, added_us = (None, None) if value is None or time is None else (datetime_of(session, value), time_us(time))
    if datetime is None or added_us is None:
        return None
    us = temporal.us_of(Temporal("datetime", datetime.day, datetime.us)) + added_us
    return temporal.of_us(us, 6 if datetime.digits or added_us % SECOND_US else 0)


def sec_to_time(session: Any, value: Any) -> Any:
    number = number_of(value)
    digits = _fraction_digits(number)
    us = int(Decimal(repr(number) if isinstance(number, float) else number) * SECOND_US)
    return Temporal("time", 0, max(-MAX_TIME_US, min(MAX_TIME_US, us)), digits)


def time_to_sec(session: Any, value: Any) -> Any:
    us = time_us(value)
    return None if us is None else (abs(us) // SECOND_US) * (1 if us >= 0 else -1)


def makedate(session: Any, year: Any, day: Any) -> Any:
    full_year, day_number = integer_of(year), integer_of(day)
    full_year += (2000 if full_year < 70 else 1900) if 0 <= full_year < 100 else 0
    if day_number < 1 or not 0 < full_year < 10_000:
        return None
    carrier = first_day(full_year, 1) + day_number - 1
    return Temporal("date", carrier) if carrier <= temporal.LAST_DAY else None


def period_add(session: Any, period: Any, months: Any) -> int:
    total = _months_of(integer_of(period)) + integer_of(months)
    return total // 12 * 100 + total % 12 + 1


def _months_of(period: int) -> int:
    year, month = divmod(period, 100)
    year += (2000 if year < 70 else 1900) if year < 100 else 0
    return year * 12 + month - 1


def convert_tz(session: Any, value: Any, source: Any, target: Any) -> Any:
    """Named zones give NULL, as on a server whose time zone tables are empty."""
    datetime = datetime_of(session, value)
    if datetime is None and session.statement.refuses_texts:
        raise SqlError(12921, "datetime", text_of(value))
    zones = [text_of(source), text_of(target)]
    if datetime is None or any(zone.upper() != "SYSTEM" and zone[:1] not in "+-" for zone in zones):
        return None
    try:
        from_zone, to_zone = (Zone(zone, session.server.offsets) for zone in zones)
    except ValueError:
        return None
    return temporal.of_us(to_zone.to_local(from_zone.to_utc(temporal.us_of(datetime))), datetime.digits)


def extracted(session: Any, unit: str, value: Any) -> Any:
    """EXTRACT(unit FROM value): `YEAR_MONTH` is 202401."""
    text = text_of(value)
    clock_alone = isinstance(value, Temporal) and value.kind == "time"
    if (clock_alone and unit.startswith(("year", "quarter", "month", "week", "day"))) or isinstance(value, bytes):
        raise Unsupported(f"EXTRACT({unit.upper()} FROM …) of this value")
    wants_time = unit in ("hour", "minute", "second", "microsecond") or unit.startswith(("hour_", "minute_", "second_"))
    if wants_time and not (isinstance(value, Temporal) and value.kind != "time"):
        us = time_us(value)
        if us is None:
            raise Unsupported(f"EXTRACT({unit.upper()} FROM …) of a value that is no time")
        sign = -1 if us < 0 else 1
        datetime = Temporal("datetime", ZERO_DAY, abs(us) % DAY_US if session.server.mariadb else abs(us))
    else:
        parsed = datetime_of(session, text if isinstance(value, str) else value)
        if parsed is None:
            return None
        datetime, sign = parsed, 1
    year, month, day = date_parts(datetime.day)
    hour, minute, second = datetime.us // 3_600_000_000, datetime.us // 60_000_000 % 60, datetime.us // SECOND_US % 60
    micro = datetime.us % SECOND_US
    clock = {"hour": hour, "minute": minute, "second": second}
    values = {
        "year": year, "quarter": (month + 2) // 3, "month": month, "day": day, **clock, "microsecond": micro,
        "year_month": year * 100 + month, "day_hour": day * 100 + hour, 
        "day_minute": day * 10_000 + hour * 100 + minute, 
        "day_second": day * 1_000_000 + hour * 10_000 + minute * 100 + second, "hour_minute": hour * 100 + minute,
        "hour_second": hour * 10_000 + minute * 100 + second, "minute_second": minute * 100 + second,
    }  # fmt: skip
    if unit == "week":
        return week_and_year(datetime, 0)[0]
    if unit in values:
        return values[unit] * sign
    head, _, tail = unit.partition("_")
    if tail == "microsecond" and f"{head}_second" in {**values, "second_second": 0}:
        seconds = second if head == "second" else values[f"{head}_second"]
        return (seconds * SECOND_US + micro) * sign
    raise Unsupported(f"EXTRACT({unit.upper()} FROM …)")
