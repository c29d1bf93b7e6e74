"""What a user of the library calls: messages in memory, and messages sent somewhere."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.formats.format import Broker
from simulator.model import Message
from simulator.run.job import Partitions, broker_of, open_job
from simulator.run.pipeline import Summary
from simulator.run.plan import Limits
from simulator.sinks import open_sink


def messages(
    scenario: str,
    format: str,
    *,
    source: str | None = None,
    seed: int | None = None,
    limit: int | None = 100,
    start_at: int = 0,
    snapshot: bool | None = None,
    route: str | None = None,
    partitions: int = 1,
    broker: Broker = "kafka",
    allow_undocumented: bool = False,
) -> Iterator[Message]:
    """Messages of a scenario, one by one: `messages("orders", "canal-json", limit=20)`.

    They are generated a block at a time, on demand: with `limit=None` the iterator of an endless stream has no end;
    closing it stops the work. `limit` counts row changes and ends at a transaction border;
    `partitions` is what the router assumes of topics; names, keys and tags are those that the product has for this kind
    of `broker`. Raises UsageError at once; the error that ended a SQL script is raised
    after its messages.
    """
    job = open_job(scenario, format, source=source, seed=seed, broker=broker, allow_undocumented=allow_undocumented)
    job = job.addressed(route=route, partitions=Partitions(partitions))
    return job.messages(Limits(start_at, limit), snapshot=snapshot)


def publish(
    scenario: str,
    format: str,
    to: str,
    *,
    source: str | None = None,
    seed: int | None = None,
    limit: int | None = None,
    start_at: int = 0,
    snapshot: bool | None = None,
    route: str | None = None,
    allow_undocumented: bool = False,
) -> Summary:
    """Generate, encode and send: `publish("orders", "canal-json", "kafka://localhost:9092/cdc", limit=10_000)`."""
    broker = broker_of(to)
    job = open_job(scenario, format, source=source, seed=seed, broker=broker, allow_undocumented=allow_undocumented)
    layout = job.codec.layout
    with open_sink(to, container=layout.container, properties=layout.rabbitmq) as sink:
        summary = job.run(sink, limits=Limits(start_at, limit), snapshot=snapshot, route=route)()
    if job.failure is not None:
        raise job.failure
    return summary
