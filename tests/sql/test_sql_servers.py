"""What servers do with statements: each value here was given by a real MySQL 5.7.22, MySQL 8.0.31 or MariaDB 10.11.19
that ran the same statements (compared with their binary logs, tables and errors)."""

from __future__ import annotations

from typing import Any, Final

from each import each

from simulator import sources
from simulator.sql.script import Outcome, script_of
from simulator.sql.script import run as run_script
from simulator.stream.literal.transactions import Ddl, RowChange

MYSQL_57, MYSQL, MARIADB = "mysql-5.7", "mysql-8.0", "mariadb-10.11"
BOTH: Final = (MYSQL_57, MYSQL)
ALL: Final = (MYSQL_57, MYSQL, MARIADB)
HEAD: Final = "create database d; use d; "


def run(text: str, source: str) -> Outcome:
    return run_script(script_of(HEAD + text, "s.sql"), sources.find(source), force=True)


def told(text: str, source: str) -> str:
    """The last error of a script: number and text."""
    errors = run(text, source).errors
    assert errors, "no error"
    return errors[-1].partition("ERROR ")[2].rpartition(": ")[0].replace("(", "", 1).replace(")", "", 1)


def logged(text: str, source: str) -> list[tuple[Any, ...]]:
    """Row changes of the log: kind, table, and the images as the columns that they show."""
    entries = [entry for one in run(text, source).session.log.transactions for entry in one.entries]
    found: list[tuple[Any, ...]] = []
    for entry in entries:
        if isinstance(entry, RowChange):
            every = tuple(range(len(entry.table.columns)))
            before, after = entry.logged_before, entry.logged_after
            images = [
                {i: image[i] for i in (every if shown is None else shown)}
                for image, shown in ((entry.before, before), (entry.after, after))
                if image is not None
            ]
            found.append((entry.kind.name, entry.table.id.name, *images))
    return found


def texts(text: str, source: str) -> list[str]:
    """The DDL statements of the log."""
    log = run(text, source).session.log
    return [entry.sql for one in log.transactions for entry in one.entries if isinstance(entry, Ddl)][1:]


# -------------------------------------------------------------------------------------------------------------- errors

