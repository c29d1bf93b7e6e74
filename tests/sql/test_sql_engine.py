"""`--sql-engine`: a script that a real MariaDB runs gives the messages that a real Canal sent of it, and all types and
values read from its binlog are those of the embedded engine.

MariaDB comes from Debian's packages (docker/native/mariadb.py); CDCSIM_MARIADB names a running, empty server instead.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Final

import pytest
from command import Command
from each import each

from simulator import sources
from simulator.errors import UsageError
from simulator.model import TableId, TransactionHeader
from simulator.sql.catalog.servers import SERVERS
from simulator.sql.script import MysqlSession, run, script_of, source_of
from simulator.sql.server.mysql.binlog import Gtid, Rows, events
from simulator.sql.server.mysql.catalog import Catalog
from simulator.sql.server.mysql.connection import Connection
from simulator.sql.server.mysql.json_binary import document
from simulator.sql.server.mysql.metadata import definition_of
from simulator.sql.server.mysql.run import LocalServer
from simulator.sql.server.mysql.tables import is_same_type
from simulator.sql.server.url import engine_of
from simulator.sql.store.log import Log
from simulator.sql.values.documents import text_of
from simulator.stream.literal.transactions import Ddl, RowChange

SOURCE: Final = "mariadb-10.11"


# Values of JSON columns in MySQL 8.0.31's binlog, and what tables hold of them here.
JSON: Final = {
    "00010050000b000100020c006b09004400050100071f000923000a2b000f33000b39000401000400000c4100c063ffff005ed0b200000000ffff"
    "fffffffffffff604020182057dc39425ad49b25402c3a9":
    '{"k": [1, -40000, 3000000000, 18446744073709551615, {"\\ud800decimal": 2.5}, 1e100, true, null, "é"]}',
    "0205003e000f13000f1c000f26000f30000f3a00f6070b0280000001320a080000000000bab2190b08e05ef8335dffffff0c08000000cca2bab2"
    "190f0200ff":
    '[1.50, {"\\ud800date": "2024-02-29"}, "-10:11:12.500000", "2024-02-29 10:11:12.000000", "base64:type15:AP8="]',
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
        assert "ERROR 1064 (42000)" in done.err
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


# DDL whose outcome only a server knows: indexes that foreign keys imply, AS SELECT with options, values of new columns.
DDL: Final = """create database d; use d; create table p(id int primary key);
create table c(id int primary key, p int, constraint fk foreign key (p) references p(id));
alter table c drop foreign key fk, drop index fk; insert into c values(1,2);
create table s engine=InnoDB comment='x START TRANSACTION' as select id, p from c;
alter table s add column w datetime(3) default '2024-01-01 01:02:03.456', add n decimal(9,2) as (id * 1.5) stored,
 modify p varchar(9);
