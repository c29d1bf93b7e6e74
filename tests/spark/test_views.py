"""Options and columns of the data source, in this process: its readers as Spark's workers call them."""

from __future__ import annotations

import json
import os
import sys
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import simulator.spark
from simulator.errors import SimulatorError, UsageError
from simulator.run.job import Job, Partitions, open_job
from simulator.run.plan import Limits
from simulator.spark.session import check_master
from simulator.truth.known import KnownRows
from simulator.truth.ledger import ledgers
from simulator.truth.partitions import joined, partition_ledger

pytestmark = pytest.mark.spark

SHAPES: Final = """\
create database d; use d; create table t (id int primary key, n int, e enum('a','b'), b bigint unsigned);
insert into t values (1, 5, 'b', 18446744073709551615);
alter table t add note varchar(9) default 'x', modify n bigint, add s smallint not null;
insert into t (id, n, note, s) values (2, 6, 'y', 0);
alter table t rename column note to remark;
alter table t drop column n, add n varchar(3);
update t set n = 'z' where id = 2;
truncate table t;
"""
# Each kind of read, by the class's method.
BATCH, STREAM = "reader", "streamReader"


def source_of(**options: Any) -> Any:
    from simulator.spark import CdcSimDataSource

    return CdcSimDataSource({name: str(value) for name, value in options.items()})


def read(**options: Any) -> pa.Table:
    reader = source_of(**options).reader(None)
    batches = [batch for partition in reader.partitions() for batch in reader.read(partition)]
    return pa.Table.from_batches(batches, schema=reader.view.schema)


def replayed(changes: pa.Table, names: list[str]) -> dict[int, dict[str, Any]]:
    """The rows that changes leave, with these columns; each before image is the row as it was."""
    rows: dict[int, dict[str, Any]] = {}
    for change in changes.to_pylist():
        if change["op"] == "TRUNCATE_TABLE":
            rows.clear()
        if change["before"] is not None:
            assert rows.pop(change["before"]["id"]) == change["before"]
        if change["after"] is not None:
            rows[change["after"]["id"]] = change["after"]
    return {id: {name: row[name] for name in names} for id, row in rows.items()}


@pytest.mark.parametrize(
    ("table", "statement", "format"),
    [("orders", "ADD_COLUMN", ""), ("payments", "RENAME_COLUMN", "maxwell-json")],
)
def test_changes_give_the_state_across_a_schema_change(table: str, statement: str, format: str) -> None:
    """Rows that no change touches after it have the added column's default, too."""
    first = {"orders": 19_900, "payments": 59_900}[table]
    options = {
        "scenario": "orders",
        "table": table,
        "set": "tables.customers.rows=200",
        **({"format": format} if format else {}),
    }
    changes = read(**options, view="changes", start_at=first, turns=200, snapshot="true")
    assert statement in changes["op"].to_pylist()
    state = read(**options, view="state", turn=first + 200)
    rows = {row["id"]: row for row in state.to_pylist()}
    assert len(rows) > 1000
    assert replayed(changes, state.schema.names) == rows


def test_ledgers_are_those_of_the_local_engine() -> None:
    """The entries of each key, added up over tasks, before and after a schema change."""
    table, format, turns = "payments", "maxwell-json", 61_000
    settings = ("tables.customers.rows=200", "rate=5000")
    options = {"scenario": "orders", "set": "; ".join(settings), "tasks": 7}
    job = open_job("orders", format, settings=settings)
    known = KnownRows(job.format, job.codec, job.unsent)
    every = ledgers(job.stream, job.stream.border(turns), known)
    wanted = next(own for each, own in every if each.id.name == table)
    parts = read(**options, format=format, view="ledger", table=table, turn=turns)
    assert parts.schema == wanted.schema
    keys = parts.column_names[:-4]
    found: dict[tuple[str, ...], list[Any]] = {}
    for row in parts.to_pylist():
        last = (row["last_turn"], row["last_ordinal"])
        entry = found.setdefault(tuple(row[key] for key in keys), [0, (-1, -1), None])
        entry[0] += row["changes"]
        entry[1] = entry[1] if last == (None, None) else max(entry[1], last)
        entry[2] = entry[2] or row["digest"]
    assert len(found) > 1000
    for row in wanted.to_pylist():
        last = (-1, -1) if row["last_turn"] is None else (row["last_turn"], row["last_ordinal"])
        assert found.pop(tuple(row[key] for key in keys)) == [row["changes"], last, row["digest"]]
    assert not found


