"""debezium-json: the envelope of Debezium's connectors, as Kafka Connect's JSON converter writes it.

Debezium 3.6 (documentation of the connectors; code of 3.6.3.Final; messages captured from it). A message about a row
has the row before and after, where it stands in the source's log, and an operation:

* the row has columns as Connect's types (`time.precision.mode`, `decimal.handling.mode` and others choose them), and a
  null is written as the column's default where it has one;
* the schema of key and value stands beside each (`key.converter.schemas.enable`, `value.converter.schemas.enable`);
* a delete is followed by a tombstone; an update of the key is a delete and a create, whose headers have the other key;
* DDL goes to a topic of its own with the tables after it; the begin and end of transactions to another, where
  `provide.transaction.metadata` asks for it; heartbeats to a third.

2.7 has no version of `source`, 2.5 no times below milliseconds, and `transaction` as the last member.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa

from simulator.batch import ChangeBatch, PackedBatch
from simulator.delivery.policies.client import ByClient
from simulator.delivery.routing import Address, Destination, Routing
from simulator.delivery.steps.counts import counted_by_table
from simulator.delivery.steps.documents import typed_documents
from simulator.formats.debezium import schema_changes, transactions
from simulator.formats.debezium.connectors.connector import Connector
from simulator.formats.debezium.connectors.mysql import MariadbConnector, MysqlConnector
from simulator.formats.debezium.connectors.mysql.statements import is_sent
from simulator.formats.debezium.connectors.postgresql import PostgresqlConnector
from simulator.formats.debezium.envelope import Envelopes
from simulator.formats.debezium.images import NO_GAPS, Gaps, gaps, nulls_for_gaps, placeholder
from simulator.formats.debezium.keys import JsonKeys
from simulator.formats.debezium.names import Names
from simulator.formats.debezium.options import JsonOptions, unwrapping
from simulator.formats.debezium.schema import Schema, with_envelope
from simulator.formats.debezium.snapshots import schema_history
from simulator.formats.format import Format, Layout, Settings
from simulator.formats.writing import Written, WrittenEvent
from simulator.model import (
    BEGIN,
    COMMIT,
    DDL,
    DELETE,
    HEARTBEAT,
    INSERT,
    MARKS,
    READ,
    STATEMENT,
    UPDATE,
    WITHOUT_TABLE,
    Column,
    Event,
    Heartbeat,
    Kind,
    SchemaChange,
    SchemaChangeKind,
    Table,
)
from simulator.text.json_style import JACKSON_BYTES
from simulator.text.template import Piece
from simulator.wire.encoder import Encoder
from simulator.wire.fields import Cell, Field, Members, PerTable, Rows

# The connectors that read a source, the default one first.
CONNECTORS: Final[Mapping[str, tuple[type[Connector], ...]]] = {
    "mariadb": (MariadbConnector, MysqlConnector),
    "mysql": (MysqlConnector,),
    "postgresql": (PostgresqlConnector,),
}


class JsonWriter:
    """Messages with JSON values; `keys` makes their keys and headers. Rows of a snapshot have cells of their own."""

    def __init__(self, envelopes: Envelopes, keys: JsonKeys, *, schemas: bool) -> None:
        self.envelopes, self.keys, self.schemas = envelopes, keys, schemas
        payload = envelopes.payload()
        self.fields = self._with_schemas(payload)
        self._rows: dict[tuple[bool, Gaps, frozenset[Column]], Encoder] = {}
        connector = envelopes.connector
        cells = connector.cells(snapshot=False)
        self._marks = Encoder(transactions.fields(connector), cells, JACKSON_BYTES)
        self._truncate = Encoder(payload, cells, JACKSON_BYTES)
        self._changes = Encoder(schema_changes.fields(connector, envelopes.source()), cells, JACKSON_BYTES)

    def _with_schemas(self, payload: tuple[Field, ...]) -> tuple[Field, ...]:
        if not self.schemas:
            return payload
        return Field("schema", PerTable(self._schema)), Field("payload", Members(payload))

    def row_pieces(self, packed: PackedBatch, rows: Rows) -> list[Piece]:
        """A row of each change, as an object."""
        return self._encoder(packed.changes).row_pieces(packed, rows)

    def _encoder(self, batch: ChangeBatch | None = None) -> Encoder:
        """The encoder of a batch's rows: those of snapshots have other cells, and so have rows with gaps."""
        snapshot = batch is not None and batch.kind is READ
        missing = NO_GAPS if batch is None else gaps(batch)
        apart = frozenset(() if batch is None else (batch.table.columns[i] for i in missing[1]))
        if (snapshot, missing, apart) not in self._rows:
            connector, fields = self.envelopes.connector, self.fields
            if missing[0]:
                fields = self._with_schemas(self.envelopes.payload(no_before=True))

            def cell(column: Column) -> Cell:
                converted = connector.convert(column, snapshot=snapshot)
                if column not in apart:
                    return converted.cell
                text = placeholder(converted.schema, self.envelopes.options.placeholder)
                return replace(converted.cell, null=text)

            encoder = Encoder(fields, cell, JACKSON_BYTES, member=self.envelopes.names.field)
            self._rows[snapshot, missing, apart] = encoder
        return self._rows[snapshot, missing, apart]

    def _schema(self, table: Any, style: Any) -> str:
        return self.envelopes.schema(table).json()

    def messages(self, packed: PackedBatch) -> Iterator[Written]:
        """A message for a row, and a tombstone behind a delete; one for the begin or end of a transaction."""
        kind, columns = packed.changes.kind, self.keys.columns(packed)
        if kind in MARKS:
            pieces = self._marks.pieces(packed)
            if self.schemas:
                pieces = [f'{{"schema":{transactions.VALUE.json()},"payload":', *pieces, "}"]
            yield Written(pieces, columns, self.envelopes.names.transactions)
            return
        yield Written(self._encoder(packed.changes).pieces(packed), columns)
        if kind is DELETE and self.envelopes.options.tombstones:
            yield Written(None, columns)

    def event(self, event: Event, to: Destination) -> Iterator[WrittenEvent]:
        envelopes = self.envelopes
        names, connector = envelopes.names, envelopes.connector
        if isinstance(event, Heartbeat):
            beat = self._with_schema(schema_changes.HEARTBEAT, f'{{"ts_ms":{event.write_ms}}}')
            yield WrittenEvent(Address(names.heartbeats, (0,), self.keys.heartbeat()), beat)
            return
        assert isinstance(event, SchemaChange)
        headers = self.keys.event_headers()
        for message in connector.published(event):
            if message.truncated is not None:
                text = self._truncate.encode_event(message, DDL).decode()
                address = Address(to.topics.of(message.truncated.id), (None,))
                yield WrittenEvent(address, self._with_schema(envelopes.schema(message.truncated), text), headers)
            elif connector.has_schema_changes and envelopes.options.schema_changes:
                text = self._changes.encode_event(message, DDL).decode()
                schema = schema_changes.value_schema(connector, envelopes.source_schema())
                address = Address(names.schema_changes, (0,), self.keys.schema_change(message))
                yield WrittenEvent(address, self._with_schema(schema, text), headers)

    def _with_schema(self, schema: Schema, text: str) -> bytes:
        return (with_envelope(schema, text) if self.schemas else text).encode()

    def columns(self, table: Table, kind: Kind) -> None:
        return None

    def text(self, column: Column, array: pa.Array) -> pa.Array:
        return self._encoder().text(column, array)


