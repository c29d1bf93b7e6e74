"""Wrong consumers, by what the verdict on their tables says: it names the mistake, and only where no row refutes it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import simulator
from simulator.library import Simulation
from simulator.truth.verify.tables.conversions import conversions

Rows = dict[str, list[dict[str, Any]]]


def consumed(run: Simulation, mistake: str = "") -> Rows:
    """A consumer of DTS's Canal JSON, with a mistake."""
    held: dict[str, dict[tuple[Any, ...], dict[str, Any]]] = {}
    again: dict[str, list[dict[str, Any]]] = {}
    messages = list(run.messages)
    if mistake == "applies by arrival":
        messages.sort(key=lambda message: (message.order.phase, message.partition))
    elif mistake == "stops early":
        messages = messages[:-60]
    elif mistake == "begins without the snapshot":
        messages = [message for message in messages if message.order.phase]
    for number, message in enumerate(messages):
        value = json.loads(message.value or b"")
        if value["isDdl"] or (number % 7 == 0 and mistake == f"loses some: {value['type']}"):
            continue
        if mistake == f"ignores: {value['type']}":
            continue
        rows, names = held.setdefault(value["table"], {}), value["pkNames"]
        for number, row in enumerate(value["data"]):
            key = tuple(row[name] for name in names)
            if value["type"] == "DELETE":
                rows.pop(key, None)
                continue
            old = value["old"][number] if value.get("old") else None
            before = tuple({**row, **(old or {})}[name] for name in names)
            if mistake == "drops updates of the key" and before != key:
                continue
            was = rows.get(before)
            if mistake != "leaves rows with old keys":
                rows.pop(before, None)
            rows[key] = _written(mistake, row, old, was)
            if mistake == "deletes after it inserts" and before != key:
                del rows[key]
            if mistake == "doubles" and value["type"] == "INSERT" and message.order.turn > 900:
                again.setdefault(value["table"], []).append(row)
    kept = {
        table: [*rows.values(), *(row for row in again.get(table, []) if row in rows.values())]
        for table, rows in held.items()
    }
    return kept


def _written(
    mistake: str, row: dict[str, Any], old: dict[str, Any] | None, was: dict[str, Any] | None
) -> dict[str, Any]:
    """The row that a consumer writes for one with its old values, where `was` is its own."""
    if old is None:
        return row
    if mistake == "takes the old row":
        return old
    if mistake == "takes the changed columns":
        return {name: value if old[name] != value or name == "id" else None for name, value in row.items()}
    if mistake == "ignores nulls":
        return {name: (was or {}).get(name) if value is None else value for name, value in row.items()}
    return row


def changed(rows: Rows, change: Callable[[str, Any], Any]) -> Rows:
    return {
        table: [{name: change(name, value) for name, value in row.items()} for row in own]
        for table, own in rows.items()
    }


@pytest.fixture(scope="module")
def run() -> Simulation:
    return simulator.simulate("tour", "dts-canal-json,frac=pad,timestamp_zone=UTC", snapshot=True)


def problems(run: Simulation, rows: Rows) -> Iterator[str]:
    known = {name.rpartition(".")[2] for name in run.expected}
    for verdict in run.verify({name: own for name, own in rows.items() if name in known}):
        yield from map(str, verdict.examples)


