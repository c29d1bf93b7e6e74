"""Transactions, commit times, times of statements and heartbeats as functions of the turn.

Transactions come in periods of a fixed number. Each period has the same sizes in the same cyclic order, rotated to a
start drawn by hash. So one search in one table finds the transaction of any turn, however late or before the stream's
start.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from simulator.model import SECOND_NUMBERS
from simulator.stream.engine.arrivals import Arrivals
from simulator.stream.engine.decks import dealt, order
from simulator.values.draw import Ints, below, bits, key, mix, unit

# Transactions in a period; more, if the rarest size would occur fewer than RARE times.
PERIOD: Final = 1 << 16
RARE_PERIOD: Final = 1 << 19
RARE: Final = 16


def multiset(weights: Mapping[tuple[int, int], float]) -> Ints:
    """Transaction sizes of a period, ascending, in the shares of the weights; sizes of a range such as 2..5 are equally
    frequent.
    """
    rarest = min(weights.values()) / sum(weights.values())
    period = PERIOD if rarest * PERIOD >= RARE else RARE_PERIOD
    sizes = np.concatenate([np.arange(low, high + 1) for low, high in weights])
    shares = [weight / (high - low + 1) for (low, high), weight in weights.items() for _ in range(low, high + 1)]
    return sizes[dealt(shares, period)]


class Timeline:
    """Transactions and times of turns in closed form, for arrays of turns. Times are UTC."""

    def __init__(
        self,
        sizes: Mapping[tuple[int, int], float],
        arrivals: Arrivals,
        *,
        seed: int,
        start_ms: int,
        durations: Mapping[tuple[int, int], float],
        heartbeat_ms: int | None = None,
    ) -> None:
        """Weights of `sizes` in turns, and of `durations` in milliseconds from a transaction's begin to its commit."""
        self.arrivals, self.start_ms, self.heartbeat_ms = arrivals, start_ms, heartbeat_ms
        self._key, self._duration_key = key(seed, "transactions"), key(seed, "durations")
        self.durations = durations if any(high for _, high in durations) else {}
        self.largest = max(high for _, high in sizes)
        self.plain = self.largest == 1  # each turn is a transaction
        if not self.plain:
            drawn = multiset(sizes)
            self._count = len(drawn)
            # first turn of each transaction of a period; then the period's length
            self._first: Ints = np.cumsum(np.concatenate([[0], drawn[order(len(drawn), key(seed, "sizes"))]]))
            self._turns = int(self._first[-1])

    def transactions(self, turns: Ints) -> tuple[Ints, Ints, Ints]:
        """(number, first turn, turns) of the transaction that each turn belongs to."""
        if self.plain:
            return turns, turns, np.ones(len(turns), dtype=np.int64)
        count = self._count
        period, position = np.divmod(turns, self._turns)
        begins = below(bits(self._key, period), count)  # the transaction with which the period begins
        position = position + self._first[begins]
        position -= self._turns * (position >= self._turns)
        index = np.searchsorted(self._first, position, side="right") - 1
        number = (index - begins).astype(np.int64)
        number += period * count + count * (number < 0)
        first: Ints = (turns - position + self._first[index]).astype(np.int64)
        return number, first, self._first[index + 1] - self._first[index]

    def border(self, turn: int) -> int:
        """The first transaction border at or after a turn: a turn that begins a transaction."""
        _, first, length = (int(x[0]) for x in self.transactions(np.array([turn], dtype=np.int64)))
        return turn if first == turn else first + length

    def commit_us(self, turns: Ints) -> Ints:
        """Commit time of the transaction that each turn belongs to, epoch microseconds; never decreases."""
        return self.commits_us(self.transactions(turns))

    def commits_us(self, transactions: tuple[Ints, Ints, Ints]) -> Ints:
        """Commit times of `transactions`, epoch microseconds."""
        _, first, length = transactions
        return self.arrivals.us(first + length - 1)

    def statement_us(self, turns: Ints) -> Ints:
        """Start times of the statements of each turn, epoch microseconds. The first is the transaction's begin; the
        others follow evenly until its commit. A start may precede commits of earlier turns.
        """
        number, first, length = self.transactions(turns)
        commits = self.arrivals.us(first + length - 1)
        if not self.durations:
            return commits
        drawn = bits(self._duration_key, number)
        ends = np.cumsum(list(self.durations.values()))
        duration_index = np.searchsorted(ends / ends[-1], unit(drawn), side="right")
        low, high = np.array(list(self.durations), dtype=np.int64).T * 1000
        took = low[duration_index] + (unit(mix(drawn)) * (high - low)[duration_index]).astype(np.int64)
        began: Ints = commits - took * (first + length - turns) // length
        return began

    def previous_commit_us(self, turns: Ints) -> Ints:
        """Commit time of the transaction before the one that each turn belongs to, epoch microseconds."""
        _, first, _ = self.transactions(turns)
        return self.arrivals.us(first - 1)

    def first_of_second(self, second: int) -> int:
        """The first turn whose transaction commits in this second (since 1970) or later."""
        # a transaction commits with its last turn, up to `largest` turns later
        near = self.arrivals.turn_near(second * 1_000_000)
        low, high = near - self.largest - 2, near + 3
        while True:
            turns = np.arange(low, high, dtype=np.int64)
            index = int(np.searchsorted(self.commit_us(turns), second * 1_000_000, side="left"))
            if 0 < index < len(turns):
                return low + index
            low, high = low - len(turns), high + len(turns)  # floats may be too coarse

    def in_second(self, turns: Ints, event_ms: Ints, numbers: Ints, stride: int, *, follow: bool = True) -> Ints:
        """Numbers inside a turn as numbers inside the second of its commit (`Envelope.in_second`).

        `numbers` are below `stride`. `follow`: the turns are consecutive; else only ascending. If seconds hold too many
        turns, all turns are numbered in one sequence from the start of the stream, which may run ahead of the clock.
        """
        seconds = event_ms // 1000
        if (self.arrivals.most_a_second + self.largest) * stride > SECOND_NUMBERS:
            return self.start_ms * SECOND_NUMBERS // 1000 + turns * stride + numbers - seconds * SECOND_NUMBERS
        if not len(turns):
            return numbers
        earliest = self.first_of_second(int(seconds[0]))
        if not follow:
            between = np.arange(earliest, int(turns[-1]) + 1, dtype=np.int64)
            first = earliest + np.searchsorted(self.commit_us(between), seconds * 1_000_000)
            return (turns - first) * stride + numbers
        begins = np.flatnonzero(np.diff(seconds, prepend=seconds[0] - 1))
        first = turns[begins]
        first[0] = earliest
        return (turns - np.repeat(first, np.diff(begins, append=len(turns)))) * stride + numbers

    def heartbeats(self, first_turn: int, turns: int) -> list[tuple[int, int]]:
        """(turn, epoch ms) of the heartbeats between the transaction before these turns and the last of theirs.
        `first_turn` is a transaction border; the turn of a heartbeat is the first of the transaction after it.
        """
        if self.heartbeat_ms is None or not turns:
            return []
        _, first, length = self.transactions(np.arange(first_turn, first_turn + turns, dtype=np.int64))
        begins = np.flatnonzero(np.arange(first_turn, first_turn + turns) == first)
        commits = self.arrivals.us(first[begins] + length[begins] - 1) // 1000
        before = int(self.commit_us(np.array([first_turn - 1], dtype=np.int64))[0]) // 1000
        step, zero = self.heartbeat_ms, self.start_ms
        # a heartbeat at h stands before the first transaction that commits at or after h, so: before < h <= last commit
        low = (before - zero) // step + 1
        high = (int(commits[-1]) - zero) // step
        beats = zero + step * np.arange(low, high + 1, dtype=np.int64)
        after = np.searchsorted(commits, beats, side="left")
        return [(int(first[begins[i]]), int(ms)) for i, ms in zip(after, beats, strict=True)]
