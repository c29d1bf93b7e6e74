"""Column types as Debezium's parser of MySQL's DDL reads them, for the topic of schema changes.

A column that was defined in the log is read as typed (`NATIONAL VARCHAR`, `INT1`), others from the text of SHOW CREATE
TABLE. Codes are those of java.sql.Types (`MySqlAntlrDdlParser.initializeDataTypeResolver`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from simulator.model import Column, Table
from simulator.sources.mysql import type_table
from simulator.sources.mysql.source import MysqlSource
from simulator.sources.source import Source

_CODES: Final = {
    -15: "nchar",
    -9: "nvarchar|national varchar|nchar varchar|national char varying|national character|national char|nchar varying",
    -7: "bit",
    -5: "bigint|int8",
    -3: "varbinary|char varying binary",
    -2: "binary",
    1: "char|character|enum|set",
    2: "numeric",
    3: "decimal|dec|fixed",
    4: "mediumint|int3|middleint|int|integer|int4|year",
    5: "tinyint|int1|smallint|int2",
    6: "float|float4",
    7: "real",
    8: "double|float8|double precision",
    12: "varchar|varcharacter|char varying|character varying|tinytext|text|mediumtext|longtext|long|long varchar|inet6",
    16: "bool|boolean",
    91: "date",
    92: "time",
    93: "datetime",
    1111: "json|point|geometry|linestring|polygon|multipoint|multilinestring|multipolygon|geometrycollection|"
    "geomcollection|uuid|vector",
    2004: "tinyblob|blob|mediumblob|longblob|long varbinary",
    2014: "timestamp",
}
# Codes of CHAR and VARCHAR.
TEXTS: Final = (1, 12)
JDBC: Final = {name: code for code, names in _CODES.items() for name in names.split("|")}
_NATIONAL: Final = frozenset(name for code in (-15, -9) for name in _CODES[code].split("|"))
_TYPE: Final = re.compile(r"\s*([a-z_][a-z0-9_ ]*?)\s*(?:\((.*?)\)|$|(?=\s(?:character|charset|collate|unsigned|signed|"
                          r"zerofill|binary|byte|ascii|unicode|srid)\b))", re.IGNORECASE | re.DOTALL)  # fmt: skip
_SERIAL: Final = re.compile(r"\s*serial\b", re.IGNORECASE)
_ATTRIBUTES: Final = ("signed", "unsigned", "zerofill", "binary")
_CHARSET: Final = re.compile(r"(?:character\s+set|charset)\s+'?(\w+)", re.IGNORECASE)
# The length that the parser assumes for CHAR(0).
EMPTY_LENGTH: Final = 10


@dataclass(frozen=True, slots=True)
class Definition:
    """A column's type as the parser reads it: `name` in upper case with its attributes, `base` in lower case without.

    `typed`: it was defined in the log.
    """

    name: str
    base: str
    jdbc: int
    length: int | None
    scale: int | None
    charset: str | None
    typed: bool


def has_text_documents(source: Source) -> bool:
    """Tests whether JSON is an alias of LONGTEXT."""
    return isinstance(source, MysqlSource) and source.json_is_text


def type_text(column: Column, source: Source) -> tuple[str, bool]:
    """The text that defines a column's type, and whether it comes from the log."""
    if column.typed_in and column.type.spelled:
        return column.type.spelled, True
    if has_text_documents(source) and column.type.name == "json":
        return "longtext", False
    return source.type_text(column.type), False


def definition(column: Column, source: Source, table: Table | None = None) -> Definition:
    """The parser's reading of a column; the character set is known only with the table."""
    text, typed = type_text(column, source)
    text = _SERIAL.sub("bigint unsigned", text)
    match = _TYPE.match(text)
    assert match, text
    base, rest = " ".join(match[1].lower().split()), text[match.end() :].lower()
    attributes = [word for word in _ATTRIBUTES if re.search(rf"\b{word}\b", rest)]
    if base.startswith(("char", "varchar")) and re.search(r"set\s+binary", rest):
        attributes.remove("binary")
    if "zerofill" in attributes and "unsigned" not in attributes:
        attributes.insert(0, "unsigned")
    name = " ".join([base, *attributes]).upper()
    length, scale = _arguments(base, match[2])
    if base in ("enum", "set"):
        labels = len(column.type.labels)
        length, scale = (1 if base == "enum" else max(0, labels * 2 - 1)), None
    charset = None if table is None else _charset(base, rest, column, table, source, typed)
    return Definition(name, base, JDBC[base], length, scale, charset, typed)


def _arguments(base: str, text: str | None) -> tuple[int | None, int | None]:
    numbers = [int(part) for part in (text or "").split(",") if part.strip().isdecimal()]
    length, scale = (*numbers, None, None)[:2]
    if JDBC[base] in (2, 3):
        return 10 if length is None else length, scale or 0
    if base == "bit" and length is None:
        return 1, None
    if base == "char" and length == 0:
        return EMPTY_LENGTH, None
    return length, scale


def _charset(base: str, rest: str, column: Column, table: Table, source: Source, typed: bool) -> str | None:
    if JDBC[base] not in (-15, -9, 1, 12):
        return None
    if typed and (match := _CHARSET.search(rest)) and _is_now(match[1], column, table):
        return match[1]
    if typed and base in _NATIONAL:
        return "utf8"
    if has_text_documents(source) and column.type.name == "json":
        return "utf8mb4"
    charset = column.type.charset if column.type.charset and not (typed and "byte" in rest) else default(table)
    return "utf8mb3" if charset == "utf8" and source.version == "8.0" and not typed else charset


def _is_now(typed: str, column: Column, table: Table) -> bool:
    """Tests whether a column still has the character set with which it was typed: CONVERT TO gives it another."""
    charset = column.type.charset or default(table)
    return typed.replace("utf8mb3", "utf8") == charset.replace("utf8mb3", "utf8") or typed == "binary"


def default(table: Table) -> str:
    """The table's character set."""
    return table.charset or type_table.DEFAULT_CHARSET


def enum_values(column: Column) -> list[str] | None:
    """The labels in SQL's quotes, as the parser keeps them."""
    if not column.type.labels:
        return None
    return ["'" + label.replace("'", "''") + "'" for label in column.type.labels]