@pytest.mark.parametrize(
    ("mistake", "words", "key_updates"),
    [
        ("ignores: DELETE", "all of these rows were deleted: the consumer may ignore deletes", 0.3),
        ("loses some: DELETE", "all of these rows have an earlier state: the consumer may let older", 0.3),
        ("takes the old row", "all of these rows are as they were before their last update: the consumer may", 0),
        ("loses some: UPDATE", "all of these rows have an earlier state: the consumer may let older", 0),
        ("loses some: UPDATE", "is missing", 0.3),
        ("doubles", "it is there 2 times, all alike: a change that came again may have been added again", 0),
        ("leaves rows with old keys", "all of these rows have another key now: the consumer may not remove", 0.3),
        ("drops updates of the key", "the key of all of these rows was updated: the consumer may ignore updates", 0.3),
        ("deletes after it inserts", "all of these rows got their key by an update: the consumer may not write", 0.3),
        ("ignores: INSERT", "all of these rows were inserted: the consumer may ignore inserts", 0),
        ("ignores: UPDATE", "all of these rows are as they were inserted: the consumer may ignore updates", 0.3),
        ("takes the changed columns", "have nulls where their last update changed nothing: the consumer may take", 0),
        ("ignores nulls", "have an earlier value where they must have null: the consumer may ignore nulls", 0),
        ("stops early", "from turn 1,440 on are wrong, and no others: the consumer may not have read to the end", 0.3),
        ("applies by arrival", "only rows are wrong whose key was updated, and not all of them: the consumer", 0.3),
    ],
)
def test_wrong_consumers_are_told_why(mistake: str, words: str, key_updates: float) -> None:
    small = {
        "tables.users.rows": 300,
        "tables.users.key_updates": key_updates,
        "tables.users.columns.city.nulls": 0.3,
    }
    run = simulator.simulate(
        "crud", "dts-canal-json,frac=pad,timestamp_zone=UTC", limit=1500, settings=small, snapshot=True, route="key",
        partitions=3,
    )  # fmt: skip
    assert not list(problems(run, consumed(run)))
    (verdict,) = run.verify(consumed(run, mistake))
    assert not verdict.ok
    assert words in str(verdict), str(verdict)
    assert ("order of their arrival" in verdict.hint) == ("arrival" in mistake)


def test_a_run_without_a_snapshot() -> None:
    format = "dts-canal-json,frac=pad,timestamp_zone=UTC"
    run = simulator.simulate("crud", format, limit=200, settings={"tables.users.rows": 300}, snapshot=True)
    (verdict,) = run.verify(consumed(run, "begins without the snapshot"))
    assert "all of these rows are of the snapshot, of which only rows are there that changed" in verdict.hint


DDL = """
CREATE DATABASE shop; USE shop;
CREATE TABLE goods (id int PRIMARY KEY, name varchar(20));
INSERT INTO goods VALUES (1, 'ann'), (2, 'bob');
TRUNCATE TABLE goods;
INSERT INTO goods VALUES (3, 'ann'), (4, 'bob');
ALTER TABLE goods ADD COLUMN state varchar(10) DEFAULT 'new';
INSERT INTO goods (id, name) VALUES (5, 'eve');
"""


@pytest.mark.parametrize(
    ("states", "words"),
    [
        (
            {1: "new", 2: "new", 3: "new", 4: "new", 5: "new"},
            "TRUNCATE TABLE at turn 3.0 removed it, which was not applied .* removed by TRUNCATE or DROP TABLE: the",
        ),
        (
            {3: None, 4: None, 5: "new"},
            "ALTER TABLE at turn 5.0 added state, whose default is missing .* lack the default of a column",
        ),
    ],
)
def test_ddl_that_was_ignored(states: dict[int, str | None], words: str, tmp_path: Path) -> None:
    script, names = tmp_path / "goods.sql", {1: "ann", 2: "bob", 3: "ann", 4: "bob", 5: "eve"}
    script.write_text(DDL)
    rows = [{"id": number, "name": names[number], "state": state} for number, state in states.items()]
    (verdict,) = simulator.simulate(script, "canal-json").verify({"goods": rows})
    assert re.search(words, " ".join(str(verdict).split())), str(verdict)


def test_rows_under_their_old_key(run: Simulation) -> None:
    wrong = "\n".join(problems(run, consumed(run, "leaves rows with old keys")))
    assert "gave it another key, and this one was not removed" in wrong


