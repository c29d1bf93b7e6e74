"""Columns of MySQL and MariaDB as Kafka Connect's types (`BinlogValueConverters`, `JdbcValueConverters`).

A snapshot reads rows by SQL, the stream reads the binary log; floats, timestamps, years, enums and JSON differ.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.carriers import FIRST_DAY, US_PER_DAY, numbers, primitive, storage_type
from simulator.formats.binlog_json import binlog_text, snapshot_text
from simulator.formats.debezium import schema as connect
from simulator.formats.debezium.connectors.mysql import defaults
from simulator.formats.debezium.connectors.mysql.literals import literal_text
from simulator.formats.debezium.connectors.mysql.types import TEXTS, Definition, definition, has_text_documents
from simulator.formats.debezium.options import ConnectorOptions
from simulator.formats.debezium.schema import Schema
from simulator.formats.debezium.values import cells, temporal
from simulator.formats.debezium.values.cells import Converted, number_cell, text_cell, value_cell
from simulator.model import Column, ColumnType
from simulator.sources.mysql import type_table, typed_json
from simulator.sources.source import Source
from simulator.text import mysql as mysql_text
from simulator.text.base64 import number_bytes
from simulator.text.columns import nulls_of
from simulator.text.java import numbers as java
from simulator.text.mysql import without_trailing_zeros
from simulator.wire.fields import Cell

# Replacements for values that the log cannot give, such as a zero date, in NOT NULL columns.
ABSENT: Final = {
    "boolean": "false", "int8": "0", "int16": "0", "int32": "0", "int64": "0", "float": "0.0", "double": "0.0",
    "string": '""', "bytes": '""', "struct": "null",
}  # fmt: skip
# 0100-01-01
HUNDRED_DAYS: Final = -683_003
_EPOCH: Final = '"1970-01-01T00:00:00Z"'
_INTEGERS: Final = {"tinyint": (16, 16), "smallint": (16, 32), "mediumint": (32, 32), "int": (32, 64)}
Typed = tuple[Schema, Cell]


class Converters:
    """Chooses the schema and the cell of each column; `snapshot`: for rows that a snapshot reads."""

    def __init__(self, options: ConnectorOptions, source: Source, *, numeric: bool = False) -> None:
        self.options, self.source, self.numeric = options, source, numeric
        self.times = options.time_precision or "adaptive_time_microseconds"

    def column(self, column: Column, *, snapshot: bool = False) -> Converted:
        read = definition(column, self.source)
        schema, cell = self._typed(column.type, read, snapshot)
        default = defaults.json(column, read, schema, cell, self.source, adjusted=self.options.time_adjuster)
        if self.options.schema_comments and column.comment:
            schema = replace(schema, doc=literal_text(column.comment))
        absent = _EPOCH if schema == connect.ZONED_TIMESTAMP else _absent(schema)
        return cells.finished(schema, cell, nullable=column.nullable, default=default, absent=absent)

    def _typed(self, type: ColumnType, read: Definition, snapshot: bool) -> Typed:
        match type_table.family(type):
            case "integer":
                return self._integer(type, read)
            case "decimal":
                mode = self.options.decimal_handling
                if mode == "precise":
                    schema = connect.decimal(*type_table.precision_scale(type))
                else:
                    schema = connect.STRING if mode == "string" else connect.DOUBLE
                return schema, cells.decimal_cell(mode, numeric=self.numeric)
            case "float":
                return _floating(type, read, snapshot)
            case "bit":
                if (type.length or 1) == 1:
                    return connect.BOOLEAN, cells.BOOLEAN
                width = ((type.length or 1) + 7) // 8
                return connect.bits(type.length or 1), self._bytes(lambda array: _little_endian(array, width))
            case "year":
                return connect.YEAR, number_cell(lambda array: _years(array, 2000 if snapshot else 1900))
            case "date":
                return self._adjusted(temporal.date(self.times))
            case "time":
                return temporal.time(self.times, type.length or 0)
            case "datetime" if type.name == "timestamp":
                return connect.ZONED_TIMESTAMP, temporal.zoned(None if snapshot else type.length or 0)
            case "datetime":
                return self._adjusted(temporal.timestamp(self.times, type.length or 0))
            case "enum":
                return connect.labels("Enum", _allowed(type)), _labels(_escaped(type, snapshot), mysql_text.enum_label)
            case "set":
                return connect.labels("EnumSet", _allowed(type)), _labels(type, mysql_text.set_labels)
            case "json" if not has_text_documents(self.source):
                if snapshot:
                    return connect.JSON, text_cell(
                        partial(snapshot_text, old=self.source.version == "5.7"), escaped=True
                    )
                return connect.JSON, text_cell(_documents, escaped=True)
            case "geometry" if type.name == "point":
                return connect.POINT, value_cell(point, quoted=False)
            case "geometry":
                return connect.GEOMETRY, value_cell(geometry, quoted=False)
            case "binary":
                return self._binary(type, read)
        return connect.STRING, cells.STRING

    def _integer(self, type: ColumnType, read: Definition) -> Typed:
        if read.base in ("bool", "boolean"):
            return connect.BOOLEAN, cells.BOOLEAN
        if type.name == "bigint":
            if type.unsigned and self.options.bigint_unsigned == "precise":
                return connect.decimal(20, 0), cells.DECIMAL
            return connect.INT64, cells.WHOLE
        return Schema(f"int{_INTEGERS[type.name][type.unsigned]}"), cells.WHOLE

    def _adjusted(self, typed: Typed) -> Typed:
        """Reads years below 100 as years of two digits."""
        schema, cell = typed
        if not self.options.time_adjuster:
            return typed
        piece = cell.piece
        return schema, replace(
            cell,
            text=lambda array: cell.text(adjusted(decoded(array))),
            piece=None if piece is None else lambda array: piece(adjusted(array)),
        )

    def _bytes(self, of: cells.Column) -> Cell:
        return cells.binary_cell("bytes", of)

    def _binary(self, type: ColumnType, read: Definition) -> Typed:
        if read.jdbc in TEXTS:  # the parser reads a text, whatever its character set
            padded = type.name == "binary"
            return connect.STRING, text_cell(
                lambda array: java.latin1(without_trailing_zeros(array) if padded else array), escaped=True
            )
        mode = self.options.binary_handling
        unpadded = read.typed and read.base == "binary" and read.length is None
        of = without_trailing_zeros if unpadded else (lambda array: array)
        return cells.binary_schema(mode), cells.binary_cell(mode, of)


def adjusted(array: pa.Array) -> pa.Array:
    """Dates and timestamps before the year 100 moved to 1970 to 2069.

    >>> adjusted(pa.array([-719162, 0], pa.int32()).view(pa.date32())).to_pylist()
    [datetime.date(2001, 1, 1), datetime.date(1970, 1, 1)]
    """
    unit = 1 if pa.types.is_date32(storage_type(array.type)) else US_PER_DAY
    values = numbers(array)
    if values.min(initial=HUNDRED_DAYS * unit) >= HUNDRED_DAYS * unit:
        return array
    early = np.flatnonzero((values < HUNDRED_DAYS * unit) & (values >= FIRST_DAY * unit))
    moved = values.copy()
    for row in early.tolist():
        days, rest = divmod(int(values[row]), unit)
        day = date.fromordinal(days - FIRST_DAY + 1)
        moved[row] = (day.replace(year=day.year + (2000 if day.year < 70 else 1900)).toordinal() + FIRST_DAY - 1) * unit
        moved[row] += rest
    return primitive(moved, array.type, nulls_of(array))


def _documents(array: pa.Array) -> pa.Array:
    """Documents of the log; a document of zero bytes becomes an object."""
    return binlog_text(pc.if_else(pc.equal(array, typed_json.EMPTY), "{}", array))


def _absent(schema: Schema) -> str:
    return '"AA=="' if schema.name.endswith(".Decimal") else ABSENT[schema.type]


def _floating(type: ColumnType, read: Definition, snapshot: bool) -> Typed:
    """FLOAT: exact in the stream; a snapshot reads the server's text of six digits."""
    if read.base == "float4":  # the connector loses its values
        return connect.DOUBLE, Cell(lambda array: pa.nulls(len(array), pa.string()), quoted=False)
    if read.base == "real":
        return connect.FLOAT, cells.FLOAT
    if type.name == "float":
        if type.scale is not None:
            return connect.DOUBLE, cells.DOUBLE
        return connect.FLOAT, text_cell(lambda array: cells.float_text(_six_digits(array)), quoted=False) if (
            snapshot
        ) else cells.FLOAT
    if type.scale is not None and snapshot:
        digits = type.scale
        return connect.DOUBLE, text_cell(lambda array: cells.double_text(pc.round(array, digits)), quoted=False)
    return connect.DOUBLE, cells.DOUBLE


