"""A Kafka cluster inside this process, for tests: librdkafka's mock broker, on a free port of 127.0.0.1.

It keeps messages in memory, serves producers and consumers, also those of other processes, and consumer groups. It
cannot be asked to make topics: they are made on first use, with four partitions each. Of a partition it keeps the last
5 MiB, and drops what came before without a word.
"""

from __future__ import annotations

from typing import Any, Final

from simulator.errors import MissingPackage

PARTITIONS: Final = 4
ANSWER_SECS: Final = 30


class MockCluster:
    """Runs as long as the object lives. `servers` is its address, as `bootstrap.servers` takes it. Raises
    MissingPackage."""

    def __init__(self) -> None:
        try:
            from confluent_kafka import Producer
        except ImportError:
            raise MissingPackage("the mock broker needs confluent-kafka: pip install 'cdc-simulator[kafka]'.") from None
        # the client that has the cluster ignores the servers, but must be given some
        mock = {"test.mock.num.brokers": 1, "bootstrap.servers": "mock", "allow.auto.create.topics": True}
        self._client: Any = Producer({**mock, "log_level": 0})
        broker = next(iter(self._client.list_topics(timeout=ANSWER_SECS).brokers.values()))
        self.servers = f"{broker.host}:{broker.port}"

    def create(self, topic: str) -> None:
        """Creates a topic, unless it exists."""
        self._client.list_topics(topic, timeout=ANSWER_SECS)

    def dropped(self, topic: str) -> int:
        """Number of messages of a topic that the broker has dropped."""
        from confluent_kafka import Consumer, TopicPartition

        consumer = Consumer({"bootstrap.servers": self.servers, "group.id": "cdcsim"})
        try:
            partitions = [TopicPartition(topic, number) for number in range(PARTITIONS)]
            return sum(consumer.get_watermark_offsets(partition, timeout=ANSWER_SECS)[0] for partition in partitions)
        finally:
            consumer.close()