def test_lost_digits_and_lost_signs() -> None:
    format = "dts-canal-json,frac=pad,timestamp_zone=UTC"
    run = simulator.simulate("tour", format, snapshot=True)
    cut = changed(
        consumed(run), lambda name, value: value[:19] if name == "moment" and value and "." in value else value
    )
    assert any(re.search("moment is .* \\(digits of the second are lost", text) for text in problems(run, cut))
    signed = changed(
        consumed(run),
        lambda name, value: str(int(value) - 2**64) if name == "positive" and value and int(value) >= 2**63 else value,
    )
    words = "positive is '-.* \\(taken for a signed number of 64 bits"
    assert any(re.search(words, text) for text in problems(run, signed))


def test_a_conversion_of_all_rows_is_named(run: Simulation) -> None:
    """A consumer that keeps local times."""
    run = simulator.simulate("crud", "dts-canal-json,frac=pad,timestamp_zone=UTC", limit=50)
    rows = changed(
        consumed(run),
        lambda name, value: str(datetime.fromisoformat(value) + timedelta(hours=8)) if name == "created_at" else value,
    )
    (verdict,) = run.verify(rows)
    assert (
        verdict.hint == "all of these rows differ in created_at (exactly 8:00 h later, as in another time zone) alone"
    )


TEXT, INTEGER, DECIMAL, DOUBLE, TIME = pa.string(), pa.int64(), pa.decimal128(12, 4), pa.float64(), pa.timestamp("us")


@pytest.mark.parametrize(
    ("type", "wanted", "came", "words"),
    [
        (TEXT, "bob  ", "bob", "blanks at its end are lost"),
        (TEXT, "  bob", "bob", "blanks at its begin and end are lost"),
        (TEXT, "bob", "bob   ", "blanks were added at its end"),
        (TEXT, "Bob", "bob", "in lower case"),
        (TEXT, "dörte", "dÃ¶rte", "UTF-8 read as Latin-1"),
        (TEXT, "dörte", "d?rte", "characters beyond ASCII became ?"),
        (TEXT, "a longer text", "a long", "cut to 6 characters"),
        (TEXT, "", None, "the empty text as null"),
        (TEXT, None, "", "a null as text"),
        (INTEGER, None, "NULL", "a null as text"),
        (INTEGER, "59877", "-5659", "taken for a signed number of 16 bits"),
        (INTEGER, "100000", "34464", "only its last 16 bits are left"),
        (INTEGER, "-100000", "-32768", "cut to the range of 16 bits"),
        (INTEGER, "9007199254740993", "9007199254740992", "as a double, which has 53 bits"),
        (DECIMAL, "12345678.1234", "12345678.0000", "as a floating-point number of 32 bits"),
        (DECIMAL, "1.2377", "1.2300", "cut to 2 digits behind the point"),
        (DECIMAL, "1.2377", "1.2400", "rounded to 2 digits behind the point"),
        (DECIMAL, "1.2333", "1.2300", "2 digits behind the point left"),
        (DECIMAL, "1.2300", "12300.0000", "its point is lost"),
        (DOUBLE, "0.1", "0.10000000149011612", "as a floating-point number of 32 bits"),
        (TIME, "2024-05-01 10:00:00.750", "2024-05-01 10:00:00.000", "digits of the second are lost"),
        (TIME, "2024-05-01 10:00:00.750", "2024-05-01 10:00:01.000", "rounded to seconds"),
        (TIME, "2024-05-01 10:00:00.750", "2024-05-01 00:00:00.000", "the time of day is lost"),
        (TIME, "2024-05-01 10:00:00.750", "2024-05-01 04:30:00.750", "exactly 5:30 h earlier, as in another time zone"),
        # other values, and what cannot be read
        (TEXT, "bob", "ann", None),
        (INTEGER, "7", "8", None),
        (INTEGER, "7", "7x", None),
        (DECIMAL, "1.2377", "1.2500", None),
        (TIME, "2024-05-01 10:00:00.750", "2024-05-01 10:07:00.750", None),
        (TEXT, "bob", b"\xff", None),
        (TEXT, "bob", None, None),
    ],
)
def test_conversions(type: pa.DataType, wanted: str | None, came: Any, words: str | None) -> None:
    assert next(iter(conversions(came, wanted, type)), None) == words
