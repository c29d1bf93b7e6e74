"""Rendering in several processes (`--workers N`): each renders every Nth block of a run and returns its messages.

A worker is a fork of the run, made before the run has threads, so it shares imported modules and opened jobs. If there
are threads already, or the system is not Linux, it is a new Python process, which opens the job itself. Requests and
answers go through a socket, messages through memory that both processes share. A worker waits until the run reads a
block, so memory stays flat. It ends with its socket, so no worker outlives the run, however that ends.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import socket
import sys
import threading
import traceback
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from io import BufferedRWPair
from typing import Any, Final, NoReturn, Protocol, TypeAlias

from simulator.errors import SimulatorError, UsageError
from simulator.run.plan import Plan
from simulator.run.processes.shared_memory import SharedMemory, Stored
from simulator.run.render import Rendered, Renderer
from simulator.stream.engine.block import SnapshotBlock, TurnBlock

Where: TypeAlias = TurnBlock | SnapshotBlock

# Blocks requested of each worker ahead: the one that it renders, and the next.
ASKED: Final = 2
# Bytes of all workers' memory that the run keeps mapped.
KEPT_BYTES: Final = 200 << 20
# File descriptor of the shared memory in a new process.
MEMORY: Final = 3
# A run of fewer row changes or turns than LONG_CHANGES is rendered by one process unless asked otherwise, a longer one
# by one process per core, up to MOST_CORES: a single process sends the messages of all of them.
LONG_CHANGES: Final = 1_000_000
MOST_CORES: Final = 8
MOST_WORKERS: Final = 64


def default_workers(plan: Plan) -> int:
    """Default number of processes that render a run."""
    turns = LONG_CHANGES if plan.stop is None else plan.stop - plan.first
    if min(turns, LONG_CHANGES if plan.changes is None else plan.changes) < LONG_CHANGES:
        return 1
    if sys.platform == "win32" or _file_limit() is not None:
        return 1
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return min(cores, MOST_CORES)


def _file_limit() -> int | None:
    """Largest file size of this process in bytes, None without a limit: it limits shared memory, which is a file."""
    import resource  # not available on Windows

    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return None if limit == resource.RLIM_INFINITY else limit


class WorkerEnded(SimulatorError):
    """A worker process ended before the run did."""


class Task(Protocol):
    """Task of a worker: a job."""

    def renderer(self, partitions: Callable[[str], int], *, wall_clock: bool = False) -> Renderer: ...


class Process:
    """A worker, as the run sees it. `slots` are the memory slots that it was asked to fill, in order."""

    def __init__(self, job: Task, wall_clock: bool, others: Sequence[Process], *, kept_bytes: int) -> None:
        self.slots = deque[int]()
        self._status: int | None = None
        self._socket, theirs = socket.socketpair()
        self.memory = SharedMemory(kept_bytes=kept_bytes)
        self._answers = self._socket.makefile("rb")
        with theirs:
            if _forks():
                with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
                    self.pid = os.fork()
                if not self.pid:
                    for worker in (*others, self):  # otherwise a worker would not see the end of the run
                        os.close(worker._socket.fileno())
                    serve(theirs, self.memory, job, wall_clock=wall_clock)
            else:
                self.pid = _spawned(theirs, self.memory)
                self.send((job, wall_clock))

    def send(self, request: object) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):  # the process has ended: `answer` reports it
            self._socket.sendall(pickle.dumps(request))

    def answer(self) -> object:
        """The worker's next answer. Raises WorkerEnded."""
        try:
            return pickle.load(self._answers)
        except (EOFError, pickle.UnpicklingError, ConnectionResetError):
            status = self.wait()
            how = f"ended with status {status}" if status >= 0 else f"was killed by {signal.Signals(-status).name}"
            raise WorkerEnded(f"worker process {self.pid} {how}") from None

    def wait(self) -> int:
        """Waits for the worker's end; returns its exit status."""
        if self._status is None:
            try:
                self._status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            except ChildProcessError:  # the parent of this process ignores SIGCHLD: the system keeps no status
                self._status = 0
        return self._status

    def kill(self) -> None:
        if self._status is None:
            os.kill(self.pid, signal.SIGKILL)

    def close(self) -> None:
        self.wait()
        self._answers.close()
        self._socket.close()
        self.memory.close()


