"""Unique keys in messages: what each product makes of them, and of a table that has no other key."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from building import Case, Rows, block_of, codec_of, messages_of, table_of

from simulator.model import DELETE, INSERT, UPDATE
from simulator.truth.decoders import parse

ITEM: Final = table_of("item", {"id": "int", "item_code": "int"}, ["id"], unique={"uk_item_code": ["item_code"]})
# The first unique key may be null, so the second one tells rows apart.
KEYLESS: Final = table_of(
    "t",
    {"a": "int", "b": "int", "c": "int"},
    unique={"uk_a": ["a"], "uk_cb": ["c", "b"], "uk_b": ["b"]},
    not_null=["b", "c"],
)
OLD, NEW = [None, "2", "3"], [None, "2", "4"]
# The members of a row of KEYLESS that name its key, or hold it.
MEMBERS: Final[list[tuple[str, str, dict[str, Any]]]] = [
    ("canal-json", "mysql-8.0", {"pkNames": None}),
    ("cloudcanal-json", "mysql-8.0", {"pks": []}),
    ("drs-json", "mysql-8.0", {"pkNames": None}),
    ("dts-canal-json", "mysql-8.0", {"pkNames": ["c", "b"]}),
    ("dts-shareplex-json", "mysql-8.0", {"meta.rowid": "shop.t-3\x012"}),
    ("oms-canal-json", "oceanbase-mysql", {"pkNames": ["c", "b"]}),
    ("oms-dataworks", "oceanbase-mysql", {"schema.pk": ["c", "b"]}),
    (
        "oms-default",
        "oceanbase-mysql",
        {"allMetaData.record_primary_key": "c\x01b", "allMetaData.record_primary_value": "3\x012"},
    ),
    ("oms-shareplex", "oceanbase-mysql", {"meta.rowid": "shop.t-3\x012"}),
]


def test_pk_uk_info_has_all_keys() -> None:
    """The printed order of two keys is that of a HashMap."""
    assert tags(ITEM) == '{"uk_item_code":["item_code"],"PRIMARY":["id"]}'
    assert json.loads(tags(KEYLESS)) == {"uk_a": ["a"], "uk_cb": ["c", "b"], "uk_b": ["b"]}


def tags(table: Any) -> str:
    (message,) = messages_of(
        "dts-avro", "mysql-8.0", block_of(Case("", (Rows(INSERT, table, [["1"] * len(table.columns)]),)))
    )
    return str(parse("dts-avro", message.value or b"")["tags"]["pk_uk_info"])


@pytest.mark.parametrize(("format", "source", "members"), MEMBERS)
def test_the_first_unique_key_without_nulls_is_the_key_of_a_table_without_another(
    format: str, source: str, members: dict[str, Any]
) -> None:
    (message,) = messages_of(format, source, block_of(Case("", (Rows(INSERT, KEYLESS, [OLD]),))))
    for path, wanted in members.items():
        found = json.loads(message.value or b"")
        for name in path.split("."):
            found = found[name]
        assert found == wanted, path


@pytest.mark.parametrize(
    ("format", "source", "keys"),
    [
        ("canal-json", "mysql-8.0", []),
        ("cloudcanal-json", "mysql-8.0", []),
        ("drs-json", "mysql-8.0", []),
        *((format, "mysql-8.0", ["c", "b"]) for format in ("dts-avro", "dts-canal-json", "dts-shareplex-json")),
        ("oms-canal-json", "oceanbase-mysql", ["c", "b"]),
    ],
)
def test_rows_are_spread_by_the_key_that_the_product_knows(format: str, source: str, keys: list[str]) -> None:
    policy = codec_of(format, source).layout.routing.policies["key"]
    assert [KEYLESS.columns[place].name for place in policy.columns(KEYLESS)] == keys


@pytest.mark.parametrize(
    ("format", "source", "split"),
    [
        ("dts-canal-json,split_on_key_update=on", "mysql-8.0", True),
        ("oms-canal-json", "oceanbase-mysql", True),
        ("drs-json,pk_update=split", "mysql-8.0", False),
    ],
)
def test_an_update_of_that_key_is_split(format: str, source: str, split: bool) -> None:
    made = messages_of(format, source, block_of(Case("", (Rows(UPDATE, KEYLESS, [NEW], [OLD]),))), partitions=3)
    assert [message.kind for message in made] == ([DELETE, INSERT] if split else [UPDATE])


def test_oracle_logs_a_unique_key_that_changes_as_a_whole() -> None:
    """DRS with supplemental logging of keys: the row's key, changed columns, and the other column of a changed key."""
    columns = {name: "NUMBER(9)" for name in ("ID", "A", "B", "C")}
    table = table_of("T", columns, ["ID"], source="oracle", unique={"UK_AB": ["A", "B"]})
    steps = (
        Rows(UPDATE, table, [["1", "2", "5", "6"], ["2", "2", "3", "7"]], [["1", "2", "3", "6"], ["2", "2", "3", "6"]]),
    )
    block = block_of(Case("", steps, source="oracle"), log="primary key, unique")
    made = messages_of("drs-json", "oracle-19c", block)
    shown = [json.loads(message.value or b"")["data"] for message in made]
    assert [set(row) for rows in shown for row in rows] == [{"ID", "A", "B"}, {"ID", "C"}]
