"""Check digits of numbers, which are arrays of digits: a row is a number, a column a digit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.values.draw import GOLDEN, Bits, Ints, below, mix
from simulator.values.texts import strings

Digits = npt.NDArray[np.int64]


def drawn(draws: Bits, count: int) -> Digits:
    """`count` random digits for each draw."""
    return np.stack(
        [below(mix(draws + np.uint64((position + 1) * int(GOLDEN) & (1 << 64) - 1)), 10) for position in range(count)],
        axis=1,
    )


def constant(text: str, rows: int) -> Digits:
    """The same digits in each row."""
    return np.tile(np.array([int(digit) for digit in text], dtype=np.int64), (rows, 1))


def weighted(digits: Digits, weights: Sequence[int]) -> Ints:
    """The sums of digits times weights."""
    sums: Ints = digits @ np.array(weights, dtype=np.int64)
    return sums


def remainder_97(digits: Digits) -> Ints:
    """The numbers modulo 97 (ISO 7064)."""
    weights = [pow(10, exponent, 97) for exponent in reversed(range(digits.shape[1]))]
    return weighted(digits, weights) % 97


def luhn(digits: Digits) -> Ints:
    """The check digit to append by Luhn's rule, as on payment cards (ISO/IEC 7812-1)."""
    doubled = digits.copy()
    doubled[:, ::-2] = digits[:, ::-2] * 2
    check: Ints = -(doubled // 10 + doubled % 10).sum(axis=1) % 10
    return check


def ean(digits: Digits) -> Ints:
    """The check digit of article numbers: EAN-13 and EAN-8 (GTIN)."""
    weights = [3 if position % 2 == 0 else 1 for position in reversed(range(digits.shape[1]))]
    return -weighted(digits, weights) % 10


def numbers(text: str) -> str:
    """Letters as the two digits that ISO 13616 gives them: A is 10.

    >>> numbers("DE00"), numbers("ES00")
    ('131400', '142800')
    """
    return "".join(str(int(character, 36)) for character in text)


def checked(draws: Bits, prefix: str, length: int, check: Callable[[Digits], Ints]) -> pa.Array:
    """Texts of `length` digits: the prefix, random ones, and the check digit of these."""
    digits = np.hstack([constant(prefix, len(draws)), drawn(draws, length - 1 - len(prefix))])
    return texts(np.column_stack([digits, check(digits)]))


def texts(digits: Digits) -> pa.Array:
    """The digits as text."""
    return strings((digits + ord("0")).astype(np.uint8))
