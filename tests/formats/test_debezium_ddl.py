"""Columns as the connector for MySQL reads them from DDL: in the stream as typed, in a snapshot as the server prints.

Expected texts are those of Debezium's engine 3.6.3 on MySQL 8.0.31, which ran the same statements.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from simulator.run.job import open_job
from simulator.run.plan import Limits

# A column; the default in its schema and its text, typed in the stream; the same in a snapshot.
DEFAULTS: Final = {
    "timestamp null default current_timestamp": (None, "1970-01-01 00:00:00", None, "1970-01-01 00:00:00"),
    "timestamp not null default current_timestamp": ("1970-01-01T00:00:00Z", "1970-01-01 00:00:00") * 2,
    "datetime default current_timestamp": (0, "1970-01-01 00:00:00") * 2,
    "year default '70'": (1970, "70", 1970, "1970"),
    "time default '-10:11:12.5'": (-36672500000, "-10:11:12.5", -36673000000, "-10:11:13"),
    "date default '2020-1-5'": (None, "2020-1-5", 18266, "2020-01-05"),
    "datetime(3) default '2020-01-02 03:04:05.6789'": (
        1577934245678, "2020-01-02 03:04:05.6789", 1577934245679, "2020-01-02 03:04:05.679",
    ),
    "datetime default 20200102030405": (None, "20200102030405", 1577934245000, "2020-01-02 03:04:05"),
    "int default 0x10": (1, "1", 16, "16"),
    "bit(3) default x'07'": (None, "07", "Bw==", "111"),
    "decimal(10,2) default '1.005'": ("ZQ==", "1.005", "ZQ==", "1.01"),
    "binary(4) default 0x6162": ("NjE2", "616", "YWJcMFww", "ab\\0\\0"),
    "varchar(5) default x'4142'": ("4142", "4142", "AB", "AB"),
    "varchar(9) default _utf8mb4'é'": ("é", "é") * 2,
    "varchar(9) default \"dq'x\"": ("dq''x", "dq''x") * 2,
}  # fmt: skip
FORMAT: Final = "debezium-json,include.schema.comments=true,binary.handling.mode="


def payloads(folder: Path, sql: str, binary: str = "bytes") -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Schema and payload of each message."""
    file = folder / "ddl.sql"
    file.write_text(sql, encoding="utf-8")
    made = open_job(str(file), FORMAT + binary, source="mysql-8.0").messages(Limits())
    values = [json.loads(message.value) for message in made if message.value]
    return [(value["schema"], value["payload"]) for value in values]


def columns_of(folder: Path, sql: str, table: str, binary: str = "bytes") -> list[dict[str, Any]]:
    """The columns of a row's schema."""
    rows = [schema for schema, payload in payloads(folder, sql, binary) if payload["source"]["table"] == table]
    (row,) = [schema for schema in rows if schema["name"] == f"dbserver1.d.{table}.Envelope"]
    fields: list[dict[str, Any]] = row["fields"][1]["fields"]
    return fields


def expressions_of(folder: Path, sql: str, table: str) -> list[str | None]:
    for _, payload in payloads(folder, sql):
        for change in payload.get("tableChanges", ()):
            if change["type"] == "CREATE" and change["id"].endswith(f'"{table}"'):
                return [column["defaultValueExpression"] for column in change["table"]["columns"]]
    raise AssertionError(table)


def test_defaults(tmp_path: Path) -> None:
    columns = ", ".join(f"c{number} {column}" for number, column in enumerate(DEFAULTS))
    sql = f"""
        set names utf8mb4; create database d character set utf8mb4; use d;
        create table snapshot({columns}); insert into snapshot values ();
        -- @snapshot
        create table stream({columns}); insert into stream values ();
    """
    for table, at in (("stream", 0), ("snapshot", 2)):
        schemas = [field.get("default") for field in columns_of(tmp_path, sql, table)]
        texts = expressions_of(tmp_path, sql, table)
        assert list(zip(DEFAULTS, schemas, texts, strict=True)) == [
            (column, *expected[at : at + 2]) for column, expected in DEFAULTS.items()
        ]


@pytest.mark.parametrize(("mode", "default"), [("hex", "6162"), ("base64", "YWI="), ("base64-url-safe", "YWI=")])
def test_defaults_of_bytes_as_text(mode: str, default: str, tmp_path: Path) -> None:
    sql = "create database d; use d; create table t(b varbinary(4) default 'ab'); insert into t values ();"
    assert [field["default"] for field in columns_of(tmp_path, sql, "t", mode)] == [default]


