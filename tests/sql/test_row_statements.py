"""Statements about single rows (`Ddl.row_change`) leave the rows that they were made of: boundary values of every type,
inserted and updated by the embedded engine and by a real PostgreSQL; what other systems are typed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from each import each

from simulator.compare.comparison import compare
from simulator.model import Column, Table
from simulator.run.job import open_job
from simulator.run.plan import Limits
from simulator.run.scenario import Draft
from simulator.sources import find
from simulator.sources.ddl import Literals
from simulator.sources.source import Source
from simulator.sql.server.postgresql.connection import Connection
from simulator.sql.server.url import engine_of
from simulator.truth.rows import changes

# A value as the client prints it: a cast of `boolean` and of `character` prints another text.
PRINTED = "CASE WHEN v IS NOT NULL THEN format('%s', v) END"


def tables(source: Source) -> Iterator[tuple[Table, list[Literals]]]:
    """A table of each type, and rows with the type's boundary values."""
    key = source.identifier("id")
    for number, text in enumerate(source.corpus_types):
        type = replace(source.parse_type(text), spelled="")
        columns = Column(key, source.from_portable("int32"), nullable=False), Column(source.identifier("v"), type)
        table = Table(source.table_id("shop", f"t{number}"), columns, (key,))
        values = source.format_values(source.parse_values(source.boundary_values(type), type), type)
        yield table, [{key: str(i), columns[1].name: value} for i, value in enumerate(values)]


def test_the_embedded_engine_has_the_same_rows() -> None:
    source = find("mysql-8.0")
    script = ["CREATE DATABASE shop", "USE shop", "SET sql_mode = '', time_zone = '+00:00'"]
    expected = []
    for table, rows in tables(source):
        script.append(source.ddl.create_table(table))
        for row in rows:
            script.append(source.ddl.row_change(table, None, row))
            expected.append((table.id, row))
    stream = (job := open_job(Draft(";\n".join(script) + ";", "rows.sql"), "canal-json", source="mysql-8.0")).stream
    plan = job.plan(Limits(0, None), snapshot=False, most_turns=1 << 40)
    blocks = [stream.read_block(where) for where in plan.all_blocks()]
    found = [change for block in blocks for batch in block.batches for change in changes(batch, source)]
    assert job.failure is None
    assert [(change.table, change.after) for change in sorted(found, key=lambda one: one.order)] == expected


@pytest.mark.broker("postgresql")
def test_postgresql_has_the_same_rows(postgresql: str) -> None:
    """Each row is inserted with another value, and then updated; the server prints what the statement was made of."""
    name, source = "cdcsim_row_statements", find("postgresql")
    admin = Connection(engine_of(postgresql))
    admin.run(f"DROP DATABASE IF EXISTS {name}")
    admin.run(f"CREATE DATABASE {name}")
    session = Connection(engine_of(postgresql), name)
    try:
        session.run("SET TIME ZONE 'UTC'; CREATE EXTENSION citext; CREATE EXTENSION hstore; CREATE EXTENSION ltree")
        found, expected = [], []
        for table, rows in tables(source):
            if table.columns[1].type.labels:
                continue  # a type that scripts make
            session.run(source.ddl.create_table(table))
            last = rows[-1]["v"]
            for row in rows:
                session.run(source.ddl.row_change(table, None, {**row, "v": last}))
                session.run(source.ddl.row_change(table, {**row, "v": last}, row))
            of_table = session.rows(f"SELECT id::text, {PRINTED} FROM {table.id.name} AS t ORDER BY t.id")
            found += [(table.columns[1].type.name, *values) for values in of_table]
            expected += [(table.columns[1].type.name, *row.values()) for row in rows]
        assert found == expected
    finally:
        session.close()
        admin.run(f"DROP DATABASE {name}")
        admin.close()


@each([
    ("mysql", "tinyint(1)", "1", "UPDATE `order` SET v = 1 WHERE id = 7"),
    ("oracle", "INTERVAL DAY(9) TO SECOND", "+000000001 00:00:00.000000",
     "UPDATE \"ORDER\" SET V = INTERVAL '+000000001 00:00:00.000000' DAY(9) TO SECOND WHERE ID = 7"),
    ("oracle", "CLOB", "empty_clob()", "UPDATE \"ORDER\" SET V = empty_clob() WHERE ID = 7"),
    ("sqlserver", "nvarchar(9)", "a'b", "UPDATE [order] SET v = N'a''b' WHERE id = 7"),
    ("postgresql", "boolean", None, 'UPDATE "order" SET v = NULL WHERE id = 7'),
    ("mongodb", "long", "5000000000", 'db.order.updateOne({_id: 7}, {$set: {v: NumberLong("5000000000")}})'),
    ("mongodb", "date", None, "db.order.updateOne({_id: 7}, {$unset: {v: 1}})"),
])  # fmt: skip
def test_update(system: str, type: str, value: str | None, statement: str) -> None:
    source = find(system)
    key, changed = ("_id" if system == "mongodb" else source.identifier("id")), source.identifier("v")
    columns = Column(key, source.from_portable("int32"), nullable=False), Column(changed, source.parse_type(type))
    table = Table(source.table_id("shop", "order"), columns, (key,))
    assert source.ddl.row_change(table, {key: "7", changed: "another"}, {key: "7", changed: value}) == statement


def test_changes_of_a_scenario_and_their_statements() -> None:
    """A snapshot and a heartbeat are none; a statement about two rows is one for each."""
    events = compare("compare", ["debezium-json"], source="sqlserver").events
    statements = {event.step: event.statement for event in events if event.step}
    assert {step: statements[step] for step in ("update of the key", "delete", "heartbeat", "drop the table")} == {
        "update of the key": "UPDATE orders SET id = 22 WHERE id = 2;",
        "delete": "DELETE FROM orders WHERE id = 1;",
        "heartbeat": "",
        "drop the table": "DROP TABLE purchases",
    }
    assert statements["a statement that changes two rows"].splitlines() == [
        "UPDATE orders SET total = 7.50 WHERE id = 1;",
        "UPDATE orders SET total = 7.50 WHERE id = 3;",
    ]
    assert [event.statement for event in events if "read" in event.kinds] == [""]


def test_rows_without_a_key_and_values_that_the_server_makes() -> None:
    source = find("sqlserver")
    columns = tuple(Column(name, source.parse_type(type)) for name, type in (("a", "int"), ("b", "timestamp")))
    table = Table(source.table_id("shop", "t", "x y"), columns, ())
    row: Literals = {"a": None, "b": "0x00000000000007d1"}
    assert source.ddl.row_change(table, None, row) == "INSERT INTO [x y].t (a) VALUES (NULL)"
    assert source.ddl.row_change(table, row, None) == ("DELETE FROM [x y].t WHERE a IS NULL AND b = 0x00000000000007d1")
