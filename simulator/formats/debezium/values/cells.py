"""JSON of carriers, as Kafka Connect's converter writes its types. Null stays null."""

from __future__ import annotations

import base64 as library
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import MAX_PREC, Context, Decimal
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.carriers import as_integers, is_narrow, numbers, primitive
from simulator.formats.debezium.schema import Schema
from simulator.model import ColumnType
from simulator.native.program import cells
from simulator.partial_dates import are_partial, are_partial_days
from simulator.text.base64 import Base64, SignedBase64, base64
from simulator.text.bytewise import mapped
from simulator.text.columns import distinct_text, nulls_of
from simulator.text.decimals import decimal_piece, decimal_plain
from simulator.text.java import numbers as java
from simulator.wire.fields import Cell

LOWER_HEX: Final = cells(f"{byte:02x}" for byte in range(256))
_DECIMAL: Final = ColumnType("decimal")
Column = Callable[[pa.Array], pa.Array]


@dataclass(frozen=True)
class Converted:
    """A column in Connect: its schema, and the writer of its values."""

    schema: Schema
    cell: Cell


def finished(schema: Schema, cell: Cell, *, nullable: bool, default: str, absent: str) -> Converted:
    """A table's column. Nulls are written as the schema's default; in a NOT NULL column, as the replacement of a value
    that the log cannot give. Some types are optional in any column."""
    schema = replace(schema, optional=nullable or schema.optional, default=default)
    return Converted(schema, replace(cell, null=default or ("null" if schema.optional else absent)))


def number_cell(of: Column) -> Cell:
    """Writer of integers that a function makes from carriers."""
    return Cell(lambda array: of(decoded(array)).cast(pa.string()), quoted=False, piece=of)


def text_cell(of: Column, *, escaped: bool = False, quoted: bool = True) -> Cell:
    return Cell(lambda array: of(decoded(array)), quoted=quoted, escaped=escaped)


def value_cell(of: Callable[[Any], str | None], *, escaped: bool = False, quoted: bool = True) -> Cell:
    """Writer of the texts that a function makes of single values; it is called once per distinct value."""
    return text_cell(lambda array: distinct_text(array, of), escaped=escaped, quoted=quoted)


def whole(array: pa.Array) -> pa.Array:
    """Integers as signed 64-bit numbers: the greatest unsigned one is -1."""
    return array.view(pa.int64()) if pa.types.is_uint64(array.type) else array


WHOLE: Final = number_cell(whole)
BOOLEAN: Final = Cell(
    lambda array: pc.if_else(pc.not_equal(decoded(array).cast(pa.int64()), 0), "true", "false"), quoted=False
)
STRING: Final = Cell(lambda array: array, escaped=True)
_FLOATS: Final = pa.array(["NaN", "Infinity", "-Infinity"])


def _quoted_words(texts: pa.Array) -> pa.Array:
    """Puts NaN and infinity in quotes."""
    words = pc.is_in(texts, _FLOATS)
    return (
        pc.if_else(words, pc.binary_join_element_wise('"', texts, '"', ""), texts) if pc.any(words).as_py() else texts
    )


def float_text(array: pa.Array) -> pa.Array:
    return _quoted_words(java.float_text(array.cast(pa.float32())))


def double_text(array: pa.Array) -> pa.Array:
    return _quoted_words(java.double_text(array.cast(pa.float64())))


FLOAT: Final = text_cell(float_text, quoted=False)
DOUBLE: Final = text_cell(double_text, quoted=False)


# ------------------------------------------------------------------------------------------------------------ decimals


def precise(array: pa.Array) -> Base64 | SignedBase64:
    """The unscaled numbers of decimals, or whole numbers, as bytes in Base64.

    >>> precise(pa.array([None], pa.decimal256(65, 30))).column().to_pylist()
    [None]
    """
    if pa.types.is_decimal(array.type) and not (pa.types.is_decimal128(array.type) and is_narrow(array)):
        scale = array.type.scale
        values = [None if value is None else unscaled_bytes(value, scale) for value in array.to_pylist()]
    elif pa.types.is_uint64(array.type):
        values = [None if value is None else number_bytes(value) for value in array.to_pylist()]
    else:
        return SignedBase64(array)
    return Base64(pa.array(values, pa.binary()))


