"""MySQL's JSON documents: any JSON text becomes the text that MySQL stores and prints.

Keys stand in MySQL's order (by length in bytes, then by bytes), separators are `, ` and `: `, doubles are in MySQL's
notation. Numbers are read as MySQL reads them, whose parser may be off in the last place.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

from simulator.errors import short
from simulator.sources import json_tree
from simulator.text.json_style import ESCAPES

MAX_DEPTH: Final = 100


def normalise(text: str, *, duplicates: str = "last") -> str:
    r"""The text that MySQL prints for a JSON text. `duplicates`: which value of a repeated key stays (5.7: first).

    >>> normalise('{"b" : 1, "aa":[1.0,null,"x"], "a":1e20, "b":2}')
    '{"a": 1e20, "b": 2, "aa": [1.0, null, "x"]}'
    >>> normalise('12345678901.123456789')
    '12345678901.123455'
    """

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        return dict(members if duplicates == "last" else members[::-1])

    try:
        value = json.loads(text, parse_int=number, parse_float=number, parse_constant=_refuse, object_pairs_hook=pairs)
    except RecursionError:
        raise ValueError(f"a JSON document is nested {MAX_DEPTH} deep at most") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{short(text)} is not a JSON text: {error.msg} at character {error.pos}") from None
    return write(value)


def write(value: Any) -> str:
    """MySQL's text of a value that JSON itself has. Raises ValueError for one that MySQL cannot hold."""
    if _levels(value) > MAX_DEPTH:
        raise ValueError(f"a JSON document is nested {MAX_DEPTH} deep at most")
    return json_tree.write(value, _leaf, key=_leaf, order=json_tree.by_length)


def _levels(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_levels, inner), default=0)


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON value")


def _leaf(value: Any) -> str:
    if isinstance(value, float):
        return double_text(value)
    if not isinstance(value, str):
        return json.dumps(value)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("a JSON string holds half a surrogate pair") from None
    return f'"{value.translate(ESCAPES)}"'


_NUMBER: Final = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?")


def number(text: str) -> int | float:
    """A JSON number as MySQL reads it: an integer of 64 bits (signed or not) or a double.

    Doubles are made as RapidJSON makes them without its full-precision flag: digits are gathered in a 64-bit integer
    while they fit in 53 bits, then in the double, up to 17 significant ones; then one multiplication or division by a
    power of ten.

    >>> number("18446744073709551615"), number("-9223372036854775809")
    (18446744073709551615, -9.223372036854776e+18)
    >>> number("123456789012345678901234567890")
    1.2345678901234566e+29
    """
    match = _NUMBER.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is not a JSON number")
    sign, digits, fraction, exponent = match[1], match[2], match[3], match[4]
    integer = int(digits)
    if fraction is None and exponent is None and integer <= (1 << 63 if sign else (1 << 64) - 1):
        return -integer if sign else integer
    value = _rapid(digits, fraction or "", int(exponent or 0), bool(sign))
    if math.isinf(value):
        raise ValueError(f"{text} is beyond the range of a double")
    return -value if sign else value


def _rapid(integer: str, fraction: str, exponent: int, negative: bool) -> float:
    limit = 1 << 63 if negative else (1 << 64) - 1
    gathered, significant, shift, position = 0, -1, 0, 0
    for digit in integer:
        if gathered * 10 + int(digit) > limit:
            break
        gathered = gathered * 10 + int(digit)
        significant += 1
        position += 1
    value = float(gathered)
    for digit in integer[position:]:
        value = value * 10.0 + int(digit)
    remaining = fraction
    if position == len(integer):
        for digit in fraction:
            if gathered > (1 << 53) - 1:
                break
            gathered = gathered * 10 + int(digit)
            shift -= 1
            significant += gathered != 0
        value = float(gathered)
        remaining = fraction[-shift:] if shift else fraction
    for digit in remaining:
        if significant < 17:
            value = value * 10.0 + int(digit)
            shift -= 1
            significant += value > 0.0
    power = exponent + shift
    if power > 308:
        # RapidJSON refuses these ("number too big"), whatever the digits
        return math.inf if value else 0.0
    if power < -308:
        return value / 1e308 / float(f"1e{min(-power - 308, 308)}") if power >= -616 else 0.0
    return value * float(f"1e{power}") if power >= 0 else value / float(f"1e{-power}")


def double_text(value: float) -> str:
    """A double as MySQL prints it in JSON: shortest digits; plain from 1e-15 to below 1e15, then `1.5e20`.

    Rules of MySQL's my_gcvt; a `.0` marks whole numbers as doubles.

    >>> [double_text(x) for x in (1.0, -0.0, 1e20, 1.5e-20, 1e-7, 1e14, 1e15, 1234567890123456.7)]
    ['1.0', '-0.0', '1e20', '1.5e-20', '0.0000001', '100000000000000.0', '1e15', '1234567890123456.8']
    """
    text = plain_double(value)
    return text if "." in text or "e" in text else text + ".0"


def plain_double(value: float, digits: str | None = None) -> str:
    """A double as MySQL's client shows it: `1`, `1.5`, `1e20`. `digits`: another repr to take the digits from."""
    mantissa, _, exponent = (digits or repr(float(value))).partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    integer, _, fraction = mantissa.lstrip("-").partition(".")
    significant = (integer + fraction).lstrip("0")
    if not significant:
        return sign + "0"
    # the value is 0.shown times ten to the power of `point`
    point = len(integer) + int(exponent or 0) - (len(integer + fraction) - len(significant))
    significant = significant.rstrip("0")
    if point < -14 or (point > 15 and len(significant) <= point):
        return f"{sign}{significant[0]}{'.' if len(significant) > 1 else ''}{significant[1:]}e{point - 1}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{significant}"
    if point >= len(significant):
        return sign + significant.ljust(point, "0")
    return f"{sign}{significant[:point]}.{significant[point:]}"
