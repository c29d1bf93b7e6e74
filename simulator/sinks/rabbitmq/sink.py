"""Messages to RabbitMQ, with publisher confirms in a bounded window."""

from __future__ import annotations

import math
import re
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from simulator.batch import MessageBatch
from simulator.errors import SimulatorError, SinkError, UsageError
from simulator.sinks.ledger import Parcel
from simulator.sinks.rabbitmq.broker import Broker
from simulator.sinks.rabbitmq.connection import Connection
from simulator.sinks.rabbitmq.frames import Publication
from simulator.sinks.rabbitmq.url import CONSISTENT_HASH, RabbitmqUrl
from simulator.sinks.sink import Sink

# Messages in one write to the socket: more gain nothing.
WRITE: Final = 100
# Rows made into Python objects at once.
ROWS: Final = 1000
# Most bytes of messages without a confirm; they are kept to be sent again.
WINDOW_BYTES: Final = 64 << 20
BACK_OFF_SECS: Final = (0.1, 0.2, 0.5, 1.0, 2.0)
# How long close() and a failed run wait for confirms.
LEAVE_SECS: Final = 5.0
# Seconds without a confirm after which all messages are sent again: a queue that lost its leader may lose a message
# silently. Not shorter: a busy broker may take long, and would then have more to do.
STALL_SECS: Final = 30.0
SHORT_STRING: Final = 255


@dataclass(frozen=True, slots=True)
class Sent:
    """An unconfirmed message: the data to send it again, and to recognize it if the broker returns it."""

    frames: bytes
    routing_key: str
    body: bytes
    parcels: Sequence[Parcel]
    row: int

    @property
    def parcel(self) -> Parcel:
        return next(parcel for parcel in self.parcels if self.row in parcel)


