"""Parsing of literals common to several systems: numbers, bytes, labels, days, times of day, and their carriers."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from typing import Any, Final

import numpy as np
import pyarrow as pa

from simulator.carriers import FIRST_DAY, as_integers, storage_type
from simulator.errors import short

_INTEGER: Final = re.compile(r"[+-]?\d+")


def carried(values: Sequence[Any], carrier: pa.DataType) -> pa.Array:
    """Values as an array of a carrier; dates and times are their numbers."""
    if pa.types.is_temporal(storage := storage_type(carrier)):
        return pa.array(values, type=pa.int32() if storage == pa.date32() else pa.int64()).view(carrier)
    if carrier == pa.float32():
        # through NumPy, so that values are rounded only once
        nulls = np.array([value is None for value in values], dtype=bool)
        with np.errstate(over="ignore"):
            doubles = np.array([0.0 if value is None else value for value in values], dtype=np.float64)
            return pa.array(doubles.astype(np.float32), mask=nulls, type=carrier)
    return pa.array(values, type=carrier)


def raw_values(array: pa.Array) -> list[Any]:
    """The inverse of `carried`."""
    values: list[Any] = as_integers(array).to_pylist()
    return values


def integer(text: str, bounds: tuple[int, int], type_name: str) -> int:
    word = text.strip()
    if not _INTEGER.fullmatch(word):
        raise ValueError(f"{short(text)} is not a whole number")
    low, high = bounds
    if not low <= int(word) <= high:
        raise ValueError(f"{word} is outside {low} to {high}, the bounds of {type_name}")
    return int(word)


def exact(text: str) -> Decimal:
    """Parses a finite number exactly."""
    try:
        value = Decimal(text.strip())
        if not value.is_finite() or "_" in text:
            raise InvalidOperation
    except InvalidOperation:
        raise ValueError(f"{short(text)} is not a decimal number") from None
    return value


def decimal(text: str, precision: int, scale: int, type_text: str) -> Decimal:
    """Decimal of `precision` digits, rounded half up to `scale` digits after the point; zero has no sign.

    >>> decimal("1.005", 5, 2, ""), decimal("-0.001", 5, 2, ""), decimal("1250", 5, -2, "")
    (Decimal('1.01'), Decimal('0.00'), Decimal('1.3E+3'))
    """
    with localcontext(prec=300):
        try:
            value = exact(text).quantize(Decimal(1).scaleb(-scale), rounding=ROUND_HALF_UP)
        except InvalidOperation:
            raise ValueError(f"{short(text)} is not a decimal number") from None
        if abs(value) >= Decimal(10) ** (precision - scale):
            raise ValueError(f"{text.strip()} does not fit {type_text}")
    return value if value else abs(value)


def plain(value: Decimal) -> str:
    """The number without exponent and trailing zeros: `12.5`, `100`."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def finite_float(text: str) -> float:
    """A floating point number; infinity for numbers that are too large."""
    word = text.strip()
    try:
        value = float(word)
    except ValueError:
        value = float("nan")
    if value != value or "_" in word or word.lower().lstrip("+-").startswith("inf"):
        raise ValueError(f"{short(text)} is not a number such as 1.5 or 1e3")
    return value


def hexadecimal(digits: str) -> bytes:
    """Bytes of hexadecimal digits; with an odd number of digits the first byte has only one."""
    return bytes.fromhex(digits.zfill(len(digits) + len(digits) % 2))


def listed(labels: Sequence[str]) -> str:
    """The first labels, for messages."""
    return ", ".join(map(repr, labels[:8])) + (" …" if len(labels) > 8 else "")


def day(text: str, year: int, month: int, day: int) -> int:
    """Days since 1970."""
    try:
        return dt.date(year, month, day).toordinal() + FIRST_DAY - 1
    except ValueError:
        raise ValueError(f"{short(text)} is not in the calendar") from None


def seconds(text: str, hour: str | None, minute: str | None, second: str | None) -> int:
    """Seconds since midnight; missing parts are 0."""
    hours, minutes, whole_seconds = int(hour or 0), int(minute or 0), int(second or 0)
    if hours > 23 or minutes > 59 or whole_seconds > 59:
        raise ValueError(f"{short(text)} has no such time of day")
    return hours * 3600 + minutes * 60 + whole_seconds


def fraction(digits: str | None, scale: int, unit_digits: int) -> int:
    """A second's fraction in units of 10^-`unit_digits` s, rounded half up to `scale` digits; may be a whole second.

    >>> fraction("5", 3, 6), fraction("9995", 3, 6)
    (500000, 1000000)
    """
    if not digits:
        return 0
    value = int(digits[: scale + 1].ljust(scale + 1, "0"))
    return (value + 5) // 10 * int(10 ** (unit_digits - scale))


def clock(seconds: int) -> str:
    """`12:34:56`."""
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
