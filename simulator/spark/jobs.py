"""Jobs of a run on Spark: functions in tasks, which the waiting thread watches and can cancel.

`classic` asks a driver of this process, `connect` a server.
"""

from __future__ import annotations

import threading
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from simulator.spark.failures import sentence
from simulator.spark.ring import Ring

T = TypeVar("T")
R = TypeVar("R")

WATCH_SECONDS: Final = 0.25


class Stopped(Exception):
    """Raised when a job was canceled on request."""


@dataclass(frozen=True, slots=True)
class Tasks:
    """Progress of the jobs of a step."""

    done: int
    running: int
    all: int


def nothing(result: object) -> int:
    return 0


class Jobs(ABC):
    """The jobs of a run. `stopped` returns whether to cancel them, `watch` is called with their progress."""

    cores: int

    def __init__(self, stopped: Callable[[], bool], watch: Callable[[Tasks], None]) -> None:
        self._stopped, self._watch = stopped, watch

    @property
    def slots(self) -> int:
        """Number of tasks that can run at once now."""
        return self.cores

    @property
    @abstractmethod
    def counted(self) -> int:
        """The sum of `count` over the results of `run` so far."""

    @abstractmethod
    def run(self, function: Callable[[int], R], tasks: int, count: Callable[[R], int] = nothing) -> list[R]:
        """Results of the function for each number below `tasks`, in order, each in a task of its own. Raises Stopped,
        SimulatorError."""

    @abstractmethod
    def together(self, function: Callable[[int], R], tasks: int) -> list[R]:
        """Results of the function for each number below `tasks`, in order, in tasks that run at once and have a `ring`.
        Raises TaskDied if one of them does, which ends the others; Stopped, SimulatorError."""

    @abstractmethod
    def once(self, function: Callable[[], None]) -> None:
        """Runs a function on a machine whose disk the tasks write to. Raises SimulatorError."""

    @abstractmethod
    def _thread(self, target: Callable[[], None]) -> threading.Thread:
        """A thread that may use Spark."""

    @abstractmethod
    def _tasks(self, name: str) -> Tasks:
        """Progress of the job of a name."""

    @abstractmethod
    def _cancel(self, name: str) -> None:
        """Cancel the job of a name."""

    def _results(self, work: Callable[[str], Iterable[R]]) -> list[R]:
        """Results of a job, run under a name of its own. Raises Stopped, SimulatorError."""
        name, results, failures = f"cdcsim-{uuid.uuid4()}", list[R](), list[Exception]()

        def collect() -> None:
            try:
                results.extend(work(name))
            except Exception as error:
                failures.append(error)

        thread = self._thread(collect)
        thread.start()
        canceled = ended = False
        while not ended:
            thread.join(WATCH_SECONDS)
            ended = not thread.is_alive()
            if self._stopped() and not (canceled or ended):
                canceled = True
                self._cancel(name)
            self._watch(self._tasks(name))
        if canceled and failures:
            raise Stopped
        if failures:
            raise sentence(failures[0]) from None
        return results


def cut(items: Sequence[T], pieces: int) -> list[Sequence[T]]:
    """The items in consecutive pieces of about equal size, none of them empty."""
    pieces = max(1, min(pieces, len(items)))
    return [items[i * len(items) // pieces : (i + 1) * len(items) // pieces] for i in range(pieces)]


def task_context() -> Any:
    """Spark's context of the task that this process works on."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context


def ring(secret: bytes) -> Ring:
    """Ring of this task and those that run with it, of `Jobs.together`."""
    from pyspark import BarrierTaskContext

    context = BarrierTaskContext.get()
    number = context.partitionId()
    host = context.getTaskInfos()[number].address.rpartition(":")[0].strip("[]")
    return Ring(host, number, secret, context.allGather)
