"""Messages to Kafka, through librdkafka's queue."""

from __future__ import annotations

import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import repeat, starmap
from operator import length_hint
from typing import Any, Final

import numpy as np
import orjson
import pyarrow as pa

from simulator.batch import MessageBatch
from simulator.sinks.kafka.chunk import Chunk
from simulator.sinks.kafka.cluster import Cluster
from simulator.sinks.kafka.url import KafkaUrl, parse_url, read_properties
from simulator.sinks.ledger import Ints, Parcel
from simulator.sinks.sink import Sink

# Rows between two polls: failures are seen within a millisecond, and the poll costs nothing per message.
CHUNK: Final = 1000
# Python returns from the client this often, so that Ctrl-C gets through.
SLICE_SECS: Final = 0.2
# How long close() and a failed run wait for messages that are on their way.
LEAVE_SECS: Final = 5


def open_kafka(url: str) -> KafkaSink:
    """A sink for `kafka://host:port/topic?option=value`, connected.

    Raises UsageError, OptionError, MissingPackage, and SinkError when the broker cannot be used.
    """
    parsed = parse_url(url)
    file = read_properties(parsed.properties) if parsed.properties else None
    if parsed.exactly_once:
        from simulator.sinks.kafka.transactions import TransactionalSink

        return TransactionalSink(parsed, file)
    return KafkaSink(parsed, file)


