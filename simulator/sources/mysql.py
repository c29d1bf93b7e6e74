"""MySQL and MariaDB as sources: one door to the type system, its values, its DDL and its binary log.

| module | holds |
| --- | --- |
| `mysql_table` | the table of types: names, codes, bounds, carriers |
| `mysql_types` | types as text: read from SQL, printed as servers print them |
| `mysql_values` | literals to carrier arrays and back (`mysql_json`, `mysql_geometry`) |
| `mysql_corpus` | boundary values and believable defaults of every type |
| `mysql_binlog` | bytes of a row in the binary log, positions in it |
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from simulator.errors import UsageError, closest
from simulator.model import Column, ColumnType, Table
from simulator.sources import mysql_values
from simulator.sources.mysql_binlog import (
    binlog_file,
    binlog_file_number,
    binlog_offset,
    gtid,
    gtid_set,
    packed_bytes,
    packed_row_bytes,
)
from simulator.sources.mysql_corpus import LARGE_BYTES, boundary_values, default_values
from simulator.sources.mysql_json import normalise
from simulator.sources.mysql_types import (
    ALIASES,
    CHARSETS,
    DEFAULT_CHARSET,
    STYLES,
    TYPES,
    MysqlType,
    arrow_type,
    bounds,
    family,
    parse_type,
    precision_scale,
    quote,
    type_text,
    unquote,
)
from simulator.sources.mysql_values import format_values

__all__ = [
    "ALIASES",
    "CHARSETS",
    "DEFAULT_CHARSET",
    "LARGE_BYTES",
    "PORTABLE",
    "STYLES",
    "TYPES",
    "VERSIONS",
    "MysqlType",
    "Version",
    "arrow_type",
    "binlog_file",
    "binlog_file_number",
    "binlog_offset",
    "boundary_values",
    "bounds",
    "create_table_sql",
    "ddl_column",
    "default_values",
    "family",
    "format_values",
    "from_portable",
    "gtid",
    "gtid_set",
    "packed_bytes",
    "packed_row_bytes",
    "parse_type",
    "parse_values",
    "precision_scale",
    "quote",
    "quote_name",
    "type_text",
    "unquote",
]


@dataclass(frozen=True, slots=True)
class Version:
    """What differs between the servers: how SHOW CREATE TABLE prints types, which value of a repeated JSON key stays,
    whether JSON is a type of its own (in MariaDB it is checked text, kept as written)."""

    id: str
    type_style: str
    json_duplicates: str = "last"
    json_is_text: bool = False


VERSIONS: Final[Mapping[str, Version]] = {
    version.id: version
    for version in (
        Version("mysql-8.0", "show_create_80"),
        Version("mysql-5.7", "show_create_57", json_duplicates="first"),
        Version("mariadb-10.11", "show_create_57", json_is_text=True),
    )
}


def parse_values(texts: Sequence[str | None], type: ColumnType, *, server: str = "mysql-8.0") -> pa.Array:
    """Literals as carriers, as a server stores them: see `mysql_values.parse_values`. Raises ValueError.

    >>> parse_values(['{"a":1,"a":2}'], parse_type("json"), server="mysql-5.7").to_pylist()
    ['{"a": 1}']
    >>> parse_values(['{"a":1,"a":2}'], parse_type("json"), server="mariadb-10.11").to_pylist()
    ['{"a":1,"a":2}']
    """
    values = mysql_values.parse_values(texts, type)
    version = VERSIONS[server]
    if family(type) != "json" or (version.json_duplicates == "last" and not version.json_is_text):
        return values
    if version.json_is_text:
        return pa.array(texts, pa.string())
    kept = [None if text is None else normalise(text, duplicates=version.json_duplicates) for text in texts]
    return pa.array(kept, pa.string())


# The portable types of scenarios: how many arguments, and MySQL's type with them put in.
PORTABLE: Final[Mapping[str, tuple[tuple[int, ...], str]]] = {
    "bool": ((0,), "tinyint(1)"),
    "int16": ((0,), "smallint"),
    "int32": ((0,), "int"),
    "int64": ((0,), "bigint"),
    "uint16": ((0,), "smallint unsigned"),
    "uint32": ((0,), "int unsigned"),
    "uint64": ((0,), "bigint unsigned"),
    "decimal": ((0, 1, 2), "decimal"),
    "float32": ((0,), "float"),
    "float64": ((0,), "double"),
    "string": ((1,), "varchar"),
    "text": ((0,), "text"),
    "bytes": ((1,), "varbinary"),
    "blob": ((0,), "blob"),
    "date": ((0,), "date"),
    "time": ((0, 1), "time"),
    "timestamp": ((0, 1), "datetime"),
    "timestamptz": ((0, 1), "timestamp"),
    "json": ((0,), "json"),
    "uuid": ((0,), "char(36)"),
}
_PORTABLE_TEXT: Final = re.compile(r"\s*([A-Za-z0-9_]+)\s*(?:\(\s*(\d+(?:\s*,\s*\d+)*)\s*\))?\s*")


def from_portable(text: str) -> ColumnType:
    """The MySQL type of a portable one; nothing is `spelled`, since nobody typed it for MySQL.

    >>> type_text(from_portable("string(40)"), style="show_create_80")
    'varchar(40)'
    >>> from_portable("timestamp(3)").name, from_portable("uuid").length, from_portable("enum('a','b')").labels
    ('datetime', 36, ('a', 'b'))
    """
    if re.match(r"\s*enum\s*\(", text, re.IGNORECASE):
        return _unspelled(parse_type(text))
    match = _PORTABLE_TEXT.fullmatch(text)
    name = match[1].lower() if match else text.strip()
    if not match or name not in PORTABLE:
        guess = closest(name, [*PORTABLE, "enum"])
        raise UsageError(f"{name!r} is not a portable type." + (f" Did you mean {guess!r}?" if guess else ""))
    counts, target = PORTABLE[name]
    given = match[2].split(",") if match[2] else []
    if len(given) not in counts:
        example = {"string": "string(40)", "bytes": "bytes(16)"}.get(name, name)
        raise UsageError(f"{text!r}: {name} wants {' or '.join(map(str, counts))} arguments, as in {example}.")
    return _unspelled(parse_type(target + (f"({','.join(given)})" if given else "")))


def _unspelled(type: ColumnType) -> ColumnType:
    return ColumnType(type.name, type.length, type.scale, type.unsigned, type.zerofill, type.charset, type.labels)


def quote_name(name: str) -> str:
    """An identifier between back-quotes: `` `a``b` ``."""
    return "`" + name.replace("`", "``") + "`"


def ddl_column(column: Column) -> str:
    """A column's definition: `` `qty` int NOT NULL ``. A type that was typed keeps its text, character set and all.

    >>> ddl_column(Column("qty", parse_type("INT(5) unsigned"), nullable=False))
    '`qty` INT(5) unsigned NOT NULL'
    >>> ddl_column(Column("at", parse_type("timestamp")))
    '`at` timestamp NULL'
    """
    type = column.type
    text = type.spelled or _definition(type)
    if not column.nullable:
        return f"{quote_name(column.name)} {text} NOT NULL"
    # A TIMESTAMP is NOT NULL unless it says otherwise (explicit_defaults_for_timestamp was off up to 5.7).
    return f"{quote_name(column.name)} {text}" + (" NULL" if type.name == "timestamp" else "")


def _definition(type: ColumnType) -> str:
    """The type as a statement says it: labels as literals that a server reads back, and the character set."""
    if type.labels:
        text = f"{type.name}({','.join(quote(label) for label in type.labels)})"
    else:
        text = type_text(type, style="show_create_80").replace("geomcollection", "geometrycollection")
    return text + (f" CHARACTER SET {type.charset}" if type.charset else "")


def create_table_sql(table: Table) -> str:
    """A CREATE TABLE statement on one line, without the database, as a client writes it.

    >>> from simulator.model import TableId
    >>> columns = (Column("id", parse_type("bigint"), nullable=False), Column("name", parse_type("varchar(20)")))
    >>> create_table_sql(Table(TableId("shop", "users"), columns, ("id",)))
    'CREATE TABLE `users` (`id` bigint NOT NULL, `name` varchar(20), PRIMARY KEY (`id`))'
    """
    parts = [ddl_column(column) for column in table.columns]
    if table.primary_key:
        parts.append(f"PRIMARY KEY ({', '.join(quote_name(name) for name in table.primary_key)})")
    return f"CREATE TABLE {quote_name(table.id.name)} ({', '.join(parts)})"
