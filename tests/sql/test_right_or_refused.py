"""What the embedded engine did silently wrong once: now it does as a server does, or refuses.

Each line of a case is a statement. `REFUSED` says which of them are refused, and the others are compared with servers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from inspect import signature
from random import Random
from typing import Final

import pytest
from each import each
from test_random_servers import check_against_server

from simulator import sources
from simulator.sql.functions.table import FUNCTIONS, facts_of
from simulator.sql.script import run, script_of
from simulator.stream.literal.transactions import RowChange

SOURCES: Final = ("mysql-8.0", "mysql-5.7", "mariadb-10.11")
CASES: Final = {
    "fractions of timestamps": """
create table t(a datetime(3), b timestamp(6) null, c varchar(40))
insert into t(c) values(ifnull(date'2024-02-29', timestamp'2024-02-29 10:11:12.5'))
insert into t(c) select case when a is null then date'2024-02-29' else timestamp'2024-02-29 10:11:12.50' end from t
insert into t(a, b) values(TIMESTAMP'2024-01-01 10:11:30.456', timestamp '2024-01-01 10:11:30.456789')
insert into t(c) values(TIMESTAMP'2024-01-01 10:11:30.456')
insert into t(c) values(date_add(TIMESTAMP'2024-01-01 10:11:30.456', interval 1 day))
""",
    "bits of numbers are rounded": """
create table t(a bigint unsigned, b bigint unsigned)
insert into t values(1.5|0, 2.5&255), (2.5|0, 3.5<<1), (1.5e0|0, ~2.5)
""",
    "row_count()": """
create table t(id int)
create table l(n int)
create table r(n int)
create trigger x after insert on t for each row insert into l values(new.id), (new.id)
insert into t values(1), (2), (3)
insert into r values(row_count())
insert into r values(row_count())
update t set id = id + 1
insert into r values(row_count())
delete from t where id > 2
insert into r values(row_count())
""",
    "order of triggers": """
create table t(id int, s varchar(20))
create trigger a before insert on t for each row set new.s = concat(new.s, 'a')
create trigger b before insert on t for each row precedes a set new.s = concat(new.s, 'b')
create trigger c before insert on t for each row follows b set new.s = concat(new.s, 'c')
insert into t values(1, '')
""",
    "AUTO_INCREMENT after failures": """
create table t(id int auto_increment primary key, u int unique)
insert into t(u) values(1)
insert into t(u) values(1)
insert into t values(20, 1)
insert into t(u) values(8)
insert ignore into t(u) values(1), (9)
insert into t values(30, 1) on duplicate key update u = 11
insert into t(u) values(12)
replace into t values(50, 12)
insert into t(u) values(13)
""",
    "labels under a binary collation": """
create table t(a enum('a','A','ä') charset latin1 collate latin1_bin, s set('x','X') collate utf8mb4_bin)
insert into t values('A','X'), ('a','x,X'), ('ä','x')
insert into t values('Ä','x')
""",
    "SET NAMES latin1": """
set names latin1
create table t(a varchar(9))
insert into t values('é')
set names utf8mb4
insert into t values('é')
""",
    "LIKE by letters": """
create table t(id int, a varchar(9))
insert into t values(1,'ß'), (2,'ss'), (3,'s'), (4,'sx'), (5,'É')
update t set id = id + 10 where a like 's_'
update t set id = id + 100 where a like '_'
update t set id = id + 1000 where a like 's%'
update t set id = id + 10000 where a like 'e'
""",
    "case of letters": """
create table t(a varchar(9))
insert into t values(upper('ß')), (lower('ÄЯΣ')), (upper('äяσ'))
""",
    "units in WHERE": """
create table t(id int primary key, a date, b date)
insert into t values(1,'2024-01-01','2024-01-05'), (2,'2024-01-01','2024-01-02')
delete from t where timestampdiff(day, a, b) > 2
update t set b = timestampadd(week, 1, a) where timestampdiff(hour, a, b) = 24
""",
    "WITH before DELETE and UPDATE": """
