"""CAST and CONVERT, and dates plus an interval."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

import numpy as np

from simulator.carriers import FIRST_DAY
from simulator.partial_dates import date_parts, is_partial
from simulator.sql.catalog.definitions import Compiled
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.functions import dates
from simulator.sql.functions.arguments import integer_of
from simulator.sql.functions.json import as_json
from simulator.sql.functions.texts import in_charset
from simulator.sql.parse.column_types import check_charset
from simulator.sql.values import documents, temporal
from simulator.sql.values.documents import Document
from simulator.sql.values.kinds import CONTEXT, Label, Single, bytes_of, is_number, number_of, text_of
from simulator.sql.values.temporal import Temporal

_UNITS: Final = {
    "microsecond": 1,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 7 * 86_400_000_000,
}
# A text with a date and no time.
DATE_ALONE: Final = re.compile(r"\s*(?:\d+[^\w\s]\d+[^\w\s]\d+|\d{6}|\d{8})\s*")
_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12}


def compiled_cast(node: Any, inner: Callable[[Any], Any], session: Any) -> Callable[[Any], Any]:
    """`CAST(x AS DECIMAL(10,2))`, `CONVERT(x USING utf8mb4)`."""
    kind = node.to.this.name
    sizes = [int(parameter.this.this) for parameter in node.to.expressions if hasattr(parameter.this, "this")]
    convert = _converter(kind, sizes, node, session)

    def cast(env: Any) -> Any:
        value = inner(env)
        if value is None:
            return None
        if isinstance(value, Label) and kind in _NUMBERS | _INTEGERS:
            value = value.number
        _check_cast(kind, value, session)
        return convert(value)

    return cast


_NUMBERS: Final = frozenset(("DECIMAL", "DOUBLE", "FLOAT"))
_INTEGERS: Final = frozenset(("BIGINT", "INT", "SMALLINT", "TINYINT", "UBIGINT", "UINT"))
_FIRST_DATE: Final = 10_101
_DATES: Final = frozenset(("DATE", "DATETIME", "TIMESTAMP", "TIMESTAMPTZ", "DATETIME2", "TIME"))


def _check_cast(kind: str, value: Any, session: Any) -> None:
    """Raises Unsupported for casts that were not found equal to those of servers."""
    if kind in _NUMBERS | _INTEGERS:
        if isinstance(value, Document) and not isinstance(value.value, int | float | Decimal):
            raise Unsupported("CAST of a JSON document that is no number")
        if isinstance(value, bytes) or (isinstance(value, Temporal) and value.digits):
            raise Unsupported("CAST of bytes or of a time with fractions to a number")
        if kind in ("UBIGINT", "UINT") and isinstance(value, float | Decimal) and value < 0:
            raise Unsupported("CAST of a negative fraction to UNSIGNED")
        strict = kind in _NUMBERS and session.statement.refuses_texts
        if strict and isinstance(value, str) and not is_number(value):
            raise Unsupported(f"CAST of the text {value[:20]!r} to a number in a strict statement")
    elif kind in _DATES and isinstance(value, float | Decimal | Document | bytes):
        raise Unsupported("CAST of a number with a fraction, of bytes or of a JSON document to a date or time")
    elif kind in _DATES and type(value) is int and value < _FIRST_DATE:
        raise Unsupported("CAST of a number that is no date to a date or time")
    elif kind in ("CHARACTER_SET", "CHAR", "VARCHAR", "NCHAR", "TEXT") and isinstance(value, bytes):
        try:
            value.decode()
        except UnicodeDecodeError:
            raise Unsupported("bytes that are no text as a text") from None


def _converter(kind: str, sizes: list[int], node: Any, session: Any) -> Callable[[Any], Any]:
    match kind:
        case "CHARACTER_SET":
            charset = node.to.args["kind"].name.lower()
            check_charset(charset)
            return lambda value: in_charset(value, charset)
        case "CHAR" | "VARCHAR" | "NCHAR" | "TEXT":
            return lambda value: _cut(value, sizes[0], session) if sizes else text_of(value)
        case "BINARY" | "VARBINARY":
            return lambda value: bytes_of(value)[: sizes[0]].ljust(sizes[0], b"\0") if sizes else bytes_of(value)
        case "BIGINT" | "INT" | "SMALLINT" | "TINYINT":
            return lambda value: _signed(value, session)
        case "UBIGINT" | "UINT":
            return lambda value: _signed(value, session) & (1 << 64) - 1
        case "DECIMAL":
            precision, scale = sizes[0] if sizes else 10, sizes[1] if len(sizes) > 1 else 0
            return lambda value: _decimal(value, precision, scale, session)
        case "DOUBLE" if session.server.id != "mysql-5.7":
            return lambda value: float(number_of(value))
        case "FLOAT" if session.server.id == "mysql-8.0":
            return lambda value: Single(np.float32(number_of(value)))
        case "DATE" | "DATETIME" | "TIMESTAMP" | "TIMESTAMPTZ" | "DATETIME2":
            return _dated(kind == "DATE", sizes[0] if sizes else None, session)
        case "TIME":
            return _timed(sizes[0] if sizes else None, truncate=session.server.mariadb)
        case "JSON" if not session.server.mariadb:
            return lambda value: _json(value, session)
        case "YEAR" if session.server.id == "mysql-8.0":
            return _year
    if kind in ("JSON", "YEAR"):
        raise SqlError(1064, f"{kind.lower()})")
    raise Unsupported(f"CAST to {kind.lower()}")


def _year(value: Any) -> int:
    """CAST AS YEAR. Raises Unsupported for a value that is no year: strict mode and queries treat it differently."""
    year = integer_of(value)
    if isinstance(value, str | float | Decimal) and year == 0:
        raise Unsupported("this value as a year")
    if 0 < year < 100:
        year += 2000 if year < 70 else 1900
    if not (year == 0 or 1901 <= year <= 2155) or isinstance(value, Temporal):
        raise Unsupported("this value as a year")
    return year


def _cut(value: Any, length: int, session: Any) -> str:
    text = text_of(value)
    if len(text) > length and session.statement.refuses_texts:
        if session.server.mariadb:
            raise Unsupported("CAST that cuts a text in a strict statement")
        raise SqlError(12920, f"CHAR({length})", text)
    return text[:length]


def _signed(value: Any, session: Any) -> int:
    if isinstance(value, str):
        number = number_of(value)
        if session.statement.refuses_texts and not re.fullmatch(r"\s*[+-]?\d+\s*", value):
            raise Unsupported(f"CAST of the text {value[:20]!r} to a number in a strict statement")
        digits = value.strip().split(".")[0].split("e")[0]
        return int(digits) if digits.lstrip("+-").isdecimal() else int(number)
    number = number_of(value)
    return round(number) if isinstance(number, float) else int(Decimal(number).to_integral_value("ROUND_HALF_UP"))


def _decimal(value: Any, precision: int, scale: int, session: Any) -> Decimal:
    number = number_of(value)
    exact = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
    if isinstance(value, str):
        try:
            exact = Decimal(value.strip())
        except ArithmeticError:
            exact = Decimal(repr(number))
    limit = Decimal(10) ** (precision - scale)
    if abs(exact) < limit:
        exact = exact.quantize(Decimal(1).scaleb(-scale), rounding="ROUND_HALF_UP", context=CONTEXT)
    if abs(exact) >= limit:
        if session.statement.refuses_texts:
            raise SqlError(1264, "(cast)", 1)
        maximum = limit - Decimal(1).scaleb(-scale)
        exact = maximum if exact > 0 else -maximum
    return exact if exact else abs(exact)


def _dated(date: bool, digits: int | None, session: Any = None) -> Callable[[Any], Any]:
    """Returns a conversion to DATE or DATETIME; without a session, a text keeps its fraction digits."""

    def cast(value: Any) -> Any:
        if isinstance(value, Temporal):
            datetime = dates.datetime_of(session, value) or value
        else:
            if isinstance(value, int):
                number = temporal.number_datetime(value)
                parsed = None if number is None else (number, True)
            else:
                parsed = temporal.parse_datetime(text_of(value))
            if parsed is None:
                if session is not None and session.statement.refuses_texts:
                    raise SqlError(12921, "datetime", text_of(value))
                return None
            datetime = parsed[0]
        if date:
            return Temporal("date", datetime.day)
        precision = digits if digits is not None else datetime.digits if session is None else 0
        us = temporal.rounded(datetime.us, precision, truncate=session is not None and session.server.mariadb)
        return temporal.of_us(temporal.us_of(Temporal("datetime", datetime.day, 0)) + us, precision)

    return cast


def dated(value: Any, digits: int = 0) -> Any:
    """A value as DATETIME, with `digits` fraction digits or its own if it has more."""
    if not isinstance(value, Temporal):
        return _dated(False, None)(value)
    return temporal.of_us(temporal.us_of(Temporal("datetime", value.day, value.us)), max(digits, value.digits))


def _timed(digits: int | None, *, truncate: bool) -> Callable[[Any], Any]:
    def cast(value: Any) -> Any:
        if isinstance(value, Temporal):
            us = value.us
        else:
            parsed = temporal.parse_time(text_of(value))
            if parsed is None or (isinstance(value, str) and ":" not in value):
                raise Unsupported("CAST of a text that is no time")
            us = parsed[0]
        precision = digits or 0
        return Temporal("time", 0, temporal.rounded(us, precision, truncate=truncate), precision)

    return cast


def _json(value: Any, session: Any) -> Any:
    if isinstance(value, Document):
        return value
    if isinstance(value, str):
        try:
            return Document(documents.parse(value, duplicates=session.server.json_duplicates))
        except ValueError as error:
            raise SqlError(3141, 1, "cast_as_json", error) from None
    return Document(as_json(session, value))


_PARTS: Final = ("year", "month", "day", "hour", "minute", "second", "microsecond")


def _compound(text: str, unit: str) -> tuple[str, int]:
    """`'1:30' HOUR_MINUTE` as microseconds, `'1-2' YEAR_MONTH` as months."""
    first_unit, _, last_unit = unit.partition("_")
    if first_unit not in _PARTS or last_unit not in _PARTS:
        raise Unsupported(f"INTERVAL … {unit.upper()}")
    names = _PARTS[_PARTS.index(first_unit) : _PARTS.index(last_unit) + 1]
    digits = re.findall(r"\d+", text)[: len(names)]
    if last_unit == "microsecond" and digits:
        digits[-1] = digits[-1].ljust(6, "0")[:6] if len(digits) == len(names) else digits[-1]
    numbers = dict(zip(names[len(names) - len(digits) :], map(int, digits), strict=True))
    sign = -1 if text.strip().startswith("-") else 1
    if last_unit == "month":
        return "month", sign * (numbers.get("year", 0) * 12 + numbers.get("month", 0))
    return "microsecond", sign * sum(number * _UNITS[name] for name, number in numbers.items())


def _half_up(count: Any) -> int:
    """A number of units rounded to an integer; only seconds have fractions."""
    return int(Decimal(count).to_integral_value("ROUND_HALF_UP"))


# The server returns NULL with a warning, or error 1441, depending on the statement.
_BEYOND: Final = "a date beyond the years 0 to 9999"


def compiled_move(value: Compiled, count: Compiled, sign: int, unit: str, literal: bool) -> Compiled:
    """A value plus a number of units; NULL if one of the two is NULL. Raises Unsupported for a text that is no
    literal: servers give its result different fractions."""

    def move(env: Any) -> Any:
        start, by = value(env), count(env)
        if isinstance(start, str) and not literal:
            raise Unsupported("a calculation with a text that is a date")
        return None if start is None or by is None else _moved(start, by, sign, unit)

    return move


def _moved(start: Any, by: Any, sign: int, unit: str) -> Any:
    """A date or time plus an interval: `2024-01-31` and one month is `2024-02-29`."""
    if isinstance(start, Temporal):
        datetime = start
    else:
        parsed = temporal.parse_datetime(text_of(start))
        if parsed is None:
            return None
        datetime = parsed[0]
        if DATE_ALONE.fullmatch(text_of(start)):
            datetime = Temporal("date", datetime.day)
    text = not isinstance(start, Temporal)
    if datetime.kind == "time" and (unit in _MONTHS or unit in ("day", "week")):
        raise Unsupported("a time of day and an INTERVAL of days")
    whole = isinstance(by, int) or (isinstance(by, str) and re.fullmatch(r"-?\d+", by))
    if not whole and ("_" not in unit or not isinstance(by, str)):
        raise Unsupported("this value as the number of an INTERVAL")
    if "_" in unit:
        unit, count = _compound(text_of(by), unit)
        count *= sign
    else:
        count = sign * number_of(by)
    if unit in _MONTHS:
        year, month, day = date_parts(datetime.day)
        total = year * 12 + month - 1 + _half_up(count) * _MONTHS[unit]
        year, month = divmod(total, 12)
        if not 0 < year < 10_000:
            raise Unsupported(_BEYOND)
        day_carrier = None
        while day_carrier is None and day > 27:
            day_carrier = temporal.day_of(year, month + 1, day)
            day -= day_carrier is None
        day_carrier = temporal.day_of(year, month + 1, day) if day_carrier is None else day_carrier
        if day_carrier is None:
            return None
        result = Temporal(datetime.kind, day_carrier, datetime.us, datetime.digits)
    elif unit in _UNITS:
        if is_partial(datetime.day) and datetime.kind != "time":
            return None
        count = _half_up(count) if unit != "second" else count
        step = round(count * _UNITS[unit])
        digits = max(datetime.digits, 6 if step % 1_000_000 else 0)
        if datetime.kind == "time":
            result = Temporal("time", 0, datetime.us + step, digits)
        else:
            us = temporal.us_of(Temporal("datetime", datetime.day, datetime.us)) + step
            if not FIRST_DAY * temporal.DAY_US <= us < 253_402_300_800_000_000:
                raise Unsupported(_BEYOND)
            keeps_date = datetime.kind == "date" and unit in ("day", "week") and not datetime.us
            shifted = temporal.of_us(us, digits)
            result = Temporal("date", shifted.day) if keeps_date else shifted
    else:
        raise Unsupported(f"INTERVAL … {unit.upper()}")
    return result.text() if text else result
