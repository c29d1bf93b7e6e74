"""Numbers on assignment: rounded, checked against the range, read from texts."""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from typing import Any, Final

import numpy as np

from simulator.partial_dates import date_parts
from simulator.sources.mysql import type_table as mysql_table
from simulator.sources.mysql import values as mysql_values
from simulator.sql.assignment.rules import Rules, refuse_shape
from simulator.sql.catalog.definitions import Field
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.values.documents import Document
from simulator.sql.values.kinds import Label, Raw, number_of, quoted_value, text_of
from simulator.sql.values.temporal import Temporal

_NUMBER: Final = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*")
_SIGNED: Final = (1 << 63) - 1


def _as_text(value: Any, rules: Rules) -> str | None:
    """The text of a value that is read as text: character strings, and binary strings that are no number."""
    if isinstance(value, Label):
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return None if isinstance(value, Raw) else value.decode("latin-1")
    return text_of(value) if isinstance(value, Document) and rules.mariadb else None


def _no_json(value: Any, kind: str, row: int, rules: Rules) -> Any:
    """The document, if it holds a number. Raises SqlError 3156 in strict mode for any other."""
    if isinstance(value, Document) and not isinstance(value.value, int | float | Decimal) and rules.strict:
        raise SqlError(3156, kind, value.origin, row)
    return value


def store_integer(value: Any, field: Field, row: int, rules: Rules) -> int:
    number = int(value) if type(value) is int or isinstance(value, bool) else _integer(value, field, row, rules)
    low, high = mysql_table.bounds(field.type)
    if low <= number <= high:
        if rules.strict and (text := _as_text(value, rules)) is not None:
            _refuse_trailing_text(text, field, row)
        return number
    rules.raise_if_strict(1264, field.name, row)
    return low if number < low else high


def _refuse_trailing_text(text: str, field: Field, row: int) -> None:
    """Raises SqlError 1265 for text behind a number."""
    match = _NUMBER.match(text)
    if match and match.end() < len(text):
        raise SqlError(1265, field.name, row)


def _integer(value: Any, field: Field, row: int, rules: Rules) -> int:
    refuse_shape(value, field, rules)
    if isinstance(value, Temporal) and value.digits:
        raise Unsupported("a time with fractions in a column of integers")
    text = _as_text(value, rules)
    if text is not None:
        match = _NUMBER.match(text)
        if not match:
            rules.raise_if_strict(1366, "integer", quoted_value(value), field.name, row)
            return 0
        value = Decimal(match[1])
    number = number_of(_no_json(value, "INTEGER", row, rules))
    if isinstance(number, int):
        return int(number)
    if isinstance(number, float):
        if math.isinf(number):
            return (1 << 70) if number > 0 else -(1 << 70)
        return round(number)  # half to even, as rint
    with localcontext(prec=200):
        return int(number.to_integral_value(ROUND_HALF_UP))


def store_decimal(value: Any, field: Field, row: int, rules: Rules) -> Decimal:
    precision, scale = mysql_table.precision_scale(field.type)
    refuse_shape(value, field, rules)
    text = _as_text(value, rules)
    if text is not None:
        match = _NUMBER.match(text)
        if not match:
            rules.raise_if_strict(1366, "decimal", quoted_value(value), field.name, row)
            return Decimal(0).scaleb(-scale)
        if match.end() < len(text) and rules.strict:
            if rules.mariadb:
                raise SqlError(1265, field.name, row)
            raise SqlError(1366, "decimal", quoted_value(value), field.name, row)
        number: Any = Decimal(match[1])
    else:
        number = number_of(_no_json(value, "DECIMAL", row, rules))
    exact = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
    with localcontext(prec=200) as context:
        try:
            fitted = exact.quantize(Decimal(1).scaleb(-scale), rounding=ROUND_HALF_UP, context=context)
        except InvalidOperation:
            fitted = Decimal(10) ** 100
        limit = Decimal(10) ** (precision - scale)
        low_broken = field.type.unsigned and exact < 0
        if abs(fitted) >= limit or low_broken:
            rules.raise_if_strict(1264, field.name, row)
            maximum = limit - Decimal(1).scaleb(-scale)
            fitted = Decimal(0).scaleb(-scale) if low_broken else maximum if fitted > 0 else -maximum
        return fitted if fitted else abs(fitted)


