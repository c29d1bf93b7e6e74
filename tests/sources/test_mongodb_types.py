"""The type system of MongoDB: BSON types, extended JSON, values in and out, documents, commands, cluster times."""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pytest
from building import batch_of, table_of
from cases.mongodb import SAMPLES
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.errors import UsageError
from simulator.model import DELETE, UPDATE, Column, ColumnType, Table, TableId
from simulator.sources import find
from simulator.sources.mongodb import documents as mongodb_documents
from simulator.sources.mongodb import json as bson
from simulator.sources.mongodb import values as mongodb_values

MONGODB: Final = find("mongodb")
MYSQL: Final = find("mysql")

ID = "65535f40aabbccddeeff0011"


@each(
    [
        ("int", "int"),
        ("Int32", "int"),
        ("NumberLong", "long"),
        ("int64", "long"),
        ("objectid", "objectId"),
        ("ObjectId", "objectId"),
        ("Decimal128", "decimal"),
        ("decimal(10, 2)", "decimal(10,2)"),
        ("decimal(5)", "decimal(5,0)"),
        ("binData", "binData"),
        ("bindata(4)", "binData(4)"),
        ("uuid", "binData(4)"),
        ("ISODate", "date"),
        ("document", "object"),
        ("javascriptwithscope", "javascriptWithScope"),
        ("minkey", "minKey"),
    ]
)
def test_type_texts(typed: str, text: str) -> None:
    type = MONGODB.parse_type(typed)
    assert type.spelled == typed
    assert MONGODB.type_text(type) == text
    assert MONGODB.type_text(MONGODB.parse_type(text)) == text


