"""How DRS prints the values of SQL Server: texts, type codes, classes of Avro.

Spec: "Kafka Message Format", table 4 ("JDBC type": its numbers are not published), and "From Microsoft SQL Server to
Kafka" for the types that are not read (sql_variant, geometry, geography) and for image, text and ntext, which deleted
rows are without. Codes are those of Microsoft's JDBC driver, texts are decided here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from simulator.formats.drs.envelope import DrsSettings, System
from simulator.formats.drs.record import NULL, Image, binary, bit, character, date, decimal, floating, integer
from simulator.model import DELETE, Column, ColumnType, Kind
from simulator.text import decimals as decimal_text
from simulator.text import mysql as binlog_text
from simulator.wire.fields import Cell

CODES: Final[Mapping[str, int]] = {
    "bit": -7, "tinyint": -6, "smallint": 5, "int": 4, "bigint": -5, "decimal": 3, "numeric": 2, "money": 3,
    "smallmoney": 3, "real": 7, "float": 8, "date": 91, "time": 92, "datetime": 93, "smalldatetime": 93, "datetime2":
    93, "datetimeoffset": -155, "char": 1, "varchar": 12, "text": -1, "nchar": -15, "nvarchar": -9, "ntext": -16, "xml":
    -16, "uniqueidentifier": 1, "binary": -2, "varbinary": -3, "image": -4, "timestamp": -2, "hierarchyid": -3,
}  # fmt: skip
_BYTES_OF: Final = {"tinyint": 1, "smallint": 2, "int": 4, "bigint": 8}
_TEXTS: Final = frozenset({"char", "varchar", "text", "nchar", "nvarchar", "ntext", "xml"})
# Of these a deleted row has no values.
_NOT_DELETED: Final = frozenset({"image", "text", "ntext"})
# Digits of a second's fraction where nothing is said.
_DIGITS: Final = {"datetime": 3, "smalldatetime": 0, "datetime2": 7, "time": 7}


def text(array: pa.Array, type: ColumnType) -> pa.Array:
    """A column's values as text; nulls stay null."""
    match type.name:
        case "bit" | "tinyint" | "smallint" | "int" | "bigint":
            return binlog_text.integer(array, type)
        case "decimal" | "numeric" | "money" | "smallmoney":
            return decimal_text.decimal_plain(array, type)
        case "real" | "float":
            return binlog_text.float_(array, type)
        case "date":
            return binlog_text.date(array, type)
        case "time" | "datetime" | "smalldatetime" | "datetime2" if pa.types.is_temporal(array.type):
            digits = _DIGITS[type.name] if type.length is None else type.length
            shown = ColumnType(type.name, digits)
            return (binlog_text.time_fixed if type.name == "time" else binlog_text.datetime_fixed)(array, shown)
        case "binary" | "varbinary" | "image" | "timestamp" | "hierarchyid":
            return binlog_text.byte_list(array, type)
    return array


def cell(column: Column, settings: DrsSettings, kind: Kind | None = None) -> Cell:
    """How a column's values are written: always a string. Texts of dates with seven digits and of identifiers stand as
    they are."""
    type = column.type
    if kind is DELETE and type.name in _NOT_DELETED:
        return Cell(lambda array: pa.nulls(len(array), pa.string()))
    return Cell(lambda array: text(array, type), escaped=type.name in _TEXTS)


def image(column: Column, settings: DrsSettings, kind: Kind | None = None) -> Image:
    """The class of Avro that a column's values have."""
    type = column.type

    def written(array: pa.Array) -> pa.Array:
        return text(array, type)

    if kind is DELETE and type.name in _NOT_DELETED:
        return lambda array: pa.array([NULL] * len(array), pa.binary())
    match type.name:
        case "tinyint" | "smallint" | "int" | "bigint":
            return integer(written, _BYTES_OF[type.name])
        case "bit":
            return bit(written, 1)
        case "decimal" | "numeric":
            return decimal(written, 18 if type.length is None else type.length, type.scale or 0)
        case "money" | "smallmoney":
            return decimal(written, {"money": 19, "smallmoney": 10}[type.name], 4)
        case "real" | "float":
            return floating(type.length or 0, 0)
        case "binary" | "varbinary" | "image" | "timestamp" | "hierarchyid":
            return binary(type.name, lambda array: array)
        case "date" | "time" | "datetime" | "smalldatetime" | "datetime2" | "datetimeoffset":
            return date(written)
    return character(written)


def code(column: Column) -> int:
    """sqlType."""
    return CODES[column.type.name]


SYSTEM: Final = System(
    title="SQL Server",
    cell=cell,
    code=code,
    type_name=lambda column: column.type.name,
    image=image,
    table_text="{database}.{schema}.{table}",
    schema_text="{database}.{schema}",
    topics=("single", "table", "database", "schema"),
    ddl=False,
    kinds=(DELETE,),
    handles=lambda column: column.type.name in CODES,
    db_type="Microsoft SQL Server",
    blank_types=True,
)
