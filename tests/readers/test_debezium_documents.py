"""The classes of Debezium's connector for MongoDB make records of the events of a change stream: those that we send.

There is no server: each change is told to the classes as MongoDB's change stream would have it, and what Kafka
Connect's JSON converter writes of their records is compared byte for byte, enveloped and unwrapped.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from typing import Final

import debezium_engine
import pytest
from building import batch_of, block_of, messages_of, table_of
from cases import cases_of
from jvm import Reader

from simulator.batch import Border, ChangeBatch
from simulator.errors import NotOffered
from simulator.model import DELETE, INSERT, MARKS, READ, UPDATE, Message
from simulator.run.job import open_job
from simulator.run.plan import Limits
from simulator.run.session import local_run
from simulator.sinks.memory import MemorySink
from simulator.sources import find
from simulator.sources.log import entries
from simulator.sources.mongodb import documents as mongodb_documents
from simulator.sources.mongodb.log import SESSION, USER, MongodbLog
from simulator.stream.engine.block import Block

pytestmark = pytest.mark.jvm

MODES: Final = (
    "change_streams_update_full",
    "change_streams",
    "change_streams_update_full_with_pre_image",
    "change_streams_with_pre_image",
)
PROPERTIES: Final = "topic.prefix=dbserver1\x1fmongodb.connection.string=mongodb://localhost/"
OPERATIONS: Final = {INSERT: "insert", UPDATE: "update", DELETE: "delete"}
# A snapshot's documents have no time: the connector takes its clock.
CLOCK: Final = re.compile(rb'"ts_(?:ms|us|ns)":\d+(?=,"(?:snapshot|ts_ns|collection)")')


class Jars:
    def classpath(self) -> str:
        return f"{debezium_engine.jars()}/*"


@pytest.fixture(scope="module")
def connector() -> Iterator[Reader]:
    with Reader("DocumentRecords.java", Jars(), "-Dfile.encoding=UTF-8") as reader:
        yield reader


def events(batch: ChangeBatch, mode: str) -> Iterator[str]:
    """What the change stream, or the snapshot, has of each change."""
    table, envelope, log = batch.table, batch.envelope, MongodbLog()
    seconds, ordinals = log.cluster_times(entries(envelope))
    keys = mongodb_documents.keys(table, batch.image()).to_pylist()
    after = [None] * len(batch) if batch.after is None else mongodb_documents.documents(table, batch.after).to_pylist()
    before = [None] * len(batch)
    if batch.before is not None and mode.endswith("pre_image"):
        columns = [batch.full_before(i) for i in range(len(table.columns))]
        before = mongodb_documents.documents(table, columns).to_pylist()
    replaced, sets, removed = [False] * len(batch), [""] * len(batch), [""] * len(batch)
    if batch.kind is UPDATE:
        replaced = mongodb_documents.replaced(batch).tolist()
        sets, removed = (text.to_pylist() for text in mongodb_documents.updates(batch, json.dumps))
    for i in range(len(batch)):
        where = {"db": table.id.database, "coll": table.id.name}
        now = int(envelope.write_ms[i])
        if batch.kind is READ:
            last = envelope.borders is not None and bool(envelope.borders[i] & Border.LAST)
            yield (
                f'{{"now": {now}, "database": {json.dumps(where["db"])}, "collection": {json.dumps(where["coll"])},'
                f' "last": {json.dumps(last)}, "document": {after[i]}}}'
            )
            continue
        members = {
            "_id": '{"_data": "82"}',
            "operationType": json.dumps("replace" if replaced[i] else OPERATIONS[batch.kind]),
            "clusterTime": json.dumps({"$timestamp": {"t": int(seconds[i]), "i": int(ordinals[i])}}),
            "wallTime": json.dumps({"$date": {"$numberLong": str(envelope.event_ms[i])}}),
            "ns": json.dumps(where),
            "documentKey": keys[i],
        }
        if batch.kind is INSERT or replaced[i] or (batch.kind is UPDATE and "update_full" in mode):
            members["fullDocument"] = after[i]
        if before[i] is not None:
            members["fullDocumentBeforeChange"] = before[i]
        if batch.kind is UPDATE and not replaced[i]:
            members["updateDescription"] = (
                f'{{"updatedFields": {{{sets[i]}}}, "removedFields": [{removed[i]}], "truncatedArrays": []}}'
            )
        if envelope.size[i] > 1:
            session = {"$binary": {"base64": b64encode(SESSION.bytes).decode(), "subType": "04"}}
            user = {"$binary": {"base64": b64encode(USER).decode(), "subType": "00"}}
            members["lsid"] = json.dumps({"id": session, "uid": user})
            members["txnNumber"] = json.dumps({"$numberLong": str(envelope.txn[i])})
        event = ", ".join(f'"{name}": {text}' for name, text in members.items())
        yield f'{{"now": {now}, "event": {{{event}}}}}'


def in_order(block: Block, mode: str) -> list[str]:
    """The events of a block."""
    found = []
    for batch in block.batches:
        if batch.kind not in MARKS:
            places = zip(batch.envelope.turn.tolist(), batch.envelope.ordinal.tolist(), strict=True)
            found += list(zip(places, events(batch, mode), strict=True))
    return [event for _, event in sorted(found)]


def told(connector: Reader, lines: list[str], kind: str, options: str) -> list[tuple[bytes, bytes, bytes]]:
    """Topic, key and value of each record; "" for no bytes."""
    asked = [PROPERTIES + options, *lines]
    answers = connector.ask([line.encode() for line in asked])
    found = []
    for line in (line for answer in answers for line in answer):
        each, topic, key, value = line.split(b"\t")
        if each == kind.encode():
            found.append((topic, key, value))
    return found


def sent(messages: list[Message]) -> list[tuple[bytes, bytes, bytes]]:
    return [(m.topic.encode(), m.key or b"", m.value or b"") for m in messages]


def masked(records: list[tuple[bytes, bytes, bytes]]) -> list[tuple[bytes, bytes, bytes]]:
    return [(topic, key, CLOCK.sub(b"", value) if b'"op":"r"' in value else value) for topic, key, value in records]


def compare(connector: Reader, block: Block, mode: str, options: str = "", unwrap: str = "") -> int:
    """Compares the messages of a block; returns their number."""
    ours = sent(messages_of(f"debezium-json,capture.mode={mode}{options}{unwrap}", "mongodb-6.0", block))
    properties = f"\x1fcapture.mode={mode}" + options.replace(",", "\x1f") + unwrap.replace(
        ",transforms=unwrap", "").replace(",transforms.", "\x1f").replace(";", ",")  # fmt: skip
    theirs = told(connector, in_order(block, mode), "unwrapped" if unwrap else "record", properties)
    assert masked(ours) == masked(theirs)
    return len(ours)


@pytest.mark.parametrize("mode", MODES)
def test_all_cases(connector: Reader, mode: str) -> None:
    count = 0
    for case in cases_of("mongodb-6.0", "debezium-json"):
        block = block_of(case)
        if mode is MODES[0]:
            count += compare(connector, block, mode)
        count += compare(
            connector, block, mode, ",key.converter.schemas.enable=false,value.converter.schemas.enable=false"
        )
    assert count > 60


def test_boundary_values(connector: Reader) -> None:
    """Each boundary value of every type, as a field."""
    source = find("mongodb")
    for typed in [*source.types, "decimal(10,2)", "uuid", "binData(2)"]:
        table = table_of("t", {"_id": "int", "c": typed}, ["_id"], source="mongodb")
        rows = [[str(i), text] for i, text in enumerate(source.boundary_values(table.columns[1].type))]
        batch = batch_of(table, INSERT, rows, source="mongodb")
        compare(connector, Block(0, len(rows), (batch,), (), len(rows)), MODES[0])


@pytest.mark.parametrize("deletes", ["drop", "tombstone", "delete-to-tombstone", "rewrite", "rewrite-with-tombstone"])
def test_unwrapped(connector: Reader, deletes: str) -> None:
    """ExtractNewDocumentState leaves the same records of every case, and ends at the same values."""
    options = f",transforms=unwrap,transforms.unwrap.delete.tombstone.handling.mode={deletes}"
    added = ",transforms.unwrap.add.fields=op;source.ord;lsid:session"
    compared = stopped = 0
    for mode in MODES[1:3]:
        for case in cases_of("mongodb-6.0", "debezium-json"):
            block = block_of(case)
            if deletes != "rewrite" and all(batch.kind is not DELETE for batch in block.batches):
                continue
            for unwrap in (options, options + added):
                lines = told(connector, in_order(block, mode), "unwrapped", f"\x1fcapture.mode={mode}")
                if any(topic == b"ERROR" for topic, _, _ in lines):
                    with pytest.raises(NotOffered, match="ExtractNewDocumentState ends with an error"):
                        compare(connector, block, mode, unwrap=unwrap)
                    stopped += 1
                else:
                    compared += compare(connector, block, mode, unwrap=unwrap)
    assert compared > (100 if deletes == "rewrite" else 0) or deletes == "drop"
    assert bool(stopped) == (deletes == "rewrite")


def test_transactions(connector: Reader) -> None:
    """A transaction of several documents has a begin, places, and an end, which the connector sends with the next
    change; a single write has none."""
    job = open_job("orders", "debezium-json,provide.transaction.metadata=true,key.converter.schemas.enable=false,"
                   "value.converter.schemas.enable=false", source="mongodb-6.0")  # fmt: skip
    with MemorySink() as sink:
        local_run(job, sink, limits=Limits(0, 300))()
        ours = [(m.topic, m.key, m.value) for m in sink.messages()]
    statuses = [json.loads(value)["status"] for topic, _, value in ours if topic == "dbserver1.transaction" and value]
    assert statuses == ["BEGIN", "END"] * (len(statuses) // 2)
    counted: dict[str, list[int]] = {}
    for topic, _, value in ours:
        if topic != "dbserver1.transaction" and value:
            message = json.loads(value)
            assert (message["transaction"] is None) == (message["source"]["lsid"] is None)
            if message["transaction"]:
                counted.setdefault(message["transaction"]["id"], []).append(message["transaction"]["total_order"])
    ends = {m["id"]: m["event_count"] for _, _, v in ours if v and (m := json.loads(v)).get("status") == "END"}
    assert {id: list(range(1, count + 1)) for id, count in ends.items()} == counted
    assert min(ends.values()) > 1