create table t(id int primary key, a int)
insert into t values(1,1), (2,2), (3,3)
with c as (select id from t where a > 1) delete from t where id in (select id from c)
with d as (select max(a) m from t) update t set a = a + 10 where a = (select m from d)
""",
    "a failed ALTER": """
create table t(a int)
insert into t values(1)
alter table t add b int not null, add c date not null default 'x'
insert into t values(2)
alter table t add d int default 'x'
insert into t values(3)
""",
    "indexes that foreign keys need": """
create table p(id int primary key, k int, key kk(k))
create table c(id int primary key, p int, constraint fk foreign key (p) references p(k))
alter table p drop key kk
insert into p values(1, 1)
""",
    "order of a DELETE from several tables": """
create table a(id int primary key)
create table b(id int primary key, a int, key(a))
insert into a values(1), (2), (3)
insert into b values(1,3), (2,2), (3,1), (4,1)
delete a, b from a join b on b.a = a.id
""",
    "rows of partitioned tables": """
create table p(id int primary key, v int) partition by hash(id) partitions 3
insert into p values(1,1)
insert into p set id = 2, v = 2
insert into p values(3,3)
update p set v = v + 1 where id = 2
update p set v = v + 1 where v = 1
replace into p values(3, 5)
delete from p where id = 1
delete from p order by id limit 1
create table l like p
alter table l remove partitioning
insert into l values(1,1), (2,2), (3,3)
update l set v = v + 1
""",
    "texts as numbers and dates": """
create table t(a int, d date)
insert into t(a) values('12' + 1), (year('2024-02-01')), (left('abc', 0))
insert into t(d) values(date_add('2024-01-31', interval 1 month))
""",
}  # fmt: skip


@pytest.mark.broker("mysql")
@pytest.mark.parametrize("source", SOURCES)
def test_as_a_server(source: str, servers: Callable[[str], str]) -> None:
    text = ""
    for number, case in enumerate(CASES.values()):
        text += f"create database d{number};\nuse d{number};\n"
        text += "".join(f"{line};\n" for line in case.strip().split("\n"))
    assert check_against_server(text, source, servers) > 70


# Values and columns of all types.
VALUES: Final = (
    "7", "-3", "0", "2.55", "-0.5", "1.5e0", "'abc'", "'Äß x'", "'12'", "'2024-02-29'", "date'2024-02-29'",
    "timestamp'2024-02-29 10:11:12.5'", "time'10:11:12.25'", "x'c3a4'", "cast('[1, 2.5]' as json)", "null", "ci", "ct",
    "cd", "cdt", "cde", "cf", "cb", "cti", "ce", "cj", "cy", "cu", "cr", "cs", "cc", "cl", "cts", "cbi",
)  # fmt: skip
COLUMNS: Final = """create database d; use d;
create table s(ci int, ct varchar(20), cd date, cdt datetime(3), cde decimal(8,3), cf double, cb varbinary(9),
 cti time(2), ce enum('x','yy'), cj json, cy year, cu bigint unsigned, cr float, cs set('x','yy'), cc char(5), cl text,
 cts timestamp null, cbi bit(9)); create table r(n int, v varchar(200));
insert into s values(42, 'Hello é', '2023-12-31', '2023-12-31 23:59:59.999', -12.345, 0.1, x'00ff', '-01:02:03.5', 'yy',
 '[1,{"k":2.50}]', 1999, 3, 0.3, 'x,yy', '2.5', '2024-01-31 01:02:03', '2024-01-31 10:00:00', 65);
