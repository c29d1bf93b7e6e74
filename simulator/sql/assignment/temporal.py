"""Dates and times on assignment: rounded, zero and partial dates by sql_mode, UTC for TIMESTAMP."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from simulator.carriers import PARTIAL_DAYS
from simulator.sources.mysql.times import MAX_TIME_US, TIMESTAMP_US
from simulator.sql.assignment.rules import Rules, refuse_shape
from simulator.sql.catalog.definitions import Field
from simulator.sql.errors import SqlError
from simulator.sql.values import temporal
from simulator.sql.values.documents import Document
from simulator.sql.values.kinds import quoted_value, text_of
from simulator.sql.values.temporal import Temporal

_LAST_US: Final = 253_402_300_800_000_000 - 1
ZERO_US: Final = temporal.us_of(Temporal("datetime", PARTIAL_DAYS))
# A number of this size and more is no time, but a date with one.
_DATE_FROM: Final = 10_000_000_000


def _refused(value: Any, field: Field, row: int, rules: Rules) -> bool:
    """Documents and geometries are no dates: NULL. Raises SqlError in strict mode."""
    refuse_shape(value, field, rules)
    if not isinstance(value, Document) or rules.mariadb:
        return False
    if rules.strict:
        raise SqlError(3156, "DATE/TIME/DATETIME/TIMESTAMP", value.origin, row)
    return True


def _moment(value: Any, field: Field, row: int, rules: Rules, what: str) -> Temporal | None:
    """The date (with time) that a value says; None where it says none and the session is not strict."""
    found: Temporal | None
    whole = True
    if isinstance(value, Temporal):
        found = value
        if value.kind == "time":
            days, us = divmod(value.us, temporal.DAY_US)
            found = Temporal("datetime", rules.today() + days, us, value.digits)
    elif isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        found = None if value < 0 and rules.mariadb else temporal.number_datetime(int(value))
        if found is not None and isinstance(value, Decimal) and (value >= 100_000_000 or 0 <= value < 1):
            found = Temporal("datetime", found.day, found.us + int(value % 1 * 1_000_000), 6)
    else:
        text = text_of(value)
        parsed = temporal.parse_datetime(text, truncate=rules.truncates_fractions)
        found, whole = parsed if parsed else (None, True)
        minutes = temporal.offset_minutes(text)
        if found is not None and minutes is not None:
            if rules.server == "mysql-8.0" and abs(minutes) <= 840:
                utc = temporal.us_of(found) - minutes * 60_000_000
                found = temporal.of_us(rules.zone.to_local(utc), found.digits)
            else:
                whole = False
    fraction = isinstance(value, Decimal) and 0 < value < 1 and rules.no_zero_date
    if found is None or not whole or fraction or not _allowed(found, rules):
        if rules.strict:
            raise SqlError(1292, what, quoted_value(value), field.name, row)
        if found is None or fraction or not _allowed(found, rules):
            return None
    return found


def _allowed(moment: Temporal, rules: Rules) -> bool:
    if temporal.is_zero(moment.day):
        return not rules.no_zero_date or (moment.us != 0)
    return not (temporal.is_partial(moment.day) and rules.no_zero_in_date)


def store_date(value: Any, field: Field, row: int, rules: Rules) -> int | None:
    if _refused(value, field, row, rules):
        return None if field.nullable else PARTIAL_DAYS
    found = _moment(value, field, row, rules, "date")
    # a seventh digit of the fraction may have rounded the time up to the next day
    return PARTIAL_DAYS if found is None else found.day + found.us // temporal.DAY_US


def store_datetime(value: Any, field: Field, row: int, rules: Rules) -> int | None:
    if _refused(value, field, row, rules):
        return None if field.nullable else ZERO_US
    found = _moment(value, field, row, rules, "datetime")
    if found is None:
        return ZERO_US
    digits = field.type.length or 0
    time_us = temporal.rounded(found.us, digits, truncate=rules.truncates_fractions)
    us = temporal.us_of(Temporal("datetime", found.day, 0)) + time_us
    partial = temporal.is_partial(found.day)
    stamp = field.type.name == "timestamp"
    if partial:
        wrong = time_us >= temporal.DAY_US or (stamp and (not temporal.is_zero(found.day) or found.us > 0))
    elif stamp:
        us = rules.zone.to_utc(us)
        wrong = not TIMESTAMP_US[0] <= us <= TIMESTAMP_US[1]
    else:
        wrong = us > _LAST_US
    if wrong:
        if rules.strict:
            raise SqlError(1292, "datetime", quoted_value(value), field.name, row)
        return ZERO_US
    return us


def store_time(value: Any, field: Field, row: int, rules: Rules) -> int | None:
    if _refused(value, field, row, rules):
        return None if field.nullable else 0
    digits = field.type.length or 0
    most = MAX_TIME_US + (10**6 - 10 ** (6 - digits) if rules.mariadb else 0)
    if isinstance(value, Temporal):
        us = value.us if value.kind != "date" else 0
    else:
        text = text_of(value)
        number = isinstance(value, int | float | Decimal)
        parsed = _number_time(value, rules) if number else temporal.parse_time(text, truncate=rules.truncates_fractions)
        if number and parsed is None and not _is_time(value) and not _is_date(value):
            parsed = ((most + 1) * (1 if value > 0 else -1), 0, False)
        if not text and not number and not rules.mariadb:
            parsed = (0, 0, True)
        if parsed is None or (not parsed[2] and rules.strict):
            if rules.strict:
                raise SqlError(1292, "time", quoted_value(value), field.name, row)
            return 0
        us = parsed[0]
    us = temporal.rounded(us, digits, truncate=rules.truncates_fractions)
    if abs(us) > most:
        if rules.strict:
            raise SqlError(1292, "time", quoted_value(value), field.name, row)
        us = most if us > 0 else -most
    return us


def _is_time(value: Any) -> bool:
    return bool(abs(value) <= 8_385_959)


def _is_date(value: Any) -> bool:
    return bool(value >= _DATE_FROM and value < 10**14)


def _number_time(value: Any, rules: Rules) -> tuple[int, int, bool] | None:
    """A number as a time: 123456 is 12:34:56, 20240229123456 that of a date; None for others."""
    if _is_time(value):
        return temporal.parse_time(text_of(value), truncate=rules.truncates_fractions)
    found = temporal.number_datetime(int(value)) if _is_date(value) or rules.mariadb else None
    return None if found is None else (found.us, 6, True)
