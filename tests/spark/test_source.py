"""The data source: messages, changes and rows as DataFrames. `test_cluster.py` has a query that is killed."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
from command import Command

from simulator.errors import UsageError
from simulator.run.job import Job, Partitions, open_job
from simulator.run.plan import Limits

pytestmark = pytest.mark.spark

SCENARIO: Final = """\
tables:
  users:
    key: id
    columns:
      id: {type: int64, values: sequence}
      name: string(20)
      balance: "decimal(10,2)"
      seen_at: timestamp(3)
      born: date
      n: {type: int32, values: version}
    rows: 300
"""


@pytest.fixture
def scenario(spark: Any, tmp_path: Path) -> str:
    from simulator.spark import CdcSimDataSource

    spark.dataSource.register(CdcSimDataSource)
    (tmp_path / "users.yaml").write_text(SCENARIO)
    return str(tmp_path / "users.yaml")


def job_of(scenario: str) -> Job:
    return open_job(scenario, "dts-canal-json").addressed(partitions=Partitions(3))


def test_messages(spark: Any, scenario: str) -> None:
    options = {"scenario": scenario, "format": "dts-canal-json", "partitions": 3, "limit": 900, "tasks": 5}
    frame = spark.read.format("cdcsim").options(**options, snapshot="true").load()
    assert frame.rdd.getNumPartitions() == 5
    found = frame.orderBy("position").toArrow()
    wanted = list(job_of(scenario).messages(Limits(changes=900), snapshot=True))
    assert found["value"].to_pylist() == [message.value for message in wanted]
    assert found["partition"].to_pylist() == [message.partition for message in wanted]
    assert found["kind"].to_pylist() == [message.kind.name for message in wanted]
    positions = [(message.order.phase, message.order.turn, message.order.ordinal) for message in wanted]
    assert [tuple(position.values()) for position in found["position"].to_pylist()] == positions


def test_parquet_by_the_command_is_the_same_table(spark: Any, scenario: str, command: Command, tmp_path: Path) -> None:
    """What Spark reads of a run's folder is what it reads of the stream."""
    command(
        "run", scenario, "-f", "dts-canal-json", "--limit", "500", "--engine", "spark", "--tasks", "3", "--snapshot",
        "--to", f"parquet:{tmp_path}/lake?partitions=3", "-q", status=0,
    )  # fmt: skip
    options = {"scenario": scenario, "format": "dts-canal-json", "partitions": 3, "limit": 500}
    stream = spark.read.format("cdcsim").options(**options, snapshot="true").load()
    lake = spark.read.parquet(str(tmp_path / "lake")).select(stream.columns)
    assert lake.orderBy("position").toArrow() == stream.orderBy("position").toArrow()


def test_a_ledger(spark: Any, scenario: str) -> None:
    """The parts of the tasks, grouped by key, are the ledger of the local engine."""
    from pyspark.sql import functions as sql

    from simulator.truth.ledger import ledgers

    stream = job_of(scenario).stream
    turn = stream.border(900)
    options = {"scenario": scenario, "view": "ledger", "table": "users", "turn": turn, "tasks": 4}
    parts = spark.read.format("cdcsim").options(**options).load()
    last = sql.max(sql.struct("last_turn", "last_ordinal")).alias("last")
    found = parts.groupBy("id").agg(sql.sum("changes").alias("changes"), last, sql.max("digest").alias("digest"))
    found = found.select("id", "changes", "last.*", "digest").orderBy("id")
    ((_, wanted),) = ledgers(stream, turn)
    assert found.toArrow().to_pylist() == wanted.to_pylist()


def upserted(changes: list[dict[str, Any]]) -> dict[int, dict[str, Any]]:
    """The rows that changes leave."""
    rows: dict[int, dict[str, Any]] = {}
    for change in changes:
        if change["before"] is not None:
            assert rows.pop(change["before"]["id"]) == change["before"]
        if change["after"] is not None:
            rows[change["after"]["id"]] = change["after"]
    return rows


