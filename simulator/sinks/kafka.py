"""Messages to Kafka, through librdkafka. `kafka_url.py` has the options of the URL.

Messages with a null partition go where Java's default partitioner puts their key (murmur2; null keys at random).
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Mapping
from itertools import repeat, starmap
from operator import length_hint
from typing import Any, Final

import numpy as np

from simulator.batch import MessageBatch
from simulator.errors import DeliveryFailed, MissingPackage, OptionError, SinkError
from simulator.sinks.kafka_failures import Chunk, Failure
from simulator.sinks.kafka_url import OPEN_WORDS, KafkaUrl, check_topic, client_settings, parse_url, read_properties
from simulator.sinks.sink import Sink

# Rows between two polls: failures are seen within a millisecond, and the poll costs nothing per message.
CHUNK: Final = 1000
# Python returns from the client this often, so that Ctrl-C gets through.
SLICE_SECS: Final = 0.2
# A broker that elects leaders for a new topic takes well under a second; one that has just started may take some.
TOPIC_SECS: Final = 30
# How long close() and a failed run wait for messages that are on their way.
LEAVE_SECS: Final = 5


def open_kafka(url: str) -> KafkaSink:
    """A sink for `kafka://host:port/topic?option=value`, connected.

    Raises UsageError, OptionError, MissingPackage, and SinkError when the broker cannot be used.
    """
    parsed = parse_url(url)
    return KafkaSink(parsed, read_properties(parsed.properties) if parsed.properties else None)


class KafkaSink(Sink):
    """Messages to Kafka through librdkafka's queue, in order within each partition.

    The first message that fails ends the run: what is still queued is dropped (and counted as failed), so that as
    little as can be is written after the gap, and this and each later `send` and `flush` raises DeliveryFailed.
    Brokers that go and come back only cost time, up to librdkafka's `message.timeout.ms` (five minutes).

    `topic_pattern` is the topic of the URL. `delivered` and `failed` are as of the last poll, at most 1000 messages
    ago; `delivered_changes` is exact after `flush` and `close`, before that the changes sent, in proportion to the
    messages delivered. Not for use after a fork: librdkafka's threads stay behind.
    """

    def __init__(self, url: KafkaUrl, file: Mapping[str, str] | None = None) -> None:
        try:
            import confluent_kafka
            from confluent_kafka import admin
        except ImportError:
            raise MissingPackage("the kafka sink needs confluent-kafka: pip install 'cdc-simulator[kafka]'.") from None
        super().__init__()
        self._admin: Any = admin
        self._exception: Any = confluent_kafka.KafkaException
        self._codes: Any = confluent_kafka.KafkaError
        self.url = url
        self.topic_pattern = url.topic_pattern
        self.settings = client_settings(url, file or {})
        self._sent = self._sent_changes = self._failed_changes = 0
        self._failure: Failure | None = None
        # Whether something failed after it had been queued, so that what is queued behind it must not be written.
        self._gap = False
        self._fatal = ""
        self._last_error: tuple[int, str] | None = None
        self._counts: dict[str, int] = {}
        self._hidden = sorted(set((file or {}).values()) - OPEN_WORDS, key=len, reverse=True)
        self._closed = False
        # The Python client takes the first setting over: reports become Python calls only for failed messages.
        own = {"delivery.report.only.error": True, "log_level": 0, "error_cb": self._on_error}
        try:
            self._producer: Any = confluent_kafka.Producer(self.settings | own)
        except (confluent_kafka.KafkaException, TypeError, ValueError) as error:
            where = f" or of {url.properties}" if url.properties else ""
            raise OptionError(f"librdkafka refuses a setting of the Kafka URL{where}: {self._words(error)}.") from None
        try:
            self._connect()
        except BaseException:
            self.close()
            raise

    def partitions(self, topic: str) -> int:
        """The topic's partition count; makes a missing topic when the URL says how many it shall have.

        Raises UsageError for a name that Kafka does not take, SinkError for a missing topic and for another count.
        """
        if topic in self._counts:
            return self._counts[topic]
        check_topic(topic)
        wanted = self.url.partitions
        leaders = self._leaders(topic)
        if leaders is None:
            if wanted is None:
                raise SinkError(
                    f"there is no topic {topic!r} at {self._place}: add partitions=N to the URL to have it made with N."
                )
            self._create(topic, wanted)
            # Another process may have made it just before, with another count.
            leaders = self._wait_for_leaders(topic)
        if wanted not in (None, len(leaders)):
            raise SinkError(
                f"topic {topic!r} at {self._place} has {len(leaders)} partitions, and the URL asks for {wanted}:"
                " leave partitions= out, or take another topic."
            )
        self._counts[topic] = len(leaders)
        return len(leaders)

    def send(self, batch: MessageBatch) -> None:
        """Queue all messages; blocks while the queue is full. Raises as `partitions` does for new topics."""
        self._raise_failure()
        if not len(batch):
            return
        topics, rest = self._columns(batch)
        changes = batch["changes"].to_numpy()
        produce = self._producer.produce
        place = 0
        while place < len(batch):
            start, end = place, min(place + CHUNK, len(batch))
            chunk = Chunk(batch.slice(start, end - start), self._on_failed)
            here = slice(start, end)
            first, more = rest[:3], rest[3:]
            columns = [topics[here], *(column[here] for column in first), repeat(chunk)]
            if more:
                columns += [repeat(None), *(column[here] for column in more)]
            rows = iter(list(zip(*columns, strict=False)))
            full, refusal = False, None
            try:
                # The loop in C: a signal is seen before or after it, so the count of what was queued stays exact.
                deque(starmap(produce, rows), maxlen=0)
            except BufferError:
                full = True
            except self._exception as error:
                refusal = error.args[0]
            finally:
                queued = end - start - length_hint(rows) - (full or refusal is not None)
                self._sent += queued
                self._sent_changes += int(changes[start : start + queued].sum())
                place += queued
            self._producer.poll(SLICE_SECS if full else 0)
            self._count()
            if refusal is not None:
                self._on_refused(chunk, place - start, refusal)
            self._raise_failure()

    def flush(self) -> None:
        """Wait until each message is acknowledged or has failed. Raises DeliveryFailed."""
        self._drain(lambda: self._failure is not None or bool(self._fatal))
        self._raise_failure()

    def close(self) -> None:
        """Give what is queued five more seconds, count the rest as failed, and disconnect."""
        if self._closed:
            return
        self._closed = True
        deadline = time.monotonic() + LEAVE_SECS
        self._drain(lambda: self._gap or time.monotonic() > deadline)
        self._drop_queue(deadline)
        self._producer.close()

    @property
    def _place(self) -> str:
        return f"Kafka {self.url.servers}"

    # Connecting and topics

    def _connect(self) -> None:
        """Ask for metadata until it is there. What is wrong only reaches the error callback, never the exception."""
        deadline = time.monotonic() + self.url.timeout_secs
        while (left := deadline - time.monotonic()) > 0:
            try:
                self._producer.list_topics(timeout=min(left, 1))
            except self._exception:
                self._producer.poll(0)
            else:
                return
            # Repeating does not help these; a refused connection may be a broker that is just starting.
            if self._last_error and self._last_error[0] in (self._codes._AUTHENTICATION, self._codes._SSL):
                break
            if self._last_error and self._last_error[0] == self._codes._RESOLVE and "," not in self.url.servers:
                break
        raise SinkError(self._unusable())

    def _unusable(self) -> str:
        code, words = self._last_error or (None, "")
        file = str(self.url.properties) if self.url.properties else "a file and add properties=FILE to the URL"
        if code == self._codes._AUTHENTICATION:
            return f"{self._place} refused the login: {words}. Check sasl.username and sasl.password in {file}."
        if code == self._codes._SSL:
            return f"TLS with {self._place} failed: {words}. The authority's file is ssl.ca.location in {file}."
        if code == self._codes._RESOLVE:
            return f"{self._place} was not found: {words}. Check the host's name."
        if words:
            return f"{self._place} could not be reached in {self.url.timeout_secs:g} s: {words}. Is the broker running?"
        return (
            f"{self._place} closed the connection without a word for {self.url.timeout_secs:g} s."
            f" Does the port want TLS or a login? Write security.protocol into {file}."
        )

    def _leaders(self, topic: str) -> list[bool] | None:
        """For each partition whether it has a leader; None: no such topic."""
        deadline = time.monotonic() + self.url.timeout_secs
        while True:
            try:
                found = self._producer.list_topics(topic, timeout=self.url.timeout_secs).topics[topic]
            except self._exception as error:
                self._producer.poll(0)
                raise SinkError(self._unusable() if self._last_error else self._topic_error(topic, error)) from None
            code = found.error.code() if found.error else None
            if code == self._codes.UNKNOWN_TOPIC_OR_PART:
                return None
            if code is None:
                return [found.partitions[number].leader >= 0 for number in range(len(found.partitions))]
            if code != self._codes.LEADER_NOT_AVAILABLE or time.monotonic() > deadline:
                raise SinkError(self._topic_error(topic, found.error))
            time.sleep(0.1)

    def _create(self, topic: str, count: int) -> None:
        settings = {} if self.url.max_message_bytes is None else {"max.message.bytes": str(self.url.max_message_bytes)}
        new = self._admin.NewTopic(topic, count, self.url.replication or -1, config=settings)
        client = self._admin.AdminClient(self.settings | {"log_level": 0, "error_cb": self._on_error})
        try:
            client.create_topics([new], request_timeout=TOPIC_SECS)[topic].result()
        except self._exception as error:
            if error.args[0].code() != self._codes.TOPIC_ALREADY_EXISTS:
                raise SinkError(self._topic_error(topic, error)) from None

    def _wait_for_leaders(self, topic: str) -> list[bool]:
        """Until then a message with an explicit partition is refused as of an unknown partition."""
        deadline = time.monotonic() + TOPIC_SECS
        while not ((leaders := self._leaders(topic)) and all(leaders)):
            if time.monotonic() > deadline:
                raise SinkError(
                    f"topic {topic!r} at {self._place} has partitions without a leader: see the broker's log."
                )
            time.sleep(0.05)
        return leaders

    def _topic_error(self, topic: str, error: Any) -> str:
        return f"topic {topic!r} at {self._place} cannot be used: {self._words(error)}."

    # Messages

    def _columns(self, batch: MessageBatch) -> tuple[list[str], list[list[Any]]]:
        """Python lists in the order of `produce`: topics, and values, keys, partitions[, timestamps, headers]."""
        names = batch["topic"].dictionary.to_pylist()
        indices = batch["topic"].indices.to_numpy()
        used = np.unique(indices).tolist()
        for index in used:
            self.partitions(names[index])
        topics = [names[used[0]]] * len(batch) if len(used) == 1 else [names[index] for index in indices.tolist()]
        rest = [batch["value"].to_pylist(), batch["key"].to_pylist(), batch["partition"].fill_null(-1).to_pylist()]
        stamps, headers = batch["timestamp_ms"], batch["headers"]
        if stamps.null_count < len(batch) or headers.null_count < len(batch):
            rest += [
                stamps.fill_null(0).to_pylist(),  # 0: the time of sending
                [row and [(header["name"], header["value"]) for header in row] for row in headers.to_pylist()],
            ]
        return topics, rest

    def _count(self) -> None:
        """Bring the counters up to date. The queue's length includes messages whose failure is not yet reported."""
        known = self._sent - self.failed - len(self._producer)
        self.delivered = max(self.delivered, known)
        if whole := self._sent - self.failed:
            self.delivered_changes = (self._sent_changes - self._failed_changes) * self.delivered // whole

    def _on_error(self, error: Any) -> None:
        """Called by librdkafka inside a poll. Connections that break are mended by it and are only remembered."""
        if error.fatal() or error.code() in (self._codes._FATAL, self._codes._FENCED):
            self._fatal = self._words(error)
        elif error.code() != self._codes._ALL_BROKERS_DOWN:
            words = self._words(error)
            # A bare "Disconnected" comes between two more telling ones.
            if self._last_error is None or not words.startswith("Disconnected"):
                self._last_error = error.code(), words

    def _on_failed(self, chunk: Chunk, error: Any, message: Any) -> None:
        """Called by librdkafka inside a poll, for each message that was queued and is given up."""
        self._gap = True
        row = chunk.find(message)
        changes = chunk.batch["changes"][row].as_py()
        self.failed += 1
        self._failed_changes += changes
        dropped = error.code() in (self._codes._PURGE_QUEUE, self._codes._PURGE_INFLIGHT)
        self._note_failure(dropped, chunk, row, message.partition(), self._reason(error))

    def _on_refused(self, chunk: Chunk, row: int, error: Any) -> None:
        """`produce` itself refused a message: all before it are on their way, and none after it."""
        changes = chunk.batch["changes"][row].as_py()
        self._sent += 1
        self._sent_changes += changes
        self.failed += 1
        self._failed_changes += changes
        partition = chunk.batch["partition"][row].as_py()
        reason = self._reason(error)
        if error.code() == self._codes.MSG_SIZE_TOO_LARGE:
            limit = self.settings["message.max.bytes"]
            reason = (
                f"with key and headers it is above this client's limit of {limit} bytes;"
                " raise max_message_bytes in the URL, and max.message.bytes of the topic"
            )
        elif error.code() == self._codes._UNKNOWN_PARTITION:
            reason = f"the topic has {self._counts[chunk.batch['topic'][row].as_py()]} partitions, numbered from 0"
        self._note_failure(False, chunk, row, -1 if partition is None else partition, reason)

    def _note_failure(self, dropped: bool, chunk: Chunk, row: int, partition: int, reason: str) -> None:
        """Keep the first: a cause before what was dropped for it, then by order key."""
        order = chunk.batch.order_key(row)
        rank = dropped, order
        if self._failure is not None and self._failure.rank <= rank:
            return
        key, value, topic = (chunk.batch[name][row].as_py() for name in ("key", "value", "topic"))
        where = f"topic {topic!r}" + (f" partition {partition}" if partition >= 0 else "")
        self._failure = Failure(rank, f"{order} for {where} ({len(key or b'') + len(value or b'')} bytes): {reason}")

    def _reason(self, error: Any) -> str:
        code = error.code()
        if code == self._codes.MSG_SIZE_TOO_LARGE:
            return (
                f"{self._words(error)}; raise max.message.bytes of the topic,"
                " or lower batch_bytes in the URL if single messages are smaller"
            )
        if code == self._codes.INVALID_TIMESTAMP:
            return (
                f"{self._words(error)}; by default a topic takes no time more than an hour ahead,"
                " and message.timestamp.after.max.ms of the topic says how much more"
            )
        if code == self._codes._MSG_TIMED_OUT and self._last_error:
            return f"{self._words(error)}; the last trouble with a connection was: {self._last_error[1]}"
        if code in (self._codes._FATAL, self._codes._FENCED) and self._fatal:
            return self._fatal
        return self._words(error)

    def _words(self, error: Any) -> str:
        """What librdkafka says, without the name of its thread and without any value of the properties file."""
        if isinstance(error, self._exception):
            error = error.args[0]
        words = error.str() if isinstance(error, self._codes) else str(error)
        words = re.sub(r"^(?:\w+://)?\S+/\w+: | \(after \d+ms in state [^)]*\)", "", words).rstrip(" .:?")
        for value in self._hidden:
            words = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "***", words)
        return words

    def _drain(self, enough: Callable[[], bool]) -> None:
        """Send and poll until the queue is empty or it is enough."""
        while len(self._producer) and not enough():
            self._producer.flush(SLICE_SECS)
            self._count()
        self._count()

    def _raise_failure(self) -> None:
        """Raises DeliveryFailed if there is cause to, once the fate of all messages is known."""
        if self._failure is None and not self._fatal:
            return
        # Messages before one that was refused outright may take their time; behind a gap nothing more shall be written.
        self._drain(lambda: self._gap or bool(self._fatal))
        self._drop_queue(time.monotonic() + LEAVE_SECS)
        sentence = f"{self.failed} of {self._sent} messages were not delivered"
        if self._failure:
            sentence += f"; the first was {self._failure.what}"
        if self._fatal:
            sentence += f"; the client gave up: {self._fatal}"
        raise DeliveryFailed(f"{sentence}.")

    def _drop_queue(self, deadline: float) -> None:
        """Fail what is queued at once, and what is on its way if it is not answered by the deadline."""
        if len(self._producer):
            self._producer.purge(in_queue=True, in_flight=False, blocking=False)
            self._drain(lambda: time.monotonic() > deadline)
        if len(self._producer):
            self._producer.purge(in_queue=True, in_flight=True, blocking=False)
            last = time.monotonic() + 1
            self._drain(lambda: time.monotonic() > last)
