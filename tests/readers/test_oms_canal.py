"""OMS's Canal messages before readers of Canal: what they take, what they refuse, and what they make of numbers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from building import batch_of, codec_of, encoded, table_of
from flink_table import CORRUPT, ORDERS, by_type, read
from jvm import Reader

from simulator.model import INSERT, UPDATE
from simulator.run.job import open_job
from simulator.run.plan import Limits
from simulator.run.session import local_run
from simulator.sinks.memory import MemorySink

pytestmark = pytest.mark.jvm

SOURCE = "oceanbase-mysql-4.3"


# ---------------------------------------------------------------------------------------------------------------- Flink


def test_rows_are_read_and_full_synchronization_and_statements_fail(flink: Reader) -> None:
    tour = by_type("oms-canal-json,version=4")
    assert set(tour) >= {"ROW", "INSERT", "UPDATE", "DELETE", "CREATE", "ALTER", "TRUNCATE", "RENAME", "ERASE"}
    for type, lines in tour.items():
        for answer in read(flink, ORDERS, lines):
            if type == "CREATE":
                assert answer == []
            elif type in ("INSERT", "UPDATE", "DELETE"):
                assert answer
                assert not any("error" in change for change in answer)
            else:
                assert [list(change) for change in answer] == [["error"]], type
                assert answer[0]["error"].startswith(CORRUPT)


def test_full_synchronization_as_inserts_is_read(flink: Reader) -> None:
    tour = by_type("oms-canal-json,canal_full_type=INSERT")
    assert "ROW" not in tour
    for answer in read(flink, ORDERS, tour["INSERT"]):
        assert [change["kind"] for change in answer] == ["+I"]


VALUES = table_of("v", {"id": "int", "ts": "timestamp(6)", "d": "decimal(20,10)", "b": "blob", "w": "double"}, ["id"])
ROW = ["1", "2020-11-25 00:01:02.012345", "0", "x'68656c6c6f'", "1e20"]


def test_values(flink: Reader) -> None:
    """Numbers with exponents and Base64 are read; a TIMESTAMP only as text."""
    lines = encoded(codec_of("oms-canal-json", SOURCE), batch_of(VALUES, INSERT, [ROW]))
    columns = {"id": "INT", "d": "DECIMAL(20, 10)", "b": "BYTES", "w": "DOUBLE"}
    ((change,),) = read(flink, {**columns, "ts": "STRING"}, lines)
    assert change["kind"] == "+I"
    row = change["row"]
    assert (row["id"], row["d"], row["w"], row["ts"]) == ("1", "0.0000000000", "1.0E20", "1606262462.012345")
    ((failed,),) = read(flink, {**columns, "ts": "TIMESTAMP(6)"}, lines)
    assert failed["error"].startswith(CORRUPT)


def test_a_null_before_a_value_stays_null(flink: Reader) -> None:
    table = table_of("t", {"id": "int", "name": "varchar(10)", "note": "text"}, ["id"])
    batch = batch_of(table, UPDATE, [["1", "a", "n"]], [["1", None, "n"]])
    ((before, after),) = read(
        flink,
        {"id": "INT", "name": "STRING", "note": "STRING"},
        encoded(codec_of("oms-canal-json", SOURCE), batch),
    )
    assert before == {"kind": "-U", "row": {"id": "1", "name": None, "note": "n"}}
    assert after == {"kind": "+U", "row": {"id": "1", "name": "a", "note": "n"}}


# ---------------------------------------------------------------------------------------------------------------- Canal


class Number(str):
    """A bare number as it stands in the message."""


def same(theirs: str | None, ours: Any) -> bool:
    """The bean has numbers as their text; those with an exponent went through a double, and very long ones lose their
    sign (fastjson2 2.0.31)."""
    if isinstance(ours, Number) and len(ours) > 38:
        return theirs in (ours, ours.removeprefix("-"))
    if isinstance(ours, Number) and "E" in ours:
        return theirs is not None and float(theirs) == float(ours)
    return bool(theirs == ours)


@pytest.mark.parametrize(("scenario", "changes"), [("tour", None), ("crud", 2_000), ("wide", 500)])
def test_canal_reads_numbers_as_their_text(canal: Reader, scenario: str, changes: int | None) -> None:
    with MemorySink() as sink:
        local_run(open_job(scenario, "oms-canal-json,version=4"), sink, limits=Limits(0, changes), snapshot=True)()
        lines = sink.values()
    exponents = 0
    for line, (answer,) in zip(lines, canal.ask([b"bean " + line for line in lines]), strict=True):
        message, bean = json.loads(line, parse_float=Number, parse_int=Number), json.loads(answer)
        assert (bean.pop("id"), bean.pop("gtid")) == (0, None)
        assert set(bean) == set(message)
        for name in ("data", "old"):
            for ours, theirs in zip(message.pop(name) or [], bean.pop(name) or [], strict=True):
                assert set(ours) == set(theirs)
                assert [(theirs[n], ours[n]) for n in ours if not same(theirs[n], ours[n])] == []
                exponents += sum(isinstance(value, Number) and "E" in value for value in ours.values())
        plain = json.loads(line)
        assert bean == {member: plain[member] for member in bean}
    assert exponents > 0 or scenario == "crud"