def test_changes_lead_to_the_state(spark: Any, scenario: str) -> None:
    """Replayed in order, with each before image the row as it was."""
    options = {"scenario": scenario, "table": "users"}
    changes = spark.read.format("cdcsim").options(**options, view="changes", turns=800, snapshot="true").load()
    rows = spark.read.format("cdcsim").options(**options, view="state", turn=800).load()
    assert changes.schema["after"].dataType == rows.schema
    assert [field.dataType.simpleString() for field in rows.schema] == [
        "bigint", "string", "decimal(10,2)", "timestamp_ntz", "date", "int",
    ]  # fmt: skip
    left = upserted(changes.orderBy("position").toArrow().to_pylist())
    assert len(left) > 100
    assert left == {row["id"]: row for row in rows.toArrow().to_pylist()}


def test_filters(spark: Any, scenario: str) -> None:
    """On operations and kinds they are applied in the tasks; Spark applies the others."""
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        options = {"scenario": scenario, "format": "canal-json", "limit": 300, "snapshot": "true", "pushdown": "true"}
        for column, view in (("op", {"view": "changes", "table": "users"}), ("kind", {"view": "messages"})):
            frame = spark.read.format("cdcsim").options(**options, **view).load().select(column, "position")
            wanted = [row for row in frame.collect() if row[0] in ("READ", "DELETE") and row[1].phase == 1]
            kept = frame.where(f"{column} in ('READ', 'DELETE') and position.phase = 1")
            assert sorted(kept.collect()) == sorted(wanted)
            assert len(wanted) > 20
            plan = kept._jdf.queryExecution().executedPlan().toString()
            assert "Filter (" in plan
            assert " IN " not in plan
    finally:
        spark.conf.unset("spark.sql.python.filterPushdown.enabled")


def test_the_example_of_a_lake(spark: Any, scenario: str, tmp_path: Path) -> None:
    from simulator.spark.examples import lake

    lake.write(spark, scenario, "users", 700, str(tmp_path / "lake"))
    changes = spark.read.parquet(str(tmp_path / "lake" / "changes"))
    current = spark.read.parquet(str(tmp_path / "lake" / "current")).toArrow().to_pylist()
    assert "day" in changes.columns
    assert upserted(changes.orderBy("position").toArrow().to_pylist()) == {row["id"]: row for row in current}


def test_the_example_of_a_stream_that_keeps_a_table(spark: Any, tmp_path: Path) -> None:
    """After its last batch the table is what `state` says, also of rows that are older than their last column."""
    from simulator.spark import CdcSimDataSource
    from simulator.spark.examples import upsert

    spark.dataSource.register(CdcSimDataSource)
    options = {"scenario": "orders", "table": "orders", "tasks": 1, "set": "tables.customers.rows=900"}
    run = {"start_at": 19_900, "turns": 300, "turns_per_batch": 150}
    upsert.start(spark, {**options, **run}, "id", tmp_path / "table").awaitTermination()
    state = spark.read.format("cdcsim").options(**options, view="state", turn=20_200).load().orderBy("id")
    kept = spark.read.parquet(str(tmp_path / "table" / "version=1")).select(state.columns).orderBy("id").toArrow()
    assert kept["channel"].to_pylist().count("web") > 500
    assert kept.to_pylist() == state.toArrow().to_pylist()


