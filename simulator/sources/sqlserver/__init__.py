"""SQL Server as a source: one door to the type system, its values, its DDL and its log.

| module | holds |
| --- | --- |
| `type_table` | the table of types: names, numbers, codes, bounds, carriers |
| `types` | types as text: read from Transact-SQL, printed as its tools print them |
| `values` | literals to carrier arrays and back (`times`, `clr`) |
| `corpus` | boundary values and believable defaults of every type |
| `ddl` | statements |
| `log` | log sequence numbers, bytes of a row in the log |

Tables are in the schema `dbo`. Names keep their case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import pyarrow as pa

from simulator.model import ColumnType, TableId
from simulator.sources import mysql
from simulator.sources.sqlserver import values as sqlserver_values
from simulator.sources.sqlserver.corpus import LARGE_BYTES, boundary_values, default_values
from simulator.sources.sqlserver.ddl import ddl
from simulator.sources.sqlserver.log import (
    packed_bytes,
)
from simulator.sources.sqlserver.times import unit_us
from simulator.sources.sqlserver.type_table import (
    ALIASES,
    TYPES,
    SqlServerType,
    arrow_type,
    bounds,
    digits,
    family,
    precision_scale,
)
from simulator.sources.sqlserver.types import STYLES, parse_type, type_text
from simulator.sources.sqlserver.values import format_values, stored

__all__ = [
    "ALIASES",
    "LARGE_BYTES",
    "PORTABLE",
    "SCHEMA",
    "STYLES",
    "TYPES",
    "SqlServerType",
    "arrow_type",
    "boundary_values",
    "bounds",
    "ddl",
    "default_values",
    "digits",
    "family",
    "format_values",
    "from_portable",
    "identifier",
    "packed_bytes",
    "parse_type",
    "parse_values",
    "precision_scale",
    "stored",
    "table_id",
    "type_text",
    "unit_us",
]

SCHEMA: Final = "dbo"


def identifier(name: str) -> str:
    """Names keep their case."""
    return name


def table_id(database: str, name: str) -> TableId:
    """Tables of which nobody says more are in `dbo`."""
    return TableId(database, name, SCHEMA)


def parse_values(texts: Sequence[str | None], type: ColumnType, *, server: str = "sqlserver-2022") -> pa.Array:
    """Literals as carriers, as a server stores them: see `values.parse_values`. Raises ValueError.

    UTF-8 collations came with 2019.
    """
    if type.charset == "utf8" and server == "sqlserver-2016":
        raise ValueError(f"{type.spelled or type.name}: SQL Server 2016 has no UTF-8 collations; 2019 has")
    return sqlserver_values.parse_values(texts, type)


# The portable types of scenarios with SQL Server's names. What is too long for a length in brackets becomes (max);
# numbers without a sign take the next type that holds them; JSON is text, as before 2025.
PORTABLE: Final[Mapping[str, str]] = {
    "bool": "bit",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "uint16": "int",
    "uint32": "bigint",
    "uint64": "decimal(20,0)",
    "decimal": "decimal",
    "float32": "real",
    "float64": "float",
    "string": "nvarchar",
    "text": "nvarchar(max)",
    "bytes": "varbinary",
    "blob": "varbinary(max)",
    "date": "date",
    "time": "time",
    "timestamp": "datetime2",
    "timestamptz": "datetimeoffset",
    "json": "nvarchar(max)",
    "uuid": "uniqueidentifier",
}
_LONGEST: Final = {"nvarchar": 4000, "varbinary": 8000}


def from_portable(text: str) -> ColumnType:
    """The SQL Server type of a portable one; labels of an enum stay with the column as all that it holds.

    >>> [type_text(from_portable(text)) for text in ("string(40)", "string(5000)", "timestamp", "decimal(10,2)")]
    ['nvarchar(40)', 'nvarchar(max)', 'datetime2(0)', 'decimal(10,2)']
    """
    known = mysql.from_portable(text)  # its arguments, checked
    if known.labels:
        longest = max(len(label.encode("utf-16-le")) // 2 for label in known.labels)
        return ColumnType("nvarchar", max(longest, 1), labels=known.labels)
    word = text.partition("(")[0].strip().lower()
    name = PORTABLE[word]
    if name in _LONGEST:
        length = known.length or 1
        return ColumnType(name, length if length <= _LONGEST[name] else None)
    if name in ("time", "datetime2", "datetimeoffset"):
        return ColumnType(name, known.length or 0)
    if name == "decimal":
        name = f"decimal({known.length},{known.scale or 0})"
    type = parse_type(name)
    return ColumnType(type.name, type.length, type.scale)
