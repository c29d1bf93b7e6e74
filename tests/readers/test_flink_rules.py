"""How far Flink's strict canal-json reads Canal's dialects: what it accepts, what it refuses, and what it reads wrong.

First the reader alone, on messages written by hand: what is said of it holds for the release that is run here. Then our
messages of each dialect, which it treats accordingly.
"""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from building import Rows, batch_of, block_of, codec_of, encoded, messages_of, table_of
from cases import cases_of
from flink_table import CORRUPT, ORDERS, by_type, read
from jvm import Reader

from simulator import formats
from simulator.model import INSERT, UPDATE
from simulator.sources import SOURCES

pytestmark = pytest.mark.jvm

COLUMNS: Final = {"id": "BIGINT", "name": "STRING"}
ANN: Final = {"id": "1", "name": "ann"}
BO: Final = {"id": "2", "name": "bo"}


def message(type: str, **members: Any) -> bytes:
    return json.dumps({**members, "type": type}).encode()


def told(flink: Reader, line: bytes, columns: dict[str, str] | None = None) -> list[tuple[str, Any]]:
    """(kind, row) for each row, ("error", None) for a failure."""
    (answer,) = read(flink, columns or COLUMNS, [line])
    for row in answer:
        assert "error" not in row or row["error"].startswith(CORRUPT)
    return [("error", None) if "error" in row else (row["kind"], row["row"]) for row in answer]


# ---------------------------------------------------------------------------------------------------- the reader alone

FAILED: Final = [("error", None)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (message("INSERT", data=[ANN, BO], old=None), [("+I", ANN), ("+I", BO)]),
        (message("INSERT", data=[]), []),
        (message("INSERT", data=None), FAILED),
        (message("INSERT", data=ANN), FAILED),
        (message("INSERT", data=[{"id": 1, "name": "ann"}], more=[{"x": 1}]), [("+I", ANN)]),
        (message("DELETE", data=[ANN], old=None), [("-D", ANN)]),
        (message("DELETE", data=None, old=[ANN]), FAILED),
        (message("DELETE", old=[ANN]), FAILED),
        (message("UPDATE", data=[ANN], old=[{"name": "a"}]), [("-U", {**ANN, "name": "a"}), ("+U", ANN)]),
        (message("UPDATE", data=[ANN], old=[{"name": None}]), [("-U", {**ANN, "name": None}), ("+U", ANN)]),
        (message("UPDATE", data=[ANN], old=[{}]), [("-U", ANN), ("+U", ANN)]),
        (message("UPDATE", data=[ANN], old=None), FAILED),
        (message("UPDATE", data=[ANN]), FAILED),
        (message("UPDATE", data=[ANN, BO], old=[{"name": "a"}]), FAILED),  # and not even the first row is read
        (message("UPDATE", data=[ANN], old=[{}, {}]), [("-U", ANN), ("+U", ANN)]),
        # the column that one row's `old` has is not copied for the other row
        (
            message("UPDATE", data=[ANN, BO], old=[{"name": "a"}, {"id": "3"}]),
            [
                ("-U", {"id": None, "name": "a"}),
                ("+U", ANN),
                ("-U", {"id": "3", "name": None}),
                ("+U", BO),
            ],
        ),
        (message("CREATE", data=None, isDdl=True), []),
        *((message(type, data=None), FAILED) for type in ("ALTER", "ERASE", "TRUNCATE", "RENAME", "CINDEX", "DINDEX")),
        *((message(type, data=None), FAILED) for type in ("QUERY", "DDL", "XACOMMIT", "TIDB_WATERMARK")),
        *((message(type, data=[ANN]), FAILED) for type in ("INIT", "ROW", "insert")),
    ],
)
def test_messages(flink: Reader, line: bytes, expected: list[Any]) -> None:
    assert told(flink, line) == expected


@pytest.mark.parametrize(
    ("type", "value", "expected"),
    [
        ("STRING", 1.5, "1.5"),
        ("STRING", {"a": 1}, '{"a":1}'),
        ("BIGINT", " 7 ", "7"),
        ("BIGINT", "1.0", None),
        ("BIGINT", "", None),
        ("BIGINT", "9223372036854775808", None),
        ("DECIMAL(10, 2)", "1e2", "100.00"),
        ("DECIMAL(3, 2)", "123.45", "null"),  # too large: NULL, and nobody is told
        ("DOUBLE", "1.0E10", "1.0E10"),
        ("DOUBLE", "NaN", "NaN"),
        ("BOOLEAN", "true", "true"),
        ("BOOLEAN", "1", "false"),  # Canal's tinyint(1), read wrong
        ("BYTES", "aGVsbG8=", "68656c6c6f"),
        ("BYTES", "00FF1020", "d34145d74db4"),  # CloudCanal's digits, taken for Base64
        ("BYTES", "0x00FF", None),
        ("DATE", "2024-02-29", "19782"),
        ("DATE", "0000-00-00", None),
        ("TIME", "-10:00:00", None),
        ("TIMESTAMP(6)", "1970-01-01 00:00:00.5", "500000"),
        ("TIMESTAMP(6)", "1970-01-01T00:00:00", None),
        ("TIMESTAMP(6)", "0000-00-00 00:00:00", None),
        ("TIMESTAMP(6)", "1606233662.012345", None),
    ],
)
def test_values(flink: Reader, type: str, value: Any, expected: str | None) -> None:
    """`expected` is the value that the table has, None where the job fails."""
    found = told(flink, message("INSERT", data=[{"v": value}]), {"v": type})
    if expected is None:
        assert found == FAILED
    else:
        assert found == [("+I", {"v": None if expected == "null" else expected})]


