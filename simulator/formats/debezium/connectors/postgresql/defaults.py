"""Column defaults of PostgreSQL as defaults of Connect's schema (`PostgresDefaultValueConverter`).

The server prints an expression; a constant is taken from it, and a function gives the value of zero, or 1970.
"""

from __future__ import annotations

import re
from typing import Final

from simulator.formats.debezium.values.cells import Converted
from simulator.model import Column
from simulator.sources.postgresql import type_table
from simulator.sources.source import Source
from simulator.text.json_style import JACKSON_BYTES, escape, quote

_TEXT: Final = re.compile(r"'((?:[^']|'')*)'(?:::.+)?", re.DOTALL)
_PLAIN: Final = re.compile(r"\(?(-?[\d.]+|true|false)\)?(?:::.+)?")
# Literals that functions stand for, by family.
_ZERO: Final = {
    "integer": "0", "float": "0", "decimal": "0", "boolean": "false", "date": "1970-01-01", "time": "00:00:00",
    "datetime": "1970-01-01 00:00:00", "timestamptz": "1970-01-01 00:00:00+00",
}  # fmt: skip
# Days of Java's first and last date, cut to 32 bits, which stand for infinite dates.
INFINITE_DATES: Final = {"infinity": 169_560_311, "-infinity": -170_999_002}
# Types whose defaults the connector does not read.
_UNREAD: Final = frozenset(("binary", "array"))


def literal(column: Column) -> str | None:
    """The text of a column's default; None without one.

    >>> from simulator.model import ColumnType
    >>> defaults = ("'it''s'::text", "1.10", "'-5'::integer", "now()", "NULL::text")
    >>> [literal(Column("a", ColumnType("timestamp without time zone"), default=default)) for default in defaults]
    ["it's", '1.10', '-5', '1970-01-01 00:00:00', None]
    """
    if column.default is None:
        return None
    if text := _TEXT.fullmatch(column.default):
        return text[1].replace("''", "'")
    if plain := _PLAIN.fullmatch(column.default):
        return plain[1]
    return _ZERO.get(type_table.family(column.type)) if "(" in column.default else None


def json(column: Column, converted: Converted, source: Source) -> str:
    """The default as the converter writes it; "" without a default."""
    text, schema, cell = literal(column), converted.schema, converted.cell
    if text is None or type_table.family(column.type) in _UNREAD or schema.type == "struct":
        return ""
    if text in INFINITE_DATES and schema.name.endswith(".Date"):
        return str(INFINITE_DATES[text])
    if type_table.family(column.type) == "text":  # not padded
        return quote(text, JACKSON_BYTES)
    texts = cell.text(source.parse_values([text], column.type))
    value = (escape(texts, JACKSON_BYTES) if cell.escaped else texts)[0].as_py()
    if value is None:
        return ""
    return f'"{value}"' if cell.quoted else str(value)
