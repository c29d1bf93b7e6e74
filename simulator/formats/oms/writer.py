"""The writer of the OMS formats: the encoder of JSON fields, asked after what the product knows only of a whole change.

* rows of a full synchronization write bits in full width;
* a column counts as changed where its text differs: two doubles may look alike with 16 digits;
* with `lob_nulls` large texts are null in before images and, in updates, where they did not change: OceanBase's log
  has them only where they are new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch, PackedBatch, changed_rows, decoded
from simulator.formats.oms.columns import Columns
from simulator.formats.oms.values import differ
from simulator.model import DELETE, READ, UPDATE, Column, Event, Kind, Table
from simulator.text.json_style import JACKSON
from simulator.wire.encoder import Encoder
from simulator.wire.fields import Field, Order, Rows


class Writer:
    """Messages of rows and single events. Holds nothing but caches."""

    def __init__(self, fields: Sequence[Field], columns: Columns, order: Order, *, lob_nulls: bool) -> None:
        self.fields, self.order = fields, order
        self._columns, self._lob_nulls = columns, lob_nulls
        self._changes = Encoder(fields, columns.cell, JACKSON, order)
        self._full = Encoder(fields, lambda column: columns.cell(column, full=True), JACKSON, order)
        self._checked: dict[int, Table] = {}
        update = [field.on(UPDATE) for field in fields]
        self._shows_changed = any(isinstance(value, Rows) and value.image.startswith("changed") for value in update)

    def encode(self, packed: PackedBatch) -> pa.Array:
        batch = packed.changes
        if id(batch.table) not in self._checked:
            self._columns.check(batch.table)
            self._checked[id(batch.table)] = batch.table  # keeps the table alive, so that its id stays its own
        if self._shows_changed and packed.changed is not None:
            packed = replace(packed, changed=tuple(self._visible(packed, i) for i in range(len(batch.table.columns))))
        if self._lob_nulls and batch.kind in (UPDATE, DELETE):
            packed = replace(packed, changes=self._without_lobs(batch))
        return (self._full if batch.kind is READ else self._changes).encode(packed)

    def encode_event(self, event: Event, kind: Kind) -> bytes:
        return self._changes.encode_event(event, kind)

    def text(self, column: Column, array: pa.Array) -> pa.Array:
        return self._changes.text(column, array)

    def _visible(self, packed: PackedBatch, place: int) -> np.ndarray[tuple[int], np.dtype[np.int64]] | None:
        """The rows in which a column's text differs, of those in which its value does."""
        assert packed.changed is not None
        batch, rows = packed.changes, packed.changed[place]
        column = batch.table.columns[place]
        if rows is None or not self._columns.lossy(column):
            return rows
        assert batch.after is not None
        at = pa.array(rows)
        old, new = (self.text(column, values.take(at)) for values in (batch.full_before(place), batch.after[place]))
        visible = rows[differ(old, new)]
        return visible if len(visible) else None

    def _without_lobs(self, batch: ChangeBatch) -> ChangeBatch:
        """Deleted rows and before images without large texts, after images with those that are new."""
        before, after = list(batch.before or ()), list(batch.after or ())
        for place, column in enumerate(batch.table.columns):
            if not self._columns.lob(column):
                continue
            values = decoded(batch.full_before(place))
            nothing = pa.nulls(len(batch), values.type)
            if batch.kind is UPDATE:
                changed = np.zeros(len(batch), dtype=bool)
                rows = changed_rows(batch, place)
                if rows is not None:
                    changed[rows] = True
                after[place] = pc.if_else(pa.array(changed), decoded(after[place]), nothing)
            before[place] = nothing
        return replace(batch, before=tuple(before), after=tuple(after) if batch.after is not None else None)
