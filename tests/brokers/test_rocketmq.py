"""The RocketMQ sink against a real broker, read back by RocketMQ's own Java client."""

from __future__ import annotations

import base64
import json
import os
import platform
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest
from command import COMMAND, ROOT
from jvm import Reader
from native import free_port, native
from rocketmq_cluster import Cluster
from sinks_contract import Received, RefusingSinkContract, batch, one_sentence

from simulator.errors import DeliveryFailed, SinkError
from simulator.run.job import open_job
from simulator.run.plan import Limits
from simulator.run.session import local_run
from simulator.sinks import open_sink
from simulator.sinks.rocketmq.library import missing

pytestmark = [pytest.mark.broker("rocketmq"), pytest.mark.usefixtures("rocketmq_library")]

# Properties that clients and the broker add.
ADDED = {"UNIQ_KEY", "WAIT", "MSG_REGION", "TRACE_ON", "CLUSTER", "MIN_OFFSET", "MAX_OFFSET", "TAGS", "KEYS"}
ADDED |= {"__BORNHOST", "INNER_NUM"}


@pytest.fixture
def topic() -> str:
    return f"test_{uuid.uuid4().hex}"


@pytest.fixture
def breakable(rocketmq_broker: Any) -> Any:
    return rocketmq_broker


def stored(java: Reader, address: str, topic: str) -> dict[int, list[dict[str, Any]]]:
    """The messages of a topic by queue, in the order of their offsets."""
    (lines,) = java.ask([f"{address} {topic}".encode()])
    found: dict[int, list[dict[str, Any]]] = {}
    for line in lines:
        assert not line.startswith(b"ERROR"), line.decode()
        message = json.loads(line)
        message["body"] = base64.b64decode(message["body"])
        queue = found.setdefault(message["queue"], [])
        assert message["offset"] == len(queue)
        queue.append(message)
    return found


def bodies(java: Reader, address: str, topic: str) -> dict[int, list[bytes]]:
    return {queue: [message["body"] for message in found] for queue, found in stored(java, address, topic).items()}


class TestContract(RefusingSinkContract):
    timestamps = tombstones = False
    too_large = 3000
    total = 3000
    client = "library"

    @pytest.fixture(autouse=True)
    def _broker(self, rocketmq: str, java: Reader) -> None:
        self.address, self.java = rocketmq, java

    def url(self, topic: str) -> str:
        return f"rocketmq://{self.address}/{topic}?partitions=5&client={self.client}"

    def small_url(self, topic: str) -> str:
        return f"{self.url(topic)}&max_message_bytes=2000"

    def read(self, topic: str) -> dict[int, list[Received]]:
        return {
            queue: [
                Received(
                    message["body"],
                    ("keys" in message and message["keys"].encode()) or None,
                    tuple((n, v.encode()) for n, v in message["properties"].items() if n not in ADDED),
                )
                for message in found
            ]
            for queue, found in stored(self.java, self.address, topic).items()
        }


class TestContractOfTheNativeClient(TestContract):
    total = 12_000
    client = "native"


CLIENTS = pytest.mark.parametrize("client", ["library", "native"])


def failure(sink: Any, *batches: Any) -> str:
    """Sends the batches and flushes; what DeliveryFailed says then or before."""

    def send() -> None:
        for messages in batches:
            sink.send(messages)
        sink.flush()

    with pytest.raises(DeliveryFailed) as caught:
        send()
    return one_sentence(caught.value)


