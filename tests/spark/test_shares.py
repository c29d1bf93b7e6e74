"""Tasks in this process, without Spark: their files in order are those of the local engine, for any number of tasks,
whatever attempts of them fail or are made twice."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from runs import CHANGES, FORMATS, PARTITIONS, SCENARIOS, job_of, write_locally
from written import digests

from simulator.cli.commands.spark import text
from simulator.run.job import Job
from simulator.run.plan import Limits
from simulator.run.session import local_run
from simulator.sinks.files import FolderSink
from simulator.sinks.parquet import ParquetSink
from simulator.spark.engine import Progress
from simulator.spark.files import Folder
from simulator.spark.jobs import Tasks
from simulator.spark.work import Work, work

pytestmark = pytest.mark.spark  # for its time: a fast test is about less
LIMITS: Final = Limits(changes=CHANGES)


class Died(BaseException):
    """What ends an attempt."""


def once(folder: Folder, todo: Work, task: int) -> int:
    return folder.write(todo, task, attempt=0).count


def thrice(folder: Folder, todo: Work, task: int) -> int:
    """One attempt dies behind its first batch and clears nothing up, one ends well, and one ends later."""

    def dies(sink: FolderSink, *batch: Any, **more: Any) -> None:
        write(sink, *batch, **more)
        raise Died

    write = FolderSink.write
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FolderSink, "write", dies)
        patch.setattr("simulator.spark.files.shutil.rmtree", lambda *_, **__: None)
        with suppress(Died):  # but for a task without messages
            folder.write(todo, task, attempt=0)
    well, later = (folder.write(todo, task, attempt).count for attempt in (1, 2))
    assert well == later
    return later


def in_tasks(job: Job, folder: Folder, tasks: int, write: Callable[[Folder, Work, int], int] = once) -> None:
    """What Spark does with a run: each task, in any order, and then its end."""
    plan = job.plan(LIMITS, snapshot=True).counted()
    todo = work(pickle.dumps(job), plan, tuple(plan.snapshot_blocks()), tasks=tasks, cores=1)
    folder.finish(sum(write(folder, todo, task) for task in reversed(range(tasks))))


@pytest.mark.parametrize(("scenario", "format"), product(SCENARIOS, FORMATS))
def test_any_number_of_tasks(tmp_path: Path, scenario: str, format: str) -> None:
    """Keys and headers as well, and the snapshot."""
    job = job_of(scenario, format, tmp_path)
    write_locally(job, tmp_path / "local", envelope=True)
    wanted = digests(tmp_path / "local")
    for tasks, write in ((1, once), (2, once), (7, once), (64, once), (7, thrice)):
        folder = tmp_path / f"{tasks}-{write.__name__}"
        in_tasks(job, Folder(str(folder), PARTITIONS, envelope=True), tasks, write)
        assert digests(folder) == wanted
        assert not (folder / ".unfinished").exists()


def test_progress() -> None:
    """Of a run of 1,024 blocks in 64 tasks; before it, and before a task is done, no time left is known."""
    run = SimpleNamespace(progress=None, elapsed=12.0, messages=3_000_000)
    assert text(run) == "counting where the run ends"  # type: ignore[arg-type]
    todo = Work(b"", 0, 1024, 1, (), 64)
    run.progress = Progress(todo, Tasks(12, 2, 64))
    assert text(run) == "192 of 1,024 blocks, 2 tasks running, 3,000,000 messages, 250,000/s, 52 s left"  # type: ignore[arg-type]
    run.progress, run.messages = Progress(todo, Tasks(0, 1, 64)), 0
    assert text(run) == "0 of 1,024 blocks, 1 task running, 0 messages"  # type: ignore[arg-type]


def test_parquet(tmp_path: Path) -> None:
    """The rows of each partition's files are those of a local run."""
    job = job_of("shop.yaml", "cloudcanal-json", tmp_path)
    with ParquetSink(tmp_path / "local", PARTITIONS) as sink:
        local_run(job, sink, limits=LIMITS, snapshot=True)()
    in_tasks(job, Folder(str(tmp_path / "spark"), PARTITIONS, scheme="parquet"), 7, thrice)
    local, spark = (partitions_of(tmp_path / name) for name in ("local", "spark"))
    assert len(local) == 2 * PARTITIONS
    assert spark == local


def partitions_of(folder: Path) -> dict[str, pa.Table]:
    return {
        path.relative_to(folder).as_posix(): pa.concat_tables(
            parquet.ParquetFile(file).read() for file in sorted(path.iterdir())
        )
        for path in folder.glob("*/*")
        if path.is_dir()
    }
