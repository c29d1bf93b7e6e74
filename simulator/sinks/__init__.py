"""Where messages go: one file per transport, found by the scheme of a URL.

A sink takes `MessageBatch`es in stream order and keeps that order within each partition. Whatever goes wrong with a
message is counted and told, never swallowed.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, Final, Protocol, Self

from simulator import registry
from simulator.batch import MessageBatch
from simulator.errors import UsageError
from simulator.wire.avro import Container

# scheme: opener(url) -> Sink
SINKS: Final = {
    "-": "simulator.sinks.files:open_stdout",
    "file": "simulator.sinks.files:open_files",
    "kafka": "simulator.sinks.kafka:open_kafka",
    "memory": "simulator.sinks.memory:open_memory",
}

# The brokers behind schemes, by the names that formats know them by.
BROKERS: Final = {"kafka": "kafka", "rocketmq": "rocketmq", "amqp": "rabbitmq", "amqps": "rabbitmq"}

# Sinks that write lines of text, and so can write whole messages as JSON lines.
LINES: Final = ("-", "file")


def open_sink(url: str, *, envelope: bool = False, container: Container | None = None) -> Sink:
    """The sink behind `--to`: `-`, `file:DIR`, `kafka://host:port/topic`, `memory:`.

    `envelope` writes whole messages instead of values where the destination is text; `container` is what files of
    binary values are. Raises UnknownName for an unknown scheme, and what the sink's opener raises.
    """
    scheme = url if url == "-" else url.partition(":")[0]
    opener = registry.load("sink", SINKS, scheme, "--to is -, file:DIR or kafka://HOST:PORT/TOPIC.")
    if envelope and scheme not in LINES:
        raise UsageError(f"--envelope writes JSON lines: it goes with --to - or --to file:DIR, not with {scheme}.")
    more: dict[str, Any] = {"envelope": True} if envelope else {}
    if scheme == "file" and container is not None and not envelope:
        more["container"] = container
    sink: Sink = opener(url, **more)
    return sink


class Sink(Protocol):
    """What the pipeline needs of a destination.

    `topic_pattern` is the topic that the URL names, None for the format's own. Values are made with `line_end` behind
    them, so that a sink of lines writes their bytes as they are. `partitions(topic)` is asked before the
    first message to a topic is made: it creates or finds the topic and returns its partition count (raises SinkError).
    `send` may block (that is the back-pressure) and may return before the broker has acknowledged. `flush` returns when
    every message is acknowledged or has failed, and raises DeliveryFailed if any failed. `delivered` and `failed` count
    messages whose fate is known, `delivered_changes` the row changes in the delivered ones. `close` is idempotent and
    never raises for messages. A sink inherits from this for the `with` statement.
    """

    topic_pattern: str | None
    line_end: str = ""
    delivered: int
    delivered_changes: int
    failed: int

    def partitions(self, topic: str) -> int: ...
    def send(self, batch: MessageBatch) -> None: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
