"""PostgreSQL's numbers as text: numerics of any scale, floats with the fewest digits, money."""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from typing import Final

import numpy as np

from simulator.errors import short
from simulator.model import ColumnType

# Maximum digits of a numeric before and after the decimal point.
MOST_WHOLE: Final = 131_072
MOST_FRACTION: Final = 16_383
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_MONEY: Final = re.compile(r"(-?)\$?(-?)(\d{1,3}(?:,\d{3})*|\d+)(?:\.(\d+))?")
_SPECIAL: Final = {
    "nan": "NaN",
    "inf": "Infinity",
    "infinity": "Infinity",
    "+inf": "Infinity",
    "+infinity": "Infinity",
    "-inf": "-Infinity",
    "-infinity": "-Infinity",
}


def plain_decimal(value: Decimal) -> str:
    """A finite number without exponent, its scale kept: `100000000000000000000` for 1e20, `0.0` for -0.0.

    Raises ValueError beyond what a numeric holds.
    """
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    if not value:
        return "0." + "0" * -exponent if exponent < 0 else "0"
    if value.adjusted() >= MOST_WHOLE or -exponent > MOST_FRACTION:
        raise ValueError(f"{short(str(value))} has more digits than a numeric holds")
    return format(value, "f")


def decimal(text: str, type: ColumnType, *, infinite: bool) -> Decimal | str:
    """A literal of a numeric: a Decimal of the type's scale, or the text that PostgreSQL prints where the type has no
    scale of its own, and of NaN and (`infinite`) the two infinities. Raises ValueError.

    >>> decimal("123.4500", ColumnType("numeric"), infinite=True), decimal("1e3", ColumnType("numeric"), infinite=True)
    ('123.4500', '1000')
    >>> decimal("-1.005", ColumnType("numeric", 10, 2), infinite=True)
    Decimal('-1.01')
    """
    word = text.strip()
    if special := _SPECIAL.get(word.lower()):
        if special != "NaN" and (type.length is not None or not infinite):
            reason = "this version has no infinite numeric" if not infinite else "it has no room for infinity"
            raise ValueError(f"{word} does not fit {_name(type)}: {reason}")
        return special
    if not _NUMBER.fullmatch(word):
        raise ValueError(f"{short(text)} is not a decimal number")
    exact = Decimal(word)
    if type.length is None:
        return plain_decimal(exact)
    scale = type.scale or 0
    with localcontext(prec=2_000) as context:
        try:
            value = exact.quantize(Decimal(1).scaleb(-scale), rounding=ROUND_HALF_UP, context=context)
        except InvalidOperation:
            raise ValueError(f"{word} does not fit {_name(type)}") from None
        if abs(value) >= Decimal(10) ** (type.length - scale):
            raise ValueError(f"{word} does not fit {_name(type)}")
    return value if value else abs(value)


def _name(type: ColumnType) -> str:
    return "numeric" if type.length is None else f"numeric({type.length},{type.scale or 0})"


def float_(text: str, *, single: bool) -> float:
    """A literal of `real` (`single`) or `double precision`, NaN and the infinities too. Raises ValueError."""
    word = text.strip()
    if special := _SPECIAL.get(word.lower()):
        return float(special)
    if not _NUMBER.fullmatch(word):
        raise ValueError(f"{short(text)} is not a number such as 1.5, 1e3, NaN or Infinity")
    value = float(word)
    with np.errstate(over="ignore", under="ignore"):
        stored = float(np.float32(value)) if single else value
    nonzero = any(digit in "123456789" for digit in word.lower().split("e")[0])
    if stored in (float("inf"), float("-inf")) or (nonzero and not stored):
        raise ValueError(f"{word} is beyond the range of {'real' if single else 'double precision'}")
    return stored


def show_float(value: float, *, single: bool = False) -> str:
    """The shortest digits that read back as the same value, with an exponent below 1e-4 and from 1e15 on (real: from
    1e6 on).

    >>> [show_float(x) for x in (3.14, 1e14, 1e15, 0.0001, 0.00001, -0.0, 1.5e-300, float("-inf"))]
    ['3.14', '100000000000000', '1e+15', '0.0001', '1e-05', '-0', '1.5e-300', '-Infinity']
    >>> [show_float(x, single=True) for x in (3.14, 999999, 1e6, 16777216)]
    ['3.14', '999999', '1e+06', '1.6777216e+07']
    >>> show_float(2e23)
    '1.9999999999999998e+23'
    """
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    sign, digits, exponent = _fewest(value, single).as_tuple()
    assert isinstance(exponent, int)
    significant = "".join(map(str, digits)).rstrip("0")
    minus = "-" if sign else ""
    if not significant:
        return minus + "0"
    # the value is d.ddd times ten to the power of `point`
    point = exponent + len(digits) - 1
    if not -4 <= point < (6 if single else 15):
        fraction = "." + significant[1:] if len(significant) > 1 else ""
        return f"{minus}{significant[0]}{fraction}e{'-' if point < 0 else '+'}{abs(point):02}"
    if point < 0:
        return f"{minus}0.{'0' * (-point - 1)}{significant}"
    if point + 1 >= len(significant):
        return minus + significant.ljust(point + 1, "0")
    return f"{minus}{significant[: point + 1]}.{significant[point + 1 :]}"


def _fewest(value: float, single: bool) -> Decimal:
    """The shortest number that is closer to the value than to any other value; a tie, such as 2e23, is not enough."""
    shortest = Decimal(str(np.float32(value)) if single else repr(float(value)))
    exact = Decimal(float(value))
    if shortest == exact or not value:
        return shortest
    if single:
        with np.errstate(over="ignore"):
            neighbour = float(np.nextafter(np.float32(value), np.float32("inf" if shortest > exact else "-inf")))
    else:
        neighbour = math.nextafter(value, math.inf if shortest > exact else -math.inf)
    with localcontext(prec=2_000):
        if not math.isfinite(neighbour) or shortest + shortest != exact + Decimal(neighbour):
            return shortest
        size = len(shortest.as_tuple().digits)
        return next(
            candidate
            for digits in range(size, 18)
            if (candidate := Decimal(f"{float(value):.{digits}e}")) + candidate != exact + Decimal(neighbour)
        )


def money(text: str) -> str:
    """An amount as PostgreSQL prints it in the locales C and en_US: `$1,234.56`, `-$0.01`. Raises ValueError.

    >>> money("1234.565"), money("-$5"), money("$1,000")
    ('$1,234.57', '-$5.00', '$1,000.00')
    """
    match = _MONEY.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{short(text)} is not an amount such as $1,234.56")
    number = Decimal(f"{match[3].replace(',', '')}.{match[4] or '0'}")
    cents = int(number.scaleb(2).quantize(Decimal(1), rounding=ROUND_HALF_UP))
    negative = bool(match[1] or match[2]) and cents > 0
    if cents > (1 << 63) - (not negative):
        raise ValueError(f"{text.strip()} is beyond the range of money")
    return f"{'-' if negative else ''}${cents // 100:,}.{cents % 100:02}"
