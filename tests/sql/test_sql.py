"""SQL scripts as scenarios: the client's cuts, meta-comments, errors, and what servers make of values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from command import Command
from each import each

from simulator import formats, registry, sources
from simulator.errors import ScenarioError, UsageError
from simulator.library import messages
from simulator.sql.parse.client import Meta, Statement, split
from simulator.sql.script import script_of
from simulator.sql.stream import SqlStream

HEAD: Final = "create database d; use d; create table t(id int primary key, v varchar(5), n int not null);\n"


def run(text: str, source: str = "mysql-8.0", *, force: bool = False) -> SqlStream:
    return SqlStream(script_of(text, "s.sql"), sources.find(source), force=force)


def rows(text: str, source: str = "mysql-8.0", table: str = "t") -> list[tuple[Any, ...]]:
    """The rows of a table at a script's end, as the client shows them."""
    stream = run(text, source)
    assert stream.failure is None, stream.failure
    for known, columns in stream.rows_at(stream.turns):
        if known.id.name == table:
            types = sources.find(source)
            shown = [types.format_values(a, c.type) for a, c in zip(columns, known.columns, strict=True)]
            return list(zip(*shown, strict=True))
    raise AssertionError(f"there is no table {table}")


def sent(path: Path, text: str, **options: Any) -> list[dict[str, Any]]:
    file = path / "s.sql"
    file.write_text(text, encoding="utf-8")
    return [json.loads(m.value or b"") for m in messages(str(file), "canal-json", limit=None, **options)]


# -------------------------------------------------------------------------------------------------------------- client


def test_statements_are_cut_as_the_client_does() -> None:
    text = (
        "-- alone\n/* a; */ select 1; # behind\nselect ';', \"it's\", `;` -- inside\n , 2;\n"
        "insert into t values('a\\';'); delete from t;;\n"
        "-- @at 2024-05-01\n-- @step x y\n-- @nothing\nselect /* in */, 3"
    )
    assert list(split(text)) == [
        Statement.of("/* a; */ select 1 # behind", 2),
        Statement.of("select ';', \"it's\", `;` -- inside\n , 2", 3),
        Statement.of("insert into t values('a\\';')", 5),
        Statement.of("delete from t", 5),
        Meta("at", "2024-05-01", 6),
        Meta("step", "x y", 7),
        Statement.of("select /* in */ , 3", 9),
    ]


# ------------------------------------------------------------------------------------------------------- meta-comments


def test_the_clock_and_heartbeats(tmp_path: Path) -> None:
    text = (
        "-- @at 2024-05-01T10:00:00Z\n"
        + HEAD
        + "-- @heartbeat\n-- @at 2024-05-02\nbegin; insert into t values(1,'a',1);"
    )
    text += "insert into t values(2, hour(now()), unix_timestamp()); commit; -- @step end\ndelete from t;"
    made = sent(tmp_path, text)
    assert [m["es"] for m in made] == [1714557600000, 1714557601000, 1714608000000, 1714608000000, 1714608001000]
    assert made[3]["data"] == [{"id": "2", "v": "0", "n": "1714608000"}]
    assert run(text).steps_of(range(5)) == {4: "end"}
    assert [len(run(text).read(turn, turn + 1).events) for turn in range(5)] == [1, 1, 1, 0, 0]


def test_a_snapshot_is_what_was_there_before(tmp_path: Path) -> None:
    text = (
        HEAD + "insert into t values(1,'a',1);\n-- @snapshot\nupdate t set v='b';\n"
        "alter table t modify n INTEGER;\nupdate t set v='c';"
    )
    made = sent(tmp_path, text)
    assert [(m["type"], m["data"] and m["data"][0]["v"]) for m in made] == [
        ("INSERT", "a"), ("UPDATE", "b"), ("ALTER", None), ("UPDATE", "c"),
    ]  # fmt: skip
    # Canal knows the older table from the server, the altered column from the statement
    assert made[1]["mysqlType"] == {"id": "int", "v": "varchar(5)", "n": "int"}
    assert made[3]["mysqlType"]["n"] == "INTEGER"
    assert [m["type"] for m in sent(tmp_path, text, snapshot=False)] == ["UPDATE", "ALTER", "UPDATE"]


