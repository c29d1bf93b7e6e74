"""Runs on Spark that write files: the local engine's bytes, whatever happens to tasks."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any, Final

import pytest
from command import Command
from fastavro import reader
from runs import CHANGES, FORMATS, PARTITIONS, SCENARIOS, job_of, write_locally
from spark_faults import Absent, Failing, Full
from written import digests

from simulator.errors import SimulatorError, UsageError
from simulator.run.faults.spec import parse
from simulator.run.job import Job, open_job
from simulator.run.plan import Limits
from simulator.spark.files import FileRun, Folder

pytestmark = pytest.mark.spark

# Each format, of one of the scenarios, by one of these numbers of tasks; test_shares.py has all of them without Spark.
RUNS: Final = list(zip(FORMATS, cycle(SCENARIOS), cycle((2, 7, 64, 1)), strict=False))


def run(spark: Any, job: Job, to: Folder, tasks: int) -> FileRun:
    made = FileRun(spark, job, to, limits=Limits(changes=CHANGES), snapshot=True, tasks=tasks)
    made()
    return made


@pytest.mark.parametrize(("format", "scenario", "tasks"), RUNS)
def test_equal_to_the_local_engine(spark: Any, tmp_path: Path, format: str, scenario: str, tasks: int) -> None:
    """Each partition byte for byte, snapshot included: as envelopes, in which keys and headers are."""
    job = job_of(scenario, format, tmp_path)
    local = write_locally(job, tmp_path / "local", envelope=True)
    done = run(spark, job, Folder(str(tmp_path / "spark"), PARTITIONS, envelope=True), tasks)
    assert digests(tmp_path / "spark") == digests(tmp_path / "local")
    assert done.messages == local.messages > 0
    assert {**done.summary.as_dict(), "seconds": 0} == {**local.as_dict(), "seconds": 0}
    assert sorted(path.name for path in (tmp_path / "spark").iterdir() if path.is_file()) == ["_SUCCESS"]


def test_faults_are_equal_to_the_local_engine(spark: Any, tmp_path: Path) -> None:
    faults = "redelivery=5000,flush=200,duplicates,late=0.5,gap,poison,truncated,unknown-column,tombstones"
    job = replace(job_of("shop.yaml", "canal-json", tmp_path), faults=parse(faults))
    local = write_locally(job, tmp_path / "local", envelope=True)
    done = run(spark, job, Folder(str(tmp_path / "spark"), PARTITIONS, envelope=True), tasks=5)
    assert digests(tmp_path / "spark") == digests(tmp_path / "local")
    assert done.summary.faults == local.faults
    assert done.summary.occurrences == local.occurrences
    assert {"late", "duplicates"} < local.faults.keys()


def test_a_task_that_is_done_again_changes_nothing(spark: Any, tmp_path: Path) -> None:
    job = job_of("shop.yaml", "canal-json", tmp_path)
    write_locally(job, tmp_path / "local")
    run(spark, job, Failing(str(tmp_path / "spark"), PARTITIONS), tasks=4)
    assert digests(tmp_path / "spark") == digests(tmp_path / "local")
    assert not (tmp_path / "spark" / ".unfinished").exists()


@pytest.mark.parametrize(
    ("fault", "begins", "ends"),
    [
        (Full, "file:/dev/null/full/.unfinished/", ": the folder cannot be made: Not a directory."),
        (
            Absent,
            "the Python of Spark's executors has no package 'absent_package': ",
            "Spark's setting spark.pyspark.python.",
        ),
    ],
)
def test_a_task_that_never_ends_well_is_one_sentence(
    spark: Any, tmp_path: Path, fault: type[Folder], begins: str, ends: str
) -> None:
    with pytest.raises(SimulatorError) as error:
        run(spark, job_of("script.sql", "canal-json", tmp_path), fault(str(tmp_path / "spark"), 1), tasks=2)
    assert str(error.value).startswith(begins)
    assert str(error.value).endswith(ends)
    assert not (tmp_path / "spark" / "_SUCCESS").exists()


def test_avro_files_are_whole(spark: Any, command: Command, tmp_path: Path) -> None:
    """Each file is a container of its own, and the record lists it."""
    folder, record = tmp_path / "out", tmp_path / "record.json"
    command(
        "run", "crud", "-f", "dts-avro", "--limit", "300", "--engine", "spark", "--tasks", "3", "-q",
        "--to", f"file:{folder}?partitions=2", "--record", record, "--summary-to", tmp_path / "summary.json", status=0,
    )  # fmt: skip
    facts, summary = json.loads(record.read_bytes()), json.loads((tmp_path / "summary.json").read_bytes())
    files = {folder / file["file"]: file["bytes"] for each in facts["partitions"] for file in each["files"]}
    assert files == {path: path.stat().st_size for path in folder.glob("*/*.avro")}
    assert sum(each["delivered"] for each in facts["partitions"]) == summary["delivered"] == summary["messages"]
    rows = 0
    for path in files:
        with path.open("rb") as file:
            rows += sum(1 for _ in reader(file))
    assert rows == summary["messages"]


TO: Final = ["--to", "file:{folder}"]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (TO, "scenarios/crud.yaml has no end: give a limit of row changes, or turns."),
        (["--limit", "1"], "--to -: Spark's tasks write to file:DIR, parquet:DIR or a broker; name one of these."),
        ([*TO, "--rate", "5"], "--rate: the Spark engine does not do this; leave it out, or leave out --engine spark."),
        ([*TO, "--conf", "x=1"], "--conf x=1: write a setting of Spark, as in spark.executor.memory=4g."),
        (
            ["--to", "file:{there}", "--limit", "1"],
            "file:{there}: old is already there; name an empty folder, or remove it.",
        ),
    ],
)
def test_mistakes(spark: Any, command: Command, tmp_path: Path, more: list[str], sentence: str) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "old").touch()
    names = {"folder": str(tmp_path / "new"), "there": str(tmp_path / "there")}
    words = [word.format(**names) for word in more]
    done = command("run", "crud", "-f", "canal-json", "--engine", "spark", "-q", *words)
    assert done.status in (1, 2)
    assert done.err.splitlines()[-1] == "cdcsim: " + sentence.format(**names)


def test_the_end_and_the_snapshot_are_counted_in_tasks(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prefix sums of what tasks counted end a run where the local engine ends it."""
    job = job_of("shop.yaml", "oms-default", tmp_path)
    limits = Limits(start_at=5, changes=900_000)
    here = FileRun(spark, job, Folder(str(tmp_path), 1), limits=limits, snapshot=True).work()
    monkeypatch.setattr("simulator.spark.engine.COUNTED_HERE", 0)
    there = FileRun(spark, job, Folder(str(tmp_path), 1), limits=limits, snapshot=True).work()
    assert (here.first, here.stop, here.rows) == (there.first, there.stop, there.rows)
    assert int(job.stream.count(here.first, here.stop).sum()) >= 900_000


def test_a_stream_that_ends_before_the_run(spark: Any, tmp_path: Path) -> None:
    job = open_job("crud", "canal-json")
    with pytest.raises(UsageError, match=r"is beyond turn"):
        FileRun(
            spark, job, Folder(str(tmp_path), 1), limits=Limits(start_at=job.stream.last_turn or 0, turns=10**9)
        ).work()
