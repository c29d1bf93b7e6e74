"""A shuffled order of any length, in which each position is computed without the others."""

from __future__ import annotations

from math import isqrt
from typing import Final

import numpy as np

from simulator.native.draws import shuffle
from simulator.native.program import compiled
from simulator.values.draw import GOLDEN, Ints

HALF_ROUNDS: Final = 4
HALF_SALT: Final = 0x632BE59BD9B4E019
_S32 = np.uint64(32)


class Shuffle:
    """A keyed bijection of [0, size): a Feistel network on (position // b, position % b), where a·b ≥ size.

    Where a·b is larger than `size`, a position that lands outside is shuffled again until it is inside (cycle walking).
    """

    def __init__(self, size: int, key: np.uint64) -> None:
        self.size, self.key = size, key
        self.a = isqrt(size - 1) + 1 if size > 1 else 1
        self.b = -(-size // self.a)

    def forward(self, positions: Ints) -> Ints:
        return self._moved(positions, back=False)

    def backward(self, positions: Ints) -> Ints:
        return self._moved(positions, back=True)

    def _moved(self, positions: Ints, *, back: bool) -> Ints:
        if compiled():
            return shuffle(positions, self.key, self.size, self.a, self.b, back=back)
        once = self._backward if back else self._forward
        moved = once(positions)
        if self.a * self.b > self.size:
            while len(outside := np.flatnonzero(moved >= self.size)):
                moved[outside] = once(moved[outside])
        return moved

    def _forward(self, positions: Ints) -> Ints:
        left, right = np.divmod(positions, self.b)
        for half in range(HALF_ROUNDS):
            if half % 2 == 0:
                left = _wrap(left + _feed(right, self.key, half, self.a), self.a)
            else:
                right = _wrap(right + _feed(left, self.key, half, self.b), self.b)
        return left * self.b + right

    def _backward(self, positions: Ints) -> Ints:
        left, right = np.divmod(positions, self.b)
        for half in reversed(range(HALF_ROUNDS)):
            if half % 2 == 0:
                left = _wrap(left - _feed(right, self.key, half, self.a) + self.a, self.a)
            else:
                right = _wrap(right - _feed(left, self.key, half, self.b) + self.b, self.b)
        return left * self.b + right


def _wrap(x: Ints, size: int) -> Ints:
    """x mod size for x in [0, 2·size)."""
    return x - size * (x >= size)


def _feed(x: Ints, key: np.uint64, half: int, size: int) -> Ints:
    """The round function: a number in [0, size) from x, the key and the half round."""
    hashed = (x.view(np.uint64) + key) * GOLDEN + np.uint64(half * HALF_SALT & 0xFFFFFFFFFFFFFFFF)
    hashed ^= hashed >> _S32
    hashed *= np.uint64(0xD6E8FEB86659FD93)
    return ((hashed >> _S32) * np.uint64(size) >> _S32).view(np.int64)
