"""Columns of numbers as java.math.BigDecimal prints them: `toString` and `toPlainString`.

With `scale` digits after the point and `adjusted` = digits - 1 - scale, `toString` is plain while scale >= 0 and
adjusted >= -6, and `d.dddE±n` otherwise. It is the algorithm of Python's `str(Decimal)`, except that BigDecimal has no
negative zero.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.carriers import is_narrow, numbers, unscaled
from simulator.model import ColumnType
from simulator.text import decimals
from simulator.text.template import Piece, constant, join

# Scales up to this are always plain.
_PLAIN_SCALE: Final = 6
# Digits that java.math.MathContext.DECIMAL32 and DECIMAL64 keep, which round half to even.
DECIMAL32: Final = 7
DECIMAL64: Final = 16
_UNUSED: Final = ColumnType("decimal")


def text(number: Decimal, *, plain: bool = False) -> str:
    """One number.

    >>> [text(Decimal(n)) for n in ("12.3400", "0.0000000", "0.0000001000", "0.000001", "-0.00", "1E+20", "1E-130")]
    ['12.3400', '0E-7', '1.000E-7', '0.000001', '0.00', '1E+20', '1E-130']
    >>> [text(Decimal(n), plain=True) for n in ("0E-7", "1.000E-7", "1E+20")]
    ['0.0000000', '0.0000001000', '100000000000000000000']
    """
    if not number:
        number = number.copy_abs()
    return format(number, "f") if plain else str(number)


def decimal_text(array: pa.Array) -> pa.Array:
    """`new BigDecimal(unscaled, scale).toString()` of each value of a decimal column. Null stays null.

    >>> column = pa.array([Decimal("0"), Decimal("0.0000001"), Decimal("12.3"), None], pa.decimal128(12, 7))
    >>> decimal_text(column).to_pylist()
    ['0E-7', '1E-7', '12.3000000', None]
    """
    return join([decimal_piece(array)], len(array))


def decimal_piece(array: pa.Array) -> Piece:
    """The text of `decimal_text`, to be joined with more; null where the value is."""
    scale = array.type.scale
    if scale <= _PLAIN_SCALE:
        return decimals.decimal_piece(array, grouped=False)
    if not is_narrow(array):
        return _distinct(array, text)
    small = np.abs(unscaled(array)) < 10 ** (scale - _PLAIN_SCALE)
    small &= np.asarray(array.is_valid())
    if not small.any():
        return decimals.decimal_piece(array, grouped=False)
    plain = decimals.decimal_plain(array, _UNUSED)
    return pc.replace_with_mask(plain, pa.array(small), _distinct(array.filter(pa.array(small)), text))


def number_text(array: pa.Array, *, plain: bool = False) -> pa.Array:
    """`new BigDecimal(text).toString()`, or `toPlainString`, of a column of decimal texts. Null stays null.

    >>> number_text(pa.array(["1e-130", "42", "-0.00", None])).to_pylist()
    ['1E-130', '42', '0.00', None]
    """
    return _distinct(array, lambda value: text(Decimal(value), plain=plain))


def float_text(array: pa.Array, digits: int, *, plain: bool = False) -> pa.Array:
    """A float or double as the BigDecimal of its shortest decimal text, rounded half to even to this many digits.

    Below 1e15 that text has no exponent, and whole numbers have no scale; from 1e15 on it has one. `NaN`, `Infinity`
    and `-Infinity` stay.

    | value | digits | toString | plain |
    | --- | --- | --- | --- |
    | 1.2222, 100, -0.0 | 16 | `1.2222`, `100`, `0` | the same |
    | 16777216 | 7 | `1.677722E+7` | `16777220` |
    | 100000000 | 7 | `1.000000E+8` | `100000000` |
    | 1e10, 1e15 | 16 | `10000000000`, `1E+15` | `10000000000`, `1000000000000000` |
    | 1e-7 | 16 | `1E-7` | `0.0000001` |
    """
    if not len(array):
        return pa.array([], pa.string())
    values, shortest = numbers(array), pc.cast(array, pa.string())
    hard = ~_easy(values, shortest, digits) & np.asarray(array.is_valid())
    if not hard.any():
        return shortest
    context = Context(prec=digits, rounding=ROUND_HALF_EVEN)
    slow = _distinct(shortest.filter(pa.array(hard)), lambda value: _rounded(value, context, plain))
    return pc.replace_with_mask(shortest, pa.array(hard), slow)


def _easy(values: npt.NDArray[Any], shortest: pa.Array, digits: int) -> npt.NDArray[np.bool_]:
    """Mask of values whose shortest text by Arrow is already right: it has no exponent and at most `digits` digits."""
    with np.errstate(invalid="ignore"):
        size = np.abs(values)
        finite = (size >= 1e-6) & (size < 1e9)
        length = np.asarray(pc.fill_null(pc.binary_length(shortest), 0)).astype(np.int64)
        # a sign, a point and the zero before a point are no digits; further zeros only make the count too high
        marks = (
            (values < 0).astype(np.int64)
            + (size < 1)
            + np.asarray(pc.fill_null(pc.match_substring(shortest, "."), False))
        )
    zero = (values == 0) & ~np.signbit(values)
    easy: npt.NDArray[np.bool_] = (finite & (length - marks <= digits)) | zero
    return easy


def _rounded(shortest: str, context: Context, plain: bool) -> str:
    number = Decimal(shortest)
    if not number.is_finite():
        return "NaN" if number.is_nan() else str(number)
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    if exponent > 0 and number.adjusted() < 15:
        number = number.quantize(Decimal(1))
    return text(context.plus(number), plain=plain)


def _distinct(array: pa.Array, text_of: Callable[[Any], str]) -> pa.Array:
    """Texts made one by one, once for each distinct value; a dictionary array stays one."""
    encoded = array if pa.types.is_dictionary(array.type) else decoded(array).dictionary_encode()
    texts = [None if value is None else text_of(value) for value in encoded.dictionary.to_pylist()]
    distinct_texts = pa.array(texts, pa.string())
    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, distinct_texts)
    return distinct_texts.take(encoded.indices)


def quoted_where_none(texts: pa.Array) -> pa.Array:
    """Texts of `float_text`; those that are not JSON numbers are quoted: `"NaN"`."""
    odd = pc.fill_null(pc.match_substring_regex(texts, "^(NaN|-?Infinity)$"), False)
    if not pc.any(odd).as_py():
        return texts
    return pc.if_else(odd, pc.binary_join_element_wise(constant('"'), texts, constant('"'), constant("")), texts)
