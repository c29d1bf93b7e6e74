r"""Values of PostgreSQL and GaussDB as DRS writes them: texts, type codes, Avro classes.

Spec: "Kafka Message Format", table 4 and its sample of GaussDB, and the lists of types in "From PostgreSQL to Kafka"
and "From GaussDB Centralized to Kafka". sqlType is a number of DRS's own: `codes.csv` has those of the sample and a
reconstruction of the others, each marked so. Values are as the database prints them, but for:

| type | text | known from |
| --- | --- | --- |
| boolean | `true`, `false` | sample |
| bytea | `62797465`: hexadecimal without `\x` | sample |
| timestamp | its fraction without trailing zeros | sample |
| timestamp with time zone | the same in the session's time zone, and its offset: `+08`, `+05:30` | sample's tstzrange |
| json, jsonb | the type is `json` for both | sample |
| blob, raw of GaussDB | `6A67`: hexadecimal | decided here |
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.formats.drs.options import DrsOptions, JsonOptions, SourceOptions
from simulator.formats.drs.record import Values, binary, bit, character, date, decimal, floating, integer, timestamp
from simulator.formats.drs.systems.names import Names
from simulator.formats.drs.systems.system import TableSystem, codes
from simulator.model import Column, ColumnType, Kind
from simulator.sources.postgresql import times as postgresql_times
from simulator.sources.postgresql import type_table as postgresql_table
from simulator.sources.postgresql import types as postgresql_types
from simulator.sources.postgresql import values as postgresql_values
from simulator.sources.postgresql.type_table import EVERY_TYPE
from simulator.text import mysql as binlog_text
from simulator.text import postgresql as postgresql_text
from simulator.text.template import constant
from simulator.wire.fields import Cell

# No list of types that DRS reads has those of extensions, of the system, and multiranges. GaussDB's list has neither
# json nor ranges, but its sample has both: here DRS reads from GaussDB what it reads from PostgreSQL.
_UNREAD: Final = frozenset(
    {'"char"', "name", "citext", "oid", "xid", "pg_lsn", "txid_snapshot", "hstore", "ltree", "int4multirange"}
    | {"int8multirange", "nummultirange", "tsmultirange", "tstzmultirange", "datemultirange"}
)
_GAUSSDB: Final = r"[/<.>\\'`|,?!]"
_OF_TIMESTAMPS: Final = frozenset({"tstzrange", "timestamp with time zone[]"})
# REPLICA IDENTITY, that of a real server too.
_ROW_IMAGES: Final = frozenset({"default", "index", ""})
_IN_UTC: Final = re.compile(r"\d{4,}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\+00(?: BC)?")
# Texts that cannot hold a character that is escaped.
_PLAIN: Final = frozenset(
    {"integer", "decimal", "float", "boolean", "binary", "date", "time", "datetime", "bit", "uuid"}
)


def code(column: Column) -> int:
    """sqlType; arrays share one code, and so do types without a row of their own."""
    name, of_type = column.type.name, codes("postgresql")
    if name.endswith("[]"):
        return of_type["array"]
    return of_type.get("character" if name == "bpchar" else name, of_type["other"])


def type_name(column: Column) -> str:
    """columnType: the name that format_type prints, without arguments; a user's type has its own."""
    type = column.type
    if type.name == "enum":
        return postgresql_types.enum_name(type)
    return "json" if type.name == "jsonb" else type.name


def text(array: pa.Array, type: ColumnType, zone: str) -> pa.Array:
    """A column's values as text; nulls stay null."""
    family = postgresql_table.family(type)
    if family == "boolean":
        return pc.if_else(array, constant("true"), constant("false"))
    if family == "binary":
        upper = binlog_text.hex_bytes(array, type)
        return _lower(upper) if type.name == "bytea" else upper
    if type.name in _OF_TIMESTAMPS:
        return inner_timestamps(array, zone)
    return postgresql_text.column_text(array, type, family, postgresql_values.show_value, zone=zone)