SYNTAX: Final = "check the manual that corresponds to your {} server version for the right syntax to use near"
T: Final = "create table t(a int, j json, d decimal(5,2), f double, y year, b bit(3), g point, s set('x','y')); "
ERRORS: Final = [
    (BOTH, T + "insert into t(a) values(json_object('k',1))",
     "3156 22018: Invalid JSON value for CAST to INTEGER from column json_object at row 1"),
    (BOTH, T + "insert into t(j) values('{bad')", "3140 22032: Invalid JSON text: "),
    ((MARIADB,), T + "insert into t(j) values('{bad')", "4025 23000: CONSTRAINT `t.j` failed for `d`.`t`"),
    ((MARIADB,), T + "insert into t(a) values('x')", "1366 22007: Incorrect integer value: 'x' for column `d`.`t`.`a`"),
    (ALL, T + "insert into t(a) values('😀')", "Incorrect integer value: '?' for column"),
    ((MARIADB,), T + "insert into t(a) values(x'41')", "Incorrect integer value: 'A' for column `d`.`t`.`a` at row 1"),
    ((MARIADB,), T + "insert into t(d) values('1x')", "1265 01000: Data truncated for column 'd' at row 1"),
    (BOTH, T + "insert into t(d) values('1x')", "1366 HY000: Incorrect decimal value: '1x' for column 'd' at row 1"),
    ((MARIADB,), T + "insert into t(f) values('x')", "1366 22007: Incorrect double value: 'x' for column `d`.`t`.`f`"),
    ((MARIADB,), T + "insert into t(a) values(st_geomfromtext('POINT(1 2)'))",
     "4078 HY000: Cannot cast 'geometry' as 'int' in assignment of `d`.`t`.`a`"),
    (ALL, T + "insert into t(y) values('-838:59:59')", "1264 22003: Out of range value for column 'y' at row 1"),
    (ALL, T + "insert into t(b) values(-2.5)", "1264 22003: Out of range value for column 'b' at row 1"),
    (BOTH, "create table t(a nosuch)", SYNTAX.format("MySQL") + " 'nosuch)' at line 1"),
    (BOTH, T + "update t set a=(select max(a) from t)", "1093 HY000: You can't specify target table 't' for update in"),
    (BOTH, T + "insert into t(a) values((select max(a) from t))", "1093 HY000: You can't specify target table 't'"),
    ((MYSQL,), T + "update t set f=1 where a='x'", "1292 22007: Truncated incorrect DOUBLE value: 'x'"),
    (BOTH, "create table t(d date); delete from t where d='x'", "1292 22007: Incorrect date value: 'x' for column 'd'"),
    ((MARIADB,), T + "insert into t(nosuch) values(1)", "1054 42S22: Unknown column 'nosuch' in 'INSERT INTO'"),
    ((MARIADB,), T + "insert into t(a) values(nosuch)", "1054 42S22: Unknown column 'nosuch' in 'VALUES'"),
    ((MARIADB,), T + "update t set nosuch=1", "1054 42S22: Unknown column 'nosuch' in 'SET'"),
    ((MARIADB,), T + "delete from t where nosuch=1", "1054 42S22: Unknown column 'nosuch' in 'WHERE'"),
    (BOTH, T + "select a from t group by nosuch", "1054 42S22: Unknown column 'nosuch' in 'group statement'"),
    (ALL, T + "delete from t limit nosuch", "1327 42000: Undeclared variable: nosuch"),
    ((MARIADB,), T + "alter table t drop column q", "1091 42000: Can't DROP COLUMN `q`; check that it exists"),
    (BOTH, T + "alter table t drop column if exists q", SYNTAX.format("MySQL") + " 'if exists q' at line 1"),
    ((MYSQL_57, MYSQL), T + "insert into t values(); alter table t add primary key(a)",
     "1138 22004: Invalid use of NULL value"),
    (BOTH, "create table t(a decimal(66,1))", "1426 42000: Too-big precision 66 specified for 'a'. Maximum is 65."),
    (BOTH, "create table t(a decimal(5,6))", "1427 42000: For float(M,D), double(M,D) or decimal(M,D), M must be >= D"),
    (BOTH, "create table t(a varchar(70000))", "1074 42000: Column length too big for column 'a' (max = 16383); use"),
    (ALL, "create table t(a enum('x','X'))", "1291 HY000: Column 'a' has duplicated value 'x' in ENUM"),
    (BOTH, "create table t(a text, key(a))", "1170 42000: BLOB/TEXT column 'a' used in key specification without a"),
    (ALL, "create table t(a int) collate nosuch", "1273 HY000: Unknown collation: 'nosuch'"),
    (ALL, "create table t(a varchar(3) charset latin1 collate utf8mb4_bin)",
     "1253 42000: COLLATION 'utf8mb4_bin' is not valid for CHARACTER SET 'latin1'"),
    (BOTH, "create table t(a int auto_increment primary key, g int as (a+1))",
     "3109 HY000: Generated column 'g' cannot refer to auto-increment column."),
    (BOTH, "create table t(a int auto_increment primary key); insert into t values(2147483647); "
           "insert into t values(null)", "1062 23000: Duplicate entry '2147483647' for key"),
    ((MARIADB,), "create table t(a int auto_increment primary key); insert into t values(2147483647); "
                 "insert into t values(null)", "167 22003: Out of range value for column 'a' at row 1"),
    (ALL, "create table t(a int); start transaction read only; insert into t values(1)",
     "1792 25006: Cannot execute statement in a READ ONLY transaction"),
    ((MYSQL_57, MARIADB), "create table t(a int); xa start 'x'; insert into t values(1); xa end 'x'; xa prepare 'x'; "
                          "insert into t values(2)", "1399 XAE07: XAER_RMFAIL: The command cannot be executed when"),
    ((MYSQL_57,), "create table t(a int, foreign key(a) references p(a))", "1215 HY000: Cannot add foreign key"),
    ((MYSQL,), "create table t(a int, foreign key(a) references p(a))", "1824 HY000: Failed to open the referenced"),
    ((MARIADB,), "create table t(a int references p(a))",
     "1005 HY000: Can't create table `d`.`t` (errno: 150 \"Foreign key constraint is incorrectly formed\")"),
    ((MARIADB,), "create table t(a nosuch)", "4161 HY000: Unknown data type: 'nosuch'"),
    (ALL, "set time_zone='+15:00'", "1298 HY000: Unknown or incorrect time zone: '+15:00'"),
    ((MARIADB,), "create table t(a int check (a>0)); insert into t values(0)",
     "4025 23000: CONSTRAINT `t.a` failed for `d`.`t`"),
    ((MARIADB,), "create table t(a int, g int as (a+1)); insert into t values(1,2)",
     "1906 HY000: The value specified for generated column 'g' in table 't' has been ignored"),
    ((MYSQL,), "create table p(a int primary key); create table c(a int, foreign key(a) references p(a)); truncate p",
     "1701 42000: Cannot truncate a table referenced in a foreign key constraint (`d`.`c`, CONSTRAINT `c_ibfk_1`)"),
    (BOTH, "create table t(a int, b int); alter table t alter b drop default; insert into t(a) values(1)",
     "1364 HY000: Field 'b' doesn't have a default value"),
]  # fmt: skip


