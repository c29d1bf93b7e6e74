"""The type system of MySQL: reading types, their texts, values in and out, sizes in the binary log."""

from __future__ import annotations

import math
from typing import Final

import pyarrow as pa
import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st

from simulator.errors import UsageError
from simulator.model import Column, ColumnType, Table, TableId
from simulator.partial_dates import DATE, DATETIME
from simulator.sources import boundaries, find
from simulator.sources.mysql import geometry as mysql_geometry
from simulator.sources.mysql import json as mysql_json
from simulator.sources.mysql import row_bytes as mysql_row_bytes

MYSQL: Final = find("mysql")

# typed, and what is printed: SHOW CREATE TABLE of 5.7 and 8.0, the text of the DDL as the product's parser keeps it.
# captured: Canal 1.1.8 on MySQL 5.7.22 and MySQL 8.0.31
TEXTS = [
    ("int", "int(11)", "int", "int"),
    ("int(11)", "int(11)", "int", "int(11)"),
    ("INTEGER", "int(11)", "int", "INTEGER"),
    ("integer(7)", "int(7)", "int", "integer(7)"),
    ("int8", "bigint(20)", "bigint", "int8"),
    ("middleint", "mediumint(9)", "mediumint", "middleint"),
    ("INT2 unsigned", "smallint(5) unsigned", "smallint unsigned", "INT2 unsigned"),
    ("int signed", "int(11)", "int", "int"),
    ("tinyint", "tinyint(4)", "tinyint", "tinyint"),
    ("tinyint(1)", "tinyint(1)", "tinyint(1)", "tinyint(1)"),
    ("bool", "tinyint(1)", "tinyint(1)", "bool"),
    ("BOOLEAN", "tinyint(1)", "tinyint(1)", "BOOLEAN"),
    ("BIGINT(20) UNSIGNED", "bigint(20) unsigned", "bigint unsigned", "BIGINT(20) unsigned"),
    ("serial", "bigint(20) unsigned", "bigint unsigned", "serial"),
    ("int(5) zerofill", "int(5) unsigned zerofill", "int(5) unsigned zerofill", "int(5) unsigned zerofill"),
    ("int zerofill unsigned", "int(10) unsigned zerofill", "int(10) unsigned zerofill", "int unsigned zerofill"),
    ("bigint(5) zerofill", "bigint(5) unsigned zerofill", "bigint(5) unsigned zerofill", "bigint(5) unsigned zerofill"),
    ("float(24)", "float", "float", "float(24)"),
    ("float(25)", "double", "double", "double(25)"),
    ("float(7,2) unsigned", "float(7,2) unsigned", "float(7,2) unsigned", "float(7,2) unsigned"),
    ("double precision(5,2)", "double(5,2)", "double(5,2)", "double precision(5,2)"),
    ("DOUBLE PRECISION unsigned", "double unsigned", "double unsigned", "DOUBLE PRECISION unsigned"),
    ("real", "double", "double", "real"),
    ("float4", "float", "float", "float4"),
    ("float8", "double", "double", "float8"),
    ("dec", "decimal(10,0)", "decimal(10,0)", "dec"),
    ("fixed(10,2)", "decimal(10,2)", "decimal(10,2)", "fixed(10,2)"),
    ("DECIMAL(8, 3)", "decimal(8,3)", "decimal(8,3)", "DECIMAL(8,3)"),
    ("Decimal( 8 , 3 ) Unsigned", "decimal(8,3) unsigned", "decimal(8,3) unsigned", "Decimal(8,3) unsigned"),
    (
        "decimal(5) zerofill",
        "decimal(5,0) unsigned zerofill",
        "decimal(5,0) unsigned zerofill",
        "decimal(5) unsigned zerofill",
    ),
    ("bit", "bit(1)", "bit(1)", "bit"),
    ("year", "year(4)", "year", "year"),
    ("year(4)", "year(4)", "year", "year(4)"),
    ("DateTime( 3 )", "datetime(3)", "datetime(3)", "DateTime(3)"),
    ("timestamp(6)", "timestamp(6)", "timestamp(6)", "timestamp(6)"),
    ("character(3)", "char(3)", "char(3)", "character(3)"),
    ("char", "char(1)", "char(1)", "char"),
    ("national varchar(10)", "varchar(10)", "varchar(10)", "national varchar(10)"),
    ("national char varying(5)", "varchar(5)", "varchar(5)", "national char varying(5)"),
    ("nvarchar(5)", "varchar(5)", "varchar(5)", "nvarchar(5)"),
    ("varchar(40) character set latin1", "varchar(40)", "varchar(40)", "varchar(40)"),
    ("varchar(20) charset utf8", "varchar(20)", "varchar(20)", "varchar(20)"),
    ("varchar(40) collate utf8mb4_bin", "varchar(40)", "varchar(40)", "varchar(40)"),
    ("varchar(40) binary", "varchar(40)", "varchar(40)", "varchar(40)"),
    ("varchar(10) character set binary", "varbinary(10)", "varbinary(10)", "varchar(10)"),
    ("char(4) byte", "binary(4)", "binary(4)", "char(4)"),
    ("long", "mediumtext", "mediumtext", "long"),
    ("long varbinary", "mediumblob", "mediumblob", "long varbinary"),
    ("text(30)", "tinytext", "tinytext", "text(30)"),
    ("text(300)", "text", "text", "text(300)"),
    ("text(70000)", "mediumtext", "mediumtext", "text(70000)"),
    ("blob(300)", "blob", "blob", "blob(300)"),
    ("binary", "binary(1)", "binary(1)", "binary"),
    ("ENUM ( 'A' , 'B' )", "enum('A','B')", "enum('A','B')", "ENUM('A','B')"),
    ("Set('p', 'q')", "set('p','q')", "set('p','q')", "Set('p','q')"),
    (
        r"""enum("d""q",'s''q','b\\s','c,d','(x)')""",
        r"""enum('d"q','s''q','b\s','c,d','(x)')""",
        r"""enum('d"q','s''q','b\s','c,d','(x)')""",
        r"""enum('d"q','s''q','b\s','c,d','(x)')""",
    ),
    ("json", "json", "json", "json"),
    ("geometrycollection", "geometrycollection", "geomcollection", "geometrycollection"),
]