# ------------------------------------------------------------------------------------------------------- our messages

ROWS: Final = {"INSERT": ["+I"], "UPDATE": ["-U", "+U"], "DELETE": ["-D"]}
# Of each dialect the types that its tour has: what is refused, and what is skipped; rows are read.
TYPES: Final = {
    "canal-json": ({"ALTER", "ERASE", "TRUNCATE", "RENAME", "CINDEX", "DINDEX", "QUERY"}, {"CREATE"}),
    "cloudcanal-canal-json,ddl_statements=create+alter+rename+truncate+drop": (
        {"ALTER", "TRUNCATE", "RENAME", "DROP"},
        {"CREATE"},
    ),
    "dts-canal-json": ({"INIT", "DDL"}, set()),
    "oms-canal-json,version=4": ({"ROW", "ALTER", "TRUNCATE", "RENAME", "ERASE"}, {"CREATE"}),
}


@pytest.mark.parametrize("format", TYPES)
def test_types_of_each_dialect(flink: Reader, format: str) -> None:
    refused, skipped = TYPES[format]
    tour = by_type(format)
    assert set(tour) >= {*ROWS, *refused, *skipped}
    for type, lines in tour.items():
        for line in lines:
            kinds = [kind for kind, _ in told(flink, line, ORDERS)]
            rows = len(json.loads(line)["data"] or ()) if type in ROWS else 0
            assert kinds == ([] if type in skipped else ROWS[type] * rows if type in ROWS else ["error"]), type


@pytest.mark.parametrize(
    ("format", "source"),
    [
        (format, f"{id}-{SOURCES[id][2][0]}")
        for format in ("canal-json", "cloudcanal-canal-json", "dts-canal-json", "oms-canal-json")
        for id in formats.find(format).sources
    ],
)
def test_rows_of_all_cases_as_text(flink: Reader, format: str, source: str) -> None:
    """Whatever the type and the source: declared as STRING, a value is its text."""
    checked = 0
    for case in cases_of(source, format):
        for step in case.steps:
            if not isinstance(step, Rows) or step.kind is not INSERT or len({*step.table.columns}) < 2:
                continue
            columns = [column.name for column in step.table.columns]
            if any("`" in name for name in columns):
                continue
            lines = [m.value or b"" for m in messages_of(format, source, block_of(case)) if m.kind is INSERT]
            if len({*map(_table, lines)}) != 1:
                continue
            answers = read(flink, dict.fromkeys(columns, "STRING"), lines)
            for line, answer in zip(lines, answers, strict=True):
                rows = json.loads(line, parse_float=str, parse_int=str)["data"]
                assert [row["kind"] for row in answer] == ["+I"] * len(rows)
                for row, there in zip(rows, (row["row"] for row in answer), strict=True):
                    assert {name for name in columns if not same(there[name], row.get(name))} == set()
                    checked += 1
    assert checked > 20


def _table(line: bytes) -> str:
    return str(json.loads(line)["table"])


def same(theirs: str | None, ours: str | None) -> bool:
    """The reader's text of a value; of bare numbers it may be another text of the same number."""
    if theirs == ours or theirs is None or ours is None:
        return theirs == ours
    try:
        return float(theirs) == float(ours)
    except ValueError:
        return False


def test_dts_swapped_updates_are_read_wrong(flink: Reader) -> None:
    """Of instances from before 2022-03-20: accepted, and the old row is taken for the new one."""
    table = table_of("t", {"id": "int", "name": "varchar(9)"}, ["id"])
    batch = batch_of(table, UPDATE, [["1", "new"]], [["1", "old"]])
    (line,) = encoded(codec_of("dts-canal-json,images=before-2022-03-20"), batch)
    assert [(kind, row["name"]) for kind, row in told(flink, line)] == [("-U", "new"), ("+U", "old")]
    (line,) = encoded(codec_of("dts-canal-json"), batch)
    assert [(kind, row["name"]) for kind, row in told(flink, line)] == [("-U", "old"), ("+U", "new")]


@pytest.mark.parametrize(
    ("format", "right"),
    [
        ("cloudcanal-canal-json,batch_rows=50", True),
        ("cloudcanal-canal-json,batch_rows=50,old_image=changed", False),
        ("canal-json", False),
    ],
)
def test_old_rows_that_list_different_columns(flink: Reader, format: str, right: bool) -> None:
    """Rows of one message: whole old rows are safe, changed columns alone are not."""
    table = table_of("t", {"id": "int", "a": "varchar(9)", "b": "varchar(9)"}, ["id"])
    batch = batch_of(table, UPDATE, [["1", "A", "b"], ["2", "a", "B"]], [["1", "a", "b"], ["2", "a", "b"]])
    (line,) = encoded(codec_of(format), batch)
    found = told(flink, line, {"id": "BIGINT", "a": "STRING", "b": "STRING"})
    assert [kind for kind, _ in found] == ["-U", "+U", "-U", "+U"]
    before = [row for kind, row in found if kind == "-U"]
    assert (before == [{"id": "1", "a": "a", "b": "b"}, {"id": "2", "a": "a", "b": "b"}]) is right
    if not right:
        assert None in before[0].values()
