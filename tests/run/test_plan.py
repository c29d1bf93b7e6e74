"""Plans: limits as blocks that any process finds by itself; jobs: small values that make the same bytes anywhere."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_scenarios import loaded, scenarios

from simulator.batch import PackedBatch
from simulator.errors import UsageError
from simulator.formats.format import Codec, Layout
from simulator.formats.writing import OneMessage, Writer
from simulator.model import Column, Event, Kind, Table
from simulator.run.job import Job, Partitions, open_job
from simulator.run.plan import Limits, Plan, plan
from simulator.sources import find
from simulator.stream.engine.block import SnapshotBlock, TurnBlock
from simulator.stream.engine.history import State
from simulator.stream.engine.sizes import BLOCK_BYTES
from simulator.stream.engine.stream import ChangeStream
from simulator.stream.generators.columns import CompiledColumn
from simulator.stream.literal import stream as literal_stream
from simulator.stream.scenario.resolve import resolve

quick = settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))


def stream_of(scenario: dict[str, Any]) -> ChangeStream:
    return ChangeStream(resolve(loaded(scenario), find("mysql")))


def stop_of(made: Plan) -> int:
    """Where the blocks of a plan end; they follow each other, and each is found by its number alone."""
    at = made.first
    unlimited = replace(made, changes=None)
    for block in made.blocks():
        assert block.first == at < block.stop
        assert block.stop <= unlimited.block(block.number).stop
        assert block.first == unlimited.block(block.number).first
        at = block.stop
    return at


@quick
@given(scenarios(), st.integers(0, 5000), st.integers(1, 400), st.integers(0, 900))
def test_a_limit_ends_where_a_full_count_says(scenario: dict[str, Any], start: int, step: int, changes: int) -> None:
    """Whether blocks are counted one by one or apart."""
    stream = stream_of(scenario)
    made = plan(stream, Limits(start, changes=changes), snapshot=False, most_turns=step)
    horizon = stream.border(made.first + 2 * changes + 100)
    done = np.concatenate([[0], np.cumsum(stream.count(made.first, horizon))])
    expected = stream.border(made.first + int(np.searchsorted(done, changes)))
    assert stop_of(made) == expected
    counted = made.counted(lambda numbers: made.count(reversed(numbers))[::-1])
    assert counted.changes is None
    assert stop_of(counted) == expected


@quick
@given(scenarios(), st.integers(0, 5000), st.integers(1, 60), st.integers(0, 2000))
def test_blocks_grow_for_who_waits_for_the_first(
    scenario: dict[str, Any], start: int, turns: int, changes: int
) -> None:
    """From so many turns on, up to whole ones: the same turns in all."""
    stream = stream_of(scenario)
    made = plan(stream, Limits(start, changes=changes), snapshot=False, most_turns=700)
    at, most = made.first, turns
    for block in made.growing_blocks(turns):
        assert at == block.first < block.stop <= stream.border(at + most)
        at, most = block.stop, 2 * most
    assert at == stop_of(made)


@quick
@given(scenarios(), st.integers(0, 5000), st.integers(1, 400), st.integers(0, 900))
def test_turns_are_an_absolute_stop(scenario: dict[str, Any], start: int, step: int, turns: int) -> None:
    """N turns from the first border on, and to the next border; whatever the size of blocks."""
    stream = stream_of(scenario)
    made = plan(stream, Limits(start, turns=turns), snapshot=False, most_turns=step)
    assert made.first == stream.border(start)
    assert made.stop == stop_of(made) == stream.border(made.first + turns)


def test_a_script_ends_with_its_last_turn() -> None:
    job = open_job("tour", "canal-json")
    assert stop_of(job.plan(Limits(3, turns=5))) == 8
    assert stop_of(job.plan(Limits(3, turns=500))) == stop_of(job.plan(Limits(changes=10**30))) == job.stream.turns
    assert stop_of(job.plan(Limits(3, changes=1)).counted()) == 4
    with pytest.raises(UsageError, match=r"^--start-at 99: scenarios/tour\.yaml ends at turn 29\.$"):
        job.plan(Limits(99))


@pytest.mark.parametrize("limits", [Limits(10**30), Limits(turns=10**30), Limits(-1)])
def test_numbers_that_no_turn_has(limits: Limits) -> None:
    with pytest.raises(UsageError, match=r"^--(start-at|turns) -?\d+: it is a number from 0 to \d+\.$"):
        open_job("crud", "canal-json").plan(limits)


# -------------------------------------------------------------------------------------------------------------- sizes


@pytest.mark.parametrize("scenario", ["crud", "orders", "wide"])
@pytest.mark.parametrize("format", ["canal-json", "dts-avro"])
def test_blocks_are_about_as_large_as_structure_says(scenario: str, format: str) -> None:
    job = open_job(scenario, format)
    messages = job.renderer().render(job.stream.read(0, job.stream.border(1000)))
    assert messages is not None
    assert BLOCK_BYTES / 5 <= messages.nbytes / 1000 * job.stream.block_turns <= BLOCK_BYTES * 2


LARGE = """\
source: mysql
transactions: {transactions}
tables:
  docs:
    key: id
    columns:
      id: {type: bigint, values: sequence}
      n: {type: int, values: version}
      body: {type: longtext, values: {text: {length: LENGTH, alphabet: digits}}}
    rows: 20
