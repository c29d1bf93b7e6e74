"""Scripts as streams: literal rows, exact envelopes, images that follow from each other, states at any turn."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from simulator.batch import ChangeBatch, Delta
from simulator.errors import ScenarioError
from simulator.model import Heartbeat, Kind, SchemaChange
from simulator.model import SchemaChangeKind as Ddl
from simulator.sources import SOURCES, find
from simulator.stream.engine.block import WRITE_LAG_MS, Block
from simulator.stream.literal.script import ScriptStream
from simulator.stream.scenario.loader import load, read
from simulator.stream.scenario.resolve import resolve

HEAD = """\
source: mysql
start: 2024-05-01T10:00:00Z
tables:
  t:
    key: id
    columns:
      id: int
      name: {type: varchar(10), nullable: no}
      price: decimal(10,2)
  pairs:
    key: [a, b]
    columns: {a: int, b: varchar(5), c: int}
  log:
    columns: {word: varchar(10), n: int}
  later:
    created: no
    columns: {x: int}
script:
"""
START_MS = 1_714_557_600_000
SNAPSHOT = "  - snapshot: {table: t, rows: [{id: 1, name: a, price: 1.5}, {id: 2, name: b}]}\n"


def script(entries: str) -> ScriptStream:
    return ScriptStream(resolve(read(HEAD + entries, "f.yaml"), find("mysql")))


def told(block: Block) -> list[Any]:
    """Everything of a block in stream order: (turn, ordinal, kind, table, before, after) or the event."""
    rows: list[Any] = [((event.order.turn, event.order.ordinal), event) for event in block.events]
    for batch in block.batches:
        for i in range(len(batch)):
            place = (int(batch.envelope.turn[i]), int(batch.envelope.ordinal[i]))
            rows.append((place, (batch.kind.name, batch.table.id.name, before(batch, i), after(batch, i))))
    return [what for _, what in sorted(rows, key=lambda row: row[0])]


def before(batch: ChangeBatch, row: int) -> tuple[Any, ...] | None:
    if batch.before is None:
        return None
    return tuple(batch.full_before(c)[row].as_py() for c in range(len(batch.table.columns)))


def after(batch: ChangeBatch, row: int) -> tuple[Any, ...] | None:
    return None if batch.after is None else tuple(column[row].as_py() for column in batch.after)


def rows_at(stream: ScriptStream, turn: int) -> dict[str, list[tuple[Any, ...]]]:
    return {
        table.id.name: list(zip(*(column.to_pylist() for column in columns), strict=True))
        for table, columns in stream.rows_at(turn)
    }


def test_images_and_envelopes() -> None:
    stream = script(
        SNAPSHOT
        + """\
  - transaction:
      - {insert: t, rows: [{id: 3, name: c, price: 1e1}, {id: 4, name: no}]}
      - {update: t, where: {id: 01}, set: {price: 2}}
      - {delete: t, where: [{id: 2}, {id: 3}]}
  - heartbeat: yes
  - at: 2024-05-01T10:00:30Z
    transaction:
      - {update: t, where: {id: 1}, set: {id: 7}}
"""
    )
    block = stream.read(0, 4)
    assert (block.first_turn, block.turns, block.changes) == (0, 4, 6)
    heartbeat = block.events[0]
    assert told(block) == [
        ("INSERT", "t", None, (3, "c", Decimal("10.00"))),
        ("INSERT", "t", None, (4, "no", None)),
        ("UPDATE", "t", (1, "a", Decimal("1.50")), (1, "a", Decimal("2.00"))),
        ("DELETE", "t", (2, "b", None), None),
        ("DELETE", "t", (3, "c", Decimal("10.00")), None),
        heartbeat,
        ("UPDATE", "t", (1, "a", Decimal("2.00")), (7, "a", Decimal("2.00"))),
    ]
    first = stream.numbers.first_txn
    assert isinstance(heartbeat, Heartbeat)
    assert (heartbeat.txn, heartbeat.event_ms) == (first + 1, START_MS + 2000)

    deletes = next(batch for batch in block.batches if batch.kind is Kind.DELETE).envelope
    arrays = {name: getattr(deletes, name).tolist() for name in deletes.ARRAYS if name != "offset"}
    assert arrays == {
        "turn": [1, 1],
        "ordinal": [6, 8],
        "statement": [2, 2],
        "txn": [first, first],
        "seq": [4, 5],
        "size": [5, 5],
        "event_ms": [START_MS + 1000] * 2,
        "write_ms": [START_MS + 1000 + WRITE_LAG_MS] * 2,
        "in_second": [6, 8],
    }
    updates = next(batch for batch in block.batches if batch.kind is Kind.UPDATE).envelope
    assert (updates.txn.tolist(), updates.event_ms.tolist()) == (
        [first, first + 1],
        [START_MS + 1000, START_MS + 30_000],
    )

    offsets = np.concatenate([batch.envelope.offset for batch in block.batches])
    assert len(set([*offsets.tolist(), heartbeat.offset])) == 7
    assert min(offsets) > stream.numbers.first_offset


def test_before_images_say_only_what_differs() -> None:
    stream = script(
        SNAPSHOT
        + """\
  - transaction:
      - {update: t, where: [{id: 1}, {id: 2}], set: {name: c}}
      - {update: t, where: {id: 1}, set: {price: 2.5}}
