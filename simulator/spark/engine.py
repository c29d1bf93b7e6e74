"""Common part of all runs on Spark: counting in tasks to find the end, dividing blocks, adding up results."""

from __future__ import annotations

import pickle
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import chain
from typing import Any, Final

from simulator.order import following
from simulator.run.job import Job
from simulator.run.plan import Limits, Plan
from simulator.run.report import record
from simulator.run.summary import Summary
from simulator.sinks.ledger import Progress as Sends
from simulator.spark.jobs import Jobs, Stopped, Tasks, cut
from simulator.spark.session import jobs_of
from simulator.spark.work import BLOCKS_A_TASK, Work, opened, work
from simulator.stream.engine.block import SnapshotPart

# Most blocks, or parts of a snapshot, that the driver counts itself: tenths of a second.
COUNTED_HERE: Final = 32
# Most blocks counted at once in tasks.
MOST_COUNTED: Final = 1 << 20


class SparkRun(ABC):
    """One run of a job on Spark. `stop` may be set from a signal handler."""

    blocks_a_task = BLOCKS_A_TASK

    def __init__(
        self,
        session: Any,
        job: Job,
        *,
        limits: Limits,
        snapshot: bool | None = None,
        tasks: int | None = None,
        report: Callable[[SparkRun], None] | None = None,
    ) -> None:
        self.stop = False
        self.summary = Summary()
        self.progress: Progress | None = None
        self.job, self._tasks, self._report = job, tasks, report
        self._plan = job.plan(limits, snapshot=snapshot)
        job.check_end(limits)
        self.jobs: Jobs = jobs_of(session)(session, self.cancels, self.watch)
        self._pickled = pickle.dumps(job)
        self._began = time.monotonic()

    @abstractmethod
    def run(self) -> None:
        """Runs the jobs and fills the summary. Raises SimulatorError, Stopped."""

    @abstractmethod
    def partitions(self) -> Iterable[tuple[Sends, dict[str, Any]]]:
        """Messages written to each partition, and further members of its record."""

    def __call__(self) -> Summary:
        """Runs to the end. Raises SimulatorError; the summary then counts what was done before."""
        self._began = time.monotonic()
        try:
            self.run()
        except Stopped:
            self.summary.interrupted = True
        finally:
            self.summary.seconds = time.monotonic() - self._began
        return self.summary

    def cancels(self) -> bool:
        """Whether to cancel the tasks."""
        return self.stop

    @property
    def messages(self) -> int:
        """Messages of the tasks that are done so far."""
        return self.summary.messages

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._began

    def record(self, facts: dict[str, Any], failure: Exception | None) -> dict[str, Any]:
        """The run's record, which is that of a local run. `facts` are those of the summary."""
        partitions = list(self.partitions())
        last = max((progress.last for progress, _ in partitions), default=None)
        position = None if last is None else following(last)
        listed = [{**record.partition(progress), **more} for progress, more in partitions]
        return record.document(facts, position, listed, failure)

    def work(self) -> Work:
        """The run's work, with its end and its snapshot counted. Raises UsageError beyond the stream's last turn."""
        plan = self._plan.counted(self._count_blocks, most=MOST_COUNTED)
        plan.check_reach()
        rows = plan.stream.snapshot_blocks(plan.snapshot_turn, self._count_parts) if plan.snapshot else ()
        return work(
            self._pickled, plan, tuple(rows), tasks=self._tasks, cores=self.jobs.cores, blocks_a_task=self.blocks_a_task
        )

    def _count_blocks(self, numbers: range) -> Iterable[int]:
        if len(numbers) <= COUNTED_HERE:
            return self._plan.count(numbers)
        function = partial(count_blocks, self._pickled, replace(self._plan, stream=None))  # type: ignore[arg-type]
        return self._in_tasks(function, numbers)

    def _count_parts(self, parts: Sequence[SnapshotPart]) -> Iterable[int]:
        if len(parts) <= COUNTED_HERE:
            return [self._plan.stream.count_part(self._plan.snapshot_turn, part) for part in parts]
        return self._in_tasks(partial(count_parts, self._pickled, self._plan.snapshot_turn), parts)

    def _in_tasks(self, function: Callable[[Any], list[int]], items: Sequence[Any]) -> Iterable[int]:
        pieces = cut(items, 4 * self.jobs.cores)
        return chain.from_iterable(self.jobs.run(partial(_of_piece, function, pieces), len(pieces)))

    def watch(self, tasks: Tasks) -> None:
        if self.progress is not None:
            self.progress = replace(self.progress, tasks=tasks)
        if self._report is not None:
            self._report(self)


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a run: its tasks, and approximately the blocks that they have done."""

    work: Work
    tasks: Tasks

    @property
    def blocks(self) -> int:
        return self.work.blocks * self.tasks.done // max(self.work.tasks, 1)


def count_blocks(job: bytes, plan: Plan, numbers: Sequence[int]) -> list[int]:
    """Row changes of blocks, by their numbers."""
    return replace(plan, stream=opened(job).stream).count(numbers)


def count_parts(job: bytes, turn: int, parts: Sequence[SnapshotPart]) -> list[int]:
    """Rows of parts of the snapshot before a turn."""
    stream = opened(job).stream
    return [stream.count_part(turn, part) for part in parts]


def _of_piece(function: Callable[[Any], list[int]], pieces: Sequence[Any], number: int) -> list[int]:
    return function(pieces[number])


def total(work: Work, summaries: Iterable[Summary]) -> Summary:
    """Summary of all tasks together."""
    summed = Summary(work.first, work.stop)
    counts = [field.name for field in fields(Summary) if field.type == "int" and not field.name.endswith("_turn")]
    for summary in summaries:
        for name in counts:
            setattr(summed, name, getattr(summed, name) + getattr(summary, name))
        for topic, count in summary.topics.items():
            summed.topics[topic] = summed.topics.get(topic, 0) + count
        summed.add_faults(summary.faults, summary.occurrences)
    return summed


def joined(earlier: Sends, later: Sends) -> Sends:
    """Account of a partition from those of two parts of the stream."""
    return replace(
        earlier,
        sent=earlier.sent + later.sent,
        delivered=earlier.delivered + later.delivered,
        failed=earlier.failed + later.failed,
        first=min(earlier.first, later.first),
        last=max(earlier.last, later.last),
        acknowledged=max(filter(None, (earlier.acknowledged, later.acknowledged)), default=None),
    )
