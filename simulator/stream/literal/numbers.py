"""Numbering of literal transactions: transaction numbers, offsets, numbers within a second."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simulator.batch import Ints


class Numbers:
    """The numbers of a script's transactions and changes, as `Envelope` describes them.

    `alive` is the number of rows before the first turn. Each turn is a transaction or a heartbeat. `entry_ms` are the
    times of its log entries (a heartbeat has none), `turn_ms` those of the turns, `idle_ms` those of the product's
    heartbeats before it. `txn` and `offset` have one entry per turn, those of its first change, and one for the turn
    that would follow; heartbeats before it have the offsets, and the positions, below 0.
    """

    def __init__(
        self,
        alive: int,
        is_txn: Sequence[bool],
        entry_ms: Sequence[Sequence[int]],
        turn_ms: Sequence[int],
        idle_ms: Sequence[Sequence[int]],
    ) -> None:
        sizes = np.array([len(ms) for ms in entry_ms], dtype=np.int64)
        # The numbers of a snapshot must fit below the first number of the stream.
        self.first_txn = 10 ** len(str(alive + int(sizes.sum()) + 1))
        self.first_offset = 2 * self.first_txn
        self.txn: Ints = self.first_txn + np.cumsum([0, *is_txn], dtype=np.int64)
        self.offset: Ints = self.first_offset + np.cumsum([0, *(2 * sizes + 2)], dtype=np.int64)
        idle = np.array([len(ms) for ms in idle_ms], dtype=np.int64)
        self.offset[:-1] += 2 * np.cumsum(idle)
        self.offset[-1] += 2 * int(idle.sum())
        self._turn_ms: Ints = np.array(turn_ms, dtype=np.int64)
        self._first, self._in_second = self._seconds(entry_ms, idle_ms, np.maximum(sizes, 1), idle)

    def _seconds(
        self, entry_ms: Sequence[Sequence[int]], idle_ms: Sequence[Sequence[int]], sizes: Ints, idle: Ints
    ) -> tuple[Ints, Ints]:
        """The number of the first entry of each turn (of the turn, if it has no entry), and of each entry within its
        second.
        """
        entries = idle + sizes
        first = np.cumsum(entries) - sizes
        turns = zip(idle_ms, entry_ms, self._turn_ms.tolist(), strict=True)
        times = [ms for before, turn, turn_ms in turns for ms in (*before, *(turn or [turn_ms]))]
        seconds = np.array(times, dtype=np.int64) // 1000
        offsets = np.repeat(self.offset[:-1] - 2 * first, entries) + 2 * np.arange(len(seconds), dtype=np.int64)
        begins = np.flatnonzero(np.diff(seconds, prepend=-1))
        return first, offsets - np.repeat(offsets[begins], np.diff(begins, append=len(seconds)))

    def in_second(self, turn: Ints | int, position: Ints | int) -> Ints:
        """`Envelope.in_second` of the entries at these positions of their turns."""
        numbers: Ints = self._in_second[self._first[turn] + position]
        return numbers

    def previous_ms(self, turns: Ints) -> Ints:
        """Commit time of the transaction before each turn, epoch milliseconds; for the first, its own time."""
        # turns that use up a transaction number are transactions; the others are heartbeats
        commit_turns = np.flatnonzero(np.diff(self.txn))
        last = np.searchsorted(commit_turns, turns, side="left") - 1
        before = self._turn_ms[commit_turns[np.maximum(last, 0)]] if len(commit_turns) else 0
        previous: Ints = np.where(last < 0, self._turn_ms[turns], before)
        return previous
