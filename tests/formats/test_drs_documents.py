"""Huawei Cloud DRS on documents of MongoDB: the samples of the vendor's page, keys, topics, commands, a run."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Final

import numpy as np
import pytest
from building import Case, Ddl, Rows, Times, block_of, codec_of, messages_of, table_of
from drs_samples import AT, compact, kafka_partition, sample

from simulator.errors import OptionError
from simulator.library import messages
from simulator.model import DELETE, INSERT, UPDATE, SchemaChangeKind

ID: Final = "64650cf67dc36a464e76e583"
DOCUMENTS: Final = table_of(
    "ljx", {"_id": "objectId", "c1": "string", "tags": "array", "column1": "string"}, ["_id"], database="ljx",
    source="mongodb",
)  # fmt: skip
_WRITTEN: Final = [ID, "baz", '["mongodb", "database", "NoSQL"]', None]
_REPLACED: Final = [ID, "sss", None, None]
_UPDATED: Final = [ID, "aaa", None, None]
_RENAMED: Final = [ID, None, None, "aaa"]


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("insert", Rows(INSERT, DOCUMENTS, [_WRITTEN])),
        ("replace", Rows(UPDATE, DOCUMENTS, [_REPLACED], [_WRITTEN])),
        ("value-update", Rows(UPDATE, DOCUMENTS, [_UPDATED], [_REPLACED])),
        ("key-update", Rows(UPDATE, DOCUMENTS, [_RENAMED], [_UPDATED])),
        ("remove", Rows(DELETE, DOCUMENTS, [_RENAMED])),
    ],
)
def test_the_samples_of_mongodb(name: str, step: Rows) -> None:
    """One correction: es and ts of the page are eight hours and some minutes behind its cluster times."""
    found = json.loads(sample(f"dds-{name}"))
    seconds, ordinal = map(int, found["clusterTime"].split(":"))
    assert seconds - found["es"] // 1000 in range(28_953, 28_958)
    text = sample(f"dds-{name}").replace(f"{seconds}:", f"{found['es'] // 1000}:")
    times = Times(offset=found["id"], event_ms=found["es"], write_ms=found["ts"])
    block = block_of(Case(name, (step,), times, "mongodb"))
    (batch,) = block.batches
    batch = replace(batch, envelope=replace(batch.envelope, in_second=np.array([ordinal - 1])))
    (message,) = messages_of("drs-json", "mongodb-6.0", replace(block, batches=(batch,)))
    assert message.value == compact(text)
    assert message.key == f'ObjectId("{ID}")'.encode()


C1: Final = table_of("c1", {"_id": "objectId", "n": "long", "b": "binData", "d": "double"}, ["_id"], source="mongodb")
AA: Final = "65535f40aabbccddeeff0011"


def test_a_document_as_the_driver_and_gson_write_it() -> None:
    """Two writers, one after the other: what the shell needs no escape for, JSON escapes."""
    case = Case(
        "insert",
        (Rows(INSERT, C1, [[AA, "7", "0x0102", "1e7"]]),),
        Times(offset=256, event_ms=1_700_000_000_000, write_ms=1_700_000_000_123),
        "mongodb",
    )
    (batch,) = (block := block_of(case)).batches
    batch = replace(batch, envelope=replace(batch.envelope, in_second=np.array([0])))
    (message,) = messages_of("drs-json", "mongodb-6.0", replace(block, batches=(batch,)))
    assert message.value == (
        rb'{"id":256,"op":"INSERT","dbType":"MongoDB","db":"shop","coll":"c1","value":"{\"_id\": '
        rb"ObjectId(\"65535f40aabbccddeeff0011\"), \"n\": NumberLong(7), \"b\": new BinData(0, \"AQI\u003d\"), "
        rb'\"d\": 1.0E7}","where":null,"recordType":"insert","extra":"insert","es":1700000000000,"ts":1700000000123,'
        rb'"clusterTime":"1700000000:1"}'
    )


@pytest.mark.parametrize(
    ("options", "route", "key", "topic"),
    [
        ("", None, f'ObjectId("{AA}")', "drs"),
        ("", "table", "shop.c1", "drs"),
        ("", "schema", "shop", "drs"),
        ("", "columns:n,d,b", 'NumberLong("4294967296"),-0.0,null', "drs"),
        (",topic_policy=table", None, f'ObjectId("{AA}")', "shop-c1"),
        (",topic_policy=table", "single", "shop.c1", "shop-c1"),
        (",topic_policy=database", None, "shop.c1", "shop"),
    ],
)
def test_keys_and_topics_of_documents(options: str, route: str | None, key: str, topic: str) -> None:
    """Keys have the shell's text, without the escapes of JSON."""
    case = Case("insert", (Rows(INSERT, C1, [[AA, "4294967296", None, "-0e0"]]),), AT, "mongodb")
    (message,) = messages_of(f"drs-json{options}", "mongodb-6.0", block_of(case), route=route, partitions=7)
    assert message.key is not None
    assert (message.key.decode(), message.topic) == (key, topic)
    assert message.partition == (0 if route == "single" else kafka_partition(message.key, 7))


