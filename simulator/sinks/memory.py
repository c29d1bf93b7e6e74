"""Messages kept in memory, for tests and for looking at them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from simulator.batch import MessageBatch
from simulator.model import Message
from simulator.sinks.ledger import Parcel
from simulator.sinks.sink import Sink
from simulator.sinks.target import Transport
from simulator.sinks.url import MOST_PARTITIONS, parse_options, whole_number

OPTIONS: Final = {"partitions": whole_number(1, MOST_PARTITIONS)}


def parse_url(url: str) -> dict[str, Any]:
    """The options of `memory:` or `memory:?partitions=6`. Raises OptionError."""
    return parse_options(url.partition("?")[2], OPTIONS, "a memory URL")


class MemorySink(Sink):
    """Keeps every batch; `messages()` gives single messages in the order in which they were sent."""

    def __init__(self, *, partitions: int = 1, topic_pattern: str | None = None) -> None:
        super().__init__()
        self.topic_pattern = topic_pattern
        self.batches: list[MessageBatch] = []
        self._partitions = partitions

    def partitions(self, topic: str) -> int:
        return self._partitions

    def write(self, batch: MessageBatch, parcels: Sequence[Parcel], *, whole: bool) -> None:
        self.batches.append(batch)
        self.ledger.acknowledge_all()

    def messages(self) -> Iterator[Message]:
        for batch in self.batches:
            yield from batch.messages()

    def values(self) -> list[bytes]:
        """The values of all messages."""
        return [value for batch in self.batches for value in batch["value"].to_pylist()]


MEMORY: Final = Transport(
    form="memory:", parse=parse_url, open=lambda options, contents: MemorySink(**options), options=OPTIONS
)
