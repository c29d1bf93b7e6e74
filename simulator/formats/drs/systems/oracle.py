"""Values of Oracle as DRS writes them: texts, type codes, Avro classes, and the columns that it leaves out.

Spec: "Kafka Message Format", table 4 ("JDBC type": its numbers are not published), and "From Oracle to Kafka" of 2022
for the types that are left out. Codes are those of oracle.jdbc.OracleTypes, but for two in `codes.csv`; texts are
decided here.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.carriers import FIRST_DAY, US_PER_DAY
from simulator.formats.drs.options import DrsOptions, SourceOptions
from simulator.formats.drs.record import Values, binary, character, date, decimal, floating, timestamp
from simulator.formats.drs.systems.names import Names
from simulator.formats.drs.systems.system import TableSystem, codes
from simulator.model import Column, ColumnType, Kind, SchemaChangeKind
from simulator.sources.oracle.type_table import TYPES
from simulator.text import decimals as decimal_text
from simulator.text import mysql as binlog_text
from simulator.wire.fields import Cell

# "BLOB, CLOB … are filtered out": no map has the columns. RAW is filtered unless the task says otherwise.
FILTERED: Final = frozenset(
    {"long", "long raw", "clob", "nclob", "blob", "bfile", "xmltype", "urowid"}
    | {"interval year to month", "interval day to second"}
    # decided here: no page knows Oracle 21c; what is JSON there is a CLOB in the versions that they know
    | {"json"}
)
_ESCAPED: Final = frozenset({"char", "varchar2", "nchar", "nvarchar2"})
_NO_FRACTION: Final = ColumnType("date")
# 9999-12-31, and the microseconds of 400 years.
_LAST_DAY: Final = 2_932_896
_CENTURIES_US: Final = 146_097 * US_PER_DAY


def number(array: pa.Array) -> pa.Array:
    """A NUMBER as Oracle stores it, without trailing zeros: `100`, `12.5`, `-0.001`."""
    if not pa.types.is_decimal(array.type):
        return array if pa.types.is_string(array.type) else array.cast(pa.string())
    return decimal_text.decimal_trimmed(array, _NO_FRACTION)


def local(array: pa.Array, type: ColumnType, zone: str) -> pa.Array:
    """A timestamp in the session's time zone, without its offset."""
    if pa.types.is_timestamp(array.type):
        return _shifted(array, type, zone)
    # with more than six digits it travels as text
    seconds = _shifted(_timestamps(array), _NO_FRACTION, zone)
    return pc.binary_join_element_wise(seconds, pc.utf8_slice_codeunits(array, 19), "")


def _shifted(array: pa.Array, type: ColumnType, zone: str) -> pa.Array:
    """Timestamps in a time zone; those at the ends of the calendar may be of the years 0 and 10000 there."""
    us = np.asarray(array.view(pa.int64()).fill_null(0))
    late, early = us >= _LAST_DAY * US_PER_DAY, us < (FIRST_DAY + 1) * US_PER_DAY
    if not late.any() and not early.any():
        return binlog_text.datetime_fixed(array, type, zone=zone)
    # the calendar repeats itself after 400 years
    moved = us + np.where(early, _CENTURIES_US, np.where(late, -_CENTURIES_US, 0))
    nulls = np.asarray(array.is_null()) if array.null_count else None
    texts = binlog_text.datetime_fixed(
        pa.array(moved, mask=nulls).cast(pa.timestamp("us")), type, zone=zone
    ).to_pylist()
    for row in np.flatnonzero(late | early).tolist():
        if texts[row] is not None:
            texts[row] = f"{int(texts[row][:4]) + (400 if late[row] else -400):04}{texts[row][4:]}"
    return pa.array(texts, pa.string())


def _timestamps(array: pa.Array) -> pa.Array:
    """Texts `2024-05-01 10:00:00.123456789` as microseconds; further digits are cut."""
    cut = pc.utf8_slice_codeunits(array, 0, 26)
    times = [None if text is None else dt.datetime.fromisoformat(text) for text in cut.to_pylist()]
    return pa.array(times, pa.timestamp("us"))


def text(array: pa.Array, type: ColumnType, options: DrsOptions) -> pa.Array:
    """A column's values as text; nulls stay null."""
    match type.name:
        case "number" | "float":
            return number(decoded(array))
        case "binary_float" | "binary_double":
            return binlog_text.float_(array, type)
        case "date":
            return binlog_text.datetime_fixed(array, _NO_FRACTION)
        case "timestamp" if pa.types.is_timestamp(array.type):
            return binlog_text.datetime_fixed(array, type)
        case "timestamp with local time zone":
            return local(decoded(array), type, options.timezone)
        case "raw":
            return binlog_text.byte_list(array, type)
    return array


def cell(column: Column, options: DrsOptions, kind: Kind | None = None) -> Cell:
    """A column's values: always strings."""
    type = column.type
    return Cell(lambda array: text(array, type, options), escaped=type.name in _ESCAPED)


def values(column: Column, options: DrsOptions, kind: Kind | None = None) -> Values:
    """The Avro class of a column's values."""
    type = column.type

    def printed(array: pa.Array) -> pa.Array:
        return text(array, type, options)

    match type.name:
        case "number" | "float":
            return decimal(printed, type.length or 0, type.scale or 0)
        case "binary_float" | "binary_double":
            return floating(0, 0)
        case "timestamp with local time zone":
            instants = timestamp()
            return lambda array: instants(array if pa.types.is_timestamp(array.type) else _timestamps(decoded(array)))
        case "date" | "timestamp" | "timestamp with time zone":
            return date(printed)
        case "raw":
            return binary(type.name, lambda array: array)
    return character(printed)


def code(column: Column) -> int:
    """sqlType."""
    return codes("oracle").get(column.type.name, TYPES[column.type.name].jdbc)


def system(options: SourceOptions) -> TableSystem:
    filtered = FILTERED | ({"raw"} if options.raw == "filter" else set())
    return TableSystem(
        title="Oracle",
        cell=cell,
        code=code,
        type_name=lambda column: column.type.name,
        values=values,
        table_text="{schema}.{table}",
        schema_text="{schema}",
        topics=("single", "table", "database", "schema"),
        ddl=True,
        # "table-level DDL" (From Oracle to Kafka)
        statements=frozenset(SchemaChangeKind) - {SchemaChangeKind.CREATE_DATABASE, SchemaChangeKind.DROP_DATABASE},
        filters=lambda column: column.type.name in filtered,
        # the vendor asks for supplemental logging of keys, or of all columns (From Oracle to Kafka)
        row_images=frozenset({"primary key, unique"}),
        db_type="Oracle",
        blank_types=True,
        blank_database=True,
        names=Names("", r"[.><\\`|,?!\"']|[^\x00-\x7f]"),
    )