def test_ledgers_of_partitions_are_those_of_the_local_engine() -> None:
    options = {"scenario": "orders", "format": "debezium-json", "partitions": 3}
    parts = read(**options, view="partitions", turns=6_000, tasks=5, set="tables.customers.rows=200")
    by_task = [parts.filter(pc.equal(parts["task"], task)).drop_columns(["task"]) for task in range(5)]
    assert all(len(part) > 3 for part in by_task)
    job = open_job("orders", "debezium-json", settings=("tables.customers.rows=200",))
    wanted = partition_ledger(job.addressed(partitions=Partitions(3)), 6_000, snapshot=None)
    assert joined(by_task) == wanted
    assert set(wanted["partition"].to_pylist()) == {0, 1, 2}


def test_the_images_of_a_script(tmp_path: Path) -> None:
    """Columns of all versions, under their later names, and what ALTER TABLE put into rows that were there; integers as
    wide as the column, labels of an enum."""
    (tmp_path / "shapes.sql").write_text(SHAPES)
    script = {"scenario": tmp_path / "shapes.sql", "table": "t"}
    changes = read(**script, view="changes", turns=9)
    rows = {"e": "b", "b": Decimal(2**64 - 1), "note": "x", "remark": "x", "s": 0}
    other = {"e": None, "b": None, "note": "y", "remark": "y", "s": 0}
    assert [(row["op"], row["after"], row["sql"]) for row in changes.to_pylist() if row["op"] != "CREATE_TABLE"] == [
        ("INSERT", {"id": 1, "n": "5", **rows}, None),
        ("ADD_COLUMN", None, "alter table t add note varchar(9) default 'x', modify n bigint, add s smallint not null"),
        ("INSERT", {"id": 2, "n": "6", **other}, None),
        ("RENAME_COLUMN", None, "alter table t rename column note to remark"),
        ("DROP_COLUMN", None, "alter table t drop column n, add n varchar(3)"),
        ("UPDATE", {"id": 2, "n": "z", **other, "note": None}, None),
        ("TRUNCATE_TABLE", None, "truncate table t"),
    ]
    (tmp_path / "shapes.sql").write_text(SHAPES + "insert into t values (1);")
    with pytest.raises(UsageError, match=r"shapes\.sql:9"):
        read(**script, view="changes", turns=9)
    (tmp_path / "shapes.sql").write_text(SHAPES)
    assert [str(type) for type in read(**script, view="state", turn=2).schema.types] == [
        "int32", "int32", "string", "decimal128(20, 0)",
    ]  # fmt: skip


def test_numbers_and_flags_as_people_write_them() -> None:
    options = {"scenario": "crud", "format": "canal-json", "set": "tables.users.rows=50; seed=4", "start": "2025-01-01"}
    found = read(**options, limit="1e2", snapshot="YES", tasks="1k")
    assert 40 < found["kind"].to_pylist().count("READ") < 70
    assert json.loads(found["value"][-1].as_py())["es"] // 86_400_000 == 20_089  # 2025-01-01
    assert found == read(**options, limit=100, snapshot="true", tasks=1, seed=4)


