"""Rendering in several processes (`--workers N`): each renders every Nth block of a run and returns its messages.

A worker is a Python process. It reads which blocks to render from standard input, and writes their messages to
standard output, one block at a time. It waits until the run reads a block, so memory stays flat. It ends with its
standard input, so no worker outlives the run, however that ends.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any, Final, Protocol, TypeAlias

import pyarrow as pa

from simulator.errors import SimulatorError, UsageError
from simulator.run.render import Rendered, Renderer
from simulator.stream.engine.block import SnapshotBlock, TurnBlock

Where: TypeAlias = TurnBlock | SnapshotBlock

# Blocks that each worker is asked for ahead: the one that it renders, and the next.
ASKED: Final = 2
# Reading from a pipe of 64 KiB, as Linux makes them, takes twice the processor time.
PIPE_BYTES: Final = 1 << 18


class WorkerEnded(SimulatorError):
    """A worker process ended before the run did."""


class Task(Protocol):
    """What a worker is given, pickled: a job."""

    def renderer(self, partitions: Callable[[str], int], *, wall_clock: bool = False) -> Renderer: ...


class Workers:
    """The processes of a run, in place of its `Renderer`. They start when the first block is asked for."""

    def __init__(self, count: int, job: Task, partitions: Callable[[str], int], *, wall_clock: bool = False) -> None:
        # two blocks are with the threads that begin and finish them
        self.ahead = ASKED * count - 2
        self.processes: list[subprocess.Popen[bytes]] = []
        self._count, self._partitions = count, partitions
        self._job = pickle.dumps((job, wall_clock))
        # one thread asks for blocks, and another one answers questions
        self._writing = threading.Lock()
        self._begun = self._finished = 0

    def begin(self, where: Where) -> Where:
        """Ask a worker for a block."""
        if not self.processes:
            self.processes = [_process() for _ in range(self._count)]
            for process in self.processes:
                self._write(process, self._job)
        self._write(self.processes[self._begun % self._count], pickle.dumps(where))
        self._begun += 1
        return where

    def finish(self, begun: Where) -> Rendered:
        """The messages of the next block. Raises UsageError, SinkError, WorkerEnded."""
        process = self.processes[self._finished % self._count]
        self._finished += 1
        assert process.stdout is not None
        while True:
            try:
                answer = receive(process.stdout)
            except (EOFError, pickle.UnpicklingError):
                status = process.wait()
                how = f"ended with status {status}" if status >= 0 else f"was killed by {signal.Signals(-status).name}"
                raise WorkerEnded(f"worker process {process.pid} {how}") from None
            match answer:
                case Rendered():
                    return answer
                case SimulatorError():
                    raise answer
            self._write(process, pickle.dumps(self._partitions(answer)))

    def close(self) -> None:
        """Kill the processes: nothing that they still do is needed."""
        for process in self.processes:
            process.kill()
        for process in self.processes:
            with process:
                pass

    def _write(self, process: subprocess.Popen[bytes], pickled: bytes) -> None:
        assert process.stdin is not None
        with self._writing, suppress(BrokenPipeError):  # of a process that ended: `finish` says so
            process.stdin.write(pickled)
            process.stdin.flush()


def _process() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-c", f"from {__name__} import main; main()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(each or os.getcwd() for each in sys.path)},
        pipesize=PIPE_BYTES,
        process_group=0,  # Ctrl-C is for the run, which ends its workers
    )


# ------------------------------------------------------------------------------------------------------- in the worker


def main() -> None:
    """A worker process, which ends when the run does."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    try:
        work(sys.stdin.buffer, answers)
    except (EOFError, BrokenPipeError):
        os._exit(0)


def work(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Read a job, then render block after block. A topic's name among the answers asks how many partitions it has.

    Raises EOFError at the end of the requests.
    """
    waiting = deque[Where]()

    def partitions(topic: str) -> int:
        send(topic, answers)
        while not isinstance(answer := pickle.load(requests), int):
            waiting.append(answer)
        return answer

    job, wall_clock = pickle.load(requests)
    renderer = job.renderer(partitions, wall_clock=wall_clock)
    while True:
        where = waiting.popleft() if waiting else pickle.load(requests)
        try:
            send(renderer.finish(renderer.begin(where)).finished(), answers)
        except SimulatorError as error:  # others end the worker, with their traces
            send((UsageError if isinstance(error, UsageError) else SimulatorError)(str(error)), answers)


def send(item: object, stream: IO[bytes]) -> None:
    """Write the sizes of an object's arrays, the arrays, which are not copied, then the object itself."""
    pickled: list[pickle.PickleBuffer] = []
    head = pickle.dumps(item, protocol=5, buffer_callback=pickled.append)
    arrays = [each.raw() for each in pickled]
    stream.write(pickle.dumps([each.nbytes for each in arrays]))
    for each in arrays:
        stream.write(each)
    stream.write(head)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """The next object that `send` wrote. Raises EOFError and UnpicklingError for one that is cut off."""
    arrays = []
    for size in pickle.load(stream):
        arrays.append(pa.allocate_buffer(size))
        if stream.readinto(memoryview(arrays[-1])) < size:  # type: ignore[attr-defined]
            raise EOFError
    return pickle.load(stream, buffers=arrays)
