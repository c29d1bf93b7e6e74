"""Plan of a run: its limits as blocks of turns and of snapshot rows, found by arithmetic and by counting.

Planning starts no thread, draws no value and renders no message. Any process can plan, and generate any block alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from simulator.errors import UsageError
from simulator.stream.engine.block import FARTHEST, SnapshotBlock, Stream, TurnBlock

# Maximum blocks counted at once to find the end of a limit; counting starts with one and doubles.
MOST_COUNTED = 256


@dataclass(frozen=True, slots=True)
class Limits:
    """Begin and end of a run, each at a transaction border: a number of row changes or turns, or seconds on the wall
    clock."""

    start_at: int = 0
    changes: int | None = None
    turns: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Plan:
    """The turns [first, stop) of a stream in blocks of `step` turns, after a snapshot if one is requested.

    `stop` is None for a run without end. `reach` is the last transaction border of the stream if its numbers run out at
    some turn. `changes` is the limit of row changes, which may end the run earlier. Block `number` is the same range of
    turns in every run with the same `step`, except for the first and last block of the run. An interrupted run ends at
    a multiple of `unit` turns. The snapshot is taken `overlap` turns later, or at the end.
    """

    stream: Stream
    first: int
    stop: int | None
    step: int
    reach: int | None = None
    changes: int | None = None
    snapshot: bool = False
    unit: int = 1
    overlap: int = 0

    def border(self, turn: int) -> int:
        """The first turn at or after `turn` at which the run may be interrupted."""
        return self.stream.border(-(-turn // self.unit) * self.unit)

    def snapshot_blocks(self) -> Iterator[SnapshotBlock]:
        """The blocks of the snapshot, if one is requested."""
        return self.stream.snapshot_blocks(self.snapshot_turn) if self.snapshot else iter(())

    @property
    def snapshot_turn(self) -> int:
        """The turn before which the snapshot is taken."""
        if not self.overlap:
            return self.first
        turn, stop = self.stream.border(self.first + self.overlap), self.counted().stop
        return turn if stop is None else min(turn, stop)

    def block(self, number: int) -> TurnBlock:
        """A block by its number, without the limit of row changes. It is empty if it lies outside of the run."""
        first, stop = self._border(number * self.step), self._border((number + 1) * self.step)
        return TurnBlock(number, first, max(first, stop))

    def blocks(self) -> Iterator[TurnBlock]:
        """The blocks in order, up to the limit. Raises UsageError after the last turn that the stream can have."""
        left = self.changes
        for block in self._whole_blocks():
            if left is not None:
                if left <= 0:
                    return
                done = np.cumsum(self.stream.count(block.first, block.stop))
                if len(done) and done[-1] >= left:
                    yield replace(block, stop=self._stop_in(block, left))
                    return
                left -= int(done[-1]) if len(done) else 0
            yield block

    def growing_blocks(self, turns: int) -> Iterator[TurnBlock]:
        """The same turns in growing blocks, for a caller that waits for the first message: `turns` first, then twice as
        many each time, up to `step`."""
        for block in self.blocks():
            turn = block.first
            while (stop := self.border(turn + turns)) < block.stop:
                yield TurnBlock(block.number, turn, stop)
                turn, turns = stop, 2 * turns
            yield TurnBlock(block.number, turn, block.stop)

    def all_blocks(self) -> Iterator[SnapshotBlock | TurnBlock]:
        """The blocks of the snapshot, then those of the stream."""
        yield from self.snapshot_blocks()
        yield from self.blocks()

    def counted(self, changes_of: Callable[[range], Iterable[int]] | None = None, *, most: int = MOST_COUNTED) -> Plan:
        """The plan with the turn at which its limit of row changes ends it.

        Blocks are counted separately, by their numbers, and added up; `changes_of` may count them in other processes,
        up to `most` of them at once. Raises UsageError after the last turn that the stream can have.
        """
        if self.changes is None:
            return self
        ends = [end for end in (self.stop, self.reach) if end is not None]
        end = -(-min(ends) // self.step) if ends else None
        left, number, wave = self.changes, self.first // self.step, 1
        while left > 0 and (numbers := range(number, number + wave if end is None else min(number + wave, end))):
            done = np.cumsum(list(self.count(numbers) if changes_of is None else changes_of(numbers)))
            if done[-1] >= left:
                index = int(np.searchsorted(done, left))
                rest = left - (int(done[index - 1]) if index else 0)
                return replace(self, stop=self._stop_in(self.block(numbers[index]), rest), changes=None)
            left, number, wave = left - int(done[-1]), numbers.stop, min(2 * wave, most)
        if left > 0:
            self.check_reach()
        return replace(self, stop=self.first if left <= 0 else self.stop, changes=None)

    def count(self, numbers: Iterable[int]) -> list[int]:
        """Row changes of blocks, by their numbers."""
        blocks = map(self.block, numbers)
        return [int(self.stream.count(b.first, b.stop).sum()) if b.stop > b.first else 0 for b in blocks]

    def shortened(self, changes: float) -> Plan:
        """The plan in blocks of about `changes` row changes, if its own blocks have more."""
        block = self.block(self.first // self.step)
        changes_of_turn = self.count([block.number])[0] / max(block.stop - block.first, 1)
        return replace(self, step=min(self.step, max(16, int(changes / max(changes_of_turn, 1e-9)))))

    def check_reach(self) -> None:
        """Raises UsageError if the run goes beyond the last turn that the stream can have."""
        if self.reach is not None and (self.stop is None or self.stop > self.reach):
            self.stream.count(self.reach, self.stream.border(self.reach + 1))

    def _whole_blocks(self) -> Iterator[TurnBlock]:
        turn = self.first
        for number in count(self.first // self.step):
            if self.stop is not None and turn >= self.stop:
                return
            block = self.block(number)
            if block.stop > turn:
                yield block
                turn = block.stop
            elif self.reach is not None and turn >= self.reach:
                self.check_reach()

    def _stop_in(self, block: TurnBlock, changes: int) -> int:
        """The first transaction border of a block at or after `changes` row changes."""
        done = np.cumsum(self.stream.count(block.first, block.stop))
        return min(block.stop, self.stream.border(block.first + int(np.searchsorted(done, changes)) + 1))

    def _border(self, turn: int) -> int:
        """The border at or after a turn, within the run."""
        border = max(self.first, self.stream.border(turn))
        return min([border, *(end for end in (self.stop, self.reach) if end is not None)])


def plan(
    stream: Stream, limits: Limits, *, snapshot: bool, most_turns: int | None = None, unit: int = 1, overlap: int = 0
) -> Plan:
    """The plan of a run; its blocks have at most `most_turns` turns and begin at multiples of `unit`. Raises UsageError
    if the stream does not have the first turn."""
    for name, turns in (("--start-at", limits.start_at), ("--turns", limits.turns or 0)):
        if not 0 <= turns <= FARTHEST:
            raise UsageError(f"{name} {turns}: it is a number from 0 to {FARTHEST}.")
    if stream.turns is not None and limits.start_at > stream.turns:
        raise UsageError(f"--start-at {limits.start_at}: {stream.file} ends at turn {stream.turns}.")
    first, stop = stream.border(limits.start_at), stream.turns
    if limits.turns is not None:
        border = stream.border(first + limits.turns)
        stop = border if stop is None else min(stop, border)
    reach = None
    if stream.last_turn is not None:
        reach = next(turn for turn in count(stream.last_turn + 1, -1) if stream.border(turn) == turn)
        if first >= reach:
            stream.count(first, stream.border(first + 1))  # raises UsageError: the stream has no such turn
    step = min(stream.block_turns, most_turns or stream.block_turns)
    return Plan(stream, first, stop, max(unit, step - step % unit), reach, limits.changes, snapshot, unit, overlap)
