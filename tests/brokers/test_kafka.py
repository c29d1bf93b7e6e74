"""The Kafka sink against a real broker: what arrives, what is refused, and what a broken broker does to a run."""

from __future__ import annotations

import os
import re
import resource
import signal
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import confluent_kafka
import numpy as np
import pytest
from confluent_kafka import admin
from kafka_client import asked, make_topic
from native import free_port
from sinks_contract import Received, RefusingSinkContract, SinkContract, batch, one_sentence, sent_while_it_starts
from waiting import PATIENCE_SECS, freeze, interrupt_in, wait_until

from simulator.batch import MessageBatch
from simulator.errors import DeliveryFailed, OptionError, SinkError, UsageError
from simulator.model import OrderKey
from simulator.sinks.kafka.cluster import Cluster
from simulator.sinks.kafka.open import open_kafka
from simulator.sinks.kafka.sink import KafkaSink
from simulator.sinks.kafka.url import parse_url
from simulator.truth.verify.opening import open_reader

pytestmark = pytest.mark.broker("kafka")


def open_url(url: str) -> KafkaSink:
    return open_kafka(parse_url(url))


@pytest.fixture
def topic() -> str:
    return f"test.{uuid.uuid4().hex}"


@pytest.fixture
def breakable(kafka_broker: Any) -> Any:
    return kafka_broker


@pytest.fixture
def secured(kafka_broker: Any) -> Any:
    return kafka_broker


def read(address: str, topic: str) -> dict[int, list[Any]]:
    """All messages of a topic by partition, in the order of their offsets."""
    common = {"bootstrap.servers": address, "group.id": "none", "log_level": 0}
    reader = confluent_kafka.Consumer({**common, "enable.partition.eof": True})
    # A reader of committed messages may come to an end before the broker has marked what was committed last.
    asks = confluent_kafka.Consumer({**common, "isolation.level": "read_uncommitted"})
    try:
        numbers = list(asked(lambda: reader.list_topics(topic, timeout=10)).topics[topic].partitions)
        places = [confluent_kafka.TopicPartition(topic, n) for n in numbers]
        ends = {place.partition: end(asks, place) for place in places}
        reader.assign([confluent_kafka.TopicPartition(topic, n, confluent_kafka.OFFSET_BEGINNING) for n in numbers])
        found: dict[int, list[Any]] = {n: [] for n in numbers}
        ended: set[int] = set()
        deadline = time.monotonic() + PATIENCE_SECS
        while ended != set(numbers):
            assert time.monotonic() < deadline, f"the topic could not be read to its end in {PATIENCE_SECS:g} s"
            for message in reader.consume(10_000, timeout=0.5):
                if message.error() is None:
                    found[message.partition()].append(message)
                elif (
                    message.error().code() == confluent_kafka.KafkaError._PARTITION_EOF
                    and message.offset() >= ends[message.partition()]
                ):
                    ended.add(message.partition())
                # Others pass: the reader connects again by itself.
        return found
    finally:
        reader.close()
        asks.close()


def end(client: confluent_kafka.Consumer, place: confluent_kafka.TopicPartition) -> int:
    """The offset behind the last message."""
    return int(asked(lambda: client.get_watermark_offsets(place, timeout=10))[1])


def values(messages: Sequence[Any]) -> list[bytes | None]:
    return [message.value() for message in messages]


def failure(sink: KafkaSink, batches: MessageBatch | Iterable[MessageBatch]) -> str:
    """Sends the batches and flushes; what DeliveryFailed says then or before."""

    def send() -> None:
        for messages in [batches] if isinstance(batches, MessageBatch) else batches:
            sink.send(messages)
        sink.flush()

    with pytest.raises(DeliveryFailed) as caught:
        send()
    return one_sentence(caught.value)


# What arrives


class TestContract(RefusingSinkContract):
    too_large = 3000

    @pytest.fixture(autouse=True)
    def _broker(self, kafka: str) -> None:
        self.address = kafka

    def url(self, topic: str) -> str:
        return f"kafka://{self.address}/{topic}?partitions=5&compression=lz4&linger_ms=1"

    def small_url(self, topic: str) -> str:
        make_topic(self.address, topic, 2, max_message_bytes="2000")
        return f"kafka://{self.address}/{topic}?batch_bytes=500"

    def read(self, topic: str) -> dict[int, list[Received]]:
        return {
            number: [Received(m.value(), m.key(), tuple(m.headers() or ()), m.timestamp()[1]) for m in messages]
            for number, messages in read(self.address, topic).items()
        }


