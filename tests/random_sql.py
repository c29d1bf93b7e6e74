"""Random SQL scripts, the same for a seed: tables, indexes, rows, transactions and ALTERs over all types of MySQL.

Most statements are right; those that are not are refused alike by every engine. `wild` scripts write any value into any
column, so many of theirs are refused; what they change is in the log, row by row, but for columns that come and go.
"""

from __future__ import annotations

import re
from random import Random
from typing import Final

# By what expressions take a column for: its types, and values that fit, separated by bars.
TYPES: Final[dict[str, dict[str, str]]] = {
    "n": {
        "tinyint": "1|-1|127|0|300", "tinyint unsigned": "255|4", "tinyint(1)": "true|false|2", "bool": "1|0",
        "smallint": "-32768|9", "smallint unsigned": "1|65535|7|-1", "mediumint": "-8388608|5|12", "int": "1|2|3|-5|0",
        "mediumint unsigned": "16777215|1", "int unsigned": "4294967295|8|3", "int(5) zerofill": "42|7",
        "bigint": "-9223372036854775808|99|4", "bigint unsigned": "18446744073709551615|6",
        "decimal(5,2)": "1.5|999.994",
        "decimal(10,0) unsigned": "5|2.5", "decimal(65,30)": "1.5|-7", "float": "1.5|-2.25|1e10|0.1", "bit": "1|0",
        "float(7,2)": "12.345|99", "double": "0.1|-1e100|3", "double unsigned": "2.5|1e-7", "bit(10)": "b'101'|1023|5",
        "bit(64)": "18446744073709551615|1", "year": "2024|1999|'70'",
    },
    "t": {
        "char(5)": "'abc'|'x'|''|'end  '", "varchar(8)": "'Ann Lee'|'bob'|'ÉÉ'|'12abc'|''",
        "text": "'long text'|'a,b,c'|'7'",
        "varchar(9) collate utf8mb4_bin": "'Aa'|'aA'|'ß'", "varchar(12) character set latin1": "'é'|'abc'|'5.5'",
        "varchar(6) character set utf8": "'中文'|'q'", "tinytext": "'t'|'%_'", "mediumtext": "'it''s'|'a\\\\b'|'\"q\"'",
        "longtext": "'😀'|repeat('z', 7)", "text(30)": "'t30'", "enum('a','b','c,d')": "'a'|'B'|'c,d'|2",
        "set('x','y','z')": "'x,z'|'y'|''|5",
    },
    "b": {
        "binary(4)": "x'41'|'ab'", "varbinary(6)": "x'ff00'|'z'", "tinyblob": "'t'", "blob": "x'deadbeef'|'b'|''",
        "mediumblob": "x'00'", "longblob": "'l'",
    },
    "d": {
        "date": "'2024-02-29'|'1999-12-31'|20240105", "datetime": "'2024-02-29 23:59:59'|'2024-1-5 3:4:5'|'2024-03-01'",
        "datetime(3)": "'2024-02-29 23:59:59.9996'|'2000-01-01 00:00:00.12'", "time": "'12:34:56'|'-838:59:59'|101112",
        "timestamp null": "'2024-05-06 07:08:09'", "timestamp(6) null": "'2024-05-06 07:08:09.123456'",
        "time(2)": "'10:11:12.345'|'00:00:01'",
    },
    "j": {"json": "'{\"b\":1,\"a\":[1.50,null]}'|'[1,\"x\"]'|'\"s\"'|json_object('k',1,'d',1.5)"},
    "g": {
        "geometry": "point(1,2)", "point": "point(3,4)|st_geomfromtext('POINT(1 2)')", "linestring":
        "st_geomfromtext('LINESTRING(0 0,1 1)')", "polygon": "null", "multipoint": "null", "geometrycollection": "null",
    },
}  # fmt: skip
# Values that some columns take, some change, some refuse.
WILD: Final = (
    "0", "-1", "128", "99999", "2147483648", "18446744073709551615", "99999999999999999999", "-2.5", "0.005", "1e40",
    "-1e-5", "-0e0", "''", "'B'", "'12'", "'12abc'", "'héé'", "'中文'", "'😀'", "'c,d'", "'2024-02-30'", "20240229",
    "'2024-02-29 23:59:59.9999999'", "'0000-00-00'", "'2020-00-01'", "'12:34:56.789'", "'900:00:00'", "null", "default",
    "x'ff00'", "b'101'", "true", "1999", "'[1, 2]'", "json_object('k', 1.50, 'd', cast('2024-01-01' as date))",
    "'long long long text'", "'a   '", "concat('a', 1)", "1/3", "7 div 2", "1/0", "cast('2.50' as decimal(4,2))",
    "st_geomfromtext('LINESTRING(0 0,1 1)', 4326)", "'1' + 'x'", "id + 1", "nosuch", "nosuch(1)",
    "(select max(id) from t1)", "case when 1 then 2 end", "1e400", "'1e400'", "pow(10, 400)", "1" + "0" * 70,
    "cast(1e308 as decimal(9,2))", "truncate(1.5, 999)", "1e308 * 10",
    "date_add('9999-12-31', interval 99999999 quarter)",
    "9" * 5000, "repeat('a', 99999999999)", "'it''s \\\\ \"q\"'", "if(1 > 0, 'y', 'n')", "round(2.5)",
)  # fmt: skip
_NUMERIC: Final = (
    "{n} + {n}", "{n} - {i}", "{n} * {i}", "{n} / {i}", "{n} div {i}", "{n} % {i}", "-({n})", "abs({n})",
    "round({n}, 1)",
    "floor({n})", "ceil({n})", "truncate({n}, 1)", "mod({n}, {i})", "greatest({n}, {i})", "least({n}, {n})",
    "sign({n})",
    "if({c}, {n}, {i})", "case when {c} then {n} else {i} end", "ifnull({n}, {i})", "coalesce({n}, {n}, {i})",
    "nullif({n}, {i})", "length({t})", "char_length({t})", "bit_count({i})", "{i} << {i}", "{i} & {i}", "{i} | {i}",
    "{i} ^ {i}", "cast({n} as signed)", "cast({n} as decimal(12,3))", "cast({t} as char)", "year({d})", "month({d})",
    "dayofmonth({d})", "datediff({d}, '2024-01-01')", "hour({d})", "dayofweek({d})", "crc32({t})",
    "field({t}, 'a', 'x')",
    "locate('a', {t})", "find_in_set('x', {t})", "ascii({t})", "strcmp({t}, 'b')", "(select count(*) from {table})",
    "(select max(id) from {table})", "@v := {i}", "sqrt(abs({n}))", "exp({i})", "pow({i}, 2)", "to_days({d})", "{n}",
    "{i}",
    "json_length({j})", "unix_timestamp({d})", "json_extract({j}, '$.b')", "time_to_sec({d})", "quarter({d})",
    "week({d})",
)  # fmt: skip
_TEXTUAL: Final = (
    "concat({t}, {t})", "concat({t}, '-', {n})", "concat_ws(',', {t}, {n}, null)", "upper({t})", "lower({t})",
    "left({t}, 2)", "right({t}, 2)", "substring({t}, 2, 3)", "lpad({t}, 6, '*')", "rpad({i}, 4, '0')",
    "replace({t}, 'a', 'é')", "repeat({t}, 2)", "reverse({t})", "trim({t})", "hex({t})", "cast({n} as char)",
    "date_format({d}, '%Y/%m/%d %H:%i')", "format({n}, 2)", "if({c}, {t}, 'no')", "substring_index({t}, ',', 1)",
    "insert({t}, 1, 1, 'Z')", "elt({i}, 'one', 'two', 'three')", "md5({t})", "to_base64({t})", "quote({t})", "bin({i})",
    "json_unquote(json_extract({j}, '$.a'))", "nullif({t}, 'x')", "coalesce({t}, 'none')", "sha1({t})", "char(65, 66)",
    "case {t} when 'a' then 'A' else {t} end", "make_set({i}, 'p', 'q')", "space(2)", "unhex('4142')", "dayname({d})",
    "concat(@v, {t})", "{t}", "ltrim({t})", "conv({i}, 10, 16)", "json_type({j})", "(select min(id) from {table})",
)  # fmt: skip
_TEMPORAL: Final = (
    "date_add({d}, interval 1 day)", "date_sub({d}, interval {i} month)", "last_day({d})", "curdate()",
    "date({d})", "timestampadd(hour, {i}, {d})", "str_to_date('2024-03-04', '%Y-%m-%d')", "makedate(2024, 60)",
    "sec_to_time({i})", "addtime('10:00:00', '01:30:00')", "{d} + interval 90 minute", "coalesce({d}, '2024-01-01')",
    "from_unixtime(1700000000)", "cast({d} as date)", "{d}", "timediff('10:00:00', '09:30:00')",
)  # fmt: skip
_DOCUMENTS: Final = (
    "json_object('n', {n}, 't', {t})", "json_array({i}, {t}, null)", "json_set({j}, '$.n', {i})",
    "json_remove({j}, '$.b')",
    "json_merge_patch({j}, '{\"z\": 1}')", "json_insert({j}, '$.q', {t})", "json_array_append({j}, '$', {i})", "{j}",
    "json_replace({j}, '$.b', true)", "json_object('d', {d})",
)  # fmt: skip
_CONDITIONS: Final = (
    "id = {i}", "id in ({i}, {i})", "id > {i}", "id between {i} and 6", "{n} > {i}", "{n} is null", "{n} is not null",
    "{t} = 'a'", "{t} like '%a%'", "{t} > 'b'", "{d} > '2010-01-01'", "not ({n} < {i})", "{t} is null", "{n} <=> null",
    "id % 2 = 0", "exists (select 1 from {table} x where x.id = {i})", "id in (select id from {table})",
    "{n} in (1, 2)",
    "{t} in ('a', 'bob')", "length({t}) > 2", "{t} regexp '^[a-m]'",
)  # fmt: skip


