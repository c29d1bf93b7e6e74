"""What a user of the package calls: messages, the changes behind them, the rows that they lead to, and publishing.

All of them take a scenario (a file, or the name of a shipped one) and the options of `cdcsim run` under the same names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from simulator.batch import MessageBatch
from simulator.errors import SimulatorError, UsageError
from simulator.formats.format import Broker
from simulator.model import Message, RowChange, SchemaChange, Table, TableId
from simulator.run.account import Account, Files, check_folder, facts_of
from simulator.run.job import SINGLE_TURNS, Job, Partitions, broker_of, open_job
from simulator.run.pacing import parse_duration, parse_pace
from simulator.run.pipeline import Run, Summary
from simulator.run.plan import Limits, Plan
from simulator.run.resume import Resumed, check_resumable
from simulator.run.scenario import start_setting
from simulator.sinks import open_sink
from simulator.sinks.sink import Sink
from simulator.sources.source import Source
from simulator.stream.engine.block import Block
from simulator.truth.rows import Row, changes, tables_before
from simulator.truth.verify.findings import EXAMPLES, Verdict
from simulator.truth.verify.verify import Expectation, verify_job

Key: TypeAlias = tuple[str, ...]


def messages(
    scenario: str | Path,
    format: str,
    *,
    source: str | None = None,
    seed: int | None = None,
    settings: Mapping[str, object] | None = None,
    limit: int | None = None,
    turns: int | None = None,
    start_at: int = 0,
    snapshot: bool | None = None,
    route: str | None = None,
    partitions: int = 1,
    broker: Broker = "kafka",
    allow_undocumented: bool = False,
    force: bool = False,
    sql_engine: str | None = None,
) -> Iterator[Message]:
    """Messages of a scenario, one by one: `messages("orders", "canal-json", limit=20)`.

    They are generated a block at a time, on demand; closing the iterator stops the work. `limit` counts row changes,
    `turns` steps of the stream; both end with a transaction. A script ends by itself, other scenarios need one of
    them. `settings` changes values of the scenario: `{"tables.users.rows": 1_000_000}`, or the first commit time:
    `{"start": "now"}`. `partitions` is what the router assumes of topics; names, keys and tags are those that the
    product has for this kind of `broker`. Raises UsageError at once; the error that ended a SQL script is raised after
    its messages.
    """
    limits = _limits(start_at, limit, turns)
    job = _opened(
        scenario, format, broker, source, seed, settings, allow_undocumented, force=force, sql_engine=sql_engine
    )
    _check_texts(route=route)
    job = job.addressed(route=route, partitions=Partitions(_whole("partitions", partitions, 1) or 1))
    _check_end(job, limits)
    return job.messages(limits, snapshot=snapshot)


def publish(
    scenario: str | Path,
    format: str,
    to: str | Path | Sink,
    *,
    source: str | None = None,
    seed: int | None = None,
    settings: Mapping[str, object] | None = None,
    limit: int | None = None,
    turns: int | None = None,
    duration: str | None = None,
    rate: str | None = None,
    clock: Literal["simulated", "wall"] = "simulated",
    start_at: int = 0,
    snapshot: bool | None = None,
    route: str | None = None,
    broker: Broker = "kafka",
    allow_undocumented: bool = False,
    force: bool = False,
    sql_engine: str | None = None,
    envelope: bool = False,
    resume: str | Path | None = None,
    summary_to: str | Path | None = None,
    record: str | Path | None = None,
    metrics: str | None = None,
    workers: int = 1,
    report: Callable[[Run], None] | None = None,
) -> Summary:
    """Generate, encode and send: `publish("orders", "canal-json", "kafka://localhost:9092/cdc", limit=10_000)`.

    `to` is a URL as `--to` takes it, a `Path` of a folder or of a `.jsonl` file, or a sink, which stays open. `rate` is
    `50000/s` or a profile, `duration` `10m`; `resume` names the file that keeps the position, `summary_to` and `record`
    those that get the summary and the record as JSON, also of a run that fails; Prometheus may ask at `metrics`
    (`127.0.0.1:9100`); `workers` processes render, if more than one. `report` is called with the run about twice a
    second; its `stop`, set to True, ends the run. Everything else is as the command has it; Spark runs jobs as its data
    source. Raises UsageError before anything is sent, SinkError, and DeliveryFailed.
    """
    _check_texts(duration=duration, rate=rate, route=route, metrics=metrics)
    if not isinstance(to, str | Path | Sink):
        raise UsageError(f"to is {to!r}: it is a URL, a Path or a sink.")
    limits = _limits(start_at, limit, turns, parse_duration(duration) if duration else None)
    pace = parse_pace(rate) if rate else None
    if clock not in ("simulated", "wall"):
        raise UsageError(f"clock is {clock!r}: it is 'simulated' or 'wall'.")
    url = f"file:{to}" if isinstance(to, Path) else to
    broker = broker_of(url, broker) if isinstance(url, str) else broker
    job = _opened(
        scenario, format, broker, source, seed, settings, allow_undocumented, force=force, sql_engine=sql_engine
    )
    job.addressed(route=route)  # a wrong route is an error before anything is opened
    where = url if isinstance(url, str) else type(url).__name__
    identity = job.identity(
        where, limits, route=route, snapshot=snapshot, envelope=envelope, wall_clock=clock == "wall"
    )
    files = Files(*(None if path is None else Path(path) for path in (summary_to, record)))
    check_folder("summary_to", files.summary)
    check_folder("record", files.record)
    account = Account(files, identity, metrics)
    layout = job.codec.layout
    with ExitStack() as opened:
        resumed = None
        if resume is not None:
            if not isinstance(url, str):
                raise UsageError("resume: only files and brokers that a URL names can be gone on with.")
            check_folder("resume", Path(resume))
            check_resumable("resume", url)
            resumed = opened.enter_context(Resumed(Path(resume), identity))
        sink = (
            url
            if isinstance(url, Sink)
            else opened.enter_context(
                open_sink(
                    url, envelope=envelope, container=layout.container, properties=layout.rabbitmq,
                    files=None if resumed is None else resumed.files,
                )
            )
        )  # fmt: skip
        if resumed is not None:
            resumed.ask(sink)
        account.watch(sink, resumed)
        run = job.run(
            sink,
            limits=limits,
            route=route,
            snapshot=snapshot,
            pace=pace,
            wall_clock=clock == "wall",
            report=report,
            resumed=resumed,
            workers=_whole("workers", workers, 1) or 1,
        )
        failure: SimulatorError | None = None
        with account.serving(run):
            try:
                run()
            except SimulatorError as error:
                failure = error
        failure = failure or job.failure
        files.write(facts_of(job, where, run.summary), lambda facts: account.document(facts, failure))
    if failure is not None:
        raise failure
    return run.summary


def simulate(
    scenario: str | Path,
    format: str,
    *,
    source: str | None = None,
    seed: int | None = None,
    settings: Mapping[str, object] | None = None,
    limit: int | None = None,
    turns: int | None = None,
    start_at: int = 0,
    snapshot: bool | None = None,
    route: str | None = None,
    topic: str | None = None,
    partitions: int = 1,
    broker: Broker = "kafka",
    allow_undocumented: bool = False,
    typed: bool = False,
) -> Simulation:
    """A run kept in memory, for tests: `simulate("orders", "canal-json", limit=20).expected["shop.orders"]`.

    Takes what `messages` takes, and a `topic` or a pattern of topics (`{database}.{table}`; default: the product's).
    Values of rows are texts as the database's client prints them; with `typed` they are Python's: int, Decimal, bytes,
    datetime …. Raises UsageError, also where neither `limit` nor the scenario ends it.
    """
    limits = _limits(start_at, limit, turns)
    job = _opened(scenario, format, broker, source, seed, settings, allow_undocumented)
    _check_texts(route=route, topic=topic)
    job = job.addressed(route=route, topic=topic, partitions=Partitions(_whole("partitions", partitions, 1) or 1))
    _check_end(job, limits)
    plan = job.plan(limits, snapshot=snapshot, most_turns=SINGLE_TURNS).counted()
    return Simulation(job, plan, typed)


def verify(
    scenario: str | Path,
    format: str,
    origin: str | Path,
    *,
    source: str | None = None,
    seed: int | None = None,
    settings: Mapping[str, object] | None = None,
    limit: int | None = None,
    turns: int | None = None,
    start_at: int = 0,
    snapshot: bool | None = None,
    route: str | None = None,
    broker: Broker = "kafka",
    allow_undocumented: bool = False,
    at_least_once: bool = False,
    examples: int = EXAMPLES,
) -> Verdict:
    """Whether messages that are read back are those of a run: `verify("orders", "canal-json", "file:out", limit=1000)`.

    `origin` is a URL as `--to` takes it (Kafka, files, Parquet) or the path of a folder or file; the other arguments
    say what was sent, as `publish` has them. With `at_least_once`, stretches that come again up to where the stream
    goes on are no findings. The verdict counts all findings by kind and keeps `examples` of each. Raises UsageError,
    also where nothing that is read is expected (another scenario, seed or format), and SinkError.
    """
    limits = _limits(start_at, limit, turns)
    _check_texts(route=route)
    url = f"file:{origin}" if isinstance(origin, Path) else origin
    if not isinstance(url, str):
        raise UsageError(f"origin is {origin!r}: it is a URL or a Path.")
    job = _opened(scenario, format, broker_of(url, broker), source, seed, settings, allow_undocumented)
    expectation = Expectation(limits.changes, limits.turns, limits.start_at, snapshot, route)
    return verify_job(job, url, expectation, at_least_once=at_least_once, examples=_whole("examples", examples) or 0)


@dataclass(frozen=True)
class Simulation:
    """A run in memory: its messages, the row changes behind them, and the rows that a consumer of them holds.

    Each is computed when it is first asked for.
    """

    job: Job
    plan: Plan
    typed: bool = False

    def __repr__(self) -> str:
        """Short, since a failing test prints it."""
        return f"<Simulation of {self.job.scenario.file} on {self.job.source} as {self.job.format}>"

    @cached_property
    def messages(self) -> list[Message]:
        """The messages in stream order."""
        return [message for batch in self._batches for message in self.job.single(batch)]

    @cached_property
    def changes(self) -> list[RowChange]:
        """The row changes in stream order, whether or not the format sends messages about them."""
        found = [change for block in self._blocks for batch in block.batches for change in changes(batch, self._texts)]
        return sorted(found, key=lambda change: change.order)

    @cached_property
    def expected(self) -> dict[str, list[Row]]:
        """By table (`shop.orders`): the rows of a consumer that began with nothing and applied all messages.

        After a snapshot these are all rows of the tables, else those that a change was about (of a table without a key:
        those that look like one of a change).
        """
        sent = None if self.plan.snapshot else self._sent()
        return {
            str(table.id): [
                row for row in rows if sent is None or _key(table.primary_key, row) in sent.get(table.id, ())
            ]
            for table, rows in self._tables
        }

    @property
    def keys(self) -> dict[str, tuple[str, ...]]:
        """By table: the columns of its primary key after the last change."""
        return {str(table.id): table.primary_key for table, _ in self._tables}

    @property
    def tables(self) -> dict[str, Table]:
        """By table: its columns, their types and its key after the last change."""
        return {str(table.id): table for table, _ in self._tables}

    def send(self, to: str | Sink) -> None:
        """Send the messages to a URL, as `--to` names it, or to a sink, which stays open. Raises SinkError,
        DeliveryFailed."""
        layout = self.job.codec.layout
        with ExitStack() as opened:
            sink = to
            if isinstance(sink, str):
                url = open_sink(sink, container=layout.container, properties=layout.rabbitmq)
                sink = opened.enter_context(url)
            for batch in self._batches:
                sink.send(batch)
            sink.flush()

    def _sent(self) -> dict[TableId, set[Key]]:
        """The keys of the rows that changes left behind, under the last names of their tables."""
        keys: dict[TableId, set[Key]] = {}
        items: list[RowChange | SchemaChange] = [*self.changes]
        items += [event for block in self._blocks for event in block.events if isinstance(event, SchemaChange)]
        for item in sorted(items, key=lambda item: item.order):
            if isinstance(item, RowChange):
                if item.after is not None:
                    keys.setdefault(item.table, set()).add(_key(item.key, item.after))
            elif item.before is not None and item.after is not None and item.before.id in keys:
                keys[item.after.id] = keys.pop(item.before.id)
        return keys

    @cached_property
    def _blocks(self) -> list[Block]:
        return [self.job.stream.read_block(where) for where in self.plan.all_blocks()]

    @cached_property
    def _batches(self) -> list[MessageBatch]:
        batches = map(self.job.renderer().render, self._blocks)
        return [batch for batch in batches if batch is not None]

    @cached_property
    def _tables(self) -> list[tuple[Table, list[Row]]]:
        assert self.plan.stop is not None
        return list(tables_before(self.job.stream, self.plan.stop, self._texts))

    @property
    def _texts(self) -> Source | None:
        return None if self.typed else self.job.stream.source


def _key(columns: tuple[str, ...], row: Mapping[str, object]) -> Key:
    """What a row is known by: its key, or all of it; documents and arrays as their text."""
    return tuple(repr(row.get(name)) for name in columns or row)


def _opened(
    scenario: str | Path,
    format: str,
    broker: Broker,
    source: str | None,
    seed: int | None,
    settings: Mapping[str, object] | None,
    allow_undocumented: bool,
    *,
    force: bool = False,
    sql_engine: str | None = None,
) -> Job:
    """The job, of checked arguments. Raises UsageError."""
    if not isinstance(scenario, str | Path):
        raise UsageError(f"scenario is {scenario!r}: it is a file, or the name of a shipped one such as 'orders'.")
    if not isinstance(format, str):
        raise UsageError(f"format is {format!r}: it is a text such as 'canal-json' or 'dts-canal-json,frac=pad'.")
    _check_texts(source=source, sql_engine=sql_engine)
    if broker not in (brokers := get_args(Broker)):
        raise UsageError(f"broker is {broker!r}: it is one of {', '.join(map(repr, brokers))}.")
    return open_job(
        scenario,
        format,
        source=source,
        seed=_whole("seed", seed),
        broker=broker,
        allow_undocumented=allow_undocumented,
        force=force,
        sql_engine=sql_engine,
        settings=_settings(settings),
    )


def _check_end(job: Job, limits: Limits) -> None:
    if job.stream.turns is None and limits.changes is None and limits.turns is None:
        raise UsageError(f"{job.scenario.file} has no end: give a limit of row changes, or turns.")


def _limits(start_at: int, limit: int | None, turns: int | None, seconds: float | None = None) -> Limits:
    return Limits(_whole("start_at", start_at) or 0, _whole("limit", limit), _whole("turns", turns), seconds)


def _check_texts(**arguments: str | None) -> None:
    """Raises UsageError for what is neither a text nor None."""
    for name, value in arguments.items():
        if value is not None and not isinstance(value, str):
            raise UsageError(f"{name} is {value!r}: it is a text.")


def _whole(name: str, value: int | None, low: int = 0) -> int | None:
    """The argument, checked. Raises UsageError."""
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < low):
        raise UsageError(f"{name} is {value!r}: it is a whole number from {low} on.")
    return value


def _settings(settings: Mapping[str, object] | None) -> tuple[str, ...]:
    """As `--set` has them: yes, no and null as scenarios spell them. Raises UsageError."""
    if settings is not None and not isinstance(settings, Mapping):
        raise UsageError(f'settings is {settings!r}: it is a mapping, such as {{"tables.users.rows": 1000}}.')
    words = {True: "yes", False: "no", None: "null"}
    return tuple(
        start_setting("now")
        if (key, value) == ("start", "now")
        else f"{key}={words[value] if value is None or isinstance(value, bool) else value}"
        for key, value in (settings or {}).items()
    )
