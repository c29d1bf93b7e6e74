"""The named changes on MongoDB's documents; those that relational systems have too are called as in `cases.py`.

None in a row is a field that is not in the document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from building import Beat, Case, Ddl, Row, Rows, Times, table_of

from cases import Samples
from simulator.model import DELETE, INSERT, READ, UPDATE, Kind, SchemaChangeKind, Table

SOURCE: Final = "mongodb"


def _table(name: str, columns: Mapping[str, str], *, version: int = 0) -> Table:
    return table_of(name, columns, ["_id"], version=version, source=SOURCE)


def _case(name: str, *steps: Rows | Ddl | Beat) -> Case:
    return Case(name, steps, Times(), SOURCE)


def _rows(name: str, kind: Kind, table: Table, rows: Sequence[Row]) -> Case:
    """A case of documents that were changed one by one."""
    return _case(name, Rows(kind, table, rows, statements=range(len(rows))))


CUSTOMERS: Final = _table(
    "customers", {"_id": "int", "first_name": "string", "last_name": "string", "email": "string", "note": "string"}
)
# With a document and an array inside, and an ObjectId.
USERS: Final = _table(
    "users", {"_id": "objectId", "name": "string", "address": "object", "tags": "array", "visits": "long"}
)
# An _id that is a document.
LINES: Final = _table("lines", {"_id": "object", "quantity": "int", "price": "decimal(10,2)"})
NUMBERS: Final = _table(
    "numbers",
    {"_id": "int", "it": "int", "lo": "long", "db": "double", "d2": "decimal(10,2)", "dc": "decimal", "bo": "bool"},
)
TIMES: Final = _table("times", {"_id": "int", "da": "date", "ts": "timestamp"})
TEXTS: Final = _table("texts", {"_id": "string", "s": "string"})
BYTES: Final = _table("bytes", {"_id": "int", "bd": "binData", "uu": "binData(4)", "old": "binData(2)"})
DOCUMENTS: Final = _table("documents", {"_id": "int", "ob": "object", "ar": "array"})
RARE: Final = _table(
    "rare",
    {
        "_id": "int",
        "re": "regex",
        "js": "javascript",
        "sc": "javascriptWithScope",
        "sy": "symbol",
        "dp": "dbPointer",
        "nu": "null",
        "un": "undefined",
        "mi": "minKey",
        "ma": "maxKey",
    },
)
# One field of each type.
ALL: Final = _table(
    "every_type",
    {
        "_id": "int",
        "c_double": "double",
        "c_string": "string",
        "c_object": "object",
        "c_array": "array",
        "c_binData": "binData",
        "c_undefined": "undefined",
        "c_objectId": "objectId",
        "c_bool": "bool",
        "c_date": "date",
        "c_null": "null",
        "c_regex": "regex",
        "c_dbPointer": "dbPointer",
        "c_javascript": "javascript",
        "c_symbol": "symbol",
        "c_javascriptWithScope": "javascriptWithScope",
        "c_int": "int",
        "c_timestamp": "timestamp",
        "c_long": "long",
        "c_decimal": "decimal",
        "c_minKey": "minKey",
        "c_maxKey": "maxKey",
    },
)
STRANGE: Final = _table('t"ü', {"_id": "int", 'a"b': "string", "c\\d": "int", "<e>&": "int", "编号": "int"})
_MANY2: Final = _table("many2", {"_id": "int", "s": "string"}, version=1)
_MANY3: Final = _table("many3", {"_id": "int", "s": "string"}, version=2)

_SALLY: Final = ["1001", "Sally", "Thomas", "sally@x", None]
_A2: Final = ["1001", "A2", "Thomas", "sally@x", None]
_BOB: Final = ["1003", "Bob", "Q", "bob@x", "N3"]
_ID: Final = "65535f40aabbccddeeff0011"
_ADA: Final = [_ID, "Ada", '{"city": "London", "geo": {"x": 1, "y": 2.5}, "zip": "N1"}', '["a", "b"]', "1"]


def _update(name: str, table: Table, new: Sequence[str | None], old: Sequence[str | None]) -> Case:
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
    _case("insert a nested document", Rows(INSERT, USERS, [_ADA])),
    _update("update one column", CUSTOMERS, _A2, _SALLY),
    _update("update null to a value", CUSTOMERS, [*_A2[:4], "now"], _A2),
    _update("update a value to null", CUSTOMERS, _A2, [*_A2[:4], "now"]),
    _update("update null to the empty text", CUSTOMERS, [*_A2[:4], ""], _A2),
    _update(
        "set a field, unset another",
        CUSTOMERS,
        ["1001", "A2", None, "sally@x", "renamed"],
        ["1001", "A2", "Thomas", "sally@x", None],
    ),
    _case(
        "update another column of each row",
        Rows(
            UPDATE,
            CUSTOMERS,
            [["1001", "F1", "Q", "sally@x", ""], ["1002", "Anne", "L2", "annek@x", "n1"], _BOB],
            [["1001", "A2", "Q", "sally@x", ""], ["1002", "Anne", "Q", "annek@x", "n1"], [*_BOB[:4], None]],
        ),
    ),
    _update(
        "set and unset nested fields",
        USERS,
        [*_ADA[:2], '{"city": "Paris", "geo": {"x": 1, "y": 3.5}, "country": "FR"}', *_ADA[3:]],
        _ADA,
    ),
    _update(
        "set a nested document as a whole",
        USERS,
        [*_ADA[:2], '{"zip": "N1", "city": "London", "geo": {"x": 1, "y": 2.5}}', *_ADA[3:]],
        _ADA,
    ),
    _update("set an array and a number", USERS, [*_ADA[:3], '["a", "b", {"c": 1}]', "2"], _ADA),
    _update("replace", USERS, [_ID, "Ada L.", '{"city": "Rome"}', "[]", "9"], _ADA),
    _update("replace by fewer fields", CUSTOMERS, ["1003", "B", None, None, None], _BOB),
    _update("update nothing", CUSTOMERS, _A2, _A2),
    _case("delete", Rows(DELETE, CUSTOMERS, [_BOB])),
    _case("delete several rows", Rows(DELETE, CUSTOMERS, [_BOB, _A2])),
    _case("delete a nested document", Rows(DELETE, USERS, [_ADA])),
    _case(
        "insert with a composite key",
        Rows(INSERT, LINES, [['{"order": 7, "line": 1}', "2", "9.90"], ['{"order": 7, "line": 2}', "1", None]]),
    ),
    _case(
        "a transaction on two tables",
        Rows(INSERT, CUSTOMERS, [_SALLY]),
        Rows(INSERT, LINES, [['{"order": 8, "line": 1}', "2", "9.90"]]),
        Rows(UPDATE, CUSTOMERS, [_A2], [_SALLY]),
    ),
    _case("a row of a snapshot", Rows(READ, CUSTOMERS, [_SALLY])),
    _case("null everywhere", Rows(INSERT, ALL, [{"_id": "1"}])),
    _rows(
        "numbers at their bounds",
        INSERT,
        NUMBERS,
        [
            ["1", "-2147483648", "-9223372036854775808", "-1.7976931348623157e308", "-99999999.99", "-0", "false"],
            ["2", "2147483647", "9223372036854775807", "4.9e-324", "0.01", "1E+3", "true"],
            ["3", "0", "7", "-0e0", "0", "9.999999999999999999999999999999999E+6144", None],
            ["4", "0", "4294967296", "1e7", "1.1", "1.10", None],
            ["5", "0", "2147483648", "NaN", "5", "NaN", None],
            ["6", "0", "-2147483649", "-Infinity", "5.10", "-Infinity", None],
        ],
    ),
    _rows(
        "dates and times",
        INSERT,
        TIMES,
        [
            ["1", "2024-02-29T12:34:56.789Z", "1558965508:31"],
            ["2", "1970-01-01", "0:0"],
            ["3", "1969-12-31T23:59:59.999Z", "4294967295:4294967295"],
            ["4", "0001-01-01", None],
            ["5", "9999-12-31T23:59:59.999Z", None],
            ["6", "253402300800000", None],
            ["7", "-62135596800001", None],
        ],
    ),
    _rows(
        "texts",
        INSERT,
        TEXTS,
        [
            ["a", "te/xt"],
            ["", ""],
            ["é", "hé中😀€"],
            ["q", "\"\\/'`<b>&amp;=</b>"],
            ["c", "\x00\t\n\r\b\f\v\x01\x1b\x1f\x7f\x80\x85\x9f\xa0"],
            ["u", "e\u0301\u200d\u00ad\u2028\u2029\ufeff\uffff𠮷👩\u200d💻"],
        ],
    ),
    _rows(
        "bytes",
        INSERT,
        BYTES,
        [
            ["1", "", "00000000-0000-0000-0000-000000000000", ""],
            ["2", "0x61000000", "6f9619ff-8b86-d011-b42d-00c04fc964ff", "0x6100"],
            ["3", "0x" + "00ff" * 100, None, "0x220a5c7f80a0ff"],
        ],
    ),
    _rows(
        "documents",
        INSERT,
        DOCUMENTS,
        [
            ["1", "{}", "[]"],
            ["2", '{"b":1,"aa":{"deep":[[],[[]]]},"a":[1.0,null,"x",true,{"z":{}}],"":"empty name"}', "[1, [2, [3]]]"],
            [
                "3",
                '{"中":"文😀é","q\\"k":"v\\"\\\\\\/\\b\\f\\n\\r\\t\\u0001\\u007f\\u0080\\u00a0\\u2028"}',
                '["a", null]',
            ],
            [
                "4",
                '{"l": {"$numberLong": "7"}, "w": 4294967296, "d": 1.5, "n": {"$numberDouble": "NaN"}, '
                '"m": {"$numberDecimal": "1.10"}, "t": {"$date": "2023-05-17T09:18:31.439Z"}, '
                '"o": {"$oid": "65535f40aabbccddeeff0011"}}',
                '[{"$timestamp": {"t": 1, "i": 2}}, {"$binary": {"base64": "AQI=", "subType": "00"}}, {"$minKey": 1}]',
            ],
            [
                "5",
                '{"r": {"$regularExpression": {"pattern": "^a/b", "options": "i"}}, "c": {"$code": "f()"}, '
                '"s": {"$symbol": "x"}, "u": {"$undefined": true}, "a.b": 1, "$c": 2}',
                '[{"$code": "g()", "$scope": {"x": 1}}, {"$maxKey": 1}, {"$date": {"$numberLong": "-1"}}]',
            ],
        ],
    ),
    _case(
        "rare types",
        Rows(
            INSERT,
            RARE,
            [
                [
                    "1",
                    "/^a\\/b/im",
                    "function() { return 1 < 2; }",
                    '{"$code": "f(x)", "$scope": {"x": {"$numberLong": "1"}}}',
                    "sym",
                    '{"$dbPointer": {"$ref": "shop.users", "$id": {"$oid": "65535f40aabbccddeeff0011"}}}',
                    "null",
                    "undefined",
                    "minKey",
                    "maxKey",
                ]
            ],
        ),
    ),
    _case("names that need escapes", Rows(INSERT, STRANGE, [["1", "x", "2", "3", "4"]])),
    _case(
        "rename table",
        Ddl(SchemaChangeKind.RENAME_TABLE, '{"renameCollection": "shop.many2", "to": "shop.many3"}', _MANY2, _MANY3),
    ),
    _case("drop table", Ddl(SchemaChangeKind.DROP_TABLE, '{"drop": "customers"}', CUSTOMERS)),
    _case("drop database", Ddl(SchemaChangeKind.DROP_DATABASE, '{"dropDatabase": 1}')),
    _case("heartbeat", Beat()),
]

SAMPLES: Final = Samples(
    cases=CASES,
    types=[
        *(column.type.spelled for column in ALL.columns[1:]),
        "decimal(10,2)",
        "decimal(34,10)",
        "uuid",
        "binData(2)",
    ],
    plain="int",
    large=["string", "binData", "object", "array"],
    options=(
        _table("t", {"_id": "int", "c": "date", "b": "binData", "o": "object"}),
        ["1", "2024-01-01T00:00:00.5Z", "x", '{"a": 1}'],
        ["2", None, "", None],
    ),
)
