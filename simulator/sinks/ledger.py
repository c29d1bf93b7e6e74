"""Ledger of messages: counts of sent, acknowledged and failed ones, by topic and partition.

A sink enters each batch before it sends it, and gets a `Parcel` for each partition that the batch goes to. Messages of
a partition are numbered from 0 in the order in which they are sent; brokers acknowledge them in that order.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from simulator.batch import MessageBatch
from simulator.errors import DeliveryFailed
from simulator.model import OrderKey
from simulator.order import following
from simulator.sinks.framing import offsets_of

Ints: TypeAlias = npt.NDArray[np.int64]
Seconds: TypeAlias = npt.NDArray[np.float64]
Place: TypeAlias = tuple[str, int]  # topic and partition
Parts: TypeAlias = Sequence[tuple[Place, Ints]]  # rows of a batch, ascending, by topic and partition

NOT_SENT: Final = "it was not sent after that failure"


@dataclass(frozen=True, slots=True)
class _Columns:
    """Columns of a batch that the ledger keeps: views of its memory, without the values."""

    phase: Ints
    turn: Ints
    ordinal: Ints
    changes: Ints
    ends: tuple[npt.NDArray[np.int32], ...]  # where keys and values begin and end
    due: Seconds  # when each message was due, on the monotonic clock

    @classmethod
    def of(cls, batch: MessageBatch, due: Seconds | None) -> _Columns:
        return cls(
            phase=np.asarray(batch["phase"]),
            turn=np.asarray(batch["turn"]),
            ordinal=np.asarray(batch["ordinal"]),
            changes=np.asarray(batch["changes"]),
            ends=tuple(offsets_of(batch[name]) for name in ("key", "value")),
            due=np.broadcast_to(time.monotonic(), len(batch)) if due is None else due,
        )


@dataclass(frozen=True, slots=True)
class Parcel:
    """The messages of one batch that go to one partition: `rows` of the batch, ascending; `first` numbers the first."""

    topic: str
    partition: int
    rows: Ints
    first: int
    previous: OrderKey | None  # of the message before the first
    columns: _Columns = field(repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    def __contains__(self, row: int) -> bool:
        index = int(np.searchsorted(self.rows, row))
        return index < len(self.rows) and int(self.rows[index]) == row

    @property
    def end(self) -> int:
        """The number of the next message of the partition."""
        return self.first + len(self.rows)

    def number(self, row: int) -> int:
        """The number of the first message in this row of the batch, or behind it."""
        return self.first + int(np.searchsorted(self.rows, row))

    def changes(self, number: int, end: int) -> int:
        """Row changes in the messages from one number up to another."""
        return int(self.columns.changes[self.rows[number - self.first : end - self.first]].sum())

    def due(self, number: int, end: int) -> Seconds:
        return self.columns.due[self.rows[number - self.first : end - self.first]]

    def size(self, number: int) -> int:
        """Bytes of the key and value of a message."""
        row = self.rows[number - self.first]
        return sum(int(ends[row + 1] - ends[row]) for ends in self.columns.ends if len(ends))

    def order_key(self, number: int) -> OrderKey:
        row, columns = self.rows[number - self.first], self.columns
        return OrderKey(int(columns.phase[row]), int(columns.turn[row]), int(columns.ordinal[row]))

    def before(self, number: int) -> OrderKey | None:
        """The last order key below that of this message: a change and its tombstone share one."""
        own = self.order_key(number)
        earlier = (self.order_key(n) for n in range(number - 1, self.first - 1, -1))
        return next((key for key in earlier if key != own), self.previous)


@dataclass(frozen=True, slots=True)
class Position:
    """Position at which a run continues: `next` is the first order key that may be missing on a partition, None for an
    empty run.

    `acknowledged` has for each topic and partition the order key up to which it holds every message, or an earlier one.
    """

    next: OrderKey | None
    acknowledged: Mapping[Place, OrderKey]


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a partition: counts of messages, the first and last order key sent, the last acknowledged."""

    topic: str
    partition: int
    sent: int
    delivered: int
    failed: int
    first: OrderKey
    last: OrderKey
    acknowledged: OrderKey | None


