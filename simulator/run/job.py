"""What the commands and a library's user call: a scenario and a format, made into a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from simulator.delivery.router import parse_route
from simulator.delivery.routing import Route
from simulator.errors import UsageError, closest
from simulator.formats import open_codec
from simulator.formats.format import Broker, Codec
from simulator.model import Message
from simulator.run.pacing import Pace
from simulator.run.pipeline import Limits, Run, Summary
from simulator.run.render import Renderer, renders
from simulator.sinks import BROKERS, open_sink
from simulator.sinks.memory import MemorySink
from simulator.sinks.sink import Sink
from simulator.sources import Source
from simulator.sql import is_script
from simulator.stream import open_stream, source_of
from simulator.stream.engine.block import Stream

if TYPE_CHECKING:
    from simulator.sql.script import Script
    from simulator.stream.scenario.scenario import Scenario


@dataclass(frozen=True)
class Job:
    """A scenario opened for a source, and the format that it is written in."""

    scenario: Scenario | Script
    source: Source
    stream: Stream
    codec: Codec
    left_out: tuple[str, ...] = ()  # types of the source that the format has no rendering for, and no table therefore

    @property
    def undocumented(self) -> bool:
        """Whether the real product does not offer this source or this kind of broker."""
        codec = self.codec
        offered = codec.layout.sources or codec.format.sources
        return self.source.id not in offered or codec.settings.broker not in codec.format.brokers

    def route(self, text: str | None) -> Route:
        """What `--route` says, None for the product's default. Raises UsageError, for unknown columns too."""
        route = parse_route(text, self.codec.layout.routing)
        for name in route.columns:
            known = self.stream.column_names
            if name not in known:
                guess = closest(name, known)
                hint = f" Did you mean {guess!r}?" if guess else ""
                raise UsageError(f"--route {text}: no table of {self.scenario.file} has a column {name!r}.{hint}")
        return route

    @property
    def failure(self) -> UsageError | None:
        """The error that ended a SQL script: to be raised when all that went before it is delivered."""
        return self.stream.failure

    def run(
        self,
        sink: Sink,
        *,
        limits: Limits,
        route: str | None = None,
        snapshot: bool | None = None,
        pace: Pace | None = None,
        wall_clock: bool = False,
        report: Callable[[Run], None] | None = None,
    ) -> Run:
        """The run, ready to be called. `snapshot` None: what the scenario says. Raises UsageError for the route and for
        a start behind the end of a script."""
        turns = self.stream.turns
        if turns is not None and limits.start_at > turns:
            raise UsageError(f"--start-at {limits.start_at}: {self.scenario.file} ends at turn {turns}.")
        renderer = Renderer(self.stream, self.codec, self.route(route), sink.topic_pattern, sink.partitions)
        return Run(
            self.stream,
            renderer,
            sink,
            limits=limits,
            snapshot=self.scenario.spec.snapshot if snapshot is None else snapshot,
            pace=pace,
            wall_clock=wall_clock,
            report=report,
        )


def broker_of(to: str, otherwise: Broker = "kafka") -> Broker:
    """The kind of broker behind a URL; for files and standard output the one whose conventions are asked for."""
    return cast(Broker, BROKERS.get(to.partition(":")[0], otherwise))


def open_scenario(
    scenario: str,
    *,
    source: str | None = None,
    seed: int | None = None,
    force: bool = False,
    tell: Callable[[str], None] | None = None,
) -> tuple[Scenario | Script, Source, Stream]:
    """A scenario file of either kind, its source and its stream. Raises UsageError.

    `force` lets a SQL script go on after an error of one of its statements, each told by `tell`.
    """
    if is_script(scenario):
        from simulator.sql.script import read_script
        from simulator.sql.script import source_of as source_of_script
        from simulator.sql.stream import SqlStream

        script = read_script(scenario)
        found = source_of_script(script, source)
        return script, found, SqlStream(script, found, force=force, tell=tell)
    from simulator.stream.scenario.loader import load
    from simulator.stream.scenario.resolve import resolve

    loaded = load(scenario)
    resolved = resolve(loaded, source_of(loaded, source), seed=seed)
    return resolved, resolved.source, open_stream(resolved)


def open_job(
    scenario: str,
    format: str,
    *,
    source: str | None = None,
    seed: int | None = None,
    allow_undocumented: bool = False,
    broker: Broker = "kafka",
    force: bool = False,
    tell: Callable[[str], None] | None = None,
) -> Job:
    """Load and check everything that a run needs. Raises UsageError before anything is written."""
    if is_script(scenario):
        script, found, stream = open_scenario(scenario, source=source, force=force, tell=tell)
        return Job(
            script, found, stream, open_codec(format, found, broker=broker, allow_undocumented=allow_undocumented)
        )
    # A script needs neither the language nor pydantic, which take a sixth of a second to import.
    from simulator.stream.scenario.loader import load
    from simulator.stream.scenario.resolve import resolve

    loaded = load(scenario)
    found = source_of(loaded, source)
    codec = open_codec(format, found, broker=broker, allow_undocumented=allow_undocumented)
    resolved = resolve(loaded, found, seed=seed, renders=lambda table: renders(codec, found, table))
    return Job(resolved, found, open_stream(resolved), codec, resolved.left_out)


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

    `limit` counts row changes and ends at a transaction border; `partitions` is what the router assumes of topics;
    names, keys and tags are those that the product has for this kind of `broker`.
    """
    job = open_job(scenario, format, source=source, seed=seed, broker=broker, allow_undocumented=allow_undocumented)
    with MemorySink(partitions=partitions) as sink:
        job.run(sink, limits=Limits(start_at, limit), snapshot=snapshot, route=route)()
        yield from sink.messages()
    if job.failure is not None:
        raise job.failure


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
    with open_sink(to, container=job.codec.layout.container) as sink:
        summary = job.run(sink, limits=Limits(start_at, limit), snapshot=snapshot, route=route)()
    if job.failure is not None:
        raise job.failure
    return summary