@each(ERRORS)
def test_errors(servers: tuple[str, ...], text: str, wanted: str) -> None:
    for source in servers:
        assert wanted in told(text + ";", source)


# --------------------------------------------------------------------------------------------------------------- rows

AUTO: Final = "create table t(id int auto_increment primary key, u int unique); "
ROWS: Final = [
    # an update moves the counter on since MySQL 8.0 and in MariaDB
    ((MYSQL, MARIADB), AUTO + "insert into t(u) values(1); update t set id=100; insert into t(u) values(2)", 101),
    ((MYSQL_57,), AUTO + "insert into t(u) values(1); update t set id=100; insert into t(u) values(2)", 2),
    # a value whose row was a duplicate goes to the next row
    (ALL, AUTO + "insert into t(u) values(1); insert ignore into t(u) values(1),(2)", 2),
    (ALL, AUTO + "insert into t(u) values(1); insert into t(u) values(1),(2) on duplicate key update u=u", 2),
    (ALL, AUTO + "set auto_increment_increment=10; insert into t(u) values(1),(2)", 11),
    (ALL, AUTO + "set auto_increment_increment=10, auto_increment_offset=5; insert into t(u) values(1),(2)", 15),
    (ALL, AUTO + "set insert_id=5000; insert into t(u) values(1)", 5000),
]


@each(ROWS)
def test_counters(servers: tuple[str, ...], text: str, wanted: int) -> None:
    for source in servers:
        assert logged(text + ";", source)[-1][-1][0] == wanted


M: Final = (
    "create table t(id int primary key, a int, b text, c varchar(9) default 'd', u int, unique k(u)); "
    "set binlog_row_image=minimal; "
)
G: Final = (
    "create table g(id int primary key, v int, w int as (v+1) stored, x int as (v+2) virtual); "
    "set binlog_row_image=minimal; "
)
IMAGES: Final = [
    (ALL, M + "insert into t(id) values(1)", ("INSERT", "t", {0: 1})),
    (ALL, M + "insert into t(id,u) values(4,4) on duplicate key update a=9", ("INSERT", "t", {0: 4, 1: None, 4: 4})),
    (BOTH, M + "insert into t(id,u) values(4,4); insert into t(id,u) values(4,4) on duplicate key update a=9",
     ("UPDATE", "t", {0: 4}, {0: 4, 1: 9, 2: None, 3: "d", 4: 4})),
    ((MARIADB,), M + "insert into t(id,u) values(4,4); insert into t(id,u) values(4,4) on duplicate key update a=9",
     ("UPDATE", "t", {0: 4}, {0: 4, 1: 9, 4: 4})),
    (ALL, M + "replace into t(id) values(6)", ("INSERT", "t", {0: 6})),
    (BOTH, M + "insert into t(id,a) values(5,5); replace into t(id,b) values(5,'r')",
     ("INSERT", "t", {0: 5, 1: None, 2: "r", 3: "d", 4: None})),
    (BOTH, G + "insert into g(id,v) values(1,1)", ("INSERT", "g", {0: 1, 1: 1, 2: 2, 3: 3})),
    ((MARIADB,), G + "insert into g(id,v) values(1,1)", ("INSERT", "g", {0: 1, 1: 1, 2: 2})),
    (BOTH, G + "insert into g(id,v) values(1,1); update g set id=2", ("UPDATE", "g", {0: 1}, {0: 2})),
    ((MARIADB,), G + "insert into g(id,v) values(1,1); update g set id=2", ("UPDATE", "g", {0: 1}, {0: 2, 2: 2})),
    (BOTH, "create table n(a int, b text); set binlog_row_image=minimal; insert into n(a) values(1)",
     ("INSERT", "n", {0: 1})),
    ((MARIADB,), "create table n(a int, b text); set binlog_row_image=minimal; insert into n(a) values(1)",
     ("INSERT", "n", {0: 1, 1: None})),
]  # fmt: skip


@each(IMAGES)
def test_minimal_images(servers: tuple[str, ...], text: str, wanted: tuple[Any, ...]) -> None:
    for source in servers:
        assert logged(text + ";", source)[-1] == wanted


def test_unique_keys_follow_every_statement() -> None:
    """A key of expressions is none of columns."""
    text = (
        "create table t(a int unique, b int, c int, unique key bc (c, b)); create unique index u on t(B);"
        "alter table t add unique (c), drop key bc; alter table t change b d int; drop index a on t;"
        "create unique index e on t((a + 1)); create index i on t(a);"
    )
    log = run(text, MYSQL).session.log
    entries = [entry for one in log.transactions for entry in one.entries if isinstance(entry, Ddl) and entry.after]
    first = [("a", ("a",)), ("bc", ("c", "b"))]
    last = [("u", ("d",)), ("c", ("c",))]
    assert [[(key.name, key.columns) for key in entry.after.unique_keys] for entry in entries if entry.after] == [
        first,
        [*first, ("u", ("b",))],
        [("a", ("a",)), ("u", ("b",)), ("c", ("c",))],
        [("a", ("a",)), *last],
        last,
        last,
        last,
    ]


