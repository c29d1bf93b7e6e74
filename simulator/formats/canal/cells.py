"""How Canal writes the values of columns, their types and their codes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.carriers import numbers
from simulator.formats.canal.json_column import json_column
from simulator.formats.canal.options import CanalOptions
from simulator.formats.format import Settings
from simulator.model import (
    Column,
    ColumnType,
)
from simulator.sources import mysql
from simulator.text import decimals as decimal_text
from simulator.text import mysql as binlog_text
from simulator.text.template import repeat
from simulator.wire.fields import Cell

# Column values: type name (or family of types) to its text. Canal LogBuffer.fetchValue, LogEventConvert.parseOneRow.
TEXT: Final[Mapping[str, Any]] = {
    "integer": binlog_text.integer,
    "decimal": decimal_text.decimal_groups,
    "float": binlog_text.float_,
    "bit": binlog_text.bit,
    "date": binlog_text.date,
    "datetime": binlog_text.datetime_fixed,
    "time": binlog_text.time_fixed,
    "year": binlog_text.year,
    "text": binlog_text.text,
    "binary": binlog_text.latin1_bytes,
    "json": binlog_text.text,
    "enum": binlog_text.enum_index,
    "set": binlog_text.set_mask,
    "geometry": binlog_text.latin1_bytes,
}


ESCAPED: Final = frozenset({"text", "binary", "json", "geometry"})


# java.sql.Types of values that are there and, where it differs, of nulls: since 1.1.7, and up to 1.1.6.
NULL_CODES: Final = {"json": 1111, "set": 2004}


OLD_NULL_CODES: Final = {
    "json": 1111,
    "set": -2,
    "char": 1,
    "varchar": 12,
    "tinytext": -3,
    "text": -4,
    "mediumtext": -4,
    "longtext": -4,
    "binary": -2,
    "varbinary": -3,
    "tinyblob": -3,
    "blob": -4,
    "mediumblob": -4,
    "longblob": -4,
    "geometry": -2,
}


# Unsigned values above the signed type's highest go up a type: LogEventConvert, "处理unsigned类型".
PROMOTED: Final = {"tinyint": (127, 5), "smallint": (32767, 4), "int": (2**31 - 1, -5), "bigint": (2**63 - 1, 3)}


# A text column is text to Canal only when its type is spelled like this; `text(30)` as typed in DDL is bytes.
TEXT_SPELLINGS: Final = frozenset({"tinytext", "text", "mediumtext", "longtext"})


def type_text(column: Column, settings: Settings[CanalOptions]) -> str:
    style = settings.options.mysql_type_style
    if style is None:
        # Canal's store of table definitions: what a statement that it read typed, else what the server prints.
        read = column.typed_in and readable(column.typed_in)
        style = "ddl_text" if read else mysql.VERSIONS[str(settings.source)].type_style
    return mysql.type_text(column.type, style=style)


def cell(column: Column, settings: Settings[CanalOptions]) -> Cell:
    """How a column's values are written: always a string."""
    type, family, version = column.type, mysql.family(column.type), settings.options.version
    if checked_text(column, settings) or misread(column, settings):
        codec = mysql.CHARSETS[type.charset or mysql.DEFAULT_CHARSET][1]
        return Cell(lambda array: binlog_text.latin1_bytes(as_bytes(array, codec), type), escaped=True)
    if family == "json":
        return Cell(lambda array: json_column(array, version), escaped=True)
    charset = type.charset or mysql.DEFAULT_CHARSET
    if family == "text" and settings.options.text_charset == "connection" and not charset.startswith("utf8"):
        return Cell(lambda array: in_charset(array, charset), escaped=True)
    if read_as_text(column, settings):
        return Cell(lambda array: as_text(array, type), escaped=True)
    if type.name == "binary":
        return Cell(lambda array: binlog_text.binary_stripped(array, type), escaped=True)
    if type.name == "timestamp":
        zone = settings.options.timezone
        return Cell(lambda array: binlog_text.datetime_fixed(array, type, zone=zone))
    if family == "time" and version <= "1.1.5":
        return Cell(lambda array: old_time(binlog_text.time_fixed(array, type), type.length or 0, version))
    render = TEXT[family]
    parts = (lambda array: decimal_text.decimal_parts(array, grouped=True)) if family == "decimal" else None
    return Cell(lambda array: render(array, type), escaped=family in ESCAPED, parts=parts)


def checked_text(column: Column, settings: Settings[CanalOptions]) -> bool:
    """A JSON column of MariaDB, which is text that the server checks: bytes to Canal."""
    return column.type.name == "json" and settings.source.id == "mariadb"


