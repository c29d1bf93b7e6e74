"""Which columns DRS's messages have of a row: all that the source logs, and what sources log less of, by options.

Sources: "From Oracle to Kafka" (supplemental logging of all columns, or of the key and what changes), PostgreSQL's
documentation of REPLICA IDENTITY and of TOAST. Which values are stored apart is decided here: those of variable length
with more than 2000 bytes, about what PostgreSQL keeps in a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch, Ints, changed_rows
from simulator.formats.drs import envelope as drs
from simulator.formats.drs.envelope import System
from simulator.model import DELETE, UPDATE, Table
from simulator.wire.fields import Rows

TOAST_BYTES: Final = 2000

# For each column the rows that have it (ascending; None: none), or None if all rows have all columns.
Shown = Sequence[Ints | None] | None


@dataclass(frozen=True)
class Logged:
    """What a source logs: which columns the images of a batch have."""

    after: Callable[[ChangeBatch], Shown]
    before: Callable[[ChangeBatch], Shown]


def logged(settings: drs.DrsSettings, system: System) -> Logged:
    """What the source logs under these settings; columns that DRS leaves out are in no image."""
    if settings.options.replica_identity == "default" and system.previous_commit:
        return Logged(_not_toasted, _identity)
    if settings.options.supplemental == "pk_ui" and system.blank_database:

        def key_and_changed(batch: ChangeBatch) -> Shown:
            return _key_and_changed(batch, system.columns(batch.table, settings))

        return Logged(key_and_changed, key_and_changed)

    def whole(batch: ChangeBatch) -> Shown:
        return None

    return Logged(whole, whole)


def images(settings: drs.DrsSettings, system: System) -> tuple[Rows, Rows]:
    """The rows of `data` and of `old`; `old` is null where nothing of the old row is logged."""
    of, order = logged(settings, system), drs.order(settings)

    def columns(table: Table) -> Sequence[int]:
        kept = system.columns(table, settings)
        return [kept[i] for i in order([table.columns[place].name for place in kept], len(kept))]

    return Rows("after", columns=columns, logged=of.after), Rows("before", True, columns=columns, logged=of.before)


def _not_toasted(batch: ChangeBatch) -> Shown:
    """An update says nothing of a value that is stored apart and was not changed."""
    if batch.kind is not UPDATE:
        return None
    assert batch.after is not None
    every = np.arange(len(batch), dtype=np.int64)
    shown: list[Ints | None] = [every] * len(batch.after)
    for i, array in enumerate(batch.after):
        kept = np.flatnonzero(_sizes(array) <= TOAST_BYTES)
        if len(kept) == len(batch):
            continue
        changed = changed_rows(batch, i)
        rows = kept if changed is None else np.union1d(kept, changed)
        shown[i] = rows if len(rows) else None
    return None if all(rows is every for rows in shown) else shown


def _sizes(array: pa.Array) -> Ints:
    """Bytes of each value of variable length; 0 of others and of nulls."""
    if pa.types.is_dictionary(array.type):
        if array.null_count:
            return _sizes(array.dictionary_decode())
        sizes: Ints = _sizes(array.dictionary)[np.asarray(array.indices)]
        return sizes
    if not (pa.types.is_string(array.type) or pa.types.is_binary(array.type)):
        return np.zeros(len(array), dtype=np.int64)
    return np.asarray(pc.fill_null(pc.binary_length(array), 0)).astype(np.int64)


def _identity(batch: ChangeBatch) -> Shown:
    """The old row is its key: of a delete, and of an update that changes the key; of others there is nothing.

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


def _key_and_changed(batch: ChangeBatch, columns: Sequence[int]) -> Shown:
    """An update has its key and the columns that it changes, in both images; without a key all columns are logged."""
    key = batch.table.key_positions
    if batch.kind is not UPDATE or not key:
        return None
    every = np.arange(len(batch), dtype=np.int64)
    shown = [every if i in key else changed_rows(batch, i) for i in range(len(batch.table.columns))]
    return [rows if i in columns else None for i, rows in enumerate(shown)]
