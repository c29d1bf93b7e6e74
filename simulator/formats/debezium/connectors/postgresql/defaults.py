"""Column defaults of PostgreSQL as defaults of Connect's schema (`PostgresDefaultValueConverter`).

The server prints an expression, of which the connector takes the first text: `('a'::text || 'b'::text)` is a. Functions
give zero, 1970 or "", and other expressions no default.
"""

from __future__ import annotations

import re
from typing import Final

from simulator.formats.debezium.values.cells import Converted
from simulator.model import Column
from simulator.sources.postgresql import type_table
from simulator.sources.source import Source
from simulator.text.json_style import JACKSON_BYTES, escape, quote

# What the connector looks for, in this order: a function at the beginning, a text anywhere, else it takes all.
_FUNCTION: Final = re.compile(r"\(?[\w.]+\(.*\)|CURRENT_(?:DATE|TIME|TIMESTAMP)\b|LOCALTIME(?:STAMP)?\b", re.DOTALL)
_TEXT: Final = re.compile(r"'((?:[^']|'')*)'")
_NULL: Final = re.compile(r"NULL(?:::.+)?")
# Literals that functions stand for, by family.
_ZERO: Final = {
    "integer": "0", "float": "0", "decimal": "0", "boolean": "false", "date": "1970-01-01", "time": "00:00:00",
    "datetime": "1970-01-01 00:00:00", "timestamptz": "1970-01-01 00:00:00+00", "interval": "00:00:00", "text": "",
    "json": "{}", "xml": "", "uuid": "00000000-0000-0000-0000-000000000000", "bit": "",
}  # fmt: skip
# Days of Java's first and last date, cut to 32 bits, which stand for infinite dates.
INFINITE_DATES: Final = {"infinity": 169_560_311, "-infinity": -170_999_002}
# Types whose defaults the connector reads have one of the families above, but not these.
_UNREAD: Final = frozenset(("oid", "money", "time with time zone"))


def literal(column: Column) -> str | None:
    """The text of a column's default; None without one.

    >>> from simulator.model import ColumnType
    >>> defaults = ("'it''s'::text", "1.10", "('-5'::integer + 1)", "now()", "NULL::text", "LOCALTIMESTAMP")
    >>> [literal(Column("a", ColumnType("timestamp without time zone"), default=default)) for default in defaults]
    ["it's", '1.10', '-5', '1970-01-01 00:00:00', None, '1970-01-01 00:00:00']
    """
    text = column.default
    if text is None or _NULL.fullmatch(text):
        return None
    if _FUNCTION.match(text):
        return _ZERO.get(type_table.family(column.type))
    found = _TEXT.search(text)
    return found[1].replace("''", "'") if found else text


def json(column: Column, converted: Converted, source: Source) -> str:
    """The default as the converter writes it; "" without a default."""
    text, schema, cell = literal(column), converted.schema, converted.cell
    family = type_table.family(column.type)
    if text is None or (family not in _ZERO and family != "enum") or column.type.name in _UNREAD:
        return ""
    if schema.type == "struct":
        return ""
    if text in INFINITE_DATES and schema.name.endswith(".Date"):
        return str(INFINITE_DATES[text])
    if family == "text":  # not padded
        return quote(text, JACKSON_BYTES)
    try:
        texts = cell.text(source.parse_values([text], column.type))
    except (ArithmeticError, ValueError):
        return ""  # an expression
    value = (escape(texts, JACKSON_BYTES) if cell.escaped else texts)[0].as_py()
    if value is None:
        return ""
    return f'"{value}"' if cell.quoted else str(value)
