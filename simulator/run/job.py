"""A job: a scenario for a source, a format, and where messages go, as one small value that any process can open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from simulator.batch import MessageBatch
from simulator.delivery.router import parse_route
from simulator.delivery.routing import Route
from simulator.errors import NotOffered, OptionError, UsageError, did_you_mean
from simulator.formats import find, open_codec
from simulator.formats.format import Broker, Codec
from simulator.formats.options import parse_format
from simulator.model import Message, TableId
from simulator.run.pacing import Pace
from simulator.run.pipeline import Run, now_ms
from simulator.run.plan import Limits, Plan, plan
from simulator.run.render import Renderer, refusal, renders, renders_images
from simulator.run.resume import Resumed, rest
from simulator.run.scenario import Draft, load, open_stream, possible_sources, resolve
from simulator.run.workers import Workers, default_workers
from simulator.sinks import BROKERS
from simulator.sinks.sink import Sink
from simulator.sinks.url import MOST_PARTITIONS, deciding
from simulator.sources.source import Source
from simulator.sql import is_script
from simulator.stream.engine.block import SnapshotBlock, Stream, TurnBlock

if TYPE_CHECKING:
    from simulator.sql.script import Script
    from simulator.stream.scenario.loader import Loaded
    from simulator.stream.scenario.scenario import Scenario

# Who takes messages one by one waits for a first block of so many turns, and for so many messages of one.
SINGLE_TURNS = 1024
SINGLE_MESSAGES = 1024
# A paced run is generated as it is sent, in blocks of about so many seconds: a block costs 20 to 60 ms however small it
# is. With the time of writing in its messages it must not be long before they are sent.
BLOCK_SECONDS = 1.0
STAMPED_SECONDS = 0.1


@dataclass(frozen=True)
class Partitions:
    """How many partitions topics have: `each` of them, except for the topics in `named`. Raises UsageError."""

    each: int = 1
    named: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 1 <= self.each <= MOST_PARTITIONS:
            raise UsageError(f"partitions is {self.each}: it is a whole number from 1 to {MOST_PARTITIONS}.")

    def __call__(self, topic: str) -> int:
        return self.named.get(topic, self.each)


@dataclass(frozen=True)
class Job:
    """Everything that decides the bytes of messages. Pickled, it makes the same ones in any process.

    `format` is what `-f` says, `route` what `--route` says (None: the product's default), `topic` the pattern of topics
    (None: the product's own) and `broker` the kind of broker that they are on. With `force` a SQL script goes on after
    errors. What a job opens is opened on first use, and stays out of its pickle.
    """

    scenario: Scenario | Script
    source: Source
    format: str
    route: str | None = None
    topic: str | None = None
    partitions: Partitions = Partitions()
    broker: Broker = "kafka"
    allow_undocumented: bool = False
    force: bool = False
    source_chosen: bool = False  # for the format, since nothing names one

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    # ----------------------------------------------------------------------------------------------------------- opened

    @cached_property
    def stream(self) -> Stream:
        """The changes; without a format no product asks for heartbeats. A SQL script is run for them."""
        heartbeat_ms = self.codec.heartbeat_ms if self.format else None
        return open_stream(self.scenario, self.source, force=self.force, heartbeat_ms=heartbeat_ms)

    @cached_property
    def codec(self) -> Codec:
        allowed = self.allow_undocumented
        return open_codec(self.format, self.source, broker=self.broker, allow_undocumented=allowed)

    @cached_property
    def unsent(self) -> Mapping[TableId, str]:
        """Tables for each type of the source that the format has no rendering for, with their types: they are in the
        stream, whatever the format, and are not sent."""
        types = self.scenario.each_type
        return {
            table.id: types[table.id]
            for table in self.stream.first_tables
            if table.id in types and not renders(self.codec, self.source, table)
        }

    def renderer(self, partitions: Callable[[str], int] | None = None, *, wall_clock: bool = False) -> Renderer:
        """What turns blocks into messages. `partitions` overrides those of the job; with `wall_clock` the product
        writes them now."""
        route, partitions = self._route(self.route), partitions or self.partitions
        now = now_ms if wall_clock else None
        return Renderer(self.stream, self.codec, route, self.topic, partitions, unsent=self.unsent, now_ms=now)

    def addressed(
        self,
        *,
        route: str | None = None,
        topic: str | None = None,
        partitions: Partitions = Partitions(),
    ) -> Job:
        """The same job for these topics and partitions. Raises UsageError for a route that cannot be."""
        self._route(route)
        job = replace(self, route=route, topic=topic, partitions=partitions)
        job.__dict__.update(codec=self.codec, stream=self.stream, unsent=self.unsent)
        return job

    def _route(self, text: str | None) -> Route:
        route = parse_route(text, self.codec.layout.routing)
        self.codec.check_route(route.policy)
        names = self.stream.column_names
        tables = {table.id.name.lower() for table in self.stream.first_tables}
        for typed in route.columns:
            owner, _, name = typed.rpartition(".")
            if owner and owner.lower() not in tables:
                hint = did_you_mean(owner, tables)
                raise UsageError(f"--route {text}: {self.scenario.file} has no table {owner!r}.{hint}")
            if name not in names:
                hint = did_you_mean(name, names)
                raise UsageError(f"--route {text}: no table of {self.scenario.file} has a column {name!r}.{hint}")
        return route

    # ------------------------------------------------------------------------------------------------------------ facts

    @property
    def undocumented(self) -> bool:
        """Whether the real product does not offer this source or this kind of broker."""
        format = self.codec.format
        return self.source.id not in format.sources_to(self.broker) or self.broker not in format.brokers

    @property
    def runs_on_server(self) -> bool:
        """Whether a database server runs the script: its log is not the same twice."""
        return is_script(self.scenario.file) and bool(self.scenario.engine)  # type: ignore[union-attr]

    @property
    def left_out(self) -> tuple[str, ...]:
        """Types of the source that the format has no rendering for."""
        return tuple(dict.fromkeys(self.unsent.values()))

    @property
    def failure(self) -> UsageError | None:
        """The error that ended a SQL script: to be raised when all that went before it is delivered."""
        return self.stream.failure

    # ------------------------------------------------------------------------------------------------------------- work

    def plan(self, limits: Limits, *, snapshot: bool | None = None, most_turns: int | None = None) -> Plan:
        """Which blocks a run has. `snapshot` None: what the scenario says."""
        snapshot = self.scenario.spec.snapshot if snapshot is None else snapshot
        unit = self.codec.layout.packing.window_turns(self.stream.block_turns) if self.format else 1
        return plan(self.stream, limits, snapshot=snapshot, most_turns=most_turns, unit=unit)

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
        resumed: Resumed | None = None,
        workers: int | None = 1,
    ) -> Run:
        """The run, ready to be called; `workers` processes render, or as many as pay (None). Raises UsageError for the
        route, and where the stream has no turn to begin with."""
        if workers is not None and workers > 1 and self.runs_on_server:
            raise UsageError(
                f"--workers {workers}: a server runs {self.scenario.file}, and each worker would run it again; leave "
                "out --workers."
            )
        job = self.addressed(route=route, topic=sink.topic_pattern)
        plan = job.plan(limits, snapshot=snapshot)
        if pace is not None:
            plan = plan.shortened(pace.high_changes * (STAMPED_SECONDS if wall_clock else BLOCK_SECONDS))
        if workers is None:
            workers = 1 if pace is not None or self.runs_on_server else default_workers(plan)
        if resumed is not None and resumed.start is not None:
            plan = rest(plan, resumed.start)
        if resumed is not None:
            resumed.check_end(plan)
        return Run(
            plan,
            job.renderer(sink.partitions, wall_clock=wall_clock),
            sink,
            seconds=limits.seconds,
            pace=pace,
            report=report,
            resumed=resumed,
            workers=Workers(workers, job, sink.partitions, wall_clock=wall_clock) if workers > 1 else None,
        )

    def identity(
        self,
        to: str,
        limits: Limits,
        *,
        route: str | None = None,
        snapshot: bool | None = None,
        envelope: bool = False,
        wall_clock: bool = False,
    ) -> dict[str, str]:
        """What must be the same for a run to go on: whatever changes a byte, or where it goes."""
        snapshot = self.scenario.spec.snapshot if snapshot is None else snapshot
        return {
            "scenario": Path(self.scenario.file).name,
            "seed": str(self.scenario.spec.seed),
            "source": str(self.source),
            "format": self.format,
            "broker": self.broker,
            "route": route or "",
            **deciding(to),
            "envelope": str(envelope).lower(),
            "--clock": "wall" if wall_clock else "simulated",
            "--force": str(self.force).lower(),
            "snapshot": str(snapshot).lower(),
            "--start-at": str(limits.start_at),
            "fingerprint of the scenario": self.scenario.fingerprint,
        }

    def messages(self, limits: Limits, *, snapshot: bool | None = None) -> Iterator[Message]:
        """The messages of a run in stream order, one by one; blocks are generated on demand. After the last message,
        it raises the error that ended a SQL script."""
        plan, renderer = self.plan(limits, snapshot=snapshot), self.renderer()

        def single() -> Iterator[Message]:
            for where in chain[TurnBlock | SnapshotBlock](plan.snapshot_blocks(), plan.growing_blocks(SINGLE_TURNS)):
                if (batch := renderer.render_block(where)) is not None:
                    yield from self.single(batch)
            if self.failure is not None:
                raise self.failure

        return single()

    def single(self, batch: MessageBatch) -> Iterator[Message]:
        """The messages of a batch one by one, with the steps of their turns."""
        for at in range(0, len(batch), SINGLE_MESSAGES):
            part = batch.slice(at, SINGLE_MESSAGES)
            turns = part["turn"].to_numpy()[part["phase"].to_numpy() == 1]
            yield from part.messages(self.stream.steps_of(np.unique(turns).tolist()))


def _fitting(format: str, broker: Broker, loaded: Loaded | Script) -> Source | None:
    """The source of a run that names none: the first that the format and its options are for."""
    offered = find(parse_format(format)[0])
    for source in possible_sources(loaded, dict.fromkeys((offered.source, *offered.sources))):
        with suppress(NotOffered, OptionError):
            open_codec(format, source, broker=broker)
            return source
    return None


def broker_of(to: str, otherwise: Broker = "kafka") -> Broker:
    """The kind of broker behind a URL; for files and standard output the one whose conventions are asked for."""
    return cast(Broker, BROKERS.get(to.partition(":")[0], otherwise))


def open_job(
    scenario: str | Path | Draft,
    format: str,
    *,
    source: str | None = None,
    seed: int | None = None,
    broker: Broker = "kafka",
    allow_undocumented: bool = False,
    force: bool = False,
    sql_engine: str | None = None,
    settings: Sequence[str] = (),
) -> Job:
    """Load and check everything that a run needs. Raises UsageError before anything is written."""
    scenario = str(scenario) if isinstance(scenario, Path) else scenario
    loaded, system = load(scenario, source, sql_engine, settings)
    named = system
    if source is None:
        system = _fitting(format, broker, loaded) or system
    codec = open_codec(format, system, broker=broker, allow_undocumented=allow_undocumented)
    resolved = resolve(loaded, system, seed=seed)
    job = Job(
        resolved, system, format, broker=broker, allow_undocumented=allow_undocumented, force=force,
        source_chosen=system != named,
    )  # fmt: skip
    stream = open_stream(resolved, system, force=force, heartbeat_ms=codec.heartbeat_ms)
    if not renders_images(codec, stream):
        raise refusal(codec, stream)
    job.__dict__.update(codec=codec, stream=stream)
    if job.unsent and len(job.unsent) == len(stream.first_tables):
        raise UsageError(f"-f {format}: it can write no type of {system.title}; use another format or --source.")
    return job
