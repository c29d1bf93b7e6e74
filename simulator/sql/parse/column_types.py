"""Parses the type of a column with its character set and collation, and reports errors in it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from simulator.errors import UsageError
from simulator.model import ColumnType
from simulator.sources.mysql import type_table as mysql_table
from simulator.sources.mysql import types as mysql_types
from simulator.sql.catalog.servers import WITHOUT_CODEC, Server, default_collation
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.parse.words import Reader

# Types of MariaDB that are not supported.
_MARIADB_TYPES: Final = ("uuid", "inet4", "inet6", "xmltype")
_TYPE_WORDS: Final = frozenset(mysql_table.TYPES) | frozenset(mysql_table.ALIASES)


@dataclass(frozen=True)
class Context:
    """The context of definitions: server, current database, the table's character set and collation."""

    server: Server
    database: str
    charset: str
    collation: str
    old_timestamps: bool


def _type_problem(column: str, spelled: str, context: Context) -> SqlError | None:
    """The server's error for a type with invalid numbers."""
    match = re.match(r"\s*(\w+)[^(]*\(([^)]*)\)", spelled)
    if not match:
        return None
    name = mysql_table.ALIASES.get(match[1].lower(), match[1].lower())
    numbers = [int(number) for number in re.findall(r"\d+", match[2])]
    if name in ("enum", "set"):
        repeated = duplicate(tuple(re.findall(r"'((?:[^']|'')*)'", match[2])), "")
        return SqlError(1291, column, repeated) if repeated else None
    if not numbers:
        return None
    if name in ("decimal", "numeric", "fixed", "float", "double", "real"):
        if len(numbers) > 1 and numbers[1] > numbers[0]:
            return SqlError(1427, column)
        return SqlError(1426, numbers[0], column, 65)
    if name in ("datetime", "timestamp", "time"):
        return SqlError(1426, numbers[0], column, 6)
    if name == "bit":
        return SqlError(1439, column, 64)
    if name in ("char", "binary"):
        return SqlError(1074, column, 255)
    if name in ("varchar", "varbinary"):
        width = mysql_table.CHARSETS.get(context.charset, (4, ""))[0] if name == "varchar" else 1
        return SqlError(1074, column, 65_535 // width)
    return None


def duplicate(labels: tuple[str, ...], collation: str) -> str:
    """The first label that another one repeats under a collation."""
    folded = [label if collation.endswith("_bin") else label.casefold() for label in labels]
    return next((label for label, key in zip(labels, folded, strict=True) if folded.count(key) > 1), "")


def check_charset(charset: str) -> None:
    """Raises SqlError 1115 for a character set that no server has, Unsupported for one without a Python codec."""
    if charset in WITHOUT_CODEC:
        raise Unsupported(f"the character set {charset}")
    if charset not in mysql_table.CHARSETS and charset != "binary":
        raise SqlError(1115, charset)


def check_collation(collation: str, charset: str | None, server: Server) -> None:
    """Raises SqlError 1273 for an unknown collation, 1253 for one of another character set."""
    prefix = collation.partition("_")[0]
    if prefix in WITHOUT_CODEC:
        raise Unsupported(f"the character set {prefix}")
    unknown = "_0900_" in collation if server.id != "mysql-8.0" else "_nopad_" in collation
    unknown = unknown or ("uca1400" in collation and not server.mariadb)
    if (
        unknown
        or (prefix not in mysql_table.CHARSETS and prefix != "binary")
        or (prefix == collation and prefix != "binary")
    ):
        raise SqlError(1273, collation)
    alike = {"utf8mb3": "utf8"}
    if charset and alike.get(prefix, prefix) != alike.get(charset, charset):
        raise SqlError(1253, collation, charset)


def read_type(column: str, words: Reader, context: Context) -> tuple[ColumnType, str, bool]:
    """A column's type with its character set, its collation, and whether it was typed as SERIAL."""
    start = words.position
    typed, stop = [], 0
    for _ in range(4):
        if words.done or words.words[words.position].kind not in ("word",):
            break
        typed.append(words.next().value.lower())
        if " ".join(typed) in _TYPE_WORDS:
            stop = words.position
    if not stop or (context.server.mariadb and typed[: stop - start] == ["geomcollection"]):
        if context.server.mariadb and typed:
            if typed[0] in _MARIADB_TYPES:
                raise Unsupported(f"the type {typed[0]}")
            raise SqlError(4161, typed[0])
        words.position = start
        raise words.problem()
    words.position = stop
    name = " ".join(typed[: stop - start])
    if context.server.id == "mysql-5.7" and name == "geomcollection":
        words.position = start
        raise words.problem()
    if words.peek("("):
        words.brackets()
    collation = ""
    while True:
        if words.one_of("UNSIGNED", "SIGNED", "ZEROFILL", "ASCII", "UNICODE", "BYTE", "BINARY"):
            continue
        if words.one_of("CHARACTER SET", "CHARSET"):
            check_charset(words.next().value.lower())
        elif words.take("COLLATE"):
            collation = words.next().value.lower()
            check_collation(collation, None, context.server)
        else:
            break
    spelled = words.between(start, words.position)
    try:
        type = mysql_types.parse_type(spelled)
    except UsageError as error:
        raise _type_problem(column, spelled, context) or Unsupported(str(error)) from None
    if collation and type.charset:
        check_collation(collation, type.charset, context.server)
    if mysql_table.family(type) in ("text", "enum", "set"):
        if type.charset is None and not collation:
            type, collation = replace(type, charset=context.charset), context.collation
        elif not collation:
            collation = default_collation(type.charset or context.charset, context.server)
        if " binary" in f" {spelled.lower()}" and not collation.endswith("_bin"):
            collation = f"{type.charset}_bin"
    return type, collation, name == "serial"