class TestContractWithoutIdempotence(TestContract):
    def url(self, topic: str) -> str:
        return super().url(topic) + "&idempotence=false"


class TestContractOfTransactions(SinkContract):
    @pytest.fixture(autouse=True)
    def _broker(self, kafka: str) -> None:
        self.address = kafka

    def url(self, topic: str) -> str:
        return f"kafka://{self.address}/{topic}?partitions=5&exactly-once=true"

    read = TestContract.read  # of what is committed


def test_a_transaction_that_fails_leaves_nothing_behind(kafka: str, topic: str) -> None:
    url = f"kafka://{kafka}/{topic}?partitions=1&exactly-once=true&max_message_bytes=2000"
    with open_url(url) as sink:
        assert sink.stored("a run", []) is None
        sink.send(batch(topic, [b"1", b"2"]))
        sink.flush()
        sentence = failure(sink, batch(topic, [b"3", b"x" * 3000, b"4"], first_turn=2))
        assert sentence.startswith("3 of 5 messages were not delivered; the first was turn 3.0 for")
        assert (sink.delivered, sink.failed) == (2, 3)
    assert values(read(kafka, topic)[0]) == [b"1", b"2"]
    with open_url(url) as sink:
        assert sink.stored("another run", [topic]) is None
        assert sink.stored("a run", [topic]) == OrderKey(1, 1, 0)


def test_of_two_writers_of_one_id_the_later_one_ends_the_other(kafka: str, topic: str) -> None:
    url = f"kafka://{kafka}/{topic}?partitions=1&exactly-once=true&transactional-id=one.{topic}"
    with open_url(url) as earlier:
        earlier.send(batch(topic, [b"1"]), whole=False)
        with open_url(url) as later:
            assert later.stored("later run", [topic]) is None
            later.send(batch(topic, [b"2"]))
            later.flush()
            sentence = failure(earlier, batch(topic, [b"3"], first_turn=1))
            assert f"another run writes with the transactional id 'one.{topic}'" in sentence
            assert (earlier.delivered, earlier.failed) == (0, 2)
    assert values(read(kafka, topic)[0]) == [b"2"]


def test_one_batch_may_hold_several_topics(kafka: str, topic: str) -> None:
    topics = [f"{topic}.{'ab'[n % 2]}" for n in range(10)]
    with open_url(f"kafka://{kafka}/{topic}.{{table}}?partitions=1") as sink:
        sink.send(batch(topics, [b"%d" % n for n in range(10)]))
        sink.flush()
    assert values(read(kafka, f"{topic}.a")[0]) == [b"0", b"2", b"4", b"6", b"8"]
    assert values(read(kafka, f"{topic}.b")[0]) == [b"1", b"3", b"5", b"7", b"9"]


# Where Java's default partitioner puts these keys among 12 partitions: murmur2 as in apache/kafka's UtilsTest.java.
JAVA_PARTITIONS = {b"21": 0, b"1001": 0, b"foobar": 6, b"abc": 3, b"shop.orders": 3, b"": 9, b'{"id":1001}': 2}


def test_a_null_partition_is_chosen_as_java_does(kafka: str, topic: str) -> None:
    with open_url(f"kafka://{kafka}/{topic}?partitions=12") as sink:
        sink.send(batch(topic, list(JAVA_PARTITIONS), list(JAVA_PARTITIONS)))
        sink.flush()
    found = {message.key(): n for n, messages in read(kafka, topic).items() for message in messages}
    assert found == JAVA_PARTITIONS


def test_counters_know_several_changes_in_a_message(kafka: str, topic: str) -> None:
    with open_url(f"kafka://{kafka}/{topic}?partitions=2") as sink:
        sink.send(batch(topic, [b"x"] * 2500, None, [0, 1] * 1250, changes=[0, 1, 2, 7] * 625))
        sink.flush()
        assert (sink.delivered, sink.delivered_changes, sink.failed) == (2500, 6250, 0)
        sink.close()
        sink.close()
        assert (sink.delivered, sink.delivered_changes, sink.failed) == (2500, 6250, 0)


