"""The type system of SQL Server: reading types, their texts, values in and out, DDL, positions in the log."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from typing import Final

import numpy as np
import pyarrow as pa
import pytest
from cases.sqlserver import SAMPLES
from each import each
from hypothesis import given
from hypothesis import strategies as st

from simulator.errors import UsageError
from simulator.model import Column, ColumnType, Table
from simulator.sources import find
from simulator.sources.sqlserver import clr as sqlserver_clr
from simulator.sources.sqlserver import times as sqlserver_times

MYSQL: Final = find("mysql")
SQLSERVER: Final = find("sqlserver")

# typed, canonical name, as the catalogue's tools script it
TEXTS = [
    ("int", "int", "int"),
    ("INTEGER", "int", "int"),
    ("[int]", "int", "int"),
    ("bit", "bit", "bit"),
    ("dec", "decimal", "decimal(18,0)"),
    ("decimal(9)", "decimal", "decimal(9,0)"),
    ("NUMERIC(10, 2)", "numeric", "numeric(10,2)"),
    ("money", "money", "money"),
    ("float", "float", "float"),
    ("float(24)", "real", "real"),
    ("float(25)", "float", "float"),
    ("double precision", "float", "float"),
    ("real", "real", "real"),
    ("datetime2", "datetime2", "datetime2(7)"),
    ("DateTime2( 3 )", "datetime2", "datetime2(3)"),
    ("time", "time", "time(7)"),
    ("datetimeoffset(0)", "datetimeoffset", "datetimeoffset(0)"),
    ("datetime", "datetime", "datetime"),
    ("smalldatetime", "smalldatetime", "smalldatetime"),
    ("char", "char", "char(1)"),
    ("character(3)", "char", "char(3)"),
    ("character varying(30)", "varchar", "varchar(30)"),
    ("varchar(max)", "varchar", "varchar(max)"),
    ("national char varying(5)", "nvarchar", "nvarchar(5)"),
    ("NVARCHAR( MAX )", "nvarchar", "nvarchar(max)"),
    ("sysname", "nvarchar", "nvarchar(128)"),
    ("national text", "ntext", "ntext"),
    ("binary varying(8)", "varbinary", "varbinary(8)"),
    ("rowversion", "timestamp", "timestamp"),
    ("timestamp", "timestamp", "timestamp"),
    ("uniqueidentifier", "uniqueidentifier", "uniqueidentifier"),
    ("varchar(10) collate Latin1_General_CI_AS", "varchar", "varchar(10)"),
]


@each(TEXTS)
def test_type_texts(typed: str, name: str, text: str) -> None:
    type = SQLSERVER.parse_type(typed)
    assert (type.name, type.spelled) == (name, typed)
    assert SQLSERVER.type_text(type) == text
    assert SQLSERVER.type_text(type, style="ddl_text") == typed
    assert SQLSERVER.type_text(type, style="bare") == name
    again = SQLSERVER.parse_type(text)
    assert SQLSERVER.type_text(again) == text


@each(
    [
        ("varchr(10)", "'varchr' is not a SQL Server type. Did you mean 'varchar'?"),
        ("", "'' is not a SQL Server type."),
        ("int unsigned", "'int unsigned' is not a SQL Server type."),
        ("decimal(39,2)", "'decimal(39,2)': the precision must be 1 to 38."),
        ("decimal(5,6)", "'decimal(5,6)': the scale must not be above the precision."),
        ("datetime2(8)", "'datetime2(8)': the number of fraction digits must be 0 to 7."),
        ("datetime(3)", "'datetime(3)': datetime takes no argument in brackets."),
        ("nvarchar(4001)", "'nvarchar(4001)': the length must be 1 to 4000."),
        ("char(max)", "'char(max)': whole numbers belong between the brackets of char."),
        ("varchar(x)", "'varchar(x)': whole numbers, or max, belong between the brackets of varchar."),
        ("sysname(5)", "'sysname(5)': sysname takes no argument in brackets."),
        ("int collate Latin1_General_CI_AS", "'int collate Latin1_General_CI_AS': a collation belongs to texts, not"),
        (
            "nvarchar(5) collate Latin1_General_100_CI_AS_SC_UTF8",
            "a UTF-8 collation belongs to char and varchar, not to nvarchar.",
        ),
        ("varchar(5) collate Klingon_CI_AS", "the code page of 'Klingon_CI_AS' is not known here."),
    ]
)
def test_bad_types_are_told_in_one_sentence(typed: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        SQLSERVER.parse_type(typed)
    assert sentence in str(caught.value)


@each(
    [
        ("varchar(9) collate Chinese_PRC_CI_AS", "cp936"),
        ("varchar(9) collate Japanese_XJIS_140_CI_AS", "cp932"),
        ("varchar(9) collate SQL_Latin1_General_CP1_CI_AS", "cp1252"),
        ("varchar(9) collate SQL_Latin1_General_CP437_CI_AS", "cp437"),
        ("varchar(9) collate Cyrillic_General_CI_AS", "cp1251"),
        ("varchar(9)", None),
    ]
)
def test_collations_have_code_pages(typed: str, charset: str | None) -> None:
    assert SQLSERVER.parse_type(typed).charset == charset


PORTABLE = [
    ("bool", "bit"),
    ("int16", "smallint"),
    ("int32", "int"),
    ("int64", "bigint"),
    ("uint16", "int"),
    ("uint32", "bigint"),
    ("uint64", "decimal(20,0)"),
    ("decimal", "decimal(10,0)"),
    ("decimal(12, 2)", "decimal(12,2)"),
    ("float32", "real"),
    ("float64", "float"),
    ("string(40)", "nvarchar(40)"),
    ("string(4001)", "nvarchar(max)"),
    ("text", "nvarchar(max)"),
    ("bytes(16)", "varbinary(16)"),
    ("bytes(8001)", "varbinary(max)"),
    ("blob", "varbinary(max)"),
    ("date", "date"),
    ("time", "time(0)"),
    ("time(3)", "time(3)"),
    ("timestamp", "datetime2(0)"),
    ("timestamp(6)", "datetime2(6)"),
    ("timestamptz(3)", "datetimeoffset(3)"),
    ("json", "nvarchar(max)"),
    ("uuid", "uniqueidentifier"),
    ("enum('a','bc')", "nvarchar(2)"),
]


@each(PORTABLE)
def test_portable_types(portable: str, text: str) -> None:
    type = SQLSERVER.from_portable(portable)
    assert type.spelled == ""
    assert SQLSERVER.type_text(type) == text


def test_all_portable_types_are_known() -> None:
    assert set(SQLSERVER.portable_types) == set(MYSQL.portable_types)
    assert {text.partition("(")[0] for text, _ in PORTABLE} == {*SQLSERVER.portable_types, "enum"}


@each(["strng(4)", "string", "nvarchar(20)", "decimal(40,2)"])
def test_wrong_portable_types(wrong: str) -> None:
    with pytest.raises(UsageError):
        SQLSERVER.from_portable(wrong)


@each(
    [
        ("bit", "bit", 104, -7, pa.uint64()),
        ("tinyint", "integer", 48, -6, pa.int64()),
        ("bigint", "integer", 127, -5, pa.int64()),
        ("decimal(38,10)", "decimal", 106, 3, pa.decimal128(38, 10)),
        ("numeric(5)", "decimal", 108, 2, pa.decimal128(5, 0)),
        ("smallmoney", "decimal", 122, 3, pa.decimal128(10, 4)),
        ("real", "float", 59, 7, pa.float32()),
        ("float", "float", 62, 8, pa.float64()),
        ("date", "date", 40, 91, pa.date32()),
        ("time(6)", "time", 41, 92, pa.duration("us")),
        ("time(7)", "time", 41, 92, pa.string()),
        ("smalldatetime", "datetime", 58, 93, pa.timestamp("us")),
        ("datetime", "datetime", 61, 93, pa.timestamp("us")),
        ("datetime2(6)", "datetime", 42, 93, pa.timestamp("us")),
        ("datetime2", "datetime", 42, 93, pa.string()),
        ("datetimeoffset(0)", "zoned", 43, -155, pa.string()),
        ("nvarchar(max)", "text", 231, -9, pa.string()),
        ("rowversion", "binary", 189, -2, pa.binary()),
        ("uniqueidentifier", "uuid", 36, 1, pa.string()),
        ("xml", "xml", 241, -16, pa.string()),
        ("hierarchyid", "other", 240, -3, pa.binary()),
        ("sql_variant", "other", 98, -156, pa.string()),
        ("geography", "geometry", 240, -158, pa.binary()),
    ]
)
def test_facts_of_types(typed: str, family: str, number: int, jdbc: int, carrier: pa.DataType) -> None:
    type = SQLSERVER.parse_type(typed)
    row = SQLSERVER.types[type.name]
    assert (SQLSERVER.family(type), row.number, row.jdbc) == (family, number, jdbc)
    assert SQLSERVER.arrow_type(type) == carrier


@each(SAMPLES.types)
def test_boundary_values_are_values_and_come_back(typed: str) -> None:
    type = SQLSERVER.parse_type(typed)
    literals = SQLSERVER.boundary_values(type, large=True)
    array = SQLSERVER.parse_values(literals, type)
    assert array.type == SQLSERVER.arrow_type(type)
    array.validate(full=True)
    assert literals[-1] is None
    assert array.null_count == 1
    shown = SQLSERVER.format_values(array, type)
    assert SQLSERVER.parse_values(shown, type).equals(array)
    # what is stored is not changed by storing it again
    assert SQLSERVER.stored(array, type).equals(array)


# type, literal, and what is stored
VALUES = [
    ("bit", "true", "1"),
    ("bit", "7", "1"),
    ("decimal(10,2)", "1.005", "1.01"),
    ("decimal(10,2)", "-0.001", "0.00"),
    ("money", "5.323", "5.3230"),
    ("money", "922337203685477.58075", None),
    ("real", "16777217", "1.6777216e+07"),
    ("float", "-0e0", "-0.0"),
    ("date", "2024-2-29", "2024-02-29"),
    ("datetime", "2024-02-29 00:00:00.001", "2024-02-29 00:00:00.000"),
    ("datetime", "2024-02-29 00:00:00.002", "2024-02-29 00:00:00.003"),
    ("datetime", "2024-02-29 00:00:00.005", "2024-02-29 00:00:00.007"),
    ("datetime", "2024-02-29 00:00:00.009", "2024-02-29 00:00:00.010"),
    ("datetime", "2024-12-31 23:59:59.999", "2025-01-01 00:00:00.000"),
    ("datetime", "9999-12-31 23:59:59.998", "9999-12-31 23:59:59.997"),
    ("smalldatetime", "2024-02-29 12:35:29.998", "2024-02-29 12:35:00"),
    ("smalldatetime", "2024-02-29 12:35:29.999", "2024-02-29 12:36:00"),
    ("datetime2", "2024-02-29 12:34:56", "2024-02-29 12:34:56.0000000"),
    ("datetime2(3)", "2024-12-31 23:59:59.9995", "2025-01-01 00:00:00.000"),
    ("datetimeoffset(3)", "2024-02-29 12:34:56Z", "2024-02-29 12:34:56.000 +00:00"),
    ("datetimeoffset", "2024-02-29T12:34:56.5-05:30", "2024-02-29 12:34:56.5000000 -05:30"),
    ("time", "12:34", "12:34:00.0000000"),
    ("time(1)", "00:00:00.55", "00:00:00.6"),
    ("char(5)", "ab", "ab   "),
    ("nchar(3)", "中", "中  "),
    ("nchar(3)", "😀", "😀 "),
    ("varchar(5)", "ab ", "ab "),
    ("binary(4)", "0x61", "0x61000000"),
    ("varbinary(4)", "0xabc", "0x0ABC"),
    ("varbinary(4)", "中", "0xE4B8AD"),
    ("rowversion", "0x7D0", "0x00000000000007D0"),
    ("uniqueidentifier", "{6f9619ff-8b86-d011-b42d-00c04fc964ff}", "6F9619FF-8B86-D011-B42D-00C04FC964FF"),
    ("xml", "<?xml version='1.0'?>\n<a b='1'> <c></c> <d> x </d></a>", '<a b="1"><c/><d> x </d></a>'),
    ("xml", "<a/><a/>", "<a/><a/>"),
    ("hierarchyid", "/1/3/", "/1/3/"),
    ("hierarchyid", "0x5AC0", "/1/1/"),
    ("geometry", "POINT(3 4)", "0x00000000010C00000000000008400000000000001040"),
]


@each(VALUES)
def test_literals(typed: str, literal: str, shown: str | None) -> None:
    type = SQLSERVER.parse_type(typed)
    if shown is None:
        with pytest.raises(ValueError, match="does not fit money"):
            SQLSERVER.parse_values([literal], type)
    else:
        assert SQLSERVER.format_values(SQLSERVER.parse_values([literal], type), type) == [shown]


@each(
    [
        ("tinyint", "-1", "-1 is outside 0 to 255, the bounds of tinyint"),
        ("int", "1.5", "'1.5' is not a whole number"),
        ("bit", "x", "'x' is not a bit: 0, 1, true or false"),
        ("decimal(4,2)", "100", "100 does not fit decimal(4,2)"),
        ("float", "nan", "'nan' is not a number such as 1.5 or 1e3"),
        ("real", "1e39", "1e39 is beyond the range of real"),
        ("date", "2023-02-29", "'2023-02-29' is not in the calendar"),
        ("datetime", "1752-12-31", "1752-12-31 is outside 1753-01-01 to 9999-12-31, the days of datetime"),
        ("smalldatetime", "2079-06-07", "2079-06-07 is outside 1900-01-01 to 2079-06-06, the days of smalldatetime"),
        ("datetime2", "2024-01-01 00:00:00 +08:00", "has a time zone, and datetime2 has none"),
        ("datetimeoffset", "2024-01-01 00:00:00 +15:00", "has an offset outside -14:00 to +14:00"),
        ("time(0)", "23:59:59.9", "23:59:59.9 is rounded to 24:00:00, beyond its day"),
        ("time", "24:00:00", "'24:00:00' has no such time of day"),
        ("varchar(5)", "中", "'中' has a character that cp1252 lacks: '中'"),
        ("nvarchar(1)", "😀", "'😀' has 2 pairs of bytes, and nvarchar(1) holds 1"),
        ("varchar(2) collate Chinese_PRC_CI_AS", "中文", "'中文' has 4 bytes, and varchar(2) holds 2"),
        ("binary(2)", "0x010203", "'0x010203' has 3 bytes, and binary(2) holds 2"),
        ("uniqueidentifier", "x", "'x' is not a uniqueidentifier such as"),
        ("xml", "<a>", "'<a>' is not well-formed XML"),
        ("hierarchyid", "1/2", "'1/2' is not a node such as /1/3/"),
        ("geography", "POINT(1 91)", "has a latitude outside -90 to 90"),
    ]
)
def test_wrong_literals_are_told_in_one_sentence(typed: str, literal: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        SQLSERVER.parse_values([literal], SQLSERVER.parse_type(typed))


def test_utf8_collations_came_with_2019() -> None:
    type = SQLSERVER.parse_type("varchar(9) collate Latin1_General_100_CI_AS_SC_UTF8")
    for version in ("2022", "2019"):
        assert find(f"sqlserver-{version}").parse_values(["中😀"], type).to_pylist() == ["中😀"]
    with pytest.raises(ValueError, match="2016 has no UTF-8 collations"):
        find("sqlserver-2016").parse_values(["x"], type)


def test_labels_of_an_enum_are_all_that_its_column_holds() -> None:
    type = SQLSERVER.from_portable("enum('new','paid')")
    assert SQLSERVER.parse_values(["paid"], type).to_pylist() == ["paid"]
    with pytest.raises(ValueError, match="'x' is none of 'new', 'paid'"):
        SQLSERVER.parse_values(["x"], type)
    assert SQLSERVER.default_values(type) == ("choices", ["new", "paid"])


# ------------------------------------------------------------------------------------------------------ random values

# 1753-01-01 to 9999-12-30, in microseconds
MOMENTS = st.integers(-6_847_804_800_000_000, 253_402_128_000_000_000)


@given(MOMENTS)
def test_datetime_is_the_nearest_three_hundredth(us: int) -> None:
    (found,) = sqlserver_times.thirds(np.array([us])).tolist()
    assert abs(found - us) <= 2_000
    assert found % 1_000 == 0
    assert found // 1_000 % 10 in (0, 3, 7)
    assert sqlserver_times.thirds(np.array([found])).tolist() == [found]


@given(MOMENTS, st.integers(0, 9), st.integers(0, 7), st.integers(-14 * 60, 14 * 60))
def test_moments_come_back(us: int, hundreds: int, places: int, offset: int) -> None:
    text = f"{np.datetime64(us, 'us')}{hundreds}"
    type = SQLSERVER.parse_type(f"datetime2({places})")
    array = SQLSERVER.parse_values([text], type)
    (shown,) = SQLSERVER.format_values(array, type)
    assert shown is not None
    assert len(shown) == (20 + places if places else 19)
    # the fraction is rounded half up; what it carries into the seconds is left to the calendar of NumPy
    rounded = int(
        (Decimal(us * 10 + hundreds).scaleb(places - 7)).to_integral_value(
            ROUND_HALF_UP if us >= 0 else ROUND_HALF_DOWN
        )
    )
    seconds, fraction = divmod(rounded, 10**places)
    expected = str(np.datetime64(seconds, "s")).replace("T", " ") + (f".{fraction:0{places}}" if places else "")
    assert shown == expected
    assert SQLSERVER.parse_values([shown], type).equals(array)
    zone = f"{'-' if offset < 0 else '+'}{abs(offset) // 60:02}:{abs(offset) % 60:02}"
    zoned = SQLSERVER.parse_type(f"datetimeoffset({places})")
    assert SQLSERVER.parse_values([f"{text} {zone}"], zoned).to_pylist() == [f"{shown} {zone}"]


@given(st.lists(MOMENTS, min_size=1), st.integers(0, 7))
def test_generated_moments_are_stored_as_literals_are(moments: list[int], places: int) -> None:
    made = pa.array(moments, pa.int64()).view(pa.timestamp("us"))
    unit = 10 ** (6 - min(places, 6))
    cut = [str(np.datetime64(us - us % unit, "us")) for us in moments]
    for name in ("datetime2", "datetimeoffset"):
        type = SQLSERVER.parse_type(f"{name}({places})")
        assert SQLSERVER.stored(made, type).equals(SQLSERVER.parse_values(cut, type))


@given(st.decimals(min_value=-922337203685477, max_value=922337203685477, places=6))
def test_money_has_four_digits(amount: Decimal) -> None:
    type = ColumnType("money")
    (found,) = SQLSERVER.parse_values([str(amount)], type).to_pylist()
    assert abs(found - amount) <= Decimal("0.00005")
    assert found.as_tuple().exponent == -4


@given(st.lists(st.one_of(st.integers(-72, -1), st.integers(0, 5199)), max_size=6))
def test_nodes_come_back_and_sort_as_bytes(ordinals: list[int]) -> None:
    text = "/" + "".join(f"{ordinal}/" for ordinal in ordinals)
    data = sqlserver_clr.hierarchyid(text)
    assert sqlserver_clr.node(data) == text
    if ordinals:
        assert sqlserver_clr.hierarchyid("/" + "".join(f"{ordinal}/" for ordinal in ordinals[:-1])) < data
        if ordinals[-1] not in (-1, 5199, -9):
            after = [*ordinals[:-1], ordinals[-1] + 1]
            assert data < sqlserver_clr.hierarchyid("/" + "".join(f"{ordinal}/" for ordinal in after))


# Bytes that servers show: /98/ as 1110 000 0 001 0 0 1 010 1; the shapes of the serialization's description.
@each([("/2/", "68"), ("/4/", "84"), ("/8/", "a2"), ("/98/", "e02540"), ("/", ""), ("/0/", "48")])
def test_nodes(node: str, data: str) -> None:
    assert sqlserver_clr.hierarchyid(node).hex() == data


def test_shapes() -> None:
    """Points, a single line and a polygon with its lists of points, figures and shapes."""
    line = sqlserver_clr.shape("LINESTRING(0 0,1 1)", "geometry")
    assert line[:6].hex() == "000000000114"
    assert len(line) == 6 + 4 * 8
    polygon = sqlserver_clr.shape("POLYGON((0 0,0 3,3 3,3 0,0 0))", "geometry")
    assert polygon[:10].hex() == "00000000010405000000"
    assert polygon[10 + 5 * 16 :].hex() == "01000000" + "0200000000" + "01000000" + "ffffffff0000000003"
    place = sqlserver_clr.shape("POINT(116.4 39.9)", "geography")
    assert place[:6].hex() == "e6100000010c"
    assert np.frombuffer(place[6:]).tolist() == [39.9, 116.4]
    nested = sqlserver_clr.shape("GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(0 0,1 1))", "geometry")
    assert nested[-27:].hex() == "ffffffff0000000007" + "000000000000000001" + "000000000100000002"


# ---------------------------------------------------------------------------------------------------------------- DDL

ORDERS = Table(
    SQLSERVER.table_id("shop", "order"),
    (
        Column("id", SQLSERVER.parse_type("bigint"), nullable=False),
        Column("note text", SQLSERVER.parse_type("nvarchar(40)")),
        Column("qty", SQLSERVER.parse_type("int"), nullable=False),
    ),
    ("id",),
)


def test_statements() -> None:
    note, qty = ORDERS.columns[1:]
    wider = Column("note text", SQLSERVER.parse_type("nvarchar(max)"))
    ddl = SQLSERVER.ddl
    assert [
        ddl.create_database("shop"),
        ddl.create_table(ORDERS),
        ddl.add_column(ORDERS, Column("it's", note.type), "it's", "id"),
        ddl.add_column(ORDERS, Column("n", qty.type, nullable=False), "7", None),
        ddl.alter_column(ORDERS, wider),
        ddl.rename_column(ORDERS, note, qty),
        ddl.drop_column(ORDERS, note),
        ddl.create_index(ORDERS, "ix", ["qty", "note text"], unique=True),
        ddl.drop_index(ORDERS, "ix"),
        ddl.truncate_table(ORDERS),
        ddl.rename_table(ORDERS, "订单"),
        ddl.drop_table(ORDERS),
        ddl.drop_database("my db"),
    ] == [
        "CREATE DATABASE shop",
        "CREATE TABLE [order] (id bigint NOT NULL, [note text] nvarchar(40), qty int NOT NULL, PRIMARY KEY (id))",
        "ALTER TABLE [order] ADD [it's] nvarchar(40) DEFAULT N'it''s' WITH VALUES",
        "ALTER TABLE [order] ADD n int NOT NULL DEFAULT 7",
        "ALTER TABLE [order] ALTER COLUMN [note text] nvarchar(max)",
        "EXEC sp_rename 'dbo.[order].[note text]', 'qty', 'COLUMN'",
        "ALTER TABLE [order] DROP COLUMN [note text]",
        "CREATE UNIQUE INDEX ix ON [order] (qty, [note text])",
        "DROP INDEX ix ON [order]",
        "TRUNCATE TABLE [order]",
        "EXEC sp_rename 'dbo.[order]', N'订单'",
        "DROP TABLE [order]",
        "DROP DATABASE [my db]",
    ]


@each(
    [
        ("tinyint", "smallint", True),
        ("smallint", "tinyint", False),
        ("int", "int", False),
        ("decimal(8,2)", "decimal(10,2)", True),
        ("decimal(8,2)", "numeric(10,3)", True),
        ("decimal(8,2)", "decimal(8,3)", False),
        ("smallmoney", "money", True),
        ("real", "float", True),
        ("datetime2(3)", "datetime2(7)", True),
        ("datetime", "datetime2", False),
        ("varchar(10)", "varchar(20)", True),
        ("varchar(10)", "nvarchar(10)", True),
        ("nvarchar(10)", "varchar(20)", False),
        ("nvarchar(10)", "nvarchar(max)", True),
        ("char(5)", "varchar(5)", True),
        ("char(5)", "char(6)", False),
        ("varchar(5)", "char(6)", False),
        ("binary(4)", "varbinary(4)", True),
        ("varbinary(4)", "varbinary(max)", True),
        ("xml", "nvarchar(max)", False),
    ]
)
def test_widening(old: str, new: str, widens: bool) -> None:
    assert SQLSERVER.ddl.widens(SQLSERVER.parse_type(old), SQLSERVER.parse_type(new)) is widens


# ---------------------------------------------------------------------------------------------------------------- log