def unscaled_bytes(value: Decimal, scale: int) -> bytes:
    sign, digits, exponent = value.as_tuple()
    number, shift = int("".join(map(str, digits)) or "0"), scale + int(exponent)
    number = number * 10**shift if shift >= 0 else number // 10**-shift
    return number_bytes(-number if sign else number)


_EXACT: Final = Context(prec=MAX_PREC)


def variable_scale(number: Decimal) -> str:
    """A VariableScaleDecimal: the number without trailing zeros.

    >>> variable_scale(Decimal("123.4500"))
    '{"scale":2,"value":"MDk="}'
    """
    exponent = _EXACT.normalize(number).as_tuple().exponent
    scale = max(0, -int(exponent))
    return f'{{"scale":{scale},"value":"{base64_of(unscaled_bytes(number, scale))}"}}'


def number_bytes(number: int) -> bytes:
    """Two's complement, big-endian, in the fewest bytes.

    >>> number_bytes(0).hex(), number_bytes(-1).hex(), number_bytes(255).hex()
    ('00', 'ff', '00ff')
    """
    size = (number if number >= 0 else ~number).bit_length() // 8 + 1
    return number.to_bytes(size, "big", signed=True)


def base64_of(value: bytes) -> str:
    return library.b64encode(value).decode()


DECIMAL: Final = Cell(lambda array: precise(decoded(array)).column(), piece=precise)


def decimal_double(array: pa.Array) -> pa.Array:
    return double_text(pa.array([None if value is None else float(value) for value in array.to_pylist()], pa.float64()))


def decimal_cell(mode: str, *, numeric: bool = False) -> Cell:
    """Writer of decimals by `decimal.handling.mode`; `numeric`: the converter writes precise ones as numbers."""
    if mode == "double":
        return text_cell(decimal_double, quoted=False)
    if mode == "precise" and not numeric:
        return DECIMAL
    return Cell(
        lambda array: decimal_plain(decoded(array), _DECIMAL),
        quoted=mode == "string",
        piece=lambda array: decimal_piece(array, grouped=False),
    )


# --------------------------------------------------------------------------------------------------------------- bytes


def url_safe(array: pa.Array) -> pa.Array:
    return pc.replace_substring(pc.replace_substring(base64(array), "+", "-"), "/", "_")


def binary_cell(mode: str, of: Column = lambda array: array) -> Cell:
    """Writer of bytes by `binary.handling.mode`; the converter itself writes bytes as Base64."""
    if mode == "hex":
        return text_cell(lambda array: mapped(of(array), LOWER_HEX))
    if mode == "base64-url-safe":
        return text_cell(lambda array: url_safe(of(array)))
    return Cell(lambda array: base64(of(decoded(array))), piece=lambda array: Base64(of(array)))


def binary_schema(mode: str) -> Schema:
    return Schema("bytes" if mode == "bytes" else "string")


# ----------------------------------------------------------------------------------------------------- dates and times


def real_days(array: pa.Array) -> pa.Array:
    """Days since 1970; null for an invalid date such as 2020-00-00."""
    days = as_integers(array).cast(pa.int64())
    return _real(days, are_partial_days(numbers(days)))


def real_us(array: pa.Array) -> pa.Array:
    """Microseconds since 1970; null for an invalid date."""
    us = as_integers(array)
    return _real(us, are_partial(numbers(us)))


def _real(values: pa.Array, partial: npt.NDArray[np.bool_]) -> pa.Array:
    if not partial.any():
        return values
    nulls = nulls_of(values)
    return primitive(numbers(values), pa.int64(), partial if nulls is None else partial | nulls)


def scaled(values: pa.Array, *, divisor: int = 1, factor: int = 1) -> pa.Array:
    """Integers divided (rounded down) or multiplied."""
    raw = numbers(values)
    return primitive(raw // divisor * factor, pa.int64(), nulls_of(values))
