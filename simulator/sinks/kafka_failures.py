"""Which message failed: librdkafka reports bytes, and who reads the report wants the place in the stream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from simulator.batch import MessageBatch
from simulator.model import OrderKey


@dataclass(frozen=True, slots=True)
class Failure:
    """The first message that was not delivered: `rank` is (whether only dropped after another, its order key)."""

    rank: tuple[bool, OrderKey]
    what: str


class Chunk:
    """The delivery callback of up to 1000 messages in a row, which finds a failed one among them again.

    A callback of its own for each message would cost a third of the time that producing it takes. The client hands
    back topic, partition, key and value; of messages in which all four are equal, the earlier counts as the failed one.
    """

    __slots__ = ("_rows", "batch", "report")

    def __init__(self, batch: MessageBatch, report: Callable[[Chunk, Any, Any], None]) -> None:
        self.batch = batch
        self.report = report
        self._rows: dict[tuple[Any, ...], list[int]] | None = None

    def __call__(self, error: Any, message: Any) -> None:
        self.report(self, error, message)

    def find(self, message: Any) -> int:
        """The row of a message that the client reports; a second one with the same bytes is the next such row."""
        if self._rows is None:
            self._rows = {}
            columns = [self.batch[name].to_pylist() for name in ("topic", "partition", "key", "value")]
            for row, same in enumerate(zip(*columns, strict=True)):
                self._rows.setdefault(same, []).append(row)
        for partition in (message.partition(), None):
            rows = self._rows.get((message.topic(), partition, message.key(), message.value()))
            if rows:
                return rows.pop(0)
        raise LookupError("librdkafka reports a message that was not sent")  # a bug, here or there