"""
    )
    (batch,) = stream.read(0, 2).batches
    assert batch.before is not None
    id, name, price = batch.before
    assert id is None
    assert isinstance(name, Delta)
    assert (name.rows.tolist(), name.values.to_pylist()) == ([0, 1], ["a", "b"])
    assert isinstance(price, Delta)
    assert (price.rows.tolist(), price.values.to_pylist()) == ([2], [Decimal("1.50")])


def test_any_range_of_turns_is_that_part_of_all() -> None:
    stream = ScriptStream(resolve(load("tour"), find("mysql")))
    whole = told(stream.read(0, stream.turns))
    parts = [one for turn in range(stream.turns) for one in told(stream.read(turn, turn + 1))]
    assert parts == whole
    assert stream.count(0, stream.turns).sum() == sum(isinstance(one, tuple) for one in whole)


def test_tour_shows_every_kind_once() -> None:
    stream = ScriptStream(resolve(load("tour"), find("mysql")))
    whole = told(stream.read(0, stream.turns))
    assert [one.kind for one in whole if isinstance(one, SchemaChange)] == [
        Ddl.ADD_COLUMN,
        Ddl.ALTER_COLUMN_TYPE,
        Ddl.RENAME_COLUMN,
        Ddl.DROP_COLUMN,
        Ddl.CREATE_INDEX,
        Ddl.DROP_INDEX,
        Ddl.RENAME_TABLE,
        Ddl.TRUNCATE_TABLE,
        Ddl.CREATE_DATABASE,
        Ddl.CREATE_TABLE,
        Ddl.DROP_TABLE,
        Ddl.DROP_DATABASE,
    ]
    assert {one[0] for one in whole if isinstance(one, tuple)} == {"INSERT", "UPDATE", "DELETE"}
    assert sum(isinstance(one, Heartbeat) for one in whole) == 1
    assert sum(block.changes for block in stream.snapshot(0)) == 3
    txns = [e.txn for e in stream.read(0, stream.turns).events if isinstance(e, SchemaChange)]
    assert txns == sorted(set(txns))


@pytest.mark.parametrize("id", SOURCES)
def test_an_update_that_changes_nothing_is_where_the_log_has_it(id: str) -> None:
    """MySQL's family, OceanBase and MongoDB log no row that stays as it is."""
    text = """\
tables: {t: {key: id, columns: {id: int64, price: "decimal(9,2)"}}}
script:
  - transaction: [{insert: t, rows: [{id: 1, price: 1.5}]}]
  - transaction: [{update: t, where: {id: 1}, set: {price: 1.50}}]
"""
    stream = ScriptStream(resolve(read(text, "f.yaml"), find(id)))
    assert int(stream.count(1, 2)[0]) == (id in ("gaussdb", "oracle", "postgresql", "sqlserver"))


def test_replaying_the_changes_gives_the_rows() -> None:
    stream = ScriptStream(resolve(load("tour"), find("mysql")))
    held = {name: {row[0]: row for row in rows} for name, rows in rows_at(stream, 0).items()}
    for turn in range(13):  # up to the first DDL statement
        for _, table, old, new in (one for one in told(stream.read(turn, turn + 1)) if isinstance(one, tuple)):
            if old is not None:
                assert held[table].pop(old[0]) == old
            if new is not None:
                assert new[0] not in held[table]
                held[table][new[0]] = new
        now = {name: sorted(rows) for name, rows in rows_at(stream, turn + 1).items()}
        assert now == {name: sorted(rows.values()) for name, rows in held.items()}


