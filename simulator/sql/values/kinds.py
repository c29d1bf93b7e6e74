"""Values in expressions: Python's own for what MySQL has as well, a few kinds that it lacks, and what they become as
number, text, bytes and truth.

| MySQL | here |
| --- | --- |
| NULL, integers, decimals, doubles | None, int, Decimal, float |
| character strings, binary strings | str, bytes |
| x'01ff', b'101' | Raw: bytes that are a number among numbers |
| dates and times | Temporal |
| JSON | Document |
| geometries as stored | Shape |
| values of ENUM and SET columns | Label: the text with its number |
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Final

from simulator.sources.mysql import json as mysql_json
from simulator.sql.errors import Unsupported
from simulator.sql.values.documents import Document
from simulator.sql.values.temporal import Temporal

# The precision of calculations with decimals.
CONTEXT: Final = Context(prec=120)
MAX_DOUBLE: Final = 1.7976931348623157e308
# Maximal characters of a value in an error's text.
MAX_QUOTED: Final = 128
NUMBER: Final = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")


class Raw(bytes):
    """A hexadecimal or bit literal."""

    __slots__ = ()

    def number(self) -> int:
        return int.from_bytes(self, "big")


class Shape(bytes):
    """A stored geometry."""

    __slots__ = ()


class JsonText(str):
    """A value of a JSON column of MariaDB: a text that is parsed when it becomes part of a document."""

    __slots__ = ()


class ScaledDecimal(Decimal):
    """A decimal printed with `scale` digits behind the point, independent of its own: a quotient, an integer of
    COALESCE among decimals."""

    scale: int

    def __new__(cls, value: Decimal, scale: int) -> ScaledDecimal:
        decimal = super().__new__(cls, value)
        decimal.scale = scale
        return decimal


class Quotient(ScaledDecimal):
    """An average, or a zero that was calculated: in a column of text a server has other digits than in a text."""


class Single(float):
    """A value of a FLOAT column: printed with six digits."""

    __slots__ = ()


class FixedDouble(float):
    """A double printed with fixed digits behind the point: ROUND(x, 2), DOUBLE(9, 2)."""

    scale: int

    def __new__(cls, value: float, scale: int) -> FixedDouble:
        double = super().__new__(cls, value)
        double.scale = scale
        return double


class Blob(bytes):
    """A value of a BLOB column."""

    __slots__ = ()


class Label(str):
    """A value of an ENUM or SET column; in numeric context its number counts."""

    number: int

    def __new__(cls, text: str, number: int) -> Label:
        label = super().__new__(cls, text)
        label.number = number
        return label


class Padded(int):
    """A value of a ZEROFILL column: printed with leading zeros."""

    width: int

    def __new__(cls, value: int, width: int) -> Padded:
        padded = super().__new__(cls, value)
        padded.width = width
        return padded


class Bits(int):
    """A value of a BIT column: a number in numeric context, bytes in text context."""

    length: int

    def __new__(cls, value: int, length: int) -> Bits:
        bits = super().__new__(cls, value)
        bits.length = length
        return bits

    def raw(self) -> bytes:
        return int(self).to_bytes((self.length + 7) // 8, "big")


def number_of(value: Any) -> Any:
    """The value as int, Decimal or float; a text is the number at its beginning, as a double."""
    if isinstance(value, int | float | Decimal):
        return value
    if isinstance(value, Label):
        return value.number
    if isinstance(value, str):
        match = NUMBER.match(value)
        return max(-MAX_DOUBLE, min(MAX_DOUBLE, float(match[1]))) if match else 0.0
    if isinstance(value, Raw):
        return value.number()
    if isinstance(value, bytes):
        return number_of(value.decode("latin-1"))
    if isinstance(value, Temporal):
        number = value.number()
        if value.digits:
            fraction = Decimal(abs(value.us) % 1_000_000).scaleb(-6)
            return ScaledDecimal(number - fraction if value.us < 0 else number + fraction, value.digits)
        return number
    if isinstance(value, Document):
        inner = value.value
        return number_of(inner) if isinstance(inner, int | float | Decimal | str) else 0
    return 0


def text_of(value: Any) -> str:
    """The text of a value; bytes are read as UTF-8."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Bits):
        return value.raw().decode("utf-8", "replace")
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int):
        return str(value).zfill(value.width) if isinstance(value, Padded) else str(value)
    if isinstance(value, Decimal):
        return format(displayed_decimal(value), "f")
    if isinstance(value, float):
        if isinstance(value, FixedDouble):
            return f"{value:.{value.scale}f}"
        return mysql_json.plain_double(value, f"{value:.6g}" if isinstance(value, Single) else None)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Temporal | Document):
        return value.text()
    return ""


def scale_of(value: Any) -> int:
    """Printed digits behind the point."""
    if isinstance(value, ScaledDecimal):
        return value.scale
    exponent = Decimal(value).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def displayed_decimal(value: Decimal) -> Decimal:
    """A decimal with its printed digits."""
    if not isinstance(value, ScaledDecimal):
        return value
    rounded = value.quantize(Decimal(1).scaleb(-value.scale), rounding=ROUND_HALF_UP, context=CONTEXT)
    return rounded if rounded else abs(rounded)


def bytes_of(value: Any) -> bytes:
    if isinstance(value, bytes):
        return bytes(value)
    if isinstance(value, Bits):
        return value.raw()
    return text_of(value).encode("utf-8", "surrogatepass")


def latin1(raw: bytes) -> str:
    """MySQL's latin1: Windows-1252 with the five bytes that it leaves undefined."""
    return "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in raw)


def quoted_value(value: Any) -> str:
    """A value in an error's text: other bytes than ASCII as \\xFF, characters beyond the BMP as question marks."""
    if isinstance(value, bytes) and not isinstance(value, Bits):
        text = "".join(chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02X}" for byte in bytes(value)[:MAX_QUOTED])
    else:
        text = "".join(c if c <= "\uffff" else "?" for c in text_of(value))
    return text[:MAX_QUOTED]


def is_number(text: str) -> bool:
    """Whether the whole text is a number, as strict statements want it."""
    return NUMBER.fullmatch(text.strip()) is not None


def truth_of(value: Any) -> bool | None:
    """A value as a condition. Raises Unsupported for values that servers and clauses treat differently."""
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str) and not isinstance(value, Label):
        raise Unsupported(f"the text {value[:20]!r} as a condition")
    if isinstance(value, bytes):
        raise Unsupported("bytes as a condition")
    if isinstance(value, Document) and value.way != "mariadb":
        number = isinstance(value.value, int | float | Decimal) and not isinstance(value.value, bool)
        if not number:
            raise Unsupported("a JSON document that is no number as a condition")
    number = number_of(value)
    if 0 < abs(number) < 1:  # true, except in WHERE of MySQL 5.7
        raise Unsupported("a fraction below one as a condition")
    return bool(number)