update s set id = 7; alter table s add index (p(1)), algorithm=copy, add column q point after id;
create table k(v varchar(3) charset latin1, e enum('é','y')); insert into k values('é', 'é'), ('é', 'é'), ('b', 'y');
alter table k add id int auto_increment primary key first; alter table k convert to character set utf8mb4;
delete from k where v = 'é'; alter table s rename to d.t;"""


@pytest.mark.broker("mysql")
@pytest.mark.parametrize("source", ["mysql-8.0", "mysql-5.7", "mariadb-10.11"])
def test_ddl_that_the_server_alone_understands(source: str, servers: Callable[[str], str]) -> None:
    rows: dict[str, list[tuple[object, ...]]] = {}
    texts = []

    def keep(session: MysqlSession) -> None:
        rows.update({state.table.id.name: list(state.rows.values()) for state in session.current_rows()})
        texts.extend(state.text for state in session.current_rows())

    script = replace(script_of(DDL, "ddl.sql"), engine=servers(source))
    outcome = run(script, sources.find(source), at_end=keep)
    assert outcome.failure is None, outcome.failure
    entries = [entry for one in outcome.session.log.transactions for entry in one.entries]
    logged = [(entry.kind.name, entry.after) for entry in entries if isinstance(entry, Ddl) and entry.after]
    columns = [
        (kind, table.id.name, [(column.name, column.type.spelled) for column in table.columns])
        for kind, table in logged[3:]
    ]
    integer = "int" if source == "mysql-8.0" else "int(11)"
    s = [("id", integer), ("p", integer)]
    added = [("id", integer), ("p", "varchar(9)"), ("w", "datetime(3)"), ("n", "decimal(9,2)")]
    k = [("v", "varchar(3) charset latin1"), ("e", "enum('é','y')")]
    with_point = [added[0], ("q", "point"), *added[1:]]
    assert columns == [
        ("CREATE_TABLE", "s", s),
        ("ADD_COLUMN", "s", added),
        ("CREATE_INDEX", "s", with_point),
        ("CREATE_TABLE", "k", k),
        ("ADD_COLUMN", "k", [("id", "int"), *k]),
        ("ALTER_TABLE", "k", [("id", "int"), *k]),
        ("RENAME_TABLE", "t", with_point),
    ]
    us = 1_704_070_923_456_000
    assert rows == {"p": [], "c": [(1, 2)], "t": [(7, None, "2", us, Decimal("10.50"))], "k": [(3, "b", 2)]}
    assert [text.split("`")[1] for text in texts] == list(rows)
    changes = [(one.before, one.after, one.number) for one in entries if isinstance(one, RowChange)]
    assert changes[2] == ((1, "2", us, Decimal("1.50")), (7, "2", us, Decimal("10.50")), 1)
    assert [number for *_, number in changes[-2:]] == [1, 2]


@pytest.mark.broker("mysql")
def test_a_server_of_this_machine() -> None:
    """Each run has its own, in a folder that is gone at the end; all begin alike."""
    text = "create database d; create table d.t(id int primary key); insert into d.t values(1);"
    other = LocalServer("mysql-5.7")
    try:
        outcome = run(replace(script_of(text, "s.sql"), engine="mysql-5.7"), sources.find("mysql-5.7"))
        connection = Connection(other.engine)
        assert connection.databases() == {"information_schema", "mysql", "performance_schema", "sys"}
        position = connection.position()
        # one that starts removes temporary tables of others in a folder that they share
        assert connection.value("select @@tmpdir") == str(other.folder)
        connection.close()
    finally:
        other.close()
    assert not other.folder.exists()
    assert outcome.failure is None
    assert [len(one.entries) for one in outcome.session.log.transactions] == [1, 1, 1]
    assert position == ("binlog.000001", 154)
    with pytest.raises(UsageError, match=r"--sql-engine mariadb: the source is mysql-5\.7: change --source"):
        run(replace(script_of(text, "s.sql"), engine="mariadb"), sources.find("mysql-5.7"))


@pytest.mark.parametrize(
    ("engine", "source"), [("mysql", "mysql-8.0"), ("mysql-5.7", "mysql-5.7"), ("mariadb", "mariadb-10.11")]
)
def test_the_source_of_a_named_server(engine: str, source: str) -> None:
    assert str(source_of(replace(script_of("SELECT 1;", "s.sql"), engine=engine), None)) == source


COLUMNS: Final = """id int primary key, a tinyint(1), b smallint unsigned, c mediumint zerofill, d int unsigned,
 e bigint unsigned, f float unsigned, g double(7,2), h decimal(30,12), i decimal(9,9) unsigned, j bit(13), k year,
 l date, m datetime(6), n timestamp(3) null, o time(6), p char(255), q varchar(300) charset latin1, r binary(4),
 s varbinary(9), t text charset utf8, u longblob, v tinytext, w mediumblob, x enum('x','ÿ') charset latin1,
 y set('a','b','c'), z json, aa point, ab geometry, ac char(3) not null, ad varchar(7) charset gbk, ae bit(64),
 af enum('1','2')"""


@pytest.mark.broker("mysql")
@pytest.mark.parametrize("source", ["mysql-8.0", "mariadb-10.11"])
def test_metadata_of_the_log(source: str, servers: Callable[[str], str]) -> None:
    """The log's own columns are those of the catalogue."""
    connection = Connection(engine_of(servers(source)))
    connection.run("create database metadata")
    try:
        connection.run(f"create table metadata.t({COLUMNS})")
        start, catalog = connection.position(), Catalog(connection)
        connection.run("insert into metadata.t(id, ac) values(1, '')")
        reported = catalog.definition(TableId("metadata", "t"))
        (rows,) = [e for e in events(connection.packets(start, connection.position())) if isinstance(e, Rows)]
    finally:
        connection.run("drop database metadata")
        connection.close()
    logged = definition_of(rows.table, catalog.charsets, mariadb="maria" in source)
    assert logged is not None
    assert reported is not None
    assert len(logged.fields) == len(reported.fields) == 33
    assert (logged.id, logged.primary) == (reported.id, reported.primary)
    for one, other in zip(logged.fields, reported.fields, strict=True):
        assert (one.name, one.nullable) == (other.name, other.nullable)
        assert is_same_type(one.type, other.type, SERVERS[source]), (one, other)


