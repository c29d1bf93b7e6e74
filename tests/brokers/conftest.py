"""Real brokers for the tests: those named in CDCSIM_KAFKA, CDCSIM_ROCKETMQ and CDCSIM_RABBITMQ, else started here.

Without what they need (a JDK and Maven; Debian) this fails with the sentence that says so. It never skips: a broker
test that did not run would look like one that passed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from jvm import Reader
from kafka_client import make_topic
from native import native
from waiting import patient

# `new_broker("kafka", secure=True)`: started, in a folder of its own.
Starter = Callable[..., Any]

# The broker that all tests of a kind share, since one takes up to ten seconds to start.
_shared: dict[str, Any] = {}


def _kind(item: pytest.Item | None) -> str | None:
    marker = item and item.get_closest_marker("broker")
    return marker.args[0] if marker else None


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """A broker stops when the last test of its kind is done: an idle one takes processor time from the others."""
    if (kind := _kind(item)) in _shared and _kind(nextitem) != kind:
        _shared[kind].stop()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A shared broker that an earlier test broke runs again, before fixtures of any scope use it."""
    if (kind := _kind(item)) in _shared:
        _shared[kind].start()


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    patient(monkeypatch)


@pytest.fixture(scope="session")
def new_broker(tmp_path_factory: pytest.TempPathFactory) -> Starter:
    def start(kind: str, **options: Any) -> Any:
        module = native(kind)
        broker = module.Broker(tmp_path_factory.mktemp(kind), with_parent=True, **options)
        try:
            broker.start()
        except module.NativeError as error:
            pytest.fail(f"{error}\nOr name a running broker in CDCSIM_{kind.upper()}=host:port.", pytrace=False)
        if kind == "kafka":
            # What the broker says of itself is checked by a second client.
            make_topic(broker.address, "ready", 1)
        return broker

    return start


def shared(kind: str, new_broker: Starter, **options: Any) -> Iterator[Any]:
    """A broker that tests may stop, kill and freeze: the next one finds it running."""
    _shared[kind] = new_broker(kind, **options)
    yield _shared[kind]
    _shared.pop(kind).stop()


@pytest.fixture(scope="session")
def kafka_broker(new_broker: Starter) -> Iterator[Any]:
    """With SASL and TLS listeners."""
    yield from shared("kafka", new_broker, secure=True)


@pytest.fixture(scope="session")
def rabbitmq_broker(new_broker: Starter) -> Iterator[Any]:
    """With a TLS port."""
    yield from shared("rabbitmq", new_broker, secure=True, settings={"max_message_size": "1000000"})


@pytest.fixture(scope="session")
def rocketmq_broker(new_broker: Starter) -> Iterator[Any]:
    """Readers get as much as they ask for."""
    limits = {"maxTransferCountOnMessageInMemory": "2000", "maxTransferBytesOnMessageInMemory": "8388608"}
    yield from shared("rocketmq", new_broker, settings=limits)


def address(request: pytest.FixtureRequest, kind: str) -> str:
    """`host:port` of a broker of this kind without a login."""
    return os.environ.get(f"CDCSIM_{kind.upper()}") or str(request.getfixturevalue(f"{kind}_broker").address)


@pytest.fixture(scope="session")
def kafka(request: pytest.FixtureRequest) -> str:
    return address(request, "kafka")


@pytest.fixture(scope="session")
def rabbitmq(request: pytest.FixtureRequest) -> str:
    return address(request, "rabbitmq")


@pytest.fixture(scope="session")
def rocketmq(request: pytest.FixtureRequest) -> str:
    return address(request, "rocketmq")


@pytest.fixture(scope="session")
def rocketmq_library() -> None:
    """The native library of RocketMQ's client."""
    if "CDCSIM_ROCKETMQ_LIBRARY" not in os.environ:
        os.environ["CDCSIM_ROCKETMQ_LIBRARY"] = str(native("rocketmq").library())


class RocketmqJars:
    """The broker's own jars: RocketMQ's Java client is among them."""

    def classpath(self) -> str:
        return f"{native('rocketmq').jars()}/*"


@pytest.fixture(scope="session")
def java() -> Iterator[Reader]:
    """RocketMQ's Java client."""
    with Reader("RocketmqRead.java", RocketmqJars(), "-Drocketmq.client.logLevel=OFF") as reader:
        yield reader