def test_commands_are_told_as_far_as_drs_knows_them() -> None:
    steps = (
        Ddl(SchemaChangeKind.CREATE_TABLE, "", None, C1),
        Ddl(SchemaChangeKind.ADD_COLUMN, "", C1, C1),
        Ddl(SchemaChangeKind.DROP_TABLE, '{"drop": "c1"}', C1),
    )
    case = Case("commands", steps, AT, "mongodb")
    (message,) = messages_of("drs-json,topic_policy=table", "mongodb-6.0", block_of(case), partitions=7)
    assert (message.key, message.topic, message.partition) == (b"shop", "shop", 0)
    assert json.loads(message.value or b"")["value"] == '{"drop": "c1"}'
    assert messages_of("drs-json,sync_ddl=off", "mongodb-6.0", block_of(case)) == []
    with pytest.raises(OptionError, match=r"for mongodb-6[.]0 DRS offers single, table, database"):
        codec_of("drs-json,topic_policy=schema", "mongodb-6.0")


def test_documents_of_a_run() -> None:
    """Every kind of change comes up; cluster times rise from one transaction to the next, in the second of the commit;
    keys are those of the change."""
    found = [json.loads(m.value or b"") for m in messages("documents", "drs-json", limit=3_000, start_at=5_000)]
    kinds = {(message["op"], message["recordType"]) for message in found}
    assert kinds == {("INSERT", "insert"), ("UPDATE", "update"), ("UPDATE", "replace"), ("DELETE", "doc")}
    times = [tuple(map(int, message["clusterTime"].split(":"))) for message in found]
    assert times == sorted(times)
    assert all(seconds == message["es"] // 1000 for (seconds, _), message in zip(times, found, strict=True))
    for message in found:
        assert (message["where"] is not None) == (message["op"] == "UPDATE")
        assert message["extra"] == message["recordType"]
        assert message["value"].startswith('{"$' if message["recordType"] == "update" else '{"_id": ')
        assert 'NumberLong("' not in message["value"]  # no number of theirs is so large


def test_a_transaction_of_mongodb_has_one_cluster_time() -> None:
    """Its changes are one entry of the oplog; two transactions of one second have two."""
    script = (
        "tables: {a: {key: id, columns: {id: int32}}}\n"
        "script:\n"
        "  - at: 2024-05-01T10:00:00.100Z\n"
        "    transaction: [{insert: a, rows: [{id: 1}, {id: 2}]}, {delete: a, where: {id: 1}}]\n"
        "  - at: 2024-05-01T10:00:00.200Z\n"
        "    transaction: [{insert: a, rows: [{id: 3}]}]\n"
    )
    found = [json.loads(m.value or b"")["clusterTime"] for m in messages(script, "drs-json", source="mongodb")]
    assert found[:3] == ["1714557600:1"] * 3
    assert found[3] != found[0]
