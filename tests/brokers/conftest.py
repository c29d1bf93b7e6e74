"""A real Kafka for the tests: the one named in CDCSIM_KAFKA, else one started from Maven's jars for this session."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

NATIVE = Path(__file__).parents[2] / "docker" / "native"


@pytest.fixture(scope="session")
def native() -> ModuleType:
    """The module that starts brokers; it is a script beside the package, not part of it."""
    sys.path.insert(0, str(NATIVE))
    return importlib.import_module("kafka")


@pytest.fixture(scope="session")
def start_broker(native: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Any]]:
    """Starts brokers of one's own, `start_broker(secure=True)`; all are stopped at the session's end.

    Without a JDK or Maven this fails with the sentence that says so. It never skips: a broker test that did not run
    would look like one that passed.
    """
    brokers = []

    def start(**options: Any) -> Any:
        try:
            broker = native.Broker(tmp_path_factory.mktemp("kafka"), with_parent=True, **options)
            brokers.append(broker)
            broker.start()
        except native.JavaError as error:
            pytest.fail(f"{error}\nOr name a running broker in CDCSIM_KAFKA=host:port.", pytrace=False)
        wait_with_a_client(broker.address)
        return broker

    yield start
    for broker in brokers:
        broker.stop()


def wait_with_a_client(address: str) -> None:
    """One topic made and answered for: what the broker says of itself is checked by a second client."""
    from confluent_kafka import admin

    client = admin.AdminClient({"bootstrap.servers": address, "log_level": 0})
    client.create_topics([admin.NewTopic("ready", 1, 1)], request_timeout=30)["ready"].result(30)


@pytest.fixture(scope="session")
def kafka(request: pytest.FixtureRequest) -> str:
    """`host:port` of a Kafka without a login."""
    if given := os.environ.get("CDCSIM_KAFKA"):
        return given
    return str(request.getfixturevalue("start_broker")().address)


@pytest.fixture(scope="session")
def secured(start_broker: Callable[..., Any]) -> Any:
    """A broker with SASL and TLS listeners."""
    return start_broker(secure=True)
