"""Jobs on a Spark Connect server, as DataFrames with `mapInArrow`: it offers no RDDs, accumulators and job groups.

Results come as pickles, in the order of tasks; of these only values and data classes of this package are read. The
server reports tasks every other second.
"""

from __future__ import annotations

import io
import pickle
import threading
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from functools import partial
from typing import Any, Final

import pyarrow as pa

from simulator.errors import SinkError
from simulator.spark.failures import sentence
from simulator.spark.jobs import Jobs, R, Tasks, nothing

RESULT: Final = "result binary"
# Size of a range that is large enough for a partition per core.
MANY: Final = 1 << 20


class ConnectJobs(Jobs):
    """Jobs of a session of Spark Connect. Tasks write to the disks of its server's executors."""

    def __init__(self, session: Any, stopped: Callable[[], bool], watch: Callable[[Tasks], None]) -> None:
        super().__init__(stopped, watch)
        self._session = session
        self._sum = 0
        self._reported = Tasks(0, 0, 0)
        [[last]] = self._now(session.range(MANY).selectExpr("spark_partition_id() as number").selectExpr("max(number)"))
        self.cores = last + 1

    @property
    def counted(self) -> int:
        return self._sum

    def run(self, function: Callable[[int], R], tasks: int, count: Callable[[R], int] = nothing) -> list[R]:
        return self._collect(self._each(function, tasks), tasks, count)

    def together(self, function: Callable[[int], R], tasks: int) -> list[R]:
        return self._collect(self._each(function, tasks, barrier=True), tasks, nothing)

    def once(self, function: Callable[[], None]) -> None:
        self._now(self._each(partial(_called, function), 1))

    def _each(self, function: Callable[[int], Any], tasks: int, *, barrier: bool = False) -> Any:
        numbers = self._session.range(0, tasks, 1, tasks)
        return numbers.mapInArrow(partial(_results_of, function), RESULT, barrier)

    def _now(self, frame: Any) -> Any:
        try:
            return frame.collect()
        except Exception as error:
            raise sentence(error) from None

    def _collect(self, frame: Any, tasks: int, count: Callable[[Any], int]) -> list[Any]:
        def work(name: str) -> Iterator[Any]:
            self._session.addTag(name)
            for row in frame.toLocalIterator():
                result = Results(io.BytesIO(row.result)).load()
                self._sum += count(result)
                yield result

        def report(stages: Any, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
            completed = sum(stage.num_completed_tasks for stage in stages or ())
            self._reported = Tasks(completed, inflight_tasks, tasks)

        self._reported = Tasks(0, 0, tasks)
        self._session.registerProgressHandler(report)
        try:
            return self._results(work)
        finally:
            self._session.removeProgressHandler(report)

    def _thread(self, target: Callable[[], None]) -> threading.Thread:
        return threading.Thread(target=target, name="cdcsim-spark", daemon=True)

    def _cancel(self, name: str) -> None:
        self._session.interruptTag(name)

    def _tasks(self, name: str) -> Tasks:
        return self._reported


class Results(pickle.Unpickler):
    """Reads what tasks return: values, and data classes of this package. A server is not trusted with more, since
    pickles may name any function to be called."""

    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] == "simulator" and name.isidentifier():
            loaded = super().find_class(module, name)
            if isinstance(loaded, type) and is_dataclass(loaded):
                return loaded
        raise SinkError(f"the Spark Connect server returned {module}.{name}, which no task of cdcsim does.")


def _pickled(result: object) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([pickle.dumps(result)], pa.binary())], names=["result"])


def _results_of(function: Callable[[int], Any], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield from (_pickled(function(number)) for number in batch["id"].to_pylist())


def _called(function: Callable[[], None], number: int) -> None:
    function()
