"""Options of Debezium's connectors that change names and values, on sources that need no server.

Names are as Debezium's engine 3.6.3 wrote them of a table of PostgreSQL that is called alike; whole numbers of Oracle
follow its code (`OracleValueConverters`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from building import new_codec
from each import each

from simulator.errors import OptionError
from simulator.model import Message
from simulator.run.job import open_job
from simulator.run.plan import Limits


def messages(folder: Path, scenario: str, suffix: str, format: str, source: str) -> list[Message]:
    file = folder / f"scenario.{suffix}"
    file.write_text(scenario, encoding="utf-8")
    return list(open_job(str(file), f"debezium-json,{format}", source=source).messages(Limits()))


NAMES: Final = """
create database shop character set utf8mb4; use shop; set names utf8mb4;
create table `or_der-ä1` (`1st` int primary key, `größe_a` int, `a.b` text, `x9` int);
insert into `or_der-ä1` values (1, 2, 'x', 3);
"""
# What stands in a schema's name for that of the table, and the columns.
ADJUSTED: Final = {
    "none": ("or_der-_1", ["1st", "größe_a", "a.b", "x9"]),
    "avro": ("or_der__1", ["_1st", "gr__e_a", "a_b", "x9"]),
    "avro_unicode": ("or_u005fder_u002d_u005f1", ["_u0031st", "gr_u00f6_u00dfe_u005fa", "a_u002eb", "x9"]),
}


@pytest.mark.parametrize("mode", ADJUSTED)
def test_names(mode: str, tmp_path: Path) -> None:
    """Topics keep their names; those of schemas and columns change."""
    table, columns = ADJUSTED[mode]
    format = f"schema.name.adjustment.mode={mode},field.name.adjustment.mode={mode}"
    row = messages(tmp_path, NAMES, "sql", format, "mysql-8.0")[-1]
    key, value = json.loads(row.key or b""), json.loads(row.value or b"")
    assert row.topic == "dbserver1.shop.or_der-_1"
    assert (key["schema"]["name"], key["payload"]) == (f"dbserver1.shop.{table}.Key", {columns[0]: 1})
    assert value["schema"]["name"] == f"dbserver1.shop.{table}.Envelope"
    assert value["schema"]["fields"][1]["name"] == f"dbserver1.shop.{table}.Value"
    assert value["payload"]["after"] == dict(zip(columns, (1, 2, "x", 3), strict=True))


def test_topics_of_heartbeats(tmp_path: Path) -> None:
    beat = "-- @heartbeat\ncreate database shop;"
    topics = {
        "": "__debezium-heartbeat.dbserver1",
        ",topic.heartbeat.prefix=alive": "alive.dbserver1",
        ",topic.heartbeat.prefix=alive,topic.heartbeat.name=beats": "beats",
    }
    for options, topic in topics.items():
        format = f"heartbeat.interval.ms=1000{options}"
        assert messages(tmp_path, beat, "sql", format, "mysql-8.0")[0].topic == topic


NUMBERS: Final = """
source: oracle
database: SHOP
tables:
  t:
    columns: {id: "number(9)", tiny: "number(2,-2)", big: "number(20)", amount: "number(7,2)", free: number}
    key: id
script:
- transaction:
  - insert: t
    rows: [{id: 7, tiny: 9900, big: 12345678901234567890, amount: 1.5, free: 2.25}]
