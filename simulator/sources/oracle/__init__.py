"""Oracle, and OceanBase in Oracle mode, as sources: one door to the type system, its values, its DDL and its log.

| module | holds |
| --- | --- |
| `type_table` | the table of types: names, codes, bounds, carriers |
| `types` | types as text: read from SQL, printed as the data dictionary prints them |
| `values` | literals to carrier arrays and back (`times`) |
| `corpus` | boundary values and believable defaults of every type |
| `ddl` | DDL as a DBA types it |
| `log` | SCNs, transaction ids, ROWIDs, OceanBase's numbers |

What the systems and versions differ in is said by `SYSTEMS`; the functions of this module are those of 21c, which knows
all types.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from simulator.errors import UsageError
from simulator.model import ColumnType, TableId
from simulator.sources import portable
from simulator.sources.oracle import type_table as oracle_table
from simulator.sources.oracle import values as oracle_values
from simulator.sources.oracle.corpus import CORPUS_TYPES, LARGE_BYTES, boundary_values, default_values
from simulator.sources.oracle.ddl import ddl
from simulator.sources.oracle.log import packed_bytes
from simulator.sources.oracle.types import (
    ALIASES,
    STYLES,
    TYPES,
    OracleType,
    arrow_type,
    family,
    most_bytes,
    number_digits,
    parse_type,
    type_text,
)
from simulator.sources.oracle.values import format_values, generated, microseconds, number_text, stored, unit_us

__all__ = [
    "ALIASES",
    "CORPUS_TYPES",
    "LARGE_BYTES",
    "PORTABLE",
    "STYLES",
    "SYSTEMS",
    "TYPES",
    "OracleSystem",
    "OracleType",
    "arrow_type",
    "boundary_values",
    "ddl",
    "default_values",
    "family",
    "format_values",
    "from_portable",
    "identifier",
    "most_bytes",
    "number_digits",
    "number_text",
    "packed_bytes",
    "parse_type",
    "parse_values",
    "stored",
    "table_id",
    "type_system",
    "type_text",
]

# The database (a service or pluggable database) of an Oracle source; OceanBase's tenant stands in that place.
DATABASE: Final = "ORCL"

# The portable types of scenarios: how many arguments, and Oracle's type with them put in. A string counts characters;
# a time of day has no type of its own. `json` and longer strings and bytes are below.
PORTABLE: Final[Mapping[str, tuple[tuple[int, ...], str]]] = {
    "bool": ((0,), "number(1)"),
    "int16": ((0,), "number(5)"),
    "int32": ((0,), "number(10)"),
    "int64": ((0,), "number(19)"),
    "uint16": ((0,), "number(5)"),
    "uint32": ((0,), "number(10)"),
    "uint64": ((0,), "number(20)"),
    "decimal": ((0, 1, 2), "number({})"),
    "float32": ((0,), "binary_float"),
    "float64": ((0,), "binary_double"),
    "string": ((1,), "varchar2({} char)"),
    "text": ((0,), "clob"),
    "bytes": ((1,), "raw({})"),
    "blob": ((0,), "blob"),
    "date": ((0,), "date"),
    "time": ((0, 1), "interval day(2) to second({})"),
    "timestamp": ((0, 1), "timestamp({})"),
    "timestamptz": ((0, 1), "timestamp({}) with local time zone"),
    "json": ((0,), "json"),
    "uuid": ((0,), "char(36)"),
}
# What stands in the braces if nothing is said: as many digits as a portable type of that name has.
_NOTHING_SAID: Final = {"decimal": "10,0", "time": "0", "timestamp": "0", "timestamptz": "0"}
_ENUM: Final = re.compile(r"\s*enum\s*\(((?:\s*'(?:[^']|'')*'\s*,?)+)\)\s*", re.IGNORECASE)
# The longest text and RAW that a column of a table of the standard size holds.
MOST_STRING: Final = 4000
MOST_RAW: Final = 2000


def identifier(name: str) -> str:
    """A name typed without quotes is stored in capitals."""
    return name.upper()


def document_style(type: ColumnType) -> str:
    """A JSON column is printed without blanks, with its members in the order in which they came."""
    return "compact" if type.name == "json" else "sorted"


@dataclass(frozen=True)
class OracleSystem:
    """The type system of one Oracle or OceanBase in one version: what this module's functions say, and what differs.

    `database` stands before the schema of every table. `most_text` are the bytes of the longest VARCHAR2: before 12c,
    and since then unless the server says MAX_STRING_SIZE = EXTENDED, it is 4000.
    """

    id: str
    title: str
    database: str = DATABASE
    most_text: int = 32_767

    ddl = ddl
    document_style = staticmethod(document_style)
    family = staticmethod(family)
    identifier = staticmethod(identifier)
    arrow_type = staticmethod(arrow_type)
    boundary_values = staticmethod(boundary_values)
    default_values = staticmethod(default_values)
    format_values = staticmethod(format_values)
    type_text = staticmethod(type_text)
    packed_bytes = staticmethod(packed_bytes)
    stored = staticmethod(stored)
    generated = staticmethod(generated)
    unit_us = staticmethod(unit_us)
    microseconds = staticmethod(microseconds)

    @property
    def TYPES(self) -> Mapping[str, OracleType]:
        """The types that this system has."""
        return {name: row for name, row in oracle_table.TYPES.items() if self.id.startswith(row.sources)}

    @property
    def CORPUS_TYPES(self) -> tuple[str, ...]:
        return tuple(text for text in CORPUS_TYPES if parse_type(text).name in self.TYPES)

    def table_id(self, database: str, name: str) -> TableId:
        """A database of a scenario is a schema: `ORCL.SHOP.ORDERS`."""
        return TableId(self.database, identifier(name), identifier(database))

    def parse_type(self, text: str) -> ColumnType:
        type = parse_type(text)
        if type.name not in self.TYPES:
            raise UsageError(f"{text.strip()!r}: {self.title} has no type {type.name.upper()}.")
        if type.name in ("varchar2", "nvarchar2", "raw") and (type.length or 0) > self.most_text:
            raise UsageError(f"{text.strip()!r}: {self.title} holds {self.most_text} bytes in a {type.name.upper()}.")
        return type

    def parse_values(self, texts: Sequence[str | None], type: ColumnType, *, server: str = "") -> pa.Array:
        """Literals as carriers: see `values.parse_values`. Raises ValueError."""
        return oracle_values.parse_values(texts, type)

    def from_portable(self, text: str) -> ColumnType:
        """The type of a portable one; nothing is `spelled`, since nobody typed it for Oracle.

        An enum is a VARCHAR2 that a check constraint keeps to the labels; JSON is a CLOB where there is no such type.

        >>> type_text(SYSTEMS["oracle-19c"].from_portable("string(40)"))
        'VARCHAR2(40 CHAR)'
        >>> [type_text(SYSTEMS[id].from_portable("json")) for id in ("oracle-19c", "oracle-21c")]
        ['CLOB', 'JSON']
        >>> SYSTEMS["oracle-19c"].from_portable("enum('a','bc')").labels
        ('a', 'bc')
        """
        if match := _ENUM.fullmatch(text):
            labels = tuple(label.replace("''", "'") for label in re.findall(r"'((?:[^']|'')*)'", match[1]))
            longest = max(map(len, labels))
            if not longest:
                raise UsageError(f"{text.strip()!r}: an empty label is null in {self.title}.")
            return ColumnType("varchar2", longest, labels=labels, characters=True)
        name, target, given = portable.parsed(text, PORTABLE)
        if (name == "json" and "json" not in self.TYPES) or (name == "string" and int(given[0]) > MOST_STRING):
            target = "clob"
        elif name == "bytes" and int(given[0]) > MOST_RAW:
            target = "blob"
        type = parse_type(target.format(",".join(part.strip() for part in given) or _NOTHING_SAID.get(name, "")))
        return ColumnType(type.name, type.length, type.scale, characters=type.characters)


SYSTEMS: Final[Mapping[str, OracleSystem]] = {
    system.id: system
    for system in (
        OracleSystem("oracle-19c", "Oracle 19c"),
        OracleSystem("oracle-21c", "Oracle 21c"),
        OracleSystem("oracle-11g", "Oracle 11g", most_text=4000),
        OracleSystem("oceanbase-oracle-4.3", "OceanBase in Oracle mode", database="ORCL"),
    )
}


def type_system(source: str) -> OracleSystem:
    """The type system of a source: `type_system("oracle-19c")`."""
    return SYSTEMS[source]


_DEFAULT: Final = SYSTEMS["oracle-21c"]
from_portable = _DEFAULT.from_portable
parse_values = _DEFAULT.parse_values
table_id = _DEFAULT.table_id
