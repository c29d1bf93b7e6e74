"""Texts of column values in Canal's messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import Delta, decoded, scatter
from simulator.formats.canal.definitions import checked_text, misread, read_as_text
from simulator.formats.canal.json_column import json_column
from simulator.formats.canal.options import CanalOptions
from simulator.formats.format import Settings
from simulator.model import Column, ColumnType
from simulator.sources.mysql.type_table import CHARSETS, DEFAULT_CHARSET, family
from simulator.text import decimals as decimal_text
from simulator.text import mysql as binlog_text
from simulator.wire.fields import Cell, rendered

# Column values: type name (or family of types) to its text. Canal LogBuffer.fetchValue, LogEventConvert.parseOneRow.
TEXT: Final[Mapping[str, Any]] = {
    "integer": binlog_text.integer,
    "decimal": decimal_text.decimal_groups,
    "float": binlog_text.float_,
    "bit": binlog_text.number,
    "date": binlog_text.date,
    "datetime": binlog_text.datetime_fixed,
    "time": binlog_text.time_fixed,
    "year": binlog_text.year,
    "text": binlog_text.text,
    "binary": binlog_text.latin1_bytes,
    "json": binlog_text.text,
    "enum": binlog_text.number,
    "set": binlog_text.number,
    "geometry": binlog_text.latin1_bytes,
}
ESCAPED: Final = frozenset({"text", "binary", "json", "geometry"})


def cell(column: Column, settings: Settings[CanalOptions]) -> Cell:
    """Writer of a column's values: always strings."""
    type, words, version = column.type, family(column.type), settings.options.version
    if checked_text(column, settings) or misread(column, settings):
        codec = CHARSETS[type.charset or DEFAULT_CHARSET][1]
        return Cell(lambda array: binlog_text.latin1_bytes(as_bytes(array, codec), type), escaped=True)
    if words == "json":
        return Cell(lambda array: json_column(array, version), escaped=True)
    charset = type.charset or DEFAULT_CHARSET
    if words == "text" and settings.options.text_charset == "connection" and not charset.startswith("utf8"):
        return Cell(lambda array: in_charset(array, charset), escaped=True)
    if read_as_text(column, settings):
        return Cell(lambda array: as_text(array, type), escaped=True)
    if type.name == "binary":
        return Cell(lambda array: binlog_text.binary_stripped(array, type), escaped=True)
    if type.name == "timestamp":
        return rendered(binlog_text.datetime_fixed, type, zone=settings.options.timezone)
    if words == "time" and version <= "1.1.5":
        return Cell(lambda array: old_time(binlog_text.time_fixed(array, type), type.length or 0, version))
    return rendered(TEXT[words], type, escaped=words in ESCAPED)


def in_charset(array: pa.Array, charset: str) -> pa.Array:
    """Texts of a column in another character set, whose bytes Canal reads as if they were UTF-8."""
    codec, values = CHARSETS[charset][1], decoded(array)
    rows = np.arange(len(values))
    if bytes(range(128)).decode(codec, "replace") == "".join(map(chr, range(128))):  # ASCII looks the same
        rows = np.flatnonzero(pc.invert(pc.string_is_ascii(values)).fill_null(False))
    if not len(rows):
        return values
    raw = [None if value is None else _encoded(value, codec) for value in values.take(pa.array(rows)).to_pylist()]
    texts = [None if value is None else value.decode(errors="replace") for value in raw]
    return scatter(values, Delta(rows, pa.array(texts, pa.string())))


def _encoded(text: str, codec: str) -> bytes:
    try:
        return text.encode(codec)
    except UnicodeEncodeError:  # MySQL's latin1 has five bytes that Windows-1252 lacks
        return b"".join(c.encode(codec, "ignore") or c.encode("latin-1", "replace") for c in text)


def as_bytes(array: pa.Array, codec: str = "utf-8") -> pa.Array:
    if codec == "utf-8":
        return decoded(array).cast(pa.binary())
    values = decoded(array).to_pylist()
    return pa.array([None if value is None else _encoded(value, codec) for value in values], pa.binary())


def as_text(array: pa.Array, type: ColumnType) -> pa.Array:
    """Bytes decoded as UTF-8; invalid bytes become U+FFFD."""
    values = decoded(array)
    if type.name == "binary":
        values = binlog_text.without_trailing_zeros(values)
    texts = [None if value is None else value.decode(errors="replace") for value in values.to_pylist()]
    return pa.array(texts, pa.string())


def old_time(texts: pa.Array, fraction: int, version: str) -> pa.Array:
    """TIME as old parsers print it: up to 1.1.5 `-00:00:00.5` loses its sign; in 1.1.4 100 hours, and only those, are
    `00` (`RowsLogBuffer.java` compares with `>`)."""
    if 1 <= fraction <= 4:
        texts = pc.replace_substring_regex(texts, r"^-(00:00:00\.)", r"\1")
    if version == "1.1.4":
        texts = pc.replace_substring_regex(texts, r"^(-?)100:", r"\100:")
    return texts
