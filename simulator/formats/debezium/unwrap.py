"""`transforms=unwrap`: rows without their envelope, as Debezium's SMT ExtractNewRecordState makes them.

The value is the row after a change, with the members of the envelope that `add.fields` names behind its columns; what
becomes of deletes is said by `delete.tombstone.handling.mode`:

| mode | delete | tombstone |
| --- | --- | --- |
| drop | none | none |
| tombstone | a null with the row's schema | none |
| delete-to-tombstone | a tombstone | none |
| rewrite | the row before, with `__deleted` of all rows | none |
| rewrite-with-tombstone | the same | sent |

The JSON converter writes a null with a schema as `null`, or as an envelope with it, the Avro converter as a tombstone.
Messages that are no envelopes stay as they are; that a table was emptied is not said.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa

from simulator.batch import HEADERS, PackedBatch
from simulator.delivery.routing import Destination
from simulator.formats.debezium.envelope import Envelopes
from simulator.formats.debezium.keys import JsonKeys
from simulator.formats.debezium.options import Unwrap
from simulator.formats.debezium.schema import STRING, Schema, optional, struct, with_envelope
from simulator.formats.debezium.writer import JsonWriter
from simulator.formats.writing import Written, WrittenEvent
from simulator.model import DELETE, INSERT, MARKS, READ, UPDATE, Event, Kind, SchemaChange, SchemaChangeKind
from simulator.text.json_style import JACKSON_BYTES
from simulator.text.template import Piece, join
from simulator.wire.encoder import Encoder
from simulator.wire.fields import Field, Members

ENVELOPE: Final = ("op", "ts_ms", "ts_us", "ts_ns")
TRANSACTION: Final = ("id", "total_order", "data_collection_order")
DELETED: Final = "deleted"
KINDS: Final = (READ, INSERT, UPDATE, DELETE)


@dataclass(frozen=True, slots=True)
class Reference:
    """A member of the envelope, of its source or its transaction; `struct` is "" for the envelope itself."""

    struct: str
    field: str
    name: str


def reference(text: str, prefix: str) -> Reference:
    """A name in `add.fields`: `op`, `table`, `source.ts_ms`, `table:tbl`.

    >>> reference("table", "__").name, reference("source.ts_ms", "__").name, reference("op:kind", "__").name
    ('__table', '__source_ts_ms', '__kind')
    """
    path, _, name = text.partition(":")
    outer, dot, field = path.rpartition(".")
    if not dot:
        outer = "" if path in ENVELOPE else "transaction" if path in TRANSACTION else "source"
        return Reference(outer, path, prefix + (name or path))
    return Reference(outer, field, prefix + (name or f"{outer}_{field}"))


class UnwrappedWriter(JsonWriter):
    """Rows as values."""

    def __init__(self, envelopes: Envelopes, keys: JsonKeys, options: Unwrap, *, schemas: bool) -> None:
        super().__init__(envelopes, keys, schemas=schemas)
        self.options = options
        self.rewrites = options.deletes.startswith("rewrite")
        payload = {field.name: field for field in envelopes.payload()}
        self._added = [reference(text, options.fields_prefix) for text in options.fields]
        members = [Field(added.name, _value(added, payload)) for added in self._added]
        if self.rewrites:
            deleted = {**dict.fromkeys((READ, INSERT, UPDATE), "false"), DELETE: "true"}
            members.insert(0, Field(f"__{DELETED}", deleted))
        self.members = tuple(members)
        cells = envelopes.connector.cells(snapshot=False)
        self._members = Encoder(members, cells, JACKSON_BYTES) if members else None
        self._asked_headers = [reference(text, options.headers_prefix) for text in options.headers]
        self._headers = [
            (header.name, Encoder([Field("v", _value(header, payload))], cells, JACKSON_BYTES))
            for header in self._asked_headers
        ]
        self.rows_of = {kind: envelopes.rows("before" if kind is DELETE else "after") for kind in KINDS}

    def value_schema(self, table: Any) -> Schema:
        """The row's schema, which is required as soon as the transform adds members, be it none."""
        row = self.envelopes.row_schema(table)
        deleted = [(f"__{DELETED}", optional(STRING))] if self.rewrites else []
        return struct((*row.fields, *deleted, *self.added_schemas(table)), row.name)

    def added_schemas(self, table: Any) -> list[tuple[str, Schema]]:
        """The members that `add.fields` names and their schemas: optional, without a default."""
        envelope = dict(self.envelopes.schema(table).fields)
        schemas = []
        for added in self._added:
            members = dict(envelope[added.struct].fields) if added.struct else envelope
            schemas.append((added.name, replace(members[added.field], default="", optional=True)))
        return schemas

    def messages(self, packed: PackedBatch) -> Iterator[Written]:
        kind, mode = packed.changes.kind, self.options.deletes
        if kind in MARKS:
            yield from super().messages(packed)
            return
        columns = self.keys.columns(packed)
        if kind is not DELETE or self.rewrites:
            yield Written(self.value_pieces(packed), self._with_headers(packed, columns))
        elif mode in ("tombstone", "delete-to-tombstone"):
            null = self.null_pieces(packed) if mode == "tombstone" else None
            yield Written(null, self._with_headers(packed, columns))
        if kind is DELETE and mode == "rewrite-with-tombstone" and self.envelopes.options.tombstones:
            yield Written(None, self._with_operation(packed, self._with_headers(packed, columns)))

    def null_pieces(self, packed: PackedBatch) -> list[Piece] | None:
        """A null that has the schema of rows."""
        if not self.schemas:
            return ["null"]
        return [with_envelope(self.envelopes.row_schema(packed.changes.table), "null")]

    def value_pieces(self, packed: PackedBatch) -> list[Piece]:
        pieces = self.row_pieces(packed, self.rows_of[packed.changes.kind])
        if self._members is not None:
            first, *rest = self._members.pieces(packed)
            assert isinstance(first, str)
            comma = "," if len(pieces) > 2 or pieces[0] != "{" else ""
            pieces = [*pieces[:-1], comma + first.removeprefix("{"), *rest]
        if not self.schemas:
            return pieces
        return [f'{{"schema":{self.value_schema(packed.changes.table).json()},"payload":', *pieces, "}"]

    def _with_headers(self, packed: PackedBatch, columns: Mapping[str, pa.Array]) -> Mapping[str, pa.Array]:
        if not self._headers:
            return columns
        own: list[list[tuple[str, bytes | None]]] = []
        for name, encoder in self._headers:
            texts = join(encoder.pieces(packed), len(packed)).to_pylist()
            own.append([(name, _header(text[5:-1])) for text in texts])
        return _with(columns, own, len(packed))

    def _with_operation(self, packed: PackedBatch, columns: Mapping[str, pa.Array]) -> Mapping[str, pa.Array]:
        """A tombstone has the headers of its delete, and the operation again."""
        names = [header.name for header in self._asked_headers if header.field == "op"]
        return _with(columns, [[(name, b"d")] * len(packed) for name in names], len(packed)) if names else columns

    def event(self, event: Event, to: Destination) -> Iterator[WrittenEvent]:
        """Messages about events, but not that a table was emptied."""
        empties = isinstance(event, SchemaChange) and event.statement is SchemaChangeKind.TRUNCATE_TABLE
        for written in super().event(event, to):
            if not empties or written.address.topic == self.envelopes.names.transactions:
                yield written


