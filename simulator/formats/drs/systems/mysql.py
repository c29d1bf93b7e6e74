"""Values of MySQL and TaurusDB (GaussDB for MySQL) as DRS writes them: texts, type codes, Avro classes.

Spec: "Kafka Message Format", table 2 and its sample, which proves the types marked so; the rest is decided here.
sqlType is java.sql.Types, with DRS's own 94 for datetime.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

from simulator.formats.drs.options import DrsOptions, SourceOptions
from simulator.formats.drs.record import Values, binary, bit, character, date, decimal, floating, integer, timestamp
from simulator.formats.drs.systems.names import Names
from simulator.formats.drs.systems.system import TableSystem, codes
from simulator.model import READ, Column, ColumnType, Kind
from simulator.sources.mysql import type_table as mysql_table
from simulator.text import decimals as decimal_text
from simulator.text import mysql as binlog_text
from simulator.text.pieces import PIECES
from simulator.text.template import Piece
from simulator.wire.fields import Cell, rendered

TEXT: Final[Mapping[str, Any]] = {
    "integer": binlog_text.integer,  # sample
    "decimal": decimal_text.decimal_plain,  # sample
    "float": binlog_text.float_,  # sample: 10357.0, 1.2510357E7
    "bit": binlog_text.number,
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
_NAMES: Final = r"['<`>/\\]|[^\x00-\x7f]"
ESCAPED: Final = frozenset({"text", "json", "enum", "set"})

# A timestamp of JSON-C has no fraction, whatever the column has.
_WHOLE_SECONDS: Final = ColumnType("timestamp")


def cell(column: Column, options: DrsOptions, kind: Kind | None = None) -> Cell:
    """A column's values: always strings. A timestamp is epoch seconds: 1624614713.201 in the sample."""
    type, family = column.type, mysql_table.family(column.type)
    if type.name == "timestamp":
        return rendered(binlog_text.epoch_fixed, type)
    if type.name == "binary" and not padded(kind, options):
        return rendered(binlog_text.byte_list_stripped, type)
    return rendered(TEXT[family], type, escaped=family in ESCAPED)


def json_c_cell(column: Column, options: DrsOptions, kind: Kind | None = None) -> Cell:
    """Cells of JSON-C, where a timestamp is a date and time in the session's time zone."""
    if column.type.name != "timestamp":
        return cell(column, options, kind)
    return rendered(binlog_text.datetime_fixed, _WHOLE_SECONDS, zone=options.timezone)


def values(column: Column, options: DrsOptions, kind: Kind | None = None) -> Values:
    """The Avro class of a column's values."""
    type, family = column.type, mysql_table.family(column.type)

    def text(array: pa.Array) -> Piece:
        return PIECES.get(TEXT[family], TEXT[family])(array, type)

    match family:
        case "integer":
            return integer(text, mysql_table.TYPES[type.name].bits // 8)
        case "year":
            return integer(text, 1)
        case "decimal":
            return decimal(text, *mysql_table.precision_scale(type))
        case "float":
            return floating(type.length or 0, type.scale or 0)
        case "bit":
            return bit(text, type.length or 1)
        case "datetime" if type.name == "timestamp":
            return timestamp(zero_dates=True)
        case "date" | "datetime" | "time":
            return date(text)
        case "binary" | "geometry":
            stripped = type.name == "binary" and not padded(kind, options)
            return binary(type.name, binary_stripped if stripped else lambda array: array)
    return character(text)


def padded(kind: Kind | None, options: DrsOptions) -> bool:
    """Whether BINARY(n) keeps the trailing zeros that the binary log drops: rows of the full load may."""
    return kind is READ and options.init_binary == "padded"


def binary_stripped(array: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, binary_stripped(array.dictionary))
    return binlog_text.without_trailing_zeros(array)


def system(options: SourceOptions) -> TableSystem:
    return TableSystem(
        title="MySQL",
        kinds=(READ,),
        cell=cell,
        json_c_cell=json_c_cell,
        code=lambda column: codes("mysql")[column.type.name],
        type_name=lambda column: column.type.name,  # no length, no precision, no `unsigned`
        values=values,
        table_text="{database}.{table}",
        schema_text="{database}",
        topics=("single", "table"),
        single_needs_topics=True,
        ddl=True,
        full_sync=True,
        in_utc="timestamp",
        names=Names(_NAMES, _NAMES),
    )