def sends(options: Any, connector: Connector) -> frozenset[Kind]:
    """The kinds that the options let through."""
    kinds = {READ, *(kind for kind, letter in zip((INSERT, UPDATE, DELETE), "cud", strict=True)
                     if letter not in options.skipped_operations)}  # fmt: skip
    if (options.schema_changes and connector.has_schema_changes) or "t" not in options.skipped_operations:
        kinds.add(DDL)
    if options.transactions:
        kinds |= {BEGIN, COMMIT}
    if options.heartbeat_ms:
        kinds.add(HEARTBEAT)
    return frozenset(kinds)


def omits(event: Event) -> bool:
    """DDL that belongs to no table, but for some of it."""
    return (
        isinstance(event, SchemaChange)
        and event.kind in WITHOUT_TABLE
        and (event.kind is not SchemaChangeKind.ALTER_DATABASE and not is_sent(event))
    )


def layout(settings: Settings[JsonOptions]) -> Layout:
    options = settings.options
    numeric = options.decimal_format == "NUMERIC"
    offered = CONNECTORS[settings.source.id]
    chosen = next((each for each in offered if each.java_class == options.connector_class), offered[0])
    connector = chosen(options, settings.source, numeric=numeric)
    names = Names(options, connector.parts)
    envelopes = Envelopes(options, connector, names)
    keys = JsonKeys(envelopes, schemas=options.key_schemas)
    steps = (typed_documents, nulls_for_gaps, schema_history, counted_by_table)
    statements = connector.statements
    if not options.schema_changes:
        statements &= {SchemaChangeKind.TRUNCATE_TABLE}
    if "t" in options.skipped_operations:
        statements -= {SchemaChangeKind.TRUNCATE_TABLE}
    writer = JsonWriter(envelopes, keys, schemas=options.value_schemas)
    if options.transforms == "unwrap":
        from simulator.formats.debezium.unwrap import UnwrappedWriter

        writer = UnwrappedWriter(envelopes, keys, unwrapping(options), schemas=options.value_schemas)
    return Layout(
        writer,
        Routing(names.topics, {"key": ByClient()}, split="row key"),
        steps=steps,
        sends=sends(options, connector),
        statements=statements,
        omits=omits,
        row_images=connector.row_images,
        heartbeat_ms=options.heartbeat_ms or 1000,
    )


FORMAT = Format(
    id="debezium-json",
    title="Debezium JSON",
    product="Debezium",
    spec="Debezium 3.6, documentation of the connectors and their code",
    sources=tuple(CONNECTORS),
    brokers=("kafka",),
    sends=frozenset(Kind) - {STATEMENT},
    silent=frozenset(),
    settings=JsonOptions,
    layout=layout,
)
