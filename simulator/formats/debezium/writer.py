"""The writer of messages with JSON values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from simulator.batch import ChangeBatch, PackedBatch
from simulator.delivery.routing import Address, Destination
from simulator.formats.debezium import schema_changes, transactions
from simulator.formats.debezium.connectors.connector import DdlConnector
from simulator.formats.debezium.envelope import TRANSACTION, Envelopes
from simulator.formats.debezium.images import NO_GAPS, Gaps, gaps, placeholder
from simulator.formats.debezium.keys import JsonKeys
from simulator.formats.debezium.schema import Schema, with_envelope
from simulator.formats.writing import Written, WrittenEvent
from simulator.model import (
    DDL,
    DELETE,
    MARKS,
    READ,
    Column,
    Event,
    Heartbeat,
    Kind,
    LoggedStatement,
    SchemaChange,
    Table,
)
from simulator.sources.log import entry
from simulator.text.json_style import JACKSON_BYTES, quote
from simulator.text.template import Piece
from simulator.wire.encoder import Encoder
from simulator.wire.fields import Cell, Field, Members, PerTable, Rows


class JsonWriter:
    """Writer of messages with JSON values; `keys` makes their keys and headers. Snapshot rows have their own cells."""

    def __init__(self, envelopes: Envelopes, keys: JsonKeys, *, schemas: bool) -> None:
        self.envelopes, self.keys, self.schemas = envelopes, keys, schemas
        payload = envelopes.payload()
        self.fields = self._with_schemas(payload)
        self._rows: dict[tuple[bool, bool, Gaps, frozenset[Column]], Encoder] = {}
        connector = envelopes.connector
        cells = connector.cells(snapshot=False)
        self._marks = Encoder(transactions.fields(connector), cells, JACKSON_BYTES)
        self._truncate = Encoder(payload, cells, JACKSON_BYTES)
        logged = () if connector.log_messages is None else connector.log_messages.fields(envelopes.source())
        self._messages = Encoder(logged, cells, JACKSON_BYTES)
        changes = schema_changes.fields(connector, envelopes.source()) if isinstance(connector, DdlConnector) else ()
        self._changes = Encoder(changes, cells, JACKSON_BYTES)

    def _with_schemas(self, payload: tuple[Field, ...]) -> tuple[Field, ...]:
        if not self.schemas:
            return payload
        return Field("schema", PerTable(self._schema)), Field("payload", Members(payload))

    def row_pieces(self, packed: PackedBatch, rows: Rows) -> list[Piece]:
        """The row of each change, as an object."""
        return self._encoder(packed.changes).row_pieces(packed, rows)

    def _encoder(self, batch: ChangeBatch | None = None) -> Encoder:
        """The encoder of a batch's rows; snapshot rows and rows with gaps have other cells, and rows outside of
        transactions other members."""
        snapshot = batch is not None and batch.kind is READ
        alone = batch is not None and self.envelopes.connector.is_alone(batch)
        missing = NO_GAPS if batch is None else gaps(batch)
        apart = frozenset(() if batch is None else (batch.table.columns[i] for i in missing[1]))
        key = (snapshot, alone, missing, apart)
        if key not in self._rows:
            connector, fields = self.envelopes.connector, self.fields
            if missing[0] or alone:
                fields = self._with_schemas(self.envelopes.payload(no_before=missing[0], alone=alone))

            def cell(column: Column) -> Cell:
                converted = connector.convert(column, snapshot=snapshot)
                if column not in apart:
                    return converted.cell
                text = placeholder(converted.schema, self.envelopes.connector.placeholder)
                return replace(converted.cell, null=text)

            self._rows[key] = Encoder(fields, cell, JACKSON_BYTES, member=self.envelopes.names.field)
        return self._rows[key]

    def _schema(self, table: Any, style: Any) -> str:
        return self.envelopes.schema(table).json()

    def messages(self, packed: PackedBatch) -> Iterator[Written]:
        """One message per row, and a tombstone after a delete; one message per begin or end of a transaction."""
        kind, columns = packed.changes.kind, self.keys.columns(packed)
        if kind in MARKS:
            yield Written(self.mark_pieces(packed), columns, self.envelopes.names.transactions)
            return
        yield Written(self.value_pieces(packed), columns)
        if kind is DELETE and self.envelopes.options.tombstones:
            yield Written(None, columns)

    def mark_pieces(self, packed: PackedBatch) -> list[Piece]:
        """The value of each begin or end of a transaction."""
        pieces = self._marks.pieces(packed)
        return [f'{{"schema":{transactions.VALUE.json()},"payload":', *pieces, "}"] if self.schemas else pieces

    def value_pieces(self, packed: PackedBatch) -> list[Piece]:
        """The value of each change."""
        return self._encoder(packed.changes).pieces(packed)

    def event(self, event: Event, to: Destination) -> Iterator[WrittenEvent]:
        envelopes = self.envelopes
        names, connector = envelopes.names, envelopes.connector
        if isinstance(event, Heartbeat):
            beat = self.event_value(schema_changes.HEARTBEAT, f'{{"ts_ms":{event.write_ms}}}')
            yield WrittenEvent(Address(names.heartbeats, (0,)), beat, {"key": self.keys.heartbeat()})
            return
        if isinstance(event, LoggedStatement):
            yield from self._logged(event)
            return
        assert isinstance(event, SchemaChange)
        headers = self.keys.event_headers(event)
        published = list(connector.published(event))
        marked = envelopes.options.transactions and connector.truncates_in_transaction
        sends = "t" not in envelopes.options.skipped_operations
        if marked:
            yield self._mark(event, "BEGIN", None)
        for number, message in enumerate(published, 1):
            if message.truncated is not None and sends:
                text = self._truncate.encode_event(message, DDL).decode()
                if marked:
                    text = self._in_transaction(text, event, number)
                address = Address(to.topics.of(message.truncated.id), (None,))
                yield WrittenEvent(address, self.event_value(envelopes.schema(message.truncated), text), headers)
            elif message.truncated is not None:
                continue
            elif isinstance(connector, DdlConnector) and envelopes.options.schema_changes:
                text = self._changes.encode_event(message, DDL).decode()
                schema = schema_changes.value_schema(connector, envelopes.source_schema())
                columns = {**headers, "key": self.keys.schema_change(connector, message)}
                yield WrittenEvent(Address(names.schema_changes, (0,)), self.event_value(schema, text), columns)

        if marked:
            emptied = [message.truncated for message in published if message.truncated is not None and sends]
            yield self._mark(event, "END", [connector.collection(table.id) for table in emptied])

    def _in_transaction(self, text: str, event: Event, number: int) -> str:
        """A message with its transaction, in which it is the change of this number."""
        block = transactions.block(self._transaction(event), number)
        return text.replace('"transaction":null', f'"transaction":{block}', 1)

    def _logged(self, event: LoggedStatement) -> Iterator[WrittenEvent]:
        """A message that a session put into the log; without other changes, between the marks of its transaction."""
        envelopes, messages = self.envelopes, self.envelopes.connector.log_messages
        assert messages is not None
        marked = envelopes.options.transactions and messages.in_transaction(event)
        alone = marked and messages.is_only_entry(event)
        if alone:
            yield self._mark(event, "BEGIN", None)
        value = self._messages.encode_event(event, DDL).decode()
        if marked:
            value = self._in_transaction(value, event, messages.place(event))
        schema = messages.value_schema(envelopes.source_schema(), TRANSACTION)
        key = self.keys.event_key(messages.key, f'{{"prefix":{quote(event.table, JACKSON_BYTES)}}}')
        yield WrittenEvent(Address(envelopes.names.messages, (None,)), self.event_value(schema, value), {"key": key})
        if alone:
            yield self._mark(event, "END", [messages.collection])

    def _transaction(self, event: Event) -> str:
        """The id of the transaction that a statement is."""
        return str(self.envelopes.connector.transaction_id(entry(event))[0])

    def _mark(self, event: Event, status: str, names: Sequence[str] | None) -> WrittenEvent:
        """The begin (`names` is None) or end of the transaction that a statement is, with one change of each table."""
        connector, id = self.envelopes.connector, self._transaction(event)
        ms = connector.source_ms(event.event_ms)
        value = self.event_value(transactions.VALUE, transactions.mark(status, id, names, ms))
        return WrittenEvent(
            Address(self.envelopes.names.transactions, (None,)), value, {"key": self.keys.transaction(id)}
        )

    def event_value(self, schema: Schema, text: str) -> bytes:
        """The value of a single event, from its JSON."""
        return (with_envelope(schema, text) if self.schemas else text).encode()

    def columns(self, table: Table, kind: Kind) -> None:
        return None

    def text(self, column: Column, array: pa.Array) -> pa.Array:
        return self._encoder().text(column, array)
