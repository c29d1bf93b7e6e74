"""Topics and queues of real brokers read back: clean and unharmed, after a restart that sends again, and what is
refused."""

from __future__ import annotations

import threading
import uuid
from contextlib import closing
from typing import Any

import pytest
from confluent_kafka import Producer
from kafka_client import make_topic
from sinks_contract import batch
from test_rabbitmq import connection

import simulator
from simulator.cli.commands.decode import decode
from simulator.run.job import Partitions, open_job
from simulator.run.plan import Limits
from simulator.sinks import open_sink
from simulator.sinks.kafka.consumer import Consumer
from simulator.truth.verify.findings import Wrong
from simulator.truth.verify.opening import open_reader

RUN: dict[str, Any] = {"route": "key", "snapshot": False}
RABBITMQ = "amqp://{}/?queue={}&partitions=3&timeout_secs=60"
KAFKA = pytest.mark.broker("kafka")


def place(kind: str, request: pytest.FixtureRequest) -> str:
    """The URL of a new topic with three partitions; the second word is a queue's type."""
    broker, _, queue_type = kind.partition(" ")
    address, topic = request.getfixturevalue(broker), f"verify_{uuid.uuid4().hex}"
    if broker == "rabbitmq":
        return f"{RABBITMQ.format(address, topic)}&queue_type={queue_type}"
    return f"{broker}://{address}/{topic}?partitions=3&timeout_secs=60"


@pytest.fixture
def url(kafka: str) -> str:
    return f"kafka://{kafka}/verify.{uuid.uuid4().hex}?partitions=3"


@KAFKA
@pytest.mark.parametrize("transactions", ["", "&exactly-once=true"])
def test_a_topic_is_right(url: str, transactions: str) -> None:
    """Transactions leave marks among the offsets, which are no messages."""
    simulator.publish("orders", "dts-avro", url + transactions, turns=300, snapshot=False)
    verdict = simulator.verify("orders", "dts-avro", url, turns=300, snapshot=False)
    assert verdict.ok, str(verdict)
    assert verdict.right == verdict.read > 300


@KAFKA
def test_a_commit_at_the_last_moment_is_waited_for(kafka: str, url: str) -> None:
    """A broker confirms a commit before consumers can read what it holds; here the commit itself comes late."""
    simulator.publish("orders", "dts-avro", url, turns=10, snapshot=False)  # makes the topic
    topic = url.rpartition("/")[2].partition("?")[0]
    producer = Producer({"bootstrap.servers": kafka, "transactional.id": topic})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce(topic, b"last", partition=0)
    producer.flush()
    commit = threading.Timer(3, producer.commit_transaction)
    commit.start()
    values: list[bytes] = []
    with closing(open_reader(url)) as reader:
        while (records := reader.take((topic, 0), 1000)) is not None:
            values += records.column("value").to_pylist()
    commit.join()
    assert values[-1] == b"last"


@KAFKA
def test_a_topic_that_others_write_to(kafka: str, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes after reading began is not read, although the end of a partition never comes."""
    producer = Producer({"bootstrap.servers": kafka})

    def start(consumer: Consumer, topic: str, partition: int, offset: int) -> None:
        for _ in range(3):
            producer.produce(topic, b"late", partition=partition)
        producer.flush()
        begin(consumer, topic, partition, offset)

    begin = Consumer.start
    simulator.publish("orders", "canal-json", url, turns=100, **RUN)
    monkeypatch.setattr(Consumer, "start", start)
    for late in (0, 9):
        verdict = simulator.verify("orders", "canal-json", url, turns=100, **RUN)
        assert verdict.read - verdict.right == late, str(verdict)
        assert verdict.right == verdict.expected > 100


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=pytest.mark.broker(kind.split()[0]))
        for kind in ("kafka", "rabbitmq classic", "rabbitmq quorum", "rabbitmq stream", "rocketmq")
    ],
)
def test_reading_takes_nothing_away(kind: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A topic that is read twice has the same messages in the same order, with all that came again after a restart; and
    the first of them can be looked at."""
    # several consumers per queue
    monkeypatch.setattr("simulator.sinks.rabbitmq.reader.PREFETCH", 5_000 if kind.endswith("stream") else 40)
    url = place(kind, request)
    simulator.publish("orders", "canal-json", url, turns=300, **RUN)
    simulator.publish("orders", "canal-json", url, start_at=240, turns=160, **RUN)
    allowed = simulator.verify("orders", "canal-json", url, turns=400, at_least_once=True, **RUN)
    assert allowed.ok, str(allowed)
    assert allowed.redelivered > 30
    strict = simulator.verify("orders", "canal-json", url, turns=400, **RUN)
    assert strict.counts == {Wrong.DOUBLED: allowed.redelivered}, str(strict)
    if kind.endswith("stream"):  # whose end is waited for
        return
    assert decode.main([url, "-f", "canal-json", "-n", "2"], standalone_mode=False) == 0
    again = simulator.verify("orders", "canal-json", url, turns=400, at_least_once=True, **RUN)
    assert again.ok, str(again)


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=pytest.mark.broker(kind.split()[0])) for kind in ("rabbitmq classic", "rocketmq")],
)
def test_what_is_wrong_in_a_partition_is_found(kind: str, request: pytest.FixtureRequest) -> None:
    """One message is left out, another comes twice, and two neighbours change places."""
    url = place(kind, request)
    with open_sink(url) as sink:
        job = open_job("orders", "canal-json", broker=kind.split()[0]).addressed(
            route="key", topic=sink.topic_pattern, partitions=Partitions(3)
        )
        messages = [*job.messages(Limits(turns=60), snapshot=False)]
        rows = [row for row, message in enumerate(messages) if message.partition == 1]
        messages[rows[40]], messages[rows[41]] = messages[rows[41]], messages[rows[40]]
        messages.insert(rows[20], messages[rows[20]])
        del messages[rows[10]]
        sink.send(
            batch(
                [message.topic for message in messages],
                [message.value for message in messages],
                partitions=[message.partition for message in messages],
            )
        )
        sink.flush()
    verdict = simulator.verify("orders", "canal-json", url, turns=60, **RUN)
    assert verdict.counts == {Wrong.MISSING: 1, Wrong.DOUBLED: 1, Wrong.REORDERED: 1}, str(verdict)


