"""DRS's messages before Flink's strict reader of Canal: JSON-C is for it, JSON is not."""

from __future__ import annotations

import pytest
from building import batch_of, codec_of, encoded, table_of
from flink_table import CORRUPT, ORDERS, by_type, read
from jvm import Reader

from simulator.model import DELETE, INSERT

pytestmark = pytest.mark.jvm


@pytest.mark.parametrize(("format", "read_too"), [("drs-json-c", {"DELETE"}), ("drs-json", set[str]())])
def test_rows_are_read_but_for_deletes_of_json(flink: Reader, format: str, read_too: set[str]) -> None:
    """Rows of the full load and statements fail in both, deleted rows where they stand in `old`."""
    tour = by_type(format)
    assert set(tour) >= {"INIT_DDL", "INIT", "INSERT", "UPDATE", "DELETE", "DDL"}
    for type, lines in tour.items():
        for answer in read(flink, ORDERS, lines):
            if type in {"INSERT", "UPDATE"} | read_too:
                assert answer
                assert not any("error" in told for told in answer)
            else:
                assert [list(told) for told in answer] == [["error"]], type
                assert answer[0]["error"].startswith(CORRUPT)


def test_timestamps(flink: Reader) -> None:
    """JSON-C's are moments to Flink; the seconds of JSON are none."""
    table = table_of("t", {"id": "int", "ts": "timestamp(3)", "b": "binary(2)"}, ["id"])
    batch = batch_of(table, INSERT, [["1", "2021-06-25 09:51:53.201", "x'6a67'"]])
    columns = {"id": "INT", "ts": "TIMESTAMP(3)", "b": "STRING"}
    ((told,),) = read(flink, columns, encoded(codec_of("drs-json-c"), batch))
    assert told == {"kind": "+I", "row": {"id": "1", "ts": str(1_624_643_513_000_000), "b": "[106, 103]"}}
    ((failed,),) = read(flink, columns, encoded(codec_of("drs-json"), batch))
    assert failed["error"].startswith(CORRUPT)


def test_a_deleted_row(flink: Reader) -> None:
    table = table_of("t", {"id": "int", "name": "varchar(9)"}, ["id"])
    ((told,),) = read(
        flink,
        {"id": "INT", "name": "STRING"},
        encoded(codec_of("drs-json-c"), batch_of(table, DELETE, [["1", None]])),
    )
    assert told == {"kind": "-D", "row": {"id": "1", "name": None}}