def inner_timestamps(array: pa.Array, zone: str) -> pa.Array:
    """Ranges and arrays of timestamps, which travel in UTC, in the session's time zone.

    >>> inner_timestamps(pa.array(['["2010-01-01 06:30:00+00",)']), "+08:00").to_pylist()
    ['["2010-01-01 14:30:00+08",)']
    """
    coded = decoded(array).dictionary_encode()
    values = coded.dictionary.to_pylist()
    in_utc = [time for value in values for time in _IN_UTC.findall(value or "")]
    us = pa.array([postgresql_times.parse_timestamp(time, 6, zoned=True) for time in in_utc], pa.int64())
    in_zone = iter(text(us.view(pa.timestamp("us")), ColumnType("timestamp with time zone"), zone).to_pylist())
    shifted = [None if value is None else _IN_UTC.sub(lambda _: next(in_zone), value) for value in values]
    return pa.array(shifted, pa.string()).take(coded.indices)


def _lower(texts: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(texts.type):
        return pa.DictionaryArray.from_arrays(texts.indices, pc.ascii_lower(texts.dictionary))
    return pc.ascii_lower(texts)


def cell(column: Column, options: DrsOptions, kind: Kind | None = None) -> Cell:
    """A column's values: always strings."""
    type, zone = column.type, options.timezone
    return Cell(lambda array: text(array, type, zone), escaped=postgresql_table.family(type) not in _PLAIN)


def values(column: Column, options: DrsOptions, kind: Kind | None = None) -> Values:
    """The Avro class of a column's values."""
    type = column.type

    def printed(array: pa.Array) -> pa.Array:
        return text(array, type, options.timezone)

    match postgresql_table.family(type):
        case "integer" if type.name not in ("oid", "xid"):
            return integer(printed, EVERY_TYPE[type.name].size)
        case "decimal":
            return decimal(printed, type.length or 0, type.scale or 0)
        case "float":
            return floating(0, 0)
        case "boolean":
            return bit(lambda array: pc.if_else(array, "1", "0"), 1)
        case "bit":
            return bit(printed, type.length or 0)
        case "binary":
            return binary(type.name, lambda array: array)
        case "timestamptz":
            return timestamp()
        case "date" | "time" | "datetime" | "interval":
            return date(printed)
    if type.name == "time with time zone":
        return date(printed)
    if type.name == "money":
        return decimal(_bare_money, 0, 0)
    return character(printed)


def _bare_money(array: pa.Array) -> pa.Array:
    """`$1,234.50` without its sign and separators: `1234.50`."""
    return pc.replace_substring_regex(decoded(array), r"[^0-9.-]", "")


def system(options: SourceOptions) -> TableSystem:
    return TableSystem(
        title="PostgreSQL",
        cell=cell,
        code=code,
        type_name=type_name,
        values=values,
        table_text="{database}.{schema}.{table}",
        schema_text="{database}.{schema}",
        topics=("single", "table", "database", "schema"),
        ddl=False,
        reads=lambda column: column.type.name.removesuffix("[]") not in _UNREAD,
        row_images=_ROW_IMAGES,
        db_type="PostgreSQL",
        previous_commit=True,
        names=Names(r"[+\"%'\\<>]", r"[\".'<>]", r"[\"']"),
    )


def gaussdb(options: SourceOptions) -> TableSystem:
    """dbType of the sample; the editions of 2025 call the product GaussDB Centralized, and have no other sample."""
    distributed = isinstance(options, JsonOptions) and options.gaussdb == "distributed"
    edition = "Distributed" if distributed else "Primary/Standby"
    return replace(
        system(options),
        title="GaussDB",
        db_type=f"GaussDB {edition}",
        # "REPLICA IDENTITY FULL" of all tables (From GaussDB Distributed to Kafka)
        row_images=frozenset() if distributed else _ROW_IMAGES,
        names=Names(_GAUSSDB, _GAUSSDB),
    )
