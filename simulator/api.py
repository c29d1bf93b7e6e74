"""What the commands and a library's user call: a scenario and a format, made into a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from simulator.delivery.router import Route, parse_route
from simulator.errors import UsageError, closest
from simulator.formats import open_codec
from simulator.model import Message
from simulator.pacing import Pace
from simulator.pipeline import Limits, Run, Summary
from simulator.render import Renderer, renders
from simulator.sinks import Sink, open_sink
from simulator.sinks.memory import MemorySink
from simulator.sources import Source
from simulator.stream import open_stream, source_of
from simulator.stream.block import Stream
from simulator.stream.each_type import expand
from simulator.stream.loader import Loaded, load
from simulator.wire.format import Codec


@dataclass(frozen=True)
class Job:
    """A scenario opened for a source, and the format that it is written in."""

    loaded: Loaded
    source: Source
    stream: Stream
    codec: Codec
    left_out: tuple[str, ...] = ()  # types of the source that the format has no rendering for, and no table therefore

    @property
    def undocumented(self) -> bool:
        """Whether the product does not offer what is made here."""
        offered = self.codec.layout.sources or self.codec.format.sources
        return self.source.id not in offered

    def route(self, text: str | None) -> Route:
        """What `--route` says, None for the product's default. Raises UsageError, for unknown columns too."""
        route = parse_route(text, self.codec.layout.routing)
        spec = self.loaded.spec
        changes = [*spec.schema_changes, *(entry.ddl for entry in spec.script or () if entry.ddl is not None)]
        known = {name for table in spec.tables.values() for name in table.columns}
        known |= {change.add_column.name for change in changes if change.add_column is not None}
        known |= {change.rename_column.to for change in changes if change.rename_column is not None}
        known |= {column.name for table in self.stream.first_tables for column in table.columns}
        known |= set(map(self.source.types.identifier, known))  # as the source stores them
        for name in route.columns:
            if name not in known:
                guess = closest(name, known)
                hint = f" Did you mean {guess!r}?" if guess else ""
                raise UsageError(f"--route {text}: no table of {self.loaded.file} has a column {name!r}.{hint}")
        return route

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
        """The run, ready to be called. `snapshot` None: what the scenario says. Raises UsageError for the route."""
        renderer = Renderer(
            self.stream, self.codec, self.route(route), sink.topic_pattern, sink.partitions, line_end=sink.line_end
        )
        return Run(
            self.stream,
            renderer,
            sink,
            limits=limits,
            snapshot=self.loaded.spec.snapshot if snapshot is None else snapshot,
            pace=pace,
            wall_clock=wall_clock,
            report=report,
        )


def open_job(
    scenario: str,
    format: str,
    *,
    source: str | None = None,
    seed: int | None = None,
    allow_undocumented: bool = False,
) -> Job:
    """Load and check everything that a run needs. Raises UsageError before anything is written."""
    loaded = load(scenario)
    found = source_of(loaded, source)
    codec = open_codec(format, found, allow_undocumented=allow_undocumented)
    loaded, left_out = expand(loaded, found, lambda table: renders(codec, found, table))
    return Job(loaded, found, open_stream(loaded, found, seed=seed), codec, left_out)


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
) -> Iterator[Message]:
    """Messages of a scenario, one by one: `messages("orders", "canal-json", limit=20)`.

    `limit` counts row changes and ends at a transaction border; `partitions` is what the router assumes of topics.
    """
    job = open_job(scenario, format, source=source, seed=seed)
    with MemorySink(partitions=partitions) as sink:
        job.run(sink, limits=Limits(start_at, limit), snapshot=snapshot, route=route)()
        yield from sink.messages()


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
) -> Summary:
    """Generate, encode and send: `publish("orders", "canal-json", "kafka://localhost:9092/cdc", limit=10_000)`."""
    job = open_job(scenario, format, source=source, seed=seed)
    with open_sink(to, container=job.codec.layout.container) as sink:
        return job.run(sink, limits=Limits(start_at, limit), snapshot=snapshot, route=route)()