@each(
    [
        ("objectIdd", "'objectidd' is not a BSON type. Did you mean 'objectId'?"),
        ("varchar(9)", "'varchar' is not a BSON type."),
        ("", "'' is not a BSON type."),
        ("decimal(35,2)", "a decimal of MongoDB has 1 to 34 digits"),
        ("decimal(5,6)", "no more of them behind the point"),
        ("binData(256)", "a subtype is 0 to 255"),
        ("string(40)", "string takes no number in brackets"),
        ("uuid(4)", "binData takes no number in brackets"),
    ]
)
def test_bad_types_are_told_in_one_sentence(typed: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        MONGODB.parse_type(typed)
    assert sentence in str(caught.value)


PORTABLE = [
    ("bool", "bool"),
    ("int16", "int"),
    ("int32", "int"),
    ("int64", "long"),
    ("uint16", "int"),
    ("uint32", "long"),
    ("uint64", "decimal(20,0)"),
    ("decimal", "decimal(10,0)"),
    ("decimal(12, 2)", "decimal(12,2)"),
    ("float32", "double"),
    ("float64", "double"),
    ("string(40)", "string"),
    ("text", "string"),
    ("bytes(16)", "binData"),
    ("blob", "binData"),
    ("date", "date"),
    ("time(3)", "string"),
    ("timestamp(6)", "date"),
    ("timestamptz", "date"),
    ("json", "object"),
    ("uuid", "string"),
    ("enum('a','b')", "string"),
]


@each(PORTABLE)
def test_portable_types(portable: str, text: str) -> None:
    type = MONGODB.from_portable(portable)
    assert type.spelled == ""
    assert MONGODB.type_text(type) == text


def test_all_portable_types_are_known() -> None:
    assert set(MONGODB.portable_types) == set(MYSQL.portable_types)
    assert {text.partition("(")[0] for text, _ in PORTABLE} == {*MONGODB.portable_types, "enum"}
    assert MONGODB.from_portable("enum('a','b')").labels == ("a", "b")
    assert [MONGODB.unit_us(MONGODB.from_portable(f"timestamp{n}")) for n in ("", "(1)", "(6)")] == [10**6, 10**5, 1000]
    with pytest.raises(UsageError, match="1 to 34 digits"):
        MONGODB.from_portable("decimal(38,10)")


@each(SAMPLES.types)
def test_boundary_values_are_values_and_come_back(typed: str) -> None:
    type = MONGODB.parse_type(typed)
    literals = MONGODB.boundary_values(type, large=True)
    array = MONGODB.parse_values(literals, type)
    assert array.type == MONGODB.arrow_type(type)
    array.validate(full=True)
    assert literals[-1] is None
    assert array.null_count == 1
    again = MONGODB.parse_values(MONGODB.format_values(array, type), type)
    assert MONGODB.format_values(again, type) == MONGODB.format_values(array, type)
    assert typed == "double" or again.equals(array)
    stored = MONGODB.stored(array, type)
    assert MONGODB.format_values(stored, type) == MONGODB.format_values(array, type)


@each(SAMPLES.types)
def test_values_in_extended_json_are_the_values(typed: str) -> None:
    """The text in a document reads back as a value of the same BSON type that formats to the same literal."""
    type = MONGODB.parse_type(typed)
    array = MONGODB.parse_values(MONGODB.boundary_values(type), type)
    texts = mongodb_values.extended_text(array, type).to_pylist()
    assert texts[-1] is None
    for text, value in zip(texts[:-1], MONGODB.format_values(array, type)[:-1], strict=True):
        tree = bson.loads(text)
        assert bson.dumps(tree) == text
        assert BSON_TYPES[type.name](tree), text
        if type.name in ("int", "long", "string"):
            assert str(tree) == value
    if pa.types.is_string(array.type) or pa.types.is_binary(array.type):
        assert mongodb_values.extended_text(array.dictionary_encode(), type).to_pylist() == texts


BSON_TYPES: dict[str, Any] = {
    "double": lambda tree: isinstance(tree, float),
    "string": lambda tree: isinstance(tree, str),
    "object": lambda tree: isinstance(tree, dict),
    "array": lambda tree: isinstance(tree, list),
    "binData": lambda tree: isinstance(tree, bson.Binary),
    "undefined": lambda tree: tree is bson.Special.UNDEFINED,
    "objectId": lambda tree: isinstance(tree, bson.ObjectId),
    "bool": lambda tree: isinstance(tree, bool),
    "date": lambda tree: isinstance(tree, bson.Date),
    "null": lambda tree: tree is None,
    "regex": lambda tree: isinstance(tree, bson.Regex),
    "dbPointer": lambda tree: isinstance(tree, bson.DBPointer),
    "javascript": lambda tree: isinstance(tree, bson.Code) and tree.scope is None,
    "symbol": lambda tree: isinstance(tree, bson.Symbol),
    "javascriptWithScope": lambda tree: isinstance(tree, bson.Code) and tree.scope is not None,
    "int": lambda tree: type(tree) is int,
    "timestamp": lambda tree: isinstance(tree, bson.Timestamp),
    "long": lambda tree: type(tree) is bson.Long,
    "decimal": lambda tree: isinstance(tree, bson.Decimal128),
    "minKey": lambda tree: tree is bson.Special.MIN_KEY,
    "maxKey": lambda tree: tree is bson.Special.MAX_KEY,
}


# type, literal, and what is stored
VALUES = [
    ("bool", "1", "true"),
    ("double", "1e3", "1000.0"),
    ("double", "-inf", "-inf"),
    ("decimal(10,2)", "1.005", "1.01"),
    ("decimal", "1.10", "1.10"),
    ("decimal", "1000e0", "1000"),
    ("decimal", "0.1E+4", "1E+3"),
    ("decimal", "-nan", "NaN"),
    ("objectId", ID.upper(), ID),
    ("objectId", "1", "663186000000000000000001"),
    ("date", "2024-05-01T10:00:00.123456Z", "2024-05-01T10:00:00.123Z"),
    ("date", "2024-05-01 10:00:00+08:00", "2024-05-01T02:00:00.000Z"),
    ("date", "2024-05-01", "2024-05-01T00:00:00.000Z"),
    ("date", "-1", "1969-12-31T23:59:59.999Z"),
    ("date", "253402300800000", "253402300800000"),
    ("timestamp", "Timestamp(1558965508, 31)", "1558965508:31"),
    ("binData", "中", "0xe4b8ad"),
    ("binData(4)", "6F9619FF-8b86-d011-b42d-00c04fc964ff", "0x6f9619ff8b86d011b42d00c04fc964ff"),
    ("regex", "/^a/im", '{"$regularExpression": {"pattern": "^a", "options": "im"}}'),
    ("symbol", "s", '{"$symbol": "s"}'),
    ("javascript", "f()", '{"$code": "f()"}'),
    ("minKey", "minKey", '{"$minKey": 1}'),
    ("null", "null", "null"),
    ("object", '{"b":1, "a" : {"$numberInt":"2"}}', '{"b": 1, "a": 2}'),
    ("object", '{"u": {"$uuid": "6f9619ff-8b86-d011-b42d-00c04fc964ff"}}', '{"u": {"$binary": {"base64": "b5YZ/4uG0BG0LQDAT8lk/w==", "subType": "04"}}}'),  # noqa: E501
    ("array", "[1.50, 1e2, 4294967296]", "[1.5, 100.0, 4294967296]"),
]  # fmt: skip


@each(VALUES)
def test_literals(typed: str, literal: str, shown: str) -> None:
    type = MONGODB.parse_type(typed)
    assert MONGODB.format_values(MONGODB.parse_values([literal], type), type) == [shown]


@each(
    [
        ("int", "2147483648", "2147483648 is outside -2147483648 to 2147483647, the bounds of int"),
        ("long", "1.5", "'1.5' is not a whole number"),
        ("double", "1e999", "1e999 is beyond the range of double"),
        ("double", "1_0", "'1_0' is not a double"),
        ("bool", "yes", "'yes' is not true or false"),
        ("decimal", "1" * 35, "does not fit decimal128"),
        ("decimal", "1E+7000", "does not fit decimal128"),
        ("decimal(4,2)", "100", "100 does not fit decimal(4,2)"),
        ("objectId", "xyz", "'xyz' is not an ObjectId: 24 hexadecimal digits"),
        ("date", "2023-02-29", "'2023-02-29' is not in the calendar"),
        ("date", "yesterday", "'yesterday' is not a date such as"),
        ("timestamp", "4294967296:1", "is not a timestamp such as"),
        ("binData(4)", "0x00", "'0x00' has 1 bytes, and a UUID has 16"),
        ("object", "[]", "'[]' is not an object"),
        ("array", "{}", "'{}' is not an array"),
        ("object", '{"a": 1, "a": 2}', "a document has a field twice"),
        ("object", '{"a": NaN}', "NaN is not a JSON value"),
        ("object", "{", "is not extended JSON"),
        ("object", '{"a": 99999999999999999999}', "99999999999999999999 does not fit 64 bits"),
        ("object", '{"a": {"$oid": 7}}', "$oid does not hold what it should"),
        ("object", '{"a": {"$binary": {"base64": "!", "subType": "00"}}}', "$binary wants base64 and subType"),
        ("array", "[" * 101 + "]" * 101, "nested 100 deep at most"),
        ("regex", "abc", "is not extended JSON"),
        ("dbPointer", '{"$minKey": 1}', "is not a dbPointer"),
    ]
)
def test_wrong_literals_are_told_in_one_sentence(typed: str, literal: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        MONGODB.parse_values([literal], MONGODB.parse_type(typed))


# ------------------------------------------------------------------------------------------------------ extended JSON

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.text(),
    st.integers(-(1 << 31), (1 << 31) - 1),
    st.integers(-(1 << 63), (1 << 63) - 1).map(bson.Long),
    st.floats(),
    st.integers(-(1 << 52), 1 << 52).map(bson.Date),
    st.builds(bson.Timestamp, st.integers(0, (1 << 32) - 1), st.integers(0, (1 << 32) - 1)),
    st.builds(bson.Binary, st.integers(0, 255), st.binary()),
    st.binary(min_size=12, max_size=12).map(lambda data: bson.ObjectId(data.hex())),
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9), max_value=10**9).map(
        lambda value: bson.Decimal128(str(value))
    ),
    st.builds(bson.Regex, st.text(), st.sampled_from(["", "i", "im"])),
    st.text().map(bson.Symbol),
    st.sampled_from(list(bson.Special)),
)
TREES = st.recursive(
    LEAVES, lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text().filter(lambda k: k[:1] != "$"), inner))
)


