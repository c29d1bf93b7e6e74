"""Ledger of a run's messages by topic and partition: counts, the last message, and a digest of the values.

`partitions.ledger.parquet` (or `.csv`, `.jsonl`) has `topic`, `partition`, `messages`, `changes` (row changes in them),
`last_turn`, `last_ordinal` and `digest`: 16 hexadecimal digits of a 64-bit number, which is what a reader of the
partition computes from the values alone, in the order in which they come, and in any language:

    digest = 0
    for value in values:  # of a tombstone: no bytes
        digest = (digest * 31 + int.from_bytes(sha256(value).digest()[:8])) % 2**64

(In Java `digest = digest * 31 + ByteBuffer.wrap(sha256.digest(value)).getLong()`.) The digests of two parts that follow
each other give that of both, so tasks compute those of their blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.batch import MessageBatch
from simulator.run.job import Job
from simulator.run.plan import Limits
from simulator.run.session import local_run
from simulator.sinks.ledger import Parcel, Place
from simulator.sinks.sink import Sink

SCHEMA: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("messages", pa.int64()),
        ("changes", pa.int64()),
        ("last_turn", pa.int64()),
        ("last_ordinal", pa.int64()),
        ("digest", pa.string()),
    ]
)
FACTOR: Final = 31
MODULUS: Final = 2**64


@dataclass(slots=True)
class Entry:
    """Messages of a partition."""

    messages: int = 0
    changes: int = 0
    last_turn: int = 0
    last_ordinal: int = 0
    digest: int = 0

    def add(self, later: Entry) -> None:
        """Adds the messages behind these."""
        self.digest = (self.digest * pow(FACTOR, later.messages, MODULUS) + later.digest) % MODULUS
        self.messages += later.messages
        self.changes += later.changes
        self.last_turn, self.last_ordinal = later.last_turn, later.last_ordinal


class PartitionLedger(Sink):
    """A sink that counts and digests messages instead of sending them. `partitions_of`: partition count by topic."""

    def __init__(self, partitions_of: Callable[[str], int]) -> None:
        super().__init__()
        self._partitions_of = partitions_of
        self._entries: dict[Place, Entry] = {}

    def partitions(self, topic: str) -> int:
        return self._partitions_of(topic)

    def write(self, batch: MessageBatch, parcels: Sequence[Parcel], *, whole: bool) -> None:
        for parcel in parcels:
            rows = pa.array(parcel.rows)
            last = int(parcel.rows[-1])
            later = Entry(
                len(parcel),
                int(np.asarray(batch["changes"])[parcel.rows].sum()),
                batch["turn"][last].as_py(),
                batch["ordinal"][last].as_py(),
                digest_of(batch["value"].take(rows).to_pylist()),
            )
            self._entries.setdefault((parcel.topic, parcel.partition), Entry()).add(later)
        self.ledger.acknowledge_all()

    def table(self) -> pa.Table:
        """The ledger, by topic and partition."""
        return _table(self._entries)


def digest_of(values: Sequence[bytes | None]) -> int:
    """Digest of the values of messages in their order.

    >>> f"{digest_of([b'a', None]):016x}"
    '6c0965891258178a'
    """
    hashes = np.frombuffer(b"".join(sha256(value or b"").digest()[:8] for value in values), dtype=">u8")
    factors: npt.NDArray[Any] = np.full(len(hashes), FACTOR, dtype=np.uint64)
    factors[:1] = 1
    powers = np.multiply.accumulate(factors)[::-1]
    return int((hashes.astype(np.uint64) * powers).sum(dtype=np.uint64))


def joined(parts: Iterable[pa.Table]) -> pa.Table:
    """The ledger of parts of a run in their order, such as those of Spark's tasks."""
    entries: dict[Place, Entry] = {}
    for part in parts:
        for row in part.to_pylist():
            numbers = {name: row[name] for name in SCHEMA.names[2:-1]}
            later = Entry(**numbers, digest=int(row["digest"], 16))
            entries.setdefault((row["topic"], row["partition"]), Entry()).add(later)
    return _table(entries)


def _table(entries: dict[Place, Entry]) -> pa.Table:
    rows = [
        (*place, entry.messages, entry.changes, entry.last_turn, entry.last_ordinal, f"{entry.digest:016x}")
        for place, entry in sorted(entries.items())
    ]
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)


def partition_ledger(job: Job, turn: int, *, snapshot: bool | None) -> pa.Table:
    """The ledger of a job's messages before a border of the stream; `snapshot` None: as the scenario says."""
    sink = PartitionLedger(job.addressing.partitions)
    local_run(job, sink, limits=Limits(turns=turn), snapshot=snapshot)()
    return sink.table()
