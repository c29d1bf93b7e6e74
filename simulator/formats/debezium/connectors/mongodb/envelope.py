"""The envelope of documents (`MongoDbSchema`, `MongoDbCollectionSchema`): each image is one JSON text.

| | before | after | updateDescription |
| --- | --- | --- | --- |
| r, c | null | the document | null |
| u, by an update | with a pre-image | with a full update | what is set and removed |
| u, by a replacement | with a pre-image | the document | null |
| d | with a pre-image | null | null |

`capture.mode` says whether there are pre-images (`…_with_pre_image`) and full updates (`…_update_full…`).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import Border, ChangeBatch
from simulator.formats.debezium.connectors.mongodb import in_transaction
from simulator.formats.debezium.connectors.mongodb.spelling import KEY, STRICT, UPDATED
from simulator.formats.debezium.envelope import OPERATIONS, TRANSACTION, Envelopes, write_time
from simulator.formats.debezium.schema import INT32, INT64, JSON, STRING, Schema, array, optional, struct
from simulator.model import DELETE, INSERT, READ, UPDATE, Kind, Table
from simulator.sources.mongodb import documents as mongodb_documents
from simulator.text.json_style import JACKSON_BYTES, quote
from simulator.text.template import constant, join
from simulator.wire.fields import Field, PerChange

_CHANGE_STREAM: Final = "io.debezium.connector.mongodb.changestream"
UPDATE_DESCRIPTION: Final = optional(
    struct(
        {
            "removedFields": optional(array(STRING)),
            "updatedFields": optional(JSON),
            "truncatedArrays": optional(
                array(struct({"field": STRING, "size": INT32}, f"{_CHANGE_STREAM}.truncatedarray", 1))
            ),
        },
        f"{_CHANGE_STREAM}.updatedescription",
        1,
    )
)


class DocumentEnvelopes(Envelopes):
    """Members and schemas of messages about documents."""

    def key_schema(self, table: Table) -> Schema:
        return struct({"id": STRING}, self.names.schema(table.id, "Key"))

    def key_fields(self) -> tuple[Field, ...]:
        return (Field("id", PerChange(key)),)

    def schema(self, table: Table) -> Schema:
        members = {
            "before": optional(JSON),
            "after": optional(JSON),
            "updateDescription": UPDATE_DESCRIPTION,
            "source": self.source_schema(),
            "op": optional(STRING),
            "ts_ms": optional(INT64),
            "transaction": TRANSACTION,
        }
        return struct(members, self.names.schema(table.id, "Envelope"))

    def payload(self, *, no_before: bool = False, alone: bool = False) -> tuple[Field, ...]:
        mode = self.options.capture_mode
        after = PerChange(document_after)
        old = PerChange(document_before) if mode.endswith("with_pre_image") else None
        updated = after if "update_full" in mode else PerChange(document_replaced)
        return (
            Field("before", {READ: None, INSERT: None, UPDATE: old, DELETE: old}),
            Field("after", {READ: after, INSERT: after, UPDATE: updated, DELETE: None}),
            Field("updateDescription", {**dict.fromkeys((READ, INSERT, DELETE)), UPDATE: PerChange(description)}),
            Field("source", self.source()),
            Field("op", OPERATIONS),
            Field("ts_ms", write_time(0)),
            Field("transaction", self._transaction()),
        )

    def _transaction(self) -> dict[Kind, Any] | None:
        if not self.options.transactions:
            return None
        id = self.connector.transaction_member()

        def block(batch: ChangeBatch) -> pa.Array:
            places = batch.envelope.place_in_table
            in_table = batch.envelope.place if places is None else places
            pieces = ['{"id":', id.of(batch), ',"total_order":', pa.array(batch.envelope.place),
                      ',"data_collection_order":', pa.array(in_table), "}"]  # fmt: skip
            texts = join(pieces, len(batch))
            return pc.if_else(pa.array(in_transaction(batch)), texts, constant("null"))

        return {**dict.fromkeys((INSERT, UPDATE, DELETE), PerChange(block)), READ: None}

    def snapshot_marks(self) -> Any:
        return PerChange(last_of_snapshot)


def _quoted(texts: pa.Array) -> pa.Array:
    return join(['"', texts, '"'], len(texts))


def key(batch: ChangeBatch) -> pa.Array:
    """The value of `_id` in extended JSON."""
    (position,) = batch.table.key_positions
    return _quoted(KEY.text(batch.table.columns[position], batch.image()[position]))


def document_after(batch: ChangeBatch) -> pa.Array:
    assert batch.after is not None
    return _quoted(mongodb_documents.documents(batch.table, batch.after, STRICT.spelling))


def document_before(batch: ChangeBatch) -> pa.Array:
    columns = [batch.full_before(i) for i in range(len(batch.table.columns))]
    return _quoted(mongodb_documents.documents(batch.table, columns, STRICT.spelling))


def document_replaced(batch: ChangeBatch) -> pa.Array:
    """The document after a replacement; null of other updates."""
    replaced = mongodb_documents.replaced(batch)
    if not replaced.any():
        return pa.array(["null"]).take(pa.array(np.zeros(len(batch), np.int64)))
    return pc.if_else(pa.array(replaced), document_after(batch), constant("null"))


def description(batch: ChangeBatch) -> pa.Array:
    """`updateDescription`; null of a replacement."""
    replaced = mongodb_documents.replaced(batch)
    sets, removed = mongodb_documents.updates(batch, lambda path: quote(path, JACKSON_BYTES), UPDATED.spelling)
    removed = pc.replace_substring(removed, '", "', '","')  # no quote stands so inside a name
    names = pc.if_else(pc.equal(removed, constant("")), constant("null"), join(["[", removed, "]"], len(batch)))
    pieces = ['{"removedFields":', names, ',"updatedFields":"{', sets, '}","truncatedArrays":null}']
    return pc.if_else(pa.array(replaced), constant("null"), join(pieces, len(batch)))


def last_of_snapshot(batch: ChangeBatch) -> pa.Array:
    """`source.snapshot` of a snapshot's documents: the last one alone has a mark of its own."""
    borders = batch.envelope.borders
    last = np.zeros(len(batch), bool) if borders is None else (borders & Border.LAST) != 0
    return pc.if_else(pa.array(last), constant('"last"'), constant('"true"'))