def _with(
    columns: Mapping[str, pa.Array], headers: Sequence[Sequence[tuple[str, bytes | None]]], count: int
) -> Mapping[str, pa.Array]:
    """The columns of `count` messages with more headers, each given as a name and value per message."""
    present = columns["headers"].to_pylist() if "headers" in columns else [[]] * count
    rows = [[*present[i], *({"name": header[i][0], "value": header[i][1]} for header in headers)] for i in range(count)]
    return {**columns, "headers": pa.array(rows, HEADERS)}


def _header(json_text: str) -> bytes | None:
    """A value as the simple converter writes it: strings without quotes, and no bytes for null."""
    if json_text == "null":
        return None
    return json.loads(json_text).encode() if json_text.startswith('"') else json_text.encode()


def _value(reference: Reference, payload: Mapping[str, Field]) -> Mapping[Kind, Any]:
    """The value of a member by kind; null if there is no such member. The transform takes the default away that
    `source.snapshot` has of the stream."""

    def of(kind: Kind) -> Any:
        field = payload.get(reference.struct or reference.field)
        value = None if field is None else field.on(kind)
        if reference.struct:
            inner = value.fields if isinstance(value, Members) else ()
            return next((field.on(kind) for field in inner if field.name == reference.field), None)
        return value

    defaulted = reference.struct == "source" and reference.field == "snapshot"
    return {kind: None if defaulted and kind is not READ else of(kind) for kind in KINDS}