"""
# Functions whose results are not those of other servers.
UNLIKE: Final = frozenset((
    "connection_id", "database", "found_rows", "last_insert_id", "rand", "row_count", "unix_timestamp", "user", "uuid",
    "uuid_short", "values", "version",
))  # fmt: skip
OPERATIONS: Final = (
    "{} + {}", "{} - {}", "{} * {}", "{} / {}", "{} div {}", "{} % {}", "{} | {}", "{} & {}", "{} << {}", "{} ^ {}",
    "-{}", "~{}", "{} = {}", "{} < {}", "{} >= {}", "{} <=> {}", "{} like {}", "{} regexp {}", "{} in ({}, {})",
    "{} between {} and {}", "not {}", "{} and {}", "{} or {}", "{} xor {}", "{} is null", "{} is true",
    "case when {} then {} else {} end", "case {} when {} then {} end", "ifnull({}, {})", "cast({} as signed)",
    "cast({} as unsigned)", "cast({} as char)", "cast({} as char(3))", "cast({} as decimal(10,2))", "cast({} as date)",
    "cast({} as datetime(2))", "cast({} as time)", "cast({} as binary)", "convert({} using utf8mb4)",
    "{} collate utf8mb4_bin", "extract(hour from {})", "extract(year from {})", "{} + interval 1 day",
    "{} - interval {} hour", "date_add({}, interval {} minute)", "timestampadd(day, {}, {})",
    "timestampdiff(hour, {}, {})", "json_extract({}, '$[0]')", "substring({} from {} for {})", "position({} in {})",
    "char({}, {})", "trim(both 'x' from {})", "group_concat({})", "sum({})", "avg({})", "min({})", "max({})",
    "count(distinct {})", "json_arrayagg({})", "bit_or({})", "std({})", "timestamp({})", "timestamp({}, {})",
    "subdate({}, interval {} day)", "adddate({}, {})", "mod({}, {})", "({} + {}) - {}", "{} - {} * {}", "-({} - {})",
    "if({}, {}, {})", "{} <> {}", "{} not in ({}, {})", "concat({}, {} + {})", "sum({} * {})", "cast({} as double)",
    "extract(minute from {})", "date_sub({}, interval {} month)", "date_add({}, interval {} second)", "char({})",
    "count({})", "max({} + {})", "concat(ifnull({}, {}), {})",
)  # fmt: skip
# A statement about each call, by context; row `n` of `r`, or its absence, is the outcome.
CONTEXTS: Final = {
    "INSERT": "insert into r select {n}, {call} from s;",
    "INSERT IGNORE": "insert ignore into r select {n}, {call} from s;",
    "not strict": "set sql_mode = ''; insert into r select {n}, {call} from s; set sql_mode = default;",
    "UPDATE": "insert into r values(-{n}, null); update r, s set v = {call}, n = {n} where n = -{n};",
    "VALUES": "insert into r values({n}, {constant});",
    "variable": "set @v = null; set @v = {constant}; insert into r values({n}, @v);",
    "DELETE": "insert into r values({n}, null); delete r from r join s where n = {n} and {call};",
    "WHERE": "insert into r select {n}, 'x' from s where {call};",
    "generated": "create table t(k int, v varchar(200) as ({constant})); insert into t(k) values({n}); "
    "insert into r select k, v from t; drop table t;",
    "DEFAULT": "create table t(k int, v varchar(200) default ({constant})); insert into t(k) values({n}); "
    "insert into r select k, v from t; drop table t;",
}
# Statements on each server; the long run has 5,000.
STATEMENTS: Final = int(os.environ.get("CDCSIM_STATEMENTS", "120"))


# Values of each kind of arguments.
KINDS: Final = {
    "date": ("'2024-02-29'", "date'2024-02-29'", "timestamp'2024-02-29 10:11:12.5'", "cd", "cdt", "cts", "cl"),
    "time": ("'10:11:12'", "time'10:11:12.25'", "cti", "cdt", "cts"),
    "document": ("'[1, 2.5]'", "cj", """'{"a": 1}'"""),
    "number": ("7", "-3", "0", "2.55", "1.5e0", "ci", "cde", "cf", "cu", "cr", "cy"),
    "int": ("7", "-3", "0", "2", "ci", "cu", "cy"),
    "text": ("'abc'", "'Äß x'", "'12'", "ct", "ce", "cs", "cc", "cl", "'$[0]'", "'all'", "'%Y %H'"),
}  # fmt: skip
LIKE: Final = {
    "days": "int", "exact": "number", "key": "text", "positive": "int", "printable": "text", "string": "text",
    "whole": "time",
}  # fmt: skip


def calls(random: Random, values: tuple[str, ...]) -> Iterator[str]:
    """Calls and operations with arguments of all types; half of the calls have arguments that the function takes."""
    names = sorted(name for name in FUNCTIONS if " " not in name and name not in UNLIKE)
    while True:
        if random.random() < 0.4:
            operation, same = random.choice(OPERATIONS), random.choice(list(KINDS.values()))
            operands = [value for value in same if value in values or value[:1] != "c"]
            chosen = operands if random.random() < 0.5 else values
            yield operation.format(*(random.choice(chosen) for _ in range(operation.count("{}"))))
            continue
        name, count = random.choice(names), random.choice((1, 1, 1, 2, 2, 3))
        kinds = [word.strip("!*") for word in facts_of(name).takes] if random.random() < 0.5 else []
        with suppress(TypeError):
            signature(FUNCTIONS[name]).bind(None, *range(count))
            arguments = []
            for position in range(count):
                kind = kinds[min(position, len(kinds) - 1)] if kinds else ""
                fitting = [
                    value for value in KINDS.get(LIKE.get(kind, kind), ()) if value in values or value[:1] != "c"
                ]
                arguments.append(random.choice(fitting or values))
            yield f"{name}({', '.join(arguments)})"


def statements(random: Random, source: str, count: int) -> list[str]:
    documents = [value.replace("cast('[1, 2.5]' as json)", "'[1, 2.5]'") for value in VALUES]
    values = tuple(documents) if source.startswith("mariadb") else VALUES
    everything, constants = calls(random, values), calls(random, values[: values.index("ci")])
    return [
        CONTEXTS[context].format(n=n, call=next(everything), constant=next(constants))
        for n, context in enumerate(random.choices(list(CONTEXTS), k=count))
    ]


@pytest.mark.broker("mysql")
@pytest.mark.parametrize("source", SOURCES)
def test_functions_as_a_server(source: str, servers: Callable[[str], str]) -> None:
    """In all contexts: equal, or refused. CDCSIM_STATEMENTS=5000 CDCSIM_SEED=8 is a long run of its own."""
    random = Random(int(os.environ.get("CDCSIM_SEED", "7")))
    lines = statements(random, source, STATEMENTS)
    first = COLUMNS.count("\n") + 1

    def outcome(engine: str) -> tuple[dict[int, object], set[int]]:
        done = run(
            replace(script_of(COLUMNS + "\n".join(lines), "s.sql"), engine=engine), sources.find(source), force=True
        )
        entries = [e for t in done.session.log.transactions for e in t.entries if isinstance(e, RowChange)]
        rows = [e.after for e in entries if e.after is not None and e.table.id.name == "r"]
        refused = [line for line in done.errors if "not supported by the embedded engine" in line]
        return {row[0]: row[1] for row in rows}, {int(line.split(":")[1]) - first for line in refused}

    ours, refused = outcome("")
    theirs, _ = outcome(servers(source))
    assert len(ours) > STATEMENTS / 5
    different = [n for n in range(STATEMENTS) if n not in refused and ours.get(n) != theirs.get(n)]
    assert not [(lines[n], ours.get(n), theirs.get(n)) for n in different]


T: Final = "create table t(a int, j json, d date, b varbinary(9), l varchar(9) charset latin1 unique, m decimal(5,2)); "
M: Final = (
    T + "create table m(a int, d date, ti time, b varbinary(9), v varchar(9)); "
    "insert into m values(1, '2024-01-02', '10:11:12', 'x', 'y'); "
)
LINKED: Final = "create table p(id int primary key); create table c(p int, foreign key (p) references p(id)); "
PARTITIONED: Final = (
    "create table p(id int primary key) partition by hash(id) partitions 3; create table o(id int); "
    "insert into p values(1); insert into p values(2); insert into o values(1), (2); "
)
SEVERAL: Final = "a statement about several rows of the partitioned table d."
REFUSED: Final = [
    (("mysql-8.0", "mysql-5.7"), T + "delete from t where j->'$.a'", "a JSON document that is no number as a condition",
     "insert into t(j) values('{\"a\":\"x\"}')"),
    (SOURCES, T + "insert into t(a) values(b'1' | cast('x' as binary))", "a calculation with bits of a binary text",
     ""),
    (("mysql-8.0",), T + "insert into t(a) values(cast(100 as year))", "this value as a year", ""),
    (SOURCES, T + "insert into t(l) values('ü')", "comparing letters such as those of 'ü' under latin1_swedish_ci", ""),
    (SOURCES, "create table x(a varchar(9) charset latin5 collate latin5_turkish_ci)",
     "the collation latin5_turkish_ci", ""),
    (SOURCES, T + "insert into t(a) values(year('x'))", "year() of the text 'x'", ""),
    (SOURCES, T + "insert into t(a) values(round('12abc'))", "round() of the text '12abc'", ""),
    (SOURCES, T + "insert into t(d) values(date_add('abc', interval 1 day))", "date_add() of the text 'abc'", ""),
    (("mysql-8.0", "mysql-5.7"), T + "insert into t(j) select json_arrayagg(m) from t",
     "a decimal or a date in an aggregated JSON document", "insert into t(m) values(1.5)"),
    (SOURCES, T + "create trigger x before insert on t for each row follows y set new.a = 1",
     "a trigger that follows a missing one", ""),
    (SOURCES, LINKED + "alter table p drop primary key", "dropping an index that a foreign key needs", ""),
    (SOURCES, LINKED + "alter table c drop index p", "dropping the index that a foreign key implies", ""),
    (SOURCES, "create table t(a varchar(9)); insert into t values(lower('ẞ'))", "the case of the letter 'ẞ'", ""),
    (SOURCES, M + "insert into t(d) select d from m where ti < d", "comparing a date with a time", ""),
    (SOURCES, M + "insert into t(a) select 1 from m where v < x'c3a4'", "comparing hexadecimal digits with a text", ""),
    (SOURCES, M + "insert into t(l) select group_concat(b) from m", "GROUP_CONCAT() of bytes", ""),
    (SOURCES, M + "insert into t(a) select a between null and 2 from m", "BETWEEN NULL", ""),
    (SOURCES, M + "insert into t(a) select '12' between time'10:11:12' and '2024-02-29'",
     "BETWEEN of texts and numbers or times", ""),
    (("mysql-8.0", "mysql-5.7"), M + "insert into t(a) select 7 in (1, a) from m",
     "a constant IN columns, in a strict statement,", ""),
    (SOURCES, M + "insert into t(a) select b like d from m", "this date or time in LIKE", ""),
    (("mysql-5.7",), T + "insert into t(a) values('12' = time'10:11:12')", "comparing a time with a text", ""),
    (("mysql-8.0", "mysql-5.7"), M + "insert into t(a) select 1 from m where x'01' - 7",
     "a negative number of hexadecimal digits", ""),
    (("mysql-8.0",), "create table f(k int, v varchar(9) default (-0.5 * 0)); insert into f(k) values(1)",
     "a zero that was calculated, in a column of text", ""),
    (SOURCES, M + "insert into t(l) select substring_index(b, 'x', 1) from m", "substring_index() of bytes", ""),
    (("mysql-8.0",), M + "insert into t(a) select x'c3a4' div -3", "a negative result of DIV", ""),
    (SOURCES, M + "insert into t(l) select time(timestamp'2024-02-29 10:11:12.5')", "time() of a date or time", ""),
    (("mariadb-10.11",), "create table f(k int, v varchar(9) default ('1' + '2x')); insert into f(k) values(1)",
     "a calculation with the text '2x'", ""),
    (("mariadb-10.11",), "create table f(k int, v varchar(9) default (0 | x'c3a4')); insert into f(k) values(1)",
     "hexadecimal digits in the expression of a column", ""),
    (("mariadb-10.11",), "create table f(k int, v varchar(9) as (0 ^ x'c3a4')); insert into f(k) values(1)",
     "hexadecimal digits in the expression of a column", ""),
    (("mariadb-10.11",), T + "insert into t(l) values(sha2('x', null))", "sha2() with NULL", ""),
    (("mariadb-10.11",), T + "insert into t(l) values(from_unixtime('12'))", "from_unixtime() of the text '12'", ""),
    (("mariadb-10.11",), M + "insert into t(l) select json_array(b) from m", "json_array() of bytes", ""),
    (SOURCES, "create table f(k int, v varchar(40) as (uuid()))", "uuid() in the expression of a column", ""),
    (("mysql-8.0", "mariadb-10.11"), "create table f(k int, check (k < unix_timestamp()))",
     "unix_timestamp() in the expression of a column", ""),
    (("mysql-8.0", "mariadb-10.11"), "create table f(k int, v int default (@x))",
     "a variable in the expression of a column", ""),
    (("mysql-8.0",), PARTITIONED + "insert into p values(4), (5)", SEVERAL, ""),
    (("mysql-8.0",), PARTITIONED + "insert into p select id + 5 from o", SEVERAL, ""),
    (("mysql-8.0",), PARTITIONED + "create table l like p; insert into l values(4), (5)", SEVERAL, ""),
    (("mysql-8.0",), PARTITIONED + "update p set id = id + 9 order by id desc", SEVERAL, ""),
    (("mysql-8.0",), "create table p(id int); alter table p partition by range (id) "
     "(partition a values less than (9)); replace into p values(4), (5)", SEVERAL, ""),
    (SOURCES, PARTITIONED + "update p set id = id + 9", SEVERAL, ""),
    (SOURCES, PARTITIONED + "delete from p where id < 9", SEVERAL, ""),
    (SOURCES, PARTITIONED + "delete p from p join o on p.id = o.id", SEVERAL, ""),
    (SOURCES, PARTITIONED + "update o join p on p.id = o.id set p.id = p.id + 9", SEVERAL, ""),
    (SOURCES, "create table o(id int); create table p partition by hash(id) as select id from o",
     "CREATE TABLE with partitions", ""),
]  # fmt: skip


@each(REFUSED)
def test_refused(servers: tuple[str, ...], text: str, reason: str, before: str) -> None:
    """With `force` the statement before the last one runs, too."""
    *first, last = text.split("; ")
    for source in servers:
        script = ";\n".join(["create database d", "use d", *first, *([before] if before else []), last]) + ";"
        failure = run(script_of(script, "s.sql"), sources.find(source)).failure
        assert failure is not None, source
        assert reason in str(failure)
        assert str(failure).endswith("runs it on a real server.")


def test_a_refusal_inside_a_procedure_takes_back_its_statements() -> None:
    text = """create database d; use d; create table t(a int); insert into t values(1);
delimiter //
create procedure p() begin insert into t values(2); update t set a = 3; insert into t values(sleep(0)); end//
call p()//
delimiter ;
insert into t select a + 10 from t;"""
    outcome = run(script_of(text, "s.sql"), sources.find("mysql-8.0"), force=True)
    assert len(outcome.errors) == 1
    entries = [entry for one in outcome.session.log.transactions for entry in one.entries]
    assert [one.after for one in entries if isinstance(one, RowChange)] == [(1,), (11,)]
