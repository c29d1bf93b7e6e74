"""The stream's promises on systems that keep names in capitals, an empty text as null and CHAR filled with blanks."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from random_scenarios import loaded, scenarios
from test_stream import changes_of, few

from simulator import sources
from simulator.errors import ScenarioError
from simulator.model import SchemaChange
from simulator.stream import open_stream
from simulator.stream.engine.stream import ChangeStream
from simulator.stream.scenario.loader import load
from simulator.stream.scenario.resolve import resolve

SYSTEMS = ("oracle", "oracle-21c", "oceanbase-oracle")


def stream_of(scenario: dict[str, Any], system: str = "oracle") -> ChangeStream:
    return ChangeStream(resolve(loaded(scenario), sources.find(system)))


def checked(scenario: dict[str, Any]) -> ChangeStream:
    stream = open_stream(resolve(loaded(scenario), sources.find("oracle")))
    assert isinstance(stream, ChangeStream)
    return stream


@few
@given(scenarios())
def test_columns_hold_what_oracle_stores(scenario: dict[str, Any]) -> None:
    stream = stream_of(scenario)
    for batch in stream.read(0, stream.border(300)).batches:
        assert batch.table.id.schema == "SHOP"
        assert batch.table.id.name == batch.table.id.name.upper()
        for image in (batch.after, batch.before and [batch.full_before(i) for i in range(len(batch.table.columns))]):
            for column, array in zip(batch.table.columns, image or (), strict=False):
                plain = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
                assert plain.type == stream.source.arrow_type(column.type)
                if pa.types.is_string(plain.type) or pa.types.is_binary(plain.type):
                    assert all(value is None or len(value) for value in plain.to_pylist())


@pytest.mark.parametrize("system", [*SYSTEMS, "oracle-11g"])
@pytest.mark.parametrize("name", ["orders", "crud", "tour"])
def test_shipped_scenarios_run(name: str, system: str) -> None:
    stream = open_stream(resolve(load(name), sources.find(system)))
    block = stream.read(0, stream.turns or stream.border(2000))
    assert block.changes > 10


def test_schema_changes_of_orders_are_oracle_s() -> None:
    stream = open_stream(resolve(load("orders"), sources.find("oracle")))
    assert isinstance(stream, ChangeStream)
    statements = []
    for at in (20_000, 40_000, 60_000):
        first = stream.border(at)
        for event in stream.read(first, stream.border(first + 1)).events:
            if isinstance(event, SchemaChange):
                statements.append(event.sql)
                assert event.database == "ORCL"
                assert event.after is not None
                assert event.after.id.schema == "SHOP"
                last = event.after.columns[-1].name
                assert last == "CHANNEL" or "ADD" not in event.sql
    assert statements == [
        "ALTER TABLE ORDERS ADD (CHANNEL VARCHAR2(16 CHAR) DEFAULT 'web')",
        "ALTER TABLE CUSTOMERS MODIFY (NAME VARCHAR2(120 CHAR))",
        "ALTER TABLE PAYMENTS RENAME COLUMN METHOD TO PAYMENT_METHOD",
    ]


def short(columns: dict[str, Any], **more: Any) -> dict[str, Any]:
    long, middle = ("NUMBER(19)", "NUMBER(10)") if "source" in more else ("int64", "int32")
    whole = {"id": {"type": long, "values": "sequence"}, "n": {"type": middle, "values": "version"}, **columns}
    return {"tables": {"t": {"columns": whole, "key": "id", "rows": 40}}, **more}


def column(stream: ChangeStream, name: str) -> list[Any]:
    """The column's values in the changes of the first turns."""
    out = []
    for batch in stream.read(0, stream.border(400)).batches:
        out += [after[batch.table.positions[name]] for _, _, _, after in changes_of_batch(batch) if after is not None]
    return out


def changes_of_batch(batch: Any) -> Any:
    from simulator.stream.engine.block import Block

    return changes_of(Block(0, 0, (batch,), (), 0))


NATIVE = {
    "plain": {"type": "NUMBER", "values": {"range": ["0.5", "99.25"]}},
    "counted": {"type": "NUMBER", "values": "version"},
    "nano": {"type": "TIMESTAMP(9)", "values": "commit_time"},
    "zoned": {"type": "TIMESTAMP(3) WITH TIME ZONE", "values": "commit_time"},
    "clock": {"type": "INTERVAL DAY TO SECOND", "values": {"range": ["0 08:00:00", "0 18:00:00"]}},
    "day": {"type": "DATE", "values": {"range": ["2024-01-01", "2024-12-31"]}},
    "code": {"type": "CHAR(8)", "values": {"pattern": "??-##"}},
    "name": {"type": "NVARCHAR2(20)", "nulls": 0.1},
    "raw": {"type": "RAW(4)", "values": {"bytes": {"length": "0..1"}}},
    "any": "XMLTYPE",
    "row_id": "ROWID",
}


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("PLAIN", r"\d{1,2}(\.\d*[1-9])?"),
        ("COUNTED", r"[1-9]\d*"),
        ("NANO", r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{9}"),
        ("ZONED", r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \+00:00"),
        ("CLOCK", r"\+00 (0[89]|1[0-8]):\d\d:\d\d\.\d{6}"),
        ("DAY", r"2024-\d\d-\d\d 00:00:00"),
        ("CODE", r"[A-Z]{2}-\d\d   "),
        ("ANY", r"<item n=\"\d\"/>"),
        ("ROW_ID", r"[A-Za-z0-9+/]{18}"),
        ("RAW", r"None|b'.+'"),
    ],
)
def test_generated_values_of_native_types(name: str, pattern: str) -> None:
    values = column(checked(short(NATIVE, source="oracle")), name)
    assert len(values) > 100
    for value in values:
        assert re.fullmatch(pattern, str(value)), value
    if name == "RAW":
        assert None in values


