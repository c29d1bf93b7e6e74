"""The stream's promises on PostgreSQL and GaussDB: schema changes, types of their own."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from cases import samples_of
from random_scenarios import loaded
from test_stream import replay_all, texts

from simulator import sources
from simulator.errors import ScenarioError
from simulator.model import SchemaChange
from simulator.stream import open_stream
from simulator.stream.engine.stream import ChangeStream
from simulator.stream.scenario.loader import load
from simulator.stream.scenario.resolve import resolve

SYSTEMS = ("postgresql", "gaussdb")


def stream_of(scenario: dict[str, Any], source: str) -> ChangeStream:
    stream = open_stream(resolve(loaded(scenario), sources.find(source)))
    assert isinstance(stream, ChangeStream)
    return stream


def test_the_same_values_as_on_mysql() -> None:
    """Drawn values depend on the scenario, not on the system: the texts of a portable table's rows are the same."""
    scenario = {
        "tables": {
            "t": {
                "key": "id",
                "columns": {
                    "id": {"type": "int64", "values": "sequence"},
                    "name": {"type": "string(20)", "values": {"text": {"length": "3..9"}}},
                    "at": {"type": "timestamp(3)", "values": "commit_time"},
                    "price": {"type": "decimal(8,2)", "values": {"range": ["0.00", "99.99"]}},
                    "doc": {"type": "json", "values": {"document": {"b": {"range": [1, 9]}, "aa": 1}}},
                },
                "rows": 50,
            }
        }
    }
    mysql, own = (stream_of(scenario, source) for source in ("mysql", "postgresql"))
    other, mine = (
        [batch.image()[i].to_pylist() for batch in stream.read(0, stream.border(300)).batches for i in range(5)]
        for stream in (mysql, own)
    )
    assert mine == other


# Columns whose generated values the server fills up, cuts or normalises, and one of each other family.
OWN: dict[str, Any] = {
    "stamp": {"type": "timestamp", "values": "commit_time"},
    "second": {"type": "timestamp(0)", "values": "commit_time"},
    "moment": {"type": "timestamptz(3)", "values": {"range": ["2024-01-01", "2024-12-31"]}},
    "clock": {"type": "time(1)", "values": "commit_time"},
    "code": {"type": "char(8)", "values": {"text": {"length": "3..5", "alphabet": "letters"}}},
    "mask": {"type": "character(12)", "values": {"pattern": "##-??"}},
    "flag": {"type": "boolean", "nulls": 0.2},
    "guid": {"type": "uuid", "values": "uuid"},
    "doc": {"type": "jsonb", "values": {"document": {"n": {"range": [1, 9]}, "tags": [{"choices": ["x", "y"]}]}}},
    "state": {"type": "mood enum('sad','ok')", "values": {"choices": ["sad", "ok"]}},
    "any": "numeric",
    "tags": "text[]",
    "span": "tstzrange",
    "wait": "interval",
    "host": "inet",
    "spot": "point",
    "note": "xml",
    "raw": "bytea",
}


def own_types(source: str) -> dict[str, Any]:
    return {
        "source": source,
        "tables": {
            "t": {
                "key": "id",
                "columns": {"id": {"type": "bigserial", "values": "sequence"}, **OWN},
                "rows": 60,
                "mix": {"insert": 2, "update": 6, "delete": 2},
                "columns_per_update": "1..4",
            }
        },
    }


@pytest.mark.parametrize("source", SYSTEMS)
def test_own_types_keep_to_the_history(source: str) -> None:
    replay_all(stream_of(own_types(source), source), 1000)


@pytest.mark.parametrize("source", SYSTEMS)
def test_generated_values_are_values_of_their_types(source: str) -> None:
    """What is generated can be read back as a literal and is the same value: the server would not change it."""
    system = sources.find(source)
    stream = stream_of(own_types(source), source)
    for batch in stream.read(0, stream.border(600)).batches:
        for column, array in zip(batch.table.columns, batch.image(), strict=True):
            plain = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
            assert plain.type == system.arrow_type(column.type)
            shown = system.format_values(plain, column.type)
            assert system.parse_values(shown, column.type).equals(plain), column.name


@pytest.mark.parametrize("source", ["postgresql-16", "postgresql-12", "gaussdb-505"])
def test_every_type_is_filled_with_boundary_and_with_believable_values(source: str) -> None:
    columns: dict[str, Any] = {
        "id": {"type": "bigint", "values": "sequence"},
        "n": {"type": "int", "values": "version"},
    }
    for number, typed in enumerate(samples_of(source).types):
        columns[f"b{number}"] = {"type": typed, "changes": "no", "values": "boundary"}
        columns[f"d{number}"] = {"type": typed, "changes": "no", "nulls": 0.1}
    tables = {"t": {"key": "id", "columns": columns, "rows": 20}}
    stream = stream_of({"source": source, "tables": tables}, source)
    block = stream.read(0, stream.border(200))
    system = sources.find(source)
    (inserts,) = (batch for batch in block.batches if batch.kind.name == "INSERT")
    for column, array in zip(inserts.table.columns, inserts.image(), strict=True):
        plain = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
        shown = system.format_values(plain, column.type)
        again = system.format_values(system.parse_values(shown, column.type), column.type)
        assert again == shown, column