"""


@pytest.mark.parametrize(
    ("length", "transactions", "block_turns"), [(1_000_000, 1, 49), (40_000_000, 1, 1), (1_000_000, 200, 49)]
)
def test_blocks_of_large_values(tmp_path: Path, length: int, transactions: int, block_turns: int) -> None:
    """A few turns, however many a transaction has; a snapshot's rows likewise."""
    file = tmp_path / "large.yaml"
    file.write_text(LARGE.replace("LENGTH", f"1..{length}").replace("{transactions}", f"{{{transactions}: 1}}"))
    stream = open_job(str(file), "canal-json").stream
    assert abs(stream.block_turns - block_turns) <= 1
    assert {block.rows for block in stream.snapshot_blocks(0)} <= {*range(block_turns + 2)}


@pytest.mark.parametrize(("length", "transactions", "values"), [(300_000_000, 1, "1"), (10_000_000, 27, "27")])
def test_values_that_no_block_holds(tmp_path: Path, length: int, transactions: int, values: str) -> None:
    file = tmp_path / "large.yaml"
    file.write_text(LARGE.replace("LENGTH", str(length)).replace("{transactions}", f"{{{transactions}: 1}}"))
    with pytest.raises(UsageError) as error:
        open_job(str(file), "canal-json")
    assert str(error.value) == (
        f"{file}:9: tables.docs.columns.body: {values} values of {length:,} bytes may be in one transaction, and a "
        "block holds at most 256 MiB of a column; shorten the values or the transactions."
    )


def test_literal_values_that_no_block_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(literal_stream, "COLUMN_BYTES", 16 << 20)
    file = tmp_path / "large.sql"
    file.write_text(
        "create database d; use d; create table t(id int primary key, b longtext); insert into t values (0, 'a');\n"
        "begin; " + "".join(f"insert into t values({n}, repeat('x', 1000000));" for n in range(1, 20)) + "commit;"
    )
    job = open_job(str(file), "canal-json")
    with pytest.raises(UsageError) as error:
        job.plan(Limits())
    assert str(error.value) == (
        f"{file}: turn 3 has 18 MiB of values of t.b, and a block holds at most 16 MiB; shorten them, or change "
        "fewer rows in a transaction."
    )


# -------------------------------------------------------------------------------------------------------------- jobs

SMALL = ["lifecycles.order.slots=300", "tables.customers.rows=400"]
FAKER = """\
tables:
  users:
    key: id
    columns:
      id: {type: int64, values: sequence}
      word: {type: string(80), values: {faker: {provider: bs, locale: en_US, size: 20}}}
      n: {type: int32, values: version}
    rows: 50
"""
SCRIPT = """\
create database d; use d; create table t(id int primary key, v varchar(9));
insert into t values (1, 'a'), (2, 'b');
-- @snapshot
update t set v = 'c'; insert into t values (3, 'd'); no statement;
"""