@dataclass(slots=True)
class _Account:
    """Account of one partition. Messages below `done` are acknowledged or failed; `parcels` hold the others."""

    first: OrderKey
    last: OrderKey
    sent: int = 0
    done: int = 0
    failed: list[int] = field(default_factory=list)  # numbers, ascending
    parcels: deque[Parcel] = field(default_factory=deque)
    gap: tuple[OrderKey, OrderKey | None] | None = None  # the first key that failed, and the last key before it

    @property
    def first_open(self) -> OrderKey | None:
        if self.gap is not None:
            return self.gap[0]
        return self.parcels[0].order_key(self.done) if self.parcels else None

    @property
    def delivered(self) -> int:
        """Number of messages that have arrived."""
        return self.done - bisect_left(self.failed, self.done)

    @property
    def acknowledged(self) -> OrderKey | None:
        """Order key up to which every message has arrived."""
        if self.gap is not None:
            return self.gap[1]
        return self.parcels[0].before(self.done) if self.parcels else self.last


class Ledger:
    """Counts every message once. Safe for several threads.

    `delivered`, `delivered_changes` and `failed` count messages whose outcome is known. `latencies`, if set, gets the
    seconds from the due time of messages to their acknowledgement, one array at a time. `keep_repeated`, if set, stores
    the count of repeated messages before they are sent, in whichever thread sends them.
    """

    def __init__(self) -> None:
        self.sent = self.delivered = self.delivered_changes = self.failed = 0
        self.latencies: Callable[[Seconds], None] | None = None
        self.keep_repeated: Callable[[], None] | None = None
        self._repeated: Counter[Place] = Counter()
        self._accounts: dict[Place, _Account] = {}
        self._failure: tuple[tuple[bool, OrderKey], str] | None = None
        self._gave_up: str | None = None
        self._lock = threading.RLock()
        self._moved = time.monotonic()

    # Entering

    def enter(self, batch: MessageBatch, due: Seconds | None = None, parts: Parts | None = None) -> list[Parcel]:
        """Enters a batch whose partitions are all chosen, or these parts of it alone, in stream order. Equal order keys
        of a partition never span batches."""
        columns = _Columns.of(batch, due)
        parcels = []
        with self._lock:
            if not self.open:
                self._moved = time.monotonic()
            for (topic, partition), rows in by_partition(batch) if parts is None else parts:
                self.sent += len(rows)
                account = self._accounts.get((topic, partition))
                number, previous = (account.sent, account.last) if account else (0, None)
                parcel = Parcel(topic, partition, rows, number, previous, columns)
                last = parcel.order_key(parcel.end - 1)
                if account is None:
                    account = self._accounts[topic, partition] = _Account(parcel.order_key(0), last)
                account.parcels.append(parcel)
                account.sent, account.last = parcel.end, last
                parcels.append(parcel)
        return parcels

    # Answers

    def acknowledge(self, topic: str, partition: int, upto: int) -> None:
        """Notes that the partition's messages numbered below `upto` are delivered, except those that failed."""
        now = time.monotonic()
        with self._lock:
            account = self._accounts[topic, partition]
            while account.done < min(upto, account.sent):
                parcel = account.parcels[0]
                end = min(upto, parcel.end)
                lost = account.failed[bisect_left(account.failed, account.done) : bisect_left(account.failed, end)]
                self.delivered += end - account.done - len(lost)
                self.delivered_changes += parcel.changes(account.done, end)
                self.delivered_changes -= sum(parcel.changes(number, number + 1) for number in lost)
                if self.latencies is not None:
                    due = parcel.due(account.done, end)
                    self.latencies(now - np.delete(due, [number - account.done for number in lost]))
                account.done = end
                if end == parcel.end:
                    account.parcels.popleft()
                self._moved = now

    def acknowledge_parcel(self, parcel: Parcel) -> None:
        """Notes that all messages up to the end of the parcel are delivered, except those that failed."""
        self.acknowledge(parcel.topic, parcel.partition, parcel.end)

    def acknowledge_all(self) -> None:
        """Notes that no message is in flight any more: all that have not failed are delivered."""
        with self._lock:
            for place, account in self._accounts.items():
                self.acknowledge(*place, account.sent)

    def fail(self, parcel: Parcel, number: int, reason: str, *, dropped: bool = False) -> None:
        """Notes that a message was not delivered; `dropped`: only since another one failed. A second call changes
        nothing."""
        with self._lock:
            account = self._accounts[parcel.topic, parcel.partition]
            index = bisect_left(account.failed, number)
            if account.failed[index : index + 1] == [number]:
                return
            account.failed.insert(index, number)
            self.failed += 1
            if number < account.done:  # it was counted as delivered
                self.delivered -= 1
                self.delivered_changes -= parcel.changes(number, number + 1)
            key = parcel.order_key(number)
            if index == 0:
                account.gap = key, parcel.before(number)
            if self._failure is None or (dropped, key) < self._failure[0]:
                where = f"topic {parcel.topic!r} partition {parcel.partition}"
                self._failure = (dropped, key), f"{key} for {where} ({parcel.size(number)} bytes): {reason}"

    def repeat(self, counts: Mapping[Place, int]) -> None:
        """Counts messages of partitions that are about to be sent again. Raises SimulatorError if a resumable run
        cannot store the count: the messages must not be sent then."""
        with self._lock:
            self._repeated.update(counts)
        if self.keep_repeated is not None and any(counts.values()):  # without the lock: it asks for the counts
            self.keep_repeated()

    def withhold(self, parcel: Parcel, number: int) -> None:
        """Notes that the messages of a parcel from this number on were never sent."""
        for unsent in range(max(number, parcel.first), parcel.end):
            self.fail(parcel, unsent, NOT_SENT, dropped=True)

    def fail_open(self, reason: str = NOT_SENT, *, dropped: bool = True) -> None:
        """Marks all messages without an answer as failed."""
        with self._lock:
            for place, account in self._accounts.items():
                for parcel in account.parcels:
                    for number in range(max(parcel.first, account.done), parcel.end):
                        self.fail(parcel, number, reason, dropped=dropped)
                self.acknowledge(*place, account.sent)

    def give_up(self, reason: str) -> None:
        """Notes that the client cannot send anything more, and why."""
        self._gave_up = self._gave_up or reason

    # Questions

    @property
    def repeated(self) -> Counter[Place]:
        """Messages that were sent again since it was unknown whether the broker had them, or were about to be."""
        with self._lock:
            return Counter(self._repeated)

    @property
    def open(self) -> int:
        """Number of messages in flight."""
        return self.sent - self.delivered - self.failed

    @property
    def stalled_seconds(self) -> float:
        """Seconds for which messages have been waiting without a single answer."""
        return time.monotonic() - self._moved if self.open else 0.0

    @property
    def has_failed(self) -> bool:
        return self._failure is not None or self._gave_up is not None

    def position(self) -> Position:
        """Position at which a resumed run would continue if this one ended now."""
        with self._lock:
            accounts = self._accounts
            start = min((key for account in accounts.values() if (key := account.first_open)), default=None)
            if start is None and accounts:
                last = max(account.last for account in accounts.values())
                start = following(last)
            return Position(start, {place: key for place, a in accounts.items() if (key := a.acknowledged)})

    @property
    def arrived(self) -> Counter[Place]:
        """Number of messages that have arrived, by topic and partition."""
        with self._lock:
            return Counter({place: account.delivered for place, account in self._accounts.items()})

    def progress(self) -> list[Progress]:
        """Progress of each partition, sorted by topic and partition."""
        with self._lock:
            return [
                Progress(
                    *place,
                    a.sent,
                    a.delivered,
                    len(a.failed),
                    a.first,
                    a.last,
                    a.acknowledged,
                )
                for place, a in sorted(self._accounts.items())
            ]

    def check(self) -> None:
        """Raises DeliveryFailed if any message failed; the error has their number, the first one and the reason."""
        with self._lock:
            if not self.has_failed:
                return
            sentence = f"{self.failed} of {self.sent} messages were not delivered"
            if self._failure:
                sentence += f"; the first was {self._failure[1]}"
            if self._gave_up:
                sentence += f"; the client gave up: {self._gave_up}"
            raise DeliveryFailed(f"{sentence}.")


def by_partition(batch: MessageBatch) -> Iterator[tuple[Place, Ints]]:
    """Each topic and partition of a batch, and its rows."""
    names: Sequence[str] = batch["topic"].dictionary.to_pylist()
    topics, partitions = np.asarray(batch["topic"].indices), np.asarray(batch["partition"])
    width = int(partitions.max(initial=0)) + 1
    # a stable sort of small numbers is several times as fast in 16 bits
    small = len(names) * width < 1 << 16
    codes = topics.astype(np.int64) * width + partitions
    order = np.argsort(codes.astype(np.uint16) if small else codes, kind="stable")
    codes = codes[order]
    borders = [0, *(np.flatnonzero(codes[1:] != codes[:-1]) + 1).tolist(), len(codes)]
    for start, end in pairwise(borders):
        if end > start:
            topic, partition = divmod(int(codes[start]), width)
            yield (names[topic], partition), order[start:end]
