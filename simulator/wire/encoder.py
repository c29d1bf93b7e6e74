"""The encoder that compiles declared fields into joined columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from simulator.batch import PackedBatch
from simulator.model import ABSENT, Column, Event, Kind, Table
from simulator.text.json_style import Style, quote
from simulator.text.template import Piece, join
from simulator.wire.fields import (
    Cell,
    Cells,
    Codes,
    Field,
    Members,
    Order,
    PerChange,
    PerEvent,
    PerTable,
    Rows,
    Value,
    json_text,
    number_pieces,
    plain,
    table_order,
)
from simulator.wire.images import Images

# Dictionaries that an encoder keeps in finished form.
KEPT_DICTIONARIES = 512


class Encoder:
    """Fields compiled for the tables that come along. Holds no state but caches; encodes any event first or twice."""

    def __init__(
        self,
        fields: Sequence[Field],
        cells: Cells,
        style: Style,
        order: Order = table_order,
        member: Callable[[str], str] = str,
    ) -> None:
        self.fields, self.style, self.order, self.member = tuple(fields), style, order, member
        self._cells = cells
        self._cell_cache: dict[tuple[Column, Cells], Cell] = {}
        self._tables: dict[tuple[Table, PerTable], str] = {}
        self._surrounded: dict[tuple[str, int, int, int], tuple[pa.Array, pa.Array]] = {}

    def cell(self, column: Column, cells: Cells | None = None) -> Cell:
        """The cell of a column, chosen once."""
        key = (column, cells or self._cells)
        if key not in self._cell_cache:
            self._cell_cache[key] = key[1](column)
        return self._cell_cache[key]

    def text(self, column: Column, array: pa.Array) -> pa.Array:
        """A column's plain text, as products hash it: not escaped, nulls kept."""
        return plain(self.cell(column).text(array))

    def surrounded(self, before: str, values: pa.Array, after: str) -> pa.Array:
        """Values of a dictionary with text before and after each. Pools come again with every batch and are kept."""
        data = values.buffers()[2]
        key = (before, data.address if data is not None else 0, values.offset, len(values))
        if key not in self._surrounded:
            if len(self._surrounded) >= KEPT_DICTIONARIES:
                self._surrounded.clear()
            # the values are kept, too, so that their address stays their own
            self._surrounded[key] = (values, join([before, values, after], len(values)))
        return self._surrounded[key][1]

    # ----------------------------------------------------------------------------------------------------- columnar

    def encode(self, packed: PackedBatch) -> pa.Array:
        """One JSON text per message."""
        return join(self._object(self.fields, packed, Images(self, packed)), len(packed))

    def _object(self, fields: Sequence[Field], packed: PackedBatch, images: Images) -> list[Piece]:
        pieces: list[Piece] = []
        for field in fields:
            value = field.on(packed.changes.kind)
            if value is not ABSENT:
                lead = f"{',' if pieces else '{'}{quote(field.name, self.style)}:"
                if isinstance(value, PerChange):
                    pieces += self._per_change(lead, value, packed)
                else:
                    pieces += [lead, *self._value(value, packed, images)]
        return [*pieces, "}"] if pieces else ["{}"]

    def _value(self, value: Value, packed: PackedBatch, images: Images) -> list[Piece]:
        match value:
            case PerTable():
                return [self.per_table(value, packed.changes.table)]
            case Members():
                return self._object(value.fields, packed, images)
            case Rows():
                return images.rows(value)
            case Codes():
                return images.codes(value.cells)
            case PerEvent():
                raise TypeError("a PerEvent value cannot stand in a message about rows")
            case _:
                return [json_text(value, self.style)]

    def _per_change(self, lead: str, field: PerChange, packed: PackedBatch) -> list[Piece]:
        values = field.of(packed.changes)
        if not packed.single:
            at = packed.starts[:-1]
            values = values.take(pa.array(at)) if isinstance(values, pa.Array) else values[at]
        return [lead, values] if isinstance(values, pa.Array) else number_pieces(lead, values)

    def per_table(self, value: PerTable, table: Table) -> str:
        """The text of a placeholder for a table version, values once."""
        key = (table, value)
        if key not in self._tables:
            self._tables[key] = value.of(table, self.style)
        return self._tables[key]

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
