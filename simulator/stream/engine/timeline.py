"""Transactions, commit times and heartbeats as functions of the turn.

Transactions are laid out in chunks of turns. Every chunk holds the same multiset of transaction sizes in one of a few
orders, chosen by hash, so the number of a transaction and the turns it spans follow from a table look-up for any turn,
however far away or before the stream's start.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from simulator.model import SECOND_NUMBERS
from simulator.values.draw import Ints, below, bits, key, unit

CHUNK_TURNS = 1024
ORDERS = 64


def multiset(weights: Mapping[tuple[int, int], float], turns: int) -> list[int]:
    """Transaction sizes whose sum is `turns` and whose shares follow the weights as closely as whole numbers can.

    A range such as 2..5 gives each size in it the same share.
    """
    shares: dict[int, float] = {}
    for (low, high), weight in weights.items():
        for size in range(low, high + 1):
            shares[size] = shares.get(size, 0.0) + weight / (high - low + 1)
    total = sum(size * share for size, share in shares.items())
    ideal = {size: share * turns / total for size, share in shares.items()}
    counts = {size: int(want) for size, want in ideal.items()}
    # Give the turns that rounding left to whoever is furthest behind and still fits; single turns fill the rest.
    left = turns - sum(size * count for size, count in counts.items())
    while fitting := [size for size in counts if size <= left]:
        size = max(fitting, key=lambda s: (ideal[s] - counts[s], s))
        counts[size] += 1
        left -= size
    return [size for size in sorted(counts) for _ in range(counts[size])] + [1] * left


class Timeline:
    """Closed forms over turns; arrays in, arrays out. `rate` is turns a second, times are UTC."""

    def __init__(
        self, sizes: Mapping[tuple[int, int], float], *, seed: int, start_ms: int, rate: float, heartbeat_ms: int | None
    ) -> None:
        largest = max(high for _, high in sizes)
        # A chunk must be long enough for the rarest size to appear in it and still keep the shares.
        self.chunk = max(CHUNK_TURNS, 1 << (4 * largest - 1).bit_length())
        self.start_ms, self.rate, self.heartbeat_ms = start_ms, rate, heartbeat_ms
        self._key = key(seed, "transactions")
        self._jitter = key(seed, "time")
        self.sizes = np.array(multiset(sizes, self.chunk), dtype=np.int64)
        self.per_chunk = len(self.sizes)
        self.plain = self.per_chunk == self.chunk  # each turn is a transaction
        orders = 1 if self.plain else ORDERS
        self._number = np.empty((orders, self.chunk), dtype=np.int32)
        self._first = np.empty((orders, self.chunk), dtype=np.int32)
        for order in range(orders):
            draws = bits(key(seed, "order", order), np.arange(self.per_chunk))
            shuffled = self.sizes[np.argsort(draws, kind="stable")]
            ends = np.cumsum(shuffled)
            self._number[order] = np.repeat(np.arange(self.per_chunk), shuffled)
            self._first[order] = np.repeat(ends - shuffled, shuffled)
        self._length = np.array(
            [np.bincount(self._number[order], minlength=self.per_chunk) for order in range(orders)], dtype=np.int32
        )

    def transactions(self, turns: Ints) -> tuple[Ints, Ints, Ints]:
        """(number, first turn, turns) of the transaction that each turn belongs to."""
        if self.plain:
            return turns, turns, np.ones(len(turns), dtype=np.int64)
        chunk, position = np.divmod(turns, self.chunk)
        order = below(bits(self._key, chunk), ORDERS)
        number = self._number[order, position].astype(np.int64)
        first = chunk * self.chunk + self._first[order, position].astype(np.int64)
        return chunk * self.per_chunk + number, first, self._length[order, number].astype(np.int64)

    def border(self, turn: int) -> int:
        """The first transaction border at or after a turn: a turn that begins a transaction."""
        _, first, length = (int(x[0]) for x in self.transactions(np.array([turn], dtype=np.int64)))
        return turn if first == turn else first + length

    def commit_us(self, turns: Ints) -> Ints:
        """Commit time of the transaction that each turn belongs to, epoch microseconds; never falls with the turn."""
        _, first, length = self.transactions(turns)
        return self._turn_us(first + length - 1)

    def previous_commit_us(self, turns: Ints) -> Ints:
        """Commit time of the transaction before the one that each turn belongs to, epoch microseconds."""
        _, first, _ = self.transactions(turns)
        return self._turn_us(first - 1)

    def first_of_second(self, second: int) -> int:
        """The first turn whose transaction commits in this second (since 1970) or later."""
        # a transaction commits with its last turn, which lies up to its length behind
        near = math.floor((second - self.start_ms / 1000) * self.rate)
        turns = np.arange(near - int(self.sizes.max()) - 2, near + 3, dtype=np.int64)
        return int(turns[0]) + int(np.searchsorted(self.commit_us(turns), second * 1_000_000, side="left"))

    def in_second(self, turns: Ints, event_ms: Ints, numbers: Ints, stride: int) -> Ints:
        """Numbers inside a turn as numbers inside the second of its commit (`Envelope.in_second`).

        `numbers` are below `stride`, turns follow each other. Where seconds are too full for that, all turns are
        numbered in one sequence, which begins at the start of the stream and may run ahead of the clock.
        """
        seconds = event_ms // 1000
        if (self.rate + 2 + int(self.sizes.max())) * stride > SECOND_NUMBERS:
            return self.start_ms * SECOND_NUMBERS // 1000 + turns * stride + numbers - seconds * SECOND_NUMBERS
        if not len(turns):
            return numbers
        begins = np.flatnonzero(np.diff(seconds, prepend=seconds[0] - 1))
        first = turns[begins]
        first[0] = self.first_of_second(int(seconds[0]))
        return (turns - np.repeat(first, np.diff(begins, append=len(turns)))) * stride + numbers

    def _turn_us(self, turns: Ints) -> Ints:
        us = (turns.astype(np.float64) + unit(bits(self._jitter, turns))) * (1e6 / self.rate)
        return np.floor(us).astype(np.int64) + self.start_ms * 1000

    def heartbeats(self, first_turn: int, turns: int) -> list[tuple[int, int]]:
        """(turn, epoch ms) of the heartbeats that fall before transactions of these turns and after the one before.

        `first_turn` is a transaction border; each heartbeat comes with the turn that begins the transaction after it.
        """
        if self.heartbeat_ms is None or not turns:
            return []
        _, first, length = self.transactions(np.arange(first_turn, first_turn + turns, dtype=np.int64))
        begins = np.flatnonzero(np.arange(first_turn, first_turn + turns) == first)
        commits = self._turn_us(first[begins] + length[begins] - 1) // 1000
        before = int(self.commit_us(np.array([first_turn - 1], dtype=np.int64))[0]) // 1000
        step, zero = self.heartbeat_ms, self.start_ms
        # a heartbeat at h stands before the first transaction that commits at or after h, so: before < h <= last commit
        low = (before - zero) // step + 1
        high = (int(commits[-1]) - zero) // step
        beats = zero + step * np.arange(low, high + 1, dtype=np.int64)
        after = np.searchsorted(commits, beats, side="left")
        return [(int(first[begins[i]]), int(ms)) for i, ms in zip(after, beats, strict=True)]
