"""What every destination of messages promises: the contract of sinks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

from simulator.batch import MessageBatch


class Sink(ABC):
    """A destination of messages. It takes batches in stream order and keeps that order within each partition.

    `topic_pattern` is the topic that the URL names, None for the format's own. `delivered` and `failed` count messages
    that are acknowledged or given up, `delivered_changes` the row changes in the delivered ones. Whatever goes wrong
    with a message is counted and reported, never swallowed.
    """

    topic_pattern: str | None = None

    def __init__(self) -> None:
        self.delivered = self.delivered_changes = self.failed = 0

    @abstractmethod
    def partitions(self, topic: str) -> int:
        """The topic's partition count, asked before the first message to it is made; creates or finds the topic.

        Raises SinkError.
        """

    @abstractmethod
    def send(self, batch: MessageBatch) -> None:
        """Take the messages. May block, which is the back-pressure, and may return before they are acknowledged."""

    @abstractmethod
    def flush(self) -> None:
        """Return when every message is acknowledged or has failed. Raises DeliveryFailed if any failed."""

    @abstractmethod
    def close(self) -> None:
        """Disconnect. May be called twice; never raises for messages."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