def test_rows_are_those_of_the_turn_also_behind_a_snapshot() -> None:
    stream = run(HEAD + "insert into t values(1,'a',1);\n-- @snapshot\nupdate t set v='b';\nupdate t set v='c';")
    held = [[column.to_pylist() for _, columns in stream.rows_at(turn) for column in columns] for turn in range(3)]
    assert [columns[1] for columns in held] == [["a"], ["b"], ["c"]]


@each(
    [
        ("-- @at noon\n", r"s\.sql:1: @at: 'noon' is no time; it is written like 2024-05-01T10:00:00Z\."),
        (HEAD + "-- @at 2001-01-01\n", r"s\.sql:2: @at: this is before the transaction above it\."),
        (HEAD + "begin;\n-- @snapshot\n", r"s\.sql:3: @snapshot: a transaction is open; COMMIT it before\."),
        ("", r"s\.sql: the file is empty; a script has at least one statement\."),
    ]
)
def test_wrong_meta_comments(text: str, problem: str) -> None:
    with pytest.raises(ScenarioError, match=f"^{problem}$"):
        run(text)


# -------------------------------------------------------------------------------------------------------------- errors

# A mistake in each kind of statement: number, text.
MISTAKES: Final = {
    "create database d": (1007, "Can't create database 'd'; database exists"),
    "drop database e": (1008, "Can't drop database 'e'; database doesn't exist"),
    "use e": (1049, "Unknown database 'e'"),
    "create table t(a int)": (1050, "Table 't' already exists"),
    "create table u(a int, A int)": (1060, "Duplicate column name 'A'"),
    "create table u(a int, key(b))": (1072, "Key column 'b' doesn't exist in table"),
    "create table u(a int auto_increment)": (1075, None),
    "create table u(a nonsense)": (1064, None),
    "create table u(a int default 'x')": (1067, "Invalid default value for 'a'"),
    "create table u like nosuch": (1146, "Table 'd.nosuch' doesn't exist"),
    "create table u as select nosuch from t": (1054, "Unknown column 'nosuch' in 'field list'"),
    "drop table u": (1051, "Unknown table 'd.u'"),
    "truncate u": (1146, "Table 'd.u' doesn't exist"),
    "rename table u to v": (1146, "Table 'd.u' doesn't exist"),
    "alter table t drop column x": (1091, "Can't DROP 'x'; check that column/key exists"),
    "alter table t add primary key(v)": (1068, "Multiple primary key defined"),
    "alter table t modify v int": (1366, None),
    "create index i on t(x)": (1072, "Key column 'x' doesn't exist in table"),
    "drop index i on t": (1091, "Can't DROP 'i'; check that column/key exists"),
    "insert into t values(1,'b',1)": (1062, "Duplicate entry '1' for key 't.PRIMARY'"),
    "insert into t values(2,'b')": (1136, "Column count doesn't match value count at row 1"),
    "insert into t values(3,'b',1),(4,'too long',1)": (1406, "Data too long for column 'v' at row 2"),
    "insert into t(id) values(2)": (1364, "Field 'n' doesn't have a default value"),
    "insert into t values(2,'b',null)": (1048, "Column 'n' cannot be null"),
    "insert into t values(2,'b',3000000000)": (1264, "Out of range value for column 'n' at row 1"),
    "insert into t values(2,'b','x')": (1366, "Incorrect integer value: 'x' for column 'n' at row 1"),
    "insert into t values(2,'b',1/0)": (1365, "Division by 0"),
    "insert into t select 1": (1136, "Column count doesn't match value count at row 1"),
    "replace into u values(1)": (1146, "Table 'd.u' doesn't exist"),
    "update t set x=1": (1054, "Unknown column 'x' in 'field list'"),
    "update t set n=1 where x=1": (1054, "Unknown column 'x' in 'where clause'"),
    "update t set n=n+9223372036854775807+9223372036854775807": (1690, None),
    "delete from t order by x": (1054, "Unknown column 'x' in 'order clause'"),
    "delete from u": (1146, "Table 'd.u' doesn't exist"),
    "select * from u": (1146, "Table 'd.u' doesn't exist"),
    "rollback to nowhere": (1305, "SAVEPOINT nowhere does not exist"),
    "set nosuch=1": (1193, "Unknown system variable 'nosuch'"),
    "set time_zone='Nowhere'": (1298, "Unknown or incorrect time zone: 'Nowhere'"),
    "set names klingon": (1115, "Unknown character set: 'klingon'"),
    "set sql_mode='x'": (1231, "Variable 'sql_mode' can't be set to the value of 'x'"),
    "xa commit 'x'": (1397, "XAER_NOTA: Unknown XID"),
    "insert t values(": (1064, None),
    "update t n=1": (1064, None),
}  # fmt: skip