def misread(column: Column, settings: Settings[CanalOptions]) -> bool:
    """A TEXT column that Canal takes for bytes, since its type was typed as `text(30)` or `long`."""
    family = mysql.family(column.type)
    lob = family == "text" and column.type.name not in ("char", "varchar")
    return lob and type_text(column, settings).lower() not in TEXT_SPELLINGS


def in_charset(array: pa.Array, charset: str) -> pa.Array:
    """Texts as Canal reads the bytes of a column in another character set: as if they were UTF-8."""
    codec = mysql.CHARSETS[charset][1]
    values = decoded(array).to_pylist()
    raw = [None if value is None else _encoded(value, codec) for value in values]
    return pa.array([None if value is None else value.decode(errors="replace") for value in raw], pa.string())


def _encoded(text: str, codec: str) -> bytes:
    try:
        return text.encode(codec)
    except UnicodeEncodeError:  # the five bytes that MySQL's latin1 has and Windows-1252 lacks
        return b"".join(c.encode(codec, "ignore") or c.encode("latin-1", "replace") for c in text)


def read_as_text(column: Column, settings: Settings[CanalOptions]) -> str:
    """The text type that Canal takes a column of bytes for, typed as `varchar(10) character set binary`; else ""."""
    name = type_text(column, settings).lower().partition("(")[0]
    typed_as_text = mysql.family(column.type) == "binary" and name in ("char", "varchar", *TEXT_SPELLINGS)
    return name if typed_as_text else ""


def as_bytes(array: pa.Array, codec: str = "utf-8") -> pa.Array:
    if codec == "utf-8":
        return decoded(array).cast(pa.binary())
    values = decoded(array).to_pylist()
    return pa.array([None if value is None else _encoded(value, codec) for value in values], pa.binary())


def as_text(array: pa.Array, type: ColumnType) -> pa.Array:
    """Bytes decoded as UTF-8, U+FFFD where they are none."""
    values = decoded(array)
    if type.name == "binary":
        values = binlog_text.without_trailing_zeros(values)
    texts = [None if value is None else value.decode(errors="replace") for value in values.to_pylist()]
    return pa.array(texts, pa.string())


def old_time(texts: pa.Array, fraction: int, version: str) -> pa.Array:
    """TIME as old parsers print it: up to 1.1.5 `-00:00:00.5` loses its sign, in 1.1.4 hours from 100 lose a digit."""
    if 1 <= fraction <= 4:
        texts = pc.replace_substring_regex(texts, r"^-(00:00:00\.)", r"\1")
    if version == "1.1.4":
        limit = pc.match_substring_regex(texts, r"^-?838:59:59")
        texts = pc.if_else(limit, texts, pc.replace_substring_regex(texts, r"^(-?)\d(\d\d:)", r"\1\2"))
    return texts


def code_cell(column: Column, settings: Settings[CanalOptions]) -> Cell:
    """A column's java.sql.Types code, which depends on the value for unsigned columns and nulls."""
    type, version = column.type, settings.options.version
    code = mysql.TYPES[read_as_text(column, settings) or type.name].jdbc
    # nulls have their code from what the binary log says of the column
    stored = "longblob" if checked_text(column, settings) else type.name
    if stored != type.name or misread(column, settings):
        code = 2004
    nulls = NULL_CODES if version >= "1.1.7" else OLD_NULL_CODES
    null = nulls.get(stored, nulls.get(mysql.TYPES[stored].family, code))
    if (
        type.name == "tinyint"
        and version == "1.1.4"
        and type.length == 1
        and not type.spelled.lower().startswith("bool")
    ):
        code = -7
    high, promoted = PROMOTED.get(type.name, (0, 0)) if type.unsigned else (0, 0)
    if null == code and not promoted:
        return Cell(decoded, quoted=False, constant=str(code))

    codes = pa.array([str(code), str(promoted), str(null)], pa.string())

    def text(array: pa.Array) -> pa.Array:
        if array.null_count == 0 and not promoted:
            return repeat(str(code), len(array))
        which = np.zeros(len(array), dtype=np.int8)
        if promoted:
            which[numbers(array) > high] = 1
        if array.null_count:
            which[np.asarray(array.is_null())] = 2
        return codes.take(pa.array(which))

    return Cell(text, quoted=False)


# Types that Canal's parser does not know in a CREATE or ALTER TABLE (captured); the whole statement is unread then.
_UNREAD: Final = re.compile(
    r"(national\s+char|nchar|national\s+character|char)\s+varying\b|national\s+character\b|nchar\s+varchar\b"
    r"|long\s+var|.*\sbyte$",
    re.IGNORECASE,
)


def readable(types: Sequence[str]) -> bool:
    """Whether Canal's parser reads a statement with columns of these types, as typed."""
    return not any(_UNREAD.match(text) for text in types)
