"""The RabbitMQ sink against a real broker: what arrives, what is refused, and what a broken broker does to a run."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
import uuid
from pathlib import Path
from typing import Any

import pika
import pytest
from native import free_port
from sinks_contract import Received, RefusingSinkContract, SinkContract, batch, one_sentence, sent_while_it_starts
from waiting import PATIENCE_SECS, freeze, interrupt_in, wait_until

from simulator.batch import MessageBatch
from simulator.errors import DeliveryFailed, SinkError
from simulator.model import OrderKey
from simulator.sinks import open_sink

pytestmark = pytest.mark.broker("rabbitmq")


@pytest.fixture
def topic() -> str:
    return f"test.{uuid.uuid4().hex}"


@pytest.fixture
def breakable(rabbitmq_broker: Any) -> Any:
    return rabbitmq_broker


def connection(address: str) -> pika.BlockingConnection:
    host, port = address.split(":")
    patience = {"socket_timeout": 60, "stack_timeout": 60, "connection_attempts": 10, "retry_delay": 0.5}
    return pika.BlockingConnection(pika.ConnectionParameters(host, int(port), **patience))


def consumed(address: str, queue: str, kind: str = "classic") -> list[tuple[Any, Any, bytes]]:
    """(method, properties, body) of all messages of a queue, up to a mark put behind them.

    A classic queue and a stream keep them; a quorum queue hands out the rest only when these are acknowledged.
    """
    mark = b"mark:" + uuid.uuid4().bytes
    found = []
    with connection(address) as client:
        channel = client.channel()
        channel.confirm_delivery()
        channel.basic_publish("", queue, mark, mandatory=True)
        channel.basic_qos(prefetch_count=0 if kind == "classic" else 500)
        arguments = {"x-stream-offset": "first"} if kind == "stream" else None
        for method, properties, body in channel.consume(queue, arguments=arguments):
            if body == mark:
                break
            if not body.startswith(b"mark:"):
                found.append((method, properties, body))
            if kind != "classic" and method.delivery_tag % 250 == 0:
                channel.basic_ack(method.delivery_tag, multiple=True)
        channel.cancel()
    return found


def bodies(address: str, queue: str, kind: str = "classic") -> list[bytes]:
    return [body for _, _, body in consumed(address, queue, kind)]


def received(properties: Any, body: bytes) -> Received:
    headers = {name: value for name, value in (properties.headers or {}).items() if name != "x-stream-offset"}
    return Received(
        body,
        headers=tuple((name, value.encode()) for name, value in headers.items()),
        timestamp_ms=properties.timestamp and properties.timestamp * 1000,
    )


class TestContract(RefusingSinkContract):
    """Partitions are queues `.0` to `.4` behind a direct exchange."""

    keys = timestamps = tombstones = False
    too_large = 1_500_000
    repeats = True
    queue_type = "classic"

    @pytest.fixture(autouse=True)
    def _broker(self, breakable: Any) -> None:
        self.address = breakable.address

    def url(self, topic: str) -> str:
        options = f"exchange=x.{topic}&exchange_type=direct&queue={{topic}}&queue_type={self.queue_type}&partitions=5"
        return f"amqp://{self.address}/?{options}"

    small_url = url

    def read(self, topic: str) -> dict[int, list[Received]]:
        return {
            number: [received(p, body) for _, p, body in consumed(self.address, f"{topic}.{number}", self.queue_type)]
            for number in range(5)
        }


class TestContractOfQuorumQueues(TestContract):
    queue_type = "quorum"


class TestContractOfStreams(TestContract):
    queue_type = "stream"


class TestContractOfOneQueue(SinkContract):
    """The default exchange and one queue."""

    count = 1
    keys = timestamps = tombstones = False

    @pytest.fixture(autouse=True)
    def _broker(self, rabbitmq: str) -> None:
        self.address = rabbitmq

    def url(self, topic: str) -> str:
        return f"amqp://{self.address}/?queue={{topic}}&window=50"

    def read(self, topic: str) -> dict[int, list[Received]]:
        return {0: [received(properties, body) for _, properties, body in consumed(self.address, topic)]}


def failure(sink: Any, *batches: MessageBatch) -> str:
    """Sends the batches and flushes; what DeliveryFailed says then or before."""

    def send() -> None:
        for messages in batches:
            sink.send(messages)
        sink.flush()

    with pytest.raises(DeliveryFailed) as caught:
        send()
    return one_sentence(caught.value)


def refused(url: str) -> str:
    with pytest.raises(SinkError) as caught:
        open_sink(url)
    return one_sentence(caught.value)


# What arrives where


def test_properties_of_messages(rabbitmq: str, topic: str) -> None:
    sent = batch(
        topic,
        [b"{}", None, b"x" * 300_000],
        headers=[[("x-delay", b"250"), ("none", None)], None, None],
        timestamps_ms=[1_700_000_000_999, None, None],
    )
    with open_sink(f"amqp://{rabbitmq}/%2F?queue={topic}", properties={"content_type": "text/plain"}) as sink:
        sink.send(sent)
        sink.flush()
    with open_sink(f"amqp://{rabbitmq}/?queue={topic}&persistent=false&content_type=a/b") as sink:
        sink.send(batch(topic, [b"4"]))
    one, two, three, four = consumed(rabbitmq, topic)
    assert [body for _, _, body in (one, two, three, four)] == [b"{}", b"", b"x" * 300_000, b"4"]
    assert (one[1].headers, one[1].timestamp) == ({"x-delay": 250, "none": None}, 1_700_000_000)
    assert (one[1].content_type, one[1].delivery_mode, one[1].priority) == ("text/plain", 2, None)
    assert (two[1].headers, two[1].timestamp, two[1].content_type) == (None, None, "text/plain")
    assert (four[1].content_type, four[1].delivery_mode) == ("a/b", 1)


def bound(address: str, exchange: str, routing_key: str) -> str:
    """A queue of the reader's own."""
    with connection(address) as client:
        channel = client.channel()
        queue = f"reader.{uuid.uuid4().hex}"
        channel.queue_declare(queue, durable=True)
        channel.queue_bind(queue, exchange, routing_key)
    return queue