@CLIENTS
def test_bytes_tags_keys_and_properties(rocketmq: str, java: Reader, topic: str, client: str) -> None:
    values = [bytes(range(256)), b"a\0b", b"x" * 4096, os.urandom(1_000_000), b"5"]
    tags = ["shop.订单.INSERT", None, "t", None, None]
    headers = [[("größe", "😀".encode())], None, None, None, None]
    with open_sink(f"rocketmq://{rocketmq}/{topic}?partitions=1&client={client}&tag=other") as sink:
        sink.send(batch(topic, values, [b"7_a 8_b", None, None, None, None], tags=tags, headers=headers))
        sink.flush()
    found = stored(java, rocketmq, topic)[0]
    assert [message["body"] for message in found] == values
    assert [message.get("tag") for message in found] == [tag or "other" for tag in tags]
    assert [message.get("keys") for message in found] == ["7_a 8_b", None, None, None, None]
    assert found[0]["properties"]["größe"] == "😀"
    assert len({message["properties"]["UNIQ_KEY"] for message in found}) == 5


# Java's String.hashCode of each text, as Java's SelectMessageQueueByHash chooses: polygenelubricants is the least int.
def test_without_a_partition_the_queue_is_that_of_javas_selector(rocketmq: str, java: Reader, topic: str) -> None:
    hashes = {"1001": 1507424, "orders": -1008770331, "中文": 646394, "polygenelubricants": -2147483648}
    with open_sink(f"rocketmq://{rocketmq}/{topic}?partitions=7&client=native") as sink:
        sink.send(batch(topic, [text.encode() for text in hashes], [text.encode() for text in hashes]))
        sink.flush()
    found = {body.decode(): queue for queue, all_of_it in bodies(java, rocketmq, topic).items() for body in all_of_it}
    assert found == {text: abs(hash) % 7 for text, hash in hashes.items()}


@pytest.mark.parametrize(
    ("format", "tag", "has_keys"),
    [
        ("dts-canal-json", None, False),
        ("oms-default", "default_tag", False),
        ("canal-json", None, False),
        ("cloudcanal-json", "shop.", True),
    ],
)
def test_what_each_product_sends(
    rocketmq: str, java: Reader, topic: str, format: str, tag: str | None, has_keys: bool
) -> None:
    with open_sink(f"rocketmq://{rocketmq}/{topic}?partitions=6&client=native") as sink:
        job = open_job("orders", format, broker="rocketmq").addressed(route="key")
        local_run(job, sink, limits=Limits(changes=100))()
    for message in (message for messages in stored(java, rocketmq, topic).values() for message in messages):
        assert message.get("tag", "").startswith(tag or "")
        assert ("tag" in message) == (tag is not None)
        assert ("keys" in message) == has_keys


def test_the_library_numbers_the_queues_of_two_brokers_as_we_do(topic: str) -> None:
    with ExitStack() as stack:
        cluster = Cluster(stack)
        cluster.start("broker-b", 2)
        cluster.start("broker-a", 3)
        with open_sink(f"rocketmq://{cluster.names}/{topic}") as sink:
            for number, place in enumerate([*(("broker-a", n) for n in range(3)), ("broker-b", 0), ("broker-b", 1)]):
                sink.send(batch(topic, [b"x"] * (number + 1), None, [number] * (number + 1), first_turn=10 * number))
                sink.flush()
                assert cluster.stored[place] == number + 1


# What is refused


@CLIENTS
def test_refusals_name_the_cause(rocketmq: str, java: Reader, topic: str, client: str) -> None:
    url = f"rocketmq://{rocketmq}/{topic}?partitions=1&client={client}&max_message_bytes=9000000"
    for value, key, reason in (
        (os.urandom(5 << 20), None, "the broker refused it: the message is illegal"),
        (b"1", b"k" * 40_000, "its tag, keys and properties have 40006 bytes, and RocketMQ stores 32767"),
        (b"1", b"a\x01b", "the property 'KEYS' has a byte 0, 1 or 2, which ends it"),
        (None, None, "RocketMQ stores no empty body"),
    ):
        with open_sink(url) as sink:
            assert f": {reason}" in failure(sink, batch(topic, [b"0", value, b"2"], [None, key, None]))
            assert (sink.delivered, sink.failed) == (1, 2)
    assert bodies(java, rocketmq, topic) == {0: [b"0"] * 4}


