"""Topics of Kafka read back, each partition up to where it ended when reading began.

One consumer reads all partitions, outside of any group, without committing. A partition of which enough waits is paused
until that is asked for, so memory is bounded.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from operator import lt
from typing import Any, Final

import pyarrow as pa

from simulator.errors import MissingPackage, OptionError, SinkError, UsageError
from simulator.sinks.kafka.cluster import end_offsets
from simulator.sinks.kafka.url import KafkaUrl, check_topic, read_properties
from simulator.sinks.reading import HEADERS, PartitionReader, Place

SCHEMA: Final = pa.schema([("value", pa.binary()), ("key", pa.binary()), ("headers", HEADERS)])
# Messages of a partition that wait before it is paused; also the most that are requested at once.
MOST_WAITING: Final = 50_000
AT_ONCE: Final = 10_000
POLL_SECS: Final = 1.0
# The longest silence of a broker that has messages, and the longest wait for an answer about a topic: it may be busy.
PATIENCE_SECS: Final = 60
ANSWER_SECS: Final = 20
# The longest wait for the end of transactions. A broker confirms a commit a moment before consumers can read it.
TRANSACTION_SECS: Final = 10.0


class KafkaReader(PartitionReader):
    """The messages of topics. Raises SinkError where the broker cannot be used, UsageError for topics of which messages
    are gone."""

    prefix_bytes, at_once = 0, AT_ONCE
    columns: Sequence[str] = SCHEMA.names

    def __init__(self, url: KafkaUrl, file: Mapping[str, str]) -> None:
        try:
            import confluent_kafka
            from confluent_kafka import admin
        except ImportError:
            raise MissingPackage("Kafka needs confluent-kafka: pip install 'cdc-simulator[kafka]'.") from None
        self.name, self.topic_pattern = f"Kafka {url.servers}", url.topic_pattern
        self._kafka: Any = confluent_kafka
        settings = {
            **{name: text for name, text in file.items() if name not in ("acks", "linger.ms", "compression.type")},
            "bootstrap.servers": url.servers,
            "group.id": "cdcsim-verify",
            "enable.auto.commit": "false",
            "isolation.level": "read_committed",
            "enable.partition.eof": "true",
            "auto.offset.reset": "error",
            "log_level": "0",
        }
        self._secs = url.connect_secs
        try:
            self._consumer: Any = confluent_kafka.Consumer(settings)
            self._admin: Any = admin.AdminClient(
                {name: text for name, text in settings.items() if name.startswith(("bootstrap", "s", "log_level"))}
            )
        except (confluent_kafka.KafkaException, TypeError, ValueError):
            raise OptionError("librdkafka refuses a setting of the Kafka URL or its properties file.") from None
        self._counts: dict[str, int] = {}
        self._waiting: dict[Place, deque[Any]] = {}
        self._ended: set[Place] = set()
        self._paused: set[Place] = set()

    def partitions(self, topic: str) -> int:
        """The topic's partition count; its partitions are read from now on."""
        if topic not in self._counts:
            check_topic(topic)
            try:
                metadata = self._consumer.list_topics(topic, timeout=max(self._secs, ANSWER_SECS)).topics[topic]
            except self._kafka.KafkaException as error:
                raise SinkError(f"{self.name} could not be reached: {error.args[0].str()}. Is it running?") from None
            if metadata.error is not None or not metadata.partitions:
                raise SinkError(f"{self.name} has no topic {topic!r}.")
            self._counts[topic] = len(metadata.partitions)
            self._check_kept(topic)
            self._wait_for_commits(topic, len(metadata.partitions))
            self._assign(topic, len(metadata.partitions))
        return self._counts[topic]

    def _check_kept(self, topic: str) -> None:
        """Raises UsageError for a compacted topic: the broker removes messages of it, which would be reported as
        lost."""
        resource = self._kafka.admin.ConfigResource(self._kafka.admin.RESOURCE_TOPIC, topic)
        try:
            settings = self._admin.describe_configs([resource], request_timeout=self._secs)[resource].result()
        except self._kafka.KafkaException:  # a broker, or a login, that does not say
            return
        policy = settings.get("cleanup.policy")
        if policy is not None and "compact" in policy.value:
            raise UsageError(
                f"{self.name}: the topic {topic!r} is compacted (cleanup.policy={policy.value}), so messages are"
                " missing that nobody lost: verify a topic with cleanup.policy=delete."
            )

    def _wait_for_commits(self, topic: str, count: int) -> None:
        """Waits until all that is in a topic now can be read, which the end of open transactions decides; not longer
        than `TRANSACTION_SECS`."""

        def ends(isolation: Any) -> list[int]:
            return end_offsets(self._admin, topic, count, isolation_level=isolation, request_timeout=self._secs)

        try:
            wanted, deadline = ends(self._kafka.IsolationLevel.READ_UNCOMMITTED), time.monotonic() + TRANSACTION_SECS
            while any(map(lt, ends(self._kafka.IsolationLevel.READ_COMMITTED), wanted)) and time.monotonic() < deadline:
                time.sleep(0.1)
        except self._kafka.KafkaException:  # a broker that does not say; reading tells why
            return

    def _assign(self, topic: str, count: int) -> None:
        assigned = []
        for partition in range(count):
            place = self._kafka.TopicPartition(topic, partition)
            try:
                low, high = self._consumer.get_watermark_offsets(place, timeout=max(self._secs, ANSWER_SECS))
            except self._kafka.KafkaException as error:
                raise SinkError(f"{self.name} says nothing about {topic!r}: {error.args[0].str()}.") from None
            if low > 0:
                raise UsageError(
                    f"{self.name}: {topic}-{partition} begins at offset {low:,}: the broker has deleted what came"
                    " before (retention), so nobody can tell whether it was right."
                )
            self._waiting[topic, partition] = deque()
            if high == 0:
                self._ended.add((topic, partition))
            else:
                assigned.append(self._kafka.TopicPartition(topic, partition, low))
        if assigned:
            self._consumer.incremental_assign(assigned)

    def take(self, place: Place, count: int) -> pa.RecordBatch | None:
        """Some of the next messages of a partition; None: there are no more. Raises SinkError."""
        self.partitions(place[0])
        waiting = self._waiting.get(place)
        if waiting is None:
            return None
        silent = 0.0
        while not waiting and place not in self._ended:
            if place in self._paused:
                self._paused.discard(place)
                self._consumer.resume([self._kafka.TopicPartition(*place)])
            silent = 0.0 if self._poll() else silent + POLL_SECS
            if silent > PATIENCE_SECS:
                raise SinkError(f"{self.name} sent nothing of {place[0]}-{place[1]} for {PATIENCE_SECS} s.")
        if not waiting:
            return None
        return _records([waiting.popleft() for _ in range(min(count, len(waiting)))])

    def _poll(self) -> bool:
        """Read what the broker has. False: nothing came. Raises SinkError."""
        # A wait for more than one message lasts until all of them are there.
        messages = self._consumer.consume(AT_ONCE, timeout=0) or self._consumer.consume(1, timeout=POLL_SECS)
        for message in messages:
            place = message.topic(), message.partition()
            if (error := message.error()) is None:
                self._waiting[place].append(message)
            elif error.code() == self._kafka.KafkaError._PARTITION_EOF:
                self._ended.add(place)
            elif not error.retriable() and error.code() != self._kafka.KafkaError._ALL_BROKERS_DOWN:
                raise SinkError(f"{self.name}: reading failed: {error.str()}.")
        for place in {(message.topic(), message.partition()) for message in messages}:
            if len(self._waiting.get(place, ())) > MOST_WAITING and place not in self._paused:
                self._paused.add(place)
                self._consumer.pause([self._kafka.TopicPartition(*place)])
        return bool(messages)

    def read(self) -> Sequence[Place]:
        return list(self._waiting)

    def close(self) -> None:
        self._consumer.close()


def open_kafka_reader(url: KafkaUrl) -> KafkaReader:
    """Raises UsageError, SinkError, MissingPackage."""
    return KafkaReader(url, read_properties(url.properties) if url.properties else {})


def _records(messages: Sequence[Any]) -> pa.RecordBatch:
    headers = [[{"name": name, "value": value} for name, value in message.headers() or ()] for message in messages]
    return pa.record_batch(
        [
            pa.array([message.value() for message in messages], pa.binary()),
            pa.array([message.key() for message in messages], pa.binary()),
            pa.array(headers, HEADERS),
        ],
        SCHEMA,
    )
