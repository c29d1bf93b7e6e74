"""Messages that rows of several transactions share: rows of one table and kind that are neighbours in a partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from simulator.batch import ChangeBatch, Ints, PackedBatch, changed_rows
from simulator.delivery.pack import repeats
from simulator.delivery.router import Addressed
from simulator.model import MARKS, UPDATE


def runs(batches: Sequence[ChangeBatch], to: Sequence[Addressed], *apart: Sequence[Ints]) -> list[Ints]:
    """For each row the number of its run, by batch. `batches` are all those of a block, and `to` their destinations.

    Rows of a run are neighbours in their partition, of one batch, and have equal numbers in each of `apart`. Each half
    of a split update and each mark is a run of its own.
    """
    sizes = [len(batch) for batch in batches]
    turn = np.concatenate([batch.envelope.turn for batch in batches])
    ordinal = np.concatenate([batch.envelope.ordinal for batch in batches])
    topics = {name: number for number, name in enumerate(dict.fromkeys(each.topic for each in to))}
    topic = np.repeat([topics[each.topic] for each in to], sizes)
    partition = np.concatenate(
        [
            np.zeros(n, dtype=np.int64) if at.partitions is None else at.partitions
            for at, n in zip(to, sizes, strict=True)
        ]
    )
    number = np.repeat(np.arange(len(batches)), sizes)
    order = np.lexsort((ordinal, turn, partition, topic))
    begins = np.repeat([batch.moved or batch.kind in MARKS for batch in batches], sizes)[order]
    for each in (topic, partition, number, *map(np.concatenate, apart)):
        begins[1:] |= np.diff(each[order]) != 0
    run = np.empty(len(order), dtype=np.int64)
    run[order] = np.cumsum(begins)
    return np.split(run, np.cumsum(sizes)[:-1])


def shared(batch: ChangeBatch, run: Ints, to: Addressed, most: int) -> PackedBatch:
    """The messages of a batch, in the order of their first rows: each run is cut into messages of at most `most` rows.

    A message has the times of its last row. An update that leaves a row just like an earlier one of its message begins
    another message.
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
    place = rows - np.repeat(heads, np.diff(heads, append=count))
    starts = place % most == 0
    first = np.empty(count, dtype=np.int64)  # row to the first row of its message
    first[grouped] = grouped[starts][np.cumsum(starts) - 1]
    order = np.argsort(first, kind="stable")
    begin = np.append(np.flatnonzero(np.diff(first[order], prepend=-1)), count)
    at, last = order[begin[:-1]], order[begin[1:] - 1]
    back = np.argsort(order, kind="stable")
    changed = None
    if batch.kind is UPDATE:
        columns = (changed_rows(batch, i) for i in range(len(batch.table.columns)))
        changed = tuple(None if rows is None else np.sort(back[rows]) for rows in columns)
    taken = batch if np.array_equal(order, rows) else batch.take(order)
    event_ms, write_ms = (
        np.repeat(ms[last], np.diff(begin)) for ms in (batch.envelope.event_ms, batch.envelope.write_ms)
    )
    return PackedBatch(
        replace(taken, envelope=replace(taken.envelope, event_ms=event_ms, write_ms=write_ms)),
        begin,
        begin[1:] - 1,
        changed,
        to.topic,
        None if to.partitions is None else to.partitions[at],
        None if to.keys is None else to.keys.take(pa.array(at)),
    )
