"""Queues of RabbitMQ read back, each up to where it ended when reading began; they keep their messages.

Messages of classic and quorum queues are taken and not acknowledged; at the end they are given back, in their order. A
consumer gets at most `PREFETCH` of them, so memory is bounded: when more are requested, another consumer gets the next
ones. A stream keeps its messages anyway, and each has its offset.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pyarrow as pa

from simulator.errors import SinkError, UsageError
from simulator.sinks.rabbitmq.broker import Broker
from simulator.sinks.rabbitmq.url import CONSISTENT_HASH, RabbitmqUrl
from simulator.sinks.reading import HEADERS, one_topic

SCHEMA: Final = pa.schema([("value", pa.binary()), ("headers", HEADERS)])
# Unacknowledged messages per consumer. More than a chunk of a stream, which has up to 4,096 messages.
PREFETCH: Final = 10_000
AT_ONCE: Final = 10_000
POLL_SECS: Final = 0.5
# The longest silence of a broker that has messages.
PATIENCE_SECS: Final = 60
# A stream has ended after this silence: its message count is some seconds old (`collect_statistics_interval`: 5 s).
SILENCE_SECS: Final = 6.0
OFFSET: Final = "x-stream-offset"
# Header of a message that was given back to a quorum queue.
RETURNED: Final = "x-delivery-count"


@dataclass(slots=True)
class Queue:
    """State of a queue: messages that wait, messages received, and its end (None: a stream, whose end is not known).

    `requested`: the most messages that its consumers get without acknowledging any.
    """

    name: str
    channel: Any
    end: int | None
    waiting: deque[tuple[bytes, Any]] = field(default_factory=deque)
    consumers: list[str] = field(default_factory=list)
    requested: int = 0
    received: int = 0
    ended: bool = False
    rotates: bool = False  # what is given back goes behind what was given back before
    last: int = 0  # delivery tag of the last message


class RabbitmqReader:
    """The messages of queues. Raises SinkError where the broker cannot be used, UsageError for queues that cannot tell
    what was sent."""

    prefix_bytes = 0
    columns: Sequence[str] = SCHEMA.names

    def __init__(self, url: RabbitmqUrl) -> None:
        self.name, self.topic_pattern = str(url), url.topic
        pattern = url.queue or ("" if url.exchange else "{topic}")
        if not pattern or "{tag}" in pattern or url.exchange_type == CONSISTENT_HASH:
            raise UsageError(
                f"{url}: the URL does not tell which messages a queue must have: name queues in it, as in"
                " queue={topic}, without {tag} and without exchange_type=x-consistent-hash."
            )
        # No heartbeats: messages are compared between two reads.
        self._url, self._broker = url, Broker(replace(url, heartbeat_secs=0))
        self._pattern, self._is_stream = pattern, url.queue_type == "stream"
        self._queues: dict[str, Queue] = {}
        self._topics: dict[str, None] = {}
        self._silent_since = 0.0
        self._connection: Any = self._broker.connect(self._broker.connect_once)

    def topic(self) -> str | None:
        """The only topic that the URL names. Raises UsageError if it names none or several."""
        if "{topic}" not in self._pattern:
            return ""
        return one_topic(self._url.topic, self.name)

    def partitions(self, topic: str) -> int:
        """The number of queues of a topic, which are read from now on."""
        count = self._url.partitions or 1
        if topic not in self._topics:
            self._topics[topic] = None
            for number in range(count):
                name = self._queue_name(topic, number)
                if name not in self._queues:
                    self._queues[name] = self._opened(name)
        return count

    def place(self, topic: str, partition: int) -> tuple[str, int]:
        """Queue of a message: its name without a partition's number, and that."""
        return self._pattern.replace("{topic}", topic), partition

    def _queue_name(self, topic: str, number: int) -> str:
        return self.place(topic, number)[0] + self._url.suffix(number)

    def _opened(self, name: str) -> Queue:
        """A queue with its end. Raises SinkError, UsageError."""
        channel = self._connection.channel()
        try:
            declared = channel.queue_declare(name, passive=True).method
        except self._broker.pika.exceptions.ChannelClosedByBroker as error:
            raise SinkError(f"{self.name}: {self._broker.words(error)}.") from None
        if self._is_stream:
            queue = Queue(name, channel, None)
        else:
            if declared.consumer_count:
                raise UsageError(
                    f"{self.name}: queue {name!r} has {declared.consumer_count} consumers, which take messages away:"
                    " stop them, or bind a second queue before the run and verify that."
                )
            queue = Queue(name, channel, declared.message_count, ended=not declared.message_count)
        if not queue.ended:
            self._consume(queue)
        self._silent_since = time.monotonic()
        return queue

    def _consume(self, queue: Queue) -> None:
        """Adds a consumer, which gets the next messages, and none beyond the end."""

        def received(_: Any, method: Any, properties: Any, body: bytes) -> None:
            self._receive(queue, method.delivery_tag, properties, body)

        count = PREFETCH if queue.end is None else min(PREFETCH, queue.end - queue.requested)
        # Each type of queue refuses the argument of the other.
        arguments = {"x-priority": 0} if queue.end is not None else {OFFSET: "first"}
        # The broker takes messages back consumer by consumer, ordered by tag.
        tag = f"cdcsim-{len(queue.consumers):09}"
        queue.channel.basic_qos(prefetch_count=count)
        try:
            queue.channel.basic_consume(queue.name, received, consumer_tag=tag, arguments=arguments)
        except self._broker.pika.exceptions.ChannelClosedByBroker as error:
            hint = "leave out queue_type=stream" if self._is_stream else "is it a stream? Add queue_type=stream"
            raise UsageError(f"{self.name}: {self._broker.words(error)}: {hint}.") from None
        queue.consumers.append(tag)
        queue.requested += count

    def _receive(self, queue: Queue, tag: int, properties: Any, body: bytes) -> None:
        offset = (properties.headers or {}).get(OFFSET)
        if offset and not queue.received:
            raise UsageError(
                f"{self.name}: stream {queue.name!r} begins at offset {offset:,}: the broker has deleted what came"
                " before (retention), so nobody can tell whether it was right."
            )
        queue.rotates |= RETURNED in (properties.headers or {})
        queue.received += 1
        queue.last = tag
        queue.waiting.append((body, properties.headers))
        queue.ended = queue.received == queue.end

    def take(self, place: tuple[str, int], count: int) -> pa.RecordBatch | None:
        """Some of the next messages of a queue; None: there are no more. Raises SinkError."""
        name = place[0] + self._url.suffix(place[1])
        if (queue := self._queues.get(name)) is None:
            return None
        while not queue.waiting and not queue.ended:
            if not self._is_stream and queue.received == queue.requested:
                self._consume(queue)
            self._poll()
            if self._is_stream and not queue.waiting:
                queue.ended = self._has_ended(queue)
            elif time.monotonic() - self._silent_since > PATIENCE_SECS:
                raise SinkError(f"{self.name} sent nothing of {name!r} for {PATIENCE_SECS} s.")
        if not queue.waiting:
            return None
        taken = [queue.waiting.popleft() for _ in range(min(count, len(queue.waiting)))]
        if self._is_stream and not queue.waiting:
            self._call(lambda: queue.channel.basic_ack(queue.last, multiple=True))
        return _records(taken)

    def _has_ended(self, queue: Queue) -> bool:
        """Whether a stream is silent, and has no more messages than were received."""
        if time.monotonic() - self._silent_since < SILENCE_SECS:
            return False
        declared = self._call(lambda: queue.channel.queue_declare(queue.name, passive=True).method)
        if time.monotonic() - self._silent_since > PATIENCE_SECS:
            raise SinkError(f"{self.name} sent nothing of {queue.name!r} for {PATIENCE_SECS} s.")
        return bool(declared.message_count <= queue.received)

    def _poll(self) -> None:
        """Receives what the broker has. Raises SinkError."""
        before = sum(queue.received for queue in self._queues.values())
        self._call(lambda: self._connection.process_data_events(POLL_SECS))
        if sum(queue.received for queue in self._queues.values()) != before:
            self._silent_since = time.monotonic()

    def _call(self, action: Any) -> Any:
        """Translates pika's errors. Raises SinkError if the connection is lost."""
        try:
            return action()
        except self._broker.troubles as error:
            raise SinkError(f"{self.name}: reading stopped: {self._broker.words(error)}.") from None

    def others(self) -> Iterator[tuple[tuple[str, int], pa.RecordBatch]]:
        """The messages of queues on which none is expected."""
        numbers = range(self._url.partitions or 1)
        for place in dict.fromkeys(self.place(topic, number) for topic in self._topics for number in numbers):
            while (records := self.take(place, AT_ONCE)) is not None:
                yield place, records

    def close(self) -> None:
        """Gives the messages back in their order, and disconnects."""
        with suppress(*self._broker.troubles, SinkError):  # without a connection the broker takes them back itself
            # Messages on their way would be given back before the earlier ones.
            self._silent_since = time.monotonic()
            while not self._is_stream and (missing := [q for q in self._queues.values() if not _is_returnable(q)]):
                if time.monotonic() - self._silent_since > PATIENCE_SECS:
                    break
                for queue in missing:
                    queue.waiting.clear()
                    if queue.received == queue.requested:
                        self._consume(queue)
                self._poll()
            for queue in self._queues.values():
                for tag in queue.consumers:
                    queue.channel.basic_cancel(tag)
                if not self._is_stream and queue.consumers:
                    queue.channel.basic_nack(0, multiple=True, requeue=True)
            self._connection.close()


def _is_returnable(queue: Queue) -> bool:
    """Whether giving back what was received keeps the queue's order."""
    return queue.received == (queue.end if queue.rotates else queue.requested)


def _records(messages: Sequence[tuple[bytes, Any]]) -> pa.RecordBatch:
    """An empty body is a tombstone: AMQP has no other form for it."""
    headers = [
        [
            {"name": name, "value": _bytes(value)}
            for name, value in (fields or {}).items()
            if name not in (OFFSET, RETURNED)
        ]
        for _, fields in messages
    ]
    values = pa.array([body or None for body, _ in messages], pa.binary())
    return pa.record_batch([values, pa.array(headers, HEADERS)], SCHEMA)


def _bytes(value: Any) -> bytes | None:
    """A header's value as bytes: AMQP has texts, bytes and numbers."""
    return value if value is None or isinstance(value, bytes) else str(value).encode()
