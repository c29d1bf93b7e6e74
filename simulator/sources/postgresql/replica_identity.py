"""REPLICA IDENTITY of all tables: which columns of a change the log holds.

| setting | before | after |
| --- | --- | --- |
| full | all | all |
| default | the primary key, of a DELETE, and of an UPDATE that changes it | all but unchanged values stored apart |
| index | the first unique key that is NOT NULL, likewise | the same |

A table without such a key has FULL, as the products' vendors require. NOTHING is not offered: the server refuses every
UPDATE and DELETE of a published table then, and logs an INSERT as under DEFAULT.

Source: PostgreSQL's documentation of REPLICA IDENTITY and of TOAST. Which values are stored apart is decided here:
those of variable length with more than 2000 bytes, which is about what fits into a row.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch, Ints
from simulator.model import DELETE, UPDATE, Table
from simulator.sources.partial_images import changed, nothing, parts

STORED_APART_BYTES: Final = 2000


def as_logged(batch: ChangeBatch, identity: str) -> list[ChangeBatch]:
    """The changes with the columns in the log, one batch per set of columns."""
    key = _identity(batch.table, identity)
    if not key or batch.kind not in (UPDATE, DELETE):
        return [batch]
    before, different = nothing(batch), changed(batch)
    rows = slice(None) if batch.kind is DELETE else different[:, key].any(axis=1)
    before[rows] = [i in key for i in range(len(batch.table.columns))]
    if batch.kind is DELETE:
        return parts(batch, before, ~nothing(batch))
    assert batch.after is not None
    inline = np.column_stack([_sizes(array) <= STORED_APART_BYTES for array in batch.after])
    return parts(batch, before, inline | different)


def _identity(table: Table, identity: str) -> list[int]:
    """Indexes of the identity's columns; empty: all columns."""
    if identity == "default":
        return list(table.key_positions)
    if identity == "index":
        nullable = {column.name for column in table.columns if column.nullable}
        keys = (key.columns for key in table.unique_keys if nullable.isdisjoint(key.columns))
        return [table.positions[name] for name in next(keys, ())]
    return []


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