VALUES: Final = [
    (ALL, "decimal(10,0) unsigned", "-1e-5", "0"),
    (BOTH, "bit(10)", "-2.5", 0),
    ((MYSQL,), "bit(64)", "1e40", 2**63 - 1),
    ((MYSQL_57, MARIADB), "bit(64)", "1e40", 2**63),
    (BOTH, "date", "'2024-02-29 23:59:59.9999999'", 19783),
    (BOTH, "date", "json_object('k',1)", None),
    (BOTH, "time", "99999999999999999999", 3_020_399_000_000),
    ((MARIADB,), "time(2)", "99999999999999999999", 3_020_399_990_000),
    (BOTH, "time", "date_add('2024-01-31', interval 1 month)", 1_224_000_000),
    (ALL, "year", "'0000-00-00'", 2000),
    (ALL, "varbinary(6)", "-1e-5", b"-1e-5"),
    (BOTH, "text", "json_object('k', 1.50, 'd', cast('2024-01-01' as date))", '{"d": "2024-01-01", "k": 1.50}'),
    ((MARIADB,), "text", "json_object('k', 1.50, 'd', cast('2024-01-01' as date))",
     '{"k": 1.50, "d": "2024-01-01"}'),
    ((MARIADB,), "double", "-0e0", "0.0"),
    (BOTH, "double", "-0e0", "-0.0"),
    ((MARIADB,), "varchar(8)", "x'61ff'", "a?"),
    (BOTH, "varchar(8)", "x'61ff'", "a"),
    ((MARIADB,), "set('x','y','z')", "'12'", 4),
    (BOTH, "set('x','y','z')", "'12'", 0),
]  # fmt: skip


@each(VALUES)
def test_values_without_strict_mode(servers: tuple[str, ...], type: str, value: str, wanted: Any) -> None:
    for source in servers:
        made = logged(f"create table t(c {type}); set sql_mode=''; insert into t values({value});", source)[-1][-1][0]
        assert (str(made) if isinstance(wanted, str) else made) == wanted, source


@each([
        ((MYSQL,), "create table a(i int); drop table if exists b, a", "DROP TABLE IF EXISTS `a`,`b`"),
        ((MYSQL_57, MARIADB), "create table a(i int); drop table if exists b, a", "DROP TABLE IF EXISTS `b`,`a`"),
        # MySQL 8.0 drops all tables or none
        ((MYSQL_57, MARIADB), "create table a(i int); drop table b, a", "DROP TABLE `b`,`a`"),
        ((MYSQL,), "create table a(i int); drop table b, a", "create table a(i int)"),
        ((MYSQL_57,), "drop temporary table if exists a", "DROP TEMPORARY TABLE IF EXISTS `a`"),
        ((MYSQL,), "create table a(n decimal(5,2) default 1.5); create table b as select n from a",
         "CREATE TABLE `b` (\n  `n` decimal(5,2) DEFAULT '1.50'\n) START TRANSACTION"),
        (ALL, "create table a(i int); alter table a remove partitioning", "alter table a remove partitioning"),
    ])  # fmt: skip
def test_logged_statements(servers: tuple[str, ...], text: str, wanted: str) -> None:
    for source in servers:
        assert texts(text + ";", source)[-1].removesuffix(" /* generated by server */") == wanted


def test_a_rollback_that_cannot_take_all_back_is_logged() -> None:
    text = "create table t(a int); begin; insert into t values(1); create temporary table x(a int); rollback;"
    assert logged(text, MYSQL) == []
    assert logged(text, MYSQL_57) == logged(text, MARIADB) == [("INSERT", "t", {0: 1})]


def test_what_a_session_does_not_log() -> None:
    text = (
        "create table t(a int); set sql_log_bin=0; insert into t values(1); set sql_log_bin=1; insert into t values(2);"
    )
    assert logged(text, MYSQL) == [("INSERT", "t", {0: 2})]


def test_collations() -> None:
    """`ß` is one letter to utf8mb4_general_ci and two to utf8mb4_0900_ai_ci."""
    text = "create table t(a varchar(5) unique); insert into t values('ß'); insert into t values('%s');"
    for source, same, other in ((MYSQL, "ss", "s"), (MYSQL_57, "s", "ss"), (MARIADB, "s", "ss")):
        assert len(logged(text % same, source)) == 1
        assert len(logged(text % other, source)) == 2
