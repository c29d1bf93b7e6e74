"""Snapshots: marks of their rows, and the statements before them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa

from simulator.batch import Border, ChangeBatch
from simulator.delivery.steps import Changes
from simulator.formats.debezium.connectors.connector import SnapshotOpened, members_of
from simulator.model import SchemaChange
from simulator.text.template import Piece

# Marks; the last one that applies is written.
MARKS: Final = (
    (0, "true"),
    (Border.TABLE_FIRST, "first_in_data_collection"),
    (Border.TABLE_LAST, "last_in_data_collection"),
    (Border.FIRST, "first"),
    (Border.LAST, "last"),
)
_TEXTS: Final = pa.array([f'"{text}"' for _, text in MARKS], pa.string())


def snapshot_marks(batch: ChangeBatch) -> list[Piece]:
    """`source.snapshot` of a snapshot's rows."""
    borders = batch.envelope.borders
    if borders is None:
        return ['"true"']
    marks = np.zeros(len(batch), dtype=np.int32)
    for number, (border, _) in enumerate(MARKS):
        marks[(borders & border) == border] = number
    return [pa.DictionaryArray.from_arrays(pa.array(marks), _TEXTS)]


def schema_history(changes: Changes) -> Changes:
    """Moves a snapshot's statements before all of its rows: those of the first table represent all tables. The first
    row of the snapshot belongs to the first table, or has no mark."""
    if changes.snapshot_turn is None:
        return changes
    first = next(iter(changes.events), None)
    begun = [batch for batch in changes.batches if (borders := batch.envelope.borders) is not None
             and (borders & Border.FIRST).any()]  # fmt: skip
    if first is None and not begun:
        return changes
    tables = changes.history.snapshot_tables(changes.snapshot_turn)
    events = []
    if isinstance(first, SchemaChange) and not first.order.turn and first.after == tables[0][0]:
        events = [SnapshotOpened(**members_of(first), created=tuple(tables))]
    batches = [_without_first(batch) if batch.table.id != tables[0][0].id else batch for batch in changes.batches]
    return replace(changes, batches=batches, events=events)


def _without_first(batch: ChangeBatch) -> ChangeBatch:
    borders = batch.envelope.borders
    assert borders is not None
    return replace(batch, envelope=replace(batch.envelope, borders=borders & ~int(Border.FIRST)))
