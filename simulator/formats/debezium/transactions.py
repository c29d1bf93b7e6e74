"""Messages about the begin and end of transactions (`TransactionMonitor`)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import pyarrow as pa

from simulator.batch import ChangeBatch, TableCounts
from simulator.formats.debezium.connectors.connector import Connector
from simulator.formats.debezium.schema import INT64, STRING, array, optional, struct
from simulator.formats.members import per_entry
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
        Field("id", per_entry(connector.transaction_id)),
        Field("event_count", {BEGIN: None, COMMIT: PerChange(lambda batch: batch.envelope.places)}),
        Field("data_collections", {BEGIN: None, COMMIT: PerChange(counts)}),
        Field("ts_ms", PerChange(lambda batch: connector.source_us(batch.envelope.event_ms) // 1000)),
    )


def _counts(counts: TableCounts, connector: Connector) -> Iterator[str]:
    names = [connector.collection(table) for table in counts.tables]
    entries = list(zip(counts.table.tolist(), counts.changes.tolist(), strict=True))
    for start, stop in pairwise(counts.starts.tolist()):
        of_transaction = [(names[table], changes) for table, changes in entries[start:stop]]
        order = hash_order([name for name, _ in of_transaction])
        items = (of_transaction[i] for i in order)
        texts = (f'{{"data_collection":{quote(n, JACKSON_BYTES)},"event_count":{size}}}' for n, size in items)
        yield "[" + ",".join(texts) + "]"
