"""The work of a run as one small value, and each task's share of it, found by the task's number alone."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from simulator.run.job import Job
from simulator.run.plan import Plan
from simulator.stream.engine.block import SnapshotBlock, TurnBlock

# Blocks of a task in a long run, which has at most MOST_TASKS tasks; a short run has TASKS_A_CORE tasks per core.
BLOCKS_A_TASK = 16
MOST_TASKS = 100_000
TASKS_A_CORE = 4


@dataclass(frozen=True)
class Share(Plan):
    """A part of a plan: some blocks of the snapshot, then blocks of turns by their numbers."""

    rows: tuple[SnapshotBlock, ...] = ()
    numbers: range = range(0)

    def snapshot_blocks(self) -> Iterator[SnapshotBlock]:
        return iter(self.rows)

    def blocks(self) -> Iterator[TurnBlock]:
        return (block for number in self.numbers if (block := self.block(number)).stop > block.first)


@dataclass(frozen=True, slots=True)
class Work:
    """The turns [first, stop) in blocks of `step` turns, behind the blocks of a snapshot, for a number of tasks.

    `job` is a pickled job, which a process opens once, however many tasks it works on.
    """

    job: bytes
    first: int
    stop: int
    step: int
    rows: tuple[SnapshotBlock, ...]
    tasks: int

    @property
    def numbers(self) -> range:
        """The numbers of the blocks of turns."""
        return range(self.first // self.step, -(-self.stop // self.step) if self.stop > self.first else 0)

    @property
    def blocks(self) -> int:
        return len(self.rows) + len(self.numbers)

    def open(self) -> Job:
        return opened(self.job)

    def share(self, task: int) -> Share:
        """Share of a task: consecutive blocks; the shares of all tasks in order are the stream."""
        blocks, snapshot = self.blocks, len(self.rows)
        low, high = (number * blocks // self.tasks for number in (task, task + 1))
        rows, numbers = self.rows[low:high], self.numbers[max(low - snapshot, 0) : max(high - snapshot, 0)]
        return Share(self.open().stream, self.first, self.stop, self.step, rows=rows, numbers=numbers)


@lru_cache(maxsize=4)
def opened(job: bytes) -> Job:
    """A job that was pickled, with its stream and codec, kept for the next task of this process."""
    loaded: Job = pickle.loads(job)
    return loaded


def work(
    job: bytes,
    plan: Plan,
    rows: tuple[SnapshotBlock, ...],
    *,
    tasks: int | None,
    cores: int,
    blocks_a_task: int = BLOCKS_A_TASK,
) -> Work:
    """The work of a plan whose end is known. Without `tasks` there are enough that no core waits for long at the
    end."""
    assert plan.stop is not None
    turns = plan.stop - plan.first
    blocks = len(rows) + -(-turns // plan.step)
    if tasks is None:
        tasks = max(1, min(blocks, max(TASKS_A_CORE * cores, min(-(-blocks // blocks_a_task), MOST_TASKS))))
    step = max(1, min(plan.step, -(-turns // tasks)))
    return Work(job, plan.first, plan.stop, step, rows, tasks)
