"""Each format on each broker that its product writes to, read back by another client and by `verify`: all there, bytes,
keys, order."""

from __future__ import annotations

import os
import uuid
from typing import Any

import pytest
from confluent_kafka import murmur2
from test_kafka import read
from test_rabbitmq import consumed
from test_rocketmq import stored
from test_runs import destination

from simulator.formats import FORMATS, find
from simulator.run.job import Job, Partitions, open_job
from simulator.run.plan import Limits
from simulator.run.request import Span
from simulator.run.session import local_run
from simulator.sinks import open_sink
from simulator.truth.verify.verify import verify_job

CHANGES = int(os.environ.get("CDCSIM_CHANGES", "300"))
PARTITIONS = 3  # those of `destination`
Content = dict[int, list[tuple[bytes | None, bytes]]]  # keys and values


@pytest.mark.parametrize(
    ("broker", "format"),
    [
        pytest.param(broker, format, marks=pytest.mark.broker(broker))
        for format in FORMATS
        for broker in find(format).brokers
    ],
)
def test_every_message_of_a_format_arrives(broker: Any, format: str, request: pytest.FixtureRequest) -> None:
    """CDCSIM_CHANGES says how many row changes."""
    address, topic = request.getfixturevalue(broker), f"test_{uuid.uuid4().hex}"
    job = open_job("orders", format, broker=broker)
    limits = Limits(changes=CHANGES)
    with open_sink(destination(broker, address, topic), properties=job.codec.layout.properties) as sink:
        local_run(job, sink, limits=limits)()
    wanted = expected(job, broker, topic, limits)
    verdict = verify_job(job, destination(broker, address, topic), Span(limit=CHANGES))
    assert verdict.ok, str(verdict)
    assert verdict.right == sum(map(len, wanted.values()))
    found = contents(broker, address, topic, request)
    if broker == "rabbitmq":  # has no keys
        wanted = {number: [(None, value) for _, value in messages] for number, messages in wanted.items()}
    assert {number: messages for number, messages in found.items() if messages} == wanted


def expected(job: Job, broker: str, topic: str, limits: Limits) -> Content:
    """Where a product leaves the choice of the partition to the client, Java's client would choose this one."""
    found: Content = {}
    for message in job.addressed(topic=topic, partitions=Partitions(PARTITIONS)).messages(limits):
        number, key = message.partition, message.key
        if number is None:
            assert key is not None
            number = java_queue(key.decode()) if broker == "rocketmq" else murmur2(key, PARTITIONS)
        found.setdefault(number, []).append((key, message.value or b""))
    return found


def java_queue(key: str) -> int:
    """abs(key.hashCode() % n)."""
    hashed = 0
    for unit in memoryview(key.encode("utf-16-le")).cast("H"):
        hashed = (31 * hashed + unit) % (1 << 32)
    return abs(hashed - (1 << 32 if hashed >> 31 else 0)) % PARTITIONS


def contents(broker: str, address: str, topic: str, request: pytest.FixtureRequest) -> Content:
    match broker:
        case "kafka":
            return {n: [(m.key(), m.value() or b"") for m in found] for n, found in read(address, topic).items()}
        case "rabbitmq":
            return {n: [(None, body) for *_, body in consumed(address, f"{topic}.{n}")] for n in range(PARTITIONS)}
    java = request.getfixturevalue("java")
    return {
        number: [(("keys" in message and message["keys"].encode()) or None, message["body"]) for message in found]
        for number, found in stored(java, address, topic).items()
    }
