"""Messages about the begin and end of transactions (`TransactionMonitor`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import pyarrow as pa

from simulator.batch import ChangeBatch, TableCounts
from simulator.formats.debezium.connectors.connector import Connector
from simulator.formats.debezium.schema import INT64, STRING, array, optional, struct
from simulator.model import BEGIN, COMMIT
from simulator.text.java.hash_map import hash_order
from simulator.text.json_style import JACKSON_BYTES, quote
from simulator.text.template import Piece
from simulator.wire.fields import Field, PerChange

KEY: Final = struct({"id": STRING}, "io.debezium.connector.common.TransactionMetadataKey", 1)
VALUE: Final = struct(
    {
        "status": STRING,
        "id": STRING,
        "event_count": optional(INT64),
        "data_collections": optional(
            array(optional(struct({"data_collection": STRING, "event_count": INT64}, "event.collection", 1)))
        ),
        "ts_ms": INT64,
    },
    "io.debezium.connector.common.TransactionMetadataValue",
    1,
)


def fields(connector: Connector) -> tuple[Field, ...]:
    """The members; the end has the number of changes of each table, in the order of Java's map."""

    def counts(batch: ChangeBatch) -> list[Piece]:
        assert batch.counts is not None
        return [pa.array(_counts(batch.counts, connector), pa.string())]

    return (
        Field("status", {BEGIN: "BEGIN", COMMIT: "END"}),
        Field("id", connector.transaction_member()),
        Field("event_count", {BEGIN: None, COMMIT: PerChange(lambda batch: batch.envelope.places)}),
        Field("data_collections", {BEGIN: None, COMMIT: PerChange(counts)}),
        Field("ts_ms", PerChange(lambda batch: connector.source_ms(batch.envelope.event_ms))),
    )


def _counts(counts: TableCounts, connector: Connector) -> Iterator[str]:
    names = [connector.collection(table) for table in counts.tables]
    entries = list(zip(counts.table.tolist(), counts.changes.tolist(), strict=True))
    for start, stop in pairwise(counts.starts.tolist()):
        yield _collections([(names[table], changes) for table, changes in entries[start:stop]])


def _collections(counted: Sequence[tuple[str, int]]) -> str:
    items = (counted[i] for i in hash_order([name for name, _ in counted]))
    return (
        "["
        + ",".join(f'{{"data_collection":{quote(n, JACKSON_BYTES)},"event_count":{size}}}' for n, size in items)
        + "]"
    )


def block(id: str, number: int) -> str:
    """The `transaction` of the only change of a table in a transaction, its `number`-th change."""
    return f'{{"id":{quote(id, JACKSON_BYTES)},"total_order":{number},"data_collection_order":1}}'


def mark(status: str, id: str, tables: Sequence[str] | None, ms: int) -> str:
    """The begin (`tables` is None) or end of a transaction with one change of each table."""
    count, collections = (
        ("null", "null") if tables is None else (str(len(tables)), _collections([(name, 1) for name in tables]))
    )
    name = quote(id, JACKSON_BYTES)
    return f'{{"status":"{status}","id":{name},"event_count":{count},"data_collections":{collections},"ts_ms":{ms}}}'