def refused(url: str) -> str:
    with pytest.raises(SinkError) as caught:
        open_sink(url)
    return one_sentence(caught.value)


def test_clusters_and_topics_that_cannot_be_used(rocketmq: str, topic: str) -> None:
    port = free_port()
    assert refused(f"rocketmq://127.0.0.1:{port}/?timeout_secs=0.3") == (
        f"RocketMQ 127.0.0.1:{port} could not be reached in 0.3 s: Connection refused. Is it running?"
    )
    assert "was not found: " in refused("rocketmq://no-such-host.invalid/")
    for client in ("library", "native"):
        url = f"rocketmq://127.0.0.1:{port};{rocketmq}/?client={client}"
        with open_sink(url) as sink, pytest.raises(SinkError, match=r"no topic .*: add partitions=N to the URL"):
            sink.partitions(topic)
    with open_sink(f"rocketmq://{rocketmq}/?partitions=3&client=native") as sink:
        assert sink.partitions(topic) == 3
    four = f"rocketmq://{rocketmq}/?partitions=4&client=native"
    with open_sink(four) as sink, pytest.raises(SinkError, match="has 3 queues, and the URL asks for 4"):
        sink.partitions(topic)


def test_a_login(new_broker: Callable[..., Any], topic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    user, secret = native("rocketmq").ADMIN
    monkeypatch.setenv("SECRET", secret)
    monkeypatch.setenv("WRONG", "wrong-secret")
    with new_broker("rocketmq", secure=True) as broker:
        for client in ("library", "native"):
            url = f"rocketmq://{broker.address}/{topic}?partitions=2&client={client}"
            with open_sink(f"{url}&access_key={user}&secret_key_env=SECRET") as sink:
                sink.send(batch(topic, [b"1", b"2"]))
                sink.flush()
                assert sink.delivered == 2
            with open_sink(f"{url}&access_key={user}&secret_key_env=WRONG") as sink:
                sentence = failure(sink, batch(topic, [b"3"]))
                assert "check signature failed" in sentence
                assert "wrong-secret" not in sentence


def test_without_the_library_the_native_client_sends_and_says_so(rocketmq: str, topic: str) -> None:
    """Whoever asks for the library is told how to get it."""
    code = (
        "import sys\nfrom simulator.sinks import open_sink\nfrom simulator.errors import MissingPackage\n"
        "try: open_sink(f'rocketmq://{sys.argv[1]}/?client=library')\nexcept MissingPackage as error: print(error)"
    )
    environment = {name: text for name, text in os.environ.items() if name != "CDCSIM_ROCKETMQ_LIBRARY"}
    command = [sys.executable, "-c", code, rocketmq]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == missing(sys.platform, platform.machine()), done.stderr
    assert all(
        "client=native" in missing(system, machine) for system in ("linux", "darwin") for machine in ("x86_64", "arm64")
    )
    to = f"rocketmq://{rocketmq}/{topic}?partitions=1"
    run = [*COMMAND, "run", "crud", "-f", "canal-json", "--limit", "5", "--to", to]
    done = subprocess.run(run, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "its librocketmq is not installed: messages are sent with client=native." in done.stderr
    assert "5 messages delivered" in done.stderr


# Trouble in the middle


def test_a_broker_that_stays_away(breakable: Any, topic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.sinks.rocketmq.library.SEND_MS", 3000)  # no call into the library ends earlier
    with open_sink(f"rocketmq://{breakable.address}/{topic}?partitions=1&timeout_secs=8") as sink:
        sink.send(batch(topic, [b"x"] * 10))
        sink.flush()
        os.kill(breakable.pid, signal.SIGKILL)
        sentence = failure(sink, batch(topic, [b"y"] * 10, first_turn=70))
        assert f"RocketMQ {breakable.address} stored nothing for 8 s: " in sentence
        assert (sink.delivered, sink.failed) == (10, 10)
