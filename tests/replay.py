"""A consumer of Canal's and DTS's JSON messages that keeps the tables and believes nothing it is told.

It knows the messages and a little SQL, and not how they were made: every row that a message shows is held against the
row that earlier messages left. Values are compared by what they mean, so `12.5` of a decimal is `12.50`.
"""

from __future__ import annotations

import json
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from typing import Any, TypeAlias

Value: TypeAlias = Any
Row: TypeAlias = dict[str, Value]
Key: TypeAlias = tuple[Value, ...]
Parse: TypeAlias = Callable[[str], Value]

ROW_TYPES = ("INIT", "INSERT", "UPDATE", "DELETE")


class Contradiction(AssertionError):
    """A message that cannot follow the ones before it."""


# ------------------------------------------------------------------------------------------------------------- values


def moment(text: str) -> str:
    """A date with time, or a time, without the zeros at the end of its fraction.

    >>> moment("2024-05-01 10:00:00.350"), moment("10:00:00.000"), moment("10:00:00")
    ('2024-05-01 10:00:00.35', '10:00:00', '10:00:00')
    """
    return text.rstrip("0").rstrip(".") if "." in text else text


def single(text: str) -> float:
    """The float nearest to a text, as the double that it is."""
    return float(struct.unpack("f", struct.pack("f", float(text)))[0])


def filled(text: str) -> str:
    """A BINARY value without the zero bytes that fill it up."""
    return text.rstrip("\0")


PARSERS: Mapping[str, Parse] = {
    **dict.fromkeys(("tinyint", "smallint", "mediumint", "int", "bigint", "year", "bit"), int),
    **dict.fromkeys(("datetime", "timestamp", "time"), moment),
    "decimal": Decimal,
    "float": single,
    "double": float,
    "binary": filled,
    "json": json.loads,
}


@cache
def parser(type: str) -> Parse:
    """What reads the texts of a MySQL type as `mysqlType` names it: `bigint unsigned`, `decimal(10,2)`, `enum`."""
    name, _, rest = type.lower().partition("(")
    name = name.split()[0]
    # Canal, which writes the labels into the type, writes numbers as values: of the label, or a bit for each of a set.
    labels = [label.replace("''", "'") for label in re.findall(r"'((?:[^']|'')*)'", type[len(name) :])] if rest else []
    if name == "enum" and labels:
        return lambda text: ["", *labels][int(text)]
    if name == "set" and labels:
        return lambda text: ",".join(label for bit, label in enumerate(labels) if int(text) >> bit & 1)
    return PARSERS.get(name, str)


# ------------------------------------------------------------------------------------------------------------- tables


@dataclass
class Table:
    """What the messages so far left: column names in order (None: not yet known) and the rows by their keys."""

    columns: list[str] | None = None
    key: tuple[str, ...] = ()
    rows: dict[Key, Row] = field(default_factory=dict)

    def at(self, row: Row) -> Key:
        return tuple([row[name] for name in self.key])

    def insert(self, row: Row) -> None:
        key = self.at(row)
        if key in self.rows:
            raise Contradiction(f"a row with the key {key} is there already: {self.rows[key]}")
        self.rows[key] = row

    def remove(self, row: Row) -> None:
        key = self.at(row)
        held = self.rows.pop(key, None)
        if held is None:
            raise Contradiction(f"there is no row with the key {key}")
        if held != row:
            differ = {n: (held.get(n), row.get(n)) for n in {*held, *row} if held.get(n) != row.get(n)}
            raise Contradiction(f"the row with the key {key} is another (held, told): {differ}")