def messages_of(file: Path, command: Command) -> list[tuple[str, object, object]]:
    messages = [json.loads(line) for line in command("run", str(file), "-f", "canal-json", "-q").out.splitlines()]
    return [(one["type"], one["data"], one["old"]) for one in messages if one["type"] != "QUERY"]


@pytest.mark.broker("mysql")
def test_a_log_with_metadata(mariadb: str, tmp_path: Path, command: Command) -> None:
    """The log itself says the columns of each time, also of tables that are gone; the server forgets."""
    connection, to = Connection(engine_of(mariadb)), tmp_path / "h.cdc"
    connection.run("create database m")
    connection.run("create table m.t(id int primary key, v enum('x','y')) charset latin1")
    start = "{}:{}".format(*connection.position())
    try:
        for sql in (
            "insert into m.t values(1,'y')",
            "alter table m.t engine=InnoDB, add column n int default 3",
            "begin not atomic execute immediate 'alter table m.t drop column v'; end",
            "update m.t set n = 4",
            "drop table m.t",
        ):
            connection.run(sql)
    finally:
        connection.run("drop database m")
        connection.close()
    command("record", mariadb, "--from", start, "--databases", "m", "--to", str(to))
    assert [message for message in messages_of(to, command) if message[1]] == [
        ("INSERT", [{"id": "1", "v": "2"}], None),  # no text of the log spells the labels
        ("UPDATE", [{"id": "1", "n": "4"}], [{"n": "3"}]),
    ]


@pytest.mark.broker("mysql")
def test_a_log_that_is_there(mariadb: str, tmp_path: Path, command: Command) -> None:
    """Without metadata in it, the server says the columns of tables from before the position; other databases are left
    out."""
    connection, to = Connection(engine_of(mariadb)), tmp_path / "h.cdc"
    metadata = connection.value("select @@global.binlog_row_metadata")
    connection.run("set global binlog_row_metadata = NO_LOG")
    connection.run("create database d"), connection.run("create database gone")
    connection.run("create table d.t(id int primary key, v varchar(9))"), connection.run("create table gone.t(a int)")
    start = "{}:{}".format(*connection.position())
    try:
        for sql in ("insert into d.t values(1,'x')", "insert into gone.t values(1)", "drop database gone"):
            connection.run(sql)
        connection.run("update d.t set v='y'"), connection.run("create table d.u(a int)")
        command("record", mariadb, "--from", start, "--databases", "d", "--to", str(to))
        assert messages_of(to, command) == [
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
        connection.run(f"set global binlog_row_metadata = {metadata}")
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
