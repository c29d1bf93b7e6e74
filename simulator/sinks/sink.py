"""Contract of sinks, the destinations of messages. README.md describes it in detail."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self, final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import MessageBatch
from simulator.delivery.hashes import murmur2, to_positive_mod
from simulator.model import OrderKey
from simulator.sinks.ledger import Ints, Ledger, Parcel, Parts, Seconds

# Messages without a key stay on one partition for this many turns, as Java's producer stays while it fills a batch.
STICKY_TURNS = 64


@dataclass(frozen=True, slots=True)
class FileState:
    """State of a file that a run writes: its size in bytes, and the SHA-256 of its last bytes (at most
    `files.TAIL_BYTES`), empty before the run has created it. `may_grow`: the run may have written more after it kept
    the state."""

    size: int
    tail: str
    may_grow: bool = True


class Sink(ABC):
    """A destination of messages. Takes batches in stream order and keeps that order within each partition.

    A sink implements `partitions` and `write`, and acknowledges parcels at its ledger when they have arrived. The
    ledger counts what is sent, delivered and failed; nothing that goes wrong with a message is swallowed.

    `topic_pattern` is the topic that the URL names, None for the format's own.
    """

    topic_pattern: str | None = None
    # Whether `write` reads the rows of its parcels alone: it is then given a batch of which others are sent later.
    reads_parcels_alone = False
    # Sentence that a user should read before messages are sent.
    notice: str | None = None

    def __init__(self) -> None:
        self.ledger = Ledger()
        # Sees each batch before it is sent, with its partitions chosen.
        self.watch: Callable[[MessageBatch, Sequence[Parcel]], None] | None = None

    # Implemented by sinks

    @abstractmethod
    def partitions(self, topic: str) -> int:
        """The topic's partition count, asked before the first message to it is made; creates or finds the topic.

        Raises SinkError.
        """

    @abstractmethod
    def write(self, batch: MessageBatch, parcels: Sequence[Parcel], *, whole: bool) -> None:
        """Send the batch, cut into parcels by partition. See `send`."""

    def flush(self) -> None:
        """Returns when every message is acknowledged or has failed. Raises DeliveryFailed if any failed."""
        self.check()

    def check(self) -> None:
        """Raises DeliveryFailed if any message failed, once all others are acknowledged or have failed."""
        self.ledger.check()

    def poll(self) -> None:  # noqa: B027 - most sinks have nothing to do
        """Lets the client handle answers and heartbeats while nothing is sent. Call it at least every tenth of a
        second."""

    def close(self) -> None:  # noqa: B027
        """Disconnects; messages without an answer count as failed. May be called twice; never raises for messages."""

    def stored(self, run_id: str, topics: Collection[str]) -> OrderKey | Literal["nowhere"] | None:
        """Position of a run that the destination itself stores: the order key up to which it has every message of the
        run to these topics; None for no message yet, "nowhere" if it stores no positions. From then on the sink keeps
        the run's position."""
        return "nowhere"

    def most_arrived(self, topic: str) -> Sequence[float] | None:
        """For each partition of a topic, the most messages that can have arrived there since it was created; none for a
        topic that does not exist. None where the destination cannot tell. Creates nothing. Raises SinkError."""
        return None

    def settings_of_places(self) -> Mapping[str, str]:
        """Settings outside of the URL that decide where messages go: a resumed run must have the same."""
        return {}

    def files(self) -> Mapping[str, FileState]:
        """State on disk of each file that the sink has written to: a resumed run appends to them."""
        return {}

    def new_files(self, batch: MessageBatch) -> Collection[str]:
        """Files that sending this batch will create. Raises SinkError if one exists that the run did not write."""
        return ()

    def make_files(self, batch: MessageBatch) -> None:  # noqa: B027 - only sinks that write files have them
        """Creates the files of a batch, once a resume file names them. Raises SinkError."""

    @property
    def trouble(self) -> str | None:
        """Reason why the broker does not answer, in its client's words; None if it answers."""
        return None

    def choose(self, keys: pa.Array, turns: Ints, count: int) -> Ints:
        """Partitions of messages that leave the choice to the client; keys are hashed as by Java's Kafka producer.

        Messages without a key rotate over the partitions by their position in the stream.
        """
        chosen = to_positive_mod(murmur2(keys), count).astype(np.int64)
        return np.where(np.asarray(keys.is_null()), turns // STICKY_TURNS % count, chosen)

    # Called by users of a sink

    @final
    def send(
        self, batch: MessageBatch, *, due: Seconds | None = None, whole: bool = True, parts: Parts | None = None
    ) -> None:
        """Sends messages. May block (back-pressure), and may return before they are acknowledged.

        `due` has the due time of each message on the monotonic clock (default: now); `whole`: the batch ends at the end
        of a source transaction; `parts`: all that is sent now of a batch whose partitions are chosen. Raises
        DeliveryFailed once any message failed, and SinkError.
        """
        self.poll()
        self.check()
        if parts is not None and not self.reads_parcels_alone:
            rows = np.sort(np.concatenate([rows for _, rows in parts]))
            batch, parts = MessageBatch(batch.columns.take(pa.array(rows))), None
        if len(batch):
            for topic in pc.unique(batch["topic"]).to_pylist():
                self.partitions(topic)
            batch = self.place(batch)
            parcels = self.ledger.enter(batch, due, parts)
            if self.watch is not None:
                self.watch(batch, parcels)
            self.write(batch, parcels, whole=whole)

    @final
    def place(self, batch: MessageBatch) -> MessageBatch:
        """The batch with all partitions chosen."""
        partitions = batch["partition"]
        if not partitions.null_count:
            return batch
        chosen = np.asarray(partitions.fill_null(-1)).copy()
        topics = np.asarray(batch["topic"].indices)
        turns = np.asarray(batch["turn"])
        for index in np.unique(topics[chosen < 0]).tolist():
            rows = np.flatnonzero((chosen < 0) & (topics == index))
            count = self.partitions(batch["topic"].dictionary[index].as_py())
            chosen[rows] = self.choose(batch["key"].take(pa.array(rows)), turns[rows], count)
        column = batch.columns.schema.get_field_index("partition")
        return MessageBatch(batch.columns.set_column(column, "partition", pa.array(chosen)))

    @property
    def delivered(self) -> int:
        return self.ledger.delivered

    @property
    def delivered_changes(self) -> int:
        return self.ledger.delivered_changes

    @property
    def failed(self) -> int:
        return self.ledger.failed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
