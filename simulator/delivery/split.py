"""Split: an update that changes a routing column becomes a DELETE of the old row and an INSERT of the new one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from simulator.batch import ChangeBatch, changed_rows
from simulator.model import DELETE, INSERT, UPDATE


def split(batch: ChangeBatch, columns: tuple[int, ...] | None) -> list[ChangeBatch]:
    """The batch, or what is left of it and the halves: of updates that change one of these columns, of all if None.

    A half keeps its row's place; the insert stands right behind.
    """
    if batch.kind is not UPDATE:
        return [batch]
    moved = np.full(len(batch), columns is None)
    for column in columns or ():
        rows = changed_rows(batch, column)
        if rows is not None:
            moved[rows] = True
    if not moved.any():
        return [batch]
    rows = np.flatnonzero(moved)
    inserted = batch.as_kind(INSERT, rows, odd=True)
    # streams leave every second number free, of offsets and numbers of a second as of ordinals
    envelope = inserted.envelope
    envelope = replace(envelope, offset=envelope.offset + 1, in_second=envelope.in_second + 1)
    halves = [batch.as_kind(DELETE, rows), replace(inserted, envelope=envelope)]
    rest = np.flatnonzero(~moved)
    return [batch.take(rest), *halves] if len(rest) else halves