def test_a_checkpoint_goes_on_with_its_own_stream_alone(spark: Any, scenario: str, tmp_path: Path) -> None:
    """Another seed, scenario or format was spliced into the history without a word."""
    from pyspark.errors import StreamingQueryException

    def run(**other: Any) -> None:
        options = {"scenario": scenario, "format": "canal-json", "turns": 20, "tasks": 1, **other}
        frame = spark.readStream.format("cdcsim").options(**options).load()
        writer = frame.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "checkpoint"))
        writer.trigger(availableNow=True).start(str(tmp_path / "out")).awaitTermination()

    run()
    for other, said in ({"seed": 9}, "seed '1', and this one has '9'"), ({"scenario": "crud"}, "scenario 'users.yaml'"):
        with pytest.raises(StreamingQueryException) as caught:
            run(turns=40, **other)
        assert f"the query's checkpoint is of another stream: that run had {said}" in str(caught.value)
    run(turns=40)
    found = spark.read.parquet(str(tmp_path / "out")).orderBy("position").toArrow()
    wanted = open_job(scenario, "canal-json").messages(Limits(turns=40))
    assert found["value"].to_pylist() == [message.value for message in wanted]


def test_an_offset_of_another_stream_is_refused(scenario: str) -> None:
    from pyspark.sql.streaming.datasource import ReadAllAvailable

    from simulator.spark import CdcSimDataSource

    def reader(**other: str) -> Any:
        source = CdcSimDataSource({"scenario": scenario, "format": "canal-json", **other})
        return source.streamReader(source.schema())

    first = reader()
    start = first.initialOffset()
    end = first.latestOffset(start, ReadAllAvailable())
    for offset in (start, end):
        with pytest.raises(UsageError, match="of another stream: that run had seed '1', and this one has '9'"):
            reader(seed="9").latestOffset(offset, ReadAllAvailable())
    with pytest.raises(UsageError, match="of another stream: that run had partitions '1', and this one has '4'"):
        reader(partitions="4").partitions(start, end)


def test_faults_of_a_stream_are_those_of_a_local_run(spark: Any, scenario: str, tmp_path: Path) -> None:
    """Batches end at borders of the windows in which messages are late, whatever their size; a query goes on where one
    of fewer turns ended."""
    faults = "redelivery=8000,flush=2000,duplicates=0.1,late,gap=0.05,poison=0.05,truncated=0.05"
    options = {
        "scenario": scenario,
        "format": "canal-json",
        "route": "key",
        "partitions": 3,
        "start_at": 70,
        "faults": faults,
        "turns_per_batch": 50,
        "tasks": 2,
    }
    for turns in (130, 300):
        frame = spark.readStream.format("cdcsim").options(**options, turns=turns).load()
        writer = frame.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "checkpoint"))
        writer.trigger(availableNow=True).start(str(tmp_path / "out")).awaitTermination()
    found = spark.read.parquet(str(tmp_path / "out")).orderBy("partition", "position").toArrow()
    job = open_job(scenario, "canal-json", faults=faults).addressed(route="key", partitions=Partitions(3))
    sent = sorted(job.messages(Limits(70, turns=300)), key=lambda message: (message.partition, message.order))
    assert found["value"].to_pylist() == [message.value for message in sent]
    assert len({*found["value"].to_pylist()}) < len(found) - 20


def test_a_slow_rate_loses_no_part_of_a_change(scenario: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked eight times a second, it lets four changes through in each."""
    from pyspark.sql.streaming.datasource import ReadAllAvailable

    from simulator.spark import CdcSimDataSource

    source = CdcSimDataSource({"scenario": scenario, "format": "canal-json", "rate": "4"})
    reader = source.streamReader(source.schema())
    times = iter(number / 8 for number in range(41))
    monkeypatch.setattr("simulator.spark.source.time.monotonic", lambda: next(times))
    offset = reader.initialOffset()
    for _ in range(41):
        offset = reader.latestOffset(offset, ReadAllAvailable())
    assert int(job_of(scenario).stream.count(0, offset["turn"]).sum()) == 4 + 5 * 4


def test_a_mistake_is_a_sentence_of_the_worker(spark: Any, scenario: str) -> None:
    with pytest.raises(Exception, match=r"simulator\.errors") as error:
        spark.read.format("cdcsim").options(scenario=scenario, format="canal-json").load().count()
    assert "users.yaml has no end: give a limit of row changes, or turns." in str(error.value)
