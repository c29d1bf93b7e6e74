"""The named changes on SQL Server's types; those that both have are called as in `cases.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from building import Beat, Case, Ddl, Rows, Times, table_of

from cases import Samples
from simulator.model import DELETE, INSERT, READ, UPDATE, Kind, SchemaChangeKind, Table

SOURCE: Final = "sqlserver"


def _table(name: str, columns: Mapping[str, str], key: Sequence[str] = (), *, version: int = 0) -> Table:
    return table_of(name, columns, key, version=version, source=SOURCE)


def _case(name: str, *steps: Rows | Ddl | Beat) -> Case:
    return Case(name, steps, Times(), SOURCE)


def _rows(name: str, kind: Kind, table: Table, rows: Sequence[Sequence[str | None]]) -> Case:
    """A case of rows that were changed one by one."""
    return _case(name, Rows(kind, table, rows, statements=range(len(rows))))


CUSTOMERS: Final = _table(
    "customers",
    {
        "id": "int",
        "first_name": "nvarchar(255)",
        "last_name": "nvarchar(255)",
        "email": "varchar(255)",
        "note": "nvarchar(max)",
    },
    ["id"],
)
COMPOSITE: Final = _table("comp", {"v": "varchar(10)", "k2": "int", "k1": "nvarchar(5)", "w": "int"}, ["k1", "k2"])
KEYLESS: Final = _table("nopk", {"a": "int", "b": "nvarchar(max)"})
INTEGERS: Final = _table(
    "integers", {"id": "int", "bt": "bit", "ti": "tinyint", "si": "smallint", "it": "int", "bi": "bigint"}, ["id"]
)
DECIMALS: Final = _table(
    "decimals",
    {
        "id": "int",
        "d0": "decimal(8,0)",
        "d2": "decimal(10,2)",
        "n9": "numeric(20,9)",
        "dw": "decimal(38,10)",
        "mo": "money",
        "sm": "smallmoney",
    },
    ["id"],
)
FLOATS: Final = _table("floats", {"id": "int", "re": "real", "fl": "float"}, ["id"])
TIMES: Final = _table(
    "times",
    {
        "id": "int",
        "da": "date",
        "t0": "time(0)",
        "t3": "time(3)",
        "t7": "time",
        "sd": "smalldatetime",
        "dt": "datetime",
        "d0": "datetime2(0)",
        "d3": "datetime2(3)",
        "d6": "datetime2(6)",
        "d7": "datetime2",
        "o0": "datetimeoffset(0)",
        "o3": "datetimeoffset(3)",
        "o7": "datetimeoffset",
    },
    ["id"],
)
TEXTS: Final = _table(
    "texts",
    {
        "id": "int",
        "ch": "char(5)",
        "vc": "varchar(400)",
        "tx": "text",
        "nc": "nchar(8)",
        "nv": "nvarchar(400)",
        "nm": "nvarchar(max)",
        "nt": "ntext",
    },
    ["id"],
)
BYTES: Final = _table(
    "bytes",
    {
        "id": "int",
        "bn": "binary(4)",
        "vb": "varbinary(16)",
        "vm": "varbinary(max)",
        "im": "image",
        "rv": "rowversion",
    },
    ["id"],
)
OTHERS: Final = _table(
    "others", {"id": "int", "un": "uniqueidentifier", "xm": "xml", "hi": "hierarchyid", "sv": "sql_variant"}, ["id"]
)
SHAPES: Final = _table("shapes", {"id": "int", "ge": "geometry", "ga": "geography"}, ["id"])
# One column of each type.
ALL: Final = _table(
    "every_type",
    {
        "id": "int",
        "c_bit": "bit",
        "c_tinyint": "tinyint",
        "c_smallint": "smallint",
        "c_int": "int",
        "c_bigint": "bigint",
        "c_decimal": "decimal(10,2)",
        "c_numeric": "numeric(10,2)",
        "c_smallmoney": "smallmoney",
        "c_money": "money",
        "c_real": "real",
        "c_float": "float",
        "c_date": "date",
        "c_time": "time(3)",
        "c_smalldatetime": "smalldatetime",
        "c_datetime": "datetime",
        "c_datetime2": "datetime2(3)",
        "c_datetimeoffset": "datetimeoffset(3)",
        "c_char": "char(5)",
        "c_varchar": "varchar(20)",
        "c_text": "text",
        "c_nchar": "nchar(5)",
        "c_nvarchar": "nvarchar(20)",
        "c_ntext": "ntext",
        "c_binary": "binary(4)",
        "c_varbinary": "varbinary(10)",
        "c_image": "image",
        "c_timestamp": "timestamp",
        "c_uniqueidentifier": "uniqueidentifier",
        "c_xml": "xml",
        "c_sql_variant": "sql_variant",
        "c_hierarchyid": "hierarchyid",
        "c_geometry": "geometry",
        "c_geography": "geography",
    },
    ["id"],
)
STRANGE: Final = _table('t"ü', {"编号": "int", 'a"b': "nvarchar(5)", "c\\d": "int", "<e>&": "int"}, ["编号"])

_MIDDLE: Final = _table(
    "customers",
    {
        "id": "int",
        "first_name": "nvarchar(255)",
        "last_name": "nvarchar(255)",
        "email": "varchar(255)",
        "note": "nvarchar(max)",
        "middle_name": "nvarchar(22)",
    },
    ["id"],
    version=1,
)
_C1: Final = _table("customers", {"id": "int", "c1": "int", "c2": "decimal(8,2)"}, ["id"], version=2)
_C1_BIG: Final = _table("customers", {"id": "int", "c1": "bigint", "c2": "decimal(8,2)"}, ["id"], version=3)
_C3: Final = _table("customers", {"id": "int", "c1": "bigint", "c3": "decimal(8,2)"}, ["id"], version=4)
_NO_C1: Final = _table("customers", {"id": "int", "c3": "decimal(8,2)"}, ["id"], version=5)
_MANY2: Final = _table("many2", {"id": "int", "s": "varchar(100)"}, ["id"], version=1)
_MANY3: Final = _table("many3", {"id": "int", "s": "varchar(100)"}, ["id"], version=2)

_SALLY: Final = ["1001", "Sally", "Thomas", "sally@x", None]
_A2: Final = ["1001", "A2", "Thomas", "sally@x", None]
_BOB: Final = ["1003", "Bob", "Q", "bob@x", "N3"]


def _update(name: str, new: Sequence[str | None], old: Sequence[str | None], table: Table = CUSTOMERS) -> Case:
    return _case(name, Rows(UPDATE, table, [new], [old]))


CASES: Final = [
    _case("insert", Rows(INSERT, CUSTOMERS, [_SALLY])),
    _case(
        "insert several rows",
        Rows(
            INSERT,
            CUSTOMERS,
            [
                ["1002", "Anne", "K", "annek@x", "n1"],
                ["1003", "Bob", "L", "bob@x", None],
                ["1004", "Cy", "M", "cy@x", "n3"],
            ],
        ),
    ),
    _update("update one column", _A2, _SALLY),
    _update("update null to a value", [*_A2[:4], "now"], _A2),
    _update("update a value to null", _A2, [*_A2[:4], "now"]),
    _update("update null to the empty text", [*_A2[:4], ""], _A2),
    _case(
        "update another column of each row",
        Rows(
            UPDATE,
            CUSTOMERS,
            [["1001", "F1", "Q", "sally@x", ""], ["1002", "Anne", "L2", "annek@x", "n1"], _BOB],
            [["1001", "A2", "Q", "sally@x", ""], ["1002", "Anne", "Q", "annek@x", "n1"], [*_BOB[:4], None]],
        ),
    ),
    _update("update the key", ["2003", *_BOB[1:]], _BOB),
    _update("update the key and a column", ["2004", "Cy", "M", "cy@x", "moved"], ["1004", "Cy", "M", "cy@x", "n3"]),
    _update("update nothing", _A2, _A2),
    _case("delete", Rows(DELETE, CUSTOMERS, [_BOB])),
    _case("delete several rows", Rows(DELETE, CUSTOMERS, [_BOB, _A2])),
    _case("insert without a key", Rows(INSERT, KEYLESS, [["1", "x"], ["2", "y"], [None, None]])),
    _update("update without a key", ["1", "q"], ["1", "x"], KEYLESS),
    _case("delete without a key", Rows(DELETE, KEYLESS, [["2", "y"]])),
    _case("insert with a composite key", Rows(INSERT, COMPOSITE, [["v", "1", "a", None], ["v", "2", "a", "5"]])),
    _update("update a part of the key", ["v", "1", "b", None], ["v", "1", "a", None], COMPOSITE),
    _case(
        "a transaction on two tables",
        Rows(INSERT, KEYLESS, [["10", "t"]]),
        Rows(INSERT, COMPOSITE, [["t", "10", "t", "1"]]),
        Rows(UPDATE, KEYLESS, [["10", "t2"]], [["10", "t"]]),
        Rows(INSERT, KEYLESS, [["11", "t"]]),
    ),
    _case("a row of a snapshot", Rows(READ, CUSTOMERS, [_SALLY])),
    _case("null everywhere", Rows(INSERT, ALL, [{"id": "1"}])),
    _rows(
        "empty texts and nulls",
        INSERT,
        TEXTS,
        [["1", "", "", "", "", "", "", ""], ["2", None, None, None, None, None, None, None]],
    ),
    _rows(
        "integers at their bounds",
        INSERT,
        INTEGERS,
        [
            ["1", "0", "0", "-32768", "-2147483648", "-9223372036854775808"],
            ["2", "1", "255", "32767", "2147483647", "9223372036854775807"],
            ["3", "true", "128", "0", "0", "0"],
        ],
    ),
    _rows(
        "decimals",
        INSERT,
        DECIMALS,
        [
            ["1", "0", "0", "0", "0", "0", "0"],
            ["2", "11111", "5", "1.123456789", "1", "5.323", "5.323"],
            ["3", "-99999999", "-0.5", "-1.000000001", "-0.1", "-922337203685477.5808", "-214748.3648"],
            ["4", "7", "5.1", "0.000000001", "1e-10", "922337203685477.5807", "214748.3647"],
        ],
    ),
    _case(
        "a wide decimal",
        Rows(INSERT, DECIMALS, [{"id": "1", "dw": "-1234567890123456789012345678.1234567891"}]),
    ),
    _rows(
        "floating point numbers",
        INSERT,
        FLOATS,
        [
            ["1", "0", "0"],
            ["2", "-0e0", "-0e0"],
            ["3", "0.1", "0.1"],
            ["4", "0.0009999", "0.0009999"],
            ["5", "1e7", "1e7"],
            ["6", "123456789", "2e23"],
            ["7", "3.4028235e38", "1.7976931348623157e308"],
        ],
    ),
    _rows(
        "dates and times",
        INSERT,
        TIMES,
        [
            [
                "1",
                "2024-02-29",
                "12:34:56",
                "12:34:56.789",
                "12:34:56.7891234",
                "2024-02-29 12:34:56",
                "2024-02-29 12:34:56.789",
                "2024-02-29 12:34:56",
                "2024-02-29 12:34:56.789",
                "2024-02-29 12:34:56.789123",
                "2024-02-29 12:34:56.7891234",
                "2024-02-29 12:34:56 +08:00",
                "2024-02-29 12:34:56.789 -05:00",
                "2024-02-29 12:34:56.7891234 +05:45",
            ],
            [
                "2",
                "2024-01-01",
                "00:00:00",
                "00:00:00.5",
                "00:00:00",
                "2024-01-01",
                "2024-01-01 00:00:00.005",
                "2024-01-01",
                "2024-01-01",
                "2024-01-01 00:00:00.35",
                "2024-01-01",
                "2024-01-01 00:00:00 +00:00",
                "2024-01-01 00:00:00.5 +00:00",
                "2024-01-01 00:00:00 +00:00",
            ],
            [
                "3",
                "0001-01-01",
                "00:00:00",
                "00:00:00.001",
                "00:00:00.0000001",
                "1900-01-01",
                "1753-01-01",
                "0001-01-01",
                "0001-01-01",
                "0001-01-01 00:00:00.000001",
                "0001-01-01 00:00:00.0000001",
                "1970-01-01 00:00:00 -14:00",
                "1970-01-01 00:00:00 +14:00",
                "0001-01-01 00:00:00.0000001 +00:00",
            ],
            [
                "4",
                "9999-12-31",
                "23:59:59",
                "23:59:59.999",
                "23:59:59.9999999",
                "2079-06-06 23:59:00",
                "9999-12-31 23:59:59.997",
                "9999-12-31 23:59:59",
                "9999-12-31 23:59:59.999",
                "9999-12-31 23:59:59.999999",
                "9999-12-31 23:59:59.9999999",
                "9999-12-31 23:59:59 +00:00",
                "9999-12-31 23:59:59.999 +00:00",
                "9999-12-31 23:59:59.9999999 +00:00",
            ],
        ],
    ),
    _rows(
        "texts",
        INSERT,
        TEXTS,
        [
            ["1", "ab   ", "  x  ", "te/xt", "ab", "  x  ", "max", "long"],
            ["2", "hé", "€uro", "ünï", "中文😀", "hé中😀€", "e\u0301\u200d\u00ad", "𠮷👩\u200d💻"],
            ["3", "\\n", "\"\\/'`[]", "<b>&amp;=</b>", "null", "{}", '{"k":"\\u0041"}', "\u2028\u2029\ufeff\uffff"],
            ["4", "\x00", "\t\n\r\b\f\v", "\x01\x1b\x1f", "\x7f\x80", "", "0123456789" * 40, "\x85\x9f\xa0"],
        ],
    ),
    _rows(
        "bytes",
        INSERT,
        BYTES,
        [
            ["1", "", "", "", "", "0x0000000000000000"],
            ["2", "0x61000000", "0x61000000", "0x6100", "0x6100", "0x00000000000007D0"],
            ["3", "0x00000000", "0x00FF10", "0xE4B8AD", "0xEFBBBF", "0x00000000000007D1"],
            ["4", "0x01FF", "abc", "0x" + "00FF" * 100, "0x220A5C7F80A0FF", "0xFFFFFFFFFFFFFFFF"],
        ],
    ),
    _rows(
        "identifiers, documents and nodes",
        INSERT,
        OTHERS,
        [
            ["1", "6f9619ff-8b86-d011-b42d-00c04fc964ff", "<a b='1'><c></c> <d>2 &lt; 3</d></a>", "/", "1"],
            ["2", "00000000-0000-0000-0000-000000000000", "", "/1/3/", "2024-02-29 12:34:56.123"],
            ["3", "{FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF}", "<文>😀</文>", "/80/1103/-1/", "text"],
        ],
    ),
    _rows(
        "geometries",
        INSERT,
        SHAPES,
        [
            ["1", "POINT(1 2)", "POINT(116.4 39.9)"],
            ["2", "LINESTRING(0 0,1 1)", "SRID=4326;LINESTRING(0 0,1 1,2 2)"],
            ["3", "POLYGON((0 0,10 0,10 10,0 10,0 0),(5 5,5 7,7 7,7 5,5 5))", "MULTIPOINT(0 0,1 1)"],
            ["4", "GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(0 0,1 1))", "GEOMETRYCOLLECTION EMPTY"],
        ],
    ),
    _case("names that need escapes", Rows(INSERT, STRANGE, [["1", "x", "2", "3"]])),
    _case("create database", Ddl(SchemaChangeKind.CREATE_DATABASE, "CREATE DATABASE shop")),
    _case(
        "create table",
        Ddl(SchemaChangeKind.CREATE_TABLE, "CREATE TABLE nopk (a int, b nvarchar(max))", after=KEYLESS),
    ),
    _case(
        "add column",
        Ddl(
            SchemaChangeKind.ADD_COLUMN,
            "ALTER TABLE customers ADD middle_name nvarchar(22) DEFAULT N'mid' WITH VALUES",
            CUSTOMERS,
            _MIDDLE,
        ),
    ),
    _case(
        "alter column type",
        Ddl(SchemaChangeKind.ALTER_COLUMN_TYPE, "ALTER TABLE customers ALTER COLUMN c1 bigint", _C1, _C1_BIG),
    ),
    _case(
        "rename column",
        Ddl(SchemaChangeKind.RENAME_COLUMN, "EXEC sp_rename 'dbo.customers.c2', 'c3', 'COLUMN'", _C1_BIG, _C3),
    ),
    _case("drop column", Ddl(SchemaChangeKind.DROP_COLUMN, "ALTER TABLE customers DROP COLUMN c1", _C3, _NO_C1)),
    _case("rename table", Ddl(SchemaChangeKind.RENAME_TABLE, "EXEC sp_rename 'dbo.many2', 'many3'", _MANY2, _MANY3)),
    _case(
        "create index",
        Ddl(SchemaChangeKind.CREATE_INDEX, "CREATE INDEX ix ON customers (last_name)", CUSTOMERS, CUSTOMERS),
    ),
    _case("drop index", Ddl(SchemaChangeKind.DROP_INDEX, "DROP INDEX ix ON customers", CUSTOMERS, CUSTOMERS)),
    _case("truncate table", Ddl(SchemaChangeKind.TRUNCATE_TABLE, "TRUNCATE TABLE nopk", KEYLESS, KEYLESS)),
    _case("drop table", Ddl(SchemaChangeKind.DROP_TABLE, "DROP TABLE nopk", KEYLESS)),
    _case("drop database", Ddl(SchemaChangeKind.DROP_DATABASE, "DROP DATABASE shop")),
    _case("heartbeat", Beat()),
]

SAMPLES: Final = Samples(
    cases=CASES,
    types=[
        *(column.type.spelled for column in ALL.columns[1:]),
        "rowversion",
        "sysname",
        "decimal(38,0)",
        "decimal(38,38)",
        "numeric(19,9)",
        "float(24)",
        *(f"{name}({places})" for name in ("time", "datetime2", "datetimeoffset") for places in (0, 1, 4, 6, 7)),
        "char(1)",
        "varchar(300)",
        "varchar(max)",
        "varchar(40) collate Chinese_PRC_CI_AS",
        "varchar(40) collate Latin1_General_100_CI_AS_SC_UTF8",
        "nchar(10)",
        "nvarchar(max)",
        "binary(1)",
        "varbinary(300)",
        "varbinary(max)",
    ],
    plain="int",
    large=["varchar(max)", "nvarchar(max)", "varbinary(max)", "text", "image", "xml"],
    options=(
        _table("t", {"id": "int", "c": "datetime2(3)", "b": "varbinary(4)", "ts": "datetimeoffset(0)"}, ["id"]),
        ["1", "2024-01-01 00:00:00.5", "x", "2024-01-01"],
        ["2", None, "", None],
    ),
)


def samples(source: str) -> Samples:
    """Those of a version: UTF-8 collations came with 2019."""
    if source != "sqlserver-2016":
        return SAMPLES
    return replace(SAMPLES, types=[text for text in SAMPLES.types if not text.endswith("_UTF8")])
