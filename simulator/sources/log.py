"""Positions in a source's log: one closed form for each system, which every format prints.

A position is arithmetic on the number of a transaction and the place in it (MongoDB: on the commit time). Nothing is
counted, and gaps are allowed as in real life. A transaction has a fixed share of the log, so the position of any change
follows without those before it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.batch import Envelope, Ints
from simulator.model import Event
from simulator.text.template import join

# `Entries.seq` of entries that are not changes of a transaction: statements, heartbeats and snapshot rows.
BEFORE: Final = -1


@dataclass(frozen=True, slots=True)
class Entries:
    """Entries of a log: the numbers from which positions are computed, one NumPy array each.

    `txn` is the number of the transaction and `seq` the place in it: 0 is its BEGIN, 1 to `size` are its changes, size
    + 1 is its COMMIT, and `BEFORE` the position where it begins. A DDL statement is a transaction of its own and is at
    its begin; a heartbeat is at the begin of the next transaction; a snapshot row belongs to no transaction (`size` is
    -1) and is where the log begins, or continues after a new snapshot. `event_ms` and `in_second` are those of
    `Envelope`, as is `header`; `in_second` of a log with one position a transaction is that of its first change.
    """

    txn: Ints
    seq: Ints
    size: Ints
    event_ms: Ints
    in_second: Ints
    header: npt.NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.txn)

    @property
    def begin(self) -> Entries:
        """Begin of the transactions of these entries: reading from there gives the complete transaction."""
        return replace(self, seq=np.full_like(self.seq, BEFORE))

    @property
    def commit(self) -> Entries:
        """The commits of these entries' transactions; snapshot rows stay where they are."""
        return replace(self, seq=np.where(self.size < 0, self.seq, self.size + 1))


def entries(envelope: Envelope) -> Entries:
    """The entries of rows or of transaction marks."""
    if not envelope.phase:
        zero = np.zeros_like(envelope.txn)
        return Entries(zero + envelope.life.base_txn, zero + BEFORE, zero - 1, envelope.event_ms, zero)
    in_second = envelope.in_second if envelope.txn_in_second is None else envelope.txn_in_second
    return Entries(envelope.txn, envelope.seq, envelope.size, envelope.event_ms, in_second, envelope.header)


def entry(event: Event) -> Entries:
    """The entry of a statement or a heartbeat."""
    numbers = (event.txn, BEFORE, 1, event.event_ms, event.in_second)
    if not event.order.phase:
        numbers = (event.life.base_txn, BEFORE, -1, event.event_ms, 0)
    txn, seq, size, event_ms, in_second = np.array(numbers, dtype=np.int64)[:, np.newaxis]
    header = None if event.header is None else np.array([event.header], dtype=object)
    return Entries(txn, seq, size, event_ms, in_second, header)


class Log(ABC):
    """The log of a source system. A subclass says at least how its positions are numbered.

    `one_a_transaction`: all changes of a transaction have one position.
    """

    one_a_transaction: ClassVar[bool] = False

    @abstractmethod
    def number(self, entries: Entries) -> Ints:
        """The positions as integers, which ascend along the stream."""

    def position(self, entries: Entries) -> pa.Array:
        """The positions as the system prints them."""
        return text(self.number(entries))

    def commit_number(self, entries: Entries) -> Ints:
        """The position of each entry's commit as a number: the same for all changes of a transaction."""
        return self.number(entries.commit)

    def transaction_id(self, entries: Entries) -> pa.Array:
        """The system's id of each entry's transaction, as text."""
        return text(entries.txn)


def spread(seq: Ints, *, step: int, share: int) -> Ints:
    """Byte offsets of changes within their transaction's share of the log: `step` bytes per change in the first half,
    then one byte each, and the last byte for all further changes of a very long transaction.

    >>> spread(np.array([0, 1, 3, 4, 5, 6, 19, 20, 1000]), step=8, share=64).tolist()
    [0, 8, 24, 32, 33, 34, 47, 48, 63]
    """
    near = share // 2 // step
    offset: Ints = np.where(seq < near, seq * step, share // 2 + seq - near)
    return np.minimum(offset, share - 1)


def text(numbers: Ints) -> pa.Array:
    """Whole numbers as text."""
    return join([pa.array(numbers)], len(numbers))