class Workers:
    """The worker processes of a run, in place of its `Renderer`. Raises UsageError for too many workers and for a file
    size limit, and SimulatorError if the system starts no more processes."""

    elsewhere = True

    def __init__(self, count: int, job: Task, partitions: Callable[[str], int], *, wall_clock: bool = False) -> None:
        if count > MOST_WORKERS:
            raise UsageError(f"--workers {count}: there are {MOST_WORKERS} at the most.")
        if sys.platform == "win32":
            raise UsageError(f"--workers {count}: on Windows a run is one process; leave --workers out.")
        if (limit := _file_limit()) is not None:
            raise UsageError(
                f"--workers {count}: processes share memory through a file, and `ulimit -f` lets a file have only"
                f" {limit:,} bytes: raise it, or leave --workers out."
            )
        # two blocks are held by the threads: one begins blocks, the other finishes and sends them
        self.ahead = ASKED * count - 2
        self.processes: list[Process] = []
        self._end = weakref.finalize(self, _end, self.processes)
        try:
            for _ in range(count):
                kept = KEPT_BYTES // (ASKED * count)
                self.processes.append(Process(job, wall_clock, self.processes, kept_bytes=kept))
        except OSError as error:
            raise SimulatorError(f"--workers {count}: a process cannot be started: {error.strerror}; use 1.") from None
        self._partitions = partitions
        # one thread requests blocks while another one answers the workers' questions
        self._writing = threading.Lock()
        self._begun = self._finished = 0

    def begin(self, where: Where) -> Where:
        """Requests a block of a worker."""
        process = self.processes[self._begun % len(self.processes)]
        self._begun += 1
        process.slots.append(slot := process.memory.free_slot())
        with self._writing:
            process.send((where, slot))
        return where

    def finish(self, begun: Where) -> Rendered:
        """The messages of the next block. Raises UsageError, SinkError, WorkerEnded."""
        process = self.processes[self._finished % len(self.processes)]
        self._finished += 1
        slot = process.slots.popleft()
        while True:
            match process.answer():
                case Stored() as stored:
                    rendered = process.memory.read(slot, stored)
                    assert isinstance(rendered, Rendered)
                    return rendered
                case SimulatorError() as error:
                    raise error
                case str(topic):
                    partitions = self._partitions(topic)
                    with self._writing:
                        process.send(partitions)

    def close(self) -> None:
        """Kills the processes; their unfinished work is not needed."""
        self._end()


def _end(processes: Sequence[Process]) -> None:
    for process in processes:
        process.kill()
    for process in processes:
        process.close()


def _forks() -> bool:
    """Whether a fork can render: other threads may hold locks that it needs; those of sinks hold none."""
    others = {*threading.enumerate()} - {threading.current_thread()}
    return sys.platform == "linux" and all(thread.name.startswith("cdcsim-") for thread in others)


def _spawned(channel: socket.socket, memory: SharedMemory) -> int:
    """Starts a new process with the socket as its standard input and the memory as file descriptor `MEMORY`."""
    path = os.pathsep.join(folder or os.getcwd() for folder in sys.path)
    return os.posix_spawn(
        sys.executable,
        [sys.executable, "-P", "-c", f"from {__name__} import main; main()"],
        {**os.environ, "PYTHONPATH": path},
        file_actions=[
            (os.POSIX_SPAWN_DUP2, channel.fileno(), 0),
            (os.POSIX_SPAWN_DUP2, memory.file, MEMORY),
        ],
    )


# ------------------------------------------------------------------------------------------------------- in the worker


def main() -> None:
    """Entry point of a worker that is a new process."""
    serve(socket.socket(fileno=0), SharedMemory(MEMORY))


def serve(
    channel: socket.socket, memory: SharedMemory, job: Task | None = None, *, wall_clock: bool = False
) -> NoReturn:
    """Renders the requested blocks, and ends when the run does. A new process reads the job first."""
    status = 1
    try:
        os.setpgid(0, 0)  # Ctrl-C is for the run, which ends its workers
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        gc.freeze()  # objects of the run stay in memory that both processes share
        with channel.makefile("rwb") as file:
            if job is None:
                job, wall_clock = pickle.load(file)
            work(file, memory, job, wall_clock=wall_clock)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        status = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


def work(file: BufferedRWPair[Any, Any], memory: SharedMemory, job: Task, *, wall_clock: bool = False) -> None:
    """Renders block after block. An answer that is a topic's name asks for the partition count of the topic.

    Raises EOFError at the end of the requests.
    """
    waiting = deque[tuple[Where, int]]()

    def answer(item: object) -> None:
        pickle.dump(item, file)
        file.flush()

    def partitions(topic: str) -> int:
        answer(topic)
        while not isinstance(request := pickle.load(file), int):
            waiting.append(request)
        return request

    renderer = job.renderer(partitions, wall_clock=wall_clock)
    while True:
        where, slot = waiting.popleft() if waiting else pickle.load(file)
        try:
            rendered = renderer.finish(renderer.begin(where)).finished(partial(memory.room, slot))
            answer(memory.write(slot, rendered))
            del rendered
        except SimulatorError as error:  # other errors end the worker with a traceback
            answer((UsageError if isinstance(error, UsageError) else SimulatorError)(str(error)))
