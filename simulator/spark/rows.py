"""Messages, changes and rows as Spark's columns.

Values keep their types: decimals up to 38 digits, dates, timestamps without a zone, times of day as intervals, bytes.
Unsigned 64-bit numbers are decimal(20,0), longer decimals texts. Dates that no calendar has are as in `carriers`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch, MessageBatch
from simulator.model import DELETE, UPDATE, SchemaChange, SchemaChangeKind, Table
from simulator.sinks.columns import POSITION, STAMP, message_rows, positions
from simulator.spark.images import Images
from simulator.stream.engine.block import Block

# Rows of a batch: some megabytes.
BATCH_ROWS: Final = 10_000
# The values that a filter lets through, by columns of text.
Only: TypeAlias = Mapping[str, frozenset[str]]


def change_schema(images: Images) -> pa.Schema:
    """The changes of a table: both images, where the change stands, when it was committed, and the text of DDL."""
    row = pa.struct(list(images.schema))
    return pa.schema(
        [
            ("op", pa.string()),
            ("before", row),
            ("after", row),
            ("position", POSITION),
            ("transaction", pa.int64()),
            ("committed_at", STAMP),
            ("sql", pa.string()),
        ]
    )


def messages(batch: MessageBatch, only: Only) -> Iterator[pa.RecordBatch]:
    """Messages whose partitions are chosen, as `MESSAGES`."""
    selected = message_rows(batch)
    for name, values in only.items():
        selected = selected.filter(pc.is_in(selected[name], pa.array(sorted(values), pa.string())))
    yield from _sliced(selected)


def changes(block: Block, table: Table, images: Images, schema: pa.Schema, only: Only) -> Iterator[pa.RecordBatch]:
    """The changes of a table in a block and its schema changes, in stream order, as `change_schema`."""

    def wanted(name: str) -> bool:
        return "op" not in only or name in only["op"]

    batches = [batch for batch in block.batches if batch.table.id == table.id and wanted(batch.kind.name)]
    parts = [_changes(batch, images, schema) for batch in batches]
    keys = [np.stack([batch.envelope.turn, batch.envelope.ordinal]) for batch in batches]
    for event in block.events:
        if isinstance(event, SchemaChange) and event.order.phase and _alters(event, table) and wanted(event.kind.name):
            parts.append(_schema_change(event, schema))
            keys.append(np.array([[event.order.turn], [event.order.ordinal]], dtype=np.int64))
    if parts:
        order = np.lexsort(np.concatenate(keys, axis=1)[::-1])
        rows = pa.Table.from_batches(parts).take(pa.array(order)).combine_chunks()
        yield from rows.to_batches(max_chunksize=BATCH_ROWS)


def _alters(event: SchemaChange, table: Table) -> bool:
    if event.kind is SchemaChangeKind.DROP_DATABASE:
        return event.database == table.id.database
    return any(version is not None and version.id == table.id for pair in event.tables for version in pair)


def rows(columns: Sequence[pa.Array], table: Table, images: Images) -> Iterator[pa.RecordBatch]:
    """Rows of a table, in the columns of its images."""
    yield from _sliced(pa.RecordBatch.from_arrays(images.image(table, columns), schema=images.schema))


def _changes(batch: ChangeBatch, images: Images, schema: pa.Schema) -> pa.RecordBatch:
    count, envelope = len(batch), batch.envelope
    struct = schema.field("after").type
    before = batch.before and [batch.full_before(i) for i in range(len(batch.table.columns))]
    values = {
        "before": before if batch.kind in (UPDATE, DELETE) else None,
        "after": None if batch.kind is DELETE else batch.after,
    }
    filled = {
        name: pa.nulls(count, struct)
        if image is None
        else pa.StructArray.from_arrays(images.image(batch.table, image, batch), fields=list(struct))
        for name, image in values.items()
    }
    columns = {
        **filled,
        "op": pa.array([batch.kind.name] * count),
        "position": positions(
            pa.array(np.full(count, envelope.phase)), pa.array(envelope.turn), pa.array(envelope.ordinal)
        ),
        "transaction": pa.array(envelope.txn),
        "committed_at": pa.array(envelope.event_ms, pa.timestamp("ms", "UTC")).cast(STAMP),
        "sql": pa.nulls(count, pa.string()),
    }
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def _schema_change(event: SchemaChange, schema: pa.Schema) -> pa.RecordBatch:
    struct, order = schema.field("after").type, event.order
    columns = {
        "op": pa.array([event.kind.name]),
        "before": pa.nulls(1, struct),
        "after": pa.nulls(1, struct),
        "position": positions(*(pa.array([number]) for number in (order.phase, order.turn, order.ordinal))),
        "transaction": pa.array([event.txn]),
        "committed_at": pa.array([event.event_ms], pa.timestamp("ms", "UTC")).cast(STAMP),
        "sql": pa.array([event.sql]),
    }
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def _sliced(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(batch), BATCH_ROWS):
        yield batch.slice(start, BATCH_ROWS)
