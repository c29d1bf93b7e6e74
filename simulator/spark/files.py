"""Runs into `file:DIR` and `parquet:DIR`: each task writes its files, which take their names when they are whole.

    DIR/orders-0/part-0000000.jsonl     topic orders, partition 0: the messages of the first task
    DIR/orders-0/part-0000001.jsonl     those of the second, and so on: `cat DIR/orders-0/*` is the partition
    DIR/_SUCCESS                        written last: everything is there

A task writes into a folder that no other attempt has, and renames its files at its end. The name says topic, partition
and task, and a task writes the same bytes whenever it is done; so an attempt that fails leaves nothing under such a
name, and one that is repeated puts the same file in its place.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import Any, Final

from simulator.errors import SinkError
from simulator.run.job import Job
from simulator.run.report.record import Latencies, Recorder
from simulator.run.session import contents_of, share_run
from simulator.run.summary import Summary
from simulator.sinks import transport
from simulator.sinks.files import FolderSink
from simulator.sinks.ledger import Place
from simulator.sinks.ledger import Progress as Written
from simulator.spark.engine import Progress, SparkRun, joined, total
from simulator.spark.jobs import Tasks, task_context
from simulator.spark.work import Work

UNFINISHED: Final = ".unfinished"
SUCCESS: Final = "_SUCCESS"


class FileRun(SparkRun):
    """A run into a folder. A stopped run writes no `_SUCCESS` marker."""

    def __init__(self, session: Any, job: Job, to: Folder, **options: Any) -> None:
        super().__init__(session, job, **options)
        self._to = to
        self._done: list[Done] = []

    @property
    def messages(self) -> int:
        return self.jobs.counted

    def run(self) -> None:
        todo = self.work()
        self.jobs.once(self._to.begin)
        self.progress = Progress(todo, Tasks(0, 0, todo.tasks))
        self._done = self.jobs.run(partial(write, self._to, todo), todo.tasks, messages)
        self.summary = total(todo, (done.summary for done in self._done))
        self.jobs.once(partial(self._to.finish, sum(done.count for done in self._done)))

    def partitions(self) -> Iterable[tuple[Written, dict[str, Any]]]:
        """Account of each partition with its files and their digests."""
        by_partition: dict[Place, list[File]] = {}
        for file in (file for task in self._done for file in task.files):
            by_partition.setdefault((file.progress.topic, file.progress.partition), []).append(file)
        for _, files in sorted(by_partition.items()):
            progress = reduce(joined, (file.progress for file in files))
            listed = [{"file": file.name, "bytes": file.bytes, "sha256": file.sha256} for file in files]
            yield progress, {"files": listed}


@dataclass(frozen=True, slots=True)
class File:
    """A file of a partition: its path below the folder, and the SHA-256 of its values."""

    progress: Written
    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Done:
    """Result of a task: counts, and each file if a record is requested."""

    summary: Summary
    count: int
    files: tuple[File, ...] = ()


@dataclass(frozen=True, slots=True)
class Folder:
    """Folder and form of the files; `record` requests an account of each. The sinks of `scheme` write them."""

    path: str
    partitions: int
    envelope: bool = False
    record: bool = False
    scheme: str = "file"

    @property
    def url(self) -> str:
        return f"{self.scheme}:{self.path}"

    def begin(self) -> None:
        """Creates the folder. Raises SinkError if it is not empty."""
        path = Path(self.path)
        try:
            path.mkdir(parents=True, exist_ok=True)
            existing_name = next(iter(sorted(entry.name for entry in path.iterdir())), None)
        except OSError as error:
            raise SinkError(f"{self.url}: the folder cannot be made: {error.strerror}.") from None
        if existing_name is not None:
            raise SinkError(f"{self.url}: {existing_name} is already there; name an empty folder, or remove it.")

    def write(self, work: Work, task: int, attempt: int) -> Done:
        """Renders a task's share into files. Raises SinkError, DeliveryFailed, UsageError."""
        job = work.open()
        scratch = Path(self.path, UNFINISHED, f"{task}-{attempt}")
        try:
            with self._sink(scratch, job, task) as sink:
                recorder = Recorder(sink, Latencies()) if self.record else None
                summary = share_run(job, work.share(task), sink)()
                sizes = sink.sizes()
            digests = {} if recorder is None else recorder.digests()
            files = []
            for progress in sink.ledger.progress():
                name = sink.file_name(progress.topic, progress.partition)
                _rename(scratch / name, Path(self.path, name))
                files.append(File(progress, name, sizes[name], digests.get((progress.topic, progress.partition), "")))
            return Done(summary, len(files), tuple(files) if self.record else ())
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _sink(self, folder: Path, job: Job, task: int) -> FolderSink:
        parts = transport(self.scheme).parts
        assert parts is not None
        sink: FolderSink = parts(folder, self.partitions, task, contents_of(job, envelope=self.envelope))
        return sink

    def finish(self, count: int) -> None:
        """Checks that `count` files exist, and writes `_SUCCESS`. Raises SinkError."""
        path = Path(self.path)
        shutil.rmtree(path / UNFINISHED, ignore_errors=True)
        existing = sum(len(files) for _, _, files in os.walk(path))
        if existing < count:
            raise SinkError(
                f"{self.url}: {count - existing} of {count} files are missing: all of Spark's processes must share the "
                "folder; name one on a file system that all of them have."
            )
        (path / SUCCESS).touch()


def write(to: Folder, todo: Work, task: int) -> Done:
    """Work of a task, in a folder of this attempt."""
    return to.write(todo, task, task_context().taskAttemptId())


def messages(done: Done) -> int:
    return done.summary.messages


def _rename(file: Path, name: Path) -> None:
    try:
        name.parent.mkdir(parents=True, exist_ok=True)
        os.replace(file, name)
    except OSError as error:
        raise SinkError(f"{name}: {error.strerror}.") from None
