"""Values as Java prints them: doubles and floats by the algorithm of JDK 18 and older, bytes as ISO-8859-1 characters
or as a list of numbers.

Up to JDK 18 `Double.toString` is FloatingDecimal, whose digits are not always the shortest that identify the value:
2e23 is printed 1.9999999999999998E23. JDK 19 changed that; the products imitated here ran on older ones.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.carriers import numbers
from simulator.native.draws import decimals
from simulator.native.program import Kind, Program, cells, compiled
from simulator.text.bytewise import LATIN1, Mapped, mapped
from simulator.text.template import Compound, Joined, Piece, join, nulls_of

# Bits of 5 to the power of the index (FloatingDecimal.N_5_BITS), a table that ends at 26.
_BITS_OF_5: Final = tuple((5**power).bit_length() if power else 0 for power in range(27))
_FRACTION_BITS: Final = 52
_HIDDEN_BIT: Final = 1 << 52


def double_text(array: pa.Array) -> pa.Array:
    """Double.toString of JDK 8 to 18 for each value. Null stays null.

    | value | text | value | text |
    | --- | --- | --- | --- |
    | 1 | `1.0` | 12510357 | `1.2510357E7` |
    | 0.001 | `0.001` | 0.0009999 | `9.999E-4` |
    | -0.0 | `-0.0` | 2e23 | `1.9999999999999998E23` |
    | 9999999 | `9999999.0` | 1e7 | `1.0E7` |
    | 4.9e-324 | `4.9E-324` | infinite, none | `Infinity`, `NaN` |

    >>> double_text(pa.array([1.0, 12510357.0, -0.0, 2e23, None])).to_pylist()
    ['1.0', '1.2510357E7', '-0.0', '1.9999999999999998E23', None]
    """
    return _texts(array, np.float64)


def float_text(array: pa.Array) -> pa.Array:
    """Float.toString of JDK 8 to 18 for each value of a float32 array. Null stays null.

    >>> float_text(pa.array([3.14, 123456789.0, 16777217.0, 1e-45], type=pa.float32())).to_pylist()
    ['3.14', '1.23456792E8', '1.6777216E7', '1.4E-45']
    """
    return _texts(array, np.float32)


def double_string(value: float) -> str:
    """`double_text` of one value.

    From 0.001 to below 10 million, where Java writes no exponent, the shortest text is that of the old algorithm, too,
    if it has k decimals with 10^-k greater than the distance to the next float: then no other number of k or fewer
    decimals lies within half that distance, so the old algorithm, which stops at the first number it finds there, finds
    this one; and it is not exactly between two floats, since a multiple of 10^-k that is a dyadic fraction is a
    multiple of 2^-k, hence a float itself.

    >>> [double_string(value) for value in (0.1, 9999999.0, 1e7, 2e-3, -0.0)]
    ['0.1', '9999999.0', '1.0E7', '0.002', '-0.0']
    """
    size = abs(value)
    if 1e-3 <= size < 1e7:
        text = repr(value)
        if (
            math.ulp(size) < 0.1 ** (len(text) - text.index(".") - 1) * 0.999
        ):  # a hair less: the power is rounded itself
            return text
    return _of_bits(struct.unpack("<Q", struct.pack("<d", value))[0], _FRACTION_BITS, 11)


def _texts(array: pa.Array, dtype: type[np.floating[Any]]) -> pa.Array:
    if not len(array):
        return pa.array([], type=pa.string())
    values = numbers(array)
    if compiled():
        text, easy = _written(array, values)
    else:
        text, easy = pa.nulls(len(array), pa.string()), np.zeros(len(array), dtype=np.bool_)
    if easy.all():
        return text
    if array.null_count:
        easy |= array.is_null().to_numpy(zero_copy_only=False)
    hard = ~easy
    # The bits, not the values, tell 0.0 from -0.0 and are equal to themselves.
    bits = values[hard].view(np.uint64 if dtype is np.float64 else np.uint32)
    distinct, inverse = np.unique(bits, return_inverse=True)
    if dtype is np.float64:
        texts = [double_string(value) for value in distinct.view(np.float64).tolist()]
    else:
        texts = [_of_bits(value, 23, 8) for value in distinct.tolist()]
    slow = pa.array(texts, type=pa.string()).take(pa.array(inverse))
    return pc.replace_with_mask(text, pa.array(hard), slow)


@dataclass(frozen=True, slots=True, eq=False)
class _Scaled(Compound):
    """Pairs of a number and its scale as decimals, as the library writes them."""

    pairs: npt.NDArray[np.int64]
    nulls: npt.NDArray[np.bool_] | None

    def column(self) -> pa.Array:
        raise TypeError("only the library writes these")

    def add_to(self, program: Program) -> None:
        data = pa.py_buffer(self.pairs)
        program.numbers(pa.Array.from_buffers(pa.binary(16), len(self.pairs), [None, data]), Kind.SCALED)


def _written(array: pa.Array, values: npt.NDArray[np.floating[Any]]) -> tuple[pa.Array, npt.NDArray[np.bool_]]:
    """Texts by the library, which looks for the fewest decimals that read back as the same value, and where they are
    surely those of the old algorithm (see `double_string`)."""
    pairs, easy = decimals(values)
    return join([_Scaled(pairs, nulls_of([array]))], len(array)), easy


def _of_bits(bits: int, fraction_bits: int, exponent_bits: int) -> str:
    hidden, infinite = 1 << fraction_bits, (1 << exponent_bits) - 1
    sign = "-" if bits >> fraction_bits + exponent_bits else ""
    exponent, fraction = bits >> fraction_bits & infinite, bits & hidden - 1
    if exponent == infinite:
        return "NaN" if fraction else sign + "Infinity"
    if not exponent and not fraction:
        return sign + "0.0"
    if exponent:
        fraction, shift = fraction | hidden, 0
    else:
        shift = fraction_bits + 1 - fraction.bit_length()
    significant = fraction.bit_length()
    digits = _digits(
        (exponent or 1) - shift - (infinite >> 1), fraction << shift + _FRACTION_BITS - fraction_bits, significant
    )
    return sign + _text(*digits)


def _text(point: int, digits: str) -> str:
    """The digits, with the decimal point after the first `point` of them, as Java lays them out."""
    if 0 < point < 8:
        return f"{digits[:point].ljust(point, '0')}.{digits[point:] or '0'}"
    if -3 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    return f"{digits[0]}.{digits[1:] or '0'}E{point - 1}"


def _digits(exponent: int, fraction: int, significant: int) -> tuple[int, str]:
    """FloatingDecimal.BinaryToASCIIBuffer.dtoa: (place of the decimal point, digits).

    `fraction` has its highest bit at 2^52; the value is fraction / 2^52 · 2^exponent, and `significant`
    of its bits count.
    """
    tail = (fraction & -fraction).bit_length() - 1
    bits = _FRACTION_BITS + 1 - tail
    # bits to the right of the binary point
    tiny = max(0, bits - exponent - 1)
    if -21 <= exponent <= 62 and tiny == 0:
        insignificant = _insignificant(exponent - significant - 1) if exponent > significant else 0
        shift = exponent - _FRACTION_BITS
        return _whole_digits(fraction << shift if shift >= 0 else fraction >> -shift, insignificant)
    return _fraction_digits(exponent, fraction >> tail, bits, tiny, significant)


def _insignificant(power: int) -> int:
    """insignificantDigitsForPow2: how many decimal digits 2^power has, but for the first."""
    return len(str(1 << power)) - 1 if 1 < power < 64 else 0


def _whole_digits(value: int, insignificant: int) -> tuple[int, str]:
    """developLongDigits: a whole number without its insignificant digits."""
    if insignificant:
        power = 10**insignificant
        value, remainder = divmod(value, power)
        value += remainder >= power >> 1
    text = str(value)
    return len(text) + insignificant, text.rstrip("0")


def _fraction_digits(exponent: int, fraction: int, bits: int, tiny: int, significant: int) -> tuple[int, str]:
    """The hard case: value = B / S · 10^place, and M is half the distance to the next float, scaled like B.

    Digits are taken off B / S until what is left is within M of a digit's end.
    """
    exponent_of_ten = _estimate(fraction, bits, exponent)
    fives_b = max(0, -exponent_of_ten)
    twos_b = fives_b + tiny + exponent
    fives_s = max(0, exponent_of_ten)
    twos_s = fives_s + tiny
    twos_m = twos_b - significant
    twos_b -= bits - 1
    common = min(twos_b, twos_s)
    twos_b, twos_s, twos_m = twos_b - common, twos_s - common, twos_m - common
    if bits == 1:
        # a power of two: the next smaller number is only half as far away
        twos_m -= 1
    if twos_m < 0:
        twos_b, twos_s, twos_m = twos_b - twos_m, twos_s - twos_m, 0
    width_b = bits + twos_b + (_BITS_OF_5[fives_b] if fives_b < len(_BITS_OF_5) else fives_b * 3)
    width_s = twos_s + 1 + (_BITS_OF_5[fives_s + 1] if fives_s + 1 < len(_BITS_OF_5) else (fives_s + 1) * 3)
    # Java takes int or long arithmetic where it fits: M may overflow there, and ties are decided differently.
    width = (32 if width_b < 32 and width_s < 32 else 64) if width_b < 64 and width_s < 64 else 0
    b = fraction * 5**fives_b << twos_b
    s = 5**fives_s << twos_s
    m = 5**fives_b << twos_m
    return _take_digits(b, s, m, exponent_of_ten, width)


def _take_digits(b: int, s: int, m: int, exponent_of_ten: int, width: int) -> tuple[int, str]:
    tens = s * 10
    digit, b = divmod(b, s)
    b, m = b * 10, _wrapped(m * 10, width)
    low, high = b < m, _is_high(b, m, tens, width)
    digits: list[int] = []
    if digit == 0 and not high:
        # the estimate was one too high
        exponent_of_ten -= 1
    else:
        digits.append(digit)
    if exponent_of_ten < -3 or exponent_of_ten >= 8:
        # the form with an exponent always has a digit after the point
        low = high = False
    while not low and not high:
        digit, b = divmod(b, s)
        b, m = b * 10, _wrapped(m * 10, width)
        if width and m <= 0:
            low = high = True
        else:
            low, high = b < m, _is_high(b, m, tens, width)
        digits.append(digit)
    if high and (not low or _rounds_up(_wrapped(2 * b - tens, width), digits[-1])):
        return _rounded_up(exponent_of_ten, digits)
    return exponent_of_ten + 1, "".join(map(str, digits))


def _wrapped(value: int, width: int) -> int:
    """Two's complement of an int or a long; any size at all if `width` is 0."""
    if not width:
        return value
    value &= (1 << width) - 1
    return value - (1 << width) if value >> width - 1 else value


