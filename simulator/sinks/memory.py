"""Messages kept in memory, for tests and for looking at them."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.batch import MessageBatch
from simulator.errors import OptionError
from simulator.model import Message
from simulator.sinks.sink import Sink


def open_memory(url: str, *, envelope: bool = False) -> MemorySink:
    """`memory:` or `memory:?partitions=6`."""
    _, _, count = url.partition("?partitions=")
    if not (count or "1").isdigit():
        raise OptionError(f"--to {url}: partitions wants a number.")
    return MemorySink(partitions=int(count or 1))


class MemorySink(Sink):
    """Keeps every batch; `messages()` gives single messages in the order in which they were sent."""

    def __init__(self, *, partitions: int = 1, topic_pattern: str | None = None) -> None:
        super().__init__()
        self.topic_pattern = topic_pattern
        self.batches: list[MessageBatch] = []
        self._partitions = partitions

    def partitions(self, topic: str) -> int:
        return self._partitions

    def send(self, batch: MessageBatch) -> None:
        self.batches.append(batch)
        self.delivered += len(batch)
        self.delivered_changes += batch.changes

    def messages(self) -> Iterator[Message]:
        for batch in self.batches:
            yield from batch.messages()

    def values(self) -> list[bytes]:
        """The values of all messages."""
        return [value for batch in self.batches for value in batch["value"].to_pylist()]

    def flush(self) -> None:
        return

    def close(self) -> None:
        return
