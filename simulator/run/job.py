"""A job: a scenario for a source, a format, and how messages are addressed, as one value that any process can open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.batch import MessageBatch
from simulator.delivery.router import parse_route
from simulator.delivery.routing import Route
from simulator.errors import NotOffered, OptionError, UnknownName, UsageError, did_you_mean
from simulator.formats import find, open_codec
from simulator.formats.format import Codec
from simulator.formats.options import parse_format
from simulator.model import Message, TableId
from simulator.run.faults.apply import WINDOW, WINDOWED, unfit
from simulator.run.faults.spec import NONE, Faults, of_section, parse
from simulator.run.pipeline import now_ms
from simulator.run.plan import Limits, Plan, plan
from simulator.run.render import Renderer, refusal, renders, renders_images
from simulator.run.request import Subject
from simulator.run.scenario import load, open_stream, possible_sources, resolve
from simulator.sinks import brokers
from simulator.sinks.url import MOST_PARTITIONS
from simulator.sources.source import Source
from simulator.sql import is_script
from simulator.stream.engine.block import Block, SnapshotBlock, Stream, TurnBlock

if TYPE_CHECKING:
    from simulator.sql.script import Script
    from simulator.stream.scenario.loader import Loaded
    from simulator.stream.scenario.scenario import Scenario

# Turns of the first block, and messages per slice, for readers of single messages, which should not wait for a large
# block.
SINGLE_TURNS = 1024
SINGLE_MESSAGES = 1024


@dataclass(frozen=True)
class Partitions:
    """Partition counts of topics: `default`, unless `named` has a count for the topic. Raises UsageError."""

    default: int = 1
    named: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 1 <= self.default <= MOST_PARTITIONS:
            raise UsageError(f"partitions is {self.default}: it is a whole number from 1 to {MOST_PARTITIONS}.")

    def __call__(self, topic: str) -> int:
        return self.named.get(topic, self.default)


@dataclass(frozen=True)
class Addressing:
    """Addressing of messages: routing rule of `--route`, topic pattern (None: the product's default), and partition
    counts.
    """

    route: str | None = None
    topic: str | None = None
    partitions: Partitions = Partitions()


class Opened:
    """The stream, the codec and the unsent tables of a job, shared by all jobs that differ only in their addressing.
    They are not pickled: an unpickled job opens its own. `ids` are those of its schemas, which are pickled: no other
    process asks a registry."""

    def __init__(
        self, stream: Stream | None = None, codec: Codec | None = None, ids: Mapping[str, int] | None = None
    ) -> None:
        self.stream, self.codec, self.ids = stream, codec, ids
        self.unsent: Mapping[TableId, str] | None = None

    def __reduce__(self) -> tuple[type[Opened], tuple[None, None, Mapping[str, int] | None]]:
        return Opened, (None, None, self.ids)


@dataclass(frozen=True)
class Job:
    """Everything that decides the bytes of messages. A pickled job makes the same messages in any process.

    `format` is the text of `-f` ("" for changes without a format), `broker` the kind of broker that the messages are
    for. With `force` a SQL script continues after errors. `source_chosen`: neither the scenario nor `--source` names a
    source, so the format's is used.
    """

    scenario: Scenario | Script
    source: Source
    format: str
    broker: str = "kafka"
    allow_undocumented: bool = False
    force: bool = False
    addressing: Addressing = Addressing()
    source_chosen: bool = False
    faults: Faults = NONE
    opened: Opened = field(default_factory=Opened, repr=False, compare=False)

    # ----------------------------------------------------------------------------------------------------------- opened

    @property
    def stream(self) -> Stream:
        """The stream of changes; a SQL script is run for it. A job without a format has no heartbeats of a product."""
        if self.opened.stream is None:
            heartbeat_ms = self.codec.heartbeat_ms if self.format else None
            self.opened.stream = open_stream(self.scenario, self.source, force=self.force, heartbeat_ms=heartbeat_ms)
        return self.opened.stream

    @property
    def codec(self) -> Codec:
        if self.opened.codec is None:
            allowed = self.allow_undocumented
            self.opened.codec = open_codec(self.format, self.source, broker=self.broker, allow_undocumented=allowed)
        return self.opened.codec

    @property
    def unsent(self) -> Mapping[TableId, str]:
        """Tables of a scenario with one table per source type whose type the format cannot render, with their types.
        They are in the stream but are not sent."""
        if self.opened.unsent is None:
            types = self.scenario.each_type
            self.opened.unsent = {
                table.id: types[table.id]
                for table in self.stream.first_tables
                if table.id in types and not renders(self.codec, self.source, table)
            }
        return self.opened.unsent

    def renderer(
        self,
        partitions: Callable[[str], int] | None = None,
        *,
        wall_clock: bool = False,
        only: Callable[[Block], Block] | None = None,
    ) -> Renderer:
        """Renderer that turns blocks into messages. `partitions` overrides the job's partition counts; with
        `wall_clock` the product's write time is the current time; `only` reduces blocks to a part of their changes."""
        self._number_schemas()
        addressing = self.addressing
        clock = now_ms if wall_clock else None
        partitions = partitions or addressing.partitions
        arguments = (self.stream, self.codec, self._route(addressing.route), addressing.topic, partitions)
        if not self.faults:
            return Renderer(*arguments, unsent=self.unsent, now_ms=clock, only=only)
        from simulator.run.faults.renderer import FaultyRenderer

        seed = self.scenario.spec.seed
        return FaultyRenderer(*arguments, unsent=self.unsent, now_ms=clock, only=only, faults=self.faults, seed=seed)

    def starting(self, limits: Limits) -> Job:
        """The same job for a run that begins at these limits: no fault repeats an earlier message."""
        return self if not self.faults else replace(self, faults=self.faults.starting(limits.start_at))

    def _number_schemas(self) -> None:
        """Gives the codec the ids of all schemas, if it has them from elsewhere. Raises UsageError."""
        subjects = self.codec.layout.subjects if self.format else None
        if subjects is None or not subjects.ids.origin.is_given:
            return
        if self.opened.ids is None:
            stream = self.stream
            topics = self.codec.layout.routing.topics.mapping(stream.names_at_start).named(self.addressing.topic)
            present = stream.names_at_start
            first = [table for table in stream.first_tables if table.id in present and table.id not in self.unsent]
            versions = (table for table in stream.tables_from(0) if table.id not in self.unsent)
            self.opened.ids = subjects.ids.origin.numbered(subjects.pairs(first, versions, topics.of))
        subjects.ids.numbers = self.opened.ids

    def __getstate__(self) -> dict[str, Any]:
        self._number_schemas()  # before pickling, so that an unpickled job has the ids
        return dict(self.__dict__)

    def addressed(
        self, *, route: str | None = None, topic: str | None = None, partitions: Partitions = Partitions()
    ) -> Job:
        """The same job for these topics and partitions. Raises UsageError for an invalid route."""
        self._route(route)
        return replace(self, addressing=Addressing(route, topic, partitions))

    def to_topic(self, pattern: str | None) -> Job:
        """The same job with this topic pattern; None: the product's default."""
        return replace(self, addressing=replace(self.addressing, topic=pattern))

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
        """Whether a database server runs the script: two runs then have different logs."""
        return is_script(self.scenario.file) and bool(self.scenario.engine)  # type: ignore[union-attr]

    @property
    def left_out(self) -> tuple[str, ...]:
        """Source types that the format cannot render."""
        return tuple(dict.fromkeys(self.unsent.values()))

    @property
    def failure(self) -> UsageError | None:
        """The error that ended a SQL script; raise it after all earlier messages are delivered."""
        return self.stream.failure

    # ------------------------------------------------------------------------------------------------------------- work

    def plan(self, limits: Limits, *, snapshot: bool | None = None, most_turns: int | None = None) -> Plan:
        """Plan of a run's blocks. `snapshot` None: as the scenario says."""
        snapshot = self.scenario.spec.snapshot if snapshot is None else snapshot
        unit = self.codec.layout.packing.window_turns(self.stream.block_turns) if self.format else 1
        overlap = int(self.faults.rates.get("overlap", 0))
        if not WINDOWED.isdisjoint(self.faults.rates):
            unit = max(unit, WINDOW)
        return plan(self.stream, limits, snapshot=snapshot, most_turns=most_turns, unit=unit, overlap=overlap)

    def check_end(self, limits: Limits) -> None:
        """Raises UsageError if the run would never end with these limits."""
        if self.stream.turns is None and limits.changes is None and limits.turns is None:
            raise UsageError(f"{self.scenario.file} has no end: give a limit of row changes, or turns.")

    def messages(self, limits: Limits, *, snapshot: bool | None = None) -> Iterator[Message]:
        """The messages of a run in stream order, one by one; blocks are generated on demand. After the last message,
        it raises the error that ended a SQL script."""
        plan, renderer = self.plan(limits, snapshot=snapshot), self.starting(limits).renderer()

        def single() -> Iterator[Message]:
            for where in chain[TurnBlock | SnapshotBlock](plan.snapshot_blocks(), plan.growing_blocks(SINGLE_TURNS)):
                if (batch := renderer.render_block(where)) is not None:
                    yield from self.single(batch)
            if self.failure is not None:
                raise self.failure

        return single()

    def single(self, batch: MessageBatch) -> Iterator[Message]:
        """The messages of a batch one by one, with the steps of their turns."""
        container = self.codec.layout.container
        reader = None if container is None else container.decoded
        for start in range(0, len(batch), SINGLE_MESSAGES):
            messages = batch.slice(start, SINGLE_MESSAGES)
            turns = messages["turn"].to_numpy()[messages["phase"].to_numpy() == 1]
            yield from messages.messages(self.stream.steps_of(np.unique(turns).tolist()), reader)


def open_job(scenario: Any, format: str, *, settings: Sequence[str] = (), **options: Any) -> Job:
    """The job of a `Subject` with these fields. Raises UsageError before anything is written."""
    return job_of(Subject(scenario, format, settings=tuple(settings), **options))


def job_of(subject: Subject, broker: str | None = None) -> Job:
    """Loads and checks everything that decides bytes. `broker` is the kind that messages go to; None: the subject's.
    Raises UsageError before anything is written."""
    broker = broker or subject.broker
    if broker not in (offered := find(parse_format(subject.format)[0]).brokers) and broker not in brokers():
        known_brokers = dict.fromkeys((*offered, *brokers()))
        raise UnknownName("kind of broker", broker, known_brokers, f"--broker is one of {', '.join(known_brokers)}.")
    loaded, named = _loaded(subject)
    system = _fitting(subject, broker, loaded) or named
    codec = open_codec(subject.format, system, broker=broker, allow_undocumented=subject.allow_undocumented)
    resolved = resolve(loaded, system, seed=subject.seed)
    stream = open_stream(resolved, system, force=subject.force, heartbeat_ms=codec.heartbeat_ms)
    if not renders_images(codec, stream):
        raise refusal(codec, stream)
    job = Job(
        resolved, system, subject.format, broker, subject.allow_undocumented, subject.force,
        source_chosen=system != named, faults=_faults(subject, resolved, codec), opened=Opened(stream, codec),
    )  # fmt: skip
    if job.unsent and len(job.unsent) == len(stream.first_tables):
        raise UsageError(
            f"-f {subject.format}: it can write no type of {system.title}; use another format or --source."
        )
    return job


def changes_of(subject: Subject) -> Job:
    """The job of a subject without a format, which has changes but no messages. Raises UsageError."""
    loaded, system = _loaded(subject)
    return Job(resolve(loaded, system, seed=subject.seed), system, "", force=subject.force)


def source_of(subject: Subject) -> Source:
    """The source system of a subject. Raises UsageError."""
    loaded, named = _loaded(subject)
    return _fitting(subject, subject.broker, loaded) or named


def _faults(subject: Subject, scenario: Scenario | Script, codec: Codec) -> Faults:
    """The faults of `--faults`, else those of the scenario. Raises UsageError for those that the format cannot have."""
    section = getattr(scenario.spec, "faults", None) or {}
    faults = of_section(section, scenario.file) if subject.faults is None else parse(subject.faults)
    for name, reason in unfit(faults, codec):
        if subject.faults is not None:
            raise UsageError(f"--faults {name}: {reason}; leave it out.")
        faults = faults.without(name)
    return faults


def _loaded(subject: Subject) -> tuple[Loaded | Script, Source]:
    scenario = str(subject.scenario) if isinstance(subject.scenario, Path) else subject.scenario
    return load(scenario, subject.source, subject.sql_engine, subject.all_settings)


def _fitting(subject: Subject, broker: str, loaded: Loaded | Script) -> Source | None:
    """The source of a run that names none: the first that the format and its options support. None: the scenario's."""
    if subject.source is not None:
        return None
    offered = find(parse_format(subject.format)[0])
    for source in possible_sources(loaded, dict.fromkeys((offered.source, *offered.sources))):
        with suppress(NotOffered, OptionError):
            open_codec(subject.format, source, broker=broker)
            return source
    return None