@each(TEXTS)
def test_type_texts(typed: str, old: str, new: str, ddl: str) -> None:
    type = MYSQL.parse_type(typed)
    assert type.spelled == typed
    assert MYSQL.type_text(type, style="show_create_57") == old
    assert MYSQL.type_text(type, style="show_create_80") == new
    assert MYSQL.type_text(type, style="ddl_text") == ddl


@each(TEXTS)
def test_a_shown_type_reads_back_as_the_same(typed: str, old: str, new: str, ddl: str) -> None:
    for shown in (old, new):
        again = MYSQL.parse_type(shown.replace("\\", "\\\\"))
        assert MYSQL.type_text(again, style="show_create_80") == new


@each(
    [
        ("bigint(20) unsigned", "bigint unsigned"),
        ("tinyint(1)", "tinyint"),
        ("VARCHAR(20)", "varchar"),
        ("dec", "decimal"),
    ]
)
def test_bare_text(typed: str, bare: str) -> None:
    assert MYSQL.type_text(MYSQL.parse_type(typed), style="bare") == bare


def test_a_type_that_nobody_typed_has_the_text_of_8_0() -> None:
    assert MYSQL.type_text(MYSQL.from_portable("string(20)"), style="ddl_text") == "varchar(20)"


@each(
    [
        ("varchr(10)", "'varchr' is not a MySQL type. Did you mean 'varchar'?"),
        ("bigintt", "'bigintt' is not a MySQL type. Did you mean 'bigint'?"),
        ("", "'' is not a MySQL type."),
        ("decimal(70,2)", "'decimal(70,2)': the precision must be 0 to 65."),
        ("decimal(10,31)", "'decimal(10,31)': the scale must be 0 to 30."),
        ("decimal(5,6)", "'decimal(5,6)': the scale must not be above the precision."),
        ("datetime(7)", "'datetime(7)': the number of fraction digits must be 0 to 6."),
        ("varchar", "'varchar': varchar needs a length, as in varchar(40)."),
        ("varchar(70000)", "'varchar(70000)': the length must be 0 to 65535."),
        ("char(256)", "'char(256)': the length must be 0 to 255."),
        ("enum", "'enum': enum needs labels, as in enum('a','b')."),
        ("enum(a)", "'enum(a)': quoted labels belong between the brackets, as in enum('a','b')."),
        ("enum('a','a')", "\"enum('a','a')\": a label stands there twice."),
        ("set('a,b')", "\"set('a,b')\": the labels of a set hold no comma."),
        ("bit(65)", "'bit(65)': the number of bits must be 1 to 64."),
        ("int(1,2)", "'int(1,2)': int takes one argument in brackets."),
        ("json(5)", "'json(5)': json takes no argument in brackets."),
        ("varchar(x)", "'varchar(x)': whole numbers belong between the brackets of varchar."),
        ("text unsigned", "'text unsigned': unsigned belongs to numbers, not to text."),
        ("int character set latin1", "'int character set latin1': a character set belongs to texts, not to int."),
        (
            "varchar(5) charset latin2x",
            "'varchar(5) charset latin2x': 'latin2x' is not a character set known here. Did you mean 'latin2'?",
        ),
        ("int not", "'int not': 'not' is no attribute of a type."),
        ("float(54)", "'float(54)': the precision must be 0 to 53."),
        ("year(2)", "'year(2)': the display width must be 4."),
    ]
)
def test_bad_types_are_told_in_one_sentence(typed: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        MYSQL.parse_type(typed)
    assert str(caught.value) == sentence


@each(
    [
        ("bool", "tinyint(1)"),
        ("int16", "smallint"),
        ("int32", "int"),
        ("int64", "bigint"),
        ("uint64", "bigint unsigned"),
        ("decimal", "decimal(10,0)"),
        ("decimal(12, 2)", "decimal(12,2)"),
        ("float32", "float"),
        ("float64", "double"),
        ("string(40)", "varchar(40)"),
        ("text", "text"),
        ("bytes(16)", "varbinary(16)"),
        ("blob", "blob"),
        ("date", "date"),
        ("time(3)", "time(3)"),
        ("timestamp(6)", "datetime(6)"),
        ("timestamptz", "timestamp"),
        ("json", "json"),
        ("uuid", "char(36)"),
        ("enum('a','b')", "enum('a','b')"),
    ]
)
def test_portable_types(portable: str, text: str) -> None:
    type = MYSQL.from_portable(portable)
    assert type.spelled == ""
    assert MYSQL.type_text(type, style="show_create_80") == text


@each(["strng(4)", "string", "int32(4)", "varchar(20)", "decimal(99)"])
def test_wrong_portable_types(wrong: str) -> None:
    with pytest.raises(UsageError):
        MYSQL.from_portable(wrong)


@each(
    [
        ("tinyint unsigned", pa.int64()),
        ("bigint", pa.int64()),
        ("bigint unsigned", pa.uint64()),
        ("decimal(38,10)", pa.decimal128(38, 10)),
        ("decimal(65,30)", pa.decimal256(65, 30)),
        ("float", pa.float32()),
        ("double", pa.float64()),
        ("bit(9)", pa.uint64()),
        ("set('a')", pa.uint64()),
        ("enum('a')", pa.int64()),
        ("year", pa.int64()),
        ("text", pa.string()),
        ("json", pa.string()),
        ("binary(4)", pa.binary()),
        ("point", pa.binary()),
        ("date", DATE),
        ("timestamp(3)", DATETIME),
        ("time", pa.duration("us")),
    ]
)
def test_carriers(typed: str, carrier: pa.DataType) -> None:
    assert MYSQL.arrow_type(MYSQL.parse_type(typed)) == carrier


# One column type of every kind, for what must hold of all.
EVERY = [
    *("tinyint", "tinyint(1)", "tinyint unsigned", "smallint", "smallint unsigned", "mediumint", "mediumint unsigned"),
    *("int", "int unsigned", "int(5) zerofill", "bigint", "bigint unsigned", "decimal", "decimal(10,2)"),
    *("decimal(18,6)", "decimal(20,11) unsigned", "decimal(65,30)", "decimal(5,5)", "float", "float(7,2)"),
    *("float unsigned", "double", "double(10,5)", "bit", "bit(9)", "bit(64)", "date", "datetime", "datetime(1)"),
    *("datetime(6)", "timestamp", "timestamp(3)", "time", "time(2)", "time(6)", "year", "char(0)", "char(5)"),
    *("varchar(40)", "varchar(40) character set latin1", "varchar(40) character set utf8", "varchar(9) charset gbk"),
    *("tinytext", "text", "mediumtext", "longtext", "binary", "binary(16)", "varbinary(10)", "varbinary(300)"),
    *("tinyblob", "blob", "mediumblob", "longblob", "json", "enum('a','b','c,d','e''f','')", "set('x','y','w w')"),
    *("geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon"),
    "geometrycollection",
]


def test_every_type_is_among_them() -> None:
    assert {MYSQL.parse_type(typed).name for typed in EVERY} == set(MYSQL.types)


@each(EVERY)
def test_boundary_values_are_values_and_come_back(typed: str) -> None:
    type = MYSQL.parse_type(typed)
    literals = MYSQL.boundary_values(type, large=True)
    array = MYSQL.parse_values(literals, type)
    assert array.type == MYSQL.arrow_type(type)
    array.validate(full=True)
    assert literals[-1] is None
    assert array.null_count == 1
    shown = MYSQL.format_values(array, type)
    again = MYSQL.parse_values(shown, type)
    assert again.equals(array)
    assert MYSQL.format_values(again, type) == shown


@each(
    [
        ("tinyint unsigned", ["0", "127", "128", "255"]),
        ("smallint unsigned", ["32767", "32768", "65535"]),
        ("int unsigned", ["2147483647", "2147483648", "4294967295"]),
        ("bigint unsigned", ["9223372036854775807", "9223372036854775808", "18446744073709551615"]),
        ("bigint", ["-9223372036854775808", "-1", "9223372036854775807"]),
        ("date", ["0000-00-00", "2020-00-00", "2024-02-29", "9999-12-31"]),
        ("year", ["0000", "1901", "2155"]),
        ("decimal(10,2)", ["5", "99999999.99", "-99999999.99"]),
    ]
)
def test_boundary_values_hold_the_edges(typed: str, edges: list[str]) -> None:
    assert set(edges) <= set(MYSQL.boundary_values(MYSQL.parse_type(typed)))


def test_large_objects_only_when_asked() -> None:
    type = MYSQL.parse_type("mediumtext")
    assert max(len(text or "") for text in MYSQL.boundary_values(type)) < 1000
    assert max(len(text or "") for text in MYSQL.boundary_values(type, large=True)) == boundaries.LARGE_BYTES


# type, literal, and what MySQL's client shows for the stored value
VALUES = [
    ("tinyint(1)", "true", "1"),
    ("int(5) zerofill", "42", "00042"),
    ("bigint unsigned", "18446744073709551615", "18446744073709551615"),
    ("decimal(10,2)", "5", "5.00"),
    ("decimal(10,2)", "1.005", "1.01"),
    ("decimal(10,2)", "-1.005", "-1.01"),
    ("decimal(10,2)", "-0.001", "0.00"),
    ("decimal(10,0)", "2.5", "3"),
    ("decimal(10,2)", "1e3", "1000.00"),
    ("float", "16777217", "16777216"),
    ("double", "-0e0", "-0"),
    ("double", "1e3", "1000"),
    ("double", "1e15", "1e15"),
    ("double", "0.00001", "0.00001"),
    ("float(7,2)", "12345.678", "12345.68"),
    ("bit(3)", "b'101'", "b'101'"),
    ("bit(9)", "0x101", "b'100000001'"),
    ("bit(9)", "5", "b'000000101'"),
    ("date", "0000-00-00", "0000-00-00"),
    ("date", "2020-00-15", "2020-00-15"),
    ("datetime", "2024-02-29", "2024-02-29 00:00:00"),
    ("datetime", "2024-02-29T12:34:56", "2024-02-29 12:34:56"),
    ("datetime(3)", "2024-12-31 23:59:59.9995", "2025-01-01 00:00:00.000"),
    ("datetime(3)", "0000-01-00 01:02:03.4", "0000-01-00 01:02:03.400"),
    ("timestamp", "2024-01-01 00:00:00+08:00", "2023-12-31 16:00:00"),
    ("timestamp", "2024-01-01 00:00:00Z", "2024-01-01 00:00:00"),
    ("timestamp", "0000-00-00 00:00:00", "0000-00-00 00:00:00"),
    ("time", "0", "00:00:00"),
    ("time", "12:34", "12:34:00"),
    ("time(1)", "-00:00:00.55", "-00:00:00.6"),
    ("time", "-838:59:59", "-838:59:59"),
    ("year", "0", "0000"),
    ("char(5)", "ab   ", "ab"),
    ("varchar(5)", "ab   ", "ab   "),
    ("binary(4)", "a", "0x61000000"),
    ("varbinary(9)", "中", "0xe4b8ad"),
    ("varbinary(9)", "x'6A67'", "0x6a67"),
    ("varbinary(9)", "0xabc", "0x0abc"),
    ("enum('a','b')", "B", "b"),
    ("enum('a','b')", "2", "b"),
    ("enum('2','b')", "2", "2"),
    ("enum('a','b')", "", ""),
    ("set('x','y','z')", "z,x", "x,z"),
    ("set('x','y','z')", "5", "x,z"),
    ("set('x','y','z')", "", ""),
    ("point", "point ( 1  2.50 )", "POINT(1 2.5)"),
    ("multipoint", "MULTIPOINT((0 0),(1 1))", "MULTIPOINT((0 0),(1 1))"),
]


@each(VALUES)
def test_literals(typed: str, literal: str, shown: str) -> None:
    type = MYSQL.parse_type(typed)
    assert MYSQL.format_values(MYSQL.parse_values([literal], type), type) == [shown]


@each(
    [
        ("tinyint", "128", "128 is outside -128 to 127, the bounds of tinyint"),
        ("int unsigned", "-1", "-1 is outside 0 to 4294967295, the bounds of int unsigned"),
        ("int", "1.5", "'1.5' is not a whole number"),
        ("int", "true", "'true' is not a whole number"),
        ("decimal(5,2)", "999.995", "999.995 does not fit decimal(5,2)"),
        ("decimal(5,2)", "abc", "'abc' is not a decimal number"),
        ("decimal(5,2)", "NaN", "'NaN' is not a decimal number"),
        ("decimal(5,2) unsigned", "-1", "-1 is below 0, and the column is unsigned"),
        ("double", "nan", "'nan' is not a number such as 1.5 or 1e3"),
        ("double", "1_0", "'1_0' is not a number such as 1.5 or 1e3"),
        ("float", "1e39", "1e39 is beyond the range of float"),
        ("double", "1e400", "1e400 is beyond the range of double"),
        ("bit(3)", "8", "8 does not fit bit(3)"),
        ("date", "2021-02-29", "'2021-02-29' is not in the calendar"),
        ("date", "2021-13-00", "'2021-13-00' is not in the calendar"),
        ("date", "yesterday", "'yesterday' is not a date such as 2024-02-29"),
        ("datetime", "2021-01-01 24:00:00", "'2021-01-01 24:00:00' has no such time of day"),
        ("datetime", "9999-12-31 23:59:59.5", "9999-12-31 23:59:59.5 is rounded beyond the year 9999"),
        ("datetime", "2021-01-01 00:00:00Z", "'2021-01-01 00:00:00Z' has a time zone, and datetime has none"),
        (
            "timestamp",
            "2038-01-19 03:14:08",
            "2038-01-19 03:14:08 is outside 1970-01-01 00:00:01 to 2038-01-19 03:14:07.999999, the bounds of timestamp",
        ),
        ("time", "839:00:00", "839:00:00 is outside -838:59:59 to 838:59:59"),
        ("time", "12:60:00", "'12:60:00' is not a time such as 12:34:56 or -838:59:59"),
        ("year", "1900", "'1900' is not a year from 1901 to 2155, or 0000"),
        ("varchar(2)", "abc", "'abc' has 3 characters, and varchar(2) holds fewer"),
        ("varchar(5) charset latin1", "中", "'中' has a character that latin1 lacks: '中'"),
        ("varchar(5) charset utf8", "😀", "'😀' has a character of four bytes, and utf8 has three at most"),
        ("varbinary(2)", "abc", "'abc' has 3 bytes, and varbinary(2) holds 2"),
        ("enum('a','b')", "c", "'c' is none of the labels 'a', 'b'"),
        ("set('a','b')", "a,c", "'c' is none of the labels 'a', 'b'"),
        ("json", "{a}", "'{a}' is not a JSON text: Expecting property name enclosed in double quotes at character 1"),
        ("json", "NaN", "NaN is not a JSON value"),
        ("point", "LINESTRING(0 0,1 1)", "'LINESTRING(0 0,1 1)' is a linestring, not a point"),
        ("point", "POINT(1)", "'POINT(1)' is not a geometry such as POINT(1 2): it goes wrong at )"),
        (
            "polygon",
            "POLYGON((0 0,1 0,1 1,2 2))",
            "'POLYGON((0 0,1 0,1 1,2 2))' has a ring that does not end where it begins",
        ),
    ]
)
def test_bad_literals_are_told_in_one_sentence(typed: str, literal: str, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:
        MYSQL.parse_values([literal], MYSQL.parse_type(typed))
    assert str(caught.value) == sentence


# Stored geometries. captured: Canal 1.1.8 on MySQL 8.0.31
@each(
    [
        ("POINT(1 2)", "000000000101000000000000000000f03f0000000000000040"),
        ("POINT(-1.5 1e10)", "000000000101000000000000000000f8bf000000205fa00242"),
        # written POINT(3 4) there: MySQL 8.0 swaps the axes of this reference system
        ("SRID=4326;POINT(4 3)", "e6100000010100000000000000000010400000000000000840"),
        ("LINESTRING(0 0,1 1)", "00000000010200000002000000" + "00" * 16 + "000000000000f03f" * 2),
        (
            "MULTIPOINT(0 0,1 1)",
            "000000000104000000020000000101000000" + "00" * 16 + "0101000000" + "000000000000f03f" * 2,
        ),
        (
            "MULTILINESTRING((0 0,1 1),(2 2,3 3))",
            "0000000001050000000200000001020000000200000000000000000000000000000000000000"
            "000000000000f03f000000000000f03f010200000002000000"
            "0000000000000040000000000000004000000000000008400000000000000840",
        ),
        (
            "MULTIPOLYGON(((0 0,1 0,1 1,0 0)))",
            "0000000001060000000100000001030000000100000004000000" + "00" * 16 + "000000000000f03f0000000000000000"
            "000000000000f03f000000000000f03f" + "00" * 16,
        ),
        (
            "GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(0 0,1 1))",
            "000000000107000000020000000101000000000000000000f03f0000000000000040"
            "010200000002000000" + "00" * 16 + "000000000000f03f" * 2,
        ),
    ]
)
def test_stored_geometries(text: str, stored: str) -> None:
    assert mysql_geometry.to_bytes(text, "geometry").hex() == stored


# What was typed, and what the server made of it: doubles in MySQL's notation (the product prints them in Java's).
# captured: Canal 1.1.8 on MySQL 8.0.31
@each(
    [
        ("null", "null"),
        ("65536", "65536"),
        ("18446744073709551615", "18446744073709551615"),
        ("1e20", "1e20"),
        ("3.0", "3.0"),
        ("-0.0", "-0.0"),
        ("123456789012345678901234567890", "1.2345678901234566e29"),
        ("12345678901.123456789", "12345678901.123455"),
        (
            ' {"b" : 1,  "a":[1.0,null,"x",true,{"z":{}}], "aa": {"deep":{"er":[[],[[]]]}}, "": "empty key"}',
            '{"": "empty key", "a": [1.0, null, "x", true, {"z": {}}], "b": 1, "aa": {"deep": {"er": [[], [[]]]}}}',
        ),
        (
            '{"dup":1,"dup":2,"中":"文😀é","q\\"k":"v\\"\\\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f"}',
            '{"dup": 2, "q\\"k": "v\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f", "中": "文😀é"}',
        ),
        ('["<a href=\'x\'>&amp;</a>", "\\\\u0041"]', '["<a href=\'x\'>&amp;</a>", "\\\\u0041"]'),
    ]
)
def test_json_documents(typed: str, stored: str) -> None:
    assert mysql_json.normalise(typed) == stored
    assert mysql_json.normalise(stored) == stored


def test_5_7_keeps_the_first_of_repeated_keys() -> None:
    # captured: Canal 1.1.8 on MySQL 5.7.22
    assert mysql_json.normalise('{"dup":1,"dup":2}', duplicates="first") == '{"dup": 1}'


@each(["[" * 101 + "]" * 101, "[" * 5000 + "]" * 5000, '"\\ud800"', "", "1e999", "[1,]"])
def test_json_that_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        mysql_json.normalise(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_normalised_json_means_the_same(value: object) -> None:
    import json

    text = mysql_json.normalise(json.dumps(value))
    assert json.loads(text) == value
    assert mysql_json.normalise(text) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_double_texts_bring_the_value_back(value: float) -> None:
    shown = float(mysql_json.double_text(value))
    assert shown == value
    assert math.copysign(1, shown) == math.copysign(1, value)


@given(st.lists(st.none() | st.decimals(-99_999_999, 99_999_999, places=4), max_size=5))
def test_decimals_come_back(values: list[object]) -> None:
    type = MYSQL.parse_type("decimal(12,4)")
    texts = [None if value is None else f"{value:f}" for value in values]
    again = MYSQL.format_values(MYSQL.parse_values(texts, type), type)
    assert [None if t is None else float(t) for t in again] == [None if t is None else float(t) for t in texts]


@given(st.datetimes())
def test_datetimes_come_back(value: object) -> None:
    type = MYSQL.parse_type("datetime(6)")
    text = str(value) if "." in str(value) else f"{value}.000000"
    assert MYSQL.format_values(MYSQL.parse_values([text], type), type) == [text]


@given(st.binary(max_size=20))
def test_bytes_come_back(value: bytes) -> None:
    type = MYSQL.parse_type("varbinary(20)")
    assert MYSQL.parse_values(["0x" + value.hex() if value else ""], type).to_pylist() == [value]


# ------------------------------------------------------------------------------------------------- binary log


@each(
    [
        *(("tinyint", "1", 1), ("smallint", "1", 2), ("mediumint", "1", 3), ("int", "1", 4), ("bigint", "1", 8)),
        *(("decimal(10,2)", "1", 5), ("decimal(18,9)", "1", 8), ("decimal(65,30)", "1", 30), ("decimal(5,0)", "1", 3)),
        *(("float", "1", 4), ("double", "1", 8), ("bit(1)", "1", 1), ("bit(9)", "1", 2), ("bit(64)", "1", 8)),
        *(("date", "2020-01-01", 3), ("year", "2020", 1), ("time", "0", 3), ("time(3)", "0", 5), ("time(6)", "0", 6)),
        *(("datetime", "2020-01-01", 5), ("datetime(6)", "2020-01-01", 8), ("timestamp(1)", "2020-01-01", 5)),
        *(("enum('a')", "a", 1), ("set('a')", "a", 1), ("varchar(63)", "abc", 4), ("varchar(64)", "abc", 5)),
        *(("varchar(64) character set latin1", "abc", 4), ("varchar(40)", "中", 4), ("char(5)", "ab", 3)),
        *(("tinytext", "abc", 4), ("text", "abc", 5), ("mediumtext", "abc", 6), ("longtext", "abc", 7)),
        *(
            ("binary(4)", "0x6100", 2),
            ("varbinary(4)", "0x6100", 3),
            ("blob", "0x6100", 4),
            ("point", "POINT(1 2)", 29),
        ),
    ]
)
def test_bytes_in_a_row_image(typed: str, literal: str, size: int) -> None:
    column = Column("c", MYSQL.parse_type(typed))
    array = MYSQL.parse_values([literal, None, literal], column.type)
    assert mysql_row_bytes.packed_bytes(column, array).tolist() == [size, 0, size]
    assert mysql_row_bytes.packed_bytes(column, array.slice(1)).tolist() == [0, size]
    if pa.types.is_string(array.type) or pa.types.is_binary(array.type):
        assert mysql_row_bytes.packed_bytes(column, array.dictionary_encode()).tolist() == [size, 0, size]


def test_sizes_of_enums_and_sets() -> None:
    labels = tuple(f"l{i}" for i in range(300))
    one = pa.array([1], type=pa.int64())
    assert mysql_row_bytes.packed_bytes(Column("c", ColumnType("enum", labels=labels)), one).tolist() == [2]
    for count, size in ((8, 1), (9, 2), (24, 3), (32, 4), (33, 8), (64, 8)):
        assert mysql_row_bytes.packed_bytes(Column("c", ColumnType("set", labels=labels[:count])), one).tolist() == [
            size
        ]


def test_a_row_of_int_and_varchar_100_takes_107_bytes() -> None:
    # captured: 76 rows of 107 bytes a rows event of 8192; an update to one letter counts 107 + 8
    columns = (Column("id", MYSQL.parse_type("int")), Column("v", MYSQL.parse_type("varchar(100)")))
    arrays = (pa.array([1, 2]), pa.array(["x" * 100, "y"]))
    assert mysql_row_bytes.packed_row_bytes(columns, arrays).tolist() == [107, 8]


# ------------------------------------------------------------------------------------------------- statements


def test_create_table() -> None:
    columns = (
        Column("id", MYSQL.parse_type("BIGINT(20) unsigned"), nullable=False),
        Column("na`me", MYSQL.from_portable("string(20)")),
        Column("state", MYSQL.from_portable(r"enum('it''s','b\\s')"), nullable=False),
        Column("at", MYSQL.parse_type("timestamp(3)")),
        Column("latin", ColumnType("varchar", 5, charset="latin1")),
    )
    assert MYSQL.ddl.create_table(Table(TableId("shop", "users"), columns, ("id",))) == (
        "CREATE TABLE users (id BIGINT(20) unsigned NOT NULL, `na``me` varchar(20), "
        r"state enum('it''s','b\\s') NOT NULL, at timestamp(3) NULL, latin varchar(5) CHARACTER SET latin1, "
        "PRIMARY KEY (id))"
    )


@each(EVERY)
def test_a_column_definition_reads_back(typed: str) -> None:
    from dataclasses import replace

    type = MYSQL.parse_type(typed)
    text = MYSQL.ddl.type_definition(replace(type, spelled=""))
    again = MYSQL.parse_type(text)
    assert MYSQL.type_text(again, style="show_create_57") == MYSQL.type_text(type, style="show_create_57")
    assert (again.charset, again.labels) == (type.charset, type.labels)
