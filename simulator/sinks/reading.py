"""Messages read back from brokers: their columns, and the contract of readers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Final, Protocol, TypeAlias

import pyarrow as pa

from simulator.errors import UsageError

Place: TypeAlias = tuple[str, int]  # topic and partition
# Columns by name: `value`, and `key`, `tag`, `timestamp_ms`, `headers` where they are known.
Records: TypeAlias = pa.RecordBatch

HEADERS: Final = pa.list_(pa.struct([("name", pa.string()), ("value", pa.binary())]))


class Reader(Protocol):
    """Source of messages that were sent. `name` is for people; `columns` are the columns that it knows of messages.

    `topic_pattern`: the pattern in the URL. `prefix_bytes`: number of bytes that values lack at their beginning.
    """

    name: str
    topic_pattern: str | None
    columns: Sequence[str]
    prefix_bytes: int

    def topic(self) -> str | None:
        """The only topic that the URL names; None: files, of which `others` reads all. Raises UsageError if a
        broker's URL names none or several."""

    def partitions(self, topic: str) -> int:
        """Partition count of a topic. Raises SinkError, UsageError."""

    def place(self, topic: str, partition: int) -> Place:
        """The place that holds a partition's messages: itself, or a queue or file that holds several."""

    def take(self, place: Place, count: int) -> Records | None:
        """Some of the next messages of a place, at most `count`; empty: none for now; None: there are no more."""

    def others(self) -> Iterator[tuple[Place, Records]]:
        """The messages of places that `take` was never called for."""

    def close(self) -> None: ...


class PartitionReader(ABC):
    """A reader of a broker whose partitions are read one by one. `read` has those of the topics that were asked for."""

    name: str
    topic_pattern: str | None
    # Messages to ask for at once.
    at_once: int

    def topic(self) -> str:
        return one_topic(self.topic_pattern, self.name)

    def place(self, topic: str, partition: int) -> Place:
        return topic, partition

    def others(self) -> Iterator[tuple[Place, Records]]:
        for place in self.read():
            while (records := self.take(place, self.at_once)) is not None:
                yield place, records

    @abstractmethod
    def read(self) -> Sequence[Place]: ...

    @abstractmethod
    def take(self, place: Place, count: int) -> Records | None: ...


def one_topic(pattern: str | None, name: str) -> str:
    """The topic of a pattern. Raises UsageError if it is none or has placeholders."""
    if not pattern or "{" in pattern:
        raise UsageError(f"{name}: the URL names no topic, or several: name one.")
    return pattern
