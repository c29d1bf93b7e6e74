"""The type systems of PostgreSQL and GaussDB: reading types, their texts, values in and out, the log, statements."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from cases import samples_of
from each import each
from hypothesis import given
from hypothesis import strategies as st

from simulator.carriers import INFINITE_DAYS, INFINITE_US
from simulator.errors import UsageError
from simulator.model import Column, ColumnType, Table
from simulator.sources import find
from simulator.sources.postgresql import times as postgresql_times
from simulator.sources.postgresql import type_table as postgresql_table
from simulator.sources.postgresql import values as postgresql_values
from simulator.sources.postgresql.literals import json as postgresql_json
from simulator.text import postgresql as postgresql_text

POSTGRESQL: Final = find("postgresql")
GAUSSDB: Final = find("gaussdb")

CAPTURE: Final = Path(__file__).parents[1] / "captures" / "postgresql" / "15.18-values.jsonl.gz"
SOURCES: Final = ("postgresql-16", "postgresql-14", "postgresql-12", "gaussdb-505")
EVERY: Final = [(source, typed) for source in SOURCES for typed in samples_of(source).types]


def shown(typed: str, literal: str, source: str = "postgresql-16") -> str | None:
    types = find(source)
    type = types.parse_type(typed)
    (text,) = types.format_values(types.parse_values([literal], type), type)
    assert text is None or isinstance(text, str)
    return text


# --------------------------------------------------------------------------------------------------------------- types

# typed, and what format_type prints with the modifier and without it
TEXTS = [
    ("int", "integer", "integer"),
    ("INT4", "integer", "integer"),
    ("int8", "bigint", "bigint"),
    ("serial", "integer", "integer"),
    ("bigserial", "bigint", "bigint"),
    ("smallserial", "smallint", "smallint"),
    ("bool", "boolean", "boolean"),
    ("decimal", "numeric", "numeric"),
    ("dec(8)", "numeric(8,0)", "numeric"),
    ("numeric(10, 2)", "numeric(10,2)", "numeric"),
    ("numeric(3,-2)", "numeric(3,-2)", "numeric"),
    ("float", "double precision", "double precision"),
    ("float(24)", "real", "real"),
    ("float(25)", "double precision", "double precision"),
    ("float8", "double precision", "double precision"),
    ("varchar", "character varying", "character varying"),
    ("varchar(40)", "character varying(40)", "character varying"),
    ("character varying (40)", "character varying(40)", "character varying"),
    ("national character varying(7)", "character varying(7)", "character varying"),
    ("char", "character(1)", "character"),
    ("char(5)", "character(5)", "character"),
    ("bpchar", "bpchar", "bpchar"),
    ('"char"', '"char"', '"char"'),
    ("bit", "bit(1)", "bit"),
    ("bit(8)", "bit(8)", "bit"),
    ("varbit(8)", "bit varying(8)", "bit varying"),
    ("bit varying", "bit varying", "bit varying"),
    ("time", "time without time zone", "time without time zone"),
    ("time(3)", "time(3) without time zone", "time without time zone"),
    ("timetz(3)", "time(3) with time zone", "time with time zone"),
    ("timestamp", "timestamp without time zone", "timestamp without time zone"),
    ("timestamp (0)", "timestamp(0) without time zone", "timestamp without time zone"),
    ("Timestamp(3) With Time Zone", "timestamp(3) with time zone", "timestamp with time zone"),
    ("timestamptz", "timestamp with time zone", "timestamp with time zone"),
    ("interval(3)", "interval(3)", "interval"),
    ("int[]", "integer[]", "integer[]"),
    ("int[3][3]", "integer[]", "integer[]"),
    ("integer array", "integer[]", "integer[]"),
    ("varchar(40)[]", "character varying(40)[]", "character varying[]"),
    ("numeric(10,2)[]", "numeric(10,2)[]", "numeric[]"),
    ("timestamptz(3)[]", "timestamp(3) with time zone[]", "timestamp with time zone[]"),
    ("mood enum('sad','ok')", "mood", "mood"),
    ("enum('New York','ok')", "enum_new_york_ok", "enum_new_york_ok"),
]


@each(TEXTS)
def test_type_texts(typed: str, full: str, bare: str) -> None:
    type = POSTGRESQL.parse_type(typed)
    assert POSTGRESQL.type_text(type, style="format_type") == full
    assert POSTGRESQL.type_text(type, style="bare") == bare
    assert type.spelled == (typed if not type.labels else "mood" if "mood" in typed else "")
    if not type.labels:
        again = POSTGRESQL.parse_type(full)
        assert replace(again, spelled="") == replace(type, spelled="")


@each(
    [
        ("varchr(10)", "'varchr' is not a PostgreSQL type. Did you mean 'varchar'?"),
        ("bigintt", "'bigintt' is not a PostgreSQL type. Did you mean 'bigint'?"),
        ("tinyint", "'tinyint' is not a PostgreSQL type. Did you mean 'bigint'?"),
        ("", "'' is not a PostgreSQL type."),
        ("numeric(1001)", "'numeric(1001)': the precision must be 1 to 1000."),
        ("numeric(0)", "'numeric(0)': the precision must be 1 to 1000."),
        ("timestamp(7)", "'timestamp(7)': the number of fraction digits must be 0 to 6."),
        ("varchar(0)", "'varchar(0)': the length must be 1 to 10485760."),
        ("varchar(x)", "'varchar(x)': whole numbers belong between the brackets of varchar."),
        ("int(4)", "'int(4)': int takes no argument in brackets."),
        ("bit(1,2)", "'bit(1,2)': bit takes one argument in brackets."),
        ("float(54)", "'float(54)': the precision must be 1 to 53."),
        ("tsvector[]", "'tsvector[]': arrays of tsvector are not offered here."),
        ("enum(a)", "'enum(a)': quoted labels belong between the brackets, as in enum('a','b')."),
        ("enum('a','a')", "\"enum('a','a')\": a label stands there twice."),
    ]
)
def test_bad_types_are_told_in_one_sentence(typed: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        POSTGRESQL.parse_type(typed)
    assert str(caught.value) == sentence


def test_versions_differ() -> None:
    assert set(find("postgresql-16").types) - set(find("postgresql-12").types) == {
        "int4multirange", "int8multirange", "nummultirange", "tsmultirange", "tstzmultirange", "datemultirange",
    }  # fmt: skip
    assert shown("numeric", "inf", "postgresql-14") == "Infinity"
    with pytest.raises(ValueError, match="this version has no infinite numeric"):
        shown("numeric", "inf", "postgresql-12")
    with pytest.raises(UsageError, match="the scale must be 0 to 3, the precision"):
        find("postgresql-14").parse_type("numeric(3,-2)")


def test_gaussdb_adds_types_and_lacks_some() -> None:
    names = set(GAUSSDB.types)
    assert names - set(POSTGRESQL.types) == {
        "tinyint", "tinyint unsigned", "smallint unsigned", "integer unsigned", "bigint unsigned",
        "nvarchar2", "nvarchar2[]", "clob", "raw", "blob", "smalldatetime",
    }  # fmt: skip
    assert {"xid", "macaddr8", "line", "pg_lsn", "hstore", "citext", "int4multirange"} <= set(POSTGRESQL.types) - names
    assert GAUSSDB.parse_type("number(10,2)").name == "numeric"
    assert GAUSSDB.parse_type("varchar2(20)").name == "character varying"
    assert GAUSSDB.parse_type("int unsigned").name == "integer unsigned"
    with pytest.raises(UsageError, match="'hstore' is not a GaussDB type"):
        GAUSSDB.parse_type("hstore")


@each(
    [
        ("bool", "boolean"),
        ("int16", "smallint"),
        ("int32", "integer"),
        ("int64", "bigint"),
        ("uint16", "integer"),
        ("uint32", "bigint"),
        ("uint64", "numeric(20,0)"),
        ("decimal", "numeric(10,0)"),
        ("decimal(12, 2)", "numeric(12,2)"),
        ("float32", "real"),
        ("float64", "double precision"),
        ("string(40)", "character varying(40)"),
        ("text", "text"),
        ("bytes(16)", "bytea"),
        ("blob", "bytea"),
        ("date", "date"),
        ("time", "time(0) without time zone"),
        ("timestamp", "timestamp(0) without time zone"),
        ("timestamp(6)", "timestamp(6) without time zone"),
        ("timestamptz(3)", "timestamp(3) with time zone"),
        ("json", "jsonb"),
        ("uuid", "uuid"),
        ("enum('a','b')", "enum_a_b"),
    ]
)
def test_portable_types(portable: str, text: str) -> None:
    type = POSTGRESQL.from_portable(portable)
    assert type.spelled == ""
    assert POSTGRESQL.type_text(type, style="format_type") == text
    expected = "blob" if portable == "blob" else text
    assert GAUSSDB.type_text(GAUSSDB.from_portable(portable), style="format_type") == expected


@each(["strng(4)", "string", "int32(4)", "varchar(20)", "decimal(1001)"])
def test_wrong_portable_types(wrong: str) -> None:
    with pytest.raises(UsageError):
        POSTGRESQL.from_portable(wrong)


@each(
    [
        ("boolean", pa.bool_()),
        ("smallint", pa.int64()),
        ("oid", pa.int64()),
        ("numeric(38,10)", pa.decimal128(38, 10)),
        ("numeric(60,30)", pa.decimal256(60, 30)),
        ("numeric", pa.string()),
        ("numeric(300,2)", pa.string()),
        ("numeric(3,-2)", pa.string()),
        ("real", pa.float32()),
        ("double precision", pa.float64()),
        ("text", pa.string()),
        ("bytea", pa.binary()),
        ("date", pa.date32()),
        ("time", pa.duration("us")),
        ("timetz", pa.string()),
        ("timestamp", pa.timestamp("us")),
        ("timestamptz", pa.timestamp("us")),
        ("enum('a')", pa.int64()),
        ("bit(8)", pa.string()),
        ("jsonb", pa.string()),
        ("integer[]", pa.string()),
        ("money", pa.string()),
    ]
)
def test_carriers(typed: str, carrier: pa.DataType) -> None:
    assert POSTGRESQL.arrow_type(POSTGRESQL.parse_type(typed)) == carrier


def test_numbers_of_types_are_those_of_the_catalog() -> None:
    names = ("integer", "integer[]", "character varying", "jsonb", "timestamp with time zone", "enum", "hstore")
    assert [postgresql_table.oid(ColumnType(name)) for name in names] == [23, 1007, 1043, 3802, 1184, 0, 0]
    numbers = [row.oid for row in postgresql_table.EVERY_TYPE.values() if row.oid and row.name != "bpchar"]
    assert len(numbers) == len(set(numbers))


# -------------------------------------------------------------------------------------------------------------- values


def captured() -> list[tuple[str, str, str]]:
    with gzip.open(CAPTURE, "rt", encoding="utf-8") as lines:
        return [tuple(json.loads(line)) for line in lines]


def test_values_are_printed_as_a_real_server_does() -> None:
    # captured: PostgreSQL 15.18
    rows = captured()
    assert len(rows) > 1000
    wrong = [(t, literal, text, got) for t, literal, text in rows if (got := shown(t, literal)) != text]
    assert wrong == []
    base = {name for name in POSTGRESQL.types if name != "enum"}
    assert {POSTGRESQL.parse_type(t).name for t, _, _ in rows} == base


@each(EVERY)
def test_boundary_values_are_values_and_come_back(source: str, typed: str) -> None:
    types = find(source)
    type = types.parse_type(typed)
    literals = types.boundary_values(type, large=True)
    assert literals[-1] is None
    array = types.parse_values(literals, type)
    assert array.type == types.arrow_type(type)
    array.validate(full=True)
    assert array.null_count == 1
    texts = types.format_values(array, type)
    again = types.parse_values(texts, type)
    assert types.format_values(again, type) == texts
    if not pa.types.is_floating(array.type):  # a NaN equals nothing
        assert again.equals(array)


# source, type, literal, and what the server shows; documented: openGauss, data types
GAUSSDB_VALUES = [
    ("tinyint", "255", "255"),
    ("bigint unsigned", "18446744073709551615", "18446744073709551615"),
    ("raw", "deadbeef", "DEADBEEF"),
    ("blob", "0x00ff", "00FF"),
    ("bytea", "0x00ff", "\\x00ff"),
    ("smalldatetime", "2024-02-29 12:34:29", "2024-02-29 12:34:00"),
    ("smalldatetime", "2024-02-29 23:59:30", "2024-03-01 00:00:00"),
    ("nvarchar2(3)", "中文字", "中文字"),
    ("date", "2024-02-29", "2024-02-29"),
    ("clob", "", ""),
]


@each(GAUSSDB_VALUES)
def test_literals_of_gaussdb(typed: str, literal: str, text: str) -> None:
    assert shown(typed, literal, "gaussdb-505") == text


@each(
    [
        ("smallint", "32768", "32768 is outside -32768 to 32767, the bounds of smallint"),
        ("oid", "-1", "-1 is outside 0 to 4294967295, the bounds of oid"),
        ("integer", "1.5", "'1.5' is not a whole number"),
        ("boolean", "maybe", "'maybe' is not true or false"),
        ("numeric(5,2)", "999.995", "999.995 does not fit numeric(5,2)"),
        ("numeric(5,2)", "NaN", "numeric(5,2) cannot hold NaN here; declare it as numeric"),
        ("numeric(5,2)", "abc", "'abc' is not a decimal number"),
        ("double precision", "1_0", "'1_0' is not a number such as 1.5, 1e3, NaN or Infinity"),
        ("real", "1e39", "1e39 is beyond the range of real"),
        ("real", "1e-50", "1e-50 is beyond the range of real"),
        ("date", "2021-02-29", "'2021-02-29' is not in the calendar"),
        ("date", "0000-01-01", "'0000-01-01' is not in the calendar"),
        ("date", "yesterday", "'yesterday' is not a date such as 2024-02-29, 0044-03-15 BC or infinity"),
        ("timestamp", "2021-01-01 24:00:01", "'2021-01-01 24:00:01' has no such time of day"),
        ("timestamp", "2021-01-01 00:00:00Z", "'2021-01-01 00:00:00Z' has a time zone, and the column has none"),
        ("time", "24:00:01", "'24:00:01' has no such time of day"),
        ("time", "-1:00:00", "'-1:00:00' is not a time such as 12:34:56"),
        ("interval", "1 fortnight", "'1 fortnight' is not an interval such as 1 year 2 mons 3 days 04:05:06"),
        ("varchar(2)", "abc", "'abc' has 3 characters, and character varying(2) holds fewer"),
        ("text", "a\0", "'a\\x00' has the character \\x00, which no text of this system holds"),
        ("bit(3)", "11", "'11' has 2 bits and does not fit bit(3)"),
        ("bit(3)", "abc", "'abc' is not a bit string such as 101 or x'5f'"),
        ("uuid", "a0ee", "'a0ee' is not a UUID such as a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
        ("inet", "10.0.0", "'10.0.0' is not an address such as 192.168.1.5/24"),
        ("cidr", "10.0.0.1/8", "'10.0.0.1/8' is not a network such as 10.0.0.0/8"),
        ("point", "(1)", "'(1)' is not a point such as (1,2)"),
        ("int4range", "[5,1]", "'[5,1]' begins above its end"),
        ("int4range", "1,5", "'1,5' is not a range such as [1,5)"),
        ("integer[]", "{{1},{2,3}}", "'{{1},{2,3}}' is not an array such as {1,NULL,3}"),
        ("integer[]", "{a}", "'a' is not a whole number"),
        ("enum('a','b')", "c", "'c' is none of the labels 'a', 'b'"),
        ("json", "{a}", "'{a}' is not a JSON text: Expecting property name enclosed in double quotes at character 1"),
        ("jsonb", '"\\u0000"', "a jsonb string cannot hold the character \\u0000"),
        ("jsonb", "NaN", "NaN is not a JSON value"),
        ("xml", "<a>", "'<a>' is not XML: mismatched tag"),
        ("money", "x", "'x' is not an amount such as $1,234.56"),
        ("tsquery", "a &", "'a &' is not a tsquery such as 'fat' & !'cat'"),
        ("pg_lsn", "16", "'16' is not a place in the log such as 16/B374D848"),
        ("hstore", "a=>", '\'a=>\' is not keys and values such as "a"=>"1", "b"=>NULL'),
    ]
)
def test_bad_literals_are_told_in_one_sentence(typed: str, literal: str, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:
        shown(typed, literal)
    assert str(caught.value) == sentence


def test_infinity_and_years_before_christ_travel_as_numbers() -> None:
    moments = POSTGRESQL.parse_values(["infinity", "-infinity", "0001-12-31 23:59:59.5 BC"], ColumnType(
        "timestamp without time zone"
    ))  # fmt: skip
    assert moments.view(pa.int64()).to_pylist() == [INFINITE_US, -INFINITE_US, -62_135_596_800_500_000]
    days = POSTGRESQL.parse_values(["infinity", "-infinity", "0001-01-01 BC"], ColumnType("date"))
    assert days.view(pa.int32()).to_pylist() == [INFINITE_DAYS, -INFINITE_DAYS, -719_528]


@given(st.integers(postgresql_times.FIRST_DAY, postgresql_times.LAST_DAY))
def test_days_come_back(day: int) -> None:
    assert postgresql_times.day_number(*postgresql_times.civil(day)) == day
    assert postgresql_times.date(postgresql_times.show_date(day)) == day


@given(st.integers(postgresql_times.FIRST_DAY * 86_400_000_000, postgresql_times.LAST_US), st.integers(-50_000, 50_000))
def test_moments_come_back(us: int, offset: int) -> None:
    text = postgresql_times.show_timestamp(us)
    assert postgresql_times.parse_timestamp(text, 6, zoned=False) == us
    there = postgresql_times.show_timestamp(us, offset * 1_000_000)
    if us + offset * 1_000_000 >= postgresql_times.FIRST_DAY * 86_400_000_000:
        assert postgresql_times.parse_timestamp(there, 6, zoned=True) == us


@given(st.integers(-2000, 2000), st.integers(-400, 400), st.integers(-(10**13), 10**13))
def test_intervals_come_back(months: int, days: int, us: int) -> None:
    text = postgresql_times.show_interval(months, days, us)
    assert postgresql_times.interval_parts(text) == (months, days, us)


@given(st.floats(), st.booleans())
def test_floats_come_back(value: float, single: bool) -> None:
    with np.errstate(over="ignore"):
        stored = float(np.float32(value)) if single else value
    text = postgresql_values.show_value(stored, ColumnType("real" if single else "double precision"))
    again = float(np.float32(text)) if single else float(text)
    assert again == stored or (again != again and stored != stored)


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30))
def test_numerics_keep_their_scale(value: Any) -> None:
    text = shown("numeric", str(value))
    assert text is not None
    assert shown("numeric", text) == text
    assert "e" not in text.lower()


LEAVES = st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_characters="\0"), max_size=5)
KEYS = st.text(st.characters(exclude_characters="\0"), max_size=4)
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)


@given(JSON)
def test_normalised_json_means_the_same(value: object) -> None:
    try:
        text = json.dumps(value)
        normal = postgresql_json.normalised(text)
    except ValueError as error:
        assert "surrogate" in str(error)  # noqa: PT017
        return
    assert json.loads(normal) == value
    assert postgresql_json.normalised(normal) == normal


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)


@given(st.lists(st.none() | TEXTS, min_size=1, max_size=4))
def test_arrays_of_texts_come_back(values: list[str | None]) -> None:
    quoted = ["NULL" if v is None else '"' + re.sub(r'(["\\])', r"\\\1", v) + '"' for v in values]
    text = shown("text[]", "{" + ",".join(quoted) + "}")
    assert text is not None
    assert shown("text[]", text) == text


# ------------------------------------------------------------------------------------------------------ whole columns


def column_text(array: pa.Array, type: ColumnType, zone: str = "UTC") -> list[str | None]:
    texts = postgresql_text.column_text(
        array, type, postgresql_table.family(type), postgresql_values.show_value, zone=zone
    )
    assert texts.type in (pa.string(), pa.dictionary(pa.int32(), pa.string()))
    out: list[str | None] = texts.to_pylist()
    return out


@each(EVERY)
def test_columns_are_printed_like_their_values(source: str, typed: str) -> None:
    types = find(source)
    type = types.parse_type(typed)
    array = types.parse_values(types.boundary_values(type), type)
    shown = types.format_values(array, type)
    assert column_text(array, type) == shown
    assert column_text(array.slice(1), type) == shown[1:]
    assert column_text(array.slice(0, 1), type) == shown[:1]
    if pa.types.is_string(array.type) or pa.types.is_binary(array.type):
        assert column_text(array.dictionary_encode(), type) == shown


ZONES: Final = ("UTC", "+08:00", "-03:30", "Asia/Shanghai", "Europe/Berlin", "America/New_York")
YEAR_US: Final = 31_556_952_000_000


@given(st.lists(st.none() | st.integers(-100 * YEAR_US, 130 * YEAR_US), min_size=1, max_size=6), st.sampled_from(ZONES))
def test_moments_are_shown_in_a_zone(us: list[int | None], zone: str) -> None:
    type = ColumnType("timestamp with time zone")
    texts = column_text(pa.array(us, pa.int64()).view(pa.timestamp("us")), type, zone)
    fixed = {"UTC": 0, "+08:00": 480, "-03:30": -210}
    rules = dt.timezone(dt.timedelta(minutes=fixed[zone])) if zone in fixed else ZoneInfo(zone)
    for number, text in zip(us, texts, strict=True):
        if number is None:
            assert text is None
            continue
        moment = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(microseconds=number)
        offset = moment.astimezone(rules).utcoffset()
        assert offset is not None
        assert text == postgresql_times.show_timestamp(number, round(offset.total_seconds()) * 1_000_000)


def test_rare_moments_are_shown_in_a_zone() -> None:
    # captured: PostgreSQL 15.18 with these time zones
    literals = ["infinity", "-infinity", "0044-03-15 12:00:00+00 BC", "12024-05-01 23:00:00+00", None]
    type = ColumnType("timestamp with time zone")
    array = POSTGRESQL.parse_values(literals, type)
    shown = ["infinity", "-infinity", "0044-03-15 20:00:00+08 BC", "12024-05-02 07:00:00+08", None]
    assert column_text(array, type, "+08:00") == shown


@given(st.lists(st.none() | st.floats(), max_size=6), st.booleans())
def test_columns_of_floats(values: list[float | None], single: bool) -> None:
    type = ColumnType("real" if single else "double precision")
    with np.errstate(over="ignore"):
        plain = [value if value is None or not single else float(np.float32(value)) for value in values]
    array = pa.array(plain, POSTGRESQL.arrow_type(type))
    assert column_text(array, type) == POSTGRESQL.format_values(array, type)


# ------------------------------------------------------------------------------------------------------------ the log


# ---------------------------------------------------------------------------------------------------------- statements


def test_identifiers_are_lower_case_unless_they_want_quotes() -> None:
    assert [POSTGRESQL.identifier(name) for name in ("Orders", "Order No", "x" * 70)] == [
        "orders",
        "Order No",
        "x" * 63,
    ]
    assert str(POSTGRESQL.table_id("Shop", "Orders")) == "shop.public.orders"


def test_statements() -> None:
    columns = (
        Column("id", POSTGRESQL.parse_type("BIGSERIAL"), nullable=False),
        Column("Na me", POSTGRESQL.from_portable("string(20)")),
        Column("state", POSTGRESQL.from_portable("enum('a','b')"), nullable=False),
        Column("at", POSTGRESQL.from_portable("timestamptz(3)")),
        Column("order", POSTGRESQL.parse_type("numeric(10,2)[]")),
    )
    table = Table(POSTGRESQL.table_id("shop", "user"), columns, ("id",))
    ddl = POSTGRESQL.ddl
    assert ddl.create_table(table) == (
        'CREATE TABLE "user" (id BIGSERIAL NOT NULL, "Na me" varchar(20), state enum_a_b NOT NULL, at timestamptz(3), '
        '"order" numeric(10,2)[], PRIMARY KEY (id))'
    )
    new = Column("note", POSTGRESQL.from_portable("string(40)"))
    assert ddl.add_column(table, new, "it's", "id") == (
        "ALTER TABLE \"user\" ADD COLUMN note varchar(40) DEFAULT 'it''s'"
    )
    assert ddl.alter_column(table, new) == 'ALTER TABLE "user" ALTER COLUMN note TYPE varchar(40)'
    assert ddl.rename_column(table, columns[1], new) == 'ALTER TABLE "user" RENAME COLUMN "Na me" TO note'
    assert ddl.drop_column(table, new) == 'ALTER TABLE "user" DROP COLUMN note'
    assert ddl.rename_table(table, "people") == 'ALTER TABLE "user" RENAME TO people'
    assert ddl.create_index(table, "ix", ["order"], unique=True) == 'CREATE UNIQUE INDEX ix ON "user" ("order")'
    assert ddl.drop_index(table, "ix") == "DROP INDEX ix"
    assert ddl.truncate_table(table) == 'TRUNCATE TABLE "user"'
    assert ddl.drop_table(table) == 'DROP TABLE "user"'
    assert ddl.create_database("Shop") == 'CREATE DATABASE "Shop"'
    assert ddl.drop_database("shop") == "DROP DATABASE shop"


@each(
    [
        ("smallint", "integer", True),
        ("integer", "smallint", False),
        ("integer", "oid", False),
        ("numeric(8,2)", "numeric(10,2)", True),
        ("numeric(8,2)", "numeric(8,3)", False),
        ("numeric(8,2)", "numeric", True),
        ("numeric", "numeric(8,2)", False),
        ("real", "double precision", True),
        ("varchar(20)", "varchar(40)", True),
        ("varchar(20)", "text", True),
        ("text", "varchar(20)", False),
        ("text", "varchar", False),
        ("char(5)", "char(8)", True),
        ("char(5)", "varchar(8)", False),
        ("timestamp(3)", "timestamp", True),
        ("timestamp", "timestamptz", False),
        ("enum('a')", "enum('a','b')", True),
        ("varbit(3)", "varbit", True),
        ("jsonb", "json", False),
    ]
)
def test_widening(old: str, new: str, wider: bool) -> None:
    assert POSTGRESQL.ddl.widens(POSTGRESQL.parse_type(old), POSTGRESQL.parse_type(new)) is wider


@each(EVERY)
def test_a_column_definition_reads_back(source: str, typed: str) -> None:
    types = find(source)
    type = types.parse_type(typed)
    if type.labels:
        return
    again = types.parse_type(POSTGRESQL.ddl.type_definition(replace(type, spelled="")))
    assert replace(again, spelled="") == replace(type, spelled="")


def test_generated_values_are_stored_as_the_server_would() -> None:
    padded = POSTGRESQL.stored(pa.array(["ab", None]).dictionary_encode(), ColumnType("character", 4))
    assert padded.to_pylist() == ["ab  ", None]
    us = pa.array([1_234_567, -1, None, INFINITE_US, -INFINITE_US], pa.int64()).view(pa.timestamp("us"))
    cut = POSTGRESQL.stored(us, ColumnType("timestamp without time zone", 3))
    assert cut.view(pa.int64()).to_pylist() == [1_234_000, -1000, None, INFINITE_US, -INFINITE_US]
    assert POSTGRESQL.stored(us, ColumnType("timestamp without time zone")) is us
    small = POSTGRESQL.stored(pa.array([Decimal("0.0000001"), None]), ColumnType("numeric"))
    assert small.to_pylist() == ["0.0000001", None]
    assert POSTGRESQL.unit_us(ColumnType("smalldatetime")) == 60_000_000


# ----------------------------------------------------------------------------------------------------------- the rest
