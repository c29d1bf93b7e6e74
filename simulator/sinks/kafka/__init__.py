"""Kafka, through librdkafka. `url.py` has the options of the URL and the client's settings, `open.py` chooses the
sink, `sink.py` sends."""

from __future__ import annotations

from typing import Final

from simulator.sinks.kafka.url import MAY_CHANGE, OPTIONS, KafkaUrl, parse_url
from simulator.sinks.reading import Reader
from simulator.sinks.sink import Sink
from simulator.sinks.target import Contents, Transport


def _opened(url: KafkaUrl, contents: Contents) -> Sink:
    from simulator.sinks.kafka.open import open_kafka

    return open_kafka(url)


def _read(url: KafkaUrl) -> Reader:
    from simulator.sinks.kafka.reader import open_kafka_reader

    return open_kafka_reader(url)


KAFKA: Final = Transport(
    form="kafka://HOST:PORT/TOPIC", parse=parse_url, open=_opened, read=_read, topic=lambda url: url.topic_pattern,
    broker="kafka", resumes=True, options=OPTIONS, may_change=MAY_CHANGE, one_writer=("exactly-once",),
)  # fmt: skip
