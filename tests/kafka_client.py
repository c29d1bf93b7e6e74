"""Kafka asked by another client than the simulator's own, as often as it takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from confluent_kafka import KafkaError, KafkaException, admin

REQUEST_SECS = 30
PATIENCE_SECS = 120

T = TypeVar("T")


def asked(question: Callable[[], T]) -> T:
    """The answer. A question that fails is asked again: a busy broker is shut out for a moment, librdkafka then drops
    what waits there, and one that has just started leads its partitions a little later."""
    deadline = time.monotonic() + PATIENCE_SECS
    while True:
        try:
            return question()
        except KafkaException:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.1)


def make_topic(address: str, topic: str, count: int, **settings: str) -> None:
    """With a setting as `max_message_bytes="2000"`."""
    client = admin.AdminClient({"bootstrap.servers": address, "log_level": 0})
    new = admin.NewTopic(topic, count, 1, config={name.replace("_", "."): text for name, text in settings.items()})

    def make() -> None:
        try:
            client.create_topics([new], request_timeout=REQUEST_SECS)[topic].result()
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise

    asked(make)