def shape(value: Any) -> Any:
    """A tree in which types and bits count, not only what Python thinks equal."""
    if isinstance(value, dict):
        return [(key, shape(inner)) for key, inner in value.items()]
    if isinstance(value, list):
        return [shape(inner) for inner in value]
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value.hex()
    return type(value).__name__, value


@settings(max_examples=25)
@given(TREES)
def test_trees_come_back(tree: Any) -> None:
    text = bson.dumps(tree)
    json.loads(text)
    assert shape(bson.loads(text)) == shape(tree)
    assert shape(bson.stored_tree(text)) == shape(tree)
    assert bson.same(bson.loads(text), tree)
    assert bson.dumps(bson.loads(text)) == text


@given(st.one_of(LEAVES, st.dictionaries(st.text(), LEAVES, max_size=3)))
def test_text_is_valid_json_in_one_spelling(value: Any) -> None:
    text = bson.dumps({"v": [value]})
    assert text.startswith('{"v": [')
    json.loads(text)


# ---------------------------------------------------------------------------------------------------------- documents


def test_a_document_leaves_out_what_is_null() -> None:
    table = table_of(
        "t", {"_id": "objectId", "a": "string", "b": "object", "c": "decimal(6,2)"}, ["_id"], source="mongodb"
    )
    batch = batch_of(table, DELETE, [[ID, 'q"', '{"x": null}', "1"], [ID, None, None, None]], source="mongodb")
    assert mongodb_documents.documents(table, batch.image()).to_pylist() == [
        f'{{"_id": {{"$oid": "{ID}"}}, "a": "q\\"", "b": {{"x": null}}, "c": {{"$numberDecimal": "1.00"}}}}',
        f'{{"_id": {{"$oid": "{ID}"}}}}',
    ]
    assert mongodb_documents.keys(table, batch.image()).to_pylist() == [f'{{"_id": {{"$oid": "{ID}"}}}}'] * 2


