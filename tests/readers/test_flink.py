"""Flink's released canal-json, debezium-json and maxwell-json readers, strict, on our messages: what they accept, and
the table they make of them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from flink_table import CORRUPT, ORDERS, Row, by_type, flink_type, read
from jvm import Reader

from simulator import messages
from simulator.batch import decoded
from simulator.carriers import as_integers
from simulator.run.job import open_job
from simulator.run.plan import Limits
from simulator.run.session import local_run
from simulator.sinks.memory import MemorySink

pytestmark = pytest.mark.jvm

CHANGES = 8_000


def typed(value: str | None, type: str) -> Any:
    """A value of the changelog: moments as microseconds, dates as days."""
    if value is None or type == "STRING":
        return value
    return Decimal(value) if type.startswith("DECIMAL") else int(value)


def python(column: pa.Array) -> list[Any]:
    """A column of `rows_at` in the same values."""
    values: list[Any] = as_integers(decoded(column)).to_pylist()
    return values


def reader_of(format: str) -> str:
    """Which of the readers a format is for."""
    if "debezium" not in format:
        return "maxwell" if format.startswith("maxwell") else ""
    return "debezium-schema" if "schema_include=on" in format else "debezium"


@pytest.mark.parametrize(
    "format",
    [
        "canal-json",
        "oms-canal-json,canal_full_type=INSERT",
        "dts-canal-json,init_as_insert=on",
        "drs-json-c,init_as_insert=on,sync_ddl=off",
        "cloudcanal-canal-json",
        "cloudcanal-canal-json,batch_rows=20",
        "cloudcanal-debezium",
        "cloudcanal-debezium,envelop_schema_include=on,init_op=r",
        "cloudcanal-debezium,empty_image=null,key_order=doc",
        "maxwell-json,bootstrap=off,output_xoffset=on",
    ],
)
def test_the_table_is_that_of_the_closed_form(flink: Reader, format: str) -> None:
    """Snapshot and changes of `crud`: all are accepted, every old row is the one that was there, and so is the end."""
    job = open_job("crud", format)
    with MemorySink() as sink:
        done = local_run(job, sink, limits=Limits(changes=CHANGES), snapshot=True)()
    parts = list(job.stream.rows_at(done.next_turn))
    names = [column.name for column in parts[0][0].columns]
    types = dict(zip(names, map(flink_type, parts[0][1]), strict=True))

    answers = read(flink, types, sink.values(), reader=reader_of(format))
    assert len(answers) == done.messages
    held: dict[str, Row] = {}
    kinds = {"+I": 0, "-U": 0, "+U": 0, "-D": 0}
    for number, answer in enumerate(answers):
        assert answer, f"message {number} was skipped: {sink.values()[number]!r}"
        for told in answer:
            assert "error" not in told, f"{told['error']}: {sink.values()[number]!r}"
            kind, row = told["kind"], told["row"]
            kinds[kind] += 1
            if kind in ("-U", "-D"):
                assert held.pop(row["id"]) == row
            else:
                assert row["id"] not in held
                held[row["id"]] = row
    assert kinds["-U"] == kinds["+U"] > CHANGES / 2
    assert kinds["-D"] > CHANGES / 10
    assert kinds["+I"] + kinds["+U"] + kinds["-D"] == done.snapshot_rows + done.changes >= CHANGES

    expected = {}
    for table, columns in parts:
        assert [column.name for column in table.columns] == names
        for row in zip(*map(python, columns), strict=True):
            expected[row[0]] = dict(zip(names, row, strict=True))
    assert names[0] == "id"
    assert {int(key): {n: typed(row[n], type) for n, type in types.items()} for key, row in held.items()} == expected


def test_dts_full_load_as_inserts_is_read(flink: Reader) -> None:
    tour = by_type("dts-canal-json,init_as_insert=on")
    assert "INIT" not in tour
    assert [[told["kind"] for told in answer] for answer in read(flink, ORDERS, tour["INSERT"])] == [["+I"]] * len(
        tour["INSERT"]
    )


def test_dts_deletes_before_2022_fail(flink: Reader) -> None:
    """They have the row in `old`, and Flink looks for it in `data`."""
    tour = by_type("dts-canal-json,images=before-2022-03-20")
    for answer in read(flink, ORDERS, tour["DELETE"]):
        assert answer[0]["error"].startswith(CORRUPT)


def test_names_are_matched_by_case(flink: Reader) -> None:
    """No failure, and no value: the reader at work is the one whose faults are known."""
    line = b'{"data":[{"ID":"1","total":"1e2"}],"old":null,"type":"INSERT"}'
    assert read(flink, ORDERS, [line]) == [[{"kind": "+I", "row": {"id": None, "status": None, "total": "100.00"}}]]


def envelopes(options: str) -> list[bytes]:
    found = messages("tour", f"cloudcanal-debezium{options}", limit=None, snapshot=True)
    return [message.value for message in found if message.value is not None]


def test_envelopes_with_and_without_schema_want_their_own_reader(flink: Reader) -> None:
    for options, mine, other in (
        ("", "debezium", "debezium-schema"),
        (",envelop_schema_include=on", "debezium-schema", "debezium"),
    ):
        values = envelopes(options)
        rows = [value for value in values if b'"op":' in value]
        assert len(rows) > 10
        assert all("error" not in told for answer in read(flink, ORDERS, rows, reader=mine) for told in answer)
        assert all("error" in answer[0] for answer in read(flink, ORDERS, rows, reader=other))
        statements = [value for value in values if b'"op":' not in value]
        assert len(statements) > 3
        assert all("error" in answer[0] for answer in read(flink, ORDERS, statements, reader=mine))


@pytest.mark.parametrize(("options", "op"), [(",legacy_insert_op=i", b'"op":"i"'), (",ddl_op=a", b'"op":"a"')])
def test_other_operations_of_envelopes_fail(flink: Reader, options: str, op: bytes) -> None:
    values = [value for value in envelopes(options) if op in value]
    assert len(values) > 3
    assert all("error" in answer[0] for answer in read(flink, ORDERS, values, reader="debezium"))