def _six_digits(array: pa.Array) -> pa.Array:
    texts = [None if value is None else np.float32(f"{value:.6g}") for value in decoded(array).to_pylist()]
    return pa.array(texts, pa.float32())


def _little_endian(array: pa.Array, width: int) -> pa.Array:
    values = [None if value is None else value[::-1] for value in number_bytes(array, width).to_pylist()]
    return pa.array(values, pa.binary())


def _years(array: pa.Array, zero: int) -> pa.Array:
    values = numbers(array)
    return primitive(np.where(values == 0, zero, values), pa.int64(), nulls_of(array))


def _allowed(type: ColumnType) -> list[str]:
    return [label.replace(",", "\\,") for label in type.labels]


def _escaped(type: ColumnType, snapshot: bool) -> ColumnType:
    return type if snapshot else replace(type, labels=tuple(_allowed(type)))


def _labels(type: ColumnType, render: mysql_text.Renderer) -> Cell:
    return text_cell(lambda array: render(array, type), escaped=True)


# ------------------------------------------------------------------------------------------------------------ geometry


def geometry(stored: bytes) -> str | None:
    """A geometry's well-known binary, and its SRID if it is not 0; None for an empty value, which MySQL 5.7 stores in a
    required column.

    >>> geometry(b"\\x00\\x00\\x00\\x00\\x01\\x01")
    '{"wkb":"AQE=","srid":null}'
    """
    if not stored:
        return None
    (srid,) = struct.unpack("<I", stored[:4])
    return f'{{"wkb":"{cells.base64_of(stored[4:])}","srid":{srid or "null"}}}'


def point(stored: bytes) -> str | None:
    """A point's coordinates and its bytes."""
    if not (members := geometry(stored)):
        return None
    x, y = struct.unpack("<dd", stored[9:25])
    return f'{{"x":{java.double_string(x)},"y":{java.double_string(y)},{members[1:]}'