class _Table:
    def __init__(self, name: str, columns: dict[str, str], auto: bool) -> None:
        self.name, self.columns, self.auto = name, columns, auto
        self.required: set[str] = set()
        self.indexes: list[str] = []


class _Writer:
    def __init__(self, random: Random, wild: bool) -> None:
        self.random, self.wild = random, wild
        self.tables: list[_Table] = []
        self.lines: list[str] = []
        self.count = 0

    def one(self, *choices: str) -> str:
        return self.random.choice(choices)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    # ------------------------------------------------------------------------------------------------- pieces

    def type(self, kinds: str = "nnnttttddbjg") -> str:
        return self.random.choice(list(TYPES[self.random.choice(kinds)]))

    def kind(self, type: str) -> str:
        return next(kind for kind, types in TYPES.items() if type in types)

    def value(self, type: str, *, required: bool = False) -> str:
        if self.chance(0.5 if self.wild else 0.02):
            return self.random.choice(WILD)
        if self.chance(0.01 if required else 0.12):
            return self.one("null", "null", "default")
        return self.random.choice(TYPES[self.kind(type)][type].split("|"))

    def column(self, table: _Table, kinds: str, qualifier: str = "") -> str | None:
        names = [name for name, type in table.columns.items() if self.kind(type) in kinds]
        return qualifier + self.random.choice(names) if names else None

    def fill(self, text: str, table: _Table, qualifier: str = "") -> str:
        """A template with columns of the kinds that it asks for, or constants."""
        other = self.random.choice(self.tables)

        def piece(match: re.Match[str]) -> str:
            match match[1]:
                case "i":
                    return str(self.random.randint(1, 6))
                case "table":
                    return other.name
                case "c":
                    return self.fill(self.random.choice(_CONDITIONS[:13]), table, qualifier)
                case word:
                    constant = {"n": "2.5", "t": "'a,b'", "d": "'2024-02-29 10:11:12'", "j": "'{\"b\": 2}'"}[word]
                    return (self.chance(0.85) and self.column(table, word, qualifier)) or constant

        return re.sub(r"\{(\w+)\}", piece, text)

    def expression(self, type: str, table: _Table, qualifier: str = "") -> str:
        if self.chance(0.25):
            return self.value(type)
        kind = self.kind(type) if self.chance(0.9) else self.one("n", "t", "d")
        templates = {"n": _NUMERIC, "t": _TEXTUAL, "b": _TEXTUAL, "d": _TEMPORAL, "j": _DOCUMENTS}.get(kind)
        if templates is None or type.startswith(("enum", "set", "bit", "year")):
            return self.value(type)
        text = self.fill(self.random.choice(templates), table, qualifier)
        return "id" if text == "default" else text

    def where(self, table: _Table, qualifier: str = "") -> str:
        if self.chance(0.1):
            return ""
        text = self.fill(self.random.choice(_CONDITIONS), table, qualifier)
        if self.chance(0.2):
            text += self.one(" and ", " or ") + self.fill(self.random.choice(_CONDITIONS), table, qualifier)
        return " where " + (text.replace("id", f"{qualifier}id", 1) if qualifier and text.startswith("id") else text)

    # --------------------------------------------------------------------------------------------- statements

    def create(self) -> None:
        name = self.fresh("t")
        columns = {f"c{i}": self.type() for i in range(self.random.randint(1, 5))}
        key = self.one(
            "id int primary key", "id int auto_increment primary key", "id int auto_increment primary key", "id int",
            "id int not null, primary key (id)", "id bigint unsigned not null unique",
        )  # fmt: skip
        parts, table = [key], _Table(name, columns, "auto_increment" in key)
        for column, type in columns.items():
            text = f"{column} {type}"
            if "null" not in type:
                text += self.one("", "", "", " not null")
            if text.endswith("not null"):
                table.required.add(column)
            if (
                self.kind(type) in "nt"
                and "text" not in type
                and self.chance(0.2)
                and not type.startswith(("bit", "year"))
            ):
                text += f" default {TYPES[self.kind(type)][type].split('|')[0]}"
            if self.chance(0.1):
                text += f" comment 'about {column}'"
            parts.append(text)
        numbers = [name for name, type in columns.items() if self.kind(type) == "n" and not type.startswith("bit")]
        if self.chance(0.15):
            parts.append("g int as (id * 2)" + self.one("", " stored"))
        if numbers and self.chance(0.2):
            parts.append(f"{self.one('key', 'unique key')} k ({self.random.choice(numbers)})")
        if self.tables and not self.wild and self.chance(0.1) and "bigint" not in key and "null" not in key:
            parent = self.tables[0]
            action = self.one("cascade", "set null", "restrict")
            parts.append(f"p int, foreign key (p) references {parent.name}(id) on delete {action} on update {action}")
        tail = self.one("", "", " engine=InnoDB", " default charset=utf8mb4", " comment='a table'", " auto_increment=5")
        self.lines.append(f"create table {name}({', '.join(parts)}){tail};")
        self.tables.append(table)

    def insert(self, table: _Table) -> None:
        names = [name for name in table.columns if name in table.required or self.chance(0.9)]
        with_id = not table.auto or self.chance(0.5)
        listed = (["id"] if with_id else []) + names
        rows = []
        for _ in range(self.random.choice((1, 1, 2, 3, 5))):
            cells = [str(self.random.randint(1, 12))] if with_id else []
            cells += [self.value(table.columns[name], required=name in table.required) for name in names]
            rows.append(f"({','.join(cells)})")
        verb = self.one("insert into", "insert into", "insert into", "insert ignore into", "replace into")
        tail = ""
        if verb == "insert into" and names and self.chance(0.3):
            name = self.random.choice(names)
            tail = f" on duplicate key update {name}=" + self.one(
                f"values({name})", self.expression(table.columns[name], table)
            )
        self.lines.append(f"{verb} {table.name}({','.join(listed)}) values {','.join(rows)}{tail};")

    def insert_select(self, table: _Table) -> None:
        other = self.random.choice(self.tables)
        name = self.column(table, "nt") or "id"
        number = self.column(other, "n") or "id"
        source = f"select id + {self.random.randint(0, 20)}, {number} from {other.name}{self.where(other)} order by id"
        self.lines.append(f"{self.one('insert', 'insert ignore', 'replace')} into {table.name}(id,{name}) {source};")

    def update(self, table: _Table) -> None:
        names = self.random.sample(list(table.columns), min(len(table.columns), self.random.choice((1, 1, 2))))
        sets = ", ".join(f"{name}={self.expression(table.columns[name], table)}" for name in names)
        if self.chance(0.08):
            sets = f"id=id+{self.random.randint(1, 20)}"
        tail = self.one("", "", "", " order by id desc", " order by id limit 2")
        self.lines.append(f"update {table.name} set {sets or 'id=id'}{self.where(table)}{tail};")

    def joined(self, table: _Table) -> None:
        other = self.random.choice(self.tables)
        if other is table:
            return self.update(table)
        where = self.where(table, "a.")
        name = self.column(table, "nt")
        if name is None or self.chance(0.4):
            self.lines.append(f"delete a from {table.name} a join {other.name} b on a.id = b.id{where};")
        else:
            value = self.expression(table.columns[name], table, "a.")
            self.lines.append(f"update {table.name} a join {other.name} b on a.id = b.id set a.{name}={value}{where};")
        return None

    def delete(self, table: _Table) -> None:
        self.lines.append(f"delete from {table.name}{self.where(table)}{self.one('', '', ' order by id limit 1')};")

    def transaction(self, table: _Table) -> None:
        self.lines.append(self.one("begin;", "start transaction;"))
        self.insert(table)
        if self.chance(0.4):
            self.lines.append("savepoint s;")
            self.update(self.random.choice(self.tables))
            self.lines.append(self.one("rollback to s;", "release savepoint s;"))
        self.update(self.random.choice(self.tables))
        self.lines.append(self.one("commit;", "commit;", "rollback;"))

    def alter(self, table: _Table) -> None:
        name = self.random.choice(list(table.columns)) if table.columns else ""
        items = []
        for _ in range(1 if self.wild else self.random.choice((1, 1, 1, 2))):
            kind = self.random.choice((0, 4, 7)) if self.wild else self.random.randint(0, 11)
            if kind < 4 or not name:
                new, type = self.fresh("n"), self.type("nnnttdj")
                place = "" if self.wild else self.one("", "", " first", " after id")
                items.append(f"add {self.one('', 'column ')}{new} {type}{place}")
                table.columns[new] = type
            elif kind == 4 and len(table.columns) > 1 and name in table.columns:
                items.append(f"drop column {name}")
                del table.columns[name]
            elif kind == 5 and name in table.columns:
                # what is written so widens nearly everything
                type = self.one("varchar(8)", "text", table.columns[name])
                items.append(f"modify {name} {type}")
                table.columns[name] = type
            elif kind == 6 and name in table.columns:
                new = self.fresh("r")
                items.append(f"change {name} {new} {table.columns[name]}")
                table.columns[new] = table.columns.pop(name)
            elif kind == 7:
                index = self.fresh("i")
                items.append(f"add {self.one('index', 'unique')} {index} (id)")
                table.indexes.append(index)
            elif kind == 8 and table.indexes:
                items.append(f"drop index {table.indexes.pop()}")
            elif kind == 9 and (number := self.column(table, "n")):
                items.append(f"alter {number} " + self.one("drop default", "set default 1"))
            else:
                items.append(
                    self.one("comment='x'", "engine=InnoDB", "auto_increment=50", "convert to character set utf8mb4")
                )
            name = ""
        self.lines.append(f"alter table {table.name} {', '.join(items)};")

    def other(self, table: _Table) -> None:
        new, other = self.fresh("t"), self.random.choice(self.tables)
        match self.random.choice((2, 5, 6, 7)) if self.wild else self.random.randint(0, 11):
            case 0:
                self.lines.append(f"create table {new} like {table.name};")
                self.tables.append(_Table(new, dict(table.columns), table.auto))
            case 1:
                self.lines.append(
                    f"create table {new} as select id, {', '.join(table.columns) or '1 c'} from {table.name};"
                )
                self.tables.append(_Table(new, dict(table.columns), False))
            case 2:
                self.lines.append(f"truncate table {table.name};")
            case 3:
                self.lines.append(f"rename table {table.name} to {new};")
                table.name = new
            case 4 if len(self.tables) > 2:
                self.lines.append(f"drop table {table.name};")
                self.tables.remove(table)
            case 5:
                index = self.fresh("i")
                self.lines.append(
                    f"create {self.one('', 'unique ')}index {index} on {table.name}({self.column(table, 'n') or 'id'});"
                )
                table.indexes.append(index)
            case 6:
                self.lines.append(f"set @v = (select count(*) from {table.name});")
            case 7:
                self.lines.append(self.one("set sql_mode='';", "set sql_mode=default;", "set time_zone='+08:00';"))
            case 8:
                self.lines.append(f"create view {new} as select id from {table.name};")
            case 9:
                event = self.one("after insert", "after delete", "after update", "before insert")
                name = self.column(table, "n")
                body = f"insert into {other.name}(id) values ({self.random.randint(30, 99)})"
                if event == "before insert":
                    body = f"set new.{name} = {self.random.randint(1, 9)}" if name else "set @v = 1"
                if "before" in event or other is not table:
                    self.lines.append(f"create trigger {new} {event} on {table.name} for each row {body};")
            case 10:
                row = "old" if self.chance(0.5) else "new"
                event = "delete" if row == "old" else "update"
                if other is not table:
                    body = f"update {other.name} set id = id where id = {row}.id"
                    self.lines.append(f"create trigger {new} after {event} on {table.name} for each row {body};")
            case _:
                name = self.column(table, "n") or "id"
                self.lines.append(
                    f"prepare p from 'update {table.name} set {name} = ? where id = ?'; set @a = 3, @b = 2;"
                )
                self.lines.append("execute p using @a, @b;")

    def write(self, database: str) -> str:
        self.lines += [
            f"create database {database};",
            f"use {database};",
            "set sql_mode=default, time_zone='+00:00', @v=1;",
        ]
        for _ in range(self.random.randint(2, 3)):
            self.create()
        actions = [self.insert] * 8 + [self.update] * 7 + [self.delete] * 2 + [self.transaction] * 2 + [self.alter] * 3
        actions += [self.insert_select, self.joined, self.joined, self.other, self.other, self.other]
        for table in self.tables:
            self.insert(table)
        for _ in range(self.random.randint(8, 24)):
            self.random.choice(actions)(self.random.choice(self.tables))
        self.lines += ["commit;"] if self.wild else ["commit;", f"drop database {database};"]
        return "\n".join(self.lines) + "\n"


def script(seed: int, *, wild: bool = False, database: str = "d") -> str:
    """A script that creates its database and, if it is not wild, drops it at the end."""
    return _Writer(Random(seed), wild).write(database)
