"""Pack: which rows share a message, and what a product decides for a whole event before routing cuts it apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.batch import ChangeBatch, Ints, PackedBatch, changed_rows, decoded
from simulator.model import DELETE, INSERT, READ, UPDATE, Column


@dataclass(frozen=True)
class Packing:
    """Rows of one statement share a message while `header + Σ row bytes` stays within `max_bytes` (or `max_rows`).

    `row_bytes(columns, arrays)` gives the bytes of each row image; `header(columns, images)` those of an event without
    rows, for that many columns and images (two for updates). Without `row_bytes` only rows are counted.

    * `scope`: what may share a message: rows of a statement, or rows of one table and kind that follow each other in a
      transaction, or in a partition (`simulator.delivery.batches`): those of `window_turns` turns that were committed
      in the same `window_ms`.
    * `rows_of`: `max_rows` counts the rows of an event, before it is cut apart by partition, or those of a message;
      then which columns count as changed is decided row by row, not for the event.
    * `distinct`: an update that leaves a row as an earlier one of the same event left it begins an event of its own.
    * `full_load`: rows of a snapshot that follow each other share messages, too, whatever the scope.
    """

    row_bytes: Callable[[Sequence[Column], Sequence[pa.Array]], npt.NDArray[np.int64]] | None = None
    header: Callable[[int, int], int] = lambda columns, images: 0
    max_bytes: int = 0
    max_rows: int | None = None
    scope: Literal["statement", "transaction", "partition"] = "statement"
    window_turns: int = 1
    window_ms: int = 1000
    rows_of: Literal["event", "message"] = "event"
    distinct: bool = False
    full_load: bool = False


@dataclass(frozen=True)
class Events:
    """Events of a batch: event i has the rows `starts[i]` to `starts[i + 1]`; `changed` as in `PackedBatch`.

    A message of an event has up to `message_rows` of them, None for any number.
    """

    starts: Ints
    changed: tuple[Ints | None, ...] | None
    message_rows: int | None = None


def pack(batch: ChangeBatch, packing: Packing | None) -> Events:
    """Cut a batch into events: rows of one statement (or transaction), as many as the product lets share a message."""
    count = len(batch)
    starts = np.arange(count + 1, dtype=np.int64)
    most = None
    if packing is not None and (batch.kind in (INSERT, UPDATE, DELETE) or scanned(batch, packing)) and not batch.moved:
        most = packing.max_rows if packing.rows_of == "message" else None
        begins = _begins(batch, packing)
        if not begins.all() and most != 1:
            starts = _fill(batch, packing, np.flatnonzero(begins))
    if batch.kind is not UPDATE:
        return Events(starts, None, most)
    changed = [changed_rows(batch, i) for i in range(len(batch.table.columns))]
    if packing is None or packing.rows_of == "event":
        changed = [_accumulate(rows, starts) for rows in changed]
    return Events(starts, tuple(changed), most)


def scanned(batch: ChangeBatch, packing: Packing) -> bool:
    """Whether these are rows of a snapshot that share messages."""
    return batch.kind is READ and packing.full_load


def _begins(batch: ChangeBatch, packing: Packing) -> npt.NDArray[np.bool_]:
    """Which rows share no event with the row before."""
    envelope = batch.envelope
    begins = np.ones(len(batch), dtype=bool)
    if batch.kind is READ:
        begins[1:] = np.diff(envelope.turn) != 1
    elif packing.scope == "statement":
        begins[1:] = (np.diff(envelope.turn) != 0) | (np.diff(envelope.statement) != 0)
    else:
        # the transaction has no other change between them: nothing is overtaken
        begins[1:] = (np.diff(envelope.txn) != 0) | (np.diff(envelope.seq) != 1)
    if packing.distinct and batch.kind is UPDATE:
        begins[repeats(batch, np.cumsum(begins))] = True
    return begins


def repeats(batch: ChangeBatch, event: Ints) -> list[int]:
    """Updates that leave a row just like an earlier one of their event did, since the last of these."""
    shared = np.flatnonzero((np.bincount(event) > 1)[event])
    if not len(shared):
        return []
    same = event[shared]
    for column in batch.image():
        codes = decoded(column.take(pa.array(shared))).dictionary_encode()
        values = np.asarray(codes.indices.fill_null(-1)).astype(np.int64)
        same = np.unique(same * (len(codes.dictionary) + 1) + values + 1, return_inverse=True)[1].astype(np.int64)
    order = np.argsort(same, kind="stable")
    again = np.flatnonzero(np.diff(same[order]) == 0)
    # of each repeat: its place and that of the row before it that is the same
    found: list[int] = []
    pairs = sorted(zip(shared[order[again + 1]].tolist(), shared[order[again]].tolist(), strict=True))
    began: dict[int, int] = {}  # event to the last row that begins another
    for row, earlier in pairs:
        if earlier >= began.get(int(event[row]), -1):
            began[int(event[row])] = row
            found.append(row)
    return found


def _fill(batch: ChangeBatch, packing: Packing, statements: Ints) -> Ints:
    """Event starts: within a statement a row joins the event while it fits."""
    most = packing.max_rows if packing.rows_of == "event" else None
    if packing.row_bytes is None:
        rows = np.arange(len(batch), dtype=np.int64)
        first = np.repeat(statements, np.diff(statements, append=len(batch)))
        starts = statements if most is None else np.flatnonzero((rows - first) % most == 0)
        return np.append(starts, len(batch))
    columns = batch.table.columns
    sizes = packing.row_bytes(columns, batch.image())
    images = 1
    if batch.kind is UPDATE:
        images = 2
        sizes = sizes + packing.row_bytes(columns, [batch.full_before(i) for i in range(len(columns))])
    room = packing.max_bytes - packing.header(len(columns), images)
    ends = np.append(statements[1:], len(batch))
    done = np.concatenate([[0], np.cumsum(sizes)])
    filled: list[int] = []
    # Statements that fit whole need no loop over rows; most do.
    whole = (done[ends] - done[statements] <= room) & ((ends - statements) <= (most or len(batch)))
    for start, end, fits in zip(statements.tolist(), ends.tolist(), whole.tolist(), strict=True):
        filled.append(start)
        at = start
        while not fits:
            # the last row that fits; a row larger than the room gets an event of its own
            at = max(at + 1, int(np.searchsorted(done, done[at] + room, side="right")) - 1)
            at = min(at, filled[-1] + (most or len(batch)))
            if at >= end:
                break
            filled.append(at)
    return np.array([*filled, len(batch)], dtype=np.int64)


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
    code_rows = starts[1:] - 1
    single = len(starts) == len(batch) + 1
    if single or (partition is None and events.message_rows is None):
        at = starts[:-1]
        return PackedBatch(
            batch, starts, code_rows, events.changed, topic, partition,
            None if key is None else key if single else key.take(pa.array(at)),
        )  # fmt: skip
    event = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    to = np.zeros(len(batch), dtype=np.int64) if partition is None else partition
    grouped = np.lexsort((to, event))
    begins = np.ones(len(batch), dtype=bool)
    begins[1:] = (np.diff(event[grouped]) != 0) | (np.diff(to[grouped]) != 0)
    if events.message_rows is not None:
        rows = np.arange(len(batch))
        begun = np.maximum.accumulate(np.where(begins, rows, 0))
        begins |= (rows - begun) % events.message_rows == 0
    first = np.empty(len(batch), dtype=np.int64)  # row to the first row of its message
    first[grouped] = grouped[begins][np.cumsum(begins) - 1]
    # in stream order: messages by their first rows
    order = np.argsort(first, kind="stable")
    heads = np.flatnonzero(np.diff(first[order], prepend=-1))
    back = np.empty(len(order), dtype=np.int64)  # old row to new row
    back[order] = np.arange(len(order))
    changed = None if events.changed is None else tuple(None if r is None else np.sort(back[r]) for r in events.changed)
    moved = not np.array_equal(order, np.arange(len(order)))
    return PackedBatch(
        batch.take(order) if moved else batch,
        np.append(heads, len(batch)),
        back[code_rows[event[order[heads]]]],
        changed,
        topic,
        None if partition is None else partition[order][heads],
        None if key is None else key.take(pa.array(order[heads])),
    )
