"""How DRS prints the values of Oracle: texts, type codes, classes of Avro, and the columns that it leaves out.

Spec: "Kafka Message Format", table 4 ("JDBC type": its numbers are not published), and "From Oracle to Kafka" of 2022
for the types that are left out. Codes are those of oracle.jdbc.OracleTypes, texts are decided here.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.carriers import FIRST_DAY, US_PER_DAY
from simulator.formats.drs.envelope import DrsSettings, System
from simulator.formats.drs.record import Image, binary, character, date, decimal, floating, timestamp
from simulator.model import Column, ColumnType, Kind, SchemaChangeKind
from simulator.text import decimals as decimal_text
from simulator.text import mysql as binlog_text
from simulator.wire.fields import Cell

CODES: Final[Mapping[str, int]] = {
    "number": 2, "float": 6, "binary_float": 100, "binary_double": 101, "char": 1, "varchar2": 12, "nchar": -15,
    "nvarchar2": -9, "date": 93, "timestamp": 93, "timestamp with time zone": -101,
    "timestamp with local time zone": -102, "rowid": -8, "raw": -3,
    # left out, unless somebody wants them
    "long": -1, "long raw": -4, "clob": 2005, "nclob": 2011, "blob": 2004, "bfile": -13,
    "interval year to month": -103, "interval day to second": -104, "xmltype": 2009, "urowid": -8,
}  # fmt: skip
# "BLOB, CLOB … are filtered out": the columns are in no map. RAW is filtered unless the task says otherwise.
FILTERED: Final = frozenset(
    {"long", "long raw", "clob", "nclob", "blob", "bfile", "xmltype", "urowid"}
    | {"interval year to month", "interval day to second"}
)
_TEXTS: Final = frozenset({"char", "varchar2", "nchar", "nvarchar2"})
_NO_FRACTION: Final = ColumnType("date")
# 9999-12-31, and the microseconds of 400 years.
_LAST_DAY: Final = 2_932_896
_CENTURIES: Final = 146_097 * US_PER_DAY


def number(array: pa.Array) -> pa.Array:
    """A NUMBER without zeros at its end, never with an exponent: `100`, `12.5`, `-0.001`."""
    if not pa.types.is_decimal(array.type):
        return array if pa.types.is_string(array.type) else array.cast(pa.string())
    text = decimal_text.decimal_plain(array, _NO_FRACTION)
    return pc.utf8_rtrim(pc.utf8_rtrim(text, "0"), ".") if array.type.scale > 0 else text


def local(array: pa.Array, type: ColumnType, zone: str) -> pa.Array:
    """A moment in the zone of the session, without saying which."""
    if pa.types.is_timestamp(array.type):
        return _shifted(array, type, zone)
    # with more than six digits it travels as text
    seconds = _shifted(_moments(array), _NO_FRACTION, zone)
    return pc.binary_join_element_wise(seconds, pc.utf8_slice_codeunits(array, 19), "")


def _shifted(array: pa.Array, type: ColumnType, zone: str) -> pa.Array:
    """Moments in a zone; those at the ends of the calendar may be of the years 0 and 10000 there."""
    us = np.asarray(array.view(pa.int64()).fill_null(0))
    late, early = us >= _LAST_DAY * US_PER_DAY, us < (FIRST_DAY + 1) * US_PER_DAY
    if not late.any() and not early.any():
        return binlog_text.datetime_fixed(array, type, zone=zone)
    # the calendar repeats itself after 400 years
    moved = us + np.where(early, _CENTURIES, np.where(late, -_CENTURIES, 0))
    nulls = np.asarray(array.is_null()) if array.null_count else None
    texts = binlog_text.datetime_fixed(
        pa.array(moved, mask=nulls).cast(pa.timestamp("us")), type, zone=zone
    ).to_pylist()
    for row in np.flatnonzero(late | early).tolist():
        if texts[row] is not None:
            texts[row] = f"{int(texts[row][:4]) + (400 if late[row] else -400):04}{texts[row][4:]}"
    return pa.array(texts, pa.string())


def _moments(array: pa.Array) -> pa.Array:
    """Texts `2024-05-01 10:00:00.123456789` as microseconds; what is finer is cut."""
    cut = pc.utf8_slice_codeunits(array, 0, 26)
    found = [None if text is None else dt.datetime.fromisoformat(text) for text in cut.to_pylist()]
    return pa.array(found, pa.timestamp("us"))


def text(array: pa.Array, type: ColumnType, settings: DrsSettings) -> pa.Array:
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
            return local(decoded(array), type, settings.options.timezone)
        case "raw":
            return binlog_text.byte_list(array, type)
    return array


def cell(column: Column, settings: DrsSettings, kind: Kind | None = None) -> Cell:
    """How a column's values are written: always a string."""
    type = column.type
    return Cell(lambda array: text(array, type, settings), escaped=type.name in _TEXTS)


def image(column: Column, settings: DrsSettings, kind: Kind | None = None) -> Image:
    """The class of Avro that a column's values have."""
    type = column.type

    def written(array: pa.Array) -> pa.Array:
        return text(array, type, settings)

    match type.name:
        case "number" | "float":
            return decimal(written, type.length or 0, type.scale or 0)
        case "binary_float" | "binary_double":
            return floating(0, 0)
        case "timestamp with local time zone":
            whole = timestamp()
            return lambda array: whole(array if pa.types.is_timestamp(array.type) else _moments(decoded(array)))
        case "date" | "timestamp" | "timestamp with time zone":
            return date(written)
        case "raw":
            return binary(type.name, lambda array: array)
    return character(written)


def leaves(column: Column, settings: DrsSettings) -> bool:
    """Whether a column is filtered out."""
    return column.type.name in FILTERED or (column.type.name == "raw" and settings.options.raw == "filter")


def code(column: Column) -> int:
    """sqlType."""
    return CODES[column.type.name]


SYSTEM: Final = System(
    title="Oracle",
    cell=cell,
    code=code,
    type_name=lambda column: column.type.name,
    image=image,
    table_text="{schema}.{table}",
    schema_text="{schema}",
    topics=("single", "table", "database", "schema"),
    ddl=True,
    # "table-level DDL" (From Oracle to Kafka)
    statements=frozenset(SchemaChangeKind) - {SchemaChangeKind.CREATE_DATABASE, SchemaChangeKind.DROP_DATABASE},
    handles=lambda column: column.type.name in CODES,
    leaves=leaves,
    db_type="Oracle",
    blank_types=True,
    blank_database=True,
)
