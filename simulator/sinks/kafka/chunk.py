"""Which message the client reports: librdkafka reports bytes, and a report wants the position in the stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simulator.batch import MessageBatch


class Chunk:
    """The delivery callback of up to 1000 messages in a row, which finds a failed one among them again.

    A callback of its own for each message would cost a third of the time that producing it takes. The client hands
    back topic, partition, key and value; of messages in which all four are equal, the earlier counts as the failed one.
    """

    __slots__ = ("_rows", "batch", "first_row", "report")

    def __init__(self, batch: MessageBatch, first_row: int, report: Callable[[Chunk, Any, Any], None]) -> None:
        self.batch = batch
        self.first_row = first_row
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
        rows = self._rows.get((message.topic(), message.partition(), message.key(), message.value()))
        if not rows:
            raise LookupError("librdkafka reports a message that was not sent")  # a bug, here or there
        return self.first_row + rows.pop(0)
