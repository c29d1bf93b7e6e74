"""Packing: groups rows into messages; decisions about a whole event are made before routing cuts it apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.batch import ChangeBatch, Ints, PackedBatch, changed_rows
from simulator.delivery.router import Router
from simulator.delivery.steps import Changes
from simulator.model import UPDATE


@dataclass(frozen=True)
class Events:
    """Events of a batch: event i has the rows `starts[i]` to `starts[i + 1]`; `changed` as in `PackedBatch`.

    A message holds at most `message_rows` rows of an event; None: any number.
    """

    starts: Ints
    changed: tuple[Ints | None, ...] | None
    message_rows: int | None = None


@dataclass(frozen=True)
class Packing:
    """One row per message. Products that put several rows into a message have a subclass that groups them into events.

    `reads_values`: grouping depends on values, so all columns are generated.
    """

    @property
    def reads_values(self) -> bool:
        return False

    def window_turns(self, block_turns: int) -> int:
        """Turns per window of messages that transactions share, a power of two; blocks, which have `block_turns`, begin
        at window borders. 1: no message has rows of two transactions."""
        return 1

    def events(self, batch: ChangeBatch) -> Events:
        """The events of a batch."""
        return Events(np.arange(len(batch) + 1, dtype=np.int64), changed_by_column(batch))

    def packs(self, changes: Changes, to: Router) -> Iterator[PackedBatch]:
        """The addressed messages of a block."""
        for batch in changes.batches:
            addresses = to.changes(batch)
            yield cut(
                batch, self.events(batch), topic=addresses.topic, partition=addresses.partitions, key=addresses.keys
            )


ONE_ROW: Final = Packing()


def changed_by_column(batch: ChangeBatch) -> tuple[Ints | None, ...] | None:
    """The rows in which each column of an update changed; None for other kinds."""
    if batch.kind is not UPDATE:
        return None
    return tuple(changed_rows(batch, i) for i in range(len(batch.table.columns)))


def begins_of_statements(batch: ChangeBatch) -> npt.NDArray[np.bool_]:
    """Marks each row that begins a new statement."""
    begins = np.ones(len(batch), dtype=bool)
    begins[1:] = (np.diff(batch.envelope.turn) != 0) | (np.diff(batch.envelope.statement) != 0)
    return begins


def cut(batch: ChangeBatch, events: Events, *, topic: str, partition: Ints | None, key: pa.Array | None) -> PackedBatch:
    """Messages of the events, ordered by first row; an event whose rows go to several partitions is cut apart."""
    starts = events.starts
    code_rows = starts[1:] - 1
    single = len(starts) == len(batch) + 1
    if single or (partition is None and events.message_rows is None):
        first_rows = starts[:-1]
        return PackedBatch(
            batch, starts, code_rows, events.changed, topic, partition,
            None if key is None else key if single else key.take(pa.array(first_rows)),
        )  # fmt: skip
    event = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    partition_of_row = np.zeros(len(batch), dtype=np.int64) if partition is None else partition
    grouped = np.lexsort((partition_of_row, event))
    begins = np.ones(len(batch), dtype=bool)
    begins[1:] = (np.diff(event[grouped]) != 0) | (np.diff(partition_of_row[grouped]) != 0)
    if events.message_rows is not None:
        rows = np.arange(len(batch))
        message_start = np.maximum.accumulate(np.where(begins, rows, 0))
        begins |= (rows - message_start) % events.message_rows == 0
    first = np.empty(len(batch), dtype=np.int64)  # by row: the first row of its message
    first[grouped] = grouped[begins][np.cumsum(begins) - 1]
    # in stream order: messages by their first rows
    order = np.argsort(first, kind="stable")
    heads = np.flatnonzero(np.diff(first[order], prepend=-1))
    new_row = np.empty(len(order), dtype=np.int64)  # old row to new row
    new_row[order] = np.arange(len(order))
    changed = (
        None if events.changed is None else tuple(None if r is None else np.sort(new_row[r]) for r in events.changed)
    )
    moved = not np.array_equal(order, np.arange(len(order)))
    return PackedBatch(
        batch.take(order) if moved else batch,
        np.append(heads, len(batch)),
        new_row[code_rows[event[order[heads]]]],
        changed,
        topic,
        None if partition is None else partition[order][heads],
        None if key is None else key.take(pa.array(order[heads])),
    )
