"""Random SQL scripts for PostgreSQL, the same for a seed: tables over its types, rows, transactions, ALTERs, TRUNCATE.

A line is a statement. Some fail, alike on every server.
"""

from __future__ import annotations

from random import Random
from typing import Final

# Types, with literals that fit, separated by bars.
TYPES: Final[dict[str, str]] = {
    "boolean": "true|false",
    "smallint": "-32768|9|0",
    "integer": "1|2|-5|2147483647",
    "bigint": "-9223372036854775808|99",
    "real": "1.5|-2.25|'NaN'|1e10|0.1",
    "double precision": "0.1|-1e100|'Infinity'|3",
    "numeric": "1.5|123.4500|-7|1e20|0",
    "numeric(10,2)": "5|2.555|-12345.67",
    "numeric(38,15)": "1.5|-0.000000000000001",
    "money": "12.34|-5|0",
    "char(5)": "'abc'|''|'end  '",
    "varchar(8)": "'Ann Lee'|'ÉÉ'|'it''s'",
    "text": "'long text'|'a,b'|'😀'|E'tab\\there'",
    "bytea": "'\\xdeadbeef'|'\\x'|'abc'",
    "date": "'infinity'|'-infinity'|'0044-03-15 BC'|'2024-02-29'|'1999-12-31'|'1969-07-20'",
    "time": "'12:34:56.789'|'24:00:00'|'00:00:00'",
    "time(3)": "'12:34:56.7891'",
    "timetz": "'12:34:56.5+02'|'01:00:00-05:30'",
    "timestamp": "'2024-02-29 23:59:59.123456'|'1969-12-31 23:59:59'|'infinity'",
    "timestamp(3)": "'2024-02-29 23:59:59.9996'|'2000-01-01'",
    "timestamptz": "'2024-02-29 23:59:59.12+02'|'2000-01-01 00:00:00Z'|'-infinity'",
    "timestamptz(3)": "'2024-02-29 23:59:59.5'",
    "interval": "'1 year 2 mons 3 days 04:05:06.789'|'-1 day'|'00:00:00'",
    "json": "'{\"b\": 1,  \"a\": [1.50, null]}'|'[]'",
    "jsonb": '\'{"b":1,"a":[1.50,null]}\'|\'"s"\'',
    "uuid": "'6f9619ff-8b86-d011-b42d-00c04fc964ff'",
    "bit(1)": "B'1'|B'0'",
    "bit(10)": "B'0000000101'|B'0000000000'",
    "bit varying(9)": "B'101'|B''",
    "inet": "'192.168.1.5/24'|'::1'",
    "cidr": "'10.0.0.0/8'",
    "macaddr": "'08:00:2b:01:02:03'",
    "int4range": "'[1,5]'|'empty'|'(,)'",
    "numrange": "'[1.5,2.5)'",
    "point": "'(1,2.5)'|'(-1e10,0)'",
    "integer[]": "'{1,NULL,3}'|'{}'",
    "text[]": "'{a,\"b c\",NULL}'|'{\"q\"}'",
    "numeric(10,2)[]": "'{1.10,2}'",
    "mood": "'sad'|'ha,ppy'",
}
# What a column may have as a default, by its type.
DEFAULTS: Final[dict[str, str]] = {
    "boolean": "true|false", "smallint": "5", "integer": "5|-7", "bigint": "99", "real": "1.5", "double precision": "2",
    "numeric(10,2)": "1.10", "char(5)": "'b'", "varchar(8)": "'it''s'|'Ann'", "text": "'def'|''",
    "date": "'2020-01-01'|'infinity'",
    "timestamp": "'2020-01-02 03:04:05'|now()", "timestamptz": "now()|'2020-01-02 03:04:05+00'", "time": "'01:02:03'",
    "interval": "'1 day'", "uuid": "'00000000-0000-0000-0000-000000000001'", "jsonb": "'{}'", "mood": "'ok'",
    "timestamp(3)": "'2020-01-02 03:04:05'", "numeric": "2.50", "bytea": "'\\x01'",
}  # fmt: skip


class _Table:
    def __init__(self, name: str, columns: dict[str, str]) -> None:
        self.name, self.columns = name, columns