@pytest.mark.parametrize("statement", MISTAKES)
def test_a_mistake_ends_the_script_as_a_client_would(tmp_path: Path, command: Command, statement: str) -> None:
    file = tmp_path / "s.sql"
    file.write_text(f"{HEAD}insert into t values(1,'a',1);\n\n{statement};\ninsert into t values(9,'z',9);\n")
    done = command("run", str(file), "-f", "canal-json", "-q", status=2)
    number, text = MISTAKES[statement]
    assert done.err.startswith(f"cdcsim: {file}:4: ERROR {number} (")
    assert text is None or f"): {text}: " in done.err
    assert done.err.count("\n") == 1
    # what went before is there, what comes behind is not
    assert [json.loads(line)["type"] for line in done.out.splitlines()] == ["QUERY", "CREATE", "INSERT"]
    forced = command("run", str(file), "-f", "canal-json", "-q", "--force", status=0)
    assert forced.err == done.err
    assert json.loads(forced.out.splitlines()[-1])["data"][0]["id"] == "9"


@each(["handler t open", "load data infile 'x' into table t", "insert into t values(nosuch(1),'a',1)",
     "set sql_mode='PIPES_AS_CONCAT'", "set sql_safe_updates=1"])  # fmt: skip
def test_what_is_not_known_is_refused_by_name(statement: str) -> None:
    failure = run(HEAD + statement + ";").failure
    assert failure is not None
    assert "s.sql:2: " in str(failure)
    assert "is not supported by the embedded engine: " in str(failure)
    assert str(failure).endswith("; --sql-engine mysql runs it on a real server.")
    assert statement.split()[0] in str(failure)


def test_show_and_check_tell_the_error_too(tmp_path: Path, command: Command) -> None:
    file = tmp_path / "s.sql"
    file.write_text(HEAD + "drop table u;")
    shown = command("show", str(file), "-f", "canal-json", status=2)
    assert "create table t" in shown.out
    assert "ERROR 1051" in shown.err
    assert "ERROR 1051" in command("check", str(file), status=2).err
    file.write_text(HEAD)
    assert "d.t (key: id)" in command("check", str(file), status=0).out


def test_sources(tmp_path: Path) -> None:
    text = "-- @source mysql-5.7\ncreate database d; use d;\ncreate table t(a int);\n-- @snapshot\n"
    text += "insert into t values(1);"
    assert sent(tmp_path, text)[0]["mysqlType"] == {"a": "int(11)"}
    assert sent(tmp_path, text, source="mysql-8.0")[0]["mysqlType"] == {"a": "int"}
    with pytest.raises(UsageError, match="there is no scenario file"):
        next(messages(str(tmp_path / "none.sql"), "canal-json"))


# -------------------------------------------------------------------------------------------------------------- values


