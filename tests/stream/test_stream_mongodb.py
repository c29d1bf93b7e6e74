"""The stream's promises on MongoDB: scenarios of tables as collections, documents rebuilt from what updates set."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_scenarios import loaded, scenarios
from test_stream import Replay, Row, changes_of, few, rows_of, state_at

from simulator import sources
from simulator.batch import ChangeBatch
from simulator.errors import ScenarioError
from simulator.model import DELETE, INSERT, UPDATE, SchemaChange
from simulator.sources.mongodb import documents as mongodb_documents
from simulator.sources.mongodb import json as bson
from simulator.stream import open_stream
from simulator.stream.engine.block import Block
from simulator.stream.engine.stream import ChangeStream
from simulator.stream.scenario.loader import load
from simulator.stream.scenario.resolve import resolve

MONGODB: Final = sources.find("mongodb")


class Collections(Replay):
    """A replay that is told of no change of fields: it sees them in the documents."""

    def block(self, block: Block) -> None:
        assert not any(isinstance(event, SchemaChange) for event in block.events)
        for _, batch, before, after in changes_of(block):
            if batch.table != self.versions[batch.table.id.name]:
                self.reshape(batch)
            images = [image for image in (before, after) if image is not None]
            if batch.kind is UPDATE:
                assert self.key(batch, images[0]) == self.key(batch, images[1]), "an _id never changes"
            {INSERT: self.insert, DELETE: self.delete, UPDATE: self.update}[batch.kind](batch, *images)

    def reshape(self, batch: ChangeBatch) -> None:
        """Documents that are there lack what is new."""
        name = batch.table.id.name
        old = self.versions[name]
        assert batch.table.version > old.version
        place = {column.field: i for i, column in enumerate(old.columns)}
        self.tables[name] = {
            key: tuple(row[place[c.field]] if c.field in place else None for c in batch.table.columns)
            for key, row in self.tables[name].items()
        }
        self.versions[name] = batch.table

    def held(self) -> dict[str, Counter[Row]]:
        return {name: Counter(rows.values()) for name, rows in self.tables.items()}


def stream_of(scenario: dict[str, Any]) -> ChangeStream:
    return ChangeStream(resolve(loaded(scenario), MONGODB))


@few
@given(scenarios(), st.integers(0, 5000))
def test_history_has_no_contradiction_and_ends_in_the_closed_form(scenario: dict[str, Any], start: int) -> None:
    """Key updates, composite keys and new fields included; `_id` stands first and is the key everywhere."""
    stream = stream_of(scenario)
    at = stream.border(start)
    replay = Collections(stream, at)
    for length in (1, 150, 400):
        stop = stream.border(at + length)
        replay.block(stream.read(at, stop))
        now = state_at(stream, stop)
        for table in stream.tables_at(stop):
            assert (table.columns[0].name, table.primary_key) == ("_id", ("_id",))
            if table == replay.versions[table.id.name]:
                assert replay.held()[table.id.name] == now[table.id.name]
        at = stop


def applied(document: dict[str, Any], told: dict[str, Any], gone: list[str]) -> dict[str, Any]:
    """What a server makes of a document: paths set and unset, new fields behind the others."""
    made: dict[str, Any] = json.loads(json.dumps(document))
    for path, value in told.items():
        *parents, name = path.split(".")
        at = made
        for parent in parents:
            at = at[parent]
        at[name] = value
    for path in gone:
        *parents, name = path.split(".")
        at = made
        for parent in parents:
            at = at[parent]
        del at[name]
    return made


@pytest.mark.parametrize(("scenario", "turns"), [("documents", 3000), ("orders", 3000), ("crud", 300)])
def test_updates_make_the_new_document_of_the_old_one(scenario: str, turns: int) -> None:
    stream = open_stream(resolve(load(scenario), MONGODB))
    seen: Counter[str] = Counter()
    for batch in stream.read(0, stream.border(turns)).batches:
        if batch.kind is not UPDATE:
            continue
        assert batch.after is not None
        olds = mongodb_documents.documents(batch.table, [batch.full_before(i) for i in range(len(batch.table.columns))])
        news = mongodb_documents.documents(batch.table, batch.after)
        sets, unsets = mongodb_documents.updates(batch, bson.quoted)
        replaced = mongodb_documents.replaced(batch)
        for old, new, told, gone, whole in zip(
            *map(pa.Array.to_pylist, (olds, news, sets, unsets)), replaced, strict=True
        ):
            told, gone = json.loads(f"{{{told}}}"), json.loads(f"[{gone}]")
            assert told or gone
            assert applied(json.loads(old), told, gone) == json.loads(new)
            assert "_id" not in told
            seen["nested"] += any("." in path for path in told)
            seen["unset"] += bool(gone)
            seen["replaced"] += bool(whole)
    assert seen["nested"] or scenario == "crud"
    assert scenario != "documents" or (seen["unset"] > 20 and seen["replaced"] > 100)


def test_the_shipped_scenario_keeps_to_its_history() -> None:
    stream = open_stream(resolve(load("documents"), MONGODB))
    assert isinstance(stream, ChangeStream)
    at = stream.border(500)
    replay = Collections(stream, at)
    for length in (200, 800):
        stop = stream.border(at + length)
        replay.block(stream.read(at, stop))
        assert replay.held() == state_at(stream, stop)
        at = stop


def test_what_is_generated_reads_back_as_literals() -> None:
    stream = open_stream(resolve(load("documents"), MONGODB))
    for batch in stream.read(0, stream.border(600)).batches:
        for column, array in zip(batch.table.columns, batch.image(), strict=True):
            plain = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
            assert plain.type == MONGODB.arrow_type(column.type)
            assert MONGODB.parse_values(MONGODB.format_values(plain, column.type), column.type).equals(plain), (
                column.name
            )


def test_tables_become_collections() -> None:
    tables = {table.id.name: table for table in open_stream(resolve(load("orders"), MONGODB)).first_tables}
    lines = tables["order_items"]
    assert [column.name for column in lines.columns][:3] == ["_id", "order_id", "line"]
    assert (lines.columns[0].type.name, tables["orders"].columns[0].field) == ("object", "id")
    assert all(table.primary_key == ("_id",) and not table.id.schema for table in tables.values())


def test_documents_without_a_key_get_an_object_id() -> None:
    scenario = {
        "tables": {
            "t": {
                "columns": {"n": {"type": "int32", "values": "version"}, "s": {"type": "string(9)"}},
                "rows": 300,
                "mix": {"insert": 1, "update": 3, "delete": 1},
            }
        }
    }
    stream = stream_of(scenario)
    replay = Collections(stream, 0)
    replay.block(stream.read(0, stream.border(900)))
    ids = [key[0] for key in replay.tables["t"]]
    assert len(set(ids)) == len(ids) > 250
    assert all(len(id) == 24 and int(id, 16) for id in ids)
    assert replay.held() == state_at(stream, stream.border(900))


def test_schema_changes_are_no_events() -> None:
    stream = open_stream(resolve(load("orders"), MONGODB))
    assert isinstance(stream, ChangeStream)
    names = {}
    for turn in (19_000, 21_000, 61_000):
        names[turn] = {t.id.name: [c.name for c in t.columns] for t in stream.tables_at(turn)}
    assert names[21_000]["orders"] == [*names[19_000]["orders"], "channel"]
    assert "payment_method" in names[61_000]["payments"]
    block = stream.read(stream.border(19_990), stream.border(20_100))
    assert not any(isinstance(event, SchemaChange) for event in block.events)
    txn = np.unique(np.concatenate([batch.envelope.txn for batch in block.batches]))
    assert (np.diff(txn) == 1).all(), "what is not told takes no transaction"
    # documents that were there lack the new field until an update sets it
    later = [batch for batch in block.batches if batch.table.version and batch.kind is not INSERT]
    assert later
    for batch in later:
        if batch.table.id.name == "orders":
            assert batch.full_before(batch.table.positions["channel"]).null_count


def test_a_key_update_is_a_delete_and_an_insert() -> None:
    stream = open_stream(resolve(load("orders"), MONGODB))
    block = stream.read(0, stream.border(20_000))
    halves = [b for b in block.batches if b.table.id.name == "coupons" and b.moved]
    assert {batch.kind for batch in halves} == {INSERT, DELETE}
    deleted, inserted = sorted(halves, key=lambda batch: batch.kind is INSERT)
    assert len(deleted) == len(inserted) > 0
    assert (inserted.envelope.ordinal == deleted.envelope.ordinal + 1).all()
    assert all(a[0] != b[0] for a, b in zip(rows_of(deleted.image()), rows_of(inserted.image()), strict=True))


def scripted(*entries: dict[str, Any], **tables: Any) -> dict[str, Any]:
    return {
        "tables": {"t": {"key": "id", "columns": {"id": "int32", "s": "string(9)"}}, **tables},
        "script": list(entries),
    }


def events_of(scenario: dict[str, Any]) -> list[str]:
    stream = open_stream(resolve(loaded(scenario), MONGODB))
    assert stream.turns is not None
    return [event.sql for event in stream.read(0, stream.turns).events if isinstance(event, SchemaChange)]


def test_commands_of_a_script() -> None:
    scenario = scripted(
        {"ddl": {"create_database": "other"}},
        {"transaction": [{"insert": "t", "rows": [{"id": 1, "s": "x"}]}]},
        {"ddl": {"table": "t", "add_column": {"name": "n", "column": {"type": "int32"}, "default": "7"}}},
        {"transaction": [{"update": "t", "where": {"id": 1}, "set": {"s": "y"}}]},
        {"transaction": [{"update": "t", "where": {"id": 1}, "set": {"id": 2}}]},
        {"ddl": {"table": "t", "rename_table": {"to": "u"}}},
        {"ddl": {"table": "u", "drop_table": True}},
        {"ddl": {"drop_database": "other"}},
    )
    assert events_of(scenario) == [
        '{"renameCollection": "shop.t", "to": "shop.u"}',
        '{"drop": "u"}',
        '{"dropDatabase": 1}',
    ]
    stream = open_stream(resolve(loaded(scenario), MONGODB))
    told = [(b.kind, rows_of(b.image())) for b in stream.read(0, 8).batches]
    assert (UPDATE, [(1, "y", None)]) in told, "the default is for those that come"
    assert (DELETE, [(1, "y", None)]) in told
    assert (INSERT, [(2, "y", None)]) in told


@pytest.mark.parametrize(
    ("scenario", "sentence"),
    [
        (
            scripted({"ddl": {"table": "t", "rename_column": {"column": "id", "to": "key"}}}),
            "MongoDB's _id has no other name",
        ),
        (
            scripted({"heartbeat": True}, u={"columns": {"n": "int32"}}),
            "a script on MongoDB wants a key of one column, which becomes its _id",
        ),
    ],
)
def test_what_mongodb_cannot_is_told_with_its_place(scenario: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ScenarioError, match=sentence):
        open_stream(resolve(loaded(scenario), MONGODB))


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        ({"type": "array", "values": {"document": {"a": 1}}}, "is not an array"),
        ({"type": "object", "values": {"document": ["a"]}}, "is not an object"),
        ({"type": "regex", "values": "uuid"}, "uuid has no values for regex"),
        ({"type": "bool", "values": {"bytes": {}}}, "bytes has no values for bool, which holds booleans"),
        ({"type": "decimal", "values": {"range": [0, 9]}}, "range has no values for decimal"),
    ],
)
def test_values_that_do_not_fit_are_told(column: dict[str, Any], sentence: str) -> None:
    scenario = {
        "source": "mongodb",
        "tables": {
            "t": {"key": "_id", "columns": {"_id": {"type": "objectId", "values": "sequence"}, "c": column}, "rows": 5}
        },
    }
    with pytest.raises(ScenarioError, match=sentence):
        open_stream(resolve(loaded(scenario), MONGODB))