def test_snapshots_begin_at_any_turn() -> None:
    stream = script(
        SNAPSHOT + "  - transaction: [{insert: t, rows: [{id: 3, name: c}]}, {delete: t, where: {id: 1}}]\n"
    )
    for turn, wanted in ((0, [(1, "a", Decimal("1.50")), (2, "b", None)]), (2, [(2, "b", None), (3, "c", None)])):
        (block,) = (block for block in stream.snapshot(turn) if block.changes)
        (batch,) = block.batches
        assert (batch.kind, batch.envelope.phase, block.changes) == (Kind.READ, 0, 2)
        assert [after(batch, i) for i in range(2)] == wanted
        assert batch.envelope.txn.max() < stream.numbers.first_txn
        assert batch.envelope.offset.max() < stream.numbers.first_offset


def test_ddl_moves_the_rows_along() -> None:
    stream = script(
        SNAPSHOT
        + """\
  - ddl: {table: t, add_column: {name: level, column: int, default: 5, after: id}}
  - ddl: {table: t, widen: {column: price, type: "decimal(14,4)"}}
  - ddl: {table: t, rename_column: {column: id, to: number}}
  - transaction:
      - {insert: t, rows: [{number: 3, name: c, price: 1.2345}]}
      - {update: t, where: {number: 1}, set: {level: null}}
  - ddl: {table: t, drop_column: {column: name}}
  - ddl: {table: t, rename_table: {to: u}}
  - ddl: {table: u, truncate: yes}
  - ddl: {table: u, drop_table: yes}
  - ddl: {table: later, create_table: yes}
  - ddl: {table: t, create_table: yes}
"""
    )
    price = Decimal("1.5000")
    assert rows_at(stream, 2)["t"] == [(1, 5, "a", Decimal("1.50")), (2, 5, "b", None)]
    assert rows_at(stream, 5)["t"] == [(1, None, "a", price), (2, 5, "b", None), (3, 5, "c", Decimal("1.2345"))]
    assert rows_at(stream, 7)["u"] == [(1, None, price), (2, 5, None), (3, 5, Decimal("1.2345"))]
    assert rows_at(stream, 8)["u"] == []
    assert sorted(rows_at(stream, 9)) == ["log", "pairs"]
    assert sorted(rows_at(stream, 11)) == ["later", "log", "pairs", "t"]
    events = stream.read(0, 99).events
    assert [(e.after.id.name, e.after.version) if e.after else None for e in events if isinstance(e, SchemaChange)] == [
        ("t", 1), ("t", 2), ("t", 3), ("t", 4), ("u", 5), ("u", 6), None, ("later", 0), ("t", 5)
    ]  # fmt: skip


def test_tables_without_a_key_find_rows_by_any_columns() -> None:
    stream = script(
        """\
  - transaction:
      - {insert: log, rows: [{word: x, n: 1}, {word: y, n: 1}, {word: x}, {word: x, n: 1}]}
      - {update: log, where: {word: x, n: 1}, set: {n: 2}}
      - {delete: log, where: {n: null}}
"""
    )
    assert rows_at(stream, 1)["log"] == [("x", 2), ("y", 1), ("x", 2)]


