"""Split: updates as the delete of the old row and the insert of the new one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from simulator.batch import ChangeBatch, changed_rows
from simulator.model import UPDATE, Kind
from simulator.order import HALF


def split(batch: ChangeBatch, columns: tuple[int, ...] | None) -> list[ChangeBatch]:
    """Updates that change one of these columns (all updates if None) as the DELETE of the old row and the INSERT of the
    new one: the batch, or what is left of it and the halves.

    A half keeps its row's place; the insert stands right behind. A column that the log's before image lacks tells no
    change.
    """
    if batch.kind is not UPDATE:
        return [batch]
    moved = np.full(len(batch), columns is None)
    held = None if batch.logged is None else batch.logged.before
    for column in columns or ():
        rows = changed_rows(batch, column) if held is None or column in held else None
        if rows is not None:
            moved[rows] = True
    if not moved.any():
        return [batch]
    rows = np.flatnonzero(moved)
    whole = batch if len(rows) == len(batch) else batch.take(rows)
    before = tuple(whole.full_before(i) for i in range(len(batch.table.columns)))
    envelope = whole.envelope
    behind = replace(
        envelope, ordinal=envelope.ordinal + HALF, offset=envelope.offset + HALF, in_second=envelope.in_second + HALF
    )
    halves = [
        replace(whole, kind=Kind.DELETE, after=None, before=before, counterpart=whole.after, typed_json=None),
        replace(whole, kind=Kind.INSERT, envelope=behind, before=None, counterpart=before, typed_json=None),
    ]
    rest = np.flatnonzero(~moved)
    return [batch.take(rest), *halves] if len(rest) else halves