def test_documents_are_printed_as_the_server_prints_them() -> None:
    document = {"type": "json", "values": {"document": {"zz": {"range": [1, 9]}, "a": ["x", "true"]}}}
    scenario = short({"doc": document})
    for system, pattern in (
        ("oracle-21c", r'\{"zz":\d,"a":\["x",true\]\}'),
        ("oracle", r'\{"a": \["x", true\], "zz": \d\}'),
    ):
        for value in column(stream_of(scenario, system), "DOC"):
            assert re.fullmatch(pattern, value), value
            type = sources.find(system).from_portable("json")
            assert sources.find(system).parse_values([value], type).to_pylist() == [value]


def test_sums_and_products_of_numbers() -> None:
    derived = {
        "price": {"type": "decimal(10,2)", "values": {"range": ["1.00", "9.99"]}},
        "wide": {"type": "int64", "values": {"range": [-(2**61), 2**61]}},
        "twice": {"type": "int64", "values": {"derived": "wide * 2"}},
        "both": {"type": "decimal(12,2)", "values": {"derived": "price * n"}},
        "label": {"type": "string(60)", "values": {"derived": "concat('no ', wide)"}},
    }
    stream = checked(short(derived))
    for batch in stream.read(0, stream.border(300)).batches:
        for _, _, _, after in changes_of_batch(batch):
            if batch.kind.name == "INSERT" and after is not None:
                row = dict(zip(batch.table.positions, after, strict=True))
                assert row["TWICE"] == 2 * row["WIDE"]
                assert row["BOTH"] == row["PRICE"] * row["N"]
                assert row["LABEL"] == f"no {row['WIDE']}"


@pytest.mark.parametrize(
    "column",
    [
        {"type": "text", "values": {"constant": ""}},
        {"type": "string(9)", "values": {"choices": ["", "x"]}},
        {"type": "string(9)", "values": {"text": {"length": "0..3"}}},
        {"type": "bytes(9)", "values": {"bytes": {"length": "0..3"}}},
    ],
)
def test_an_empty_text_is_null(column: dict[str, Any]) -> None:
    checked(short({"a": column}))
    with pytest.raises(ScenarioError, match="A cannot be null, as an empty text is in Oracle"):
        checked(short({"a": {**column, "nullable": "no"}}))


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"a": {"type": "VARCHAR2(10)", "values": {"text": {"length": "1..10", "alphabet": "cjk"}}}}, "30 bytes"),
        ({"a": {"type": "ROWID", "values": "uuid"}}, "uuid has no values for rowid, which holds rowid values"),
        ({"a": {"type": "NUMBER", "values": {"derived": "n * 2"}}}, "does not say how many digits it has"),
        ({"a": {"type": "NUMBER(5)", "values": {"range": [1, 100000]}}}, "100000 does not fit NUMBER[(]5[)]"),
        ({"a": {"type": "VARCHR2(5)"}}, "'varchr2' is not an Oracle type. Did you mean 'varchar2'"),
        ({"a": {"type": "JSON"}}, "Oracle 19c has no type JSON"),
    ],
)
def test_what_does_not_fit_is_told(columns: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ScenarioError, match=sentence):
        checked(short(columns, source="oracle"))


SCRIPT = {
    "tables": {
        "people": {"columns": {"id": "int64", "name": {"type": "string(5)", "nullable": "no"}}, "key": "id"},
        "later": {"columns": {"id": "int64"}, "key": "id", "database": "other", "created": "no"},
    },
}


def test_a_script_knows_tables_and_columns_by_any_case() -> None:
    script = [
        {"transaction": [{"insert": "People", "rows": [{"ID": 1, "Name": "a"}]}]},
        {"ddl": {"table": "people", "widen": {"column": "NAME", "type": "string(9)"}}},
        {"ddl": {"table": "PEOPLE", "rename_table": {"to": "folk"}}},
        {"transaction": [{"update": "FOLK", "where": {"id": 1}, "set": {"NAME": "abcdefghi"}}]},
        {"ddl": {"create_database": "other"}},
        {"ddl": {"table": "later", "create_table": "yes"}},
        {"transaction": [{"insert": "later", "rows": [{"id": 5}]}]},
        {"ddl": {"drop_database": "other"}},
    ]
    stream = open_stream(resolve(loaded({**SCRIPT, "script": script}), sources.find("oracle")))
    block = stream.read(0, len(script))
    assert [event.sql for event in block.events if isinstance(event, SchemaChange)] == [
        "ALTER TABLE PEOPLE MODIFY (NAME VARCHAR2(9 CHAR))",
        "ALTER TABLE PEOPLE RENAME TO FOLK",
        "CREATE USER OTHER IDENTIFIED BY OTHER",
        "CREATE TABLE LATER (ID NUMBER(19) NOT NULL, PRIMARY KEY (ID))",
        "DROP USER OTHER CASCADE",
    ]
    assert {str(batch.table.id) for batch in block.batches} == {
        "ORCL.SHOP.PEOPLE",
        "ORCL.SHOP.FOLK",
        "ORCL.OTHER.LATER",
    }
    assert [str(table.id) for table, _ in stream.rows_at(len(script))] == ["ORCL.SHOP.FOLK"]


def test_a_script_cannot_write_an_empty_text_where_null_cannot_be() -> None:
    script = [{"transaction": [{"insert": "people", "rows": [{"id": 1, "name": ""}]}]}]
    with pytest.raises(ScenarioError, match="name cannot be null, as an empty text is in Oracle"):
        open_stream(resolve(loaded({**SCRIPT, "script": script}), sources.find("oracle")))
