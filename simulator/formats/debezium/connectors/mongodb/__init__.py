"""The connector for MongoDB, reading change streams (`MongoDbConnector`, `MongoDbSourceInfoStructMaker`).

Rows are documents: `envelope` has its messages, `spelling` the text of documents, `unwrap` the messages of
ExtractNewDocumentState.

* A change of a transaction of several documents has the session's id (`lsid`) and the transaction's number in it;
  a write of its own has neither, and belongs to no transaction of `provide.transaction.metadata`.
* Commands, which a change stream has in the place of DDL, are not sent.

Decided here: one session writes all transactions; what begins a snapshot is a token without a time (`ord` -1); the end
of a transaction is sent with its last change, at its time, where the connector sends it with the next change it reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch
from simulator.delivery.steps import Changes, Step
from simulator.formats.debezium.connectors.connector import Connector, Published
from simulator.formats.debezium.connectors.mongodb.spelling import KEY, STRICT
from simulator.formats.debezium.options import ConnectorOptions
from simulator.formats.debezium.schema import INT32, INT64, JSON, STRING, Schema, optional
from simulator.formats.debezium.values.cells import Converted
from simulator.formats.members import TABLE, by_row, per_entry, whole_seconds
from simulator.model import MARKS, READ, ROW_KINDS, Column, SchemaChange, SchemaChangeKind
from simulator.sources.log import Entries
from simulator.sources.log import entries as entries_of
from simulator.sources.mongodb import json as bson
from simulator.sources.mongodb.log import SESSION, USER, MongodbLog
from simulator.sources.source import Source
from simulator.text.json_style import JACKSON_BYTES, escape
from simulator.text.template import constant, join
from simulator.wire.fields import Cell, Field, PerChange

LSID: Final = replace(STRICT, style=None).plain({"id": bson.Binary(4, SESSION.bytes), "uid": bson.Binary(0, USER)})
# Name of the replica set, which 2.5 writes.
REPLICA_SET: Final = "rs0"


def transactions_alone(changes: Changes) -> Changes:
    """Leaves out the begin and end of transactions that write one document: they are none to MongoDB."""
    batches = []
    for batch in changes.batches:
        if batch.kind in MARKS:
            rows = np.flatnonzero(in_transaction(batch) & (batch.envelope.places > 0))
            batch = batch.take(rows)
        if len(batch):
            batches.append(batch)
    return replace(changes, batches=batches)


def in_transaction(batch: ChangeBatch) -> npt.NDArray[np.bool_]:
    """Mask of the changes, or marks, of transactions of several writes. A changed `_id` is two."""
    mask: npt.NDArray[np.bool_] = batch.envelope.size > 1
    if batch.kind in MARKS:
        return mask | (batch.envelope.places > 1)
    return mask | batch.moved


class MongodbConnector(Connector):
    name: ClassVar[str] = "mongodb"
    package: ClassVar[str] = "mongo"
    parts: ClassVar[str] = "{database}.{table}"
    tells_other_key: ClassVar[bool] = False

    def __init__(self, options: ConnectorOptions, source: Source, *, numeric: bool) -> None:
        super().__init__(options, source, numeric=numeric)
        assert isinstance(source.log, MongodbLog)
        self.log = source.log
        # of the server's clock, since 6.0
        self.wall_time = int(source.version.partition(".")[0]) >= 6

    @property
    def steps(self) -> tuple[Step, ...]:
        return (transactions_alone,)

    @property
    def source_schemas(self) -> Sequence[tuple[str, Schema]]:
        replica_set = (("rs", STRING),) if self.options.version == "2.5" else ()
        return (
            *replica_set,
            ("collection", STRING),
            ("ord", INT32),
            ("lsid", optional(STRING)),
            ("txnNumber", optional(INT64)),
            ("wallTime", optional(INT64)),
        )

    def source_ms(self, event_ms: Any) -> Any:
        return event_ms if self.wall_time else whole_seconds(event_ms)

    def source_fields(self) -> Sequence[Field]:
        ordinal = per_entry(lambda entries: self.log.cluster_times(entries)[1])
        lsid = PerChange(lambda batch: _or_null(batch, constant(f'"{LSID.translate(JACKSON_BYTES.table)}"')))
        number = PerChange(lambda batch: _or_null(batch, pa.array(batch.envelope.txn).cast(pa.string())))
        wall_time = PerChange(lambda batch: batch.envelope.event_ms) if self.wall_time else None
        replica_set = (Field("rs", REPLICA_SET),) if self.options.version == "2.5" else ()
        return (
            *replica_set,
            Field("collection", by_row(TABLE)),
            Field("ord", {**dict.fromkeys(ROW_KINDS, ordinal), READ: -1}),
            Field("lsid", {**dict.fromkeys(ROW_KINDS, lsid), READ: None}),
            Field("txnNumber", {**dict.fromkeys(ROW_KINDS, number), READ: None}),
            Field("wallTime", {**dict.fromkeys(ROW_KINDS, wall_time), READ: None}),
        )

    def transaction_id(self, entries: Entries) -> pa.Array:
        return join([f"{LSID}:", pa.array(entries.txn)], len(entries))

    def transaction_member(self) -> PerChange:
        def texts(batch: ChangeBatch) -> pa.Array:
            id = escape(self.transaction_id(entries_of(batch.envelope)), JACKSON_BYTES)
            return join(['"', id, '"'], len(batch))

        return PerChange(texts)

    @property
    def statements(self) -> frozenset[SchemaChangeKind]:
        return frozenset()

    def convert(self, column: Column, *, snapshot: bool) -> Converted:
        return Converted(JSON, Cell(lambda array: KEY.text(column, array)))

    def published(self, event: SchemaChange) -> Iterator[Published]:
        return iter(())


def _or_null(batch: ChangeBatch, text: Any) -> pa.Array:
    """A text in changes of transactions, else null."""
    return pc.if_else(pa.array(in_transaction(batch)), text, constant("null"))
