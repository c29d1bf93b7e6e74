r"""How DRS prints the values of PostgreSQL and GaussDB: texts, type codes, classes of Avro.

Spec: "Kafka Message Format", table 4 and its sample of GaussDB, and the lists of types in "From PostgreSQL to Kafka"
and "From GaussDB Centralized to Kafka". sqlType is a number of DRS's own: `postgresql.csv` has those of the sample,
and a reconstruction of the others, each row marked as what it is. Values are as the database prints them, but for:

| type | text | known from |
| --- | --- | --- |
| boolean | `true`, `false` | sample |
| bytea | `62797465`: hexadecimal without `\x` | sample |
| timestamp | no zeros at the end of its fraction | sample |
| timestamp with time zone | the same in the session's zone, and its offset: `+08`, `+05:30` | sample's tstzrange |
| json, jsonb | the type is `json` for both | sample |
| blob, raw of GaussDB | `6A67`: hexadecimal | decided here |
"""

from __future__ import annotations

import csv
import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.carriers import FIRST_DAY, US_PER_DAY, numbers
from simulator.formats.drs.envelope import DrsSettings, System
from simulator.formats.drs.record import Image, binary, bit, character, date, decimal, floating, integer, timestamp
from simulator.model import Column, ColumnType, Kind
from simulator.sources import postgresql
from simulator.sources.postgresql import times as postgresql_times
from simulator.text import decimals as decimal_text
from simulator.text import mysql as binlog_text
from simulator.wire.fields import Cell

# Types of extensions, of the system, and ranges of several pieces are in no list of types that DRS reads. GaussDB's
# list has neither json nor ranges, and its sample has both: what PostgreSQL's list has is taken for read there, too.
_UNLISTED: Final = frozenset(
    {'"char"', "name", "citext", "oid", "xid", "pg_lsn", "txid_snapshot", "hstore", "ltree", "int4multirange"}
    | {"int8multirange", "nummultirange", "tsmultirange", "tstzmultirange", "datemultirange"}
)
_BYTES_OF: Final = {"tinyint": 1, "smallint": 2, "integer": 4, "bigint": 8}
# The last day that dates of four digits reach.
_LAST_DAY: Final = 2_932_896
_OF_MOMENTS: Final = frozenset({"tstzrange", "timestamp with time zone[]"})
_UTC_MOMENT: Final = re.compile(r"\d{4,}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\+00(?: BC)?")
# Texts that cannot hold a character that is escaped.
_PLAIN: Final = frozenset(
    {"integer", "decimal", "float", "boolean", "binary", "date", "time", "datetime", "bit", "uuid"}
)


@lru_cache(maxsize=1)
def codes() -> Mapping[str, int]:
    """sqlType by type; `array` and `other` for what has no row of its own."""
    with Path(__file__).with_name("postgresql.csv").open(encoding="utf-8", newline="") as file:
        return {row["type"]: int(row["code"]) for row in csv.DictReader(file)}


def code(column: Column) -> int:
    """sqlType."""
    name = column.type.name
    if name.endswith("[]"):
        return codes()["array"]
    return codes().get("character" if name == "bpchar" else name, codes()["other"])


def type_name(column: Column) -> str:
    """columnType: the name that format_type prints, without what stands in brackets; a user's type has its own."""
    type = column.type
    if type.name == "enum":
        return postgresql.enum_name(type)
    return "json" if type.name == "jsonb" else type.name


def printed(array: pa.Array, type: ColumnType) -> pa.Array:
    """Values as the database prints them, each different one once; told apart by their bits, since 0 is not -0."""
    bits = {pa.float32(): pa.int32(), pa.float64(): pa.int64(), pa.date32(): pa.int32()}.get(array.type, pa.int64())
    coded = array.view(bits).dictionary_encode()
    texts = postgresql.format_values(coded.dictionary.view(array.type), type)
    return pa.array(texts, pa.string()).take(coded.indices)


def text(array: pa.Array, type: ColumnType, zone: str) -> pa.Array:
    """A column's values as text; nulls stay null."""
    match postgresql.family(type):
        case "boolean":
            return pc.if_else(array, "true", "false")
        case "integer":
            return binlog_text.integer(array, type)
        case "decimal" if pa.types.is_decimal(array.type):
            return decimal_text.decimal_plain(array, type)
        case "float":
            return printed(array, type)
        case "binary":
            upper = binlog_text.hex_bytes(array, type)
            return _lower(upper) if type.name == "bytea" else upper
        case "date":
            return binlog_text.date(array, type) if _is_ordinary(array, 1) else printed(array, type)
        case "time":
            return binlog_text.time_trimmed(array, type)
        case "datetime":
            ordinary = _is_ordinary(array, US_PER_DAY)
            return binlog_text.datetime_trimmed(array, type) if ordinary else printed(array, type)
        case "timestamptz":
            return moments(array, type, zone)
        case "enum":
            return binlog_text.enum_label(array, type)
    return inner_moments(array, zone) if type.name in _OF_MOMENTS else array


