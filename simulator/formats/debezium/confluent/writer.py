"""Writers of messages in Confluent's wire format: keys, values, single events; rows in their envelope or alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa

from simulator.batch import ChangeBatch, PackedBatch
from simulator.formats.debezium import transactions
from simulator.formats.debezium.confluent import values
from simulator.formats.debezium.confluent.encoder import AvroEncoder, Typed
from simulator.formats.debezium.confluent.schema import AvroSchemas
from simulator.formats.debezium.envelope import Envelopes
from simulator.formats.debezium.images import NO_GAPS, Gaps, gaps, placeholder
from simulator.formats.debezium.keys import JsonKeys
from simulator.formats.debezium.options import Unwrap
from simulator.formats.debezium.schema import Schema
from simulator.formats.debezium.unwrap import UnwrappedWriter
from simulator.formats.debezium.writer import JsonWriter
from simulator.model import DELETE, READ, Column, Table
from simulator.subjects.ids import SchemaIds
from simulator.text.template import Piece
from simulator.wire import avro
from simulator.wire.fields import Rows


class Frames:
    """Schemas of messages, and the bytes before each datum; made once for each table version."""

    def __init__(self, schemas: AvroSchemas, ids: SchemaIds) -> None:
        self.schemas, self.ids = schemas, ids
        self._made: dict[tuple[str, Table], tuple[Schema, str]] = {}

    def of(self, part: str, table: Table, make: Callable[[], Schema]) -> tuple[Schema, bytes]:
        """The schema of a table's keys or values, and the prefix of their datums."""
        if (part, table) not in self._made:
            schema = make()
            self._made[part, table] = (schema, self.schemas.text(schema))
        schema, text = self._made[part, table]
        return schema, self.ids.prefix(text)

    def prefix(self, schema: Schema) -> bytes:
        return self.ids.prefix(self.schemas.text(schema))

    def datum(self, schema: Schema, text: str) -> bytes:
        """A whole message from its JSON."""
        return self.prefix(schema) + values.datum(schema, json.loads(text))


class AvroKeys(JsonKeys):
    """Keys in Avro. Headers have another converter, and stay as they are."""

    def __init__(self, envelopes: Envelopes, frames: Frames) -> None:
        super().__init__(envelopes, schemas=False)
        self.frames = frames
        typed = {snapshot: _typed(envelopes, snapshot=snapshot) for snapshot in (False, True)}
        self._encoders = {snapshot: AvroEncoder(envelopes.key_fields(), of) for snapshot, of in typed.items()}

    def pieces(self, packed: PackedBatch) -> list[Piece]:
        batch = packed.changes
        schema, prefix = self.frames.of("key", batch.table, lambda: self.envelopes.key_schema(batch.table))
        encoder = self._encoders[batch.kind is READ]
        if encoder.fields:
            return [prefix, *encoder.pieces(packed, schema)]
        rows = Rows(
            "before" if batch.kind is DELETE else "after",
            array=False,
            columns=self.envelopes.connector.key_columns,
        )
        return [prefix, *encoder.row_pieces(packed, rows)]

    def mark_pieces(self, id: pa.Array) -> list[Piece]:
        return [self.frames.prefix(transactions.KEY), avro.Strings(id)]

    def event_key(self, schema: Schema, payload: str) -> bytes:
        return self.frames.datum(schema, payload)


class AvroValues:
    """Values of marks and of single events, the same in both writers."""

    parts: Parts

    def mark_pieces(self, packed: PackedBatch) -> list[Piece]:
        return self.parts.marks(packed)

    def event_value(self, schema: Schema, text: str) -> bytes:
        return self.parts.frames.datum(schema, text)


class AvroWriter(AvroValues, JsonWriter):
    """Envelopes in Avro."""

    def __init__(self, envelopes: Envelopes, keys: JsonKeys, frames: Frames) -> None:
        super().__init__(envelopes, keys, schemas=False)
        self.parts = Parts(envelopes, frames)

    def value_schema(self, table: Table) -> Schema:
        return self.envelopes.schema(table)

    def value_pieces(self, packed: PackedBatch) -> list[Piece]:
        batch = packed.changes
        schema, prefix = self.parts.frames.of("value", batch.table, lambda: self.value_schema(batch.table))
        return [prefix, *self.parts.encoder(batch).pieces(packed, schema)]


class AvroUnwrappedWriter(AvroValues, UnwrappedWriter):
    """Rows alone in Avro."""

    def __init__(self, envelopes: Envelopes, keys: JsonKeys, options: Unwrap, frames: Frames) -> None:
        super().__init__(envelopes, keys, options, schemas=False)
        self.parts = Parts(envelopes, frames)
        self._added_members = AvroEncoder(self.members, _typed(envelopes, snapshot=False))

    def null_pieces(self, packed: PackedBatch) -> None:
        return None

    def value_pieces(self, packed: PackedBatch) -> list[Piece]:
        batch = packed.changes
        schema, prefix = self.parts.frames.of("value", batch.table, lambda: self.value_schema(batch.table))
        row = self.parts.encoder(batch).row_pieces(packed, self.rows_of[batch.kind])
        pieces = [prefix, values.branch(schema), *row]
        if self.members:
            added = replace(schema, fields=schema.fields[-len(self.members) :])
            pieces += self._added_members.pieces(packed, added)
        return pieces


class Parts:
    """Shared parts of both writers: encoders by the gaps of a batch's images, and marks of transactions."""

    def __init__(self, envelopes: Envelopes, frames: Frames) -> None:
        self.envelopes, self.frames = envelopes, frames
        self._encoders: dict[tuple[bool, bool, Gaps, frozenset[Column]], AvroEncoder] = {}
        self._marks = AvroEncoder(transactions.fields(envelopes.connector), _typed(envelopes, snapshot=False))

    def marks(self, packed: PackedBatch) -> list[Piece]:
        return [self.frames.prefix(transactions.VALUE), *self._marks.pieces(packed, transactions.VALUE)]

    def encoder(self, batch: ChangeBatch) -> AvroEncoder:
        """The encoder of a batch's rows; snapshot rows and rows with gaps have other cells, and rows outside of
        transactions other members."""
        snapshot, missing = batch.kind is READ, gaps(batch)
        apart = frozenset(batch.table.columns[i] for i in missing[1])
        alone = self.envelopes.connector.is_alone(batch)
        key = (snapshot, alone, missing, apart)
        if key not in self._encoders:
            typed = _typed(self.envelopes, snapshot=snapshot)

            def with_placeholder(column: Column) -> Typed:
                schema, cell = typed(column)
                if column not in apart:
                    return schema, cell
                return schema, replace(cell, null=placeholder(schema, self.envelopes.connector.placeholder))

            fields = self.envelopes.payload(no_before=missing[0], alone=alone)
            self._encoders[key] = AvroEncoder(fields, with_placeholder if missing != NO_GAPS else typed)
        return self._encoders[key]


def _typed(envelopes: Envelopes, *, snapshot: bool) -> Callable[[Column], Typed]:
    """Each column's schema, and its writer in a snapshot or after it."""
    connector: Any = envelopes.connector

    def of(column: Column) -> Typed:
        schema = connector.convert(column, snapshot=False).schema
        return schema, connector.convert(column, snapshot=snapshot).cell

    return of
