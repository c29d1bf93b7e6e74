"""The data source: messages, changes and rows as DataFrames; a query that is killed and goes on from its checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest

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


def values(job: Job, limits: Limits, *, snapshot: bool) -> list[bytes | None]:
    return [message.value for message in job.messages(limits, snapshot=snapshot)]


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
    read = spark.read.format("cdcsim").options(scenario=scenario, table="users")
    changes = read.options(view="changes", turns=800, snapshot="true").load()
    rows = read.options(view="state", turn=800).load()
    assert changes.schema["after"].dataType == rows.schema
    assert [field.dataType.simpleString() for field in rows.schema] == [
        "bigint", "string", "decimal(10,2)", "timestamp_ntz", "date", "bigint",
    ]  # fmt: skip
    left = upserted(changes.orderBy("position").toArrow().to_pylist())
    assert len(left) > 100
    assert left == {row["id"]: row for row in rows.toArrow().to_pylist()}


def test_a_query_goes_on_from_its_checkpoint(spark: Any, scenario: str, tmp_path: Path) -> None:
    """It is killed in its third batch, when that is written and not yet committed."""
    batches: list[tuple[int, pa.Table]] = []

    def keep(frame: Any, number: int) -> None:
        batches.append((number, frame.orderBy("position").toArrow()))
        if len(batches) == 3:
            raise RuntimeError("killed")

    def query() -> Any:
        options = {"scenario": scenario, "format": "dts-canal-json", "turns": 1000, "turns_per_batch": 150}
        frame = spark.readStream.format("cdcsim").options(**options, snapshot="true").load()
        writer = frame.writeStream.foreachBatch(keep).option("checkpointLocation", str(tmp_path / "checkpoint"))
        return writer.trigger(availableNow=True).start()

    with pytest.raises(Exception, match="killed"):
        query().awaitTermination()
    query().awaitTermination()
    (first, again) = [table for number, table in batches if number == 2]
    assert first == again
    found = [value for table in dict(batches).values() for value in table["value"].to_pylist()]
    assert found == values(job_of(scenario), Limits(turns=1000), snapshot=True)
    assert len(dict(batches)) == 7


def test_the_example_of_a_lake(spark: Any, scenario: str, tmp_path: Path) -> None:
    from simulator.spark.examples import lake

    lake.write(spark, scenario, "users", 700, str(tmp_path / "lake"))
    changes = spark.read.parquet(str(tmp_path / "lake" / "changes"))
    current = spark.read.parquet(str(tmp_path / "lake" / "current")).toArrow().to_pylist()
    assert "day" in changes.columns
    assert upserted(changes.orderBy("position").toArrow().to_pylist()) == {row["id"]: row for row in current}


def test_the_example_of_a_stream_that_keeps_a_table(spark: Any, scenario: str, tmp_path: Path) -> None:
    """After its last batch the table is what `state` says."""
    from simulator.spark.examples import upsert

    options = {"scenario": scenario, "table": "users"}
    upsert.start(spark, {**options, "turns": 600, "turns_per_batch": 300}, "id", tmp_path / "table").awaitTermination()
    kept = spark.read.parquet(str(tmp_path / "table" / "version=1")).orderBy("id").toArrow()
    state = spark.read.format("cdcsim").options(**options, view="state", turn=600).load().orderBy("id").toArrow()
    assert kept.to_pylist() == state.to_pylist()


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


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"format": "canal-json"}, "the stream has no end: give the option 'limit' or 'turns'"),
        ({"format": "canal-json", "limt": "5"}, "the data source cdcsim has no such option. Did you mean 'limit'?"),
        ({"view": "changes", "table": "user", "limit": "5"}, "no table 'user'. `table` is one of shop.users."),
    ],
)
def test_mistakes(spark: Any, scenario: str, options: dict[str, str], sentence: str) -> None:
    with pytest.raises(Exception, match=r"simulator\.errors") as error:
        spark.read.format("cdcsim").options(scenario=scenario, **options).load().count()
    assert sentence in str(error.value)
