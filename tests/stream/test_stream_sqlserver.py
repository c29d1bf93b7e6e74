"""The stream's promises on SQL Server: schema changes, and types whose values the server changes."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from random_scenarios import loaded
from test_stream import changes_of, replay_all, texts

from simulator import sources
from simulator.model import SchemaChange
from simulator.stream import open_stream
from simulator.stream.engine.stream import ChangeStream
from simulator.stream.scenario.loader import load
from simulator.stream.scenario.resolve import resolve

SQLSERVER = sources.find("sqlserver")


def stream_of(scenario: dict[str, Any]) -> ChangeStream:
    return ChangeStream(resolve(loaded(scenario), SQLSERVER))


# Types whose generated values the server rounds, fills up or writes in its own way.
CHANGED: dict[str, Any] = {
    "stamp": {"type": "datetime", "values": "commit_time"},
    "minute": {"type": "smalldatetime", "values": "commit_time"},
    "exact": {"type": "datetime2", "values": "commit_time"},
    "there": {"type": "datetimeoffset(3)", "values": "commit_time"},
    "clock": {"type": "time", "values": {"range": ["08:00:00", "17:00:00"]}},
    "day": {"type": "datetime2", "values": {"range": ["2024-01-01", "2024-12-31"]}},
    "slot": {"type": "smalldatetime", "values": {"range": ["2024-01-01", "2024-01-02"]}},
    "beat": {"type": "datetime", "values": {"range": ["2024-01-01", "2024-01-02"]}},
    "code": {"type": "char(8)", "values": {"text": {"length": "3..5", "alphabet": "letters"}}},
    "wide": {"type": "nchar(8)", "values": {"text": {"length": "1..4", "alphabet": "emoji"}}},
    "mixed": {"type": "nvarchar(10)", "values": {"text": {"length": "1..5", "alphabet": "mixed"}}},
    "guid": {"type": "uniqueidentifier", "values": "uuid"},
    "raw": {"type": "binary(6)", "values": {"bytes": {"length": "1..6"}}},
    "version": "rowversion",
    "any": "sql_variant",
    "tree": "hierarchyid",
    "spot": "geography",
    "note": "xml",
}


def own_types() -> dict[str, Any]:
    return {
        "source": "sqlserver",
        "tables": {
            "t": {
                "key": "id",
                "columns": {"id": {"type": "bigint", "values": "sequence"}, **CHANGED},
                "rows": 60,
                "mix": {"insert": 2, "update": 6, "delete": 2},
                "columns_per_update": "1..4",
            }
        },
    }


def test_own_types_keep_to_the_history() -> None:
    replay_all(stream_of(own_types()), 1000)


def test_generated_values_are_values_of_their_types() -> None:
    """What is generated can be read back as a literal and is the same value: the server would not change it."""
    stream = stream_of(own_types())
    for batch in stream.read(0, stream.border(600)).batches:
        for column, array in zip(batch.table.columns, batch.image(), strict=True):
            plain = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
            assert plain.type == SQLSERVER.arrow_type(column.type)
            again = SQLSERVER.parse_values(SQLSERVER.format_values(plain, column.type), column.type)
            assert again.equals(plain), column.name


def test_widened_times_keep_their_values() -> None:
    """datetime2(3) to datetime2(7): the carrier changes from microseconds to text, and so do the values from there."""
    scenario = {
        "source": "sqlserver",
        "tables": {
            "t": {
                "key": "id",
                "columns": {
                    "id": {"type": "bigint", "values": "sequence"},
                    "at": {"type": "datetime2(3)", "values": "commit_time"},
                    "zone": {"type": "datetimeoffset(0)", "values": "commit_time"},
                    "fixed": {"type": "varchar(8)", "values": {"choices": ["a", "b"]}},
                },
                "rows": 30,
            }
        },
        "schema_changes": [
            {"at": 100, "table": "t", "widen": {"column": "at", "type": "datetime2"}},
            {"at": 100, "table": "t", "widen": {"column": "zone", "type": "datetimeoffset(3)"}},
            {"at": 100, "table": "t", "widen": {"column": "fixed", "type": "nvarchar(8)"}},
        ],
    }
    stream = stream_of(scenario)
    block = stream.read(0, stream.border(300))
    seen = {batch.table.version: batch for batch in block.batches if batch.kind.name == "INSERT"}
    old, new = seen[0].image(), seen[3].image()
    assert [a.type for a in old[1:3]] == [pa.timestamp("us"), pa.string()]
    assert {len(text) for text in new[1].to_pylist()} == {27}

    assert {len(text) for text in old[2].to_pylist()} == {26}
    assert {len(text) for text in new[2].to_pylist()} == {30}
    for version in (0, 3):
        for _, batch, before, after in changes_of(block):
            assert batch.table.version in (0, 3), version
            assert before is None or after is None or before != after


@pytest.mark.parametrize("scenario", ["orders", "crud", "tour"])
def test_shipped_scenarios_run(scenario: str) -> None:
    stream = open_stream(resolve(load(scenario), SQLSERVER))
    assert all(table.id.schema == "dbo" for table in stream.first_tables)
    assert texts(stream.read(0, stream.border(25))) == texts(stream.read(0, stream.border(25)))


def test_schema_changes_of_orders() -> None:
    stream = open_stream(resolve(load("orders"), SQLSERVER))
    statements = []
    for first in (19_990, 39_990, 59_990):
        start = stream.border(first)
        block = stream.read(start, stream.border(start + 30))
        statements += [event.sql for event in block.events if isinstance(event, SchemaChange)]
    assert statements == [
        "ALTER TABLE orders ADD channel nvarchar(16) DEFAULT N'web' WITH VALUES",
        "ALTER TABLE customers ALTER COLUMN name nvarchar(120) NOT NULL",
        "EXEC sp_rename 'dbo.payments.method', 'payment_method', 'COLUMN'",
    ]
    # a new column stands behind the others, wherever the scenario wants it
    assert [table.columns[-1].name for table in stream.tables_at(30_000) if table.id.name == "orders"] == ["channel"]