def moments(array: pa.Array, type: ColumnType, zone: str) -> pa.Array:
    """A moment in the zone of the session, and its offset from UTC there."""
    if (fixed := re.fullmatch(r"([+-]\d\d):(\d\d)", zone)) and _is_ordinary(array, US_PER_DAY, days=1):
        offset = fixed[1] if fixed[2] == "00" else zone
        return pc.binary_join_element_wise(binlog_text.datetime_trimmed(array, type, zone=zone), offset, "")
    coded = array.view(pa.int64()).dictionary_encode()
    texts = [None if us is None else _moment(us, zone) for us in coded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(coded.indices)


def inner_moments(array: pa.Array, zone: str) -> pa.Array:
    """Ranges and arrays of moments, which travel in UTC, in the zone of the session: `("2010-01-01 14:30:00+08",)`."""

    def local(match: re.Match[str]) -> str:
        return _moment(postgresql_times.moment(match[0], 6, zoned=True), zone)

    coded = decoded(array).dictionary_encode()
    texts = [None if text is None else _UTC_MOMENT.sub(local, text) for text in coded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(coded.indices)


def _moment(us: int, zone: str) -> str:
    if fixed := re.fullmatch(r"([+-])(\d\d):(\d\d)", zone):
        minutes = int(fixed[2]) * 60 + int(fixed[3])
        return postgresql_times.show_moment(us, (-minutes if fixed[1] == "-" else minutes) * 60_000_000)
    return postgresql_times.show_moment(us, _offset_us(us, ZoneInfo(zone)))


def _offset_us(us: int, zone: ZoneInfo) -> int:
    """What a zone is ahead of UTC; beyond the calendar of Python as at its ends."""
    bounded = min(max(us, (FIRST_DAY + 2) * US_PER_DAY), (_LAST_DAY - 1) * US_PER_DAY)
    moment = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(microseconds=bounded)
    offset = moment.astimezone(zone).utcoffset()
    assert offset is not None
    return round(offset.total_seconds()) * 1_000_000


def _is_ordinary(array: pa.Array, unit: int, days: int = 0) -> bool:
    """Whether all values are of the years 1 to 9999, so many days from the ends at least."""
    if array.null_count == len(array):
        return True
    values = numbers(array)
    if array.null_count:
        values = values[np.asarray(array.is_valid())]
    return bool(values.min() >= (FIRST_DAY + days) * unit and values.max() < (_LAST_DAY + 1 - days) * unit)


def _lower(texts: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(texts.type):
        return pa.DictionaryArray.from_arrays(texts.indices, pc.ascii_lower(texts.dictionary))
    return pc.ascii_lower(texts)


def cell(column: Column, settings: DrsSettings, kind: Kind | None = None) -> Cell:
    """How a column's values are written: always a string."""
    type, zone = column.type, settings.options.timezone
    return Cell(lambda array: text(array, type, zone), escaped=postgresql.family(type) not in _PLAIN)


def image(column: Column, settings: DrsSettings, kind: Kind | None = None) -> Image:
    """The class of Avro that a column's values have."""
    type = column.type

    def written(array: pa.Array) -> pa.Array:
        return text(array, type, settings.options.timezone)

    match postgresql.family(type):
        case "integer" if type.name not in ("oid", "xid"):
            return integer(written, _BYTES_OF[type.name.removesuffix(" unsigned")])
        case "decimal":
            return decimal(written, type.length or 0, type.scale or 0)
        case "float":
            return floating(0, 0)
        case "boolean":
            return bit(lambda array: pc.if_else(array, "1", "0"), 1)
        case "bit":
            return bit(written, type.length or 0)
        case "binary":
            return binary(type.name, lambda array: array)
        case "timestamptz":
            return timestamp()
        case "date" | "time" | "datetime" | "interval":
            return date(written)
    if type.name == "time with time zone":
        return date(written)
    if type.name == "money":
        return decimal(_bare_money, 0, 0)
    return character(written)


def _bare_money(array: pa.Array) -> pa.Array:
    """`$1,234.50` without its sign and separators: `1234.50`."""
    return pc.replace_substring_regex(decoded(array), r"[^0-9.-]", "")


SYSTEM: Final = System(
    title="PostgreSQL",
    cell=cell,
    code=code,
    type_name=type_name,
    image=image,
    table_text="{database}.{schema}.{table}",
    schema_text="{database}.{schema}",
    topics=("single", "table", "database", "schema"),
    ddl=False,
    handles=lambda column: column.type.name.removesuffix("[]") not in _UNLISTED,
    db_type="PostgreSQL",
    previous_commit=True,
)
# dbType of the sample; the editions of 2025 call the product GaussDB Centralized, and show no other sample.
GAUSSDB: Final = replace(SYSTEM, title="GaussDB", db_type="GaussDB Primary/Standby")
DISTRIBUTED: Final = replace(GAUSSDB, db_type="GaussDB Distributed")
