"""`--sql-engine`: a script that a real MariaDB runs gives the messages that a real Canal sent of it, and all types and
values read from its binlog are those of the embedded engine.

MariaDB comes from Debian's packages (docker/native/mariadb.py); CDCSIM_MARIADB names a running, empty server instead.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from command import Command
from each import each

from simulator import sources
from simulator.errors import UsageError
from simulator.model import TransactionHeader
from simulator.sql.script import run, script_of
from simulator.sql.server.mysql.binlog import Gtid, events
from simulator.sql.server.mysql.connection import Connection
from simulator.sql.server.mysql.json_binary import document
from simulator.sql.server.url import engine_of
from simulator.sql.store.log import Log
from simulator.sql.values.documents import text_of
from simulator.stream.literal.transactions import RowChange

SOURCE: Final = "mariadb-10.11"


# Values of JSON columns in MySQL 8.0.31's binlog, and what tables hold of them here.
JSON: Final = {
    "00010050000b000100020c006b09004400050100071f000923000a2b000f33000b39000401000400000c4100c063ffff005ed0b200000000ffff"
    "fffffffffffff604020182057dc39425ad49b25402c3a9":
    '{"k": [1, -40000, 3000000000, 18446744073709551615, 2.5 , 1e100, true, null, "é"]}',
    "0205003e000f13000f1c000f26000f30000f3a00f6070b0280000001320a080000000000bab2190b08e05ef8335dffffff0c08000000cca2bab2"
    "190f0200ff":
    '[1.50, "2024-02-29" , "-10:11:12.500000", "2024-02-29 10:11:12.000000", "base64:type15:AP8="]',
    "0c0178": '"x"',
    "0000000400": "{}",
}  # fmt: skip

TYPES: Final = """create database d; use d; set sql_mode='';
create table t(id int primary key, a tinyint, b smallint unsigned, c mediumint, d int unsigned, e bigint unsigned,
 f float, g double, h decimal(30,12), i decimal(9,9), j bit(13), k year, l date, m datetime(6), n timestamp(3) null,
 o time(6), p char(5), q varchar(300) charset latin1, r binary(4), s varbinary(9), u text, v longblob, w enum('x','y'),
 x set('a','b','c'), y json, z point);
insert into t values(1,-128,65535,-8388608,4294967295,18446744073709551615,1.5,-1e300,-123456789012345678.000000000001,
 -.5,b'1010101010101',2155,'9999-12-31','2024-02-29 23:59:59.999999','2038-01-01 00:00:00.123','-838:59:59.000001',
 'é','ÿ€','a','b','текст',x'00ff','y','a,c','{"k": [1, 2.5]}',point(1,2));
insert into t(id, l, m, n, o) values(2,'0000-00-00','2024-00-00',0,'00:00:00.5');
update t set v=repeat('x',70000), h=0, w='' where id=1; create table u as select id, q from t;
alter table t drop column z; delete from t where id=2; truncate u;"""


def changes(engine: str) -> tuple[list[object], list[str]]:
    """Row changes, and texts of DDL and annotations."""
    script = replace(script_of(TYPES, "types.sql"), engine=engine)
    outcome = run(script, sources.find(SOURCE))
    assert outcome.failure is None, outcome.failure
    entries = [entry for transaction in outcome.session.log.transactions for entry in transaction.entries]
    rows: list[object] = [(one.kind, one.table, one.before, one.after) for one in entries if isinstance(one, RowChange)]
    return rows, [one.sql for one in entries if not isinstance(one, RowChange)]


@pytest.mark.broker("mysql")
def test_types(mariadb: str) -> None:
    assert changes(mariadb) == changes("")


@pytest.mark.broker("mysql")
def test_what_a_script_makes_is_gone(mariadb: str, tmp_path: Path, command: Command) -> None:
    """Also after an error; with `keep=yes` it stays, and a server that holds something is refused."""
    file = tmp_path / "s.sql"
    file.write_text("create database d; create table d.t(id int primary key); insert into d.t values(1); nonsense;")
    options = ["run", str(file), "-f", "canal-json", "-q", "--sql-engine"]
    for url in (mariadb, f"{mariadb}/?keep=yes"):
        done = command(*options, url, status=2)
        assert done.out.count('"type":"INSERT"') == 1
        assert "ERROR 1064" in done.err
    done = command(*options, mariadb, status=2)
    assert "the server holds databases that a script might change, such as 'd'" in done.err
    connection = Connection(engine_of(mariadb))
    connection.run("DROP DATABASE d")
    connection.close()


@pytest.mark.broker("mysql")
def test_local_files_and_row_counts(mariadb: str, tmp_path: Path) -> None:
    """Nothing of ours stands between the statements of a script, and only LOAD DATA reads a file."""
    data = tmp_path / "rows.csv"
    data.write_text("1,10\n2,20\n")
    text = (
        f"create database d; use d; create table t(id int primary key, n int); load data local infile '{data}' into "
        "table t fields terminated by ','; insert into t values (3, row_count());"
    )
    outcome = run(replace(script_of(text, "s.sql"), engine=mariadb), sources.find(SOURCE))
    entries = [entry for one in outcome.session.log.transactions for entry in one.entries]
    assert [one.after for one in entries if isinstance(one, RowChange)] == [(1, 10), (2, 20), (3, 2)]


@pytest.mark.broker("mysql")
def test_gtids_and_sessions(mariadb: str) -> None:
    """They are the server's own."""
    script = replace(
        script_of("create database d; set names latin1; create table d.t(id int);", "s.sql"), engine=mariadb
    )
    first, last = (one.header for one in run(script, sources.find(SOURCE)).session.log.transactions)
    assert isinstance(first, TransactionHeader)
    assert isinstance(last, TransactionHeader)
    domain, server, number = map(int, first.gtid.split("-"))
    assert (last.gtid, last.others, last.last) == (f"{domain}-{server}-{number + 1}", f",{last.gtid}", 0)
    assert (first.thread, first.charset, last.charset) == (last.thread, 45, 8)