class KafkaSink(Sink):
    """Messages to Kafka through librdkafka's queue, in order within each partition.

    The first message that fails ends the run: what is still queued is dropped (and counted as failed), so that as
    little as can be is written after the gap, and this and each later `send` and `flush` raises DeliveryFailed.
    Brokers that go and come back only cost time, up to librdkafka's `message.timeout.ms`.

    What is acknowledged is read from librdkafka's statistics, some twenty times a second: a Python call for each
    message would cost a third of the throughput, and more while other threads work. Without idempotence there is no
    such number, and each message is reported. Not for use after a fork: librdkafka's threads stay behind.
    """

    # Whether a message that the broker has stored counts as delivered at once.
    acknowledges_sent = True

    def __init__(self, url: KafkaUrl, file: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.topic_pattern = url.topic_pattern
        # Whether something failed after it had been queued, so that what is queued behind it must not be written.
        self._gap = False
        self._closed = False
        self._answers: Counter[tuple[str, int]] = Counter()
        self.cluster = Cluster(url, file or {})
        self.settings = self.cluster.settings
        self._producer: Any = self.cluster.producer
        self._chosen = self.cluster.chooser()
        try:
            self.cluster.connect()
        except BaseException:
            self.close()
            raise

    def partitions(self, topic: str) -> int:
        """The topic's partition count; makes a missing topic when the URL says how many it shall have.

        Raises UsageError for a name that Kafka does not take, SinkError for a missing topic and for another count.
        """
        return self.cluster.partitions(topic)

    def choose(self, keys: pa.Array, turns: Ints, count: int) -> Ints:
        """As the setting `partitioner` says: like Java's producer, unless a properties file names another."""
        chosen = super().choose(keys, turns, count)
        if self.settings["partitioner"] not in ("murmur2", "murmur2_random"):
            for row, key in enumerate(keys.to_pylist()):
                chosen[row] = chosen[row] if key is None else self._chosen(key, count)
        return chosen

    @property
    def trouble(self) -> str | None:
        return self.cluster.last_error and self.cluster.last_error[1]

    # Sending

    def write(self, batch: MessageBatch, parcels: Sequence[Parcel], *, whole: bool) -> None:
        """Queue all messages; blocks while the queue is full."""
        columns = _columns(batch)
        produce = self._producer.produce
        row = 0
        try:
            while row < len(batch):
                end = min(row + CHUNK, len(batch))
                chunk = Chunk(batch.slice(row, end - row), row, self._reporter(parcels))
                here = [column[row:end] for column in columns]
                rows = iter(list(zip(*here[:4], repeat(chunk), *([repeat(None), *here[4:]] if here[4:] else []))))
                full, refusal = False, None
                try:
                    # The loop in C: a signal is seen before or after it, so the count of what was queued stays exact.
                    deque(starmap(produce, rows), maxlen=0)
                except BufferError:
                    full = True
                except self.cluster.exception as error:
                    refusal = error.args[0]
                finally:
                    row = end - length_hint(rows) - (full or refusal is not None)
                self._poll(SLICE_SECS if full else 0)
                if refusal is not None:
                    self._refused(parcels, batch["topic"][row].as_py(), row, refusal)
                if self.ledger.has_failed:
                    self.ledger.withhold(parcels, row)
                    self.check()
        except BaseException:
            self.ledger.withhold(parcels, row)
            raise

    def flush(self) -> None:
        """Wait until each message is acknowledged or has failed. Raises DeliveryFailed."""
        self._drain(lambda: self.ledger.has_failed)
        self.check()
        self.ledger.acknowledge_all()

    def poll(self) -> None:
        self._poll(0)

    def close(self) -> None:
        """Give what is queued five more seconds, count the rest as failed, and disconnect."""
        if self._closed:
            return
        self._closed = True
        deadline = time.monotonic() + LEAVE_SECS
        self._drain(lambda: self._gap or time.monotonic() > deadline)
        self._drop_queue(deadline)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a transaction that cannot be aborted, which is accounted for
            self._producer.close()

    # Reports: librdkafka calls these inside a poll

    def _reporter(self, parcels: Sequence[Parcel]) -> Callable[[Chunk, Any, Any], None]:
        def report(chunk: Chunk, error: Any, message: Any) -> None:
            if error is not None:
                self._gap = True
                parcel = next(p for p in parcels if (p.topic, p.partition) == (message.topic(), message.partition()))
                codes = self.cluster.codes
                dropped = error.code() in (codes._PURGE_QUEUE, codes._PURGE_INFLIGHT)
                number = parcel.number(chunk.find(message))
                self.ledger.fail(parcel, number, self.cluster.reason(error), dropped=dropped)
            if not self.cluster.idempotent:
                place = message.topic(), message.partition()
                self._answers[place] += 1
                self.ledger.acknowledge(*place, self._answers[place])

        return report

    def _poll(self, seconds: float) -> None:
        """Let librdkafka work, and read what it reported."""
        self._producer.poll(seconds)
        self.cluster.read_errors()
        if self.cluster.fatal:
            self.ledger.give_up(self.cluster.fatal)
        while self.acknowledges_sent and self.cluster.idempotent and self.cluster.statistics:
            # The idempotent producer numbers the messages of each partition from 1, and says which was acknowledged.
            for topic, facts in orjson.loads(self.cluster.statistics.popleft())["topics"].items():
                for partition, counts in facts["partitions"].items():
                    if counts["acked_msgid"]:
                        self.ledger.acknowledge(topic, int(partition), counts["acked_msgid"])

    def _refused(self, parcels: Sequence[Parcel], topic: str, row: int, error: Any) -> None:
        """`produce` itself refused a message: all before it are on their way, and none after it."""
        codes, reason = self.cluster.codes, self.cluster.reason(error)
        if error.code() == codes.MSG_SIZE_TOO_LARGE:
            reason = (
                f"with key and headers it is above this client's limit of {self.settings['message.max.bytes']} bytes;"
                " raise max_message_bytes in the URL, and max.message.bytes of the topic"
            )
        elif error.code() == codes._UNKNOWN_PARTITION:
            reason = f"the topic has {self.partitions(topic)} partitions, numbered from 0"
        parcel = next(parcel for parcel in parcels if row in parcel)
        self.ledger.fail(parcel, parcel.number(row), reason)

    # Ends

    def _drain(self, enough: Callable[[], bool]) -> None:
        """Send and poll until the queue is empty or it is enough."""
        while len(self._producer) and not enough():
            with suppress(self.cluster.exception):  # of a fenced transaction; it is in the error callback, too
                self._producer.flush(SLICE_SECS)
            self._poll(0)

    def check(self) -> None:
        if not self.ledger.has_failed:
            return
        # Messages before one that was refused outright may take their time; behind a gap nothing more shall be written.
        self._drain(lambda: self._gap or bool(self.cluster.fatal))
        self._drop_queue(time.monotonic() + LEAVE_SECS)
        self.ledger.check()

    def _drop_queue(self, deadline: float) -> None:
        """Fail what is queued at once, and what is on its way if it is not answered by the deadline."""
        if len(self._producer):
            self._producer.purge(in_queue=True, in_flight=False, blocking=False)
            self._drain(lambda: time.monotonic() > deadline)
        if len(self._producer):
            self._producer.purge(in_queue=True, in_flight=True, blocking=False)
            last = time.monotonic() + 1
            self._drain(lambda: time.monotonic() > last)
        if len(self._producer):
            self.ledger.fail_open("the broker did not answer")
        self.ledger.acknowledge_all()


def _columns(batch: MessageBatch) -> list[list[Any]]:
    """Python lists in the order of `produce`: topics, values, keys, partitions[, timestamps, headers]."""
    names = batch["topic"].dictionary.to_pylist()
    indices = batch["topic"].indices.to_numpy()
    used = np.unique(indices).tolist()
    topics = [names[used[0]]] * len(batch) if len(used) == 1 else [names[index] for index in indices.tolist()]
    columns = [topics, *(batch[name].to_pylist() for name in ("value", "key", "partition"))]
    stamps, headers = batch["timestamp_ms"], batch["headers"]
    if stamps.null_count < len(batch) or headers.null_count < len(batch):
        columns += [
            stamps.fill_null(0).to_pylist(),  # 0: the time of sending
            [row and [(header["name"], header["value"]) for header in row] for row in headers.to_pylist()],
        ]
    return columns
