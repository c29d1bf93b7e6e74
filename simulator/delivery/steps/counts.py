"""Counts of changes by transaction and table, for products that send them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from simulator.batch import ChangeBatch, Ints, TableCounts, ranges
from simulator.delivery.steps import Changes
from simulator.model import COMMIT, MARKS
from simulator.values.groups import numbered


def counted_by_table(changes: Changes) -> Changes:
    """Counts the changes that are sent; the halves of a split update count as two.

    Sets `Envelope.place`, `places` and `place_in_table` of changes. A transaction's marks get the places 0 (BEGIN) and
    size + 1 (COMMIT), as in the stream; its COMMIT also gets the changes of each table (`ChangeBatch.counts`).
    """
    rows = [batch for batch in changes.batches if batch.kind not in MARKS and batch.envelope.phase]
    sizes = [len(batch) for batch in rows]
    numbers = {id: number for number, id in enumerate(dict.fromkeys(batch.table.id for batch in rows))}
    table = np.repeat(np.array([numbers[batch.table.id] for batch in rows], dtype=np.int64), sizes)
    txn, turn, ordinal = (
        np.concatenate([getattr(batch.envelope, name) for batch in rows] or [np.zeros(0, dtype=np.int64)])
        for name in ("txn", "turn", "ordinal")
    )
    order = np.lexsort((ordinal, turn))
    places, total = _places(txn[order])
    of_table = txn[order] * max(len(numbers), 1) + table[order]
    grouped = np.argsort(of_table, kind="stable")
    in_table, in_table_total = _places(of_table[grouped])
    stream_order = np.empty((3, len(order)), dtype=np.int64)
    stream_order[0][order], stream_order[1][order], stream_order[2][order[grouped]] = places, total, in_table
    parts = iter(np.split(stream_order, np.cumsum(sizes)[:-1], axis=1) if rows else ())

    # the first change of each table in a transaction, in the order of the stream
    firsts = np.sort(grouped[in_table == 1])
    changes_of = np.empty(len(order), dtype=np.int64)
    changes_of[grouped] = in_table_total
    txn_of, table_of, size_of = txn[order][firsts], table[order][firsts], changes_of[firsts]
    sums = np.concatenate([[0], np.cumsum(size_of)])

    def counted(batch: ChangeBatch) -> ChangeBatch:
        if not batch.envelope.phase:
            return batch
        if batch.kind not in MARKS:
            part = next(parts)
            return replace(batch, envelope=replace(batch.envelope, counted=part[:2], place_in_table=part[2]))
        first, stop = (np.searchsorted(txn_of, batch.envelope.txn, side=side) for side in ("left", "right"))
        size = sums[stop] - sums[first]
        if batch.kind is not COMMIT:
            return replace(batch, envelope=replace(batch.envelope, counted=np.array([0 * size, size])))
        starts, entries = ranges(first, stop - first)
        counts = TableCounts(tuple(numbers), table_of[entries], size_of[entries], starts)
        return replace(batch, envelope=replace(batch.envelope, counted=np.array([size + 1, size])), counts=counts)

    return replace(changes, batches=[counted(batch) for batch in changes.batches])


def _places(groups: Ints) -> tuple[Ints, Ints]:
    """Position of each element in its group, from 1, and the size of the group; equal numbers are adjacent."""
    heads = np.flatnonzero(np.diff(groups, prepend=groups[:1] - 1))
    sizes = np.diff(heads, append=len(groups))
    return numbered(sizes) + 1, np.repeat(sizes, sizes)