def spelled(value: Any) -> str:
    return f"<{type(value).__name__} {value}>"


def test_a_format_spells_as_it_likes() -> None:
    table = table_of("t", {"_id": "int", "o": "object"}, ["_id"], source="mongodb")
    batch = batch_of(table, DELETE, [["1", '{"a": [1.5, {"b": "x"}]}']], source="mongodb")

    def text(column: Column, array: pa.Array) -> pa.Array:
        return pa.array([bson.write(bson.loads(t), spelled, comma=",", colon=":") for t in map(str, array.to_pylist())])

    own = mongodb_documents.Spelling(text=text, leaf=spelled, comma=",", colon=":", key=lambda name: name)
    assert mongodb_documents.documents(table, batch.image(), own).to_pylist() == [
        '{_id:<int 1>,o:{"a":[<float 1.5>,{"b":<str x>}]}}'
    ]


# before, after, set, unset (of the field "f")
DIFFERENCES = [
    ('{"a": 1}', '{"a": 2}', {"f.a": 2}, []),
    ('{"a": 1}', '{"a": 1.0}', {"f.a": 1.0}, []),
    ('{"a": 1}', '{"a": {"$numberLong": "1"}}', {"f.a": {"$numberLong": "1"}}, []),
    ('{"a": 1, "b": 2}', '{"b": 2}', {}, ["f.a"]),
    ('{"a": 1}', "{}", {}, ["f.a"]),
    ('{"a": 1}', '{"a": 1, "b": 2}', {"f.b": 2}, []),
    ('{"a": 1}', '{"b": 2, "a": 1}', {"f": {"b": 2, "a": 1}}, []),
    ('{"a": {"x": 1, "y": 2}, "b": 1}', '{"a": {"y": 3}, "b": 1}', {"f.a.y": 3}, ["f.a.x"]),
    ('{"a": [1, 2]}', '{"a": [1, 3]}', {"f.a": [1, 3]}, []),
    ('{"a.b": 1}', '{"a.b": 2}', {"f": {"a.b": 2}}, []),
    ('{"$x": 1}', '{"$x": 2}', {"f": {"$x": 2}}, []),
    ('{"": 1}', '{"": 2}', {"f": {"": 2}}, []),
    ('{"a": {"b": 1}}', '{"a": 1}', {"f.a": 1}, []),
    ('{"a": null}', '{"a": 1}', {"f.a": 1}, []),
    (None, '{"a": 1}', {"f": {"a": 1}}, []),
    ('{"a": 1}', None, {}, ["f"]),
    ('{"a": 1}', '{"a": 1}', {}, []),
]