def declare_exchange(address: str, exchange: str, kind: str) -> None:
    with connection(address) as client:
        client.channel().exchange_declare(exchange, kind, durable=True)


@pytest.mark.parametrize(
    ("kind", "binding", "found"),
    [
        ("direct", "shop.orders", [b"orders"]),
        ("topic", "shop.*", [b"orders", b"items"]),
        ("topic", "#", [b"orders", b"items", b"tagged"]),
        ("fanout", "", [b"orders", b"items", b"tagged"]),
        ("direct", "a tag", [b"tagged"]),
    ],
)
def test_the_routing_key_is_the_tag_or_the_topic(
    rabbitmq: str, topic: str, kind: str, binding: str, found: list[bytes]
) -> None:
    declare_exchange(rabbitmq, topic, kind)
    queue = bound(rabbitmq, topic, binding)
    with open_sink(f"amqp://{rabbitmq}/?exchange={topic}&mandatory=false") as sink:
        topics = ["shop.orders", "shop.items", "shop.orders"]
        sink.send(batch(topics, [b"orders", b"items", b"tagged"], tags=[None, None, "a tag"]))
        sink.flush()
        assert (sink.delivered, sink.failed) == (3, 0)
    assert bodies(rabbitmq, queue) == found


def test_a_routing_key_and_queues_of_a_pattern(rabbitmq: str, topic: str) -> None:
    options = f"exchange={topic}&exchange_type=topic&routing_key=cdc.{{topic}}.{{tag}}&queue={topic}.{{tag}}"
    with open_sink(f"amqp://{rabbitmq}/?{options}") as sink:
        sink.send(batch("t", [b"1", b"2", b"3"], tags=["a", "b", "a"]))
        sink.flush()
    assert [(m.routing_key, body) for m, _, body in consumed(rabbitmq, f"{topic}.a")] == [
        ("cdc.t.a", b"1"),
        ("cdc.t.a", b"3"),
    ]
    assert bodies(rabbitmq, f"{topic}.b") == [b"2"]


