"""Opens the sink of a `kafka://` URL: the plain one, or the one that sends in transactions."""

from __future__ import annotations

from simulator.sinks.kafka.sink import KafkaSink
from simulator.sinks.kafka.url import KafkaUrl, read_properties


def open_kafka(url: KafkaUrl) -> KafkaSink:
    """A sink for a parsed URL, connected.

    Raises UsageError, OptionError, MissingPackage, and SinkError when the broker cannot be used.
    """
    file = read_properties(url.properties) if url.properties else None
    if url.exactly_once:
        from simulator.sinks.kafka.transactions import TransactionalSink

        return TransactionalSink(url, file)
    return KafkaSink(url, file)
