"""MySQL and MariaDB as sources: one door to the type system, its values, its DDL and its binary log.

| module | holds |
| --- | --- |
| `type_table` | the table of types: names, codes, bounds, carriers |
| `types` | types as text: read from SQL, printed as servers print them |
| `values` | literals to carrier arrays and back (`json`, `geometry`) |
| `corpus` | boundary values and believable defaults of every type |
| `binlog` | bytes of a row in the binary log, positions in it |
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from simulator.model import ColumnType, TableId
from simulator.sources import portable
from simulator.sources.mysql import values as mysql_values
from simulator.sources.mysql.binlog import (
    packed_bytes,
    packed_row_bytes,
)
from simulator.sources.mysql.corpus import CORPUS_TYPES, LARGE_BYTES, boundary_values, default_values
from simulator.sources.mysql.ddl import ddl
from simulator.sources.mysql.geometry import NAMES as GEOMETRIES
from simulator.sources.mysql.json import normalise
from simulator.sources.mysql.types import (
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
from simulator.sources.mysql.values import cut, format_values

__all__ = [
    "ALIASES",
    "CHARSETS",
    "CORPUS_TYPES",
    "DEFAULT_CHARSET",
    "GEOMETRIES",
    "LARGE_BYTES",
    "PORTABLE",
    "STYLES",
    "TYPES",
    "VERSIONS",
    "MysqlType",
    "Version",
    "arrow_type",
    "boundary_values",
    "bounds",
    "cut",
    "ddl",
    "default_values",
    "family",
    "format_values",
    "from_portable",
    "identifier",
    "packed_bytes",
    "packed_row_bytes",
    "parse_type",
    "parse_values",
    "precision_scale",
    "quote",
    "table_id",
    "type_text",
    "unquote",
]


def identifier(name: str) -> str:
    """Names keep their case."""
    return name


def table_id(database: str, name: str) -> TableId:
    """A database is a schema."""
    return TableId(database, name)


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
        Version("oceanbase-mysql-4.3", "show_create_57"),
    )
}


def parse_values(texts: Sequence[str | None], type: ColumnType, *, server: str = "mysql-8.0") -> pa.Array:
    """Literals as carriers, as a server stores them: see `values.parse_values`. Raises ValueError.

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


def from_portable(text: str) -> ColumnType:
    """The MySQL type of a portable one; nothing is `spelled`, since nobody typed it for MySQL.

    >>> type_text(from_portable("string(40)"), style="show_create_80")
    'varchar(40)'
    >>> from_portable("timestamp(3)").name, from_portable("uuid").length, from_portable("enum('a','b')").labels
    ('datetime', 36, ('a', 'b'))
    """
    if re.match(r"\s*enum\s*\(", text, re.IGNORECASE):
        return _unspelled(parse_type(text))
    _, target, given = portable.parsed(text, PORTABLE)
    return _unspelled(parse_type(target + (f"({','.join(given)})" if given else "")))


def _unspelled(type: ColumnType) -> ColumnType:
    return ColumnType(type.name, type.length, type.scale, type.unsigned, type.zerofill, type.charset, type.labels)
