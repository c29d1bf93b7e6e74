"""Which slot does turn i touch, and for which time? Arithmetic only, both ways.

Slots are cut into cohorts: ranges of slots with one program and one tier. A cohort of tier k is cut into 2^k groups,
and only group r mod 2^k takes part in round r, so a round always has the same length. Inside a round the positions are
shuffled by a keyed bijection, which has an inverse: from a slot and a visit back to the turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Final

import numpy as np
import numpy.typing as npt

from simulator.values.draw import GOLDEN, Bits, Ints, key, mix

HALF_ROUNDS: Final = 4
_S32 = np.uint64(32)


@dataclass(frozen=True, slots=True)
class Cohort:
    """`count` slots from `base` on that run one program; `count` is a multiple of 2^tier."""

    program: int
    tier: int
    base: int
    count: int

    @property
    def group(self) -> int:
        """Slots that take part in one round."""
        return self.count >> self.tier


class Shuffle:
    """A bijection of [0, size) for each key: a Feistel network on (position // b, position % b), where a·b ≥ size.

    Where a·b is larger than `size`, a position that lands outside is shuffled again until it is inside (cycle walking).
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.a = isqrt(size - 1) + 1 if size > 1 else 1
        self.b = -(-size // self.a)

    def forward(self, positions: Ints, keys: Bits) -> Ints:
        return self._walk(positions, keys, self._forward)

    def backward(self, positions: Ints, keys: Bits) -> Ints:
        return self._walk(positions, keys, self._backward)

    def _walk(self, positions: Ints, keys: Bits, once: Callable[[Ints, Bits], Ints]) -> Ints:
        out = once(positions, keys)
        if self.a * self.b > self.size:
            while len(outside := np.flatnonzero(out >= self.size)):
                out[outside] = once(out[outside], keys[outside])
        return out

    def _forward(self, positions: Ints, keys: Bits) -> Ints:
        left, right = np.divmod(positions, self.b)
        for half in range(HALF_ROUNDS):
            if half % 2 == 0:
                left = _wrap(left + _feed(right, keys, half, self.a), self.a)
            else:
                right = _wrap(right + _feed(left, keys, half, self.b), self.b)
        return left * self.b + right

    def _backward(self, positions: Ints, keys: Bits) -> Ints:
        left, right = np.divmod(positions, self.b)
        for half in reversed(range(HALF_ROUNDS)):
            if half % 2 == 0:
                left = _wrap(left - _feed(right, keys, half, self.a) + self.a, self.a)
            else:
                right = _wrap(right - _feed(left, keys, half, self.b) + self.b, self.b)
        return left * self.b + right


def _wrap(x: Ints, size: int) -> Ints:
    """x mod size for x in [0, 2·size)."""
    return x - size * (x >= size)


def _feed(x: Ints, keys: Bits, half: int, size: int) -> Ints:
    """The round function: a number in [0, size) from x, the key and the half round."""
    hashed = (x.view(np.uint64) + keys + np.uint64(half)) * GOLDEN
    hashed ^= hashed >> _S32
    hashed *= np.uint64(0xD6E8FEB86659FD93)
    return ((hashed >> _S32) * np.uint64(size) >> _S32).view(np.int64)


class Rounds:
    """The closed form of turns. Arrays in, arrays out; turns and visits may be negative (before the stream began)."""

    def __init__(self, cohorts: Sequence[Cohort], seed: int) -> None:
        self.cohorts = tuple(cohorts)
        groups = [cohort.group for cohort in cohorts]
        self.starts: npt.NDArray[np.int64] = np.concatenate([[0], np.cumsum(groups)]).astype(np.int64)
        self.length = int(self.starts[-1])
        self._shuffle = Shuffle(self.length)
        self._key = key(seed, "rounds")
        self._base = np.array([cohort.base for cohort in cohorts], dtype=np.int64)
        self._group = np.array(groups, dtype=np.int64)
        self._tier = np.array([cohort.tier for cohort in cohorts], dtype=np.int64)

    def visits(self, turns: Ints) -> tuple[Ints, Ints, Ints]:
        """(cohort, slot, visit number) of each turn."""
        rounds, positions = np.divmod(turns, self.length)
        positions = self._shuffle.forward(positions, self._round_keys(rounds))
        cohort = np.searchsorted(self.starts, positions, side="right") - 1
        tier = self._tier[cohort]
        slot = self._base[cohort] + (rounds & ((1 << tier) - 1)) * self._group[cohort] + positions - self.starts[cohort]
        return cohort, slot, rounds >> tier

    def turns(self, cohort: Ints, slot: Ints, visit: Ints) -> Ints:
        """The turn at which a slot is visited for the `visit`-th time (from 0; negative: before turn 0)."""
        group, rest = np.divmod(slot - self._base[cohort], self._group[cohort])
        rounds = (visit << self._tier[cohort]) + group
        positions = self._shuffle.backward(self.starts[cohort] + rest, self._round_keys(rounds))
        return rounds * self.length + positions

    def visits_before(self, cohort: int, slots: Ints, turn: int) -> Ints:
        """How often each of these slots of one cohort was visited before a turn, counted from turn 0 (may be 0)."""
        this = self.cohorts[cohort]
        now, position = divmod(turn, self.length)
        group, rest = np.divmod(slots - this.base, this.group)
        # the last round up to `now` in which the slot's group takes part
        last = now - ((now - group) & ((1 << this.tier) - 1))
        visits = (last >> this.tier) + 1
        current = np.flatnonzero(last == now)
        keys = self._round_keys(np.full(len(current), now, dtype=np.int64))
        positions = self._shuffle.backward(self.starts[cohort] + rest[current], keys)
        visits[current] -= positions >= position
        return visits

    def _round_keys(self, rounds: Ints) -> Bits:
        return mix(rounds.view(np.uint64) * GOLDEN + self._key)
