"""Row images as OceanBase logs them, and columns that count as changed; both need the whole change.

* A column counts as changed where its text differs: two doubles may look alike with 16 digits.
* With `ob_lob_nulls` large texts are null in before images and, in updates, where they did not change: OceanBase's log
  has them only where they are new.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch, Ints, PackedBatch, changed_rows, decoded, differing
from simulator.formats.oms.types.columns import Columns
from simulator.model import UPDATE
from simulator.wire.fields import plain_text


def visible(packed: PackedBatch, columns: Columns) -> PackedBatch:
    """Updates in which a column counts as changed only if its text differs."""
    if packed.changed is None:
        return packed
    return replace(packed, changed=tuple(_visible(packed, columns, i) for i in range(len(packed.changed))))


def _visible(packed: PackedBatch, columns: Columns, position: int) -> Ints | None:
    assert packed.changed is not None
    batch, rows = packed.changes, packed.changed[position]
    column = batch.table.columns[position]
    if rows is None or not columns.type_of(column).values.lossy:
        return rows
    assert batch.after is not None
    cell, images = columns.cell(column), (batch.after[position], batch.full_before(position))
    new, old = (plain_text(cell, image.take(pa.array(rows))) for image in images)
    rows = rows[differing(new, old)]
    return rows if len(rows) else None


def without_lobs(batch: ChangeBatch, columns: Columns) -> ChangeBatch:
    """Deleted rows and before images without large texts, after images with those that are new."""
    before, after = list(batch.before or ()), list(batch.after or ())
    for position, column in enumerate(batch.table.columns):
        if not columns.type_of(column).lob:
            continue
        values = decoded(batch.full_before(position))
        nothing = pa.nulls(len(batch), values.type)
        if batch.kind is UPDATE:
            changed = np.zeros(len(batch), dtype=bool)
            rows = changed_rows(batch, position)
            if rows is not None:
                changed[rows] = True
            after[position] = pc.if_else(pa.array(changed), decoded(after[position]), nothing)
        before[position] = nothing
    return replace(batch, before=tuple(before), after=tuple(after) if batch.after is not None else None)
