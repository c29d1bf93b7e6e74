"""Random numbers without state: the draw for a row is a hash of its counters, computed on whole arrays.

Everything here is arithmetic on uint64 with wrap-around, so the same counters give the same draw in any process, in
any order, on any platform. The finaliser is SplitMix64's (Steele, Lea, Flood: "Fast splittable pseudorandom number
generators", 2014).
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]

# Distance between the row numbers of one life of a slot and those of the next.
LIFE: Final = 0x100000001
GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_M1: Final = np.uint64(0xBF58476D1CE4E5B9)
_M2: Final = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)


def key(*parts: object) -> np.uint64:
    """A 64-bit key from names and numbers: `key(seed, "orders", "qty")`. Independent of Python's own hash."""
    text = "\x1f".join(str(part) for part in parts)
    return np.uint64(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little"))


def mix(x: Bits) -> Bits:
    """SplitMix64's finaliser, in place on a fresh array: every input bit reaches every output bit."""
    x = x ^ (x >> _S30)
    x *= _M1
    x ^= x >> _S27
    x *= _M2
    x ^= x >> _S31
    return x


def bits(key: np.uint64, counter: npt.NDArray[Any]) -> Bits:
    """64 random bits per counter."""
    return mix(_unsigned(counter) * GOLDEN + key)


def identity(slot: Ints, life: Ints | int, row: Ints | int) -> Bits:
    """A hash that identifies a row for good, from its slot, the life of the slot and the row's number in its entity."""
    lives = np.asarray(life, dtype=np.int64) * LIFE + np.asarray(row, dtype=np.int64)
    return mix(_unsigned(slot) * GOLDEN + mix(np.atleast_1d(_unsigned(lives))))


def below(draws: Bits, n: int) -> Ints:
    """Draws scaled to numbers in [0, n), almost evenly: the bias is under n / 2^32 up to n = 2^32, n / 2^64 above."""
    if n <= 1 << 32:
        return ((draws >> _S32) * np.uint64(n) >> _S32).view(np.int64)
    return (draws % np.uint64(n)).view(np.int64)


def chance(draws: Bits, share: float) -> npt.NDArray[np.bool_]:
    """True for this share of the draws."""
    if share >= 1:
        return np.ones(len(draws), dtype=bool)
    return draws < np.uint64(int(share * 2.0**64))


def unit(draws: Bits) -> npt.NDArray[np.float64]:
    """Draws scaled to floats in [0, 1), 53 bits."""
    return (draws >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _unsigned(x: npt.NDArray[Any]) -> Bits:
    x = np.asarray(x)
    return x.view(np.uint64) if x.dtype == np.int64 else x.astype(np.uint64)