@pytest.mark.parametrize(
    ("read", "options", "sentence"),
    [
        (BATCH, {"rate": 5}, "option 'rate' is for spark.readStream: leave it out of spark.read."),
        (STREAM, {"pushdown": "true"}, "option 'pushdown' is for spark.read: leave it out of spark.readStream."),
        (BATCH, {"view": "state", "table": "users", "limit": 5}, "'limit' is for the views messages, changes and"),
        (BATCH, {"view": "changes", "table": "users", "format": "nosuch", "limit": 5}, "no format 'nosuch'."),
        (BATCH, {"view": "state", "table": "users", "format": "canal-json,no=1", "turn": 5}, "there is no option 'no'"),
        (BATCH, {"view": "changes", "table": "users", "partitions": 2}, "for the views messages and partitions"),
        (BATCH, {"partitions": 0, "limit": 5}, "option 'partitions' is a number from 1 to 10000, not '0'."),
        (BATCH, {"tasks": 0, "limit": 5}, "option 'tasks' is a number from 1 to 10000000, not '0'."),
        (BATCH, {"limit": "many"}, "option 'limit' is a whole number, not 'many'."),
        (BATCH, {"limit": 5, "snapshot": "maybe"}, "option 'snapshot' is true or false, not 'maybe'."),
        (BATCH, {"limit": 5, "set": "tables.users.rws=5"}, "Did you mean 'rows'?"),
        (STREAM, {"changes_per_batch": 0}, "option 'changes_per_batch' is a number from 1"),
        (STREAM, {"maxoffsetspertrigger": 9}, "the data source cdcsim has no such option. It has scenario, view,"),
    ],
)  # fmt: skip
def test_what_means_nothing_is_refused(read: str, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        getattr(source_of(**{"scenario": "crud", "format": "canal-json", **options}), read)(None)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_a_batch_has_at_most_so_many_changes() -> None:
    """It ends at a transaction's end; one with more changes is a batch of its own. What Spark offers goes further."""
    from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

    job: Job = open_job("orders", "canal-json")
    reader = source_of(scenario="orders", format="canal-json", changes_per_batch=7, turns=300).streamReader(None)
    assert reader.getDefaultReadLimit() == ReadMaxRows(7)
    offset, batches = reader.initialOffset(), []
    while (end := reader.latestOffset(offset, ReadMaxRows(7))) != offset:
        batches.append((offset["turn"], end["turn"]))
        offset = end
    assert batches[-1][1] == job.plan(Limits(turns=300)).stop
    for first, stop in batches[1:]:
        changes = int(job.stream.count(first, stop).sum())
        assert changes <= 7 or stop == job.stream.border(first + 1)
        following = job.stream.border(stop + 1)
        assert stop == batches[-1][1] or int(job.stream.count(first, following).sum()) > 7
    assert any(stop - first > 3 for first, stop in batches)
    assert (
        source_of(scenario="orders", format="canal-json").streamReader(None).getDefaultReadLimit() == ReadAllAvailable()
    )


@pytest.mark.parametrize(
    "master", ["local", "local[2]", "local[*]", "local[2,3]", "local-cluster[1,1,1024]", "yarn", "k8s://https://h:6443"]
)
def test_masters_of_spark(master: str) -> None:
    check_master(master)


@pytest.mark.parametrize(
    ("master", "sentence"),
    [
        ("nosuch", "--master nosuch: write local[4], local[*], spark://host:7077, yarn, k8s://https://host:6443 or"),
        ("local[x]", "--master local[x]: write local[4]"),
        ("spark://", "--master spark://: write local[4]"),
        ("spark://127.0.0.1:1", "--master spark://127.0.0.1:1: no Spark master answers there: Connection refused."),
    ],
)
def test_a_wrong_master_is_not_blamed_on_java(master: str, sentence: str) -> None:
    """Spark would say of it that Java did not start, or try for a minute."""
    with pytest.raises(SimulatorError) as error:
        check_master(master)
    assert sentence in str(error.value)


def test_the_executors_have_this_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the data source is asked for, of a driver that runs already, too; and not where another one is named."""
    from pyspark import SparkContext

    driver = SimpleNamespace(pythonExec="python3", getConf=dict)
    monkeypatch.setattr(SparkContext, "_active_spark_context", driver)
    monkeypatch.setenv("PYSPARK_PYTHON", "other")
    assert simulator.spark.CdcSimDataSource.name() == "cdcsim"
    assert (os.environ["PYSPARK_PYTHON"], driver.pythonExec) == ("other", "python3")
    monkeypatch.delenv("PYSPARK_PYTHON")
    assert simulator.spark.CdcSimDataSource.name() == "cdcsim"
    assert (os.environ["PYSPARK_PYTHON"], driver.pythonExec) == (sys.executable, sys.executable)
