"""How DRS prints the values of MySQL and TaurusDB, GaussDB(for MySQL): texts, type codes, classes of Avro.

Spec: "Kafka Message Format", table 2 and its sample, which proves the types marked so; the rest is decided here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

from simulator.formats.drs.envelope import DrsSettings, System
from simulator.formats.drs.record import Image, binary, bit, character, date, decimal, floating, integer, timestamp
from simulator.model import READ, Column, ColumnType, Kind
from simulator.sources import mysql
from simulator.text import decimals as decimal_text
from simulator.text import mysql as binlog_text
from simulator.wire.fields import Cell

TEXT: Final[Mapping[str, Any]] = {
    "integer": binlog_text.integer,  # sample
    "decimal": decimal_text.decimal_plain,  # sample
    "float": binlog_text.float_,  # sample: 10357.0, 1.2510357E7
    "bit": binlog_text.bit,
    "date": binlog_text.date,
    "datetime": binlog_text.datetime_fixed,  # sample
    "time": binlog_text.time_fixed,
    "year": binlog_text.year,
    "text": binlog_text.text,  # sample
    "binary": binlog_text.byte_list,  # sample: [106, 103]
    "json": binlog_text.text,
    "enum": binlog_text.enum_label,
    "set": binlog_text.set_labels,
    "geometry": binlog_text.byte_list,
}
ESCAPED: Final = frozenset({"text", "json", "enum", "set"})

# sqlType: java.sql.Types, and DRS's own 94.
CODES: Final[Mapping[str, int]] = {
    # in the sample
    "int": 4, "decimal": 3, "float": 6, "double": 8, "datetime": 94, "timestamp": 93, "char": 1, "varchar": 12,
    "text": -1, "binary": -2, "varbinary": -3, "blob": 2004,
    # decided here, from java.sql.Types and what is in the sample
    "tinyint": -6, "smallint": 5, "mediumint": 4, "bigint": -5, "bit": -7, "date": 91, "time": 92, "year": 91,
    "tinytext": -1, "mediumtext": -1, "longtext": -1, "json": -1, "enum": 1, "set": 1,
    "tinyblob": 2004, "mediumblob": 2004, "longblob": 2004,
    "geometry": -2, "point": -2, "linestring": -2, "polygon": -2, "multipoint": -2, "multilinestring": -2,
    "multipolygon": -2, "geometrycollection": -2,
}  # fmt: skip

# A timestamp of JSON-C: without its fraction, whatever the column has.
_WHOLE_SECONDS: Final = ColumnType("timestamp")
_BYTES_OF: Final = {"tinyint": 1, "smallint": 2, "mediumint": 3, "int": 4, "bigint": 8, "year": 1}


def cell(column: Column, settings: DrsSettings, kind: Kind | None = None) -> Cell:
    """How a column's values are written: always a string."""
    type, family = column.type, mysql.family(column.type)
    if type.name == "timestamp":
        if settings.options.timestamps == "epoch":  # sample: 1624614713.201
            return Cell(lambda array: binlog_text.epoch_fixed(array, type))
        return Cell(lambda array: binlog_text.datetime_fixed(array, _WHOLE_SECONDS, zone=settings.options.timezone))
    if type.name == "binary" and not padded(kind, settings):
        return Cell(lambda array: binlog_text.byte_list_stripped(array, type))
    render = TEXT[family]
    return Cell(lambda array: render(array, type), escaped=family in ESCAPED)


def code(column: Column) -> int:
    """sqlType."""
    return CODES[column.type.name]


def type_name(column: Column) -> str:
    """mysqlType: no length, no precision, no `unsigned`."""
    return column.type.name


def image(column: Column, settings: DrsSettings, kind: Kind | None = None) -> Image:
    """The class of Avro that a column's values have."""
    type, family = column.type, mysql.family(column.type)

    def text(array: pa.Array) -> pa.Array:
        return TEXT[family](array, type)

    match family:
        case "integer" | "year":
            return integer(text, _BYTES_OF[type.name])
        case "decimal":
            return decimal(text, *mysql.precision_scale(type))
        case "float":
            return floating(type.length or 0, type.scale or 0)
        case "bit":
            return bit(text, type.length or 1)
        case "datetime" if type.name == "timestamp":
            return timestamp(zero_dates=True)
        case "date" | "datetime" | "time":
            return date(text)
        case "binary" | "geometry":
            stripped = type.name == "binary" and not padded(kind, settings)
            return binary(type.name, binary_stripped if stripped else lambda array: array)
    return character(text)


def padded(kind: Kind | None, settings: DrsSettings) -> bool:
    """Whether BINARY(n) has the zeros at its end that the binary log leaves out: rows of the full load may."""
    return kind is READ and settings.options.init_binary == "padded"


def binary_stripped(array: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, binary_stripped(array.dictionary))
    return binlog_text.without_trailing_zeros(array)


SYSTEM: Final = System(
    title="MySQL",
    kinds=(READ,),
    cell=cell,
    code=code,
    type_name=type_name,
    image=image,
    table_text="{database}.{table}",
    schema_text="{database}",
    topics=("single", "table"),
    single_needs_topics=True,
    ddl=True,
    full_sync=True,
)
