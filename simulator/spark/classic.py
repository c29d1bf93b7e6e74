"""Jobs of a driver in this process, as RDDs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from simulator.spark.jobs import Jobs, R, Tasks, nothing


class ClassicJobs(Jobs):
    """Jobs of an ordinary session of Spark. Driver and executors share the disk."""

    def __init__(self, session: Any, stopped: Callable[[], bool], watch: Callable[[Tasks], None]) -> None:
        super().__init__(stopped, watch)
        self._context = session.sparkContext
        self._sum = self._context.accumulator(0)
        self.cores = self._context.defaultParallelism

    @property
    def slots(self) -> int:
        context = self._context._jsc.sc()
        profile = context.resourceProfileManager().defaultResourceProfile()
        return max(1, int(context.maxNumConcurrentTasks(profile)))

    @property
    def counted(self) -> int:
        return int(self._sum.value)

    def run(self, function: Callable[[int], R], tasks: int, count: Callable[[R], int] = nothing) -> list[R]:
        numbers = self._context.parallelize(range(tasks), tasks)
        return self._collect(numbers.map(partial(_counted, function, count, self._sum)))

    def together(self, function: Callable[[int], R], tasks: int) -> list[R]:
        numbers = self._context.parallelize(range(tasks), tasks).barrier()
        return self._collect(numbers.mapPartitions(partial(map, function)))

    def once(self, function: Callable[[], None]) -> None:
        function()

    def _collect(self, rdd: Any) -> list[Any]:
        def work(name: str) -> Iterable[Any]:
            self._context.setJobGroup(name, "cdcsim", interruptOnCancel=True)
            collected: list[Any] = rdd.collect()
            return collected

        return self._results(work)

    def _thread(self, target: Callable[[], None]) -> threading.Thread:
        from pyspark import InheritableThread

        thread: threading.Thread = InheritableThread(target=target, name="cdcsim-spark", daemon=True)
        return thread

    def _cancel(self, name: str) -> None:
        self._context.cancelJobGroup(name)

    def _tasks(self, name: str) -> Tasks:
        tracker = self._context.statusTracker()
        jobs = map(tracker.getJobInfo, tracker.getJobIdsForGroup(name))
        numbers = {stage for job in jobs if job is not None for stage in job.stageIds}
        stages = [stage for stage in map(tracker.getStageInfo, numbers) if stage is not None]
        return Tasks(
            sum(stage.numCompletedTasks for stage in stages),
            sum(stage.numActiveTasks for stage in stages),
            sum(stage.numTasks for stage in stages),
        )


def _counted(function: Callable[[int], R], count: Callable[[R], int], total: Any, number: int) -> R:
    """A result, counted in an accumulator, which the driver sees at once."""
    result = function(number)
    total.add(count(result))
    return result
