"""The records of changes, transaction marks, statements and heartbeats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa

from simulator.batch import ChangeBatch, PackedBatch
from simulator.formats.dts.options import RecordOptions
from simulator.formats.dts.record import documents, drds
from simulator.formats.dts.record.images import HIDDEN_KEY, Images
from simulator.formats.dts.record.positions import Positions, positions, shown
from simulator.formats.dts.record.record import NO_IMAGE, NOTHING, Texts, fields_of, object_name, records, statement
from simulator.formats.dts.record.tags import Tags, keys, version_of
from simulator.formats.dts.record.values import Values
from simulator.formats.dts.systems import system_of
from simulator.formats.known import Known, microseconds, without_srid
from simulator.formats.members import table_of
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
    ColumnType,
    Event,
    Heartbeat,
    Kind,
    SchemaChange,
    SchemaChangeKind,
    Table,
)
from simulator.sources.log import entries, entry
from simulator.sources.source import Source
from simulator.wire import avro
from simulator.wire.avro import Bytes
from simulator.wire.fields import Cell, plain_text

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

# Statements whose objectName is the database alone.
OF_DATABASE: Final = frozenset(
    {SchemaChangeKind.CREATE_DATABASE, SchemaChangeKind.DROP_DATABASE, SchemaChangeKind.CREATE_TABLE}
)
NOOP_BYTES: Final = 48


@dataclass(frozen=True)
class Shape:
    """Parts that all records of a table version share."""

    object_name: str
    fields: bytes
    tags: Mapping[str, str]
    values: tuple[Values, ...] = ()


class Writer:
    """Makes records: of a batch column by column, of a statement or heartbeat one by one. Holds no state but caches.

    * `text_cell`: a column's values as text, of which partitions are made.
    * `format`: the format's name in error messages.
    * `field_tail`: what a wider Field record has after name and number.
    * `operations`: the operation of each kind of event.
    """

    def __init__(
        self,
        options: RecordOptions,
        source: Source,
        text_cell: Callable[[Column], Cell],
        *,
        format: str,
        field_tail: Callable[[Table, Column], bytes] | None = None,
        operations: Mapping[Kind, str] = OPERATIONS,
    ) -> None:
        self.options, self.source, self.text_cell = options, source, text_cell
        self.format, self.field_tail, self.operations = format, field_tail, operations
        self.log, self.system = source.log, system_of(source)
        self.source_type: str = options.source_type or self.system.source_types[0]
        self.version = options.source_version or self.system.versions[source.version]
        self.tags = Tags(options, source)
        self.images = Images(minimal=options.row_image == "minimal")
        self.prefix = b"\x00" + options.schema_id.to_bytes(4) if options.framing == "confluent" else b""
        self._shapes: dict[Table, Shape] = {}

    # ------------------------------------------------------------------------------------------------------- a table

    def shape(self, table: Table) -> Shape:
        """Names, numbers, tags and values of a table version, made once. Raises UnsupportedType."""
        if table not in self._shapes:
            name = object_name(*self.system.names(table.id))
            if self.system.documents:
                shape = Shape(name, documents.fields(table, self.field_tail), documents.tags(name))
            else:
                self.system.check(table, self.format)
                fields = self._fields(table)
                tags = {"pk_uk_info": keys(table), "metaVersion": version_of(name, fields, table)}
                shape = Shape(name, fields, tags, tuple(self._values(column.type) for column in table.columns))
            self._shapes[table] = shape
        return self._shapes[table]

    def _fields(self, table: Table) -> bytes:
        tail = self.field_tail
        return fields_of(
            (*table.columns, HIDDEN_KEY) if self._hidden_key(table) else table.columns,
            lambda column: self.system.number_of(column.type),
            None if tail is None else lambda column: tail(table, column),
        )

    @property
    def _fraction(self) -> int:
        # readers take fractions of MySQL and PostgreSQL for microseconds, by SourceType
        return (
            1000 if self.options.oracle_frac == "ns" and (self.options.source_type or self.system.fraction > 1) else 1
        )

    def known(self, column: Column) -> Known | None:
        """The known part of a column: geometries lack their SRID; fractions are cut to microseconds, unless they are
        nanoseconds."""
        if self.system.documents:
            return None
        record = self.system.types()[column.type.name].record
        if record == "BinaryGeometry":
            return without_srid
        return microseconds if record in ("DateTime", "TimestampWithTimeZone") and self._fraction == 1 else None

    def _values(self, type: ColumnType) -> Values:
        fraction = self._fraction
        if type.charset:
            type = replace(type, charset=self.system.charset(type.charset, self.version))
        return self.system.values(self.system.types()[type.name], type, fraction)

    def _hidden_key(self, table: Table) -> bool:
        """Whether RDS for MySQL adds a key to the table."""
        return self.options.rds_hidden_pk and not table.primary_key and self.system.hidden_key

    # ------------------------------------------------------------------------------------------------------- columnar

    def pieces(self, packed: PackedBatch) -> list[Bytes]:
        """The pieces of one record per message."""
        batch = packed.changes
        kind, envelope = batch.kind, batch.envelope
        log_entries = entries(envelope)
        where = Positions() if kind is READ else positions(self.log, log_entries)
        name: Texts | None = None
        fields, images = NOTHING, (NO_IMAGE, NO_IMAGE)
        if kind in MARKS:
            tags = self.tags.of_changes(kind, {}, log_entries, envelope.write_ms)
        else:
            shape = self.shape(batch.table)
            name, fields, images = shape.object_name, shape.fields, self._images(shape, batch)
            tags = self.tags.of_changes(kind, shape.tags, log_entries, envelope.write_ms)
            if self.options.drds:
                name, tags = drds.names(batch), {**tags, **drds.tags(batch.table)}
        values = records(
            operation=self.operations[kind],
            id=envelope.offset,
            source_timestamp=envelope.logged_ms // 1000,
            source_position=where.source,
            safe_source_position=where.safe,
            source_txid=where.txid,
            source_type=self.source_type,
            source_version=self.version,
            object_name=name,
            tags=tags,
            fields=fields,
            before=images[0],
            after=images[1],
            born_timestamp=self._born(envelope.write_ms),
        )
        return [self.prefix, *values]

    def _images(self, shape: Shape, batch: ChangeBatch) -> tuple[Sequence[Bytes], Sequence[Bytes]]:
        if self.system.documents:
            return documents.images(batch, whole=self.options.mongodb_before == "document")
        return self.images.of(batch, shape.values, hidden_key=self._hidden_key(batch.table))

    def text(self, column: Column, array: pa.Array) -> pa.Array:
        """The text that partitions are made of."""
        return plain_text(self.text_cell(column), array)

    # ---------------------------------------------------------------------------------------------------------- events

    def encode_event(self, event: Event, kind: Kind) -> bytes:
        """The record of a DDL statement or a heartbeat."""
        where = positions(self.log, entry(event))
        if isinstance(event, SchemaChange):
            operation = "COMMAND" if self.system.documents else self.operations[kind]
            tags, name, after = self.tags.of_statement(event), self._ddl_object(event), statement(event.sql)
            return self.prefix + self._event(event, operation, event.event_ms, event.write_ms, where, tags, name, after)
        assert isinstance(event, Heartbeat)
        last_ms = event.event_ms if event.last_ms is None else event.last_ms
        if self.options.noop:
            # a record of 48 bytes, more where the position is long
            bare = self._event(event, "NOOP", last_ms, event.event_ms, Positions())
            where = Positions(shown(where.source).rjust(NOOP_BYTES - len(bare), "0"))
            return self.prefix + self._event(event, "NOOP", last_ms, event.event_ms, where)
        tags = {"readerThroughoutTime": str(event.write_ms)}
        return self.prefix + self._event(event, self.operations[kind], last_ms, event.event_ms, where, tags)

    def _event(
        self,
        event: Event,
        operation: str,
        source_ms: int,
        born_ms: int,
        where: Positions,
        tags: Mapping[str, Texts] | None = None,
        name: str | None = None,
        after: Sequence[Bytes] = NO_IMAGE,
    ) -> bytes:
        pieces = records(
            operation=operation,
            id=event.offset,
            source_timestamp=source_ms // 1000,
            source_position=where.source,
            safe_source_position=where.safe,
            source_txid=where.txid,
            source_type=self.source_type,
            source_version=self.version,
            object_name=name,
            tags=tags or {},
            after=after,
            born_timestamp=self._born(born_ms),
        )
        value: bytes = avro.join(pieces, 1)[0].as_py()
        return value

    def _born(self, write_ms: Any) -> Any:
        if self.options.schema_variant == "A":
            return None
        return write_ms if self.options.born_unit == "ms" else write_ms // 1000

    def _ddl_object(self, event: SchemaChange) -> str:
        """The database, or the table as it was before."""
        table = table_of(event)
        if table is None:
            return object_name(event.database)
        names = self.system.names(table.id)
        if event.kind in OF_DATABASE or self.options.ddl_object == "db" or self.system.documents:
            return object_name(names[0])
        return object_name(*names)