class Replay:
    """Tables by `database.table`, made of messages one after another. `rows` and `statements` count what they told."""

    def __init__(self) -> None:
        self.tables: dict[str, Table] = {}
        self.rows: Counter[str] = Counter()
        self.statements = 0
        self._readers: dict[tuple[tuple[str, str], ...], list[tuple[str, Parse]]] = {}

    def state(self) -> dict[str, dict[Key, Row]]:
        """The rows of all tables that have any; key columns in the order of their names."""
        return {name: table.rows for name, table in self.tables.items() if table.rows}

    def all(self, messages: Iterable[Mapping[str, Any]]) -> None:
        for number, message in enumerate(messages):
            try:
                self.apply(message)
            except Contradiction as error:
                raise Contradiction(f"message {number}: {error}\n{json.dumps(message, ensure_ascii=False)}") from None

    def apply(self, message: Mapping[str, Any]) -> None:
        """One message. Raises Contradiction."""
        if message["isDdl"]:
            self.statements += 1
            self._statement(message["sql"], message["database"])
            return
        kind, data, old = message["type"], message["data"], message.get("old")
        if kind not in ROW_TYPES:
            raise Contradiction(f"{kind!r} is no type of a message with rows")
        name = f"{message['database']}.{message['table']}"
        table = self.tables.setdefault(name, Table())
        key = tuple(sorted(message["pkNames"]))
        columns = list(message["mysqlType"])
        if table.columns is None:
            table.columns, table.key = columns, key
        if (table.columns, table.key) != (columns, key) or list(message["sqlType"]) != columns:
            raise Contradiction(f"{name} has the columns {table.columns} and the key {table.key}")
        if (old is None) != (kind != "UPDATE") or (old is not None and len(old) != len(data)) or not data:
            raise Contradiction(f"{kind} with data {data!r} and old {old!r}")
        self.rows[kind] += len(data)
        read = self._reader(message["mysqlType"])
        images = [self._row(read, columns, image) for image in data]
        if kind == "UPDATE":
            # All rows of a message left their old places before they take their new ones, as in the statement.
            for image, before in zip(images, old, strict=True):
                parts = {part: parse for part, parse in read if part in before}
                if list(parts) != list(before):
                    raise Contradiction(f"old has the columns {list(before)}")
                texts = {part: None if text is None else parts[part](text) for part, text in before.items()}
                table.remove({**image, **texts})
        for image in images:
            if kind == "DELETE":
                table.remove(image)
            else:
                table.insert(image)

    def _reader(self, types: Mapping[str, str]) -> list[tuple[str, Parse]]:
        known = tuple(types.items())
        if known not in self._readers:
            self._readers[known] = [(name, parser(type)) for name, type in known]
        return self._readers[known]

    @staticmethod
    def _row(read: list[tuple[str, Parse]], columns: list[str], image: Mapping[str, str | None]) -> Row:
        if list(image) != columns:
            raise Contradiction(f"a row has the columns {list(image)}, not {columns}")
        return {name: None if (text := image[name]) is None else parse(text) for name, parse in read}

    # ---------------------------------------------------------------------------------------------------- statements

    def _statement(self, sql: str, database: str) -> None:
        for pattern, run in STATEMENTS.items():
            if match := re.fullmatch(pattern, sql, re.IGNORECASE | re.DOTALL):
                run(self, database, {name: unquoted(text) for name, text in match.groupdict().items() if text})
                return
        raise Contradiction(f"the statement {sql!r} is not understood")

    def table(self, database: str, name: str) -> Table:
        return self.tables.setdefault(f"{database}.{name}", Table())

    def add_column(self, database: str, said: Mapping[str, str]) -> None:
        table = self.table(database, said["table"])
        default: Value = None
        if "default" in said and said["default"].upper() != "NULL":
            text = said["default"]
            text = text[1:-1].replace("''", "'") if text.startswith("'") else text
            # a label is written as such here, also where messages have its number
            kind = said["type"].split("(")[0]
            default = text if kind.lower() in ("enum", "set") else parser(said["type"])(text)
        for row in table.rows.values():
            row[said["column"]] = default
        if table.columns is not None:
            after = said.get("after")
            table.columns.insert(table.columns.index(after) + 1 if after else len(table.columns), said["column"])

    def rename_column(self, database: str, said: Mapping[str, str]) -> None:
        table, old, new = self.table(database, said["table"]), said["column"], said["to"]
        for row in table.rows.values():
            row[new] = row.pop(old)
        if table.columns is not None:
            table.columns[table.columns.index(old)] = new
        if old in table.key:
            table.key = tuple(sorted(new if name == old else name for name in table.key))
            table.rows = {table.at(row): row for row in table.rows.values()}

    def drop_column(self, database: str, said: Mapping[str, str]) -> None:
        table = self.table(database, said["table"])
        for row in table.rows.values():
            del row[said["column"]]
        if table.columns is not None:
            table.columns.remove(said["column"])

    def create_table(self, database: str, said: Mapping[str, str]) -> None:
        if self.table(database, said["table"]).rows:
            raise Contradiction(f"{said['table']} is there already")

    def rename_table(self, database: str, said: Mapping[str, str]) -> None:
        self.tables[f"{database}.{said['to']}"] = self.tables.pop(f"{database}.{said['table']}", Table())

    def truncate(self, database: str, said: Mapping[str, str]) -> None:
        self.table(database, said["table"]).rows.clear()

    def drop_table(self, database: str, said: Mapping[str, str]) -> None:
        self.tables.pop(f"{database}.{said['table']}", None)

    def drop_database(self, database: str, said: Mapping[str, str]) -> None:
        for name in [name for name in self.tables if name.startswith(f"{said['database']}.")]:
            del self.tables[name]

    def nothing(self, database: str, said: Mapping[str, str]) -> None:
        """Statements that change no row, and no column but its type, which each message tells anew."""


def unquoted(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def _name(group: str) -> str:
    return rf"(?P<{group}>`(?:[^`]|``)+`|[^\s`(),]+)"


_TYPE = r"(?P<type>\w+(?:\s*\([^)]*\))?(?:\s+UNSIGNED)?)"
_DEFAULT = r"(?:\s+DEFAULT\s+(?P<default>'(?:[^']|'')*'|\S+))?"
_ALTER = rf"ALTER TABLE {_name('table')}"
STATEMENTS: Mapping[str, Callable[[Replay, str, Mapping[str, str]], None]] = {
    rf"{_ALTER} ADD COLUMN {_name('column')} {_TYPE}(?:(?! DEFAULT ).)*?{_DEFAULT}(?: AFTER {_name('after')})?": (
        Replay.add_column
    ),
    rf"{_ALTER} CHANGE COLUMN {_name('column')} {_name('to')} .+": Replay.rename_column,
    rf"{_ALTER} DROP COLUMN {_name('column')}": Replay.drop_column,
    rf"{_ALTER} MODIFY COLUMN .+": Replay.nothing,
    r"(CREATE|DROP) (UNIQUE )?INDEX .+": Replay.nothing,
    rf"CREATE TABLE {_name('table')} .+": Replay.create_table,
    rf"RENAME TABLE {_name('table')} TO {_name('to')}": Replay.rename_table,
    rf"TRUNCATE TABLE {_name('table')}": Replay.truncate,
    rf"DROP TABLE {_name('table')}": Replay.drop_table,
    r"CREATE DATABASE .+": Replay.nothing,
    rf"DROP DATABASE {_name('database')}": Replay.drop_database,
}


def messages(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Messages of a file, one a line."""
    return (json.loads(line) for line in lines)
