"""Topics of Kafka read back, each partition up to where it ended when reading began.

One consumer reads all partitions, outside of any group, without committing. It fetches ahead of what is asked for, some
MiB of each partition, so memory is bounded.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from operator import lt
from typing import Any, Final

import numpy as np
import pyarrow as pa

from simulator.errors import MissingPackage, OptionError, SinkError, UsageError
from simulator.sinks.kafka.cluster import offsets
from simulator.sinks.kafka.consumer import SCHEMA, Consumer
from simulator.sinks.kafka.url import KafkaUrl, check_topic, read_properties
from simulator.sinks.reading import PartitionReader, Place

# Messages to take at once.
AT_ONCE: Final = 10_000
# Limits of what is fetched of each partition: no more is requested while so much waits, and how much is requested.
FETCHING: Final = {
    "queued.max.messages.kbytes": "2048",
    "fetch.message.max.bytes": "524288",
    "fetch.queue.backoff.ms": "5",
}
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
        common: dict[str, Any] = {
            **{name: text for name, text in file.items() if name not in ("acks", "linger.ms", "compression.type")},
            "bootstrap.servers": url.servers,
            "log_level": "0",
        }
        reading = {"isolation.level": "read_committed", "enable.partition.eof": "true", "auto.offset.reset": "error"}
        self._secs = url.connect_secs
        try:
            self._admin: Any = admin.AdminClient(common)
            self._consumer = Consumer({**FETCHING, **common, **reading})
        except (confluent_kafka.KafkaException, TypeError, ValueError):
            raise OptionError("librdkafka refuses a setting of the Kafka URL or its properties file.") from None
        self._counts: dict[str, int] = {}
        # Partitions that may have more messages: the offset behind the last one that is read.
        self._ends: dict[Place, int] = {}

    def partitions(self, topic: str) -> int:
        """The topic's partition count; its partitions are read from now on."""
        if topic not in self._counts:
            check_topic(topic)
            try:
                metadata = self._admin.list_topics(topic, timeout=max(self._secs, ANSWER_SECS)).topics[topic]
            except self._kafka.KafkaException as error:
                raise SinkError(f"{self.name} could not be reached: {error.args[0].str()}. Is it running?") from None
            if metadata.error is not None or not metadata.partitions:
                raise SinkError(f"{self.name} has no topic {topic!r}.")
            self._counts[topic] = len(metadata.partitions)
            self._check_kept(topic)
            self._wait_for_commits(topic, len(metadata.partitions))
            self._start(topic, len(metadata.partitions))
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
            return offsets(self._admin, topic, count, isolation_level=isolation, request_timeout=self._secs)

        try:
            wanted, deadline = ends(self._kafka.IsolationLevel.READ_UNCOMMITTED), time.monotonic() + TRANSACTION_SECS
            while any(map(lt, ends(self._kafka.IsolationLevel.READ_COMMITTED), wanted)) and time.monotonic() < deadline:
                time.sleep(0.1)
        except self._kafka.KafkaException:  # a broker that does not say; reading tells why
            return

    def _start(self, topic: str, count: int) -> None:
        try:
            firsts, ends = (
                offsets(self._admin, topic, count, which, request_timeout=max(self._secs, ANSWER_SECS))
                for which in ("earliest", "latest")
            )
        except self._kafka.KafkaException as error:
            raise SinkError(f"{self.name} says nothing about {topic!r}: {error.args[0].str()}.") from None
        for partition, (first, end) in enumerate(zip(firsts, ends, strict=True)):
            if first > 0:
                raise UsageError(
                    f"{self.name}: {topic}-{partition} begins at offset {first:,}: the broker has deleted what came"
                    " before (retention), so nobody can tell whether it was right."
                )
            if end > 0:
                self._ends[topic, partition] = end
                self._consumer.start(topic, partition, first)

    def take(self, place: Place, count: int) -> pa.RecordBatch | None:
        """Some of the next messages of a partition; None: there are no more. Raises SinkError."""
        self.partitions(place[0])
        silent = 0.0
        while (end := self._ends.get(place)) is not None:
            records, positions, error = self._consumer.take(*place, min(count, AT_ONCE), POLL_SECS)
            if error is not None and error[0] != self._kafka.KafkaError._PARTITION_EOF:
                raise SinkError(f"{self.name}: reading failed: {error[1]}.")
            # others may be writing: the partition's end may not come
            if error is not None or (len(positions) and positions[-1] >= end - 1):
                del self._ends[place]
                self._consumer.stop(*place)
                records = records.slice(0, int(np.searchsorted(positions, end)))
            if records.num_rows:
                return records
            silent += POLL_SECS
            if silent > PATIENCE_SECS:
                raise SinkError(f"{self.name} sent nothing of {place[0]}-{place[1]} for {PATIENCE_SECS} s.")
        return None

    def read(self) -> Sequence[Place]:
        return [(topic, partition) for topic, count in self._counts.items() for partition in range(count)]

    def close(self) -> None:
        self._consumer.close()


def open_kafka_reader(url: KafkaUrl) -> KafkaReader:
    """Raises UsageError, SinkError, MissingPackage."""
    return KafkaReader(url, read_properties(url.properties) if url.properties else {})
