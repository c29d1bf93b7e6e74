"""Functions on numbers."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from typing import Any, Final

from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.functions.arguments import Function, integer_of, strict
from simulator.sql.values.comparison import compare
from simulator.sql.values.kinds import CONTEXT, FixedDouble, ScaledDecimal, bytes_of, number_of, text_of
from simulator.sql.values.temporal import Temporal

# The largest decimal exponent of a double.
MAX_EXPONENT: Final = 308
_DIGITS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def rounded(session: Any, value: Any, digits: Any = 0, *, cut: bool = False) -> Any:
    """ROUND, and TRUNCATE with `cut`."""
    decimals, number = integer_of(digits), number_of(value)
    if isinstance(number, float):
        if not -MAX_EXPONENT <= decimals <= MAX_EXPONENT:
            return number if decimals > 0 else 0.0
        scaled = number * 10.0**decimals
        if math.isinf(scaled):
            return number
        result = (math.trunc(scaled) if cut else float(round(scaled))) / 10.0**decimals
        return FixedDouble(result, decimals) if 0 <= decimals < 31 and session.server.id != "mysql-8.0" else result
    exact = Decimal(number)
    scale = -int(exact.as_tuple().exponent) if isinstance(exact.as_tuple().exponent, int) else 0
    if isinstance(number, Decimal):
        maximum = {"mysql-8.0": scale, "mysql-5.7": 30}.get(session.server.id, 38)
        decimals = min(decimals, maximum)
    else:
        decimals = min(decimals, 0)
    mode = ROUND_DOWN if cut else ROUND_HALF_UP
    fitted = exact.quantize(Decimal(1).scaleb(-decimals), rounding=mode, context=CONTEXT)
    return int(fitted) if isinstance(number, int) else fitted if decimals > 0 else Decimal(int(fitted))


def floor(session: Any, value: Any) -> Any:
    number = number_of(value)
    return float(math.floor(number)) if isinstance(number, float) else math.floor(number)


def ceil(session: Any, value: Any) -> Any:
    number = number_of(value)
    return float(math.ceil(number)) if isinstance(number, float) else math.ceil(number)


def power(session: Any, base: Any, exponent: Any) -> float:
    a, b = float(number_of(base)), float(number_of(exponent))
    try:
        return math.pow(a, b)
    except (OverflowError, ValueError):
        raise SqlError(1690, "DOUBLE", f"pow({text_of(a)},{text_of(b)})") from None


def of_double(function: Callable[[float], float], name: str) -> Function:
    """A function of one double; NULL outside its domain."""

    def call(session: Any, value: Any) -> Any:
        try:
            return function(float(number_of(value)))
        except ValueError:
            return None
        except OverflowError:
            raise SqlError(1690, "DOUBLE", f"{name}({text_of(value)})") from None

    return strict(call)


def logarithm(session: Any, value: Any, other: Any = None, *, of: Callable[[float], float] = math.log) -> Any:
    """LOG(x) is the natural logarithm, LOG(b, x) the logarithm to base b."""
    number = float(number_of(value if other is None else other))
    base = math.e if other is None else float(number_of(value))
    if number <= 0 or base <= 0 or base == 1:
        raise Unsupported("a logarithm of these numbers")
    return of(number) if other is None else math.log(number) / math.log(base)


def log2(session: Any, value: Any) -> Any:
    """Servers other than MySQL 8.0 divide two logarithms, which differs in the last digit."""
    modern = session.server.id == "mysql-8.0"
    return logarithm(session, value, of=math.log2) if modern else logarithm(session, 2, value)


def absolute(session: Any, value: Any) -> Any:
    number = number_of(value)
    return ScaledDecimal(abs(number), number.scale) if isinstance(number, ScaledDecimal) else abs(number)


def arctangent(session: Any, value: Any, other: Any = None) -> float:
    return math.atan(float(number_of(value))) if other is None else math.atan2(number_of(value), number_of(other))


def random(session: Any, seed: Any = None) -> float:
    text = f"rand {session.draw() if seed is None else seed}"
    return int.from_bytes(hashlib.md5(text.encode(), usedforsecurity=False).digest()[:6], "big") / (1 << 48)


def converted(session: Any, value: Any, source: Any, target: Any) -> Any:
    """CONV: a number in another base."""
    source_base, target_base = integer_of(source), integer_of(target)
    number, sign = 0, 1
    text = text_of(value).strip().upper()
    if text[:1] in ("-", "+"):
        sign, text = (-1 if text[0] == "-" else 1), text[1:]
    for digit in text:
        digit_value = _DIGITS.find(digit)
        if not 0 <= digit_value < source_base:
            raise Unsupported(f"CONV() of {text[:20]!r}")
        number = number * source_base + digit_value
    return in_base(min(number, (1 << 64) - 1) * sign & (1 << 64) - 1, target_base)


def in_base(number: int, base: int) -> str:
    digits_text = ""
    while True:
        number, digit = divmod(number, base)
        digits_text = _DIGITS[digit] + digits_text
        if not number:
            return digits_text


def formatted(session: Any, value: Any, digits: Any) -> str:
    """FORMAT(1234.5, 2) is 1,234.50."""
    number = number_of(value)
    exact = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
    return f"{exact.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP, context=CONTEXT):,f}"


def extreme(sign: int) -> Function:
    """GREATEST and LEAST."""

    def pick(session: Any, *values: Any) -> Any:
        texts = session.server.id == "mysql-8.0" and any(type(value) is str for value in values)
        if texts and not any(isinstance(value, Temporal) for value in values):
            values = tuple(map(text_of, values))
        best = values[0]
        for value in values[1:]:
            if (compare(value, best, session.connection.collation) or 0) * sign > 0:
                best = value
        return best

    return strict(pick)


def interval(session: Any, value: Any, *limits: Any) -> int:
    """INTERVAL(23, 1, 15, 17): the number of limits up to the value; -1 for NULL."""
    if value is None:
        return -1
    number = number_of(value)
    return next((i for i, limit in enumerate(limits) if number_of(limit) > number), len(limits))


def bit_count(session: Any, value: Any) -> int:
    if isinstance(value, bytes):
        return int.from_bytes(bytes_of(value), "big").bit_count()
    return (integer_of(value) & (1 << 64) - 1).bit_count()


def inet_aton(session: Any, value: Any) -> Any:
    parts = text_of(value).split(".")
    if not all(part.isdecimal() and int(part) < 256 for part in parts) or len(parts) > 4:
        return None
    numbers = [int(part) for part in parts]
    head, last = numbers[:-1], numbers[-1]
    return sum(number << 8 * (3 - index) for index, number in enumerate(head)) + last


def inet_ntoa(session: Any, value: Any) -> Any:
    number = integer_of(value)
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0)) if 0 <= number < 1 << 32 else None
