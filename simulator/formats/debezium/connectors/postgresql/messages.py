"""Messages that a session puts into PostgreSQL's log, `pg_logical_emit_message()` (`LogicalDecodingMessageMonitor`).

A message has a topic of its own kind, its prefix as the key, and counts as a change of its transaction, in a collection
of its own, whose name has a number of the Java process.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa

from simulator import order
from simulator.batch import ChangeBatch, Ints, TableCounts
from simulator.delivery.steps import Changes
from simulator.formats.debezium.connectors.connector import LogMessages
from simulator.formats.debezium.schema import INT64, STRING, Schema, optional, struct
from simulator.formats.debezium.values import cells
from simulator.model import BEGIN, COMMIT, LoggedStatement, LogPositions, TableId
from simulator.wire.fields import Cell, Field, Members, PerEvent

KEY: Final = struct({"prefix": optional(STRING)}, "io.debezium.connector.postgresql.MessageKey", 1)
# The number at its end differs between processes; 0 is decided here.
COLLECTION: Final = "io.debezium.connector.postgresql.LogicalDecodingMessageMonitor$LogicalDecodingMessageId@0"

MOST: Final = np.iinfo(np.int64).max


def _value_schema(content: Schema, source: Schema, transaction: Schema) -> Schema:
    message = struct(
        {"prefix": optional(STRING), "content": optional(content)}, "io.debezium.connector.postgresql.Message", 1
    )
    members = {
        "op": STRING,
        "ts_ms": optional(INT64),
        "source": source,
        "transaction": transaction,
        "message": message,
    }
    return struct(members, "io.debezium.connector.postgresql.MessageValue", 1)


def _fields(binary: Cell, source: Members) -> tuple[Field, ...]:
    """The members; `transaction` is null."""

    def message(event: LoggedStatement) -> dict[str, Any]:
        content = pa.array([event.sql.encode("utf-8", "surrogateescape")], pa.binary())
        return {"prefix": event.table, "content": binary.text(content)[0].as_py()}

    return (
        Field("op", "m"),
        Field("ts_ms", PerEvent(lambda event: event.write_ms)),
        Field("source", source),
        Field("transaction", None),
        Field("message", PerEvent(message)),
    )


def in_transaction(event: LoggedStatement) -> bool:
    """Tests for a transactional message."""
    return not isinstance(event.header, LogPositions) or bool(event.header.xid)


def is_only_entry(event: LoggedStatement) -> bool:
    """Tests for a transaction that changes no row."""
    return isinstance(event.header, LogPositions) and len(event.header.lsns) == 2


def place(event: LoggedStatement) -> int:
    """The place among the changes of its transaction, from 1: all entries before it are changes."""
    return event.order.ordinal // order.STEP + 1


def log_messages(mode: str) -> LogMessages:
    """Their schemas and fields; the content is as `binary.handling.mode` says."""
    return LogMessages(
        KEY,
        COLLECTION,
        partial(_fields, cells.binary_cell(mode)),
        partial(_value_schema, cells.binary_schema(mode)),
        in_transaction,
        is_only_entry,
        place,
    )


def counted_messages(changes: Changes) -> Changes:
    """Counts the messages in transactions that change rows, too; marks stand around both."""
    ordinals: dict[int, list[int]] = {}
    for event in changes.events:
        if isinstance(event, LoggedStatement) and in_transaction(event) and not is_only_entry(event):
            ordinals.setdefault(event.order.turn, []).append(event.order.ordinal)
    if not ordinals:
        return changes
    return replace(changes, batches=[_counted(batch, ordinals) for batch in changes.batches])


def _counted(batch: ChangeBatch, ordinals: Mapping[int, Sequence[int]]) -> ChangeBatch:
    envelope = batch.envelope
    if envelope.counted is None:
        return batch
    inside = [ordinals.get(turn, ()) for turn in envelope.turn.tolist()]
    before = np.array(
        [bisect_left(all, here) for all, here in zip(inside, envelope.ordinal.tolist(), strict=True)], dtype=np.int64
    )
    sizes = np.array([len(all) for all in inside], dtype=np.int64)
    counts = None if batch.counts is None else _with_messages(batch.counts, sizes)
    ordinal = envelope.ordinal
    if batch.kind is BEGIN:
        ordinal = np.minimum(ordinal, [all[0] + order.BEGIN if all else MOST for all in inside])
    elif batch.kind is COMMIT:
        ordinal = np.maximum(ordinal, [all[-1] + order.COMMIT if all else 0 for all in inside])
        before = sizes
    counted = envelope.counted + np.array([before, sizes])
    return replace(batch, envelope=replace(envelope, ordinal=ordinal, counted=counted), counts=counts)


def _with_messages(counts: TableCounts, sizes: Ints) -> TableCounts:
    """The counts of transactions, each with so many messages behind its tables."""
    schema, _, name = COLLECTION.rpartition(".")
    ends = np.repeat(counts.starts[1:], sizes)
    return TableCounts(
        (*counts.tables, TableId("", name, schema)),
        np.insert(counts.table, ends, len(counts.tables)),
        np.insert(counts.changes, ends, 1),
        counts.starts + np.concatenate([[0], np.cumsum(sizes)]),
    )
