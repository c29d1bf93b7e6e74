"""The shipped `boundary` scenario, and tables for each type, on every source."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pyarrow as pa
import pytest
from random_scenarios import loaded

from simulator import sources
from simulator.batch import MessageBatch, PackedBatch
from simulator.errors import ScenarioError, UnsupportedType, UsageError
from simulator.formats import open_codec
from simulator.model import INSERT, READ, ROW_KINDS, ColumnType, OrderKey, Table
from simulator.run.job import open_job
from simulator.run.plan import Limits
from simulator.run.render import renders
from simulator.stream import open_stream
from simulator.stream.scenario.each_type import expand
from simulator.stream.scenario.loader import load
from simulator.stream.scenario.resolve import resolve

SOURCES = [f"{id}-{version}" for id, (_, _, versions) in sources.SOURCES.items() for version in versions]


def values_of(array: pa.Array) -> set[str]:
    plain = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
    if pa.types.is_temporal(plain.type):  # some are dates that are none
        plain = plain.view(pa.int32() if pa.types.is_date32(plain.type) else pa.int64())
    return {repr(value) for value in plain.to_pylist()}


@cache
def corpora(source: str) -> dict[ColumnType, list[str | None]]:
    """The types of the scenario's tables on a source, and their values."""
    found = sources.find(source)
    types = [table.columns[-1].type for table in resolve(load("boundary"), found).first_tables]
    return {type: found.boundary_values(type) for type in types}


@pytest.mark.parametrize("source", SOURCES)
def test_boundary_writes_the_whole_corpus(source: str) -> None:
    """Every type has a table, and every value of its corpus is written once all rows have lived a life. Tables whose
    type and values another source has are read there."""
    found, mine = sources.find(source), corpora(source)
    assert {type.name for type in mine} == set(found.types)
    others = [corpora(other) for other in SOURCES[: SOURCES.index(source)]]
    new = {type for type, values in mine.items() if all(other.get(type) != values for other in others)}
    if not new:
        return
    made, _ = expand(load("boundary"), found)
    tables_of = zip(made.spec.tables.items(), resolve(made, found).first_tables, strict=True)
    kept = dict(each for each, table in tables_of if table.columns[-1].type in new)
    spec = made.spec.model_copy(update={"tables": kept})
    stream = open_stream(resolve(replace(made, spec=spec), found))
    tables = {table.id.name: table for table in stream.first_tables}
    missing = {
        name: values_of(found.parse_values(found.boundary_values(type), type))
        for name, table in tables.items()
        for type in [table.columns[-1].type]
    }
    inserted: set[str] = set()
    first = 0
    while any(missing.values()) and first < 8 * 40 * len(tables):
        for batch in stream.read(first, first + stream.block_turns).batches:
            if batch.after is not None and missing[batch.table.id.name]:
                missing[batch.table.id.name] -= values_of(batch.after[-1])
            if batch.kind is INSERT:
                inserted.add(batch.table.id.name)
        first += stream.block_turns
    assert inserted == set(tables)
    assert not any(missing.values()), {name: values for name, values in missing.items() if values}


def scenario(**table: Any) -> dict[str, Any]:
    columns = {"id": {"type": "int64", "values": "sequence"}, "n": {"type": "int32", "values": "version"}}
    value = {"type": "{type}", "values": "boundary"}
    whole = {"columns": {**columns, "v": value}, "key": "id", "rows": 3, "each": "type", **table}
    return {"tables": {"x_{type}": whole}}


def test_a_table_for_each_type_has_its_name_and_the_source_s_own_type() -> None:
    made, types_of = expand(loaded(scenario()), sources.find("mysql"))
    assert types_of["x_decimal_10_2"] == "decimal(10,2)"
    assert made.spec.tables["x_decimal_10_2"].columns["v"].type == "decimal(10,2)"
    types = {table.id.name: table.columns[-1].type for table in resolve(made, sources.find("mysql")).first_tables}
    # `timestamp` is a portable type, too, and another one
    assert types["x_timestamp"].name == "timestamp"
    assert [name for name in types if name.startswith("x_enum")] == ["x_enum_new_it_s"]


def test_what_a_format_does_not_render_is_left_out_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    codec = open_codec("canal-json", sources.find("mysql"))
    messages = codec.messages

    def refuse(packed: PackedBatch) -> MessageBatch:
        if any(column.type.name == "json" for column in packed.changes.table.columns):
            raise UnsupportedType("no json")
        return messages(packed)

    tables = resolve(load("boundary"), sources.find("mysql")).first_tables
    monkeypatch.setattr(codec, "messages", refuse)

    def can(table: Table) -> bool:
        return renders(codec, sources.find("mysql"), table)

    assert [t.id.name for t in tables if not can(t)] == ["type_json"]
    assert open_job("boundary", "canal-json").left_out == ()


@pytest.mark.parametrize(("format", "source"), [("oms-default", "oracle"), ("drs-json", "postgresql")])
def test_tables_that_a_format_cannot_write_stay_in_the_history(format: str, source: str) -> None:
    """The rows of the others are those of every other format and of `expected`; the tables are named, and not sent."""
    some, every = open_job("boundary", format, source=source), open_job("boundary", "cloudcanal-json", source=source)
    assert some.left_out
    assert not every.left_out
    assert some.scenario.fingerprint == every.scenario.fingerprint
    limits, snapshot = Limits(changes=600), some.codec.sends(READ)
    sent, all_sent = (
        {(message.order, message.kind) for message in job.messages(limits, snapshot=snapshot)} for job in (some, every)
    )
    kinds = {kind for kind in ROW_KINDS if some.codec.sends(kind)}
    unsent = {
        (OrderKey(at.phase, turn, ordinal), batch.kind)
        for where in some.plan(limits, snapshot=snapshot).all_blocks()
        for batch in some.stream.read_block(where).batches
        for at in [batch.envelope]
        if batch.table.id in some.unsent
        for turn, ordinal in zip(at.turn.tolist(), at.ordinal.tolist(), strict=True)
    }
    assert unsent
    assert {one for one in sent if one[1] in kinds} == {one for one in all_sent - unsent if one[1] in kinds}


def test_a_format_that_can_write_no_table_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.run.job.renders", lambda *_: False)
    with pytest.raises(UsageError, match="-f canal-json: it can write no type of MySQL"):
        open_job("boundary", "canal-json")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rows": None}, "a table for each type needs rows"),
        ({"columns": {"id": {"type": "int64", "values": "sequence"}}}, "a table for each type needs a column of type"),
        ({"each": "row"}, "each: "),
    ],
)
def test_tables_for_each_type_that_cannot_be(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ScenarioError, match=sentence):
        loaded(scenario(**change))


def test_a_table_for_each_type_wants_a_name_of_its_own() -> None:
    plain = scenario()
    plain["tables"]["x"] = plain["tables"].pop("x_{type}")
    with pytest.raises(ScenarioError, match=r"the name of a table for each type must contain \{type\}"):
        loaded(plain)