def test_close_without_flush_still_delivers(kafka: str, topic: str) -> None:
    with open_url(f"kafka://{kafka}/{topic}?partitions=1") as sink:
        sink.send(batch(topic, [b"x"] * 100))
    assert (sink.delivered, sink.failed) == (100, 0)
    assert len(read(kafka, topic)[0]) == 100


# Topics


def test_a_missing_topic_is_made_as_the_url_says(kafka: str, topic: str) -> None:
    with open_url(f"kafka://{kafka}/{topic}?partitions=7&replication=1&max_message_bytes=3000000") as sink:
        assert sink.partitions(topic) == 7
        assert sink.partitions(topic) == 7
    client = admin.AdminClient({"bootstrap.servers": kafka, "log_level": 0})
    resource = admin.ConfigResource(admin.ConfigResource.Type.TOPIC, topic)
    found = asked(lambda: client.describe_configs([resource])[resource].result(30))
    assert found["max.message.bytes"].value == "3000000"


def test_an_existing_topic_is_used_as_it_is(kafka: str, topic: str) -> None:
    make_topic(kafka, topic, 3)
    with open_url(f"kafka://{kafka}/{topic}") as sink:
        assert sink.partitions(topic) == 3
    with open_url(f"kafka://{kafka}/{topic}?partitions=3") as sink:
        assert sink.partitions(topic) == 3


def test_another_partition_count_is_an_error(kafka: str, topic: str) -> None:
    make_topic(kafka, topic, 3)
    with open_url(f"kafka://{kafka}/{topic}?partitions=4") as sink, pytest.raises(SinkError) as caught:
        sink.send(batch(topic, [b"x"]))
    assert one_sentence(caught.value) == (
        f"topic '{topic}' at Kafka {kafka} has 3 partitions, and the URL asks for 4:"
        " leave partitions= out, or take another topic."
    )
    assert read(kafka, topic) == {0: [], 1: [], 2: []}


def test_a_missing_topic_without_a_count_is_an_error(kafka: str, topic: str) -> None:
    with open_url(f"kafka://{kafka}/{topic}") as sink, pytest.raises(SinkError) as caught:
        sink.partitions(topic)
    assert one_sentence(caught.value) == (
        f"there is no topic '{topic}' at Kafka {kafka}: add partitions=N to the URL to have it made with N."
    )


class TestBrokerOfItsOwn:
    """One that makes topics by itself, and looks twice a second for messages to delete, not every five minutes."""

    @pytest.fixture(scope="class")
    def address(self, new_broker: Callable[..., Any]) -> Iterator[str]:
        settings = {
            "auto.create.topics.enable": "true",
            "num.partitions": "9",
            "log.retention.check.interval.ms": "500",
            "log.initial.task.delay.ms": "500",
        }
        with new_broker("kafka", settings=settings) as broker:
            yield broker.address

    def test_it_is_not_asked_to_make_topics(self, address: str, topic: str) -> None:
        with open_url(f"kafka://{address}/{topic}") as sink, pytest.raises(SinkError, match="there is no topic"):
            sink.partitions(topic)
        client = admin.AdminClient({"bootstrap.servers": address, "log_level": 0})
        assert topic not in asked(lambda: client.list_topics(timeout=10)).topics
        with open_url(f"kafka://{address}/{topic}?partitions=2") as sink:
            assert sink.partitions(topic) == 2

    def test_messages_of_long_ago_stay(self, address: str, topic: str) -> None:
        """Retention counts from the times of messages."""
        with open_url(f"kafka://{address}/{topic}?partitions=1") as sink:
            sink.send(batch(topic, [b"1", b"2"], timestamps_ms=[1_600_000_000_000] * 2))
            sink.flush()
        time.sleep(3)
        assert values(read(address, topic)[0]) == [b"1", b"2"]