def store_float(value: Any, field: Field, row: int, rules: Rules) -> float:
    refuse_shape(value, field, rules)
    text = _as_text(value, rules)
    if text is not None:
        match = _NUMBER.match(text)
        if not match and rules.strict and rules.mariadb:
            raise SqlError(1366, "double", quoted_value(value), field.name, row)
        if (not match or match.end() < len(text)) and rules.strict:
            raise SqlError(1265, field.name, row)
        number = float(match[1]) if match else 0.0
    else:
        number = float(number_of(_no_json(value, "DOUBLE", row, rules)))
    type = field.type
    if type.unsigned and number < 0:
        rules.raise_if_strict(1264, field.name, row)
        return 0.0
    if type.scale is not None and type.length is not None and math.isfinite(number):
        number = mysql_values.cut(number, type.scale)
        maximum = 10.0 ** (type.length - type.scale) - 10.0**-type.scale
        if abs(number) > maximum:
            rules.raise_if_strict(1264, field.name, row)
            number = math.copysign(maximum, number)
    limit = float(np.finfo(np.float32).max) if type.name == "float" else 1.7976931348623157e308
    if abs(number) > limit:
        rules.raise_if_strict(1264, field.name, row)
        number = math.copysign(limit, number)
    return float(np.float32(number)) if type.name == "float" else number


def store_bit(value: Any, field: Field, row: int, rules: Rules) -> int:
    bits = field.type.length or 1
    refuse_shape(value, field, rules)
    if isinstance(value, str | Document) and not isinstance(value, Label):
        number = int.from_bytes(text_of(value).encode(), "big")
    elif isinstance(value, bytes):
        number = int.from_bytes(value, "big")
    elif isinstance(value, float):
        number = _from_double(value, rules)
    else:
        number = _integer(value, field, row, rules)
        if isinstance(value, Decimal) and not 0 <= number < 1 << 64:
            # a decimal becomes an unsigned number first
            rules.raise_if_strict(1264, field.name, row)
            return 0 if number < 0 else (1 << bits) - 1
    if number < 0:
        number += 1 << 64
    if number >> bits:
        rules.raise_if_strict(1406, field.name, row)
        return (1 << bits) - 1
    return number


def _from_double(value: float, rules: Rules) -> int:
    """A double as 64 bits: MySQL 8.0 stops at the highest number, older servers take what the processor computes."""
    if -(2.0**63) <= value < 2.0**63:
        return round(value)
    return _SIGNED if value > 0 and rules.swaps_axes else 1 << 63


def store_year(value: Any, field: Field, row: int, rules: Rules) -> int:
    if isinstance(value, Temporal) and value.kind != "time":
        value = date_parts(value.day)[0]
    refuse_shape(value, field, rules)
    typed = text_of(value) if isinstance(value, Document) else _as_text(value, rules)
    trailing_text = False
    if typed is not None:
        match = re.match(r"\s*([+-]?\d+)\s*", typed)
        if not match:
            rules.raise_if_strict(1366, "integer", quoted_value(value), field.name, row)
            return 0
        trailing_text = match.end() < len(typed)
        value = int(match[1])
    if isinstance(value, float):
        value = -1 if value < 0 else int(value)
    number = _integer(value, field, row, rules)
    short = 0 <= number < 100 and (typed is None or len(typed) != 4)
    if short:
        number = (2000 if typed is not None else 0) if number == 0 else number + (2000 if number < 70 else 1900)
    fits = number == 0 or 1901 <= number <= 2155
    if rules.strict and not fits:
        raise SqlError(1264, field.name, row)
    if rules.strict and trailing_text:
        raise SqlError(1265, field.name, row)
    return number if fits else 0
