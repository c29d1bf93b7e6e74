"""Messages of a block under faults: a batch with wider order keys, so that messages fit between others.

An ordinal is `SPREAD` times as large as in a run without faults. Messages with the same key get ordinals in steps of
`NEXT`; messages that come again precede the first key of the next life, in the same steps; messages inserted after
another take the numbers in between. So the messages of each partition have ascending keys, as sinks and `--resume`
require.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.batch import MESSAGE_SCHEMA, Ints, MessageBatch
from simulator.model import OrderKey
from simulator.values.draw import Bits, bits, chance, key, mix

SPREAD: Final = 1 << 28
NEXT: Final = 8
# Repeated messages that fit before a key.
MOST_REPEATED: Final = SPREAD // 2 // NEXT
Rows = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A fault that occurred: its name, the order key of the (first) message in a run without faults, its topic and
    partition (None: the client decides), the number of messages concerned, and details.
    """

    fault: str
    order: OrderKey
    topic: str
    partition: int | None
    messages: int = 1
    detail: str = ""

    def as_dict(self) -> dict[str, Any]:
        members: dict[str, Any] = {"fault": self.fault, "order": str(self.order), "topic": self.topic}
        members |= {"partition": self.partition, "messages": self.messages}
        return {**members, "detail": self.detail} if self.detail else members


def spread(batch: MessageBatch, new: OrderKey | None) -> MessageBatch:
    """The messages with wider order keys; those below `new` get keys right before it. Raises OverflowError if they are
    too many.
    """
    turn, ordinal = (np.asarray(batch[name]) for name in ("turn", "ordinal"))
    same = np.zeros(len(batch), dtype=np.int64)
    same[1:] = (np.diff(turn) == 0) & (np.diff(ordinal) == 0)
    rows = np.arange(len(batch))
    begins = np.maximum.accumulate(np.where(same == 0, rows, 0))
    wide = ordinal * SPREAD + (rows - begins) * NEXT
    if new is not None and len(batch):
        again = below(batch, new)
        count = int(again.sum())
        if count > MOST_REPEATED:
            raise OverflowError
        turn = np.where(again, new.turn, turn)
        first = max(new.ordinal, -(1 << 30)) * SPREAD - SPREAD // 2
        wide = np.where(again, first + rows * NEXT, wide)
    return with_columns(batch, turn=pa.array(turn), ordinal=pa.array(wide))


def below(batch: MessageBatch, key: OrderKey) -> Rows:
    """Marks the messages with an order key below this one."""
    turn, ordinal = (np.asarray(batch[name]) for name in ("turn", "ordinal"))
    is_below: Rows = (turn < key.turn) | ((turn == key.turn) & (ordinal < key.ordinal))
    return is_below


def with_columns(batch: MessageBatch, **columns: pa.Array) -> MessageBatch:
    arrays = [columns.get(field.name, batch[field.name]) for field in MESSAGE_SCHEMA]
    return MessageBatch(pa.RecordBatch.from_arrays(arrays, schema=MESSAGE_SCHEMA))


def joined(batches: Sequence[MessageBatch]) -> MessageBatch:
    """The messages of all batches, one batch after the other."""
    if len(batches) == 1:
        return batches[0]
    table = pa.Table.from_batches([batch.columns for batch in batches]).unify_dictionaries().combine_chunks()
    return MessageBatch(table.to_batches()[0] if table.num_rows else batches[0].columns.slice(0, 0))