@pytest.mark.broker("mysql")
def test_a_log_that_is_there(mariadb: str, tmp_path: Path, command: Command) -> None:
    """Of tables from before the position the server says the columns; other databases are left out."""
    connection, to = Connection(engine_of(mariadb)), tmp_path / "h.cdc"
    connection.run("create database d"), connection.run("create database gone")
    connection.run("create table d.t(id int primary key, v varchar(9))"), connection.run("create table gone.t(a int)")
    start = "{}:{}".format(*connection.position())
    try:
        for sql in ("insert into d.t values(1,'x')", "insert into gone.t values(1)", "drop database gone"):
            connection.run(sql)
        connection.run("update d.t set v='y'"), connection.run("create table d.u(a int)")
        command("record", mariadb, "--from", start, "--databases", "d", "--to", str(to))
        messages = [json.loads(line) for line in command("run", str(to), "-f", "canal-json", "-q").out.splitlines()]
        assert [(one["type"], one["data"], one["old"]) for one in messages if one["type"] != "QUERY"] == [
            ("INSERT", [{"id": "1", "v": "x"}], None),
            ("UPDATE", [{"id": "1", "v": "y"}], [{"v": "x"}]),
            ("CREATE", None, None),
        ]
        done = command("record", mariadb, "--from", start, "--to", str(to), status=2)
        assert "the log has rows of gone.t, which the server no longer has" in done.err
        connection.run("alter table d.t add column n int")
        done = command("record", mariadb, "--from", start, "--databases", "d", "--to", str(to), status=2)
        assert "d.t has 3 columns, and its rows in the log have 2" in done.err
    finally:
        connection.run("drop database d")
        connection.close()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("mysql://h", "--from", "3"), "is not a position in a binlog: write FILE:OFFSET"),
        (("mysql://h",), "needs --from"),
        (("postgresql://h", "--from", "b.1:4"), "PostgreSQL keeps no log that can be read later"),
        (("s.sql", "--until", "b.1:4"), "about a server's binlog"),
    ],
)
def test_wrong_positions(arguments: tuple[str, ...], problem: str, command: Command) -> None:
    assert problem in command("record", *arguments, "--to", "x.cdc", status=2).err


def test_gtid_of_mysql() -> None:
    packet = bytes.fromhex("0000000021" + "00" * 14 + "013e11fa4771ca11e19e33c80aa9429562" + "0700000000000000")
    assert list(events(iter([packet]))) == [Gtid("3e11fa47-71ca-11e1-9e33-c80aa9429562:7")]


def test_executed_gtids() -> None:
    log = Log()
    assert log.execute("A:1-3:7-9") == "a:1-3:7-9"
    for added, known in (("a:5", [(1, 3), (5, 5), (7, 9)]), ("a:4", [(1, 5), (7, 9)]), ("a:6:10", [(1, 10)])):
        log.execute(added)
        assert log.executed["a"] == known


@each(
    [
        ("oracle://h", "expected mysql://USER:PASSWORD@HOST:PORT"),
        ("postgresql:///db", "expected mysql://"),
        ("mysql://h/db", "expected mysql://"),
        ("mysql://h:x", "the port is no number"),
        ("mysql://h?keep=1", "the only option of such a URL is keep=yes"),
    ]
)
def test_wrong_urls(url: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        engine_of(url)


def test_binary_json() -> None:
    """Taken from the binlog of MySQL 8.0.31; MariaDB stores JSON as text."""
    for raw, wanted in JSON.items():
        assert text_of(document(bytes.fromhex(raw))) == wanted