@each(
    [
        ("decimal(5,2)", "2.445", "2.45", "2.45"),
        ("decimal(5,2)", "1000", None, "999.99"),
        ("int", "2.5", "3", "3"),
        ("int", "2.5e0", "2", "2"),
        ("tinyint unsigned", "-1", None, "0"),
        ("tinyint", "'12abc'", None, "12"),
        ("datetime", "'2024-02-29 23:59:59.5'", "2024-03-01 00:00:00", "2024-03-01 00:00:00"),
        ("datetime", "'2024-02-30'", None, "0000-00-00 00:00:00"),
        ("date", "20240229", "2024-02-29", "2024-02-29"),
        ("date", "'0000-00-00'", None, "0000-00-00"),
        ("time(1)", "'12:34:56.75'", "12:34:56.8", "12:34:56.8"),
        ("time", "'900:00:00'", None, "838:59:59"),
        ("year", "'69'", "2069", "2069"),
        ("char(3)", "'ab   '", "ab", "ab"),
        ("varchar(3)", "'abcd'", None, "abc"),
        ("varchar(3) character set latin1", "'中'", None, "?"),
        ("enum('a','b')", "2", "b", "b"),
        ("enum('a','b')", "'x'", None, ""),
        ("set('x','y')", "'y,x'", "x,y", "x,y"),
        ("bit(3)", "9", None, "b'111'"),
        ("binary(3)", "'a'", "0x610000", "0x610000"),
        ("json", '\'{"bb":1, "a":[1.0]}\'', '{"a": [1.0], "bb": 1}', '{"a": [1.0], "bb": 1}'),
    ]
)
def test_conversion_on_assignment(type: str, value: str, strict: str | None, loose: str) -> None:
    text = f"create database d; use d; create table t(c {type}); set sql_mode='%s'; insert into t values({value});"
    mode = "STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE"
    failure = run(text % mode).failure
    assert (failure is None) == (strict is not None), failure
    if strict is not None:
        assert rows(text % mode) == [(strict,)]
    assert rows(text % "") == [(loose,)]


def test_counters_and_defaults() -> None:
    text = """create database d; use d;
    create table t(id int auto_increment primary key, a int default 7, b int not null default 5,
    g int as (a * 2));
    insert into t(a) values(1),(2); insert into t(id) values(10); insert into t() values();
    insert into t(a) select a from t where id<3 order by id; insert into t(a) values(9);"""
    made = rows(text)
    # INSERT … SELECT takes 1, 2, 4 … values at once, and what is left of them is lost
    assert [row[0] for row in made] == ["1", "2", "10", "11", "12", "13", "15"]
    assert made[0][1:] == ("1", "5", "2")


def test_a_statement_is_all_or_nothing_and_so_is_a_transaction() -> None:
    text = (
        HEAD + "insert into t values(1,'a',1);\nbegin; insert into t values(2,'b',2); "
        "insert into t values(3,'c',3),(1,'x',0);"
    )
    stream = run(
        text + "insert into t values(4,'d',4); rollback to s; rollback; insert into t values(5,'e',5);", force=True
    )
    assert len(stream.errors) == 2
    assert stream.count(0, stream.turns).tolist() == [0, 0, 1, 1]


def test_rows_are_grouped_and_ordered_as_the_server_logs_them(tmp_path: Path) -> None:
    made = sent(
        tmp_path,
        HEAD
        + "insert into t values(3,'c',1),(1,'a',1),(2,'b',2); update t set n=1; update t set n=n+1 order by id desc;\n"
        "insert into t values(1,'x',1),(9,'y',1),(2,'z',1) on duplicate key update v=values(v); "
        "replace into t values(9,'q',1);\n"
        "delete from t where n<5;",
    )[2:]
    told = [(m["type"], [row["id"] for row in m["data"]]) for m in made]
    assert told == [
        ("INSERT", ["3", "1", "2"]),
        ("UPDATE", ["2"]),
        ("UPDATE", ["3", "2", "1"]),
        ("UPDATE", ["1"]),
        ("INSERT", ["9"]),
        ("UPDATE", ["2"]),
        ("UPDATE", ["9"]),
        ("DELETE", ["1", "2", "3", "9"]),
    ]


def test_the_fast_way_and_the_tree_make_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from simulator.sql.statements import execute

    text = (
        "create database d; use d; "
        "create table `t`(id int primary key, v varchar(20), d decimal(9,3), x int default 5);\n"
        "insert into t values (1,'it''s \\\\ \\n',-0.5,default),(2,null,1.25,-7); "
        "insert into d.t (id, v) values (3,'');\n"
        "INSERT INTO `t`(`id`,v) VALUES(4,'a' 'b'),(-5,\"q\"); insert into t values (6,'x',.5,1e1);"
    )
    fast = rows(text)
    monkeypatch.setattr(execute, "insert_literals", lambda session, statement, typed: False)
    assert rows(text) == fast
    assert fast[1] == ("1", "it's \\ \n", "-0.500", "5")


