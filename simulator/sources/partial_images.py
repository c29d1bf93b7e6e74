"""Changes with partial images: split into batches whose rows have the same logged columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from simulator.batch import ChangeBatch, LoggedColumns, changed_rows
from simulator.model import UPDATE

# Mask of rows by columns: whether an image has the column.
Held = npt.NDArray[np.bool_]


def changed(batch: ChangeBatch) -> Held:
    """Mask of the columns that each update changes: a row per update."""
    result = nothing(batch)
    for i in range(len(batch.table.columns)) if batch.kind is UPDATE else ():
        if (rows := changed_rows(batch, i)) is not None:
            result[rows, i] = True
    return result


def nothing(batch: ChangeBatch) -> Held:
    return np.zeros((len(batch), len(batch.table.columns)), dtype=bool)


def parts(batch: ChangeBatch, before: Held, after: Held) -> list[ChangeBatch]:
    """The changes with the columns that each image in the log holds."""
    width = before.shape[1]
    kinds, of_row = np.unique(np.hstack([before, after]), axis=0, return_inverse=True)
    batches = []
    for number, kind in enumerate(kinds):
        part = batch if len(kinds) == 1 else batch.take(np.flatnonzero(of_row.reshape(-1) == number))
        images = [
            None if logged.all() else tuple(np.flatnonzero(logged).tolist()) for logged in (kind[:width], kind[width:])
        ]
        batches.append(part if images == [None, None] else replace(part, logged=LoggedColumns(*images)))
    return batches
