"""One partition's messages that librdkafka holds. Their batches stay in memory, from which librdkafka reads values."""

from __future__ import annotations

from collections import deque
from typing import Final

from simulator.batch import MessageBatch
from simulator.sinks.ledger import Parcel

# A message's ticket: the index of its partition, and below it the message's number.
NUMBER_BITS: Final = 44


class Partition:
    """The state of a partition. Messages are numbered from 0: those below `sent` were queued, those below `answered`
    were reported.

    One thread sends, another one reads reports.
    """

    def __init__(self, topic: str, number: int, index: int) -> None:
        self.topic, self.number = topic, number
        self.ticket = index << NUMBER_BITS  # of the first message
        self.sent = self.answered = 0
        self._ahead: dict[int, int] = {}  # first to end of reported ranges behind messages that are not
        self._held: deque[tuple[Parcel, MessageBatch]] = deque()

    def hold(self, parcel: Parcel, batch: MessageBatch) -> None:
        """Keeps the memory of the parcel's messages until all are reported."""
        self._held.append((parcel, batch))

    def parcel(self, message: int) -> Parcel:
        """The parcel of a message that is not reported yet."""
        return next(parcel for parcel, _ in tuple(self._held) if message < parcel.end)

    def answer(self, first: int, end: int) -> None:
        """Notes that the messages from number `first` up to `end` are reported."""
        self._ahead[first] = end
        while (upto := self._ahead.pop(self.answered, None)) is not None:
            self.answered = upto
        while self._held and self._held[0][0].end <= self.answered:
            self._held.popleft()
