"""Packing of rows into messages: rows of a statement, of a transaction, or adjacent rows of a partition.

The rows of a message have one table and kind; halves of split updates and marks have their own messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.batch import ChangeBatch, Envelope, Ints, PackedBatch, changed_rows, decoded
from simulator.carriers import storage
from simulator.delivery.pack import Events, Packing, begins_of_statements, changed_by_column
from simulator.delivery.router import Addressed, Router
from simulator.delivery.steps import Changes
from simulator.model import MARKS, READ, UPDATE, OrderKey, SchemaChange
from simulator.values.groups import numbered

# Turns of a generated scenario, or transactions of a script, that may share messages.
WINDOW_TURNS: Final = 256


@dataclass(frozen=True)
class Batches(Packing):
    """Up to `rows` rows of a partition share a message: rows of a statement, or adjacent rows of one table and kind in
    a transaction, or in a partition if they were committed in the same `window_ms`. Adjacent rows of the full load
    share messages under any scope.

    An update whose result repeats an earlier row of the event begins another event.
    """

    rows: int
    scope: Literal["statement", "transaction", "partition"] = "statement"
    window_ms: int = 1000

    @property
    def reads_values(self) -> bool:
        return True

    def window_turns(self, block_turns: int) -> int:
        return min(WINDOW_TURNS, 1 << (block_turns.bit_length() - 1)) if self.scope == "partition" else 1

    def events(self, batch: ChangeBatch) -> Events:
        if batch.kind in MARKS or batch.moved or self.rows == 1:
            return super().events(batch)
        begins = self._begins(batch)
        starts = np.append(np.flatnonzero(begins), len(batch))
        return Events(starts, changed_by_column(batch), self.rows)

    def _begins(self, batch: ChangeBatch) -> npt.NDArray[np.bool_]:
        """Marks each row that shares no event with the row before."""
        envelope = batch.envelope
        begins = np.ones(len(batch), dtype=bool)
        if batch.kind is READ:
            begins[1:] = np.diff(envelope.turn) != 1
        elif self.scope == "statement":
            begins = begins_of_statements(batch)
        else:
            # the transaction has no other change between them, so no row overtakes another
            begins[1:] = (np.diff(envelope.txn) != 0) | (np.diff(envelope.seq) != 1)
        if batch.kind is UPDATE:
            begins[repeats(batch, np.cumsum(begins))] = True
        return begins

    def packs(self, changes: Changes, to: Router) -> Iterator[PackedBatch]:
        if self.scope != "partition" or not any(batch.envelope.phase for batch in changes.batches):
            yield from super().packs(changes, to)
            return
        batches, history = changes.batches, changes.history
        addressed = [to.changes(batch) for batch in batches]
        # DDL statements and ends of windows end all messages
        ends = [event.order for event in changes.events if isinstance(event, SchemaChange)]
        unit = self.window_turns(history.block_turns)
        first, last = min(int(b.envelope.turn.min()) for b in batches), max(int(b.envelope.turn.max()) for b in batches)
        windows = range(first // unit, last // unit + 2)
        borders = np.array([history.border(number * unit) for number in windows], dtype=np.int64)
        numbers = runs(
            batches,
            addressed,
            [_behind(batch.envelope, ends) for batch in batches],
            [np.searchsorted(borders, batch.envelope.turn, side="right") for batch in batches],
            [batch.envelope.event_ms // self.window_ms for batch in batches],
        )
        for batch, run, addresses in zip(batches, numbers, addressed, strict=True):
            yield shared(batch, run, addresses, self.rows)


def _behind(envelope: Envelope, ends: Sequence[OrderKey]) -> Ints:
    """Number of these order keys that are below the key of each change."""
    offsets = 0 * envelope.turn
    for end in ends:
        offsets += (envelope.turn > end.turn) | ((envelope.turn == end.turn) & (envelope.ordinal > end.ordinal))
    return offsets


def repeats(batch: ChangeBatch, event: Ints) -> list[int]:
    """Updates whose result repeats an earlier row of their event, counted since the last such update."""
    shared = np.flatnonzero((np.bincount(event) > 1)[event])
    if not len(shared):
        return []
    same = event[shared]
    for column in batch.image():
        codes = storage(decoded(column.take(pa.array(shared)))).dictionary_encode()
        values = np.asarray(codes.indices.fill_null(-1)).astype(np.int64)
        same = np.unique(same * (len(codes.dictionary) + 1) + values + 1, return_inverse=True)[1].astype(np.int64)
    order = np.argsort(same, kind="stable")
    again = np.flatnonzero(np.diff(same[order]) == 0)
    # for each repeat: its index, and the index of the earlier equal row
    rows_again: list[int] = []
    pairs = sorted(zip(shared[order[again + 1]].tolist(), shared[order[again]].tolist(), strict=True))
    began: dict[int, int] = {}  # event → the last row that begins another message
    for row, earlier in pairs:
        if earlier >= began.get(int(event[row]), -1):
            began[int(event[row])] = row
            rows_again.append(row)
    return rows_again


def runs(batches: Sequence[ChangeBatch], to: Sequence[Addressed], *apart: Sequence[Ints]) -> list[Ints]:
    """The run number of each row, by batch. `batches`: all batches of a block; `to`: their destinations.

    The rows of a run belong to one batch, are adjacent in their partition, and have equal numbers in each of `apart`.
    Each half of a split update and each mark is a run.
    """
    sizes = [len(batch) for batch in batches]
    turn = np.concatenate([batch.envelope.turn for batch in batches])
    ordinal = np.concatenate([batch.envelope.ordinal for batch in batches])
    topics = {name: number for number, name in enumerate(dict.fromkeys(addresses.topic for addresses in to))}
    topic = np.repeat([topics[addresses.topic] for addresses in to], sizes)
    partition = np.concatenate(
        [
            np.zeros(n, dtype=np.int64) if addresses.partitions is None else addresses.partitions
            for addresses, n in zip(to, sizes, strict=True)
        ]
    )
    number = np.repeat(np.arange(len(batches)), sizes)
    order = np.lexsort((ordinal, turn, partition, topic))
    begins = np.repeat([batch.moved or batch.kind in MARKS for batch in batches], sizes)[order]
    for numbers in (topic, partition, number, *map(np.concatenate, apart)):
        begins[1:] |= np.diff(numbers[order]) != 0
    run = np.empty(len(order), dtype=np.int64)
    run[order] = np.cumsum(begins)
    return np.split(run, np.cumsum(sizes)[:-1])


def shared(batch: ChangeBatch, run: Ints, to: Addressed, most: int) -> PackedBatch:
    """The messages of a batch, ordered by first row: each run is cut into messages of at most `most` rows.

    A message has the times of its last row. An update whose result repeats an earlier row of its message begins another
    message.
    """
    count, rows = len(batch), np.arange(len(batch))
    if batch.kind is UPDATE:
        begins = np.zeros(count, dtype=np.int64)
        begins[repeats(batch, run)] = 1
        grouped = np.argsort(run, kind="stable")
        begins[grouped] = np.cumsum(begins[grouped])
        run = run * (count + 1) + begins
    grouped = np.argsort(run, kind="stable")
    heads = np.flatnonzero(np.diff(run[grouped], prepend=run[grouped[0]] - 1))
    in_run = numbered(np.diff(heads, append=count))
    starts = in_run % most == 0
    first = np.empty(count, dtype=np.int64)  # row to the first row of its message
    first[grouped] = grouped[starts][np.cumsum(starts) - 1]
    order = np.argsort(first, kind="stable")
    begin = np.append(np.flatnonzero(np.diff(first[order], prepend=-1)), count)
    first, last = order[begin[:-1]], order[begin[1:] - 1]
    row_after = np.argsort(order, kind="stable")  # each row's number in the new order
    changed = None
    if batch.kind is UPDATE:
        columns = (changed_rows(batch, i) for i in range(len(batch.table.columns)))
        changed = tuple(None if rows is None else np.sort(row_after[rows]) for rows in columns)
    ordered_batch = batch if np.array_equal(order, rows) else batch.take(order)
    event_ms, write_ms = (
        np.repeat(ms[last], np.diff(begin)) for ms in (batch.envelope.event_ms, batch.envelope.write_ms)
    )
    return PackedBatch(
        replace(ordered_batch, envelope=replace(ordered_batch.envelope, event_ms=event_ms, write_ms=write_ms)),
        begin,
        begin[1:] - 1,
        changed,
        to.topic,
        None if to.partitions is None else to.partitions[first],
        None if to.keys is None else to.keys.take(pa.array(first)),
    )
