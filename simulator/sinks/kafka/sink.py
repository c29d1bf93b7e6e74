"""Messages to Kafka, through librdkafka's queue."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from simulator.batch import MessageBatch
from simulator.sinks.kafka.cluster import Cluster
from simulator.sinks.kafka.messages import Outgoing
from simulator.sinks.kafka.partition import NUMBER_BITS, Partition
from simulator.sinks.kafka.producer import Delivery
from simulator.sinks.kafka.url import KafkaUrl
from simulator.sinks.ledger import Ints, Parcel
from simulator.sinks.sink import Sink

# Python returns from the client this often, so that Ctrl-C gets through.
SLICE_SECS: Final = 0.2
# Seconds that close() and a failed run wait for messages in flight.
LEAVE_SECS: Final = 5


class KafkaSink(Sink):
    """Messages to Kafka through librdkafka's queue, in order within each partition.

    The first message that fails ends the run: queued messages are dropped (and counted as failed), which keeps the
    number of messages written after the gap small, and this and each later `send` and `flush` raises DeliveryFailed.
    Brokers that go away and return only cost time, up to librdkafka's `message.timeout.ms`.

    A thread reads librdkafka's reports. Not for use after a fork: no thread comes along.
    """

    reads_parcels_alone = True
    # Whether a message counts as delivered as soon as the broker has stored it.
    acknowledges_sent = True

    def __init__(self, url: KafkaUrl, file: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.topic_pattern = url.topic_pattern
        # Whether a queued message failed: those queued after it must not be written.
        self._gap = False
        self._closed = False
        self._partitions: list[Partition] = []
        self._by_number: dict[tuple[str, int], Partition] = {}
        self._answered = threading.Event()
        self.cluster = Cluster(url, file or {}, self.ledger.give_up)
        self.settings = self.cluster.settings
        self._producer = self.cluster.producer
        self._listener = threading.Thread(target=self._listen, name="cdcsim-kafka-reports", daemon=True)
        self._listener.start()
        try:
            self._chosen = self.cluster.chooser()
            self.cluster.connect()
        except BaseException:
            self.close()
            raise

    def partitions(self, topic: str) -> int:
        """The topic's partition count; makes a missing topic when the URL says how many it shall have.

        Raises UsageError for a name that Kafka does not take, SinkError for a missing topic and for another count.
        """
        return self.cluster.partitions(topic)

    def most_arrived(self, topic: str) -> Sequence[float]:
        ends = self.cluster.ends(topic)
        # without acknowledgements nobody knows how many arrived
        return [end and math.inf for end in ends] if self.settings["acks"] == "0" else ends

    def choose(self, keys: pa.Array, turns: Ints, count: int) -> Ints:
        """Partitions by the setting `partitioner`: like Java's producer, unless a properties file names another."""
        chosen = super().choose(keys, turns, count)
        if self.settings["partitioner"] not in ("murmur2", "murmur2_random"):
            for row, key in enumerate(keys.to_pylist()):
                chosen[row] = chosen[row] if key is None else self._chosen(key, count)
        return chosen

    def settings_of_places(self) -> Mapping[str, str]:
        return {"partitioner": self.settings["partitioner"]}

    @property
    def trouble(self) -> str | None:
        return self.cluster.last_error and self.cluster.last_error[1]

    # Sending

    def write(self, batch: MessageBatch, parcels: Sequence[Parcel], *, whole: bool) -> None:
        """Queues all messages; blocks while the queue is full."""
        outgoing = Outgoing(batch, int(self.settings["message.max.bytes"]))
        partitions = [self._partition(parcel) for parcel in parcels]
        try:
            for parcel, partition in zip(parcels, partitions, strict=True):
                partition.hold(parcel, batch)
                self._queue(outgoing, parcel, partition)
        finally:
            for parcel, partition in zip(parcels, partitions, strict=True):
                self.ledger.withhold(parcel, partition.sent)
        self.check()

    def _partition(self, parcel: Parcel) -> Partition:
        number = parcel.topic, parcel.partition
        if number not in self._by_number:
            self._by_number[number] = Partition(*number, len(self._partitions))
            self._partitions.append(self._by_number[number])
        return self._by_number[number]

    def _queue(self, outgoing: Outgoing, parcel: Parcel, partition: Partition) -> None:
        """Queues a parcel, up to the first message that is refused."""
        if parcel.partition >= (count := self.partitions(parcel.topic)):
            self.ledger.fail(parcel, parcel.first, f"the topic has {count} partitions, numbered from 0")
        topic = self._producer.topic(parcel.topic)
        messages = outgoing.messages(parcel.rows, partition.ticket + parcel.first)
        while len(messages) and not self.ledger.has_failed:
            self._answered.clear()
            try:
                if outgoing.one_by_one:
                    rows = parcel.rows[-len(messages) :]
                    self._producer.produce_each(messages, *outgoing.arguments(rows, messages, topic, parcel.partition))
                else:
                    self._producer.produce(topic, parcel.partition, messages)
            finally:
                accepted = len(messages) - int(np.count_nonzero(messages["error"]))
                partition.sent += accepted
            messages = messages[accepted:]
            if len(messages):
                code = int(messages["error"][0])
                if code == self.cluster.codes._QUEUE_FULL:
                    self._answered.wait(SLICE_SECS)
                else:
                    self.ledger.fail(parcel, partition.sent, self._refusal(code))

    def _refusal(self, code: int) -> str:
        """Reason why librdkafka did not accept a message, and what to do."""
        if code == self.cluster.codes.MSG_SIZE_TOO_LARGE:
            return (
                f"with key and headers it is above this client's limit of {self.settings['message.max.bytes']} bytes;"
                " raise max_message_bytes in the URL, and max.message.bytes of the topic"
            )
        return self.cluster.reason(self.cluster.codes(code))

    def flush(self) -> None:
        """Wait until each message is acknowledged or has failed. Raises DeliveryFailed."""
        self._drain(lambda: self.ledger.has_failed)
        self.check()

    def close(self) -> None:
        """Gives queued messages five more seconds, counts the rest as failed, and disconnects."""
        if self._closed:
            return
        deadline = time.monotonic() + LEAVE_SECS
        self._drain(lambda: self._gap or time.monotonic() > deadline)
        self._drop_queue(deadline)
        self._closed = True
        self._producer.wake()
        self._listener.join()
        self._producer.close()
        self.cluster.close()
        self._partitions.clear()

    # Reports

    def _listen(self) -> None:
        try:
            while not self._closed:
                for report in self._producer.reports(SLICE_SECS):
                    if isinstance(report, list):
                        self._take(report)
                    else:
                        self.cluster.note(report)
                self.cluster.poll()
        except Exception as error:  # a bug: threads that wait for reports must not wait forever
            self.cluster.note(
                self.cluster.codes(self.cluster.codes._FATAL, f"a report cannot be read: {error!r}", True)
            )
            raise

    def _take(self, deliveries: list[Delivery]) -> None:
        changed = set()
        for ticket, end, code in deliveries:
            partition = self._partitions[ticket >> NUMBER_BITS]
            number = ticket - partition.ticket
            if code:
                self._gap = True
                dropped = code in (self.cluster.codes._PURGE_QUEUE, self.cluster.codes._PURGE_INFLIGHT)
                reason = self.cluster.reason(self.cluster.codes(code))
                self.ledger.fail(partition.parcel(number), number, reason, dropped=dropped)
            partition.answer(number, end - partition.ticket)
            changed.add(partition)
        if self.acknowledges_sent:
            for partition in changed:
                self.ledger.acknowledge(partition.topic, partition.number, partition.answered)
        self._answered.set()

    # Ends

    def _drain(self, enough: Callable[[], bool]) -> None:
        """Sends until all messages are reported, or `enough` returns true."""
        while len(self._producer) and not enough():
            self._producer.flush(SLICE_SECS)

    def check(self) -> None:
        if not self.ledger.has_failed:
            return
        # Messages before a refused one may take their time; after a gap nothing more may be written.
        self._drain(lambda: self._gap or bool(self.cluster.fatal))
        self._drop_queue(time.monotonic() + LEAVE_SECS)
        self.ledger.check()

    def _drop_queue(self, deadline: float) -> None:
        """Fails queued messages at once, and messages in flight that have no answer by the deadline."""
        if len(self._producer):
            self._producer.purge(in_flight=False)
            self._drain(lambda: time.monotonic() > deadline)
        if len(self._producer):
            self._producer.purge(in_flight=True)
            last = time.monotonic() + 1
            self._drain(lambda: time.monotonic() > last)
        if len(self._producer):
            self.ledger.fail_open("the broker did not answer")
