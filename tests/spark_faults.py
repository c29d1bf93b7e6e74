"""Tasks that go wrong, for the executors of tests: they import this module."""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from simulator.sinks.files import FolderSink
from simulator.sinks.sink import Sink
from simulator.spark.brokers import Broker
from simulator.spark.files import Done, Folder
from simulator.spark.work import Work


def attempt() -> int:
    """0 for a task's first attempt, -1 on the driver."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return -1 if context is None else int(context.attemptNumber())


@dataclass(frozen=True, slots=True)
class Failing(Folder):
    """First attempts of task 1 die while they write, those of task 2 fail when all is in its place."""

    def write(self, work: Work, task: int, number: int) -> Done:
        first = attempt() == 0
        if task == 1 and first:
            _die_behind_the_first_batch()
        done = Folder.write(self, work, task, number)
        if task == 2 and first:
            raise RuntimeError("lost on the way to the driver")
        return done


def _die_behind_the_first_batch() -> None:
    write = FolderSink.write

    def deadly(sink: FolderSink, *arguments: Any, **more: Any) -> None:
        write(sink, *arguments, **more)
        os._exit(9)

    FolderSink.write = deadly  # type: ignore[method-assign, assignment]


@dataclass(frozen=True, slots=True)
class Stuck(Folder):
    """The first attempt of the last task waits for ever; all tasks note where they are."""

    def write(self, work: Work, task: int, number: int) -> Done:
        note = Path(self.path).with_name(f"{task}.{attempt()}")
        note.touch()
        if task == work.tasks - 1 and attempt() == 0:
            time.sleep(3600)
        return Folder.write(self, work, task, number)


@dataclass(frozen=True, slots=True)
class Full(Folder):
    """No attempt of any task has room."""

    def write(self, work: Work, task: int, number: int) -> Done:
        return Folder.write(Folder("/dev/null/full", self.partitions), work, task, number)


@dataclass(frozen=True, slots=True)
class Absent(Folder):
    """A package is missing where tasks run."""

    def write(self, work: Work, task: int, number: int) -> Done:
        import absent_package  # type: ignore[import-not-found]  # noqa: F401

        raise AssertionError


@dataclass(frozen=True, slots=True)
class Deadly(Broker):
    """Task 1 dies behind the first batch that it sends, once; `died` is the file that says so."""

    def open(self) -> Sink:
        from pyspark import TaskContext

        sink, context = Broker.open(self), TaskContext.get()
        if context is not None and context.partitionId() == 1 and not died(self.url).exists():
            write = sink.write

            def deadly(*arguments: Any, **more: Any) -> None:
                write(*arguments, **more)
                sink.flush()
                died(self.url).touch()
                os._exit(9)

            sink.write = deadly  # type: ignore[method-assign]
        return sink


def died(url: str) -> Path:
    return Path(tempfile.gettempdir(), f"cdcsim-died-{crc32(url.encode())}")
