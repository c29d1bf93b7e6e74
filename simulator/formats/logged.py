"""Rows of a batch whose images in the source's log have each column, for `Rows.logged`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeAlias

import numpy as np

from simulator.batch import ChangeBatch, Ints

# The rows that have each column (ascending; None: no row), or None if all rows have all columns.
LoggedRows: TypeAlias = Sequence[Ints | None] | None


def in_after(batch: ChangeBatch) -> LoggedRows:
    return None if batch.logged is None else rows_of(batch, batch.logged.after)


def in_before(batch: ChangeBatch) -> LoggedRows:
    return None if batch.logged is None else rows_of(batch, batch.logged.before)


def rows_of(batch: ChangeBatch, columns: Collection[int] | None) -> LoggedRows:
    """The case in which all rows have these columns; None: all columns."""
    if columns is None:
        return None
    all_rows = np.arange(len(batch), dtype=np.int64)
    return [all_rows if i in columns else None for i in range(len(batch.table.columns))]
