"""Keys of rows, and the headers of messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from simulator.batch import HEADERS, PackedBatch
from simulator.formats.debezium import schema_changes, transactions
from simulator.formats.debezium.connectors.connector import DdlConnector, Published
from simulator.formats.debezium.envelope import Envelopes
from simulator.formats.debezium.schema import Schema, with_envelope
from simulator.model import DELETE, INSERT, MARKS, READ, Event, Life
from simulator.sources.log import entries
from simulator.text.json_style import JACKSON_BYTES, escape, quote
from simulator.text.template import Piece, join, repeat
from simulator.wire.columns import WrittenColumns
from simulator.wire.encoder import Encoder
from simulator.wire.fields import PerTable, Rows, table_order
from simulator.wire.images import Images

# Header names of a key change.
NEW_KEY, OLD_KEY = "__debezium.newkey", "__debezium.oldkey"


def run_id(first: str, life: Life) -> str:
    """The UUID of a start: that of the first, and a later one for each restart."""
    if not life.number:
        return first
    digits = int(first.replace("-", "")[:12], 16) + life.number
    return f"{digits >> 16:08x}-{digits & 0xFFFF:04x}{first[13:]}"


class JsonKeys:
    """Keys as the JSON converter writes them (`schemas`: with their schema), and headers."""

    def __init__(self, envelopes: Envelopes, *, schemas: bool) -> None:
        self.envelopes, self.schemas = envelopes, schemas
        connector, names = envelopes.connector, envelopes.names
        self._same_headers: dict[tuple[tuple[str, bytes], ...], pa.Array] = {}
        self._written = {
            snapshot: WrittenColumns(connector.cells(snapshot=snapshot), JACKSON_BYTES, table_order, names.field)
            for snapshot in (False, True)
        }
        self._fields = Encoder(envelopes.key_fields(), connector.cells(snapshot=False), JACKSON_BYTES)
        self._schema = PerTable(lambda table, style: envelopes.key_schema(table).json())

    def _payload(self, packed: PackedBatch, image: Literal["before", "after"]) -> tuple[Images, list[Piece]]:
        images = Images(self._written[packed.changes.kind is READ], packed)
        if self._fields.fields:
            return images, self._fields.pieces(packed)
        return images, images.rows(Rows(image, array=False, columns=self.envelopes.connector.key_columns))

    def pieces(self, packed: PackedBatch) -> list[Piece]:
        """The key of each row."""
        images, payload = self._payload(packed, "before" if packed.changes.kind is DELETE else "after")
        if not self.schemas:
            return payload
        return ['{"schema":', images.table.text(self._schema), ',"payload":', *payload, "}"]

    def columns(self, packed: PackedBatch) -> dict[str, pa.Array]:
        """Keys and headers of messages."""
        batch, count = packed.changes, len(packed)
        if batch.kind in MARKS:
            id = self.envelopes.connector.transaction_id(entries(batch.envelope))
            key = join(self.mark_pieces(id), count, pa.binary())
            return {"key": key, "partition": pa.nulls(count, pa.int32())}
        columns = {}
        if self.envelopes.connector.key_columns(batch.table):
            columns["key"] = join(self.pieces(packed), count, pa.binary())
        if (headers := self._headers(packed)) is not None:
            columns["headers"] = headers
        return columns

    def mark_pieces(self, id: pa.Array) -> list[Piece]:
        """The key of each begin or end of a transaction, from its id."""
        payload: list[Piece] = ['{"id":"', escape(id, JACKSON_BYTES), '"}']
        return [f'{{"schema":{transactions.KEY.json()},"payload":', *payload, "}"] if self.schemas else payload

    def _context(self, life: Life) -> list[tuple[str, bytes]]:
        options, connector = self.envelopes.options, self.envelopes.connector
        if not options.context_headers or options.version != "3.6":
            return []
        values = (
            ("connectorLogicalName", options.topic_prefix),
            ("taskId", "0"),
            ("connectorName", connector.name),
            ("runId", run_id(options.run_id, life)),
        )
        return [(f"__debezium.context.{name}", value.encode()) for name, value in values]

    def _headers(self, packed: PackedBatch) -> pa.Array | None:
        batch, count, context = packed.changes, len(packed), self._context(packed.changes.envelope.life)
        moved: list[tuple[str, pa.Array]] = []
        connector = self.envelopes.connector
        if batch.counterpart is not None and connector.key_columns(batch.table) and connector.tells_other_key:
            other = replace(batch, kind=INSERT, after=batch.counterpart, before=None, counterpart=None)
            _, payload = self._payload(replace(packed, changes=other), "after")
            moved = [(NEW_KEY if batch.kind is DELETE else OLD_KEY, join(payload, count, pa.binary()))]
        if moved:
            return header_rows([*moved, *((name, repeat(value, count)) for name, value in context)], count)
        if not context:
            return None
        # equal for all rows of a start of the connector: made once, and cut to length
        rows = self._same_headers.get(tuple(context))
        if rows is None or len(rows) < count:
            rows = header_rows([(name, repeat(value, count)) for name, value in context], count)
            self._same_headers[tuple(context)] = rows
        return rows.slice(0, count)

    def heartbeat(self) -> bytes:
        """The key of a heartbeat."""
        name = quote(self.envelopes.options.topic_prefix, JACKSON_BYTES)
        return self.event_key(schema_changes.HEARTBEAT_KEY, f'{{"serverName":{name}}}')

    def transaction(self, id: str) -> bytes:
        """The key of the begin or end of a transaction that is a statement."""
        return self.event_key(transactions.KEY, f'{{"id":{quote(id, JACKSON_BYTES)}}}')

    def schema_change(self, connector: DdlConnector, message: Published) -> bytes:
        """The key of a statement."""
        schema = schema_changes.key_schema(connector)
        return self.event_key(schema, f'{{"databaseName":{quote(message.database, JACKSON_BYTES)}}}')

    def event_key(self, schema: Schema, payload: str) -> bytes:
        """The key of a single event, from its JSON."""
        return (with_envelope(schema, payload) if self.schemas else payload).encode()

    def event_headers(self, event: Event) -> dict[str, Any]:
        """Headers of statements; heartbeats have none."""
        context = self._context(event.life)
        return {"headers": [{"name": name, "value": value} for name, value in context]} if context else {}


def header_rows(headers: Sequence[tuple[str, pa.Array]], count: int) -> pa.Array:
    """The headers of each of `count` messages, given as names with a value per message."""
    size = len(headers)
    names = pa.array([name for name, _ in headers] * count, pa.string())
    # all rows of one header, then all of the next; reordered by row
    by_row = (np.arange(count)[:, None] + np.arange(size) * count).ravel()
    values = pa.concat_arrays([values for _, values in headers]).take(pa.array(by_row))
    items = pa.StructArray.from_arrays([names, values], fields=list(HEADERS.value_type))
    offsets = pa.array(np.arange(count + 1, dtype=np.int32) * size)
    return pa.ListArray.from_arrays(offsets, items).cast(HEADERS)
