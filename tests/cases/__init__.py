"""The named changes that every format is tested with: literal values, written by hand.

What is marked "recorded" was run against a real server, so that a product's bytes for it are known
(`captures/canal/operations.sql.gz`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import Final, cast

from building import Beat, Case, Ddl, Row, Rows, Times, batch_of, codec_of, table_of

from simulator import sources
from simulator.delivery.pack import cut
from simulator.errors import NotOffered, UnsupportedType
from simulator.model import DELETE, INSERT, READ, UPDATE, Column, ColumnType, SchemaChangeKind, Table, TableId

# ------------------------------------------------------------------------------------------------------------- tables

CUSTOMERS: Final = table_of(
    "customers",
    {
        "id": "int",
        "first_name": "varchar(255)",
        "last_name": "varchar(255)",
        "email": "varchar(255)",
        "note": "text",
    },
    ["id"],
)
# The key is (k1, k2), the columns stand the other way round.
COMPOSITE: Final = table_of("comp", {"v": "varchar(10)", "k2": "int", "k1": "varchar(5)", "w": "int"}, ["k1", "k2"])
KEYLESS: Final = table_of("nopk", {"a": "int", "b": "text"})

INTEGERS: Final = table_of(
    "integers",
    {
        "id": "int",
        "ti": "tinyint",
        "bo": "tinyint(1)",
        "si": "smallint",
        "mi": "mediumint",
        "it": "int",
        "bi": "bigint",
        "tu": "tinyint unsigned",
        "su": "smallint unsigned",
        "mu": "mediumint unsigned",
        "iu": "int unsigned",
        "bu": "bigint unsigned",
        "zf": "int(5) zerofill",
    },
    ["id"],
)
DECIMALS: Final = table_of(
    "decimals",
    {
        "id": "int",
        "d0": "decimal(8,0)",
        "d2": "decimal(10,2)",
        "d9": "decimal(20,9)",
        "d11": "decimal(20,11)",
        "du": "decimal(12,4) unsigned",
        "dw": "decimal(65,30)",
    },
    ["id"],
)
FLOATS: Final = table_of("floats", {"id": "int", "fl": "float", "db": "double", "fd": "float(7,2)"}, ["id"])
BITS: Final = table_of("bits", {"id": "int", "b1": "bit(1)", "b8": "bit(8)", "b64": "bit(64)", "ye": "year"}, ["id"])
TIMES: Final = table_of(
    "times",
    {
        "id": "int",
        "da": "date",
        "dt": "datetime",
        "dt3": "datetime(3)",
        "dt6": "datetime(6)",
        "ts": "timestamp",
        "ts6": "timestamp(6)",
        "tm": "time",
        "tm3": "time(3)",
    },
    ["id"],
)
TEXTS: Final = table_of(
    "texts",
    {
        "id": "int",
        "ch": "char(5)",
        "vc": "varchar(100)",
        "tt": "tinytext",
        "tx": "text",
        "mt": "mediumtext",
        "lt": "longtext",
    },
    ["id"],
)
BYTES: Final = table_of(
    "bytes",
    {
        "id": "int",
        "bn": "binary(4)",
        "vb": "varbinary(16)",
        "tb": "tinyblob",
        "bl": "blob",
        "mb": "mediumblob",
        "lb": "longblob",
    },
    ["id"],
)
LABELS: Final = table_of(
    "labels", {"id": "int", "en": "enum('new','it''s \"ok\"','中')", "st": "set('a','b','c d')"}, ["id"]
)
DOCUMENTS: Final = table_of("documents", {"id": "int", "js": "json"}, ["id"])
SHAPES: Final = table_of("shapes", {"id": "int", "pt": "point", "ge": "geometry", "gc": "geometrycollection"}, ["id"])
# One column of each type.
ALL: Final = table_of(
    "every_type",
    {
        "id": "int",
        "c_tinyint": "tinyint",
        "c_smallint": "smallint",
        "c_mediumint": "mediumint",
        "c_int": "int",
        "c_bigint": "bigint",
        "c_decimal": "decimal(10,2)",
        "c_float": "float",
        "c_double": "double",
        "c_bit": "bit(8)",
        "c_date": "date",
        "c_datetime": "datetime",
        "c_timestamp": "timestamp",
        "c_time": "time",
        "c_year": "year",
        "c_char": "char(5)",
        "c_varchar": "varchar(20)",
        "c_tinytext": "tinytext",
        "c_text": "text",
        "c_mediumtext": "mediumtext",
        "c_longtext": "longtext",
        "c_binary": "binary(4)",
        "c_varbinary": "varbinary(10)",
        "c_tinyblob": "tinyblob",
        "c_blob": "blob",
        "c_mediumblob": "mediumblob",
        "c_longblob": "longblob",
        "c_json": "json",
        "c_enum": "enum('a','b')",
        "c_set": "set('a','b')",
        "c_geometry": "geometry",
        "c_point": "point",
        "c_linestring": "linestring",
        "c_polygon": "polygon",
        "c_multipoint": "multipoint",
        "c_multilinestring": "multilinestring",
        "c_multipolygon": "multipolygon",
        "c_geometrycollection": "geometrycollection",
    },
    ["id"],
)
STRANGE: Final = table_of('t"ü', {"编号": "int", 'a"b': "varchar(5)", "c\\d": "int", "<e>&": "int"}, ["编号"])

# Versions of tables for DDL: only their names and columns count.
_MIDDLE: Final = table_of(
    "customers",
    {"id": "int", "first_name": "varchar(255)", "middle_name": "varchar(22)", "last_name": "varchar(255)"},
    ["id"],
    version=1,
)
_C1: Final = table_of("customers", {"id": "int", "c1": "int unsigned", "c2": "decimal(8,2)"}, ["id"], version=2)
_C1_BIG: Final = table_of("customers", {"id": "int", "c1": "bigint unsigned", "c2": "decimal(8,2)"}, ["id"], version=3)
_C3: Final = table_of("customers", {"id": "int", "c1": "bigint unsigned", "c3": "DECIMAL(10,3)"}, ["id"], version=4)
_NO_C1: Final = table_of("customers", {"id": "int", "c3": "DECIMAL(10,3)"}, ["id"], version=5)
_MANY2: Final = table_of("many2", {"id": "int", "s": "varchar(100)"}, ["id"], version=1)
_MANY3: Final = table_of("many3", {"id": "int", "s": "varchar(100)"}, ["id"], version=2)
_CM: Final = table_of("cm", {"id": "int", "v": "varchar(5)"}, ["id"])
_CM_X: Final = table_of("cm", {"id": "int", "v": "varchar(5)", "x": "int"}, ["id"], version=1)

# The example of a vendor's page.
PAGE: Final = table_of("tablename", {"id": "bigint", "shipping_type": "varchar(50)"}, ["id"], database="dbname")
_PAGE_TIMES: Final = Times(offset=58, event_ms=1_600_161_894_000, write_ms=1_600_161_894_771)

# -------------------------------------------------------------------------------------------------------------- cases

CASES: Final = [
    # recorded
    Case("insert", (Rows(INSERT, CUSTOMERS, [["1001", "Sally", "Thomas", "sally@x", None]]),)),
    Case(
        "insert several rows",
        (
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
    ),
    Case(
        "update one column",
        (
            Rows(
                UPDATE,
                CUSTOMERS,
                [["1001", "A2", "Thomas", "sally@x", None]],
                [["1001", "Sally", "Thomas", "sally@x", None]],
            ),
        ),
    ),
    Case(
        "update null to a value",
        (
            Rows(
                UPDATE,
                CUSTOMERS,
                [["1001", "A2", "Thomas", "sally@x", "now"]],
                [["1001", "A2", "Thomas", "sally@x", None]],
            ),
        ),
    ),
    Case(
        "update a value to null",
        (
            Rows(
                UPDATE,
                CUSTOMERS,
                [["1001", "A2", "Thomas", "sally@x", None]],
                [["1001", "A2", "Thomas", "sally@x", "now"]],
            ),
        ),
    ),
    Case(
        "update null to the empty text",
        (
            Rows(
                UPDATE,
                CUSTOMERS,
                [["1001", "A2", "Thomas", "sally@x", ""]],
                [["1001", "A2", "Thomas", "sally@x", None]],
            ),
        ),
    ),
    Case(
        "update one column of several rows",
        (
            Rows(
                UPDATE,
                CUSTOMERS,
                [
                    ["1001", "A2", "Q", "sally@x", ""],
                    ["1002", "Anne", "Q", "annek@x", "n1"],
                    ["1003", "Bob", "Q", "bob@x", None],
                ],
                [
                    ["1001", "A2", "Thomas", "sally@x", ""],
                    ["1002", "Anne", "K", "annek@x", "n1"],
                    ["1003", "Bob", "L", "bob@x", None],
                ],
            ),
        ),
    ),
    Case(
        "update another column of each row",
        (
            Rows(
                UPDATE,
                CUSTOMERS,
                [
                    ["1001", "F1", "Q", "sally@x", ""],
                    ["1002", "Anne", "L2", "annek@x", "n1"],
                    ["1003", "Bob", "Q", "bob@x", "N3"],
                ],
                [
                    ["1001", "A2", "Q", "sally@x", ""],
                    ["1002", "Anne", "Q", "annek@x", "n1"],
                    ["1003", "Bob", "Q", "bob@x", None],
                ],
            ),
        ),
    ),
    Case(
        "update the key",
        (
            Rows(
                UPDATE,
                CUSTOMERS,
                [["2003", "Bob", "Q", "bob@x", "N3"]],
                [["1003", "Bob", "Q", "bob@x", "N3"]],
            ),
        ),
    ),
    Case(
        "update the key and a column",
        (
            Rows(
                UPDATE,
                CUSTOMERS,
                [["2004", "Cy", "M", "cy@x", "moved"]],
                [["1004", "Cy", "M", "cy@x", "n3"]],
            ),
        ),
    ),
    Case(
        "update the keys of several rows",
        (
            Rows(
                UPDATE,
                CUSTOMERS,
                [["6002", "Anne", "L2", "annek@x", "n1"], ["6001", "F1", "Q", "sally@x", ""]],
                [["1002", "Anne", "L2", "annek@x", "n1"], ["1001", "F1", "Q", "sally@x", ""]],
            ),
        ),
    ),
    Case("delete", (Rows(DELETE, CUSTOMERS, [["2003", "Bob", "Q", "bob@x", "N3"]]),)),
    Case(
        "delete several rows",
        (
            Rows(
                DELETE,
                CUSTOMERS,
                [["6001", "F1", "Q", "sally@x", ""], ["6002", "Anne", "L2", "annek@x", "n1"]],
            ),
        ),
    ),
    Case("insert without a key", (Rows(INSERT, KEYLESS, [["1", "x"], ["2", "y"], [None, None]]),)),
    Case("update without a key", (Rows(UPDATE, KEYLESS, [["1", "q"]], [["1", "x"]]),)),
    Case("delete without a key", (Rows(DELETE, KEYLESS, [["2", "y"]]),)),
    Case("insert with a composite key", (Rows(INSERT, COMPOSITE, [["v", "1", "a", None], ["v", "2", "a", "5"]]),)),
    Case(
        "update a part of the key",
        (Rows(UPDATE, COMPOSITE, [["v", "1", "b", None]], [["v", "1", "a", None]]),),
    ),
    Case(
        "a transaction on two tables",
        (
            Rows(INSERT, KEYLESS, [["10", "t"]]),
            Rows(INSERT, COMPOSITE, [["t", "10", "t", "1"]]),
            Rows(UPDATE, KEYLESS, [["10", "t2"]], [["10", "t"]]),
            Rows(INSERT, KEYLESS, [["11", "t"]]),
        ),
    ),
    # not recorded: a server logs no update that changes nothing, unless it is one row among others
    Case(
        "update nothing",
        (
            Rows(
                UPDATE,
                CUSTOMERS,
                [["1001", "A2", "Thomas", "sally@x", None]],
                [["1001", "A2", "Thomas", "sally@x", None]],
            ),
        ),
    ),
    Case(
        "update nothing in the first and the last row",
        (
            Rows(
                UPDATE,
                KEYLESS,
                [["1", "x"], ["2", "z"], ["3", "w"]],
                [["1", "x"], ["2", "y"], ["3", "w"]],
            ),
        ),
    ),
    Case("a row of a snapshot", (Rows(READ, CUSTOMERS, [["1001", "Sally", "Thomas", "sally@x", None]]),)),
    Case(
        "empty texts and nulls",
        (
            Rows(
                INSERT,
                TEXTS,
                [["1", "", "", "", "", "", ""], ["2", None, None, None, None, None, None]],
                statements=[0, 1],
            ),
        ),
    ),
    Case("null everywhere", (Rows(INSERT, ALL, [{"id": "1"}]),)),
    Case(
        "integers at their bounds",
        (
            Rows(
                INSERT,
                INTEGERS,
                [
                    {
                        "id": "1",
                        "ti": "-128",
                        "bo": "0",
                        "si": "-32768",
                        "mi": "-8388608",
                        "it": "-2147483648",
                        "bi": "-9223372036854775808",
                        "tu": "0",
                        "su": "0",
                        "mu": "0",
                        "iu": "0",
                        "bu": "0",
                        "zf": "0",
                    },
                    {
                        "id": "2",
                        "ti": "127",
                        "bo": "1",
                        "si": "32767",
                        "mi": "8388607",
                        "it": "2147483647",
                        "bi": "9223372036854775807",
                        "tu": "255",
                        "su": "65535",
                        "mu": "16777215",
                        "iu": "4294967295",
                        "bu": "18446744073709551615",
                        "zf": "4294967295",
                    },
                ],
                statements=[0, 1],
            ),
        ),
    ),
    Case(
        "unsigned integers about the bounds of signed ones",
        (
            Rows(
                INSERT,
                INTEGERS,
                [
                    {
                        "id": "1",
                        "tu": "127",
                        "su": "32767",
                        "mu": "8388607",
                        "iu": "2147483647",
                        "bu": "9223372036854775807",
                        "zf": "42",
                    },
                    {
                        "id": "2",
                        "tu": "128",
                        "su": "32768",
                        "mu": "8388608",
                        "iu": "2147483648",
                        "bu": "9223372036854775808",
                        "zf": "2147483648",
                    },
                ],
                statements=[0, 1],
            ),
        ),
    ),
    Case(
        "wide unsigned integers before a small row and a null one",
        (
            Rows(
                INSERT,
                INTEGERS,
                [
                    {"id": "6", "tu": "255", "su": "65535", "iu": "4294967295", "bu": "18446744073709551615"},
                    {"id": "7", "tu": "1", "su": "1", "iu": "1", "bu": "1"},
                ],
            ),
            Rows(
                INSERT,
                INTEGERS,
                [
                    {"id": "8", "tu": "255", "su": "65535", "iu": "4294967295", "bu": "18446744073709551615"},
                    {"id": "9"},
                ],
            ),
        ),
    ),
    Case(
        "decimals",
        (
            Rows(
                INSERT,
                DECIMALS,
                [
                    ["1", "0", "0", "0", "0", "0", "0"],
                    ["2", "11111", "5", "1", "1.123456789", "0.5", "1"],
                    ["3", "-99999999", "-0.5", "-1.000000001", "-0.12345678901", "99999999.9999", "-0.1"],
                    ["4", "7", "5.1", "123456789.123456789", "0.00000000001", "1.0001", "1e-30"],
                ],
                statements=[0, 1, 2, 3],
            ),
        ),
    ),
    Case(
        "a wide decimal",
        (
            Rows(
                INSERT,
                DECIMALS,
                [{"id": "1", "dw": "-12345678901234567890123456789012345.123456789012345678901234567891"}],
            ),
        ),
    ),
    Case(
        "floating point numbers",
        (
            Rows(
                INSERT,
                FLOATS,
                [
                    ["1", "0", "0", "0"],
                    ["2", "-0e0", "-0e0", "-12345.67"],
                    ["3", "0.1", "0.1", "0.1"],
                    ["4", "0.001", "0.001", "1"],
                    ["5", "0.0009999", "0.0009999", "100"],
                    ["6", "9999999", "9999999", None],
                    ["7", "1e7", "1e7", None],
                    ["8", "123456789", "2e23", None],
                    ["9", "3.4028235e38", "1.7976931348623157e308", None],
                    ["10", "1e-45", "4.9e-324", None],
                ],
                statements=range(10),
            ),
        ),
    ),
    Case(
        "bits and years",
        (
            Rows(
                INSERT,
                BITS,
                [
                    ["1", "b'0'", "b'0'", "b'0'", "0000"],
                    ["2", "b'1'", "b'101'", "0x8000000000000001", "1901"],
                    ["3", "b'1'", "255", "18446744073709551615", "2155"],
                ],
                statements=[0, 1, 2],
            ),
        ),
    ),
    Case(
        "dates and times",
        (
            Rows(
                INSERT,
                TIMES,
                [
                    [
                        "1",
                        "2024-02-29",
                        "2024-02-29 12:34:56",
                        "2024-02-29 12:34:56.789",
                        "2024-02-29 12:34:56.789123",
                        "2024-02-29 12:34:56",
                        "2024-02-29 12:34:56.789123",
                        "12:34:56",
                        "12:34:56.789",
                    ],
                    [
                        "2",
                        "2024-01-01",
                        "2024-01-01",
                        "2024-01-01",
                        "2024-01-01 00:00:00.35",
                        "2024-01-01",
                        "2024-01-01 00:00:00.5",
                        "00:00:00",
                        "00:00:00.5",
                    ],
                    [
                        "3",
                        "1000-01-01",
                        "1000-01-01",
                        "1000-01-01",
                        "1000-01-01 00:00:00.000001",
                        "1970-01-01 00:00:01",
                        "1970-01-01 00:00:01.000001",
                        "-838:59:59",
                        "-00:00:00.005",
                    ],
                    [
                        "4",
                        "9999-12-31",
                        "9999-12-31 23:59:59",
                        "9999-12-31 23:59:59.999",
                        "9999-12-31 23:59:59.999999",
                        "2038-01-19 03:14:07",
                        "2038-01-19 03:14:07.999999",
                        "838:59:59",
                        "-100:00:00.01",
                    ],
                ],
                statements=[0, 1, 2, 3],
            ),
        ),
    ),
    Case(
        "dates that are none",
        (
            Rows(
                INSERT,
                TIMES,
                [
                    ["1", "0000-00-00", "0000-00-00", "0000-00-00", "0000-00-00", "0000-00-00", "0000-00-00", "0", "0"],
                    [
                        "2",
                        "2020-00-00",
                        "2020-00-15 01:02:03",
                        "0000-01-00 01:02:03.4",
                        "2020-02-00",
                        None,
                        None,
                        None,
                        None,
                    ],
                ],
                statements=[0, 1],
            ),
        ),
    ),
    Case(
        "texts",
        (
            Rows(
                INSERT,
                TEXTS,
                [
                    ["1", "ab   ", "  x  ", "tiny", "te/xt", "medium", "long"],
                    ["2", "héé", "hé中😀€", "三十", "e\u0301\u200d\u00ad", "\u2028\u2029\ufeff\uffff", "𠮷👩\u200d💻"],
                    ["3", "\\n", "\"\\/'`", "<b>&amp;=</b>", "null", "{}", '{"k":"\\u0041"}'],
                    ["4", "\x00", "\t\n\r\b\f\v", "\x01\x1b\x1f", "\x7f\x80\x85\x9f\xa0", "", "0123456789" * 40],
                ],
                statements=[0, 1, 2, 3],
            ),
        ),
    ),
    Case(
        "bytes",
        (
            Rows(
                INSERT,
                BYTES,
                [
                    ["1", "", "", "", "", "", ""],
                    ["2", "x'61000000'", "x'61000000'", "x'6100'", "x'6100'", "x'6100'", "x'6100'"],
                    ["3", "x'00000000'", "x'00ff10'", "x'00'", "x'e4b8ad'", "x'efbbbf'", "x'220a5c7f80a0ff'"],
                    ["4", "x'01ff'", "abc", "x'ff'", "中", "x'00fe0000'", "0x" + "00ff" * 100],
                ],
                statements=[0, 1, 2, 3],
            ),
        ),
    ),
    Case(
        "labels",
        (
            Rows(
                INSERT,
                LABELS,
                [["1", "new", "a"], ["2", 'it\'s "ok"', "a,c d"], ["3", "中", "a,b,c d"], ["4", "", ""]],
                statements=[0, 1, 2, 3],
            ),
        ),
    ),
    Case(
        "documents",
        (
            Rows(
                INSERT,
                DOCUMENTS,
                [
                    ["1", "null"],
                    ["2", '{"b":1,"aa":{"deep":[[],[[]]]},"a":[1.0,null,"x",true,{"z":{}}],"":"empty key"}'],
                    ["3", '{"中":"文😀é","q\\"k":"v\\"\\\\\\/\\b\\f\\n\\r\\t\\u0001\\u007f\\u0080\\u00a0\\u2028"}'],
                    ["4", "[18446744073709551615,-1,1.5,1e20,3.0,0.1,-0.0,1e-7,12345678901.123456789]"],
                    ["5", '["<a href=\'x\'>&amp;</a>","\\\\u0041",""]'],
                ],
                statements=[0, 1, 2, 3, 4],
            ),
        ),
    ),
    Case(
        "geometries",
        (
            Rows(
                INSERT,
                SHAPES,
                [
                    ["1", "POINT(1 2)", "SRID=4326;POLYGON((0 0,1 0,1 1,0 0))", "GEOMETRYCOLLECTION EMPTY"],
                    ["2", "POINT(-1.5 1e10)", "LINESTRING(0 0,1 1)", "GEOMETRYCOLLECTION(POINT(1 2))"],
                ],
                statements=[0, 1],
            ),
        ),
    ),
    Case("names that need escapes", (Rows(INSERT, STRANGE, [["1", "x", "2", "3"]]),)),
    # recorded
    Case("create database", (Ddl(SchemaChangeKind.CREATE_DATABASE, "create database shop character set utf8mb4"),)),
    Case(
        "create table",
        (Ddl(SchemaChangeKind.CREATE_TABLE, "create table nopk(a int, b text)", after=KEYLESS),),
    ),
    Case(
        "add column",
        (
            Ddl(
                SchemaChangeKind.ADD_COLUMN,
                "alter table customers add column middle_name varchar(22) null comment 'mid' after first_name",
                CUSTOMERS,
                _MIDDLE,
            ),
        ),
    ),
    Case(
        "alter column type",
        (
            Ddl(
                SchemaChangeKind.ALTER_COLUMN_TYPE,
                "alter table customers modify column c1 bigint unsigned",
                _C1,
                _C1_BIG,
            ),
        ),
    ),
    Case(
        "rename column",
        (
            Ddl(
                SchemaChangeKind.RENAME_COLUMN,
                "alter table customers change column c2 c3 DECIMAL(10,3) default 0",
                _C1_BIG,
                _C3,
            ),
        ),
    ),
    Case(
        "drop column",
        (Ddl(SchemaChangeKind.DROP_COLUMN, "alter table customers drop column c1", _C3, _NO_C1),),
    ),
    Case(
        "rename table",
        (Ddl(SchemaChangeKind.RENAME_TABLE, "rename table many2 to many3", _MANY2, _MANY3),),
    ),
    Case(
        "create index",
        (Ddl(SchemaChangeKind.CREATE_INDEX, "create index ix on customers(last_name)", CUSTOMERS, CUSTOMERS),),
    ),
    Case("drop index", (Ddl(SchemaChangeKind.DROP_INDEX, "drop index ix on customers", CUSTOMERS, CUSTOMERS),)),
    Case(
        "truncate table",
        (Ddl(SchemaChangeKind.TRUNCATE_TABLE, "truncate table nopk", KEYLESS, KEYLESS),),
    ),
    Case(
        "drop table",
        (Ddl(SchemaChangeKind.DROP_TABLE, "DROP TABLE `nopk` /* generated by server */", KEYLESS),),
    ),
    Case("drop database", (Ddl(SchemaChangeKind.DROP_DATABASE, "drop database shop"),)),
    Case(
        "a statement with line breaks and a comment",
        (Ddl(SchemaChangeKind.ADD_COLUMN, "alter /* mid */ table\n\tcm add\n column x int", _CM, _CM_X),),
    ),
    Case("heartbeat", (Beat(),)),
    # the examples of a vendor's page
    Case("the page's delete", (Rows(DELETE, PAGE, [["500000287", None]]),), _PAGE_TIMES),
    Case("the page's delete of before 2022-03-20", (Rows(DELETE, PAGE, [["500000287", "aaa"]]),), _PAGE_TIMES),
    Case(
        "the page's statement",
        (Ddl(SchemaChangeKind.CREATE_TABLE, "eg:createxxx", after=PAGE, database="dbname"),),
        _PAGE_TIMES,
    ),
]

# ------------------------------------------------------------------------------------------------------------- sources


@dataclass(frozen=True)
class Samples:
    """What the formats are tried with on one type system, beside its cases.

    `types` are texts of all its types, as somebody types them; `plain` one of a key; `large` types of large objects;
    `options` is a table with a column for each thing that options turn on, a row of it and another one.
    """

    cases: list[Case]
    types: list[str]
    plain: str
    large: list[str]
    options: tuple[Table, list[str | None], list[str | None]]


_MYSQL: Final = Samples(
    cases=CASES,
    types=[
        *(column.type.spelled for column in ALL.columns[1:]),
        "tinyint(1)",
        "bool",
        *(f"{name} unsigned" for name in ("tinyint", "smallint", "mediumint", "int", "bigint", "decimal(12,4)")),
        "int(5) zerofill",
        "decimal(65,30)",
        "decimal(38,0)",
        "decimal(19,9)",
        "float(7,2)",
        "bit(1)",
        "bit(64)",
        *(f"{name}({digits})" for name in ("datetime", "timestamp", "time") for digits in (1, 3, 4, 6)),
        "char(0)",
        "varchar(300)",
        "varchar(40) character set latin1",
        "varchar(10) character set binary",
        "text(30)",
        "varbinary(300)",
        "enum('','it''s','\"q\"','中\\\\')",
        "set('x','y z','ü')",
    ],
    plain="int",
    large=["longtext", "longblob", "json"],
    options=(
        table_of("t", {"id": "int unsigned", "c": "datetime(3)", "b": "varbinary(4)", "ts": "timestamp"}, ["id"]),
        ["1", "2024-01-01 00:00:00.5", "x", "2024-01-01"],
        ["2", None, "", None],
    ),
)

# Where the samples of other type systems are: the source's id, and a module of this folder with `SAMPLES`, or with
# `samples(source)` where versions differ in their types.
MODULES: Final[Mapping[str, str]] = {
    "gaussdb": "cases.gaussdb",
    "mongodb": "cases.mongodb",
    "oceanbase-oracle": "cases.oracle",
    "oracle": "cases.oracle",
    "postgresql": "cases.postgresql",
    "sqlserver": "cases.sqlserver",
}


def samples_of(source: str) -> Samples:
    """The samples of a source such as `mysql-8.0`, which are those of its type system."""
    module = MODULES.get(sources.find(source).id)
    if module is None:
        return _MYSQL
    found = import_module(module)
    return cast(Samples, found.samples(source) if hasattr(found, "samples") else found.SAMPLES)


def types_of(source: str) -> list[str]:
    """Samples of all types of a source; of a version that is not the default one, those that the default has not."""
    default = str(sources.find(sources.find(source).id))
    known = set() if source == default else set(samples_of(default).types)
    return [text for text in samples_of(source).types if text not in known]


@cache
def cases_of(source: str, format: str | None = None) -> list[Case]:
    """The named cases of a source; for a format without the columns and names that it refuses."""
    cases = samples_of(source).cases
    return cases if format is None else [readable(case, source, format) for case in cases]


def case_of(name: str, source: str, format: str) -> Case:
    """A case by its name, without the columns and names that the format refuses."""
    return readable(next(case for case in samples_of(source).cases if case.name == name), source, format)


def readable(case: Case, source: str, format: str) -> Case:
    """The case without the columns that the format refuses; tables whose names it refuses are called `strange`."""
    steps = []
    for step in case.steps:
        if isinstance(step, Rows) and (lost := refused(format, source, step.table.columns)):
            table = step.table
            kept = [i for i, column in enumerate(table.columns) if column not in lost]
            step = replace(
                step,
                table=replace(table, columns=tuple(table.columns[i] for i in kept)),
                rows=[_cells(table, row, kept) for row in step.rows],
                old=None if step.old is None else [_cells(table, row, kept) for row in step.old],
            )
        if isinstance(step, Rows) and _refuses_name(format, source, step.table.id.name):
            step = replace(step, table=replace(step.table, id=replace(step.table.id, name="strange")))
        steps.append(step)
    return replace(case, steps=tuple(steps))


def _cells(table: Table, row: Row, kept: list[int]) -> Row:
    names = [table.columns[i].name for i in kept]
    return {name: row.get(name) for name in names} if isinstance(row, Mapping) else [row[i] for i in kept]


def refused(format: str, source: str, columns: tuple[Column, ...]) -> list[Column]:
    """The columns whose types or names a format says it cannot write; of a type, by its name and a column's."""
    known = _refused_types(format, source)
    types = [type for type in dict.fromkeys(column.type for column in columns) if type not in known]
    while types:
        probe = tuple(Column(f"c{number}", type) for number, type in enumerate(types))
        said = ""
        try:
            _write(format, source, Table(TableId("d", "t", "s"), probe))
        except UnsupportedType as error:
            said = str(error)
        if not said:
            known |= dict.fromkeys(types, False)
            break
        named = re.search(r"t[.]c(\d+)\b", said)
        assert named, said
        type = types.pop(int(named[1]))
        assert type.name.lower() in said.lower()
        known[type] = True
    return [column for column in columns if known[column.type] or _refuses_name(format, source, column.name, column)]


@cache
def _refused_types(format: str, source: str) -> dict[ColumnType, bool]:
    """Of the types that were asked for so far, whether the format refuses them."""
    return {}


@cache
def _refuses_name(format: str, source: str, name: str, column: Column | None = None) -> bool:
    """Whether a format refuses the name of a column, or, without one, of a table. Plain names are fine everywhere."""
    if re.fullmatch(r"\w+", name, re.ASCII):
        return False
    plain = column or Column("c", sources.find(source).parse_type(samples_of(source).plain))
    try:
        _write(format, source, Table(TableId("d", "t" if column else name, "s"), (plain,)))
    except NotOffered:
        return True
    return False


def _write(format: str, source: str, table: Table) -> None:
    batch = batch_of(table, INSERT, [[None] * len(table.columns)], source=source)
    layout = codec_of(format, source).layout
    list(layout.writer.messages(cut(batch, layout.packing.events(batch), topic="t", partition=None, key=None)))
