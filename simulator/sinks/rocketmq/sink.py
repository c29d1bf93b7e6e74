"""Messages to RocketMQ: threads that send, each with queues of its own, so that order holds in each queue."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Final, Protocol

import numpy as np
import pyarrow as pa

from simulator.batch import MessageBatch
from simulator.delivery.hashes import java_abs_mod, string_hash
from simulator.errors import MissingPackage, SimulatorError
from simulator.sinks.ledger import Ints, Parcel
from simulator.sinks.rocketmq.brokers import Brokers
from simulator.sinks.rocketmq.cluster import Cluster, Queue
from simulator.sinks.rocketmq.library import LibrarySender, Producer
from simulator.sinks.rocketmq.message import NotStorable, Outgoing, Unexplained
from simulator.sinks.rocketmq.native import NativeSender
from simulator.sinks.rocketmq.remoting import BUSY, MESSAGE_ILLEGAL, NO_PERMISSION, TOPIC_NOT_EXIST, Refusal, words
from simulator.sinks.rocketmq.url import RocketmqUrl
from simulator.sinks.sink import Sink

# Rows made into Python objects at once.
ROWS: Final = 1000
# Most messages that wait for the threads.
MOST_WAITING: Final = 20_000
MOST_WAITING_BYTES: Final = 64 << 20
BACK_OFF_SECS: Final = (0.1, 0.2, 0.5, 1.0, 2.0)
# Seconds that close() waits for messages in flight.
LEAVE_SECS: Final = 5.0
# Seconds that threads may take to end; one that waits longer for an answer is left behind.
END_SECS: Final = 7.0
WAKE_SECS: Final = 0.2

# Refusals that another attempt does not change, and their remedies.
REMEDIES: Final = {
    MESSAGE_ILLEGAL: "; raise maxMessageSize of the broker if the body is too large",
    NO_PERMISSION: "; check access_key and the secret key in the URL, and the user's permissions",
    TOPIC_NOT_EXIST: "; the topic is gone",
}


class Sender(Protocol):
    """`send` stores as many messages in a queue as `count` says; returns how many. After a failed request the next one
    sends the same messages. Raises OSError, Refusal, Unexplained."""

    def count(self, messages: Sequence[Outgoing]) -> int: ...
    def send(self, queue: Queue, messages: Sequence[Outgoing]) -> int: ...
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Chunk:
    """Messages of a parcel from a number on."""

    parcel: Parcel
    number: int
    queue: Queue
    messages: Sequence[Outgoing]

    @property
    def size(self) -> int:
        return sum(len(message.body) for message in self.messages)


class RocketmqSink(Sink):
    """Messages to the queues of topics, each acknowledged by the broker before the next one of its queue is sent.

    While the cluster is away a message is sent again to the same queue, so a queue may hold the messages of its last
    request twice. A message that the broker refuses ends the run.
    """

    def __init__(self, url: RocketmqUrl) -> None:
        """Connects. Raises MissingPackage, and SinkError when the cluster cannot be used."""
        super().__init__()
        self.url = url
        self.topic_pattern = url.topic
        self.cluster = Cluster(url)
        self._trouble: str | None = None
        self._closed = False
        self._stopping = threading.Event()
        self._changed = threading.Condition()
        self._waiting = self._waiting_bytes = 0
        self._inboxes: list[SimpleQueue[Chunk | None]] = []
        self._threads: list[threading.Thread] = []
        self._owners: dict[tuple[str, int], int] = {}
        self._first = threading.Lock()
        self._producer: Producer | None = None
        self.cluster.connect()
        if url.client != "native":
            try:
                self._producer = Producer(url)
            except MissingPackage:
                if url.client is not None:
                    raise
                self.notice = (
                    "rocketmq-client-python or its librocketmq is not installed: messages are sent with client=native."
                )

    def partitions(self, topic: str) -> int:
        return len(self.cluster.queues(topic))

    def most_arrived(self, topic: str) -> Sequence[float]:
        """The end offset of each queue. Retention deletes messages, and not their offsets."""
        with closing(Brokers(self.url)) as brokers:
            return [end for _, end in brokers.offsets(self.cluster.existing(topic))]

    def choose(self, keys: pa.Array, turns: Ints, count: int) -> Ints:
        """As Java's SelectMessageQueueByHash does with the key's text."""
        try:
            hashed = java_abs_mod(string_hash(keys.cast(pa.string())), count)
        except pa.ArrowInvalid:  # bytes that are no text
            return super().choose(keys, turns, count)
        return np.where(np.asarray(keys.is_null()), super().choose(keys, turns, count), hashed)

    @property
    def trouble(self) -> str | None:
        return self._trouble

    # Sending

    def write(self, batch: MessageBatch, parcels: Sequence[Parcel], *, whole: bool) -> None:
        for start in range(0, len(batch), ROWS):
            end = min(start + ROWS, len(batch))
            messages = self._messages(batch.slice(start, ROWS))
            for parcel in parcels:
                first, last = parcel.number(start), parcel.number(end)
                if last > first:
                    rows = (parcel.rows[first - parcel.first : last - parcel.first] - start).tolist()
                    queue = self.cluster.queues(parcel.topic)[parcel.partition]
                    self._give(Chunk(parcel, first, queue, [messages[row] for row in rows]))
        self.check()

    def _messages(self, batch: MessageBatch) -> list[Outgoing]:
        columns = [batch[name].to_pylist() for name in ("value", "tag", "key", "headers")]
        messages = []
        for value, tag, key, headers in zip(*columns, strict=True):
            properties = {header["name"].encode(): header["value"] or b"" for header in headers or ()}
            if tag := tag or self.url.tag:
                properties[b"TAGS"] = tag.encode()
            if key:
                properties[b"KEYS"] = key
            messages.append(Outgoing(value or b"", properties))
        return messages

    def _give(self, chunk: Chunk) -> None:
        """Hands a chunk to the thread of its queue; blocks while too many messages wait."""
        size = chunk.size
        with self._changed:
            while self._waiting and (
                self._waiting + len(chunk.messages) > MOST_WAITING or self._waiting_bytes + size > MOST_WAITING_BYTES
            ):
                self._changed.wait(WAKE_SECS)
                if self.ledger.has_failed:
                    return
            self._waiting += len(chunk.messages)
            self._waiting_bytes += size
        place = chunk.parcel.topic, chunk.parcel.partition
        owner = self._owners.setdefault(place, len(self._owners) % self.url.threads)
        while owner >= len(self._threads):
            self._inboxes.append(SimpleQueue())
            name = f"cdcsim-rocketmq-{len(self._threads)}"
            self._threads.append(threading.Thread(target=self._work, args=(self._inboxes[-1],), name=name, daemon=True))
            self._threads[-1].start()
        self._inboxes[owner].put(chunk)

    def flush(self) -> None:
        self._wait()
        self.check()

    def _wait(self, seconds: float | None = None) -> None:
        """Waits until all messages are answered, one has failed, or the time is up."""
        deadline = None if seconds is None else time.monotonic() + seconds
        with self._changed:
            while self._waiting and not self.ledger.has_failed and (deadline is None or time.monotonic() < deadline):
                self._changed.wait(WAKE_SECS)

    def check(self) -> None:
        if self.ledger.has_failed:
            self._end_threads()
            self.ledger.fail_open()
            self.ledger.check()

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._wait(LEAVE_SECS)
        ended = self._end_threads()
        self.ledger.fail_open()
        if self._producer is not None and ended:
            self._producer.close()

    def _end_threads(self) -> bool:
        """Finishes messages in flight and starts no others. False: a thread is still waiting for the broker."""
        self._stopping.set()
        for inbox in self._inboxes:
            inbox.put(None)
        deadline = time.monotonic() + END_SECS
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    # In the threads

    def _work(self, inbox: SimpleQueue[Chunk | None]) -> None:
        producer = self._producer
        sender: Sender = NativeSender(self.url) if producer is None else LibrarySender(producer, self._first)
        while (chunk := inbox.get()) is not None:
            if not self._stopping.is_set():
                self._deliver(sender, chunk)
            with self._changed:
                self._waiting -= len(chunk.messages)
                self._waiting_bytes -= chunk.size
                self._changed.notify_all()
        sender.close()

    def _deliver(self, sender: Sender, chunk: Chunk) -> None:
        """Sends a chunk's messages in order, each until it is stored or another attempt cannot help."""
        parcel, queue, first = chunk.parcel, chunk.queue, 0
        end, refusal = 0, ""
        try:
            while end < len(chunk.messages):
                chunk.messages[end].check(self.url.max_message_bytes)
                end += 1
        except NotStorable as error:  # those before it are sent
            refusal = str(error)
        broken_at: float | None = None
        attempt = 0
        uncounted = False  # whether a request may have arrived, and the next one does not count as repeated yet
        while first < end and not self._stopping.is_set():
            try:
                if uncounted:
                    count = sender.count(chunk.messages[first:end])
                    self.ledger.repeat({(parcel.topic, parcel.partition): count})
                    uncounted = False
                count = sender.send(queue, chunk.messages[first:end])
            except SimulatorError as error:
                end, refusal = first, str(error)
            except Unexplained:
                uncounted = True
            except (OSError, Refusal) as error:
                reason = words(error) if isinstance(error, OSError) else str(error)
                if isinstance(error, Refusal) and error.code in REMEDIES:
                    end, refusal = first, f"the broker refused it: {reason}{REMEDIES[error.code]}"
                    break
                self._trouble = f"{self.cluster}: {reason}"
                uncounted = uncounted or not _not_stored(error)
                broken_at = time.monotonic() if broken_at is None else broken_at
                if time.monotonic() - broken_at > self.url.outage_secs:
                    end, refusal = first, f"{self.cluster} stored nothing for {self.url.outage_secs:g} s: {reason}"
                    break
                self._stopping.wait(BACK_OFF_SECS[min(attempt, len(BACK_OFF_SECS) - 1)])
                queue, attempt = self.cluster.found_again(queue), attempt + 1
            else:
                first += count
                uncounted = False
                if broken_at is not None:
                    self._trouble, broken_at, attempt = None, None, 0
                self.ledger.acknowledge(parcel.topic, parcel.partition, chunk.number + first)
        if refusal and first == end:
            self.ledger.fail(parcel, chunk.number + first, refusal)
            self._stopping.set()


def _not_stored(error: OSError | Refusal) -> bool:
    """Whether the broker certainly does not have the messages of a request that failed."""
    return isinstance(error, ConnectionRefusedError) or (isinstance(error, Refusal) and error.code in BUSY)
