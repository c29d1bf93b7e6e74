"""Which columns the images of a row have: all of them, or what a source logs under certain settings.

Sources: "From Oracle to Kafka" (supplemental logging of all columns, or of the key and what changes), PostgreSQL's
documentation of REPLICA IDENTITY and of TOAST. Which values PostgreSQL stores out of line is decided here: those of
variable length with more than 2000 bytes, which is about what fits into a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch, Ints, changed_rows
from simulator.model import DELETE, UPDATE

TOAST_BYTES: Final = 2000

# For each column the rows that have it (ascending; None: none), or None if all rows have all columns.
LoggedRows = Sequence[Ints | None] | None


def _all_columns(batch: ChangeBatch) -> LoggedRows:
    return None


@dataclass(frozen=True)
class Logged:
    """Which columns the two images of a batch have: those in the log, where that is known to lack some."""

    of_after: Callable[[ChangeBatch], LoggedRows] = _all_columns
    of_before: Callable[[ChangeBatch], LoggedRows] = _all_columns

    def after(self, batch: ChangeBatch) -> LoggedRows:
        return self.of_after(batch) if batch.logged is None else _held(batch, batch.logged.after)

    def before(self, batch: ChangeBatch) -> LoggedRows:
        return self.of_before(batch) if batch.logged is None else _held(batch, batch.logged.before)


def _held(batch: ChangeBatch, positions: Sequence[int] | None) -> LoggedRows:
    if positions is None:
        return None
    every = np.arange(len(batch), dtype=np.int64)
    return [every if i in positions else None for i in range(len(batch.table.columns))]


def _without_unchanged_toast(batch: ChangeBatch) -> LoggedRows:
    """An update does not log a value that is stored out of line and did not change."""
    if batch.kind is not UPDATE:
        return None
    assert batch.after is not None
    every = np.arange(len(batch), dtype=np.int64)
    logged: list[Ints | None] = [every] * len(batch.after)
    for i, array in enumerate(batch.after):
        inline = np.flatnonzero(_sizes(array) <= TOAST_BYTES)
        if len(inline) == len(batch):
            continue
        changed = changed_rows(batch, i)
        rows = inline if changed is None else np.union1d(inline, changed)
        logged[i] = rows if len(rows) else None
    return None if all(rows is every for rows in logged) else logged


def _sizes(array: pa.Array) -> Ints:
    """Bytes of each value of variable length; 0 for others and for nulls."""
    if pa.types.is_dictionary(array.type):
        if array.null_count:
            return _sizes(array.dictionary_decode())
        sizes: Ints = _sizes(array.dictionary)[np.asarray(array.indices)]
        return sizes
    if not (pa.types.is_string(array.type) or pa.types.is_binary(array.type)):
        return np.zeros(len(array), dtype=np.int64)
    return np.asarray(pc.fill_null(pc.binary_length(array), 0)).astype(np.int64)


def _replica_identity(batch: ChangeBatch) -> LoggedRows:
    """The row before is its key: of a delete, and of an update that changes the key; other updates have none.

    A table without a key has REPLICA IDENTITY FULL, which the vendor asks for.
    """
    key = batch.table.key_positions
    if not key:
        return None
    rows = np.arange(len(batch), dtype=np.int64)
    if batch.kind is UPDATE:
        moved = [changed for i in key if (changed := changed_rows(batch, i)) is not None]
        rows = np.unique(np.concatenate(moved)) if moved else rows[:0]
    else:
        assert batch.kind is DELETE
    return [rows if i in key and len(rows) else None for i in range(len(batch.table.columns))]


def _key_and_changed(batch: ChangeBatch) -> LoggedRows:
    """Both images of an update have its key, its changed columns, and all columns of a unique key that changes.

    Oracle takes a unique key that is NOT NULL for a primary key that is missing; without either all columns are logged.
    """
    table = batch.table
    key = table.row_key_positions
    if batch.kind is not UPDATE or not key:
        return None
    changed = [changed_rows(batch, i) for i in range(len(table.columns))]
    logged = list(changed)
    for unique in table.unique_keys:
        places = [table.positions[name] for name in unique.columns]
        rows = [each for i in places if (each := changed[i]) is not None]
        for i in places if rows else ():
            logged[i] = np.unique(np.concatenate([*rows, *([] if logged[i] is None else [logged[i]])]))
    every = np.arange(len(batch), dtype=np.int64)
    return [every if i in key else rows for i, rows in enumerate(logged)]


EVERYTHING: Final = Logged()
REPLICA_IDENTITY_DEFAULT: Final = Logged(_without_unchanged_toast, _replica_identity)
SUPPLEMENTAL_KEYS: Final = Logged(_key_and_changed, _key_and_changed)