def test_consistent_hashing_keeps_a_key_together(rabbitmq: str, topic: str) -> None:
    options = f"exchange={topic}&exchange_type=x-consistent-hash&queue={topic}&partitions=3"
    with open_sink(f"amqp://{rabbitmq}/?{options}") as sink:
        sink.send(batch("t", [b"%d" % n for n in range(600)], [b"%d" % (n % 40) for n in range(600)]))
        sink.flush()
    found = [bodies(rabbitmq, f"{topic}.{n}") for n in range(3)]
    assert sum(map(len, found)) == 600
    assert not set.intersection(*({int(body) % 40 for body in queue} for queue in found))
    for queue in found:
        assert queue == sorted(queue, key=int)


# Messages that are refused


def test_a_message_that_reaches_no_queue(rabbitmq: str, topic: str) -> None:
    declare_exchange(rabbitmq, topic, "direct")
    queue = bound(rabbitmq, topic, "a")
    with open_sink(f"amqp://{rabbitmq}/?exchange={topic}") as sink:
        sentence = failure(sink, batch(["a", "b", "a", "b"], [b"1", b"2", b"3", b"2"], changes=[1, 2, 4, 8]))
        assert sentence == (
            "2 of 4 messages were not delivered; the first was turn 1.0 for topic 'b' partition 0 (1 bytes): NO_ROUTE;"
            f" no queue is bound to the exchange '{topic}' for the routing key 'b': add queue=NAME to the URL, or bind"
            " one."
        )
        assert (sink.delivered, sink.delivered_changes, sink.failed) == (2, 5, 2)
    assert bodies(rabbitmq, queue) == [b"1", b"3"]


def test_a_queue_that_is_full(rabbitmq: str, topic: str) -> None:
    with connection(rabbitmq) as client:
        arguments = {"x-max-length": 5, "x-overflow": "reject-publish"}
        client.channel().queue_declare(topic, durable=True, arguments=arguments)
    with open_sink(f"amqp://{rabbitmq}/?window=1") as sink:
        sentence = failure(sink, batch(topic, [b"%d" % n for n in range(20)]))
        assert "the broker refused it; its queue may be full" in sentence
        assert 1 <= sink.delivered <= 6
        assert sink.delivered + sink.failed == 20
    assert bodies_at_least(rabbitmq, topic, sink.delivered) == [b"%d" % n for n in range(sink.delivered)]


def bodies_at_least(address: str, queue: str, count: int) -> list[bytes]:
    """The first messages of a queue that takes no more."""
    with connection(address) as client:
        channel = client.channel()
        return [channel.basic_get(queue)[2] for _ in range(count)]


@pytest.mark.parametrize("what", ["queue", "exchange"])
def test_a_queue_or_exchange_that_is_deleted(rabbitmq: str, topic: str, what: str) -> None:
    with open_sink(f"amqp://{rabbitmq}/?exchange=x.{topic}&exchange_type=direct&queue={topic}") as sink:
        sink.send(batch("t", [b"1", b"2"]))
        sink.flush()
        with connection(rabbitmq) as client:
            if what == "queue":
                client.channel().queue_delete(topic)
            else:
                client.channel().exchange_delete(f"x.{topic}")
        sentence = failure(sink, batch("t", [b"3"] * 300, first_turn=2))
        assert sentence.startswith(
            "300 of 302 messages were not delivered; the first was turn 2.0 for topic 't' partition 0 (1 bytes): NO"
        )
        assert (sink.delivered, sink.failed) == (2, 300)


# Brokers that cannot be used


def test_nobody_listens() -> None:
    port = free_port()
    started = time.monotonic()
    sentence = refused(f"amqp://127.0.0.1:{port}/?timeout_secs=1.5")
    assert time.monotonic() - started > 1
    assert sentence == (
        f"RabbitMQ 127.0.0.1:{port} could not be reached in 1.5 s: Connection refused. Is the broker running?"
    )


def test_an_unknown_host() -> None:
    sentence = refused("amqp://no-such-host.invalid/?timeout_secs=500")
    assert sentence.startswith("RabbitMQ no-such-host.invalid:5672 was not found: ")
    assert sentence.endswith("Check the host's name.")


def test_a_wrong_login(rabbitmq: str, tmp_path: Path, capfd: Any) -> None:
    file = tmp_path / "password"
    file.write_text("hush\n")
    assert refused(f"amqp://bob@{rabbitmq}/?password_file={file}") == (
        f"RabbitMQ {rabbitmq} refused the login of 'bob': check the user, and password_env= or password_file=."
    )
    assert capfd.readouterr() == ("", "")