@each(DIFFERENCES)
def test_differences_of_documents(before: str | None, after: str | None, told: dict[str, Any], gone: list[str]) -> None:
    table = table_of("t", {"_id": "int", "f": "object", "n": "int"}, ["_id"], source="mongodb")
    # beside a row in which nothing but a number changes
    batch = batch_of(
        table, UPDATE, [["1", after, "1"], ["2", "{}", "2"]], [["1", before, "1"], ["2", "{}", "1"]], source="mongodb"
    )
    sets, unsets = mongodb_documents.updates(batch, bson.quoted)
    assert json.loads(f"{{{sets[0]}}}") == told
    assert json.loads(f"[{unsets[0]}]") == gone
    assert (sets[1].as_py(), unsets[1].as_py()) == ('"n": 2', "")


@given(
    st.dictionaries(st.sampled_from("abcd"), st.recursive(st.integers(0, 2), lambda s: st.dictionaries(st.sampled_from("xyz"), s))),  # noqa: E501
    st.dictionaries(st.sampled_from("abcd"), st.recursive(st.integers(0, 2), lambda s: st.dictionaries(st.sampled_from("xyz"), s))),  # noqa: E501
)  # fmt: skip
def test_differences_make_the_new_document_in_its_order(old: dict[str, Any], new: dict[str, Any]) -> None:
    told, gone = mongodb_documents.difference(bson.dumps(new), bson.dumps(old), "f")
    made: dict[str, Any] = {"f": json.loads(json.dumps(old))}
    for path, value in [*told, *((path, None) for path in gone)]:
        *parents, name = path.split(".")
        at = made
        for parent in parents:
            at = at[parent]
        if path in gone:
            del at[name]
        else:
            at[name] = value
    assert json.dumps(made["f"]) == json.dumps(new)


def test_replacements() -> None:
    table = table_of("t", {"_id": "int", "a": "int", "b": "string", "c": "string"}, ["_id"], source="mongodb")
    old = [
        ["1", "1", "x", None],
        ["2", "1", "x", "y"],
        ["3", "1", "x", None],
        ["4", "1", None, None],
        ["5", "1", "x", "y"],
        ["6", None, "x", None],
    ]
    new = [
        ["1", "2", "z", None],
        ["2", "2", "z", "y"],
        ["3", "2", "x", "n"],
        ["4", "2", None, None],
        ["5", "2", "z", None],
        ["6", None, None, "x"],
    ]
    batch = batch_of(table, UPDATE, new, old, source="mongodb")
    assert mongodb_documents.replaced(batch).tolist() == [True, False, False, False, True, False]


# ------------------------------------------------------------------------------------------------------------ commands

TABLE = Table(TableId("shop", "t"), (Column("id", ColumnType("int")), Column("n", ColumnType("string"))), ("id",))


