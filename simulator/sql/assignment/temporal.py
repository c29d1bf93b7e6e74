"""Dates and times on assignment: rounded, zero and partial dates by sql_mode, UTC for TIMESTAMP."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from simulator.partial_dates import ZERO_DAY, ZERO_US, is_partial, joined_us, split_us
from simulator.sources.mysql.times import MAX_TIME_US, TIMESTAMP_US
from simulator.sql.assignment.rules import Rules, refuse_shape
from simulator.sql.catalog.definitions import Field
from simulator.sql.errors import Unsupported
from simulator.sql.values import temporal
from simulator.sql.values.documents import Document
from simulator.sql.values.kinds import quoted_value, text_of
from simulator.sql.values.temporal import Temporal

_LAST_US: Final = 253_402_300_800_000_000 - 1
# Numbers of this size and more are a date with a time, not a time.
_DATE_FROM: Final = 10_000_000_000


def _refused(value: Any, field: Field, row: int, rules: Rules) -> bool:
    """Whether the value is a document or a geometry, which is no date and stored as NULL. Raises SqlError in strict
    mode."""
    refuse_shape(value, field, rules)
    if not isinstance(value, Document) or rules.mariadb:
        return False
    rules.raise_if_strict(3156, "DATE/TIME/DATETIME/TIMESTAMP", value.origin, row)
    return True


def _datetime_of(value: Any, field: Field, row: int, rules: Rules, type_name: str) -> Temporal | None:
    """The date and time of a value; None if it has none and the session is not strict."""
    result: Temporal | None
    complete = True
    if isinstance(value, float | bool):
        raise Unsupported("this number in a column of dates or times")
    if isinstance(value, Temporal):
        result = value
        if value.kind == "time":
            days, us = divmod(value.us, temporal.DAY_US)
            result = Temporal("datetime", rules.today() + days, us, value.digits)
    elif isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        result = None if value < 0 and rules.mariadb else temporal.number_datetime(int(value))
        if result is not None and isinstance(value, Decimal) and (value >= 100_000_000 or 0 <= value < 1):
            result = Temporal("datetime", result.day, result.us + int(value % 1 * 1_000_000), 6)
    else:
        text = text_of(value)
        parsed = temporal.parse_datetime(text, truncate=rules.truncates_fractions)
        result, complete = parsed if parsed else (None, True)
        minutes = temporal.offset_minutes(text)
        if result is not None and minutes is not None:
            if rules.server == "mysql-8.0" and abs(minutes) <= 840:
                utc = temporal.us_of(result) - minutes * 60_000_000
                result = temporal.of_us(rules.zone.to_local(utc), result.digits)
            else:
                complete = False
    fraction = isinstance(value, Decimal) and 0 < value < 1 and rules.no_zero_date
    if result is None or not complete or fraction or not _allowed(result, rules):
        rules.raise_if_strict(1292, type_name, quoted_value(value), field.name, row)
        if result is None or fraction or not _allowed(result, rules):
            return None
    return result


def _allowed(value: Temporal, rules: Rules) -> bool:
    if value.day == ZERO_DAY:
        return not rules.no_zero_date or (value.us != 0)
    return not (is_partial(value.day) and rules.no_zero_in_date)


def store_date(value: Any, field: Field, row: int, rules: Rules) -> int | None:
    if _refused(value, field, row, rules):
        return None if field.nullable else ZERO_DAY
    parsed = _datetime_of(value, field, row, rules, "date")
    # a seventh digit of the fraction may have rounded the time up to the next day
    return ZERO_DAY if parsed is None else split_us(temporal.us_of(parsed))[0]


def store_datetime(value: Any, field: Field, row: int, rules: Rules) -> int | None:
    if _refused(value, field, row, rules):
        return None if field.nullable else ZERO_US
    parsed = _datetime_of(value, field, row, rules, "datetime")
    if parsed is None:
        return ZERO_US
    digits = field.type.length or 0
    time_us = temporal.rounded(parsed.us, digits, truncate=rules.truncates_fractions)
    us = joined_us(parsed.day, time_us)
    partial = is_partial(parsed.day)
    stamp = field.type.name == "timestamp"
    if partial:
        out_of_range = time_us >= temporal.DAY_US or (stamp and (parsed.day != ZERO_DAY or parsed.us > 0))
    elif stamp:
        us = rules.zone.to_utc(us)
        out_of_range = not TIMESTAMP_US[0] <= us <= TIMESTAMP_US[1]
    else:
        out_of_range = us > _LAST_US
    if out_of_range:
        rules.raise_if_strict(1292, "datetime", quoted_value(value), field.name, row)
        return ZERO_US
    return us


def store_time(value: Any, field: Field, row: int, rules: Rules) -> int | None:
    if _refused(value, field, row, rules):
        return None if field.nullable else 0
    digits = field.type.length or 0
    maximum = MAX_TIME_US + (10**6 - 10 ** (6 - digits) if rules.mariadb else 0)
    if isinstance(value, Temporal):
        us = value.us if value.kind != "date" else 0
    else:
        text = text_of(value)
        number = isinstance(value, int | float | Decimal)
        parsed = _number_time(value, rules) if number else temporal.parse_time(text, truncate=rules.truncates_fractions)
        if number and parsed is None and not _is_time(value) and not _is_date(value):
            parsed = ((maximum + 1) * (1 if value > 0 else -1), 0, False)
        if not text and not number and not rules.mariadb:
            parsed = (0, 0, True)
        if parsed is None or (not parsed[2] and rules.strict):
            rules.raise_if_strict(1292, "time", quoted_value(value), field.name, row)
            return 0
        us = parsed[0]
    us = temporal.rounded(us, digits, truncate=rules.truncates_fractions)
    if abs(us) > maximum:
        rules.raise_if_strict(1292, "time", quoted_value(value), field.name, row)
        us = maximum if us > 0 else -maximum
    return us


def _is_time(value: Any) -> bool:
    return bool(abs(value) <= 8_385_959)


def _is_date(value: Any) -> bool:
    return bool(value >= _DATE_FROM and value < 10**14)


def _number_time(value: Any, rules: Rules) -> tuple[int, int, bool] | None:
    """A number as a time: 123456 is 12:34:56, 20240229123456 the time of that date; None for others."""
    if _is_time(value):
        return temporal.parse_time(text_of(value), truncate=rules.truncates_fractions)
    parsed = temporal.number_datetime(int(value)) if _is_date(value) or rules.mariadb else None
    return None if parsed is None else (parsed.us, 6, True)