def test_an_unknown_vhost(rabbitmq: str) -> None:
    assert refused(f"amqp://{rabbitmq}/nope") == (
        f"RabbitMQ {rabbitmq} does not let 'guest' into the vhost 'nope': NOT_ALLOWED - vhost nope not found."
    )


def test_a_login_and_a_vhost(breakable: Any, topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    definitions = {
        "users": [{"name": "al@ice", "password": "s:ecret/", "tags": ""}],
        "vhosts": [{"name": "c/dc"}],
        "permissions": [{"user": "al@ice", "vhost": "c/dc", "configure": ".*", "write": ".*", "read": ".*"}],
    }
    (tmp_path / "definitions.json").write_text(json.dumps(definitions))
    breakable.control("import_definitions", str(tmp_path / "definitions.json"))
    monkeypatch.setenv("CDC_PASSWORD", "s:ecret/")
    for login, more in (("al%40ice", "&password_env=CDC_PASSWORD"), ("al%40ice:s%3Aecret%2F", "")):
        with open_sink(f"amqp://{login}@{breakable.address}/c%2Fdc?queue={topic}{more}") as sink:
            sink.send(batch("t", [b"1"]))
            sink.flush()
            assert sink.delivered == 1


def test_missing_exchanges_and_queues(rabbitmq: str, topic: str) -> None:
    assert refused(f"amqp://{rabbitmq}/?exchange={topic}") == (
        f"RabbitMQ {rabbitmq}: NOT_FOUND - no exchange '{topic}' in vhost '/': add exchange_type=direct to the URL to"
        " have it made."
    )
    with open_sink(f"amqp://{rabbitmq}/") as sink, pytest.raises(SinkError) as caught:
        sink.partitions(topic)
    assert one_sentence(caught.value) == (
        f"RabbitMQ {rabbitmq}: NOT_FOUND - no queue '{topic}' in vhost '/': add queue={{topic}} to the URL to have"
        " queues made, or name an exchange."
    )


def test_a_queue_of_another_type(rabbitmq: str, topic: str) -> None:
    with open_sink(f"amqp://{rabbitmq}/?queue={topic}") as sink:
        sink.partitions("t")
    with open_sink(f"amqp://{rabbitmq}/?queue={topic}&queue_type=quorum") as sink, pytest.raises(SinkError) as caught:
        sink.partitions("t")
    assert "PRECONDITION_FAILED - inequivalent arg 'x-queue-type' for queue" in one_sentence(caught.value)


def test_an_unknown_type_of_exchange(rabbitmq: str, topic: str) -> None:
    sentence = refused(f"amqp://{rabbitmq}/?exchange={topic}&exchange_type=x-nope")
    assert "unknown exchange type 'x-nope'" in sentence


def test_tls(breakable: Any, topic: str) -> None:
    address = f"localhost:{breakable.ports['tls']}"
    with open_sink(f"amqps://{address}/?queue={topic}&ca={breakable.certificate}") as sink:
        sink.send(batch("t", [b"1"]))
        sink.flush()
    assert bodies(breakable.address, topic) == [b"1"]
    assert refused(f"amqps://{address}/") == (
        f"TLS with RabbitMQ {address} failed: self-signed certificate. The authority's file is ca= in the URL."
    )
    assert refused(f"amqp://{address}/?timeout_secs=2").endswith("Does the port want TLS (amqps://)?")
    assert "TLS with RabbitMQ" in refused(f"amqps://{breakable.address}/?timeout_secs=60&ca={breakable.certificate}")


# Trouble in the middle


def test_a_disk_alarm(breakable: Any, topic: str) -> None:
    """One run waits for its end, another one gives up after six seconds. No heartbeats: a busy machine takes longer to
    raise the alarm than the broker waits for them."""
    address = breakable.address
    with (
        open_sink(f"amqp://{address}/?queue={topic}&timeout_secs=300&heartbeat_secs=0") as sink,
        open_sink(f"amqp://{address}/?queue={topic}.hasty&timeout_secs=6&heartbeat_secs=0") as hasty,
    ):
        for each in (sink, hasty):
            each.send(batch("t", [b"1"]))
            each.flush()
        breakable.control("set_disk_free_limit", "9000GB")
        ending = threading.Thread(target=lambda: breakable.control("set_disk_free_limit", "200MB"))
        try:
            sink.send(batch("t", [b"2"], first_turn=1))
            wait_until(lambda: sink.poll() or sink.trouble is not None, "the alarm is reported")
            assert sink.trouble == f"RabbitMQ {address} has blocked publishers (memory or disk alarm)"
            assert sink.delivered == 1
            sentence = failure(hasty, batch("t", [b"2"] * 5000, first_turn=1))
            assert f"RabbitMQ {address} has blocked publishers for 6 s: a memory or disk alarm." in sentence
            assert hasty.delivered + hasty.failed == 5001
        finally:
            ending.start()
            sink.flush()
            ending.join()
        assert sink.delivered == 2
    assert bodies(address, topic) == [b"1", b"2"]


def test_a_frozen_broker_does_not_hang_the_end(breakable: Any, topic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = open_sink(f"amqp://{breakable.address}/?queue={topic}")
    sink.send(batch("t", [b"1"]))
    sink.flush()
    freeze(breakable.pid)
    try:
        sink.send(batch("t", [b"2"] * 100, first_turn=1))
        interrupt_in(monkeypatch, sink._connection, "wait")  # type: ignore[attr-defined]
        with pytest.raises(KeyboardInterrupt):
            sink.flush()
        started = time.monotonic()
        sink.close()
        assert time.monotonic() - started < PATIENCE_SECS, "the broker is given five seconds"
        assert (sink.delivered, sink.failed) == (1, 100)
        assert sink.ledger.position().next == OrderKey(1, 1, 0)
    finally:
        os.kill(breakable.pid, signal.SIGCONT)


def test_the_window_bounds_what_is_on_its_way(breakable: Any, topic: str) -> None:
    with open_sink(f"amqp://{breakable.address}/?queue={topic}&window=250") as sink:
        sink.send(batch("t", [b"1"]))
        sink.flush()
        freeze(breakable.pid)
        open_messages: list[int] = []

        def wake() -> None:
            try:
                wait_until(lambda: len(sink._sent) >= 200, "the window is nearly full")  # type: ignore[attr-defined]
                for _ in range(10):
                    time.sleep(0.1)
                    open_messages.append(len(sink._sent))  # type: ignore[attr-defined]
            finally:
                os.kill(breakable.pid, signal.SIGCONT)

        waker = threading.Thread(target=wake)
        waker.start()
        sink.send(batch("t", [b"%d" % n for n in range(1, 5000)], first_turn=1))
        waker.join()
        assert 200 <= open_messages[-1] <= max(open_messages) <= 250
        sink.flush()
        assert (sink.delivered, sink.failed) == (5000, 0)
    assert len(bodies(breakable.address, topic)) == 5000


def test_an_outage_that_one_run_waits_for_and_another_one_does_not(breakable: Any, topic: str) -> None:
    """A queue that is first named meanwhile waits as messages do."""
    with (
        open_sink(f"amqp://{breakable.address}/?queue={topic}&timeout_secs=6") as sink,
        open_sink(f"amqp://{breakable.address}/?queue={{topic}}") as patient,
    ):
        sink.send(batch("t", [b"x"] * 10))
        sink.flush()
        patient.send(batch(f"{topic}.a", [b"1"]))
        patient.flush()
        breakable.stop()  # one that is killed may forget a queue that it has just made
        started = time.monotonic()
        sentence = failure(sink, batch("t", [b"y"] * 10, first_turn=70))
        assert 5 < time.monotonic() - started < PATIENCE_SECS
        assert sentence == (
            "10 of 20 messages were not delivered; the first was turn 70.0 for topic 't' partition 0 (1 bytes):"
            f" RabbitMQ {breakable.address} was away for 6 s: Connection refused."
        )
        assert (sink.delivered, sink.failed) == (10, 10)
        sent_while_it_starts(breakable, patient, batch([f"{topic}.a", f"{topic}.b"], [b"2", b"3"], first_turn=1))
        assert (patient.delivered, patient.failed) == (3, 0)
    assert [bodies(breakable.address, f"{topic}.{name}") for name in "ab"] == [[b"1", b"2"], [b"3"]]