INSERT = "  - transaction: [{insert: t, rows: [{id: 1, name: z}]}]\n"
MISTAKES = [
    (
        "  - transaction: [{insert: tt, rows: [{id: 1}]}]\n",
        "19: script[0].transaction[0].insert: no table 'tt'. Did you mean 't'?",
    ),
    (
        "  - transaction: [{insert: later, rows: [{x: 1}]}]\n",
        "19: script[0].transaction[0].insert: the table 'later' is not there at this point of the script.",
    ),
    (
        "  - transaction: [{insert: t, rows: [{id: 1, nme: z}]}]\n",
        "19: script[0].transaction[0].rows[0].nme: no column of t 'nme'. Did you mean 'name'?",
    ),
    (
        "  - transaction: [{insert: t, rows: [{id: 1}]}]\n",
        "19: script[0].transaction[0].rows[0]: a value for name is missing, which cannot be null.",
    ),
    (
        "  - transaction: [{insert: t, rows: [{id: 1, name: ~}]}]\n",
        "19: script[0].transaction[0].rows[0].name: name cannot be null.",
    ),
    (
        "  - transaction: [{insert: t, rows: [{id: 1, name: [a]}]}]\n",
        "19: script[0].transaction[0].rows[0].name: a literal is one value; "
        "a document is written as text between quotes.",
    ),
    (
        "  - transaction:\n    - insert: t\n      rows:\n      - {id: 1, name: z}\n      - {id: x, name: z}\n",
        "23: script[0].transaction[0].rows[1].id: 'x' is not a whole number.",
    ),
    (INSERT + INSERT, "20: script[1].transaction[0].rows[0]: t has a row with id '1' already."),
    (
        SNAPSHOT + "  - transaction: [{update: t, where: {id: 2}, set: {id: 001}}]\n",
        "20: script[1].transaction[0].where: t has a row with id '001' already.",
    ),
    (
        "  - transaction: [{delete: t, where: {id: 9}}]\n",
        "19: script[0].transaction[0].where: t has no row with id '9' at this point of the script.",
    ),
    (
        SNAPSHOT + "  - transaction: [{delete: t, where: [{id: 1}, {id: 1}]}]\n",
        "20: script[1].transaction[0].where[1]: this row is named already.",
    ),
    (
        "  - transaction: [{delete: pairs, where: {a: 1}}]\n",
        "19: script[0].transaction[0].where: where names the key of pairs, all of it and nothing else: a, b.",
    ),
    (
        "  - transaction: [{insert: t, rows: [{id: 1, name: a}, {id: 2, name: a}]}]\n"
        "  - ddl: {table: t, create_index: {name: uk, columns: name, unique: yes}}\n",
        "20: script[1].ddl: t has a row with name 'a' already (uk).",
    ),
    (
        "  - ddl: {table: t, create_index: {name: uk, columns: name, unique: yes}}\n"
        "  - transaction: [{insert: t, rows: [{id: 1, name: a}, {id: 2, name: b}]}]\n"
        "  - transaction: [{update: t, where: {id: 1}, set: {name: c}}, {update: t, where: {id: 2}, set: {name: a}}]\n"
        "  - transaction: [{delete: t, where: {id: 1}}, {insert: t, rows: [{id: 3, name: c}, {id: 4, name: a}]}]\n",
        "22: script[3].transaction[1].rows[1]: t has a row with name 'a' already (uk).",
    ),
    (INSERT + SNAPSHOT, "20: script[1].snapshot: snapshots stand before all else: their rows were there before."),
    (
        INSERT + "  - {heartbeat: yes, at: 2024-05-01T09:00:00Z}\n",
        "20: script[1].at: this is before the entry above; commits come in order of time.",
    ),
    (
        "  - {heartbeat: yes, ddl: {table: t, truncate: yes}}\n",
        "19: script[0]: expected exactly one of snapshot, transaction, ddl, heartbeat.",
    ),
    ("  - ddl: {truncate: yes}\n", "19: script[0].ddl: truncate needs table."),
    (
        "  - ddl: {table: t, create_table: yes}\n",
        "19: script[0].ddl.table: a table 't' is there already; one that a script creates says created: no.",
    ),
    (
        "  - ddl: {table: t, rename_table: {to: log}}\n",
        "19: script[0].ddl.rename_table.to: a table 'log' is there already.",
    ),
    ("  - ddl: {create_database: shop}\n", "19: script[0].ddl.create_database: a database 'shop' is there already."),
    (
        "  - ddl: {table: t, drop_column: {column: nam}}\n",
        "19: script[0].ddl.drop_column.column: no column of t 'nam'. Did you mean 'name'?",
    ),
    (
        "  - ddl: {table: t, add_column: {name: n, column: {type: int, nullable: no}}}\n",
        "19: script[0].ddl.add_column.default: n cannot be null, so existing rows need a default.",
    ),
]


@pytest.mark.parametrize(("entries", "sentence"), MISTAKES, ids=[m[1].split(": ", 2)[2][:60] for m in MISTAKES])
def test_a_script_that_cannot_happen_is_told_in_one_sentence(entries: str, sentence: str) -> None:
    with pytest.raises(ScenarioError) as error:
        script(entries)
    assert str(error.value) == f"f.yaml:{sentence}"


def test_a_script_says_every_value_itself() -> None:
    with pytest.raises(
        ScenarioError, match=r"^f\.yaml:7: tables\.t\.columns\.id\.values: values has no effect in a script"
    ):
        resolve(
            read(HEAD.replace("id: int\n", "id: {type: int, values: sequence}\n") + INSERT, "f.yaml"), find("mysql")
        )
