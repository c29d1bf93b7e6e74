"""Destinations of messages: one module per transport, chosen by the scheme of the `--to` URL.

Read `sink.py` first, the contract, and `target.py`, the declaration of a scheme; `framing.py` makes lines and files of
values. README.md explains how to add a sink.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from simulator import registry
from simulator.errors import UsageError, closest

if TYPE_CHECKING:
    from simulator.sinks.sink import Sink
    from simulator.sinks.target import Target, Transport

# scheme: Transport
SINKS: Final = {
    "-": "simulator.sinks.files:STDOUT",
    "amqp": "simulator.sinks.rabbitmq:AMQP",
    "amqps": "simulator.sinks.rabbitmq:AMQPS",
    "file": "simulator.sinks.files:FILES",
    "kafka": "simulator.sinks.kafka:KAFKA",
    "memory": "simulator.sinks.memory:MEMORY",
    "parquet": "simulator.sinks.parquet:PARQUET",
    "rocketmq": "simulator.sinks.rocketmq:ROCKETMQ",
}
# A URL without its scheme.
_HOST: Final = re.compile(r"[\w.-]+:\d+(/\S*)?")
# Schemes for programs and tests, omitted from help texts.
INTERNAL: Final = ("memory",)


def schemes() -> list[str]:
    """All schemes that a user may write, plug-ins' included; imports none of them."""
    return [name for name in registry.names("sink", SINKS) if name not in INTERNAL]


def transport(scheme: str, hint: str = "") -> Transport[Any]:
    """The declaration of a scheme. Raises UnknownName, and UsageError for a plug-in that is not a `Transport`."""
    from simulator.sinks.target import Transport

    declared = registry.load("sink", SINKS, scheme, hint)
    if not isinstance(declared, Transport):
        raise UsageError(
            f"--to {scheme}: its package declares {declared!r} as simulator.sinks, which is no Transport; "
            "install a version of it for this cdcsim."
        )
    return declared


def brokers() -> tuple[str, ...]:
    """The kinds of broker behind all schemes, plug-ins' included; a plug-in that cannot be loaded has none."""
    kinds: dict[str, None] = {}
    for scheme in registry.names("sink", SINKS):
        with suppress(UsageError, ImportError, AttributeError):
            if (kind := transport(scheme).broker) is not None:
                kinds[kind] = None
    return tuple(kinds)


def broker_of(url: str) -> str | None:
    """The kind of broker behind a URL or a path; None: no broker."""
    scheme = url.partition(":")[0]
    return transport(scheme).broker if scheme in registry.names("sink", SINKS) else None


def parse_target(url: str) -> Target:
    """The target of `--to`: `-`, `file:DIR`, `parquet:DIR`, `kafka://host:port/topic`, `amqp://host/vhost`,
    `rocketmq://host:port/topic`, `memory:`, or a plug-in's. Raises UnknownName for an unknown scheme, and what the
    sink's parser raises."""
    from simulator.sinks.target import Target

    scheme = url if url == "-" else url.partition(":")[0]
    if scheme == url and url not in SINKS and ("/" in url or "." in url or not closest(url, SINKS)):
        raise UsageError(f"--to {url}: write file:{url} for a file or a folder.")
    if _HOST.fullmatch(url) and scheme not in schemes():
        raise UsageError(f"--to {url}: write kafka://{url}, or another broker's scheme before it.")
    hint = "--to is -, file:DIR, parquet:DIR, kafka://HOST:PORT/TOPIC, rocketmq://HOST:PORT/TOPIC or amqp://HOST/VHOST."
    declared = transport(scheme, hint)
    return Target(url, scheme, declared, declared.parse(url))


def open_sink(url: str, **contents: Any) -> Sink:
    """The sink of a URL, for messages as `Contents` describes them. Raises what `parse_target` and `Target.open`
    raise."""
    from simulator.sinks.target import Contents

    return parse_target(url).open(Contents(**contents))
