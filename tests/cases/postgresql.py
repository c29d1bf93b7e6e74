"""The named changes on PostgreSQL's types; GaussDB's stand on them (`cases.gaussdb.py`).

Values marked "recorded" were written to a real PostgreSQL 15, so that what it stores and prints of them is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Final

from building import Beat, Case, Ddl, Rows, table_of

from cases import Samples
from simulator.model import DELETE, INSERT, READ, UPDATE, SchemaChangeKind, Table
from simulator.sources import find

POSTGRESQL: Final = find("postgresql")

Columns = Mapping[str, str]

CUSTOMERS: Final = {
    "id": "integer",
    "first_name": "varchar(255)",
    "last_name": "varchar(255)",
    "email": "varchar(255)",
    "note": "text",
}
INTEGERS: Final = {"id": "integer", "bo": "boolean", "si": "smallint", "it": "integer", "bi": "bigint", "oi": "oid"}
DECIMALS: Final = {
    "id": "integer",
    "d0": "numeric(8)",
    "d2": "numeric(10,2)",
    "d15": "numeric(38,15)",
    "dw": "numeric(60,30)",
    "nu": "numeric",
    "mo": "money",
}
FLOATS: Final = {"id": "integer", "re": "real", "db": "double precision"}
BITS: Final = {"id": "integer", "b1": "bit(1)", "b8": "bit(8)", "b20": "bit(20)", "vb": "varbit", "vb10": "varbit(10)"}
TIMES: Final = {
    "id": "integer",
    "da": "date",
    "ti": "time",
    "ti3": "time(3)",
    "tt": "timetz",
    "ts": "timestamp",
    "ts0": "timestamp(0)",
    "ts3": "timestamp(3)",
    "tz": "timestamptz",
    "tz3": "timestamptz(3)",
    "iv": "interval",
}
TEXTS: Final = {"id": "integer", "ch": "char(5)", "vc": "varchar(100)", "tx": "text", "na": "name"}
BYTES: Final = {"id": "integer", "by": "bytea"}
LABELS: Final = {"id": "integer", "en": "mood enum('sad','it''s \"ok\"','中')"}
DOCUMENTS: Final = {"id": "integer", "js": "json", "jb": "jsonb", "xm": "xml"}
SHAPES: Final = {
    "id": "integer",
    "po": "point",
    "ls": "lseg",
    "bx": "box",
    "pa": "path",
    "pl": "polygon",
    "cr": "circle",
}
OTHERS: Final = {
    "id": "integer",
    "uu": "uuid",
    "ine": "inet",
    "cid": "cidr",
    "mac": "macaddr",
    "tsv": "tsvector",
    "tsq": "tsquery",
}
RANGES: Final = {
    "id": "integer",
    "i4": "int4range",
    "i8": "int8range",
    "nr": "numrange",
    "tr": "tsrange",
    "tzr": "tstzrange",
    "dr": "daterange",
}
ARRAYS: Final = {
    "id": "integer",
    "ia": "integer[]",
    "ta": "text[]",
    "na": "numeric(10,2)[]",
    "tsa": "timestamp[]",
    "uua": "uuid[]",
}
STRANGE: Final = {"编号": "integer", 'a"b': "varchar(5)", "c\\d": "integer", "<e>&": "integer"}


def every_type(types: Mapping[str, object]) -> dict[str, str]:
    """One column of each type: `c_timestamp_with_time_zone` is one, and `c_integer_array`."""
    columns = {"id": "integer"}
    for name in types:
        word = name.replace("[]", " array").replace('"char"', "one char").replace(" ", "_")
        columns[f"c_{word}"] = "mood enum('sad','ok')" if name == "enum" else name
    return columns


def cases_for(source: str, types: Mapping[str, object]) -> list[Case]:
    """The named changes of a source such as `postgresql`; `types` are all its types by name."""
    table = partial(table_of, source=source)
    case = partial(Case, source=source)
    customers = table("customers", CUSTOMERS, ["id"])
    # the key is (k1, k2), the columns stand the other way round
    composite_columns: Columns = {"v": "varchar(10)", "k2": "integer", "k1": "varchar(5)", "w": "integer"}
    composite = table("comp", composite_columns, ["k1", "k2"])
    keyless = table("nopk", {"a": "integer", "b": "text"})
    integers, decimals = table("integers", INTEGERS, ["id"]), table("decimals", DECIMALS, ["id"])
    floats, bits, times = table("floats", FLOATS, ["id"]), table("bits", BITS, ["id"]), table("times", TIMES, ["id"])
    texts, octets, labels = (
        table("texts", TEXTS, ["id"]),
        table("bytes", BYTES, ["id"]),
        table("labels", LABELS, ["id"]),
    )
    documents, shapes = table("documents", DOCUMENTS, ["id"]), table("shapes", SHAPES, ["id"])
    others, ranges, arrays = table("others", OTHERS, ["id"]), table("ranges", RANGES, ["id"]), table("arrays", ARRAYS)
    every = table("every_type", every_type(types), ["id"])
    strange = table('t"ü', STRANGE, ["编号"])
    sally = ["1001", "Sally", "Thomas", "sally@x", None]
    a2 = ["1001", "A2", "Thomas", "sally@x", None]
    a2_now = ["1001", "A2", "Thomas", "sally@x", "now"]
    a2_empty = ["1001", "A2", "Thomas", "sally@x", ""]
    bob = ["1003", "Bob", "Q", "bob@x", "N3"]
    bob_moved = ["2003", "Bob", "Q", "bob@x", "N3"]
    rows = [
        case("insert", (Rows(INSERT, customers, [sally]),)),
        case(
            "insert several rows",
            (
                Rows(
                    INSERT,
                    customers,
                    [
                        ["1002", "Anne", "K", "annek@x", "n1"],
                        ["1003", "Bob", "L", "bob@x", None],
                        ["1004", "Cy", "M", "cy@x", "n3"],
                    ],
                ),
            ),
        ),
        case("update one column", (Rows(UPDATE, customers, [a2], [sally]),)),
        case("update null to a value", (Rows(UPDATE, customers, [a2_now], [a2]),)),
        case("update a value to null", (Rows(UPDATE, customers, [a2], [a2_now]),)),
        case("update null to the empty text", (Rows(UPDATE, customers, [a2_empty], [a2]),)),
        case(
            "update another column of each row",
            (
                Rows(
                    UPDATE,
                    customers,
                    [["1001", "F1", "Q", "sally@x", ""], ["1002", "Anne", "L2", "annek@x", "n1"], bob],
                    [
                        ["1001", "A2", "Q", "sally@x", ""],
                        ["1002", "Anne", "Q", "annek@x", "n1"],
                        ["1003", "Bob", "Q", "bob@x", None],
                    ],
                ),
            ),
        ),
        case("update the key", (Rows(UPDATE, customers, [bob_moved], [bob]),)),
        case(
            "update the key and a column",
            (
                Rows(
                    UPDATE,
                    customers,
                    [["2004", "Cy", "M", "cy@x", "moved"]],
                    [["1004", "Cy", "M", "cy@x", "n3"]],
                ),
            ),
        ),
        case("update nothing", (Rows(UPDATE, customers, [a2], [a2]),)),
        case("delete", (Rows(DELETE, customers, [bob_moved]),)),
        case(
            "delete several rows",
            (
                Rows(
                    DELETE,
                    customers,
                    [["6001", "F1", "Q", "sally@x", ""], ["6002", "Anne", "L2", "annek@x", "n1"]],
                ),
            ),
        ),
        case("insert without a key", (Rows(INSERT, keyless, [["1", "x"], ["2", "y"], [None, None]]),)),
        case("update without a key", (Rows(UPDATE, keyless, [["1", "q"]], [["1", "x"]]),)),
        case("delete without a key", (Rows(DELETE, keyless, [["2", "y"]]),)),
        case("insert with a composite key", (Rows(INSERT, composite, [["v", "1", "a", None], ["v", "2", "a", "5"]]),)),
        case(
            "update a part of the key",
            (Rows(UPDATE, composite, [["v", "1", "b", None]], [["v", "1", "a", None]]),),
        ),
        case(
            "a transaction on two tables",
            (
                Rows(INSERT, keyless, [["10", "t"]]),
                Rows(INSERT, composite, [["t", "10", "t", "1"]]),
                Rows(UPDATE, keyless, [["10", "t2"]], [["10", "t"]]),
                Rows(INSERT, keyless, [["11", "t"]]),
            ),
        ),
        case("a row of a snapshot", (Rows(READ, customers, [sally]),)),
        case(
            "empty texts and nulls",
            (Rows(INSERT, texts, [["1", "", "", "", ""], ["2", None, None, None, None]], statements=[0, 1]),),
        ),
        case("null everywhere", (Rows(INSERT, every, [{"id": "1"}]),)),
        # recorded from here on, where the type is PostgreSQL's
        case(
            "integers at their bounds",
            (
                Rows(
                    INSERT,
                    integers,
                    [
                        ["-2147483648", "false", "-32768", "-2147483648", "-9223372036854775808", "0"],
                        ["2147483647", "true", "32767", "2147483647", "9223372036854775807", "4294967295"],
                    ],
                    statements=[0, 1],
                ),
            ),
        ),
        case(
            "decimals",
            (
                Rows(
                    INSERT,
                    decimals,
                    [
                        ["1", "0", "0", "0", "0", "0", "0"],
                        ["2", "-12345678", "12345.67", "12345678901234567890123.123456789012345", "1", "123.4500", "1"],
                        ["3", "5", "-0.01", "0.000000000000001", "-1e-30", "1e20", "-$0.01"],
                        ["4", None, "5", "-1.5", "1e29", "NaN", "$1,234.56"],
                        ["5", None, None, None, None, "-0.00", "$92,233,720,368,547,758.07"],
                    ],
                    statements=[0, 1, 2, 3, 4],
                ),
            ),
        ),
        case(
            "floating point numbers",
            (
                Rows(
                    INSERT,
                    floats,
                    [
                        ["1", "3.14", "2.718281828459045"],
                        ["2", "-0", "-0"],
                        ["3", "999999", "100000000000000"],
                        ["4", "1e6", "1e15"],
                        ["5", "0.0001", "0.0001"],
                        ["6", "0.00001", "0.00001"],
                        ["7", "3.4028235e38", "1.7976931348623157e308"],
                        ["8", "1e-45", "4.9e-324"],
                        ["9", "NaN", "NaN"],
                        ["10", "Infinity", "-Infinity"],
                    ],
                    statements=range(10),
                ),
            ),
        ),
        case(
            "bits",
            (
                Rows(
                    INSERT,
                    bits,
                    [
                        ["1", "1", "10000001", "10000000000000000011", "101", "1100000001"],
                        ["2", "0", "00000000", "00000000000000000001", "", "1"],
                    ],
                    statements=[0, 1],
                ),
            ),
        ),
        case(
            "dates and times",
            (
                Rows(
                    INSERT,
                    times,
                    [
                        {
                            "id": "1",
                            "da": "2024-02-29",
                            "ti": "12:34:56.123456",
                            "ti3": "12:34:56.789",
                            "tt": "12:34:56.123456+02",
                            "ts": "2024-02-29 12:34:56.123456",
                            "ts0": "2024-02-29 12:34:56",
                            "ts3": "2024-02-29 12:34:56.789",
                            "tz": "2024-02-29 12:34:56.123450+02",
                            "tz3": "2024-02-29 12:34:56.5-05",
                            "iv": "1 year 2 mons 3 days 04:05:06.789",
                        },
                        {
                            "id": "2",
                            "da": "1500-01-01",
                            "ti": "24:00:00",
                            "ti3": "00:00:00",
                            "tt": "00:00:00+14",
                            "ts": "0001-01-01 00:00:00",
                            "ts0": "1969-12-31 23:59:59",
                            "ts3": "9999-12-31 23:59:59.999",
                            "tz": "1969-12-31 23:59:59.999999+00",
                            "tz3": "9999-12-31 23:59:59.999+00",
                            "iv": "-1 day 02:00:00",
                        },
                        {"id": "3", "ts": "2014-07-02 06:14:00.742", "tt": "23:59:59.999-05:30", "iv": "0"},
                    ],
                    statements=[0, 1, 2],
                ),
            ),
        ),
        case(
            "dates that are none",
            (
                Rows(
                    INSERT,
                    times,
                    [
                        {"id": "1", "da": "infinity", "ts": "infinity", "ts3": "-infinity", "tz": "-infinity"},
                        {
                            "id": "2",
                            "da": "0001-01-01 BC",
                            "ts": "0044-03-15 12:00:00 BC",
                            "tz": "4714-11-24 00:00:00 BC",
                        },
                        {"id": "3", "da": "5874897-12-31", "ts": "10000-01-01 00:00:00.5", "tz": "infinity"},
                    ],
                    statements=[0, 1, 2],
                ),
            ),
        ),
        case(
            "texts",
            (
                Rows(
                    INSERT,
                    texts,
                    [
                        ["1", "ab", "  x  ", "te/xt", "tiny"],
                        ["2", "héé", "hé中😀€", "e\u0301\u200d\u00ad", "三十"],
                        ["3", "\\n", "\"\\/'`", "<b>&amp;=</b>", "null"],
                        ["4", "\x7f", "\t\n\r\b\f\v", "\x01\x1b\x1f\x80\x85\x9f\xa0\u2028\ufeff", "{}"],
                    ],
                    statements=[0, 1, 2, 3],
                ),
            ),
        ),
        case(
            "bytes",
            (
                Rows(
                    INSERT,
                    octets,
                    [["1", ""], ["2", "\\x00ff10"], ["3", "bytea_data"], ["4", "中"], ["5", "\\x" + "00ff" * 100]],
                    statements=[0, 1, 2, 3, 4],
                ),
            ),
        ),
        case(
            "labels",
            (Rows(INSERT, labels, [["1", "sad"], ["2", 'it\'s "ok"'], ["3", "中"]], statements=[0, 1, 2]),),
        ),
        case(
            "documents",
            (
                Rows(
                    INSERT,
                    documents,
                    [
                        ["1", "null", "null", ""],
                        ["2", '{"a": 1,  "b":[1.0]}', '{"b": 1,  "a":[1.0]}', "<a>x</a>"],
                        [
                            "3",
                            '{"中":"文😀é","q\\"k":"v\\"\\\\\\/\\b\\f\\n\\r\\t\\u0001"}',
                            '{"中":"文😀é","q\\"k":"v\\"\\\\\\/\\b\\f\\n\\r\\t\\u0001"}',
                            '<r b="&lt;é中😀"><![CDATA[<&]]></r>',
                        ],
                        ["4", "[1e20,3.0,-0.0]", "[1e20,3.0,-0.0,18446744073709551616]", "text <b/>"],
                    ],
                    statements=[0, 1, 2, 3],
                ),
            ),
        ),
        case(
            "geometries",
            (
                Rows(
                    INSERT,
                    shapes,
                    [
                        [
                            "1",
                            "(1,2)",
                            "[(0,0),(1,1)]",
                            "(1,1),(0,0)",
                            "((0,0),(1,1))",
                            "((0,0),(1,1),(1,0))",
                            "<(1,2),3>",
                        ],
                        ["2", "(-1.5,1e10)", None, "(0,0),(1,1)", "[(0,0),(1,1)]", None, None],
                    ],
                    statements=[0, 1],
                ),
            ),
        ),
        case(
            "identifiers, addresses and words",
            (
                Rows(
                    INSERT,
                    others,
                    [
                        [
                            "1",
                            "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
                            "192.168.1.5/24",
                            "10.0.0.0/8",
                            "08:00:2b:01:02:03",
                            "fat:1 cat:2",
                            "fat & (rat | !cat)",
                        ],
                        ["2", None, "2001:DB8::1", "2001:db8::/32", None, None, None],
                    ],
                    statements=[0, 1],
                ),
            ),
        ),
        case(
            "ranges",
            (
                Rows(
                    INSERT,
                    ranges,
                    [
                        [
                            "1",
                            "[1,5]",
                            "(1,5]",
                            "[1.5,2.5)",
                            "[2020-01-01 00:00,2020-01-02 00:00)",
                            "[2010-01-01 14:30:00+08,2010-01-01 15:30:00+08)",
                            "[2020-01-01,2020-01-31]",
                        ],
                        ["2", "empty", "(,)", "[1,)", "(,)", None, None],
                    ],
                    statements=[0, 1],
                ),
            ),
        ),
        case(
            "arrays",
            (
                Rows(
                    INSERT,
                    arrays,
                    [
                        [
                            "1",
                            "{1,NULL,3}",
                            '{a,"b,c",NULL}',
                            "{1.10,2.2}",
                            "{2020-01-01 00:00:00.5}",
                            "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}",
                        ],
                        ["2", "{{1,2},{3,4}}", "{}", None, None, None],
                    ],
                    statements=[0, 1],
                ),
            ),
        ),
        case("names that need escapes", (Rows(INSERT, strange, [["1", "x", "2", "3"]]),)),
    ]
    return rows + _statements(source, customers, keyless) + [case("heartbeat", (Beat(),))]


def _statements(source: str, customers: Table, keyless: Table) -> list[Case]:
    table = partial(table_of, source=source)
    kind = SchemaChangeKind
    behind = table("customers", {**CUSTOMERS, "middle_name": "varchar(22)"}, ["id"], version=1)
    c1 = table("customers", {"id": "integer", "c1": "integer", "c2": "numeric(8,2)"}, ["id"], version=2)
    c1_big = table("customers", {"id": "integer", "c1": "bigint", "c2": "numeric(8,2)"}, ["id"], version=3)
    c3 = table("customers", {"id": "integer", "c1": "bigint", "c3": "numeric(8,2)"}, ["id"], version=4)
    no_c1 = table("customers", {"id": "integer", "c3": "numeric(8,2)"}, ["id"], version=5)
    many2 = table("many2", {"id": "integer", "s": "varchar(100)"}, ["id"], version=1)
    many3 = table("many3", {"id": "integer", "s": "varchar(100)"}, ["id"], version=2)
    small = table("cm", {"id": "integer", "v": "varchar(5)"}, ["id"])
    small_x = table("cm", {"id": "integer", "v": "varchar(5)", "x": "integer"}, ["id"], version=1)
    add = "alter table customers add column middle_name varchar(22)"
    alter = "alter table customers alter column c1 type bigint"
    rename = "alter table customers rename column c2 to c3"
    index = "create index ix on customers (last_name)"
    commented = "alter /* mid */ table\n\tcm add\n column x int"
    steps = {
        "create database": Ddl(kind.CREATE_DATABASE, "create database shop"),
        "create table": Ddl(kind.CREATE_TABLE, "create table nopk(a int, b text)", after=keyless),
        "add column": Ddl(kind.ADD_COLUMN, add, customers, behind),
        "alter column type": Ddl(kind.ALTER_COLUMN_TYPE, alter, c1, c1_big),
        "rename column": Ddl(kind.RENAME_COLUMN, rename, c1_big, c3),
        "drop column": Ddl(kind.DROP_COLUMN, "alter table customers drop column c1", c3, no_c1),
        "rename table": Ddl(kind.RENAME_TABLE, "alter table many2 rename to many3", many2, many3),
        "create index": Ddl(kind.CREATE_INDEX, index, customers, customers),
        "drop index": Ddl(kind.DROP_INDEX, "drop index ix", customers, customers),
        "truncate table": Ddl(kind.TRUNCATE_TABLE, "truncate table nopk", keyless, keyless),
        "drop table": Ddl(kind.DROP_TABLE, "drop table nopk", keyless),
        "drop database": Ddl(kind.DROP_DATABASE, "drop database shop"),
        "a statement with line breaks and a comment": Ddl(kind.ADD_COLUMN, commented, small, small_x),
    }
    return [Case(name, (step,), source=source) for name, step in steps.items()]


def samples_for(source: str, types: Mapping[str, object], more: list[str]) -> Samples:
    """What the formats are tried with; `more` are types beside one of each name."""
    names = ["mood enum('sad','ok','ha,ppy')" if name == "enum" else name for name in types]
    options = {"id": "bigint", "c": "timestamp(3)", "b": "bytea", "ts": "timestamptz"}
    return Samples(
        cases=cases_for(source, types),
        types=[*names, *more],
        plain="integer",
        large=["text", "bytea", "json", "jsonb"],
        options=(
            table_of("t", options, ["id"], source=source),
            ["1", "2024-01-01 00:00:00.5", "x", "2024-01-01"],
            ["2", None, "", None],
        ),
    )


MORE: Final = [
    "numeric(10,2)",
    "numeric(38,0)",
    "numeric(76,30)",
    "numeric(300,100)",
    *(f"{name}({digits})" for name in ("timestamp", "timestamptz", "time", "timetz", "interval") for digits in (0, 3)),
    "char(5)",
    "varchar(300)",
    "bit(1)",
    "bit(20)",
    "varbit(10)",
    "enum('it''s','\"q\"','中\\')",
    "numeric(10,2)[]",
    "char(3)[]",
]
_FREE_SCALES: Final = ["numeric(3,-2)", "numeric(2,4)"]


@cache
def samples(source: str) -> Samples:
    """The samples of a version: `postgresql-12`."""
    types = find(source).types
    return samples_for(source, types, [*MORE, *_FREE_SCALES] if source == "postgresql-16" else MORE)