class Flow:
    """The messages of a block while faults are applied: in order of their keys, with the faults that occurred."""

    def __init__(self, batch: MessageBatch, seed: int) -> None:
        self.batch, self._seed = batch, seed
        self.occurrences: list[Occurrence] = []

    def __len__(self) -> int:
        return len(self.batch)

    def column(self, name: str) -> npt.NDArray[Any]:
        return np.asarray(self.batch[name])

    @property
    def lanes(self) -> Ints:
        """Number of each message's lane: its topic and partition. If the client decides the partition, a topic is one
        lane.
        """
        topics = np.asarray(self.batch["topic"].indices).astype(np.int64)
        partitions = np.asarray(self.batch["partition"].fill_null(-1)).astype(np.int64)
        return topics * (1 << 32) + partitions + 1

    def draws(self, fault: str) -> Bits:
        """A draw for each message, from its order key."""
        turn, ordinal = self.column("turn"), self.column("ordinal")
        return bits(key(self._seed, fault), (mix(turn.astype(np.uint64)) ^ ordinal.astype(np.uint64)).view(np.int64))

    def struck(self, fault: str, share: float, among: Rows | None = None) -> Ints:
        """Rows of the messages that a fault strikes."""
        rows = chance(self.draws(fault), share)
        return np.flatnonzero(rows if among is None else rows & among)

    def note(self, fault: str, rows: Ints, *, messages: int = 1, detail: str = "") -> None:
        """Records that a fault occurred at each of these messages."""
        names = self.batch["topic"].dictionary
        for row in rows.tolist():
            partition = self.batch["partition"][row].as_py()
            topic = names[self.batch["topic"].indices[row].as_py()].as_py()
            order = self.batch.order_key(row)
            order = replace(order, ordinal=order.ordinal // SPREAD)
            self.occurrences.append(Occurrence(fault, order, topic, partition, messages, detail))

    def keep(self, rows: Rows) -> None:
        """Drops the messages that are not marked."""
        self.batch = MessageBatch(self.batch.columns.filter(pa.array(rows)))

    def insert(self, rows: Ints, *, before: bool = False, number: int = 1, **columns: pa.Array) -> None:
        """Inserts copies of messages after or before them, with some columns replaced; copies count no row changes."""
        if not len(rows):
            return
        copies = MessageBatch(self.batch.columns.take(pa.array(rows)))
        ordinal = np.asarray(copies["ordinal"]) + (-number if before else number)
        columns = {"ordinal": pa.array(ordinal), "changes": pa.array(np.zeros(len(rows), dtype=np.int32)), **columns}
        self.batch = joined([self.batch, with_columns(copies, **columns)])
        self.sort()

    def rekey(self, rows: Ints, turn: Ints, ordinal: Ints) -> None:
        """Gives messages other order keys."""
        turns, ordinals = self.column("turn").copy(), self.column("ordinal").copy()
        turns[rows], ordinals[rows] = turn, ordinal
        self.batch = with_columns(self.batch, turn=pa.array(turns), ordinal=pa.array(ordinals))
        self.sort()

    def sort(self) -> None:
        phase, turn, ordinal = (self.column(name) for name in ("phase", "turn", "ordinal"))
        self.batch = MessageBatch(self.batch.columns.take(pa.array(np.lexsort((ordinal, turn, phase)))))

    def permute(self, order: Ints) -> None:
        self.batch = MessageBatch(self.batch.columns.take(pa.array(order)))

    def edit(self, rows: Ints, edit: Callable[[bytes, int], bytes | None], fault: str) -> Ints:
        """Edits the values of these messages; a value whose edit returns None is left alone. Returns the
        rows edited.
        """
        if not len(rows):
            return rows
        draws = self.draws(fault)
        edited: Mapping[int, bytes] = {
            row: value
            for row in rows.tolist()
            if (old := self.batch["value"][row].as_py()) is not None
            and (value := edit(old, int(draws[row]))) is not None
        }
        if not edited:
            return np.zeros(0, dtype=np.int64)
        places = np.arange(len(self.batch), dtype=np.int64)
        for number, row in enumerate(edited):
            places[row] = len(self.batch) + number
        values = pa.concat_arrays([self.batch["value"], pa.array(edited.values(), pa.binary())]).take(pa.array(places))
        self.batch = with_columns(self.batch, value=values)
        return np.array(list(edited), dtype=np.int64)
