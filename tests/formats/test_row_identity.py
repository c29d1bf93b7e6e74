"""What names a row keeps to it: through updates of its key, and where another row is equal."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from simulator import sources
from simulator.model import ROW_KINDS, Kind
from simulator.run.job import Job
from simulator.run.plan import Limits
from simulator.sql.script import script_of
from simulator.stream.scenario.loader import read
from simulator.stream.scenario.resolve import resolve
from simulator.truth.decoders import parse

SQL: Final = """create database d; use d; create table t(a int, b int); insert into t values(1,1);
-- @snapshot
insert into t values(1,1),(2,2); update t set b=3 where a=1 limit 1;
update t set a=9 where b=3; delete from t where a=1;
"""
YAML: Final = """
tables: {t: {key: a, columns: {a: int64, b: int64}}}
script:
  - snapshot: {table: t, rows: [{a: 1, b: 1}]}
  - transaction:
      - {insert: t, rows: [{a: 2, b: 1}, {a: 3, b: 2}]}
      - {update: t, where: {a: 1}, set: {b: 3}}
      - {update: t, where: {a: 1}, set: {a: 9}}
      - {delete: t, where: {a: 2}}
  - transaction: [{update: t, where: {a: 9}, set: {b: 4}}, {insert: t, rows: [{a: 1, b: 1}]}]
"""
# The rows that the changes are of: the snapshot's, two inserted ones, the first again twice, the second.
SCRIPTED: Final = [1, 2, 3, 1, 1, 2]


def records(job: Job) -> list[dict[str, Any]]:
    values = [m.value or b"" for m in job.messages(Limits(), snapshot=True) if m.kind in ROW_KINDS]
    return [parse(job.codec.format.id, value) for value in values]


def numbered(names: list[str]) -> list[int]:
    """Names in the order in which they come."""
    first = list(dict.fromkeys(names))
    return [first.index(name) + 1 for name in names]


def hidden_keys(record: dict[str, Any]) -> set[str]:
    images = (record[side] for side in ("beforeImages", "afterImages"))
    return {str(image[-1][1]["value"]) for image in images if image}


def test_rds_numbers_the_rows_of_a_table_without_a_key() -> None:
    """Equal rows have different hidden keys, and an update changes none."""
    job = Job(script_of(SQL, "s.sql"), sources.find("mysql-8.0"), "dts-avro,rds_hidden_pk=on")
    keys = [hidden_keys(record) for record in records(job)]
    assert [len(each) for each in keys] == [1] * 6
    assert [int(key) for each in keys for key in each] == SCRIPTED


@pytest.mark.parametrize(
    ("source", "format"),
    [("oracle", "dts-shareplex-json"), ("mysql", "dts-avro,drds=on"), ("oceanbase-oracle", "oms-shareplex")],
)
def test_an_update_of_the_key_moves_no_row(source: str, format: str) -> None:
    """ROWIDs, and the physical tables of DRDS; OMS names a row by its key."""
    system = sources.find(source)
    job = Job(resolve(read(YAML, "f.yaml"), system), system, format)
    found = records(job)
    names = [each["objectName"] if "objectName" in each else each["meta"]["rowid"] for each in found]
    if format == "oms-shareplex":
        assert len(names) == 9  # the key update is a delete and an insert
        assert names[4] != names[5]
    else:
        assert numbered(names) == [*SCRIPTED, 1, 4]


def test_generated_rows_keep_their_rowids() -> None:
    scenario = {
        "tables": {
            "t": {
                "key": "id",
                "columns": {"id": {"type": "int64", "values": "sequence"}, "n": {"type": "int32", "values": "version"}},
                "rows": 20,
                "mix": {"insert": 1, "update": 6, "delete": 1},
                "key_updates": 0.5,
            }
        }
    }
    system = sources.find("oracle")
    job = Job(resolve(read(json.dumps(scenario), "f.yaml"), system), system, "dts-shareplex-json")
    held: dict[str, str] = {}
    moved = 0
    for message in job.messages(Limits(changes=400), snapshot=True):
        value = json.loads(message.value or b"")
        row = value["meta"]["rowid"]
        if message.kind is Kind.UPDATE:
            assert held[row] == value["key"]["ID"]
            moved += "ID" in value["data"]
            held[row] = value["data"].get("ID", held[row])
        elif message.kind is Kind.DELETE:
            assert held.pop(row) == value["data"]["ID"]
        else:
            assert row not in held
            held[row] = value["data"]["ID"]
    assert moved > 50
