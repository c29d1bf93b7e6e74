"""Jobs on a Spark Connect server, as DataFrames with `mapInArrow`: it offers no RDDs, accumulators and job groups.

Results come as pickles, in the order of tasks; of these only values and data classes of this package are read. The
server reports tasks every other second, and not whether it began a stage anew.
"""

from __future__ import annotations

import io
import pickle
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import is_dataclass
from functools import partial
from typing import Any, Final

import pyarrow as pa

from simulator.errors import SinkError
from simulator.spark.failures import sentence
from simulator.spark.jobs import Buffer, Jobs, R, Tasks, nothing

RESULT: Final = "result binary"
BUFFER: Final = "part int, task int, block int, number int, content binary"
BUFFER_SCHEMA: Final = pa.schema(
    [*((name, pa.int32()) for name in ("part", "task", "block", "number")), ("content", pa.binary())]
)
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

    def exchange(
        self,
        make: Callable[[int], Iterable[Buffer]],
        numbers: range,
        take: Callable[[Iterator[Buffer]], Iterable[R]],
        parts: int,
    ) -> list[R]:
        each = self._session.range(numbers.start, numbers.stop, 1, len(numbers))
        made = each.mapInArrow(partial(_made, make), BUFFER).repartitionById(parts, "part")
        ordered = made.sortWithinPartitions("task", "block", "number")
        return self._collect(ordered.mapInArrow(partial(_taken, take), RESULT), len(numbers) + parts, nothing)

    def once(self, function: Callable[[], None]) -> None:
        self._now(self._each(partial(_called, function), 1))

    def _each(self, function: Callable[[int], Any], tasks: int) -> Any:
        return self._session.range(0, tasks, 1, tasks).mapInArrow(partial(_results_of, function), RESULT)

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
            found = super().find_class(module, name)
            if isinstance(found, type) and is_dataclass(found):
                return found
        raise SinkError(f"the Spark Connect server returned {module}.{name}, which no task of cdcsim does.")


def _pickled(result: object) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([pickle.dumps(result)], pa.binary())], names=["result"])


def _results_of(function: Callable[[int], Any], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield from (_pickled(function(number)) for number in batch["id"].to_pylist())


def _called(function: Callable[[], None], number: int) -> None:
    function()


def _made(make: Callable[[int], Iterable[Buffer]], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for number in batch["id"].to_pylist():
            for (part, order), content in make(number):
                columns = [*(pa.array([each], pa.int32()) for each in (part, *order)), pa.array([content], pa.binary())]
                yield pa.RecordBatch.from_arrays(columns, schema=BUFFER_SCHEMA)


def _taken(
    take: Callable[[Iterator[Buffer]], Iterable[Any]], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    def buffers() -> Iterator[Buffer]:
        for batch in batches:
            for part, task, block, number, content in zip(*(column.to_pylist() for column in batch), strict=True):
                yield (part, (task, block, number)), content

    yield from map(_pickled, take(buffers()))