COMMENTS: Final = r"""
set names utf8mb4; create database d character set utf8mb4; use d;
create table t(a int comment 'a\tb ''q''', b int comment "dq ""x"" y") comment 'c: \\';
"""


def test_comments(tmp_path: Path) -> None:
    """What is doubled or escaped stays so; strings have single quotes in the statement."""
    ((_, created),) = [each for each in payloads(tmp_path, COMMENTS) if each[1].get("tableChanges")]
    assert created["ddl"] == (
        r"""create table t(a int comment 'a\tb ''q''', b int comment 'dq ""x"" y') comment 'c: \\'"""
    )
    (change,) = created["tableChanges"]
    assert [column["comment"] for column in change["table"]["columns"]] == [r"a\tb ''q''", 'dq ""x"" y']
    assert change["table"]["comment"] == r"c: \\"


# Statements about a table `t` without a primary key, and the key that the parser knows after them.
KEYS: Final = {
    "create table t(a int unique, b int)": ["a"],
    "create table t(a int not null, b int unique, c int unique, unique(a))": ["b"],
    "create table t(a int, b int not null, c int not null, unique(a), unique(c), unique(b))": ["c"],
    "create table t(unique(b), b int not null)": [],
    "create table t(a int unique, b int); alter table t rename column a to z, add c int": ["z"],
    "create table t(a int unique, b int not null); alter table t drop column a": [],
    "create table t(b int not null unique, a int); alter table t drop index b": ["b"],
    "create table t(a int primary key, b int not null, unique(b)); alter table t drop primary key": [],
    "create table t(a int, b int); alter table t add c int not null unique": [],
    "create table t(a int, b int); alter table t modify a int not null unique": [],
    "create table t(a int); alter table t add (d int not null primary key)": [],
    "create table t(a int, b int not null); alter table t add (c int not null, unique(c), unique(b))": ["b"],
    "create table t(a int not null, b int not null); alter table t add unique(b), add unique(a)": ["b"],
    "create table o(a int unique); create table t like o": ["a"],
}


@pytest.mark.parametrize("statements", KEYS)
def test_keys(statements: str, tmp_path: Path) -> None:
    """The parser's own: it takes the first unique key that it reads, and keeps it without its index."""
    _, payload = payloads(tmp_path, f"create database d; use d; {statements}")[-1]
    assert payload["tableChanges"][0]["table"]["primaryKeyColumnNames"] == KEYS[statements]


def test_keys_of_rows(tmp_path: Path) -> None:
    """A snapshot has the key that SHOW CREATE TABLE prints first."""
    file = tmp_path / "keys.sql"
    file.write_text(
        "create database d; use d; create table s(a int unique, b int not null unique); insert into s values (1, 2);"
        "\n-- @snapshot\ncreate table t(a int unique, b int not null unique); insert into t values (1, 2);"
    )
    made = open_job(str(file), "debezium-json", source="mysql-8.0").messages(Limits())
    keys = {each.topic: json.loads(each.key)["payload"] for each in made if each.key}
    assert (keys["dbserver1.d.s"], keys["dbserver1.d.t"]) == ({"b": 2}, {"a": 1})


@pytest.mark.parametrize(
    ("statement", "ddl", "table"),
    [
        ("/* x */ CREATE  UNIQUE INDEX ub ON t(b) -- y", "UNIQUE INDEX ub ON t(b)", "t"),
        ("create unique index ua on t(a)", "unique index ua on t(a)", "t"),
        ("create unique index ux on t((b + 1))", "create unique index ux on t((b + 1))", ""),
        ("create index ub on t(b)", "create index ub on t(b)", ""),
        ("create unique index ub on k(b)", "create unique index ub on k(b)", ""),
    ],
)
def test_indexes(statement: str, ddl: str, table: str, tmp_path: Path) -> None:
    tables = "create table t(a int, b int not null); create table k(a int primary key, b int not null);"
    _, payload = payloads(tmp_path, f"create database d; use d; {tables} {statement}")[-1]
    assert (payload["ddl"], payload["source"]["table"]) == (ddl, table)
    changes = [change["table"]["primaryKeyColumnNames"] for change in payload["tableChanges"]]
    assert changes == ([["b"] if "(b)" in ddl else []] if table else [])


def test_index_of_mariadb(tmp_path: Path) -> None:
    """Its grammar has CREATE in the context of an index, by the connector's code."""
    file = tmp_path / "index.sql"
    file.write_text("create database d; use d; create table t(b int not null); create unique index ub on t(b);")
    made = list(open_job(str(file), "debezium-json", source="mariadb").messages(Limits()))
    assert json.loads(made[-1].value or b"")["payload"]["ddl"] == "create unique index ub on t(b)"
