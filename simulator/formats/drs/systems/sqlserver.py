"""Values of SQL Server as DRS writes them: texts, type codes, Avro classes.

Spec: "Kafka Message Format", table 4 ("JDBC type": its numbers are not published), and "From Microsoft SQL Server to
Kafka" for the types that DRS does not read (sql_variant, geometry, geography) and for image, text and ntext, whose
values deleted rows lack. Codes are those of Microsoft's JDBC driver, texts are decided here.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from simulator.formats.drs.options import DrsOptions, SourceOptions
from simulator.formats.drs.record import NULL, Values, binary, bit, character, date, decimal, floating, integer
from simulator.formats.drs.systems.names import Names
from simulator.formats.drs.systems.system import TableSystem
from simulator.model import DELETE, Column, ColumnType, Kind
from simulator.sources.sqlserver.type_table import TYPES, digits, precision_scale
from simulator.text import decimals as decimal_text
from simulator.text import mysql as binlog_text
from simulator.wire.fields import Cell

# "letters, digits, underscores and hyphens"
_NAMES: Final = r"[^\w-]"
_UNREAD: Final = frozenset({"sql_variant", "geometry", "geography"})
_BYTES_OF: Final = {"tinyint": 1, "smallint": 2, "int": 4, "bigint": 8}
_ESCAPED: Final = frozenset({"char", "varchar", "text", "nchar", "nvarchar", "ntext", "xml"})
# A deleted row has no values of these types.
_NOT_DELETED: Final = frozenset({"image", "text", "ntext"})


def text(array: pa.Array, type: ColumnType) -> pa.Array:
    """A column's values as text; nulls stay null. Texts of dates with seven digits and of identifiers stay as they
    are."""
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
            padded = ColumnType(type.name, digits(type))
            return (binlog_text.time_fixed if type.name == "time" else binlog_text.datetime_fixed)(array, padded)
        case "binary" | "varbinary" | "image" | "timestamp" | "hierarchyid":
            return binlog_text.byte_list(array, type)
    return array


def cell(column: Column, options: DrsOptions, kind: Kind | None = None) -> Cell:
    """A column's values: always strings."""
    type = column.type
    if kind is DELETE and type.name in _NOT_DELETED:
        return Cell(lambda array: pa.nulls(len(array), pa.string()))
    return Cell(lambda array: text(array, type), escaped=type.name in _ESCAPED)


def values(column: Column, options: DrsOptions, kind: Kind | None = None) -> Values:
    """The Avro class of a column's values."""
    type = column.type

    def printed(array: pa.Array) -> pa.Array:
        return text(array, type)

    if kind is DELETE and type.name in _NOT_DELETED:
        return lambda array: [NULL]
    match type.name:
        case "tinyint" | "smallint" | "int" | "bigint":
            return integer(printed, _BYTES_OF[type.name])
        case "bit":
            return bit(printed, 1)
        case "decimal" | "numeric" | "money" | "smallmoney":
            return decimal(printed, *precision_scale(type))
        case "real" | "float":
            return floating(type.length or 0, 0)
        case "binary" | "varbinary" | "image" | "timestamp" | "hierarchyid":
            return binary(type.name, lambda array: array)
        case "date" | "time" | "datetime" | "smalldatetime" | "datetime2" | "datetimeoffset":
            return date(printed)
    return character(printed)


def system(options: SourceOptions) -> TableSystem:
    return TableSystem(
        title="SQL Server",
        cell=cell,
        code=lambda column: TYPES[column.type.name].jdbc,
        type_name=lambda column: column.type.name,
        values=values,
        table_text="{database}.{schema}.{table}",
        schema_text="{database}.{schema}",
        topics=("single", "table", "database", "schema"),
        ddl=False,
        kinds=(DELETE,),
        reads=lambda column: column.type.name not in _UNREAD,
        db_type="Microsoft SQL Server",
        blank_types=True,
        names=Names(_NAMES, _NAMES, r"[\[\]?]"),
    )
