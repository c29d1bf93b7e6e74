"""Functions over numbers in Spark's tasks, watched and stopped from the thread that waits for them."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from simulator.spark.session import sentence

T = TypeVar("T")
R = TypeVar("R")

WATCH_SECONDS = 0.25


class Stopped(Exception):
    """A job was canceled on demand."""


@dataclass(frozen=True, slots=True)
class Tasks:
    """How far the jobs of a step are, and whether Spark began a stage of them anew."""

    done: int
    running: int
    all: int
    again: bool = False


class Jobs:
    """The jobs of a run. `stopped` says whether to cancel them, `watch` sees how far they are."""

    def __init__(self, session: Any, stopped: Callable[[], bool], watch: Callable[[Tasks], None]) -> None:
        self._context = session.sparkContext
        self._stopped, self._watch = stopped, watch
        self.again = False  # whether Spark began a stage of the last job anew
        self.cores: int = self._context.defaultParallelism

    def map(self, function: Callable[[T], R], items: Iterable[T], *, tasks: int) -> list[R]:
        """The function of each item, in order, in so many tasks. Raises Stopped, SimulatorError."""
        return self.collect(self._context.parallelize(items, tasks).map(function))

    def flat_map(self, function: Callable[[int], Iterable[Any]], numbers: range) -> Any:
        """An RDD of what the function gives for each number, in a task each."""
        return self._context.parallelize(numbers, len(numbers)).flatMap(function)

    def map_tasks(self, function: Callable[[int, int], R], tasks: int) -> list[R]:
        """The function of each number below `tasks` and of the attempt's own number, a task each."""
        return self.collect(self._context.parallelize(range(tasks), tasks).mapPartitions(_OfTask(function)))

    def collect(self, rdd: Any) -> list[Any]:
        """What is in an RDD. Raises Stopped, SimulatorError."""
        from pyspark import InheritableThread

        group, found, failures = f"cdcsim-{uuid.uuid4()}", list[Any](), list[Exception]()

        def work() -> None:
            self._context.setJobGroup(group, "cdcsim", interruptOnCancel=True)
            try:
                found.extend(rdd.collect())
            except Exception as error:
                failures.append(error)

        thread: threading.Thread = InheritableThread(target=work, name="cdcsim-spark", daemon=True)
        thread.start()
        canceled = False
        while thread.is_alive():
            thread.join(WATCH_SECONDS)
            if self._stopped() and not canceled:
                canceled = True
                self._context.cancelJobGroup(group)
            self._watch(self._tasks(group))
        self.again = self._tasks(group).again
        if canceled and failures:
            raise Stopped
        if failures:
            raise sentence(failures[0]) from None
        return found

    def _tasks(self, group: str) -> Tasks:
        tracker = self._context.statusTracker()
        jobs = map(tracker.getJobInfo, tracker.getJobIdsForGroup(group))
        stages = map(tracker.getStageInfo, {stage for job in jobs if job is not None for stage in job.stageIds})
        done = running = tasks = 0
        again = False
        for stage in stages:
            if stage is not None:
                done += stage.numCompletedTasks
                running += stage.numActiveTasks
                tasks += stage.numTasks
                again |= stage.currentAttemptId > 0
        return Tasks(done, running, tasks, again)


class _OfTask:
    """A function of a task's number as one of the partition that holds it."""

    def __init__(self, function: Callable[[int, int], Any]) -> None:
        self._function = function

    def __call__(self, numbers: Iterator[int]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        for number in numbers:
            yield self._function(number, context.taskAttemptId())


def cut(items: Sequence[T], pieces: int) -> list[Sequence[T]]:
    """Neighbours in about equal pieces, none of them empty."""
    pieces = max(1, min(pieces, len(items)))
    return [items[i * len(items) // pieces : (i + 1) * len(items) // pieces] for i in range(pieces)]