class _Writer:
    def __init__(self, random: Random, schema: str) -> None:
        self.random, self.schema = random, schema
        self.tables: list[_Table] = []
        self.lines = [f"create schema {schema};"]
        self.count = 0

    def one(self, *choices: str) -> str:
        return self.random.choice(choices)

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def value(self, type: str) -> str:
        if self.random.random() < 0.12:
            return self.one("null", "default")
        return self.random.choice(TYPES[type].split("|"))

    def definition(self, type: str) -> str:
        text = type
        if type in DEFAULTS and self.random.random() < 0.4:
            text += f" default {self.random.choice(DEFAULTS[type].split('|'))}"
        return text + self.one("", "", " not null")

    def create(self) -> None:
        name = f"{self.schema}.{self.fresh('t')}"
        columns = {f"c{i}": self.random.choice(list(TYPES)) for i in range(self.random.randint(1, 6))}
        key = self.one(
            "id int primary key", "id serial primary key", "id int", "id bigserial primary key", "id int unique"
        )
        parts = [key, *(f"{column} {self.definition(type)}" for column, type in columns.items())]
        self.lines.append(f"create table {name}({', '.join(parts)});")
        if ((identity := self.one("", "full", "full", "nothing")) and "primary" not in key) or identity == "full":
            self.lines.append(f"alter table {name} replica identity {identity or 'full'};")
        self.tables.append(_Table(name, columns))

    def insert(self, table: _Table) -> None:
        names = ["id", *table.columns]
        rows = (
            f"({', '.join([str(self.random.randint(1, 12)), *map(self.value, table.columns.values())])})"
            for _ in range(self.random.choice((1, 1, 2, 3)))
        )
        tail = self.one("", "", " on conflict do nothing")
        self.lines.append(f"insert into {table.name}({', '.join(names)}) values {', '.join(rows)}{tail};")

    def update(self, table: _Table) -> None:
        names = self.random.sample(list(table.columns), min(len(table.columns), self.random.choice((1, 1, 2))))
        sets = [f"{name} = {self.value(table.columns[name])}" for name in names]
        if not sets or self.random.random() < 0.1:
            sets = [f"id = id + {self.random.randint(20, 40)}"]
        where = self.one("", f" where id = {self.random.randint(1, 12)}", f" where id > {self.random.randint(1, 12)}")
        self.lines.append(f"update {table.name} set {', '.join(sets)}{where};")

    def delete(self, table: _Table) -> None:
        self.lines.append(f"delete from {table.name} where id {self.one('=', '>')} {self.random.randint(3, 12)};")

    def transaction(self, table: _Table) -> None:
        self.lines.append("begin;")
        self.insert(table)
        if self.random.random() < 0.3:
            self.lines.append("savepoint s;")
            self.update(table)
            self.lines.append("rollback to s;")
        self.update(self.random.choice(self.tables))
        self.lines.append(self.one("commit;", "commit;", "rollback;"))

    def alter(self, table: _Table) -> None:
        name = self.random.choice(list(table.columns)) if table.columns else ""
        match self.random.randint(0, 4):
            case 0 if len(table.columns) > 1:
                del table.columns[name]
                self.lines.append(f"alter table {table.name} drop column {name};")
            case 1 if name:
                new = self.fresh("r")
                table.columns[new] = table.columns.pop(name)
                self.lines.append(f"alter table {table.name} rename column {name} to {new};")
            case 2 if name:
                self.lines.append(f"alter table {table.name} alter {name} {self.one('drop', 'set')} not null;")
            case _:
                new, type = self.fresh("n"), self.random.choice(list(TYPES))
                table.columns[new] = type
                self.lines.append(
                    f"alter table {table.name} add {new} {self.definition(type).replace(' not null', '')};"
                )

    def truncate(self, table: _Table) -> None:
        self.lines.append(f"truncate {table.name};")

    def write(self) -> str:
        for _ in range(self.random.randint(1, 3)):
            self.create()
        actions = [self.insert] * 6 + [self.update] * 6 + [self.delete] * 2 + [self.transaction] * 2 + [self.alter] * 2
        for _ in range(self.random.randint(6, 18)):
            self.random.choice([*actions, self.truncate])(self.random.choice(self.tables))
        return "\n".join([*self.lines, "commit;"]) + "\n"


# Types that scripts use.
PRELUDE: Final = "create type mood as enum('sad', 'ok', 'ha,ppy');\n"


def script(seed: int, schema: str) -> str:
    """A script in a schema of its own; PRELUDE must come before the first one."""
    return _Writer(Random(seed), schema).write()