def test_a_topic_that_another_process_makes_at_the_same_time(
    kafka: str, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = Cluster._create

    def overtaken(cluster: Cluster, name: str, count: int) -> None:
        make_topic(kafka, name, count)
        create(cluster, name, count)

    monkeypatch.setattr(Cluster, "_create", overtaken)
    with open_url(f"kafka://{kafka}/{topic}?partitions=2") as sink:
        assert sink.partitions(topic) == 2
        sink.send(batch(topic, [b"x"], None, [1]))
        sink.flush()


# As librdkafka says it of a broker that the cluster names no longer, and of one that does not answer; then as a cluster
# says it whose only broker is shut out for a moment.
PASSING = {
    "dropped": (confluent_kafka.KafkaError._DESTROY_BROKER, None),
    "lost": (confluent_kafka.KafkaError._TRANSPORT, None),
    "fenced": (
        confluent_kafka.KafkaError.INVALID_REPLICATION_FACTOR,
        "Unable to replicate the partition 1 time(s): All brokers are currently fenced.",
    ),
}


@pytest.mark.parametrize("request_name", ["list_topics", "create_topics"])
@pytest.mark.parametrize("error", PASSING)
def test_a_request_that_fails_for_a_moment_is_sent_again(
    kafka: str, topic: str, request_name: str, error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_url(f"kafka://{kafka}/{topic}?partitions=2") as sink:
        send, attempts = getattr(sink.cluster._admin, request_name), 0

        def lost_once(*arguments: Any, **named: Any) -> Any:
            nonlocal attempts
            attempts += 1
            if attempts == 1:
                raise confluent_kafka.KafkaException(confluent_kafka.KafkaError(*PASSING[error]))
            return send(*arguments, **named)

        monkeypatch.setattr(sink.cluster._admin, request_name, lost_once)
        assert sink.partitions(topic) == 2
        assert attempts >= 2
        sink.send(batch(topic, [b"x"], None, [1]))
        sink.flush()
        assert sink.delivered == 1


def test_more_copies_than_brokers_is_told_in_the_brokers_words(kafka: str, topic: str) -> None:
    with (
        open_url(f"kafka://{kafka}/{topic}?partitions=2&replication=3") as sink,
        pytest.raises(SinkError, match=r"replication|Replication") as caught,
    ):
        sink.partitions(topic)
    assert one_sentence(caught.value).startswith(f"topic '{topic}' at Kafka {kafka} cannot be used: ")


def test_an_illegal_topic_name_stops_before_anything_is_sent(kafka: str, topic: str) -> None:
    with open_url(f"kafka://{kafka}?partitions=1") as sink:
        with pytest.raises(UsageError, match="'a b' is no Kafka topic name"):
            sink.send(batch([topic, "a b"], [b"x", b"y"]))
        assert sink.partitions(topic) == 1
        sink.flush()
        assert (sink.delivered, sink.failed) == (0, 0)


# Messages that are refused


def test_a_message_above_the_clients_limit(kafka: str, topic: str) -> None:
    with open_url(f"kafka://{kafka}/{topic}?partitions=1&max_message_bytes=5000") as sink:
        with pytest.raises(DeliveryFailed) as caught:
            sink.send(batch(topic, [b"a", b"b", b"x" * 6000, b"d"], [b"key"] * 4, changes=[1, 2, 4, 8], first_turn=40))
        assert one_sentence(caught.value) == (
            f"2 of 4 messages were not delivered; the first was turn 42.0 for topic '{topic}' partition 0 (6003 bytes):"
            " with key and headers it is above this client's limit of 5000 bytes; raise max_message_bytes in the URL,"
            " and max.message.bytes of the topic."
        )
        assert (sink.delivered, sink.delivered_changes, sink.failed) == (2, 3, 2)
    assert values(read(kafka, topic)[0]) == [b"a", b"b"]


def test_a_message_above_the_topics_limit(kafka: str, topic: str) -> None:
    make_topic(kafka, topic, 2, max_message_bytes="2000")
    sent = [b"a"] * 5 + [b"x" * 3000] + [b"x" * 4000] + [b"z"] * 5
    with open_url(f"kafka://{kafka}/{topic}?batch_bytes=500") as sink:
        sentence = failure(sink, batch(topic, sent, None, [0] * 6 + [1] * 6, changes=list(range(12))))
        assert re.fullmatch(
            rf"\d+ of 12 messages were not delivered; the first was turn 5\.0 for topic '{topic}' partition 0 \(3000"
            r" bytes\): Broker: Message size too large; raise max\.message\.bytes of the topic, or lower batch_bytes in"
            r" the URL if single messages are smaller\.",
            sentence,
        )
        found = read(kafka, topic)
        arrived = sum(len(messages) for messages in found.values())
        assert values(found[0]) == [b"a"] * 5
        assert sink.delivered == arrived
        assert sink.failed == 12 - arrived
        # The five before the first have changes 0 to 4, the five after the second 7 to 11.
        assert sink.delivered_changes == 10 + sum(range(7, 7 + len(found[1])))


def test_a_failure_ends_the_run_early(kafka: str, topic: str) -> None:
    make_topic(kafka, topic, 1, max_message_bytes="2000")
    with open_url(f"kafka://{kafka}/{topic}?batch_bytes=500&linger_ms=0") as sink:

        def endless() -> Iterator[MessageBatch]:
            deadline = time.monotonic() + PATIENCE_SECS
            for start in count(0, 100):
                assert time.monotonic() < deadline, "the failure of the fourth batch was not told before the end"
                yield batch(topic, [b"x" * 3000 if start == 300 else b"x"] * 100, first_turn=start)
                time.sleep(0.01)

        assert "the first was turn 300.0 " in failure(sink, endless())
        assert sink.failed >= 100
        assert sink.delivered == len(read(kafka, topic)[0])


def test_the_first_of_a_thousand_failures_is_found_among_equal_messages(kafka: str, topic: str) -> None:
    make_topic(kafka, topic, 3, max_message_bytes="2000")
    with open_url(f"kafka://{kafka}/{topic}?batch_bytes=500") as sink:
        sink.send(batch(topic, [b"small"] * 1500, [b"k"] * 1500, [0, 1, 2] * 500))
        sink.flush()
        # of one partition: another one's may be told first, and then what waits here is dropped
        large = batch(topic, [b"x" * 3000] * 1000, [b"k"] * 1000, [1] * 1000, first_turn=7000)
        sentence = failure(sink, large)
        assert sentence.startswith("1000 of 2500 messages were not delivered; the first was turn 7000.0 ")
        assert (sink.delivered, sink.delivered_changes, sink.failed) == (1500, 1500, 1000)


def test_a_partition_that_is_not_there(kafka: str, topic: str) -> None:
    with open_url(f"kafka://{kafka}/{topic}?partitions=2") as sink:
        with pytest.raises(DeliveryFailed) as caught:
            sink.send(batch(topic, [b"a", b"b"], None, [1, 2]))
        assert one_sentence(caught.value) == (
            f"1 of 2 messages were not delivered; the first was turn 1.0 for topic '{topic}' partition 2 (1 bytes):"
            " the topic has 2 partitions, numbered from 0."
        )
        assert (sink.delivered, sink.failed) == (1, 1)


def test_a_time_far_ahead_is_refused_by_the_broker(kafka: str, topic: str) -> None:
    ahead_ms = time.time_ns() // 1_000_000 + 86_400_000
    with open_url(f"kafka://{kafka}/{topic}?partitions=1") as sink:
        sentence = failure(sink, batch(topic, [b"a"], timestamps_ms=[ahead_ms]))
    assert "Broker: Invalid timestamp; by default a topic takes no time more than an hour ahead" in sentence


def test_a_fenced_client_gives_up(kafka: str, topic: str) -> None:
    sink = open_url(f"kafka://{kafka}/{topic}?partitions=1")
    sink.send(batch(topic, [b"a"]))
    sink.flush()
    # As librdkafka would call it; a broker fences only transactional clients, of which this is none.
    fenced = confluent_kafka.KafkaError(confluent_kafka.KafkaError._FENCED, "fenced by a newer client", True)
    sink.cluster.note(fenced)
    assert failure(sink, batch(topic, [b"b"])) == (
        "0 of 1 messages were not delivered; the client gave up: fenced by a newer client."
    )
    sink.close()
    assert (sink.delivered, sink.failed) == (1, 0)


# Brokers that cannot be used


def refused(url: str) -> str:
    with pytest.raises(SinkError) as caught:
        open_url(url)
    return one_sentence(caught.value)


def test_nobody_listens() -> None:
    address = f"127.0.0.1:{free_port()}"
    started = time.monotonic()
    sentence = refused(f"kafka://{address}/t?timeout_secs=1.5")
    assert time.monotonic() - started > 1
    assert sentence.startswith(f"Kafka {address} could not be reached in 1.5 s: Connect to ipv4#{address} failed: ")
    assert sentence.endswith("Connection refused. Is the broker running?")


def test_an_unknown_host() -> None:
    started = time.monotonic()
    sentence = refused("kafka://no-such-host.invalid:9092/t?timeout_secs=500")
    assert time.monotonic() - started < 250, "a name that is not there need not be asked for again"
    assert sentence.startswith(
        "Kafka no-such-host.invalid:9092 was not found: Failed to resolve 'no-such-host.invalid:9092': "
    )
    assert sentence.endswith("Check the host's name.")


def test_one_of_several_servers_is_enough(kafka: str) -> None:
    with open_url(f"kafka://127.0.0.1:{free_port()},{kafka}/t"):
        pass


@pytest.fixture
def properties(tmp_path: Path) -> Callable[..., Path]:
    """Writes a properties file: `properties(security_protocol="SSL")`."""

    def write(**settings: str) -> Path:
        file = tmp_path / "client.properties"
        file.write_text("".join(f"{name.replace('_', '.')} = {text}\n" for name, text in settings.items()))
        return file

    return write


def read_back(url: str, topic: str, partition: int) -> list[bytes]:
    """A partition as `verify` reads it."""
    found = list[bytes]()
    with closing(open_reader(url)) as reader:
        assert reader.partitions(topic) > partition
        while (records := reader.take((topic, partition), 100)) is not None:
            found += records.column("value").to_pylist()
    return found


LOGINS = [("PLAIN", "alice", "alice-secret"), ("SCRAM-SHA-256", "carol", "carol-secret")]


@pytest.mark.parametrize("listener", ["SASL_PLAINTEXT", "SASL_SSL"])
@pytest.mark.parametrize(("mechanism", "user", "password"), LOGINS)
def test_logins(
    secured: Any, properties: Any, topic: str, listener: str, mechanism: str, user: str, password: str
) -> None:
    file = properties(
        security_protocol=listener,
        sasl_mechanism=mechanism,
        sasl_username=user,
        sasl_password=password,
        ssl_ca_location=str(secured.certificate),
    )
    url = f"kafka://{secured.addresses[listener]}/{topic}?partitions=2&properties={file}"
    with open_url(url) as sink:
        sink.send(batch(topic, [b"x"] * 10, None, [0, 1] * 5))
        sink.flush()
    assert sum(map(len, read(secured.address, topic).values())) == 10
    assert read_back(url, topic, 1) == [b"x"] * 5


@pytest.mark.parametrize("listener", ["SASL_PLAINTEXT", "SASL_SSL"])
def test_tokens_are_renewed(secured: Any, properties: Any, topic: str, listener: str) -> None:
    """With tokens of five seconds, which the broker takes unsigned, for longer than one lives."""
    file = properties(
        security_protocol=listener,
        sasl_mechanism="OAUTHBEARER",
        enable_sasl_oauthbearer_unsecure_jwt="true",
        sasl_oauthbearer_config="principal=alice lifeSeconds=5",
        ssl_ca_location=str(secured.certificate),
    )
    url = f"kafka://{secured.addresses[listener]}/{topic}?partitions=1&properties={file}"
    with open_url(url) as sink:
        for turn in range(7):
            sink.send(batch(topic, [b"x"], first_turn=turn))
            sink.flush()
            time.sleep(1)
    assert len(read(secured.address, topic)[0]) == 7
    assert read_back(url, topic, 0) == [b"x"] * 7


@pytest.mark.parametrize(("mechanism", "user", "password"), LOGINS)
def test_a_wrong_password(secured: Any, properties: Any, capfd: Any, mechanism: str, user: str, password: str) -> None:
    file = properties(
        security_protocol="SASL_PLAINTEXT", sasl_mechanism=mechanism, sasl_username=user, sasl_password="hush-wrong"
    )
    address = secured.addresses["SASL_PLAINTEXT"]
    sentence = refused(f"kafka://{address}/t?properties={file}")
    assert sentence.startswith(f"Kafka {address} refused the login: SASL authentication error: Authentication failed")
    assert sentence.endswith(f". Check sasl.username and sasl.password in {file}.")
    assert "hush" not in sentence
    assert user not in sentence
    assert capfd.readouterr() == ("", "")


def test_a_certificate_that_is_not_trusted(secured: Any, properties: Any) -> None:
    file = properties(security_protocol="SSL")
    address = secured.addresses["SSL"]
    sentence = refused(f"kafka://{address}/t?properties={file}")
    assert sentence.startswith(f"TLS with Kafka {address} failed: ")
    assert "certificate verify failed" in sentence
    assert sentence.endswith(f"The authority's file is ssl.ca.location in {file}.")


def test_a_trusted_certificate(secured: Any, properties: Any) -> None:
    file = properties(security_protocol="SSL", ssl_ca_location=str(secured.certificate))
    with open_url(f"kafka://{secured.addresses['SSL']}/t?properties={file}"):
        pass


@pytest.mark.parametrize("listener", ["SASL_PLAINTEXT", "SSL"])
def test_a_plain_client_at_a_secured_port(secured: Any, listener: str) -> None:
    address = secured.addresses[listener]
    sentence = refused(f"kafka://{address}/t?timeout_secs=2")
    assert sentence == (
        f"Kafka {address} closed the connection without a word for 2 s. Does the port want TLS or a login?"
        " Write security.protocol into a file and add properties=FILE to the URL."
    )


def test_a_tls_client_at_a_plain_port(secured: Any, properties: Any) -> None:
    file = properties(security_protocol="SSL", ssl_ca_location=str(secured.certificate))
    sentence = refused(f"kafka://{secured.address}/t?timeout_secs=8&properties={file}")
    assert "PLAINTEXT broker listener" in sentence


def test_a_bad_certificate_file(secured: Any, properties: Any, tmp_path: Path) -> None:
    file = properties(security_protocol="SSL", ssl_ca_location=str(tmp_path / "hush.pem"))
    with pytest.raises(OptionError) as caught:
        open_url(f"kafka://{secured.addresses['SSL']}/t?properties={file}")
    assert "hush" not in one_sentence(caught.value)


# Settings of a file


def test_a_properties_file_reaches_every_setting(kafka: str, topic: str, properties: Any) -> None:
    file = properties(message_max_bytes="2000", partitioner="consistent_random", linger_ms="0")
    with open_url(f"kafka://{kafka}/{topic}?partitions=12&linger_ms=3&properties={file}") as sink:
        assert sink.settings["linger.ms"] == "3"
        sink.send(batch(topic, [b"x"], [b"foobar"]))
        sink.flush()
        # CRC32 of the key, not murmur2.
        assert len(read(kafka, topic)[5]) == 1
        with pytest.raises(DeliveryFailed, match="above this client's limit of 2000 bytes"):
            sink.send(batch(topic, [b"x" * 3000]))


# Trouble in the middle


def test_an_outage_that_one_run_waits_for_and_another_one_does_not(
    breakable: Any, topic: str, properties: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first message that failed is told; a topic that is first named meanwhile waits as messages do."""
    file, address = properties(message_timeout_ms="8000"), breakable.address
    with (
        open_url(f"kafka://{address}/{topic}?partitions=2&linger_ms=5&properties={file}") as sink,
        open_url(f"kafka://{address}?partitions=1") as patient,
    ):
        sink.send(batch(topic, [b"x"] * 10, None, [0, 1] * 5))
        sink.flush()
        patient.send(batch(f"{topic}.a", [b"1"]))
        patient.flush()
        monkeypatch.setattr("simulator.sinks.url.CONNECT_SECS", 0.5)  # the broker is away for longer
        breakable.kill()
        sentence = failure(sink, batch(topic, [b"y"] * 10, None, [1, 0] * 5, first_turn=70))
        assert sentence.startswith(f"10 of 20 messages were not delivered; the first was turn 70.0 for topic '{topic}'")
        assert "Message timed out; the last trouble with a connection was: " in sentence
        assert (sink.delivered, sink.failed) == (10, 10)
        sent_while_it_starts(breakable, patient, batch([f"{topic}.a", f"{topic}.b"], [b"2", b"3"], first_turn=1))
        assert (patient.delivered, patient.failed) == (3, 0)
    assert sum(map(len, read(address, topic).values())) == 10
    assert [values(read(address, f"{topic}.{name}")[0]) for name in "ab"] == [[b"1", b"2"], [b"3"]]


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of another process is set with prlimit")
def test_a_broker_whose_disk_is_full(breakable: Any, topic: str, properties: Any) -> None:
    """Writing ends with an error for a limit of the size of files as for a full disk; the broker then ends itself."""
    file = properties(message_timeout_ms="8000")
    with open_url(f"kafka://{breakable.address}/{topic}?partitions=1&linger_ms=5&properties={file}") as sink:
        sink.send(batch(topic, [b"x"] * 10))
        sink.flush()
        os.truncate(breakable.log, 0)  # the broker writes what it says of this to a file, too
        resource.prlimit(breakable.pid, resource.RLIMIT_FSIZE, (500_000, resource.RLIM_INFINITY))
        sentence = failure(sink, batch(topic, [b"y" * 950_000] * 10, first_turn=70))
        assert sentence.startswith(f"10 of 20 messages were not delivered; the first was turn 70.0 for topic '{topic}'")
        assert "Message timed out; the last trouble with a connection was: " in sentence
        assert (sink.delivered, sink.failed) == (10, 10)
    assert "No space left" in breakable.log.read_text() or "File too large" in breakable.log.read_text()
    breakable.kill()


def test_the_queue_is_bounded_and_a_full_one_loses_nothing(breakable: Any, topic: str, properties: Any) -> None:
    file = properties(queue_buffering_max_messages="1500")
    with open_url(f"kafka://{breakable.address}/{topic}?partitions=3&properties={file}") as sink:
        sink.partitions(topic)
        freeze(breakable.pid)
        lengths = []

        def wake() -> None:
            try:
                wait_until(lambda: len(sink._producer) >= 1500, "the queue is full")
                for _ in range(5):
                    time.sleep(0.1)
                    lengths.append(len(sink._producer))
            finally:
                os.kill(breakable.pid, signal.SIGCONT)

        waker = threading.Thread(target=wake)
        waker.start()
        try:
            numbers = range(10_000)
            sink.send(batch(topic, [b"%d" % n for n in numbers], None, [n % 3 for n in numbers]))
        finally:
            waker.join()
        sink.flush()
        assert lengths == [1500] * 5
        assert (sink.delivered, sink.failed) == (10_000, 0)
    for partition, messages in read(breakable.address, topic).items():
        assert values(messages) == [b"%d" % n for n in range(partition, 10_000, 3)]


def test_ctrl_c_gets_through_and_everything_is_accounted_for(
    breakable: Any, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = open_url(f"kafka://{breakable.address}/{topic}?partitions=3")
    sink.partitions(topic)
    sink.send(batch(topic, [b"x"] * 1000))
    sink.flush()
    freeze(breakable.pid)
    try:
        sink.send(batch(topic, [b"y"] * 1500, first_turn=1000))
        interrupt_in(monkeypatch, sink._producer, "flush")
        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            sink.flush()
        sink.close()
        assert time.monotonic() - started < PATIENCE_SECS, "messages may take five minutes, and nobody waits for them"
        assert (sink.delivered, sink.failed) == (1000, 1500)
    finally:
        os.kill(breakable.pid, signal.SIGCONT)
    breakable.wait_ready()


def test_memory_does_not_grow_with_the_run(kafka: str, topic: str) -> None:
    value = np.random.default_rng(1).bytes(2000)
    messages = batch(topic, [value] * 5000, None, [n % 4 for n in range(5000)])

    def peak_mib() -> float:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    with open_url(f"kafka://{kafka}/{topic}?partitions=4") as sink:
        for _ in range(20):
            sink.send(messages)
        after_200_mb = peak_mib()
        for _ in range(20):
            sink.send(messages)
        # the queue holds 32 MiB at most, which the first half need not have needed
        assert peak_mib() - after_200_mb < 100
        sink.flush()
        assert sink.delivered == 200_000