def rendered(pickled: bytes) -> list[bytes]:
    """What another process makes of a job and some blocks."""
    job, blocks = pickle.loads(pickled)
    renderer = job.renderer()
    batches = (renderer.render(job.stream.read_block(where)) for where in blocks)
    return [b"" if batch is None else repr(list(batch.messages())).encode() for batch in batches]


def jobs(folder: Path) -> list[Job]:
    (folder / "faker.yaml").write_text(FAKER)
    (folder / "script.sql").write_text(SCRIPT)
    return [
        open_job("orders", "cloudcanal-json", seed=5, settings=SMALL).addressed(
            route="key", partitions=Partitions(2, {"t": 3})
        ),
        open_job("tour", "dts-avro", source="mysql-5.7").addressed(topic="{table}"),
        open_job(str(folder / "faker.yaml"), "dts-avro", source="oracle"),
        open_job(str(folder / "script.sql"), "canal-json", force=True),
    ]


def test_a_job_makes_the_same_bytes_in_any_process(tmp_path: Path) -> None:
    """Its pickle is small, and any blocks of it can be made alone, last ones first."""
    work = []
    for job in jobs(tmp_path):
        blocks = list(job.plan(Limits(changes=300), snapshot=True, most_turns=64).all_blocks())
        assert {type(block) for block in blocks} == {SnapshotBlock, TurnBlock}
        work.append(pickle.dumps((job, blocks[::-1])))
        assert len(pickle.dumps(job)) < 40_000
    assert job.stream.errors
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(rendered, work) == list(map(rendered, work))


# ------------------------------------------------------------------------------------------------------------ columns


@dataclass(frozen=True)
class Keys:
    """Prints the key and nothing else."""

    inner: Writer

    def pieces(self, packed: PackedBatch) -> list[pa.Array]:
        batch = packed.changes
        (place,) = batch.table.key_positions
        return [self.text(batch.table.columns[place], batch.image()[place]).take(pa.array(packed.starts[:-1]))]

    def encode_event(self, event: Event, kind: Kind) -> bytes:
        return b""

    def text(self, column: Column, array: pa.Array) -> pa.Array:
        return self.inner.text(column, array)


class KeyColumns(OneMessage):
    """Says that it needs no other column."""

    def columns(self, table: Table, kind: Kind) -> Collection[int]:
        return table.key_positions


def test_columns_that_a_format_does_not_print_are_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its messages are those of all columns; those that choose the partition are drawn, too."""
    drawn: set[str] = set()
    pooled = CompiledColumn.pooled

    def listen(column: CompiledColumn, state: State) -> Any:
        drawn.add(column.field.name)
        return pooled(column, state)

    monkeypatch.setattr(CompiledColumn, "pooled", listen)
    made = []
    for writer in (OneMessage, KeyColumns):
        job = open_job("crud", "canal-json").addressed(route="columns:city", partitions=Partitions(4))
        codec = job.codec
        layout = Layout(writer(Keys(codec.layout.writer)), codec.layout.routing)
        job.opened.codec = Codec(codec.format, codec.settings, layout)
        drawn.clear()
        rows = islice(job.messages(Limits(changes=0), snapshot=True), 500)
        made.append([*rows, *job.messages(Limits(changes=500))])
    assert made[0] == made[1]
    assert {message.kind for message in made[0]} == {Kind.READ, Kind.INSERT, Kind.UPDATE, Kind.DELETE}
    assert drawn == {"id", "city"}


def test_columns_that_drs_filters_are_not_drawn() -> None:
    """A CLOB of Oracle is in no message, so nobody makes its values."""
    renderer = open_job("boundary", "drs-json", source="oracle-19c").renderer()
    (table,) = [table for table in renderer.stream.first_tables if table.id.name == "TYPE_CLOB"]
    assert renderer.needed(table, Kind.INSERT) == {0, 1}