"""
WHOLE: Final = '"ID":7,"TINY":9900,"BIG":"12345678901234567890","AMOUNT":"1.50","FREE":"2.25"'
TEXTS: Final = WHOLE.replace('"ID":7', '"ID":"7"')


@pytest.mark.parametrize(
    ("options", "row"),
    [
        ("decimal.handling.mode=string", TEXTS),
        ("decimal.handling.mode=string,version=2.7", TEXTS),
        ("decimal.handling.mode=string,version=2.5", WHOLE),
        ("decimal.handling.mode=string,legacy.decimal.handling.strategy=true", WHOLE),
    ],
)
def test_whole_numbers_of_oracle(options: str, row: str, tmp_path: Path) -> None:
    """A negative scale stays whole in all versions."""
    (inserted,) = messages(tmp_path, NUMBERS, "yaml", f"include.schema.changes=false,{options}", "oracle")
    assert f'"after":{{{row}}}'.encode() in (inserted.value or b"")


QUERIES: Final = """
create database shop; use shop;
create table t(id int primary key, v varchar(9));
insert into t values (0, 'untold');
set session binlog_rows_query_log_events=1;
begin; insert into t values (1, 'a"b'); /* two */ update t set v = 'c'; delete from t where id = 0; commit;
update t set id = 2;
set session binlog_rows_query_log_events=0;
delete from t;
"""
TOLD: Final = [
    (None, "c"),
    ("insert into t values (1, 'a\"b')", "c"),
    ("/* two */ update t set v = 'c'", "u"),
    ("/* two */ update t set v = 'c'", "u"),
    ("delete from t where id = 0", "d"),
    ("update t set id = 2", "d"),
    ("update t set id = 2", "c"),
    (None, "d"),
]


def queries(folder: Path, scenario: str, suffix: str, format: str, source: str) -> list[tuple[Any, Any]]:
    made = messages(folder, scenario, suffix, f"value.converter.schemas.enable=false,{format}", source)
    values = [json.loads(message.value) for message in made if message.value]
    return [(value["source"]["query"], value["op"]) for value in values if "op" in value]


def test_texts_of_statements(tmp_path: Path) -> None:
    """Those in the log, until the next one or the end of the transaction; MariaDB's log has all."""
    assert queries(tmp_path, QUERIES, "sql", "include.query=true", "mysql-8.0") == TOLD
    assert {query for query, _ in queries(tmp_path, QUERIES, "sql", "include.query=false", "mysql-8.0")} == {None}
    told = queries(tmp_path, QUERIES.replace("set session binlog_rows_query_log_events", "set @x"), "sql",
                   "include.query=true", "mariadb-10.11")  # fmt: skip
    assert told == [("insert into t values (0, 'untold')", "c"), *TOLD[1:-1], ("delete from t", "d")]


CHANGES: Final = """
source: mysql-8.0
database: shop
tables:
  t:
    columns: {id: int, v: varchar(9)}
    key: id
script:
- snapshot: {table: t, rows: [{id: 1, v: x}]}
- transaction:
  - {insert: t, rows: [{id: 2, v: "it's"}, {id: 3, v: null}]}
  - {update: t, where: {id: 2}, set: {v: y}}
  - {update: t, where: {id: 2}, set: {id: 4}}
  - {delete: t, where: {id: 1}}
"""


def test_statements_of_scenarios(tmp_path: Path) -> None:
    """A statement for each row; both halves of a changed key have the update's."""
    format = "include.query=true,include.schema.changes=false"
    assert queries(tmp_path, CHANGES, "yaml", format, "mysql-8.0") == [
        ("INSERT INTO t (id, v) VALUES (2, 'it''s')", "c"),
        ("INSERT INTO t (id, v) VALUES (3, NULL)", "c"),
        ("UPDATE t SET v = 'y' WHERE id = 2", "u"),
        ("UPDATE t SET id = 4 WHERE id = 2", "d"),
        ("UPDATE t SET id = 4 WHERE id = 2", "c"),
        ("DELETE FROM t WHERE id = 1", "d"),
    ]


WRONG: Final[dict[str, Any]] = {
    "topic.heartbeat.name=a b": "it is the name of a topic",
    "topic.heartbeat.name=beats,version=2.7": r"it has no effect with version=2\.7",
    "include.unknown.datatypes=true": "postgresql",
    "legacy.decimal.handling.strategy=true": "oracle",
    "schema.name.adjustment.mode=unicode": "it is one of none, avro, avro_unicode",
}


@each(WRONG)
def test_wrong_options(option: str) -> None:
    with pytest.raises(OptionError, match=WRONG[option]):
        new_codec(f"debezium-json,{option}", "mysql-8.0")


def test_bytes_of_placeholders() -> None:
    with pytest.raises(OptionError, match="bytes stand behind hex:, two hexadecimal digits each"):
        new_codec("debezium-json,unavailable.value.placeholder=hex:0", "postgresql-14")
    new_codec("debezium-json,unavailable.value.placeholder=hex:0", "mysql-8.0")  # a text there
