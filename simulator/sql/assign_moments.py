"""Dates and times on assignment: rounded, zero and partial dates by sql_mode, UTC for TIMESTAMP."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from simulator.carriers import PARTIAL_DAYS
from simulator.sources.mysql_values import MAX_TIME_US, TIMESTAMP_US
from simulator.sql import moments
from simulator.sql.catalog import Field
from simulator.sql.errors import SqlError
from simulator.sql.moments import Moment
from simulator.sql.rules import Rules
from simulator.sql.values import text_of

_LAST_US: Final = 253_402_300_800_000_000 - 1


ZERO_US: Final = moments.us_of(Moment("datetime", PARTIAL_DAYS))


def _moment(value: Any, field: Field, row: int, rules: Rules, what: str) -> Moment | None:
    """The date (with time) that a value says; None where it says none and the session is not strict."""
    found: Moment | None
    whole = True
    if isinstance(value, Moment):
        found = value if value.kind != "time" else None
    elif isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        found = moments.number_datetime(int(value))
        if found is not None and isinstance(value, Decimal) and value >= 100_000_000:
            found = Moment("datetime", found.day, found.us + int(value % 1 * 1_000_000), 6)
    else:
        parsed = moments.parse_datetime(text_of(value))
        found, whole = parsed if parsed else (None, True)
    if found is None or not whole or not _allowed(found, rules):
        if rules.strict:
            raise SqlError(1292, what, text_of(value)[:64], field.name, row)
        if found is None or (found is not None and not _allowed(found, rules)):
            return None
    return found


def _allowed(moment: Moment, rules: Rules) -> bool:
    if moments.is_zero(moment.day):
        return not rules.no_zero_date or (moment.us != 0)
    return not (moments.is_partial(moment.day) and rules.no_zero_in_date)


def store_date(value: Any, field: Field, row: int, rules: Rules) -> int:
    found = _moment(value, field, row, rules, "date")
    return PARTIAL_DAYS if found is None else found.day


def store_datetime(value: Any, field: Field, row: int, rules: Rules) -> int:
    found = _moment(value, field, row, rules, "datetime")
    if found is None:
        return ZERO_US
    digits = field.type.length or 0
    time_us = moments.rounded(found.us, digits, truncate=rules.truncates_fractions)
    us = moments.us_of(Moment("datetime", found.day, 0)) + time_us
    partial = moments.is_partial(found.day)
    stamp = field.type.name == "timestamp"
    if partial:
        wrong = time_us >= moments.DAY_US or (stamp and (not moments.is_zero(found.day) or time_us > 0))
    elif stamp:
        us = rules.zone.to_utc(us)
        wrong = not TIMESTAMP_US[0] <= us <= TIMESTAMP_US[1]
    else:
        wrong = us > _LAST_US
    if wrong:
        if rules.strict:
            raise SqlError(1292, "datetime", text_of(value)[:64], field.name, row)
        return ZERO_US
    return us


def store_time(value: Any, field: Field, row: int, rules: Rules) -> int:
    if isinstance(value, Moment):
        us = value.us if value.kind != "date" else 0
    else:
        parsed = moments.parse_time(text_of(value))
        if parsed is None or (not parsed[2] and rules.strict):
            if rules.strict:
                raise SqlError(1292, "time", text_of(value)[:64], field.name, row)
            return 0
        us = parsed[0]
    us = moments.rounded(us, field.type.length or 0, truncate=rules.truncates_fractions)
    if abs(us) > MAX_TIME_US:
        if rules.strict:
            raise SqlError(1292, "time", text_of(value)[:64], field.name, row)
        us = MAX_TIME_US if us > 0 else -MAX_TIME_US
    return us
