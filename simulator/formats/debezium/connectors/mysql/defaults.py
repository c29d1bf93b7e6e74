"""Column defaults: the text in the topic of schema changes, and the default in Connect's schema.

The parser removes the quotes and keeps doubled and escaped characters (`MySqlDefaultValueConverter`). The current time
becomes 1970; an expression is no default.
"""

from __future__ import annotations

import re
from typing import Final

from simulator.formats.debezium.connectors.mysql.types import Definition
from simulator.formats.debezium.schema import Schema
from simulator.formats.debezium.values.cells import base64_of
from simulator.model import Column, ColumnType
from simulator.sources.mysql import type_table
from simulator.sources.source import Source
from simulator.text.json_style import JACKSON_BYTES, quote
from simulator.wire.fields import Cell

NOW: Final = "1970-01-01 00:00:00"
_NOW: Final = re.compile(r"(?:NOW|CURRENT_TIMESTAMP|LOCALTIME|LOCALTIMESTAMP)\b", re.IGNORECASE)
_BITS: Final = re.compile(r"b'([01]*)'", re.IGNORECASE)
DOUBLE: Final = ColumnType("double")
_GREATEST: Final = 2**63 - 1


def text(column: Column) -> str | None:
    """`defaultValueExpression`.

    >>> from simulator.model import ColumnType
    >>> defaults = ("'it''s'", "b'1'", "NULL", "now()")
    >>> [text(Column("a", ColumnType("varchar"), default=default)) for default in defaults]
    ["it''s", '1', None, '1970-01-01 00:00:00']
    """
    default = column.default
    if default is None or default.upper() == "NULL" or default.startswith("("):
        return None
    if _NOW.match(default):
        return NOW
    if bits := _BITS.fullmatch(default):
        return bits[1]
    if default[0] in "'\"":
        return default[1:-1]
    return default.lower() if default.upper() in ("TRUE", "FALSE") else default


def json(column: Column, read: Definition, schema: Schema, cell: Cell, source: Source) -> str:
    """The default as the converter writes it; "" without a default."""
    default = text(column)
    if default is None:
        return ""
    family = type_table.family(column.type)
    if default == NOW and _NOW.match(column.default or ""):
        return '"1970-01-01T00:00:00Z"' if schema.type == "string" else "0"
    if family in ("enum", "set", "text", "json"):
        return quote(default, JACKSON_BYTES)
    if family == "binary":
        return quote(base64_of(default.encode()) if schema.type == "bytes" else default, JACKSON_BYTES)
    if default in ("true", "false"):
        return default if schema.type == "boolean" else str(int(default == "true"))
    if schema.type == "int64" and family == "integer":
        return str(min(int(default), _GREATEST))
    literal = f"b'{default}'" if family == "bit" else default
    # FLOAT(M,D) is a double to the connector: its default is neither rounded nor of 32 bits
    type = DOUBLE if family == "float" and schema.type == "double" else column.type
    try:
        array = source.parse_values([literal], type)
    except ValueError:
        return ""
    value = cell.text(array)[0].as_py()
    if value is None:  # a date that is none
        return "" if column.nullable else '"1970-01-01T00:00:00Z"' if schema.type == "string" else "0"
    return f'"{value}"' if cell.quoted else str(value)
