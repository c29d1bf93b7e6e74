"""Runs to compare: a generated stream, the script in YAML that is shipped, and one in SQL, in six formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from simulator.run.job import Job, Partitions, open_job
from simulator.run.plan import Limits
from simulator.run.session import local_run
from simulator.sinks.files import FolderSink
from simulator.sinks.framing import framing

PARTITIONS: Final = 3
CHANGES: Final = 700
SHOP: Final = """\
tables:
  users:
    key: id
    columns:
      id: {type: int64, values: sequence}
      name: string(20)
      balance: "decimal(10,2)"
      seen_at: timestamp(3)
      n: {type: int32, values: version}
    rows: 300
  visits:
    key: id
    columns:
      id: {type: int64, values: sequence}
      page: string(12)
      n: {type: int32, values: version}
    rows: 200
    mix: {insert: 0.6, update: 0.2, delete: 0.2}
transactions: {1: 3, 5: 1}
schema_changes:
  - {at: 200, table: users, add_column: {name: level, column: {type: string(8)}}}
"""
SCRIPT: Final = """\
create database d; use d; create table t(id int primary key, v varchar(9));
insert into t values (1, 'a'), (2, 'b');
-- @snapshot
update t set v = 'c'; alter table t add w int; insert into t values (3, 'd', 1); delete from t where id = 1;
"""
FORMATS: Final = ("canal-json", "dts-canal-json", "dts-avro", "drs-json", "oms-default", "cloudcanal-json")
SCENARIOS: Final = ("shop.yaml", "tour", "script.sql")


def job_of(scenario: str, format: str, folder: Path) -> Job:
    """A generated stream, the script in YAML that is shipped, and one in SQL."""
    for name, text in (("shop.yaml", SHOP), ("script.sql", SCRIPT)):
        (folder / name).write_text(text)
    file = scenario if scenario == "tour" else str(folder / scenario)
    return open_job(file, format).addressed(partitions=Partitions(PARTITIONS))


def write_locally(job: Job, folder: Path, *, envelope: bool = False) -> Any:
    container = job.codec.layout.container
    with FolderSink(folder, PARTITIONS, framing(envelope=envelope, container=container)) as sink:
        return local_run(job, sink, limits=Limits(changes=CHANGES), snapshot=True)()