def test_a_meta_comment_that_is_misspelt_is_refused(command: Command, tmp_path: Path) -> None:
    """Other words behind an @ are comments as any."""
    script = tmp_path / "mine.sql"
    script.write_text("-- @author me\nCREATE DATABASE d;\n-- @snapshto\nUSE d;\n")
    status, _, err = command("check", script)
    assert (status, err) == (
        2, f"cdcsim: {script}:3: @snapshto: there is no such meta-comment. Did you mean '@snapshot'?\n"
    )  # fmt: skip
    script.write_text("-- @source mysql-9\nCREATE DATABASE d;\n")
    assert command("check", script).err == (
        f"cdcsim: {script}:1: @source: mysql-9: the versions of MySQL are 8.0, 5.7, not '9'.\n"
    )


def test_check_with_force_tells_how_many_errors_there_are(command: Command, tmp_path: Path) -> None:
    script = tmp_path / "mine.sql"
    script.write_text("CREATE DATABASE d; USE d;\nCREATE TABLE t (id INT, b ENUM());\nDROP TABLE u;\n")
    status, out, err = command("check", script, "--force")
    assert (status, out.splitlines()[0]) == (2, f"{script} has 2 errors on mysql-8.0; its other statements give:")
    assert err.startswith(
        f"cdcsim: {script}:2: 'ENUM()': quoted labels belong between the brackets, as in enum('a','b'):"
    )


@pytest.mark.parametrize("format", registry.names("format", formats.FORMATS))
def test_documents_are_printed_as_the_server_does_but_by_readers_of_its_log(tmp_path: Path, format: str) -> None:
    """Types that a document's text does not tell reach only Canal, Debezium and Maxwell, which print the binary
    document themselves; snapshots have the server's text."""
    server = '{"d": "2024-05-01", "n": [1.5]}'
    readers = {
        "canal-json": '{"d": "2024-05-01 00:00:00.000000", "n": [1.5]}',
        "debezium-json": '{"d":"2024-05-01","n":[1.5]}',
        "debezium-avro": '{"d":"2024-05-01","n":[1.5]}',
        "maxwell-json": '{"d":"2024-05-01","n":[1.5]}',
    }
    text = readers.get(format, server)
    script = tmp_path / "s.sql"
    script.write_text(
        "create database d; use d; create table t(id int primary key, j json); insert into t values(1, "
        "json_object('n', json_array(cast(1.5 as decimal(4,1))), 'd', cast('2024-05-01' as date)));\n"
        "update t set id = 2; -- @snapshot\ndelete from t;"
    )
    for snapshot in (False, True):
        rows = [m.value or b"" for m in messages(str(script), format, limit=None, snapshot=snapshot)]
        rows = [row.replace(b"\\", b"") for row in rows if b"2024-05-01" in row]
        assert rows
        printed = server if snapshot else text
        assert all(printed.encode() in row for row in rows[: len(rows) - 1 if snapshot else None]), rows


@pytest.mark.parametrize(
    ("format", "empty"),
    [
        ("canal-json", b'"j":""'),
        ("cloudcanal-canal-json", b'"j":"null"'),
        ("debezium-json,value.converter.schemas.enable=false", b'"j":"{}"'),
        ("maxwell-json", b'"j":null'),
    ],
)
def test_a_document_that_ignore_leaves_without_a_byte(tmp_path: Path, format: str, empty: bytes) -> None:
    """The server prints it as null; readers of its log differ. A null that was written is one for all."""
    script = tmp_path / "s.sql"
    script.write_text(
        "create database d; use d; create table t(id int primary key, j json not null);"
        "insert ignore into t values (1, default); insert into t values (2, 'null');"
    )
    rows = [m.value or b"" for m in messages(str(script), format, limit=None) if b'"j":' in (m.value or b"")][-2:]
    assert empty in rows[0]
    assert (b'"j":null' if format == "maxwell-json" else b'"j":"null"') in rows[1]