def _is_high(b: int, m: int, tens: int, width: int) -> bool:
    return _wrapped(b + m, width) > tens if width else b + m >= tens


def _rounds_up(difference: int, last_digit: int) -> bool:
    return difference > 0 or (difference == 0 and last_digit % 2 == 1)


def _rounded_up(exponent_of_ten: int, digits: list[int]) -> tuple[int, str]:
    """roundup: trailing nines carry into the digit before them; all nines become the next power of ten."""
    last = len(digits) - 1
    while last > 0 and digits[last] == 9:
        digits[last] = 0
        last -= 1
    if digits[last] == 9:
        return exponent_of_ten + 2, "1" + "0" * (len(digits) - 1)
    digits[last] += 1
    return exponent_of_ten + 1, "".join(map(str, digits))


def _estimate(fraction: int, bits: int, exponent: int) -> int:
    """estimateDecExp: floor of about log10 of the value, one too high at times."""
    mantissa = fraction << _FRACTION_BITS + 1 - bits
    scaled: float = struct.unpack("<d", struct.pack("<Q", 1023 << 52 | mantissa & _HIDDEN_BIT - 1))[0]
    return math.floor((scaled - 1.5) * 0.289529654 + 0.176091259 + exponent * 0.301029995663981)


def latin1(array: pa.Array) -> pa.Array:
    r"""Bytes as the characters of ISO-8859-1, byte b as U+00bb: `new String(bytes, ISO_8859_1)`. Null stays null.

    Of a dictionary array only the dictionary is decoded, and it stays one.

    >>> latin1(pa.array([b"abc", b"\x00\xff", None])).to_pylist()
    ['abc', '\x00ÿ', None]
    """
    return mapped(array, LATIN1)


_LISTED: Final = cells(f", {number - 256 if number > 127 else number}" for number in range(256))


def byte_list(array: pa.Array) -> pa.Array:
    r"""Arrays.toString of bytes: signed numbers. Null stays null; of a dictionary array only the dictionary is printed.

    >>> byte_list(pa.array([b"jg", b"", b"\x00\x80\xff", None])).to_pylist()
    ['[106, 103]', '[]', '[0, -128, -1]', None]
    """
    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, byte_list(array.dictionary))
    return join([byte_list_piece(array)], len(array))


def byte_list_piece(array: pa.Array) -> Piece:
    """The text of `byte_list` as a piece."""
    return Joined(["[", Mapped(array, _LISTED, skip=len(", ")), "]"], len(array))