def test_a_key_of_one_column_becomes_the_id() -> None:
    made = MONGODB.shaped(TABLE)
    assert [(c.name, c.field, c.type.name) for c in made.columns] == [("_id", "id", "int"), ("n", "n", "string")]
    assert MONGODB.shaped(made) == made


def test_keys_of_several_columns_and_of_none() -> None:
    several = MONGODB.shaped(Table(TABLE.id, TABLE.columns, ("n", "id")))
    assert [(c.name, c.type.name) for c in several.columns] == [("_id", "object"), ("id", "int"), ("n", "string")]
    none = MONGODB.shaped(Table(TABLE.id, TABLE.columns))
    assert none.columns[0].type.name == "objectId"
    parts = [(TABLE.columns[1], pa.array(["a", "b"])), (TABLE.columns[0], pa.array([1, 2]))]
    assert MONGODB.made_key(parts).to_pylist() == ['{"n": "a", "id": 1}', '{"n": "b", "id": 2}']
    with pytest.raises(UsageError, match="t has a field _id, so that is its key"):
        MONGODB.shaped(Table(TABLE.id, (*TABLE.columns, Column("_id", ColumnType("int"))), ("id",)))


def test_commands() -> None:
    ddl, note = MONGODB.ddl, TABLE.columns[1]
    assert ddl.drop_table(TABLE) == '{"drop": "t"}'
    assert ddl.drop_database("shop") == '{"dropDatabase": 1}'
    assert ddl.rename_table(TABLE, 'a"b') == '{"renameCollection": "shop.t", "to": "shop.a\\"b"}'
    assert {
        ddl.create_database("shop"),
        ddl.create_table(TABLE),
        ddl.add_column(TABLE, note, None, None),
        ddl.alter_column(TABLE, note),
        ddl.rename_column(TABLE, note, note),
        ddl.drop_column(TABLE, note),
        ddl.create_index(TABLE, "ix", ["n"], unique=False),
        ddl.drop_index(TABLE, "ix"),
    } == {""}


@each(
    [
        ("int", "long", True),
        ("long", "int", False),
        ("string", "string", True),
        ("decimal(8,2)", "decimal(10,2)", True),
        ("decimal(8,2)", "decimal(8,3)", False),
        ("decimal(8,2)", "decimal", False),
        ("int", "double", False),
        ("binData(4)", "binData", False),
    ]
)
def test_widening(old: str, new: str, widens: bool) -> None:
    assert MONGODB.ddl.widens(MONGODB.parse_type(old), MONGODB.parse_type(new)) is widens


# --------------------------------------------------------------------------------------------------------------- oplog


@given(st.decimals(min_value=-(10**8), max_value=10**8, places=4))
def test_decimals_of_fixed_digits(value: Decimal) -> None:
    type = MONGODB.parse_type("decimal(12,2)")
    (found,) = MONGODB.parse_values([str(value)], type).to_pylist()
    assert abs(found - value) <= Decimal("0.005")


@given(st.lists(st.integers(0, (1 << 62)), min_size=2, unique=True))
def test_ids_of_numbers_sort_like_them(numbers: list[int]) -> None:
    ordered = sorted(numbers)
    ids = MONGODB.stored(pa.array(map(str, ordered), pa.string()), ColumnType("objectId")).to_pylist()
    assert ids == sorted(ids)
    assert MONGODB.parse_values([str(n) for n in ordered], ColumnType("objectId")).to_pylist() == ids


@settings(max_examples=25)
@given(TREES, TREES)
def test_trees_are_the_same_if_their_texts_are(one: Any, other: Any) -> None:
    assert bson.same(one, other) is (bson.dumps(one) == bson.dumps(other))


@each([(1, True), (1, 1.0), (1, bson.Long(1)), (0.0, -0.0), ({"a": 1, "b": 2}, {"b": 2, "a": 1})])  # fmt: skip
def test_values_that_python_thinks_equal_are_others(one: Any, other: Any) -> None:
    assert not bson.same(one, other)
    assert bson.same(float("nan"), float("nan"))
