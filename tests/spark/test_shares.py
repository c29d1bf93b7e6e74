"""Tasks in this process, without Spark: their files in order are those of the local engine, for any number of tasks."""

from __future__ import annotations

import pickle
from itertools import product
from pathlib import Path

import pytest
from runs import CHANGES, FORMATS, PARTITIONS, SCENARIOS, job_of, write_locally
from written import digests

from simulator.run.plan import Limits
from simulator.spark.files import Folder
from simulator.spark.work import work

pytestmark = pytest.mark.spark  # for its time: a fast test is about less


@pytest.mark.parametrize(("scenario", "format"), product(SCENARIOS, FORMATS))
def test_any_number_of_tasks(tmp_path: Path, scenario: str, format: str) -> None:
    """Keys and headers as well, and the snapshot."""
    job = job_of(scenario, format, tmp_path)
    write_locally(job, tmp_path / "local", envelope=True)
    wanted = digests(tmp_path / "local")
    plan = job.plan(Limits(changes=CHANGES), snapshot=True).counted()
    rows, pickled = tuple(plan.snapshot_blocks()), pickle.dumps(job)
    for tasks in (1, 2, 7, 64):
        todo = work(pickled, plan, rows, tasks=tasks, cores=1)
        folder = Folder(str(tmp_path / str(tasks)), PARTITIONS, envelope=True)
        count = sum(folder.write(todo, task, attempt=0).count for task in range(tasks))
        folder.finish(count)
        assert digests(tmp_path / str(tasks)) == wanted
