"""Kafka topics made by another client than the simulator's own."""

from __future__ import annotations

import time

from confluent_kafka import KafkaError, KafkaException, admin

REQUEST_SECS = 30


def make_topic(address: str, topic: str, count: int, **settings: str) -> None:
    """With a setting as `max_message_bytes="2000"`.

    A broker that was too busy to say that it lives is shut out for a moment, and librdkafka then drops the request.
    """
    client = admin.AdminClient({"bootstrap.servers": address, "log_level": 0})
    new = admin.NewTopic(topic, count, 1, config={name.replace("_", "."): text for name, text in settings.items()})
    deadline = time.monotonic() + REQUEST_SECS
    while True:
        try:
            client.create_topics([new], request_timeout=REQUEST_SECS)[topic].result()
            return
        except KafkaException as error:
            code = error.args[0].code()
            if code == KafkaError.TOPIC_ALREADY_EXISTS:
                return
            if code != KafkaError._DESTROY_BROKER or time.monotonic() > deadline:
                raise
        time.sleep(0.1)