class RabbitmqSink(Sink):
    """Messages to one exchange, each confirmed by the broker, at most `window` of them in flight.

    When the connection breaks, all that is not confirmed is sent again in order, so queues may hold up to a window of
    messages twice. A message that reaches no queue, or that the broker refuses, ends the run. One thread sends.
    """

    def __init__(self, url: RabbitmqUrl, properties: Mapping[str, Any]) -> None:
        """Connects. `properties` are those that the product gives each message. Raises MissingPackage, and SinkError
        when the broker cannot be used."""
        super().__init__()
        self.topic_pattern = url.topic
        self.url = url
        self.broker = Broker(url)
        self._properties = {
            "content_type": url.content_type or properties.get("content_type", "application/json"),
            "delivery_mode": 2 if url.persistent else 1,
            **{name: value for name, value in properties.items() if name not in ("content_type", "delivery_mode")},
        }
        self._sent: deque[Sent] = deque()  # all that is not confirmed, in the order of the delivery tags
        self._sent_bytes = 0
        self._unwritten = 0  # messages at the end of `_sent` of which the broker has no byte yet
        self._publications: dict[str, Publication] = {}
        self._declared: set[tuple[str, str]] = set()
        self._topics: set[str] = set()
        self._trouble: str | None = None
        self._lost: Exception | None = None  # why there is no connection
        self._closed = False
        self._lock = threading.Lock()
        self._connection = self.broker.connect(lambda: Connection(self.broker))
        try:
            self.broker.declare_exchange(self._connection.blocking)
        except BaseException:
            self.close()
            raise

    def partitions(self, topic: str) -> int:
        """The number of queues behind a topic. Declares them, unless their names have the message's tag.

        May be called by another thread than the one that sends: only one at a time uses the connection.
        """
        if topic not in self._topics and "{tag}" not in f"{self.url.queue}{self.url.routing_key}":
            with self._lock:
                self._destination(topic, None)
        self._topics.add(topic)
        return self.url.partitions or 1

    def most_arrived(self, topic: str) -> Sequence[float] | None:
        """Any number, if the queue that the URL declares exists: no queue knows how many it got before consumers took
        them, nor whether it was declared again. Nobody knows who reads queues that others declare."""
        if not self.url.queue or "{tag}" in self.url.queue:
            return None
        queue = self.url.queue.replace("{topic}", topic)
        with self._lock:
            names = [_short(queue + self.url.suffix(number)) for number in range(self.url.partitions or 1)]
            return [math.inf if self.broker.has_queue(self._connection.blocking, name) else 0 for name in names]

    @property
    def trouble(self) -> str | None:
        if self._connection.is_blocked:
            return f"{self.broker} has blocked publishers (memory or disk alarm)"
        return self._trouble

    # Sending

    def write(self, batch: MessageBatch, parcels: Sequence[Parcel], *, whole: bool) -> None:
        size = min(WRITE, self.url.window)
        with self._lock:
            for start in range(0, len(batch), ROWS):
                messages = self._messages(batch.slice(start, ROWS), parcels, start)
                for first in range(0, len(messages), size):
                    self._publish(messages[first : first + size])
                    if self.ledger.has_failed:
                        self._settle_failure()
                        self.ledger.check()

    def flush(self) -> None:
        with self._lock:
            self._wait(lambda: not self._sent)
        self.check()

    def poll(self) -> None:
        with self._lock:
            self._wait(lambda: True)

    def check(self) -> None:
        if self.ledger.has_failed:
            with self._lock:
                self._settle_failure()
            self.ledger.check()

    def close(self) -> None:
        """Waits five more seconds for confirms, counts the rest as failed, and disconnects."""
        if self._closed:
            return
        self._closed = True
        # Another thread may hang in a wait: the connection is then left to it.
        if self._lock.acquire(timeout=LEAVE_SECS):
            try:
                answers = self._settle_failure()
                self._disconnect(abort=not answers)
            finally:
                self._lock.release()
        self.ledger.fail_open()

    def _messages(self, batch: MessageBatch, parcels: Sequence[Parcel], first_row: int) -> list[Sent]:
        """Messages of the parcels from a row on, as bytes to be written."""
        hashed, most = self.url.exchange_type == CONSISTENT_HASH, self._connection.most_body
        names = ("topic", "tag", "partition", "key", "value", "headers", "timestamp_ms")
        rows = zip(*(batch[name].to_pylist() for name in names), strict=True)
        messages = []
        for row, (topic, tag, partition, key, value, headers, stamp) in enumerate(rows, first_row):
            routing_key = self._destination(topic, tag)
            if hashed:
                routing_key = topic if key is None else _short(key.decode("utf-8", "replace"))
            elif self.url.partitions is not None:
                routing_key = f"{routing_key}.{partition}"
            publication = self._publications.get(routing_key) or self._publication(routing_key, keep=not hashed)
            own = None if not headers and stamp is None else self._own(headers, stamp)
            body = value or b""
            messages.append(Sent(publication.frames(body, most, own), routing_key, body, parcels, row))
        return messages

    def _destination(self, topic: str, tag: str | None) -> str:
        """The routing key of a topic and tag, without a partition's number. Declares its queues once."""
        url = self.url

        def fill(pattern: str) -> str:
            return pattern.replace("{topic}", topic).replace("{tag}", tag or topic)

        queue = fill(url.queue) if url.queue else topic
        routing_key = fill(url.routing_key) if url.routing_key is not None else tag or topic
        if not url.exchange:
            routing_key = queue
        if (queue, routing_key) not in self._declared:
            if url.queue or not url.exchange:
                for suffix in map(url.suffix, range(url.partitions or 1)):
                    self._declare(_short(queue + suffix), _short(routing_key + suffix))
            self._declared.add((queue, routing_key))
        return _short(routing_key)

    def _declare(self, queue: str, routing_key: str) -> None:
        """Declare a queue, on another connection where this one broke. Raises SinkError, DeliveryFailed."""
        deadline = time.monotonic() + self.url.outage_secs
        while True:
            try:
                if self._lost is not None:
                    raise self._lost
                self.broker.declare_queue(self._connection.blocking, queue, routing_key)
                return
            except self.broker.troubles as error:
                if time.monotonic() > deadline:
                    raise SinkError(f"{self.broker}: queue {queue!r}: {self.broker.words(error)}.") from None
                self._recover(error)
            if self.ledger.has_failed:
                self._settle_failure()
                self.ledger.check()

    def _publication(self, routing_key: str, *, keep: bool) -> Publication:
        properties = self.broker.pika.BasicProperties(**self._properties)
        number, exchange = self._connection.channel_number, self.url.exchange
        publication = Publication(number, exchange, routing_key, properties, mandatory=self.url.mandatory)
        if keep:  # keys are too many
            self._publications[routing_key] = publication
        return publication

    def _own(self, headers: Sequence[Mapping[str, Any]] | None, stamp: int | None) -> Any:
        """The properties of a message with headers or a time, which AMQP has in seconds."""
        own = dict(self._properties)
        if headers:
            own["headers"] = {header["name"]: _field(header["name"], header["value"]) for header in headers}
        if stamp is not None:
            own["timestamp"] = stamp // 1000
        return self.broker.pika.BasicProperties(**own)

    def _publish(self, messages: Sequence[Sent]) -> None:
        """Write messages, and wait while the window is full."""
        self._sent.extend(messages)
        self._sent_bytes += sum(len(message.frames) for message in messages)
        self._unwritten = len(messages)
        try:
            if self._lost is not None:
                raise self._lost
            self._write(messages)
        except self.broker.troubles as error:
            self._recover(error)
        room = self.url.window - len(messages)
        self._wait(lambda: self._connection.confirms.outstanding <= room and self._sent_bytes <= WINDOW_BYTES)

    def _write(self, messages: Sequence[Sent]) -> None:
        self._unwritten = 0
        self._connection.publish(b"".join([message.frames for message in messages]), len(messages))

    # Answers

    def _wait(self, ready: Callable[[], bool], seconds: float | None = None) -> None:
        """Let the connection work until it is ready or something failed; breaks of the connection are mended."""

        def settled() -> bool:
            self._read_answers()
            return ready() or self.ledger.has_failed or self._closed

        while self._connection.is_open:  # after a failure it is not
            low = self._connection.confirms.low
            try:
                self._connection.wait(settled, STALL_SECS if seconds is None else seconds)
                if seconds is not None or settled():
                    return
                if self._connection.confirms.low == low and not self._connection.is_blocked:
                    raise TimeoutError(f"no confirm for {STALL_SECS:g} s")
            except self.broker.troubles as error:
                if not self._sent:  # there is time until the next message
                    self._lost = error
                    self._disconnect()
                    return
                self._recover(error)

    def _read_answers(self) -> None:
        """Account for what is confirmed, refused or returned."""
        confirms, first_tag = self._connection.confirms, self._connection.confirms.next - len(self._sent)
        for routing_key, body, reason in self._connection.returned:
            self._fail_returned(routing_key, body, reason)
        self._connection.returned.clear()
        for tag in confirms.refused:
            self._fail(self._sent[tag - first_tag], "the broker refused it; its queue may be full (x-max-length)")
        confirms.refused.clear()
        last: Sent | None = None
        for _ in range(confirms.low - first_tag):
            message = self._sent.popleft()
            self._sent_bytes -= len(message.frames)
            if last is not None and last.parcels is not message.parcels:
                self._acknowledge(last)
            last = message
        if last is not None:
            self._acknowledge(last)
            self._trouble = None

    def _all_answered(self) -> bool:
        self._read_answers()
        return not self._sent

    def _acknowledge(self, last: Sent) -> None:
        """All messages up to this one are answered."""
        for parcel in last.parcels:
            self.ledger.acknowledge(parcel.topic, parcel.partition, parcel.number(last.row + 1))

    def _fail(self, message: Sent, reason: str) -> None:
        parcel = message.parcel
        self.ledger.fail(parcel, parcel.number(message.row), reason)

    def _fail_returned(self, routing_key: str, body: bytes, reason: str) -> None:
        """A message reached no queue. Of equal ones the earliest counts as that one."""
        exchange = f"exchange {self.url.exchange!r}" if self.url.exchange else "default exchange"
        remedy = f"no queue is bound to the {exchange} for the routing key {routing_key!r}"
        for message in self._sent:
            if message.routing_key == routing_key and message.body == body:
                failed = self.ledger.failed
                self._fail(message, f"{reason}; {remedy}: add queue=NAME to the URL, or bind one")
                if self.ledger.failed > failed:
                    return

    # Trouble

    def _recover(self, error: Exception) -> None:
        """After a break: connect again and send again what is not confirmed. Fails messages where that is no use."""
        self._trouble = self.broker.words(error)
        exceptions = self.broker.pika.exceptions
        if isinstance(error, exceptions.ChannelClosedByBroker):
            self._recover_channel(error)
            return
        deadline = time.monotonic() + self.url.outage_secs - self.ledger.stalled_seconds
        attempt = 0
        blocked = isinstance(error, exceptions.ConnectionBlockedTimeout)
        while not blocked and not self._closed and time.monotonic() < deadline:
            try:
                self._reconnect()
            except self.broker.troubles as again:
                self._trouble = self.broker.words(again)
                time.sleep(BACK_OFF_SECS[min(attempt, len(BACK_OFF_SECS) - 1)])
                attempt += 1
            except SimulatorError as uncounted:  # nothing is sent again that no file counts
                self._give_up(str(uncounted))
                return
            else:
                return
        what = "has blocked publishers" if blocked else "was away"
        why = "a memory or disk alarm" if blocked else self._trouble
        self._give_up(f"{self.broker} {what} for {self.url.outage_secs:g} s: {why}")

    def _reconnect(self) -> None:
        self._disconnect()
        self._connection = Connection(self.broker)
        self._lost = None
        again = islice(self._sent, len(self._sent) - self._unwritten)
        self.ledger.repeat(Counter((message.parcel.topic, message.parcel.partition) for message in again))
        self._write(self._sent)

    def _disconnect(self, *, abort: bool = False) -> None:
        if self._connection.is_open:
            with suppress(Exception):
                self._connection.close(abort=abort)

    def _recover_channel(self, error: Exception) -> None:
        """The broker closed the channel for a message: those before it are sent again, and it fails."""
        words = self.broker.words(error)
        size = re.search(r"message size (\d+) is larger", words)
        large = int(size[1]) if size else None
        bad = next((i for i, message in enumerate(self._sent) if len(message.body) == large), 0)
        messages = list(self._sent)
        self._sent = deque(messages[:bad])
        remedy = "; raise the broker's max_message_size" if size else ""
        try:
            self._reconnect()
            self._connection.wait(lambda: not self._connection.confirms.outstanding, LEAVE_SECS)
            self._read_answers()
        except (SimulatorError, *self.broker.troubles):  # type: ignore[misc]
            pass  # they count as failed then
        if messages[bad:]:
            self._fail(messages[bad], f"{words}{remedy}")
        self._sent.clear()
        self._give_up(words)

    def _give_up(self, reason: str) -> None:
        if not self.ledger.has_failed and self._sent:
            self._fail(self._sent[0], reason)
        if not self.ledger.has_failed:
            self.ledger.give_up(reason)
        self._sent.clear()

    def _settle_failure(self) -> bool:
        """Some time for the confirms of what is on its way; the rest fails. False: not all came."""
        if self._sent and self._connection.is_open:
            with suppress(*self.broker.troubles):
                self._connection.wait(self._all_answered, LEAVE_SECS)
        answered = not self._sent
        self._sent.clear()
        self.ledger.fail_open()
        return answered


def _short(text: str) -> str:
    if len(text.encode()) > SHORT_STRING:
        raise UsageError(f"{text[:40]!r}... is too long for RabbitMQ: names of queues and routing keys have 255 bytes.")
    return text


def _field(name: str, value: bytes | None) -> Any:
    """A header's value as AMQP has it: text, other bytes, or the number that the plug-in for delayed messages reads."""
    if value is None:
        return None
    if name == "x-delay":
        return int(value)
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value
