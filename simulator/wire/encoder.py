"""The encoder that compiles declared fields into joined columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from simulator.batch import PackedBatch
from simulator.model import ABSENT, Column, Event, Kind
from simulator.text.json_style import Style, quote
from simulator.text.template import Choice, Piece, join
from simulator.wire.columns import WrittenColumns
from simulator.wire.fields import (
    Cell,
    Cells,
    Codes,
    Field,
    InRows,
    Members,
    Order,
    PerChange,
    PerEvent,
    PerTable,
    Rows,
    Value,
    json_text,
    number_pieces,
    plain_text,
    table_order,
)
from simulator.wire.images import Images


class _Object:
    """The members of an object, compiled for each kind of change when it first occurs."""

    def __init__(self, fields: Sequence[Field], style: Style) -> None:
        self._fields, self._style = fields, style
        self._by_kind: dict[Kind, list[tuple[str, Any]]] = {}

    def members(self, kind: Kind) -> list[tuple[str, Any]]:
        """The members in messages of a kind: the text before each value, and the value."""
        if kind not in self._by_kind:
            present = [(field.name, value) for field in self._fields if (value := field.on(kind)) is not ABSENT]
            if present and isinstance(present[0][1], InRows):
                raise ValueError(f"the member {present[0][0]!r} begins an object, so it cannot be in some rows alone")
            self._by_kind[kind] = [
                (f"{',' if i else '{'}{quote(name, self._style)}:", self._compiled(value))
                for i, (name, value) in enumerate(present)
            ]
        return self._by_kind[kind]

    def _compiled(self, value: Value) -> Any:
        if isinstance(value, InRows):
            return replace(value, value=self._compiled(value.value))
        return _Object(value.fields, self._style) if isinstance(value, Members) else value


class Encoder:
    """Encodes events from fields that are compiled per table when it first occurs. Stateless but for caches: events may
    come in any order, and repeatedly."""

    def __init__(
        self,
        fields: Sequence[Field],
        cells: Cells,
        style: Style,
        order: Order = table_order,
        member: Callable[[str], str] = str,
    ) -> None:
        self.fields, self.style = tuple(fields), style
        self._columns = WrittenColumns(cells, style, order, member)
        self._cells, self._plain = cells, dict[Column, Cell]()
        self._root = _Object(self.fields, style)

    def text(self, column: Column, array: pa.Array) -> pa.Array:
        """A column's plain text, as products hash it: not escaped, nulls kept."""
        if column not in self._plain:
            self._plain[column] = self._cells(column)
        return plain_text(self._plain[column], array)

    # ----------------------------------------------------------------------------------------------------- columnar

    def encode(self, packed: PackedBatch) -> pa.Array:
        """One JSON text per message."""
        return join(self.pieces(packed), len(packed))

    def pieces(self, packed: PackedBatch) -> list[Piece]:
        """The pieces of one JSON text per message."""
        return self._object(self._root, packed, Images(self._columns, packed))

    def row_pieces(self, packed: PackedBatch, rows: Rows) -> list[Piece]:
        """The pieces of row images alone."""
        return Images(self._columns, packed).rows(rows)

    def _object(self, compiled: _Object, packed: PackedBatch, images: Images) -> list[Piece]:
        pieces: list[Piece] = []
        for lead, value in compiled.members(packed.changes.kind):
            if isinstance(value, InRows):
                rows = value.rows(packed.changes)[packed.starts[:-1]]
                if rows.all():
                    pieces += self._member(lead, value.value, packed, images)
                elif rows.any():
                    slots = np.where(rows, np.arange(len(packed)), -1).astype(np.int32)
                    pieces.append(Choice(self._member(lead, value.value, packed, images), slots, "", len(packed)))
            else:
                pieces += self._member(lead, value, packed, images)
        return [*pieces, "}"] if pieces else ["{}"]

    def _member(self, lead: str, value: Any, packed: PackedBatch, images: Images) -> list[Piece]:
        if isinstance(value, PerChange):
            return self._per_change(lead, value, packed)
        if isinstance(value, Rows) and value.drop_empty and not value.array:
            return images.unless_empty(lead, value)
        return [lead, *self._value(value, packed, images)]

    def _value(self, value: Any, packed: PackedBatch, images: Images) -> list[Piece]:
        match value:
            case PerTable():
                return [images.table.text(value)]
            case _Object():
                return self._object(value, packed, images)
            case Rows():
                return images.rows(value)
            case Codes():
                return images.codes(value.cells)
            case PerEvent() | InRows():
                raise TypeError(f"{value} cannot stand here in a message about rows")
            case _:
                return [json_text(value, self.style)]

    def _per_change(self, lead: str, field: PerChange, packed: PackedBatch) -> list[Piece]:
        values = field.of(packed.changes)
        if isinstance(values, list):
            if packed.single:
                return [lead, *values]
            values = join(values, len(packed.changes))
        if not packed.single:
            first_rows = packed.starts[:-1]
            values = values.take(pa.array(first_rows)) if isinstance(values, pa.Array) else values[first_rows]
        return [lead, values] if isinstance(values, pa.Array) else number_pieces(lead, values, field.zeros)

    # ------------------------------------------------------------------------------------------------- single events

    def encode_event(self, event: Event, kind: Kind) -> bytes:
        """The JSON text of a DDL statement or heartbeat."""
        return self._event_object(self.fields, event, kind).encode()

    def _event_object(self, fields: Sequence[Field], event: Event, kind: Kind) -> str:
        members = []
        for field in fields:
            value = field.on(kind)
            if isinstance(value, PerEvent):
                value = value.of(event)
            elif isinstance(value, PerChange):
                assert value.event is not None
                value = value.event(event)
            if value is not ABSENT:
                if isinstance(value, Members):
                    text = self._event_object(value.fields, event, kind)
                else:
                    text = json_text(value, self.style)
                members.append(f"{quote(field.name, self.style)}:{text}")
        return "{" + ",".join(members) + "}"
