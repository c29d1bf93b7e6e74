"""Messages as rows with the columns that data lakes know: one row a message, headers as a list, positions that sort."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from simulator.batch import MessageBatch, decoded

POSITION: Final = pa.struct([("phase", pa.int32()), ("turn", pa.int64()), ("ordinal", pa.int64())])
HEADERS: Final = pa.list_(pa.field("element", pa.struct([("name", pa.string()), ("value", pa.binary())])))
STAMP: Final = pa.timestamp("us", "UTC")
KINDS: Final = ("READ", "INSERT", "UPDATE", "DELETE", "DDL", "BEGIN", "COMMIT", "HEARTBEAT", "STATEMENT")

MESSAGES: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("headers", HEADERS),
        ("tag", pa.string()),
        ("timestamp", STAMP),
        ("kind", pa.string()),
        ("changes", pa.int32()),
        ("position", POSITION),
    ]
)
# Schema of rows in a folder for each topic and partition.
IN_PARTITIONS: Final = pa.schema(list(MESSAGES)[2:])


def message_rows(batch: MessageBatch, schema: pa.Schema = MESSAGES) -> pa.RecordBatch:
    """Messages whose partitions are chosen, as rows."""
    kinds = pa.DictionaryArray.from_arrays(batch["kind"].cast(pa.int32()), pa.array(KINDS))
    columns = {
        **{name: batch[name] for name in ("partition", "key", "value", "tag", "changes")},
        "topic": decoded(batch["topic"]),
        "headers": batch["headers"].cast(HEADERS),
        "timestamp": batch["timestamp_ms"].cast(pa.timestamp("ms", "UTC")).cast(STAMP),
        "kind": decoded(kinds),
        "position": positions(*(batch[name] for name in ("phase", "turn", "ordinal"))),
    }
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def positions(phase: pa.Array, turn: pa.Array, ordinal: pa.Array) -> pa.Array:
    return pa.StructArray.from_arrays([phase.cast(pa.int32()), turn, ordinal], fields=list(POSITION))
