"""Where messages go: one module per transport, found by the scheme of the URL after `--to`.

Read `sink.py` first, the contract; `framing.py` makes lines and files of values. README.md tells how to add a sink.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from simulator import registry
from simulator.errors import UsageError, closest

if TYPE_CHECKING:
    from simulator.sinks.sink import FileState, Sink
    from simulator.wire.avro import Container

# scheme: opener(url) -> Sink
SINKS: Final = {
    "-": "simulator.sinks.files:open_stdout",
    "amqp": "simulator.sinks.rabbitmq.sink:open_rabbitmq",
    "amqps": "simulator.sinks.rabbitmq.sink:open_rabbitmq",
    "file": "simulator.sinks.files:open_files",
    "kafka": "simulator.sinks.kafka.open:open_kafka",
    "memory": "simulator.sinks.memory:open_memory",
    "parquet": "simulator.sinks.parquet:open_parquet",
    "rocketmq": "simulator.sinks.rocketmq.sink:open_rocketmq",
}

# The brokers behind schemes, by the names that formats know them by.
BROKERS: Final = {"kafka": "kafka", "rocketmq": "rocketmq", "amqp": "rabbitmq", "amqps": "rabbitmq"}

# Sinks that write lines of text, and so can write whole messages as JSON lines.
LINES: Final = ("-", "file")


def open_sink(
    url: str,
    *,
    envelope: bool = False,
    container: Container | None = None,
    properties: Mapping[str, Any] | None = None,
    files: Mapping[str, FileState] | None = None,
) -> Sink:
    """The sink behind `--to`: `-`, `file:DIR`, `parquet:DIR`, `kafka://host:port/topic`, `amqp://host/vhost`,
    `rocketmq://host:port/topic`, `memory:`.

    `envelope` writes whole messages instead of values where the destination is text; `container` is what files of
    binary values need to know, `files` those of a run that goes on; `properties` are those that the product gives
    each message on RabbitMQ. Raises UnknownName for an unknown scheme, and what the sink's opener raises.
    """
    scheme = url if url == "-" else url.partition(":")[0]
    if scheme == url and url not in SINKS and ("/" in url or "." in url or not closest(url, SINKS)):
        raise UsageError(f"--to {url}: write file:{url} for a file or a folder.")
    hint = "--to is -, file:DIR, parquet:DIR, kafka://HOST:PORT/TOPIC, rocketmq://HOST:PORT/TOPIC or amqp://HOST/VHOST."
    opener = registry.load("sink", SINKS, scheme, hint)
    if envelope and scheme not in LINES:
        raise UsageError(f"--envelope writes JSON lines: it goes with --to - or --to file:DIR, not with {scheme}.")
    more: dict[str, Any] = {"envelope": True} if envelope else {}
    if scheme == "file" and container is not None:
        more["container"] = container
    if scheme == "file" and files is not None:
        more["files"] = files
    if BROKERS.get(scheme) == "rabbitmq" and properties:
        more["properties"] = properties
    sink: Sink = opener(url, **more)
    return sink
