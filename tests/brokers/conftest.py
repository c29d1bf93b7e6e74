"""Real brokers for the tests: those named in CDCSIM_KAFKA, CDCSIM_ROCKETMQ and CDCSIM_RABBITMQ, else started here.

Without what they need (a JDK and Maven; Debian) this fails with the sentence that says so. It never skips: a broker
test that did not run would look like one that passed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from native import native
from readers.jvm import Reader

Starter = Callable[..., Any]


@contextmanager
def starter(kind: str, factory: pytest.TempPathFactory) -> Iterator[Starter]:
    """Starts brokers of a kind, `start(secure=True)`; all are stopped at the end."""
    module = native(kind)
    brokers = []

    def start(**options: Any) -> Any:
        try:
            broker = module.Broker(factory.mktemp(kind), with_parent=True, **options)
            brokers.append(broker)
            broker.start()
        except module.NativeError as error:
            pytest.fail(f"{error}\nOr name a running broker in CDCSIM_{kind.upper()}=host:port.", pytrace=False)
        return broker

    try:
        yield start
    finally:
        for broker in brokers:
            broker.stop()


@pytest.fixture(scope="session")
def start_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starter]:
    with starter("kafka", tmp_path_factory) as start:

        def start_and_ask(**options: Any) -> Any:
            broker = start(**options)
            wait_with_a_client(broker.address)
            return broker

        yield start_and_ask


@pytest.fixture(scope="session")
def start_rabbitmq(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starter]:
    with starter("rabbitmq", tmp_path_factory) as start:
        yield start


@pytest.fixture(scope="session")
def start_rocketmq(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starter]:
    with starter("rocketmq", tmp_path_factory) as start:
        yield start


def wait_with_a_client(address: str) -> None:
    """One topic made and answered for: what the broker says of itself is checked by a second client."""
    from confluent_kafka import admin

    client = admin.AdminClient({"bootstrap.servers": address, "log_level": 0})
    client.create_topics([admin.NewTopic("ready", 1, 1)], request_timeout=30)["ready"].result(30)


def running(request: pytest.FixtureRequest, kind: str) -> str:
    """`host:port` of a broker of this kind without a login."""
    if given := os.environ.get(f"CDCSIM_{kind.upper()}"):
        return given
    return str(request.getfixturevalue(f"start_{kind}")().address)


@pytest.fixture(scope="session")
def kafka(request: pytest.FixtureRequest) -> str:
    return running(request, "kafka")


# RabbitMQ and RocketMQ take ten seconds to start, so all tests share one of each. Tests that break it leave it as it
# is; the next one that asks starts it again.


@pytest.fixture(scope="session")
def shared_rabbitmq(start_rabbitmq: Starter) -> Any:
    return start_rabbitmq(secure=True, settings={"max_message_size": "1000000"})


@pytest.fixture
def breakable_rabbitmq(shared_rabbitmq: Any) -> Any:
    """A RabbitMQ with a TLS port that may be stopped, killed and frozen."""
    shared_rabbitmq.start()
    return shared_rabbitmq


@pytest.fixture
def rabbitmq(request: pytest.FixtureRequest) -> str:
    return os.environ.get("CDCSIM_RABBITMQ") or str(request.getfixturevalue("breakable_rabbitmq").address)


@pytest.fixture(scope="session")
def shared_rocketmq(start_rocketmq: Starter) -> Any:
    # readers get as much as they ask for
    limits = {"maxTransferCountOnMessageInMemory": "2000", "maxTransferBytesOnMessageInMemory": "8388608"}
    return start_rocketmq(settings=limits)


@pytest.fixture
def breakable_rocketmq(shared_rocketmq: Any) -> Any:
    """A RocketMQ that may be killed."""
    shared_rocketmq.start()
    return shared_rocketmq


@pytest.fixture
def rocketmq(request: pytest.FixtureRequest) -> str:
    return os.environ.get("CDCSIM_ROCKETMQ") or str(request.getfixturevalue("breakable_rocketmq").address)


class RocketmqJars:
    """The broker's own jars: RocketMQ's Java client is among them."""

    name = "rocketmq"

    def folder(self) -> Path:
        folder: Path = native("rocketmq").jars()
        return folder


@pytest.fixture(scope="session")
def java() -> Iterator[Reader]:
    """RocketMQ's Java client."""
    with Reader("RocketmqRead.java", RocketmqJars(), "-Drocketmq.client.logLevel=OFF") as reader:  # type: ignore[arg-type]
        yield reader


@pytest.fixture(scope="session")
def secured(start_kafka: Starter) -> Any:
    """A Kafka with SASL and TLS listeners."""
    return start_kafka(secure=True)
