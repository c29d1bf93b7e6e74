"""What makes DTS records of changes and events: of a batch column by column, of a statement or heartbeat one by one."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from simulator.batch import ChangeBatch, PackedBatch
from simulator.formats.dts.options import RecordOptions
from simulator.formats.dts.record import documents as dts_documents
from simulator.formats.dts.record import drds as dts_drds
from simulator.formats.dts.record import record as dts_record
from simulator.formats.dts.record import values as dts_values
from simulator.formats.dts.record.images import HIDDEN_KEY, Images
from simulator.formats.dts.record.positions import Positions, positions
from simulator.formats.dts.record.record import Texts
from simulator.formats.dts.record.tags import Tags, keys
from simulator.formats.dts.systems import check, number_of, system_of
from simulator.formats.format import Settings
from simulator.model import (
    BEGIN,
    COMMIT,
    DDL,
    DELETE,
    HEARTBEAT,
    INSERT,
    MARKS,
    READ,
    UPDATE,
    Column,
    Event,
    Heartbeat,
    Kind,
    SchemaChange,
    SchemaChangeKind,
    Table,
)
from simulator.sources.log import entries, entry
from simulator.wire import avro
from simulator.wire.avro import Bytes
from simulator.wire.fields import Cell, plain

OPERATIONS: Final[Mapping[Kind, str]] = {
    READ: "INIT",
    INSERT: "INSERT",
    UPDATE: "UPDATE",
    DELETE: "DELETE",
    DDL: "DDL",
    BEGIN: "BEGIN",
    COMMIT: "COMMIT",
    HEARTBEAT: "HEARTBEAT",
}

# Statements of which objectName is the database alone.
OF_DATABASE: Final = frozenset(
    {SchemaChangeKind.CREATE_DATABASE, SchemaChangeKind.DROP_DATABASE, SchemaChangeKind.CREATE_TABLE}
)
NOOP_BYTES: Final = 48


@dataclass(frozen=True)
class Shape:
    """What all records of a table version share."""

    object_name: str
    fields: bytes
    tags: Mapping[str, str]
    values: tuple[dts_values.Values, ...]


class Writer:
    """Records of changes and events. `field_tail` is what a wider Field record has behind name and number,
    `operations` the words for the kinds of event.

    Holds no state but caches.
    """

    def __init__(
        self,
        settings: Settings[RecordOptions],
        text_cell: Callable[[Column], Cell],
        *,
        field_tail: Callable[[Table, Column], bytes] | None = None,
        format: str = "dts-avro",
        operations: Mapping[Kind, str] = OPERATIONS,
    ) -> None:
        self.settings, self.format, self.field_tail = settings, format, field_tail
        self.operations = operations
        self.log = settings.source.log
        self.tags = Tags(settings)
        self.images = Images(minimal=settings.options.row_image == "minimal")
        self.system = system_of(settings.source)
        self.source_type: str = settings.options.source_type or self.system.source_types[0]
        self.prefix = (
            b"\x00" + settings.options.schema_id.to_bytes(4) if settings.options.framing == "confluent" else b""
        )
        self._text_cell = text_cell
        self._shapes: dict[Table, Shape] = {}

    # ------------------------------------------------------------------------------------------------------- a table

    def shape(self, table: Table) -> Shape:
        """A table version's names, numbers, tags and ways of writing, made once."""
        if self.system.documents:
            name = dts_record.table_name(table, self.system.name_parts)
            return Shape(name, dts_documents.fields(table, self.field_tail), dts_documents.tags(name), ())
        if table not in self._shapes:
            columns = (*table.columns, HIDDEN_KEY) if self._hidden_key(table) else table.columns
            source, types = self.settings.source, self.system.types
            check(self.format, source, table)
            tail = self.field_tail
            fields = dts_record.fields_of(
                columns,
                lambda column: number_of(source, column.type),
                None if tail is None else lambda column: tail(table, column),
            )
            name = dts_record.table_name(table, self.system.name_parts)
            fraction = 1 if self.settings.options.oracle_frac == "us" else self.system.fraction
            self._shapes[table] = Shape(
                name,
                fields,
                {"pk_uk_info": keys(table), "metaVersion": str(zlib.crc32(name.encode() + fields))},
                tuple(self.system.values(types[c.type.name], c.type, fraction) for c in table.columns),
            )
        return self._shapes[table]

    # ------------------------------------------------------------------------------------------------------- columnar

    def encode(self, packed: PackedBatch) -> pa.Array:
        """One record per message."""
        batch, count = packed.changes, len(packed)
        kind, envelope = batch.kind, batch.envelope
        name: Texts | None = None
        fields, images = dts_record.NOTHING, ([dts_record.NOTHING], [dts_record.NOTHING])
        tags: Mapping[str, Texts] = {}
        if kind not in MARKS:
            shape = self.shape(batch.table)
            name, fields, tags = shape.object_name, shape.fields, shape.tags
            images = self._images(shape, batch)
        where = Positions()
        if kind is not READ:
            at = entries(envelope)
            where = positions(self.log, at)
            tags = self.tags.of_changes(kind, tags, at, envelope.write_ms)
        if self.source_type == "DRDS" and kind not in MARKS:
            name, tags = dts_drds.names(batch), {**tags, **dts_drds.tags(batch.table)}
        values = dts_record.records(
            count,
            operation=self.operations[kind],
            id=envelope.offset,
            source_timestamp=envelope.event_ms // 1000,
            source_position=where.source,
            safe_source_position=where.safe,
            source_txid=where.txid,
            source_type=self.source_type,
            source_version=self.tags.version,
            object_name=name,
            tags=tags,
            fields=fields,
            before=images[0],
            after=images[1],
            born_timestamp=self._born(envelope.write_ms),
        )
        return avro.join([self.prefix, values], count)

    def _images(self, shape: Shape, batch: ChangeBatch) -> tuple[list[Bytes], list[Bytes]]:
        if self.system.documents:
            return dts_documents.images(batch, whole=self.settings.options.mongodb_before == "document")
        return self.images.of(batch, shape.values, hidden_key=self._hidden_key(batch.table))

    def _hidden_key(self, table: Table) -> bool:
        """Whether RDS for MySQL adds a key to the table."""
        return self.settings.options.rds_hidden_pk and not table.primary_key and self.system.hidden_key

    # ---------------------------------------------------------------------------------------------------------- events

    def encode_event(self, event: Event, kind: Kind) -> bytes:
        """The record of a DDL statement or a heartbeat."""
        where = positions(self.log, entry(event))
        source_ms, name, after, tags = event.event_ms, None, [dts_record.NOTHING], dict[str, Texts]()
        operation = self.operations[kind]
        if isinstance(event, SchemaChange):
            if self.system.documents:
                operation = "COMMAND"
            name, after = self._ddl_object(event), dts_record.statement(event.sql)
            tags = self.tags.of_statement(event)
        elif isinstance(event, Heartbeat):
            source_ms = event.event_ms if event.last_ms is None else event.last_ms
            if self.settings.options.noop:
                return self._noop(event, str(where.source[0]), source_ms)
            tags = {"readerThroughoutTime": str(event.write_ms)}
        return self.prefix + self._event(event, operation, where, source_ms, name, tags, after)

    def _event(
        self,
        event: Event,
        operation: str,
        where: Positions,
        source_ms: int,
        name: str | None,
        tags: Mapping[str, Texts],
        after: Sequence[Bytes] = (dts_record.NOTHING,),
    ) -> bytes:
        born = event.event_ms if operation in ("HEARTBEAT", "NOOP") else event.write_ms
        value: bytes = dts_record.records(
            1,
            operation=operation,
            id=event.offset,
            source_timestamp=source_ms // 1000,
            source_position=where.source,
            safe_source_position=where.safe,
            source_txid=where.txid,
            source_type=self.source_type,
            source_version=self.tags.version,
            object_name=name,
            tags=tags,
            after=after,
            born_timestamp=self._born(born),
        )[0].as_py()
        return value

    def _noop(self, event: Event, position: str, source_ms: int) -> bytes:
        """A record of 48 bytes; more where the position is long."""
        bare = self._event(event, "NOOP", Positions(), source_ms, None, {})
        filled = Positions(position.rjust(NOOP_BYTES - len(bare), "0"))
        return self.prefix + self._event(event, "NOOP", filled, source_ms, None, {})

    def text(self, column: Column, array: pa.Array) -> pa.Array:
        """The text that is hashed: as in the product's JSON."""
        return plain(self._text_cell(column).text(array))

    def _born(self, write_ms: Any) -> Any:
        if self.settings.options.schema_variant == "A":
            return None
        return write_ms if self.settings.options.born_unit == "ms" else write_ms // 1000

    def _ddl_object(self, event: SchemaChange) -> str:
        """The database, or the table as it was."""
        table = event.before or event.after
        if table is None:
            return dts_record.object_name(event.database)
        if event.kind in OF_DATABASE or self.settings.options.ddl_object == "db" or self.system.documents:
            return dts_record.object_name(getattr(table.id, self.system.name_parts[0]))
        return dts_record.table_name(table, self.system.name_parts)