@pytest.mark.broker("rabbitmq")
def test_one_queue_of_several_topics(rabbitmq: str) -> None:
    """A queue holds its topics' messages in stream order."""
    url = f"amqp://{rabbitmq}/?topic={{table}}&queue=verify.{uuid.uuid4().hex}&timeout_secs=60"
    simulator.publish("orders", "canal-json", url, turns=200, snapshot=False)
    verdict = simulator.verify("orders", "canal-json", url, turns=200, snapshot=False)
    assert verdict.ok, str(verdict)
    assert verdict.right == verdict.read > 200


@KAFKA
def test_topics_that_allow_no_verdict(kafka: str) -> None:
    """A compacted topic, one that is not there, and one without messages."""
    topic = f"verify.{uuid.uuid4().hex}"
    with pytest.raises(simulator.SinkError, match=f"has no topic '{topic}'"):
        simulator.verify("crud", "canal-json", f"kafka://{kafka}/{topic}", limit=3)
    make_topic(kafka, topic, 1)
    with pytest.raises(simulator.UsageError, match="has no messages, and 3 are expected there"):
        simulator.verify("crud", "canal-json", f"kafka://{kafka}/{topic}", limit=3)
    compacted = f"{topic}.compacted"
    make_topic(kafka, compacted, 1, cleanup_policy="compact")
    with pytest.raises(simulator.UsageError, match=r"is compacted .* so messages are missing that nobody lost"):
        simulator.verify("crud", "canal-json", f"kafka://{kafka}/{compacted}", limit=3)


@pytest.mark.broker("rabbitmq")
def test_queues_that_allow_no_verdict(rabbitmq: str) -> None:
    """A queue that is not there, one that others read, one of another type, and a URL that names none."""
    queue = f"verify.{uuid.uuid4().hex}"

    def refused(error: type[Exception], words: str, options: str = "") -> None:
        with pytest.raises(error, match=words):
            simulator.verify("crud", "canal-json", f"amqp://{rabbitmq}/?timeout_secs=60{options}", limit=3)

    refused(simulator.SinkError, f"no queue '{queue}'", f"&queue={queue}")
    refused(simulator.UsageError, "the URL does not tell which messages", "&exchange=amq.direct")
    refused(simulator.UsageError, "the URL does not tell which messages", f"&queue={queue}.{{tag}}")
    simulator.publish("crud", "canal-json", f"amqp://{rabbitmq}/?queue={queue}&timeout_secs=60", limit=3)
    refused(
        simulator.UsageError, "rabbit_classic_queue: leave out queue_type=stream", f"&queue={queue}&queue_type=stream"
    )
    stream = f"&queue=stream.{queue}"
    simulator.publish("crud", "canal-json", f"amqp://{rabbitmq}/?queue_type=stream&timeout_secs=60{stream}", limit=9)
    words = "rabbit_stream_queue: is it a stream|has no messages"  # its count is some seconds old
    refused(simulator.UsageError, words, stream)
    with connection(rabbitmq) as other:
        other.channel().basic_consume(queue, lambda *_: None)
        refused(simulator.UsageError, "has 1 consumers, which take messages away", f"&queue={queue}")


@pytest.mark.broker("rocketmq")
def test_topics_of_rocketmq_that_allow_no_verdict(rocketmq: str) -> None:
    topic = f"verify_{uuid.uuid4().hex}"
    url = f"rocketmq://{rocketmq}/{topic}?partitions=2&timeout_secs=60"
    with pytest.raises(simulator.SinkError, match=f"has no topic '{topic}'"):
        simulator.verify("crud", "canal-json", url, limit=3)
    with open_sink(f"{url}&client=native") as sink:
        assert sink.partitions(topic) == 2
    with pytest.raises(simulator.UsageError, match="has no messages, and 3 are expected there"):
        simulator.verify("crud", "canal-json", url, limit=3)