def test_widened_columns_keep_their_values() -> None:
    """A char(5) is filled up to its new length, a numeric(8,2) travels as text once it has no precision."""
    columns = {
        "id": {"type": "bigint", "values": "sequence"},
        "at": {"type": "timestamp(0)", "values": "commit_time"},
        "code": {"type": "char(5)", "changes": "no", "values": {"text": {"length": "2..3", "alphabet": "letters"}}},
        "price": {"type": "numeric(8,2)", "values": {"range": ["0.00", "9.99"]}},
        "name": {"type": "varchar(8)", "values": {"choices": ["a", "b"]}},
    }
    types = {"at": "timestamp", "code": "char(8)", "price": "numeric", "name": "text"}
    scenario = {
        "source": "postgresql",
        "tables": {"t": {"key": "id", "columns": columns, "rows": 30}},
        "schema_changes": [
            {"at": 100, "table": "t", "widen": {"column": column, "type": type}} for column, type in types.items()
        ],
    }
    block = stream_of(scenario, "postgresql").read(0, 300)
    images = {batch.table.version: batch.image() for batch in block.batches if batch.kind.name == "INSERT"}
    assert set(images) == {0, 4}
    assert [array.type for array in images[4][1:4]] == [pa.timestamp("us"), pa.string(), pa.string()]
    for version, width in ((0, 5), (4, 8)):
        assert {us % 1_000_000 for us in images[version][1].view(pa.int64()).to_pylist()} == {0}
        assert {len(text) for text in images[version][2].to_pylist()} == {width}
    assert all(len(text.partition(".")[2]) == 2 for text in images[4][3].to_pylist())


@pytest.mark.parametrize("source", SYSTEMS)
@pytest.mark.parametrize("scenario", ["orders", "crud", "tour"])
def test_shipped_scenarios_run(scenario: str, source: str) -> None:
    stream = open_stream(resolve(load(scenario), sources.find(source)))
    assert all(table.id.schema == "public" for table in stream.first_tables)
    assert texts(stream.read(0, stream.border(25))) == texts(stream.read(0, stream.border(25)))


@pytest.mark.parametrize("source", SYSTEMS)
def test_schema_changes_of_orders(source: str) -> None:
    stream = open_stream(resolve(load("orders"), sources.find(source)))
    statements = []
    for first in (19_990, 39_990, 59_990):
        start = stream.border(first)
        block = stream.read(start, stream.border(start + 30))
        statements += [event.sql for event in block.events if isinstance(event, SchemaChange)]
    assert statements == [
        "ALTER TABLE orders ADD COLUMN channel varchar(16) DEFAULT 'web'",
        "ALTER TABLE customers ALTER COLUMN name TYPE varchar(120)",
        "ALTER TABLE payments RENAME COLUMN method TO payment_method",
    ]
    # a new column stands behind the others, wherever the scenario wants it
    assert [table.columns[-1].name for table in stream.tables_at(30_000) if table.id.name == "orders"] == ["channel"]


def test_statements_of_the_tour() -> None:
    stream = open_stream(resolve(load("tour"), sources.find("postgresql")))
    events = stream.read(0, 10**6).events
    statements = [event.sql for event in events if isinstance(event, SchemaChange)]
    assert "ALTER TABLE orders RENAME TO purchases" in statements
    assert "CREATE TABLE archive (id bigint NOT NULL, status varchar(12), PRIMARY KEY (id))" in statements


def test_names_are_lower_case() -> None:
    scenario = {
        "tables": {
            "Users": {
                "key": "Id",
                "columns": {
                    "Id": {"type": "int64", "values": "sequence"},
                    "Full Name": {"type": "int32", "values": "version"},
                },
                "rows": 5,
            }
        }
    }
    (table,) = stream_of(scenario, "postgresql").first_tables
    assert str(table.id) == "shop.public.users"
    assert [column.name for column in table.columns] == ["id", "Full Name"]
    assert table.primary_key == ("id",)


@pytest.mark.parametrize(
    ("column", "problem"),
    [
        ({"type": "varchr(9)"}, "'varchr' is not a PostgreSQL type. Did you mean 'varchar'?"),
        ({"type": "int", "values": {"range": ["1", "3000000000"]}}, "3000000000 is outside -2147483648 to 2147483647"),
        ({"type": "inet", "values": {"constant": "x"}}, "'x' is not an address such as 192.168.1.5/24"),
    ],
)
def test_problems_are_told_with_their_place(column: dict[str, Any], problem: str) -> None:
    tables = {"t": {"key": "id", "columns": {"id": {"type": "int", "values": "sequence"}, "c": column}, "rows": 5}}
    with pytest.raises(ScenarioError, match=r"random.yaml:\d+: tables.t.columns.c.*") as caught:
        stream_of({"source": "postgresql", "tables": tables}, "postgresql")
    assert problem in str(caught.value)
