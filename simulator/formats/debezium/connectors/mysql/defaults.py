"""Column defaults: the text in the topic of schema changes, and the default in Connect's schema.

The parser removes the quotes and keeps doubled and escaped characters; a number in hexadecimal or binary digits loses
two characters before and one behind (`DefaultValueParserListener`). The current time becomes 1970; an expression is no
default. The text is then read by Java's means, not by the server's (`BinlogDefaultValueConverter`).
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final

import pyarrow as pa

from simulator.formats.debezium.connectors.mysql.literals import literal_text
from simulator.formats.debezium.connectors.mysql.types import TEXTS, Definition
from simulator.formats.debezium.schema import Schema
from simulator.model import Column, ColumnType
from simulator.sources.mysql import type_table
from simulator.sources.source import Source
from simulator.text.json_style import JACKSON_BYTES, quote
from simulator.wire.fields import Cell

NOW: Final = "1970-01-01 00:00:00"
_NOW: Final = re.compile(r"(?:NOW|CURRENT_TIMESTAMP|LOCALTIME|LOCALTIMESTAMP)\b", re.IGNORECASE)
_DIGITS: Final = re.compile(r"(?:[bx]'.*'|0[bx][0-9a-f]+)", re.IGNORECASE)
_INTRODUCED: Final = re.compile(r"_\w+\s*(?=['\"])")
_ZERO_DATE: Final = re.compile(r"(?:\d{4}-\d{2}-00|\d{4}-00-\d{2}|0000-\d{2}-\d{2})(?: 00:00:00(?:\.\d{1,6})?)?|0")
_DATE: Final = re.compile(r"(\d{4}-\d{2}-\d{2})(?: (\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?))?")
_TIMESTAMP: Final = re.compile(r"(\d+)\D(\d+)\D(\d+)(?:\D(\d+)(?:\D(\d+)(?:\D(\d+)(\.\d+)?)?)?)?")
_TIME: Final = re.compile(r"(?:\d*-\d*-\d* )?(-?\d+:\d+(?::\d+(?:\.\d+)?)?)")
DOUBLE: Final = ColumnType("double")
_GREATEST: Final = 2**63 - 1


def text(column: Column) -> str | None:
    """`defaultValueExpression`.

    >>> from simulator.model import ColumnType
    >>> defaults = ("'it''s'", '"a"', "_utf8'a'", "b'1'", "0x6162", "NULL", "now()")
    >>> [text(Column("a", ColumnType("varchar"), default=default)) for default in defaults]
    ["it''s", 'a', 'a', '1', '616', None, '1970-01-01 00:00:00']
    """
    default = column.default
    if default is None or default.upper() == "NULL" or default.startswith("("):
        return None
    if _NOW.match(default):
        return NOW
    if _DIGITS.fullmatch(default):
        return default[2:-1]
    return literal_text(_INTRODUCED.sub("", default))


def json(column: Column, read: Definition, schema: Schema, cell: Cell, source: Source, *, adjusted: bool) -> str:
    """The default as the converter writes it; "" without a default. `adjusted`: years of two digits have four."""
    default = text(column)
    if default is None:
        return ""
    family = type_table.family(column.type)
    if family == "binary" and read.jdbc not in TEXTS:
        return f'"{cell.text(pa.array([default.encode()]))[0].as_py()}"'
    if family in ("enum", "set", "text", "json", "binary"):
        return quote(default, JACKSON_BYTES)
    default = default.strip()
    if default.lower() in ("true", "false"):
        is_true = default.lower() == "true"
        return str(is_true).lower() if schema.type == "boolean" else str(int(is_true))
    if family == "year" and default.isdecimal():
        year = int(default)
        return str(year + (2000 if year < 70 else 1900) if adjusted and year < 100 else year)
    if schema.type == "int64" and family == "integer":
        return str(min(int(default), _GREATEST))
    type, literal = column.type, default
    if family in _TEMPORAL:
        type, literal = _TEMPORAL[family](column, default)
    elif family == "bit":
        literal = f"b'{default}'"
    elif family == "decimal":
        literal = _rounded(default, type)
    elif family == "float" and schema.type == "double":
        type = DOUBLE  # a FLOAT(M,D) of the table, whose default is neither rounded nor of 32 bits
    try:
        array = source.parse_values([literal], type) if literal else None
    except ValueError:
        array = None
    value = None if array is None else cell.text(array)[0].as_py()
    if value is None:  # also a date that is none
        is_date = family in ("date", "datetime") and not column.nullable
        return "" if not is_date else '"1970-01-01T00:00:00Z"' if schema.type == "string" else "0"
    return f'"{value}"' if cell.quoted else str(value)


def _date(column: Column, default: str) -> tuple[ColumnType, str]:
    match = None if _ZERO_DATE.fullmatch(default) else _DATE.fullmatch(default)
    return column.type, match[1] if match else ""


def _datetime(column: Column, default: str) -> tuple[ColumnType, str]:
    """A date with a time of six digits: the column's own are no concern of Java's parser."""
    if _ZERO_DATE.fullmatch(default):
        return column.type, ""
    if column.type.name != "timestamp":
        match = _DATE.fullmatch(default)
        return ColumnType("datetime", 6), f"{match[1]} {_seconds(match[2] or '00:00')}" if match else ""
    match = _TIMESTAMP.fullmatch(default)
    if not match or (default == NOW and column.nullable):
        return column.type, ""
    year, month, day, hour, minute, second = (int(number or 0) for number in match.groups()[:6])
    clock = f"{hour:02}:{minute:02}:{second:02}{match[7] or ''}"
    return ColumnType("timestamp", 6), f"{year:04}-{month:02}-{day:02} {_seconds(clock)}"


def _seconds(clock: str) -> str:
    """`10:11`, `10:11:12` or `10:11:12.5678901` with seconds and at most six digits."""
    whole, _, fraction = (clock if clock.count(":") == 2 else f"{clock}:00").partition(".")
    return f"{whole}.{fraction[:6]}" if fraction else whole


def _time(column: Column, default: str) -> tuple[ColumnType, str]:
    """The time of day, or of a date and time."""
    match = _TIME.fullmatch(default)
    return ColumnType("time", 6), _seconds(match[1]) if match else ""


_TEMPORAL: Final = {"date": _date, "datetime": _datetime, "time": _time}


def _rounded(default: str, type: ColumnType) -> str:
    scale = type_table.precision_scale(type)[1]
    try:
        return format(Decimal(default).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, Context(prec=100)), "f")
    except ArithmeticError:
        return ""
