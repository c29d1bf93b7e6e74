"""Pack: which rows share a message, and what is settled for all rows of an event before routing cuts it apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from simulator.batch import ChangeBatch, Ints, PackedBatch, changed_rows
from simulator.model import READ, UPDATE
from simulator.routing import Packing


@dataclass(frozen=True)
class Events:
    """Events of a batch: event i has the rows `starts[i]` to `starts[i + 1]`; `shown` as in `PackedBatch`."""

    starts: Ints
    shown: tuple[Ints | None, ...] | None


def pack(batch: ChangeBatch, packing: Packing | None) -> Events:
    """Cut a batch into events: rows of one statement, as many as the product's rule lets share a message."""
    count = len(batch)
    starts = np.arange(count + 1, dtype=np.int64)
    if packing is not None and batch.kind is not READ and not batch.moved:
        envelope = batch.envelope
        begins = np.ones(count, dtype=bool)
        begins[1:] = (np.diff(envelope.turn) != 0) | (np.diff(envelope.statement) != 0)
        if not begins.all():
            starts = _fill(batch, packing, np.flatnonzero(begins))
    if batch.kind is not UPDATE:
        return Events(starts, None)
    return Events(starts, tuple(_accumulate(changed_rows(batch, i), starts) for i in range(len(batch.table.columns))))


def _fill(batch: ChangeBatch, packing: Packing, statements: Ints) -> Ints:
    """Event starts: within a statement a row joins the event while it fits."""
    columns = batch.table.columns
    sizes = packing.row_bytes(columns, batch.image())
    images = 1
    if batch.kind is UPDATE:
        images = 2
        sizes = sizes + packing.row_bytes(columns, [batch.full_before(i) for i in range(len(columns))])
    room = packing.max_bytes - packing.header(len(columns), images)
    ends = np.append(statements[1:], len(batch))
    done = np.concatenate([[0], np.cumsum(sizes)])
    starts: list[int] = []
    # Statements that fit whole need no loop over rows; most do.
    whole = (done[ends] - done[statements] <= room) & ((ends - statements) <= (packing.max_rows or len(batch)))
    for start, end, fits in zip(statements.tolist(), ends.tolist(), whole.tolist(), strict=True):
        starts.append(start)
        at = start
        while not fits:
            # the last row that fits; a row larger than the room gets an event of its own
            at = max(at + 1, int(np.searchsorted(done, done[at] + room, side="right")) - 1)
            at = min(at, starts[-1] + (packing.max_rows or len(batch)))
            if at >= end:
                break
            starts.append(at)
    return np.array([*starts, len(batch)], dtype=np.int64)


def _accumulate(rows: Ints | None, starts: Ints) -> Ints | None:
    """Rows in which a column counts as changed: from the first row of the event that changed it on."""
    if rows is None or len(starts) == starts[-1] + 1:
        return rows
    count = int(starts[-1])
    last = np.full(count, -1, dtype=np.int64)
    last[rows] = rows
    np.maximum.accumulate(last, out=last)
    begin = np.repeat(starts[:-1], np.diff(starts))
    return np.flatnonzero(last >= begin)


def cut(batch: ChangeBatch, events: Events, *, topic: str, partition: Ints | None, key: pa.Array | None) -> PackedBatch:
    """Messages of the events, by their first rows: an event whose rows go to several partitions is cut apart."""
    starts = events.starts
    settled = starts[1:] - 1
    single = len(starts) == len(batch) + 1
    if partition is None or single:
        at = starts[:-1]
        return PackedBatch(
            batch, starts, settled, events.shown, topic, partition,
            None if key is None else key if single else key.take(pa.array(at)),
        )  # fmt: skip
    event = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    grouped = np.lexsort((partition, event))
    begins = np.ones(len(batch), dtype=bool)
    begins[1:] = (np.diff(event[grouped]) != 0) | (np.diff(partition[grouped]) != 0)
    first = np.empty(len(batch), dtype=np.int64)  # row to the first row of its message
    first[grouped] = grouped[begins][np.cumsum(begins) - 1]
    # in stream order: messages by their first rows
    order = np.argsort(first, kind="stable")
    heads = np.flatnonzero(np.diff(first[order], prepend=-1))
    back = np.empty(len(order), dtype=np.int64)  # old row to new row
    back[order] = np.arange(len(order))
    shown = None if events.shown is None else tuple(None if r is None else np.sort(back[r]) for r in events.shown)
    moved = not np.array_equal(order, np.arange(len(order)))
    return PackedBatch(
        batch.take(order) if moved else batch,
        np.append(heads, len(batch)),
        back[settled[event[order[heads]]]],
        shown,
        topic,
        partition[order][heads],
        None if key is None else key.take(pa.array(order[heads])),
    )
