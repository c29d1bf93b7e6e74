"""Numbers on assignment: rounded, checked against the range, read from texts."""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from typing import Any, Final

import numpy as np

from simulator.sources import mysql
from simulator.sql import moments
from simulator.sql.catalog import Field
from simulator.sql.errors import SqlError
from simulator.sql.moments import Moment
from simulator.sql.rules import Rules
from simulator.sql.values import Label, number_of

_NUMBER: Final = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*")


def store_integer(value: Any, field: Field, row: int, rules: Rules) -> int:
    number = int(value) if type(value) is int or isinstance(value, bool) else _whole(value, field, row, rules)
    low, high = mysql.bounds(field.type)
    if low <= number <= high:
        if isinstance(value, str) and rules.strict:
            _whole_text(value, field, row)
        return number
    if rules.strict:
        raise SqlError(1264, field.name, row)
    return low if number < low else high


def _whole_text(value: str, field: Field, row: int) -> None:
    """Refuse what stands behind a number."""
    match = _NUMBER.match(value)
    if not isinstance(value, Label) and match and match.end() < len(value):
        raise SqlError(1265, field.name, row)


def _whole(value: Any, field: Field, row: int, rules: Rules) -> int:
    if isinstance(value, str) and not isinstance(value, Label):
        match = _NUMBER.match(value)
        if not match:
            if rules.strict:
                raise SqlError(1366, "integer", value[:64], field.name, row)
            return 0
        value = Decimal(match[1])
    number = number_of(value)
    if isinstance(number, int):
        return int(number)
    if isinstance(number, float):
        if math.isinf(number):
            return (1 << 70) if number > 0 else -(1 << 70)
        return round(number)  # half to even, as rint
    with localcontext(prec=200):
        return int(number.to_integral_value(ROUND_HALF_UP))


def store_decimal(value: Any, field: Field, row: int, rules: Rules) -> Decimal:
    precision, scale = mysql.precision_scale(field.type)
    if isinstance(value, str) and not isinstance(value, Label):
        match = _NUMBER.match(value)
        if not match:
            if rules.strict:
                raise SqlError(1366, "decimal", value[:64], field.name, row)
            return Decimal(0).scaleb(-scale)
        if match.end() < len(value) and rules.strict:
            raise SqlError(1366 if rules.strict else 1265, "decimal", value[:64], field.name, row)
        number: Any = Decimal(match[1])
    else:
        number = number_of(value)
    exact = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
    with localcontext(prec=200) as context:
        try:
            fitted = exact.quantize(Decimal(1).scaleb(-scale), rounding=ROUND_HALF_UP, context=context)
        except InvalidOperation:
            fitted = Decimal(10) ** 100
        limit = Decimal(10) ** (precision - scale)
        low_broken = field.type.unsigned and fitted < 0
        if abs(fitted) >= limit or low_broken:
            if rules.strict:
                raise SqlError(1264, field.name, row)
            most = limit - Decimal(1).scaleb(-scale)
            fitted = Decimal(0).scaleb(-scale) if low_broken else most if fitted > 0 else -most
        return fitted if fitted else abs(fitted)


def store_float(value: Any, field: Field, row: int, rules: Rules) -> float:
    if isinstance(value, str) and not isinstance(value, Label):
        match = _NUMBER.match(value)
        if (not match or match.end() < len(value)) and rules.strict:
            raise SqlError(1265, field.name, row)
        number = float(match[1]) if match else 0.0
    else:
        number = float(number_of(value))
    type = field.type
    if type.unsigned and number < 0:
        if rules.strict:
            raise SqlError(1264, field.name, row)
        return 0.0
    if type.scale is not None and type.length is not None and math.isfinite(number):
        number = mysql.cut(number, type.scale)
        most = 10.0 ** (type.length - type.scale) - 10.0**-type.scale
        if abs(number) > most:
            if rules.strict:
                raise SqlError(1264, field.name, row)
            number = math.copysign(most, number)
    limit = float(np.finfo(np.float32).max) if type.name == "float" else 1.7976931348623157e308
    if abs(number) > limit:
        if rules.strict:
            raise SqlError(1264, field.name, row)
        number = math.copysign(limit, number)
    # the server of MariaDB stores no negative zero
    return float(np.float32(number)) if type.name == "float" else number


def store_bit(value: Any, field: Field, row: int, rules: Rules) -> int:
    bits = field.type.length or 1
    if isinstance(value, str) and not isinstance(value, Label):
        number = int.from_bytes(value.encode(), "big")
    elif isinstance(value, bytes):
        number = int.from_bytes(value, "big")
    else:
        number = _whole(value, field, row, rules)
    if number < 0:
        number += 1 << 64
    if number >> bits:
        if rules.strict:
            raise SqlError(1406, field.name, row)
        return (1 << bits) - 1
    return number


def store_year(value: Any, field: Field, row: int, rules: Rules) -> int:
    if isinstance(value, Moment) and value.kind != "time":
        value = moments.parts_of(value.day)[0]
    text = isinstance(value, str) and not isinstance(value, Label)
    if text:
        match = re.match(r"\s*(\d+)\s*", value)
        if not match or (rules.strict and match.end() < len(value)):
            if rules.strict:
                raise SqlError(1265 if match else 1366, *(() if match else ("integer", value[:64])), field.name, row)
            return 0
        value = match[1]
    if isinstance(value, float):
        value = int(value)
    number = _whole(value, field, row, rules)
    short = number < 100 and (not text or len(value.strip()) < 4)
    if short and number >= 0:
        if number == 0:
            return 2000 if text else 0
        number += 2000 if number < 70 else 1900
    if number == 0 or 1901 <= number <= 2155:
        return number
    if rules.strict:
        raise SqlError(1264, field.name, row)
    return 0
