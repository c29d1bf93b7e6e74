"""Which sink a `kafka://` URL asks for: the plain one, or the one that sends in transactions."""

from __future__ import annotations

from simulator.sinks.kafka.sink import KafkaSink
from simulator.sinks.kafka.url import parse_url, read_properties


def open_kafka(url: str) -> KafkaSink:
    """A sink for `kafka://host:port/topic?option=value`, connected.

    Raises UsageError, OptionError, MissingPackage, and SinkError when the broker cannot be used.
    """
    parsed = parse_url(url)
    file = read_properties(parsed.properties) if parsed.properties else None
    if parsed.exactly_once:
        from simulator.sinks.kafka.transactions import TransactionalSink

        return TransactionalSink(parsed, file)
    return KafkaSink(parsed, file)
