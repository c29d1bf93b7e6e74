"""Topics of a real Kafka read back: clean, in transactions, after a restart that sends again, and what is refused."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from kafka_client import make_topic

import simulator
from simulator.truth.verify.findings import Wrong

pytestmark = pytest.mark.broker("kafka")
RUN: dict[str, Any] = {"route": "key", "snapshot": False}


@pytest.fixture
def url(kafka: str) -> str:
    return f"kafka://{kafka}/verify.{uuid.uuid4().hex}?partitions=3"


@pytest.mark.parametrize("transactions", ["", "&exactly-once=true"])
def test_a_topic_is_right(url: str, transactions: str) -> None:
    """Transactions leave marks among the offsets, which are no messages."""
    simulator.publish("orders", "dts-avro", url + transactions, turns=300, snapshot=False)
    verdict = simulator.verify("orders", "dts-avro", url, turns=300, snapshot=False)
    assert verdict.ok, str(verdict)
    assert verdict.right == verdict.read > 300


def test_what_comes_again_after_a_restart(url: str) -> None:
    """A run that goes on some turns before it ended: allowed where the product delivers at least once."""
    simulator.publish("orders", "canal-json", url, turns=300, **RUN)
    simulator.publish("orders", "canal-json", url, start_at=240, turns=160, **RUN)
    allowed = simulator.verify("orders", "canal-json", url, turns=400, at_least_once=True, **RUN)
    assert allowed.ok, str(allowed)
    assert allowed.redelivered > 30
    strict = simulator.verify("orders", "canal-json", url, turns=400, **RUN)
    assert strict.counts == {Wrong.DOUBLED: allowed.redelivered}


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
