"""Functions of the package for its users: messages, the changes behind them, the resulting rows, and publishing.

All of them take a scenario (a file, or the name of a shipped one) and the options of `cdcsim run` under the same names
(`simulator.options`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeAlias, Unpack

from simulator.batch import MessageBatch
from simulator.errors import UsageError
from simulator.model import Message, RowChange, SchemaChange, Table, TableId
from simulator.options import PublishOptions, RunOptions, ScenarioOptions, about_of, of, subject_of, takes
from simulator.run.job import SINGLE_TURNS, Job, Partitions, changes_of, job_of
from simulator.run.pipeline import Run
from simulator.run.plan import Plan
from simulator.run.request import Sending, Span, check_texts, check_whole
from simulator.run.session import check_contents, contents_of, limits_of, open_session
from simulator.run.summary import Summary
from simulator.sinks import broker_of, parse_target
from simulator.sinks.sink import Sink
from simulator.sources.source import Source
from simulator.stream.engine.block import Block
from simulator.truth.expected import as_table
from simulator.truth.known import KnownRows
from simulator.truth.rows import Row, changes, tables_before
from simulator.truth.verify.findings import EXAMPLES, Verdict
from simulator.truth.verify.tables.cells import find_preset, parse_tolerance
from simulator.truth.verify.tables.comparer import ExpectedTable, TableVerdict
from simulator.truth.verify.tables.following import Follower, Patience, parse_patience
from simulator.truth.verify.tables.positions import compare_tables, expected_tables, only, opened
from simulator.truth.verify.tables.positions import verify_tables as verify_places
from simulator.truth.verify.verify import verify_job

Key: TypeAlias = tuple[str, ...]


@takes(RunOptions)
def messages(
    scenario: str | Path, format: str, *, partitions: int = 1, **options: Unpack[RunOptions]
) -> Iterator[Message]:
    """Messages of a scenario, one by one: `messages("orders", "canal-json", limit=20)`.

    They are generated a block at a time, on demand; closing the iterator stops the work. A script ends by itself, other
    scenarios need `limit` or `turns`. `partitions` is what the router assumes of topics. Raises UsageError at once; the
    error that ended a SQL script is raised after its messages.
    """
    job, span = _ending(scenario, format, options, partitions=partitions)
    return job.messages(limits_of(span), snapshot=span.snapshot)


@takes(PublishOptions)
def publish(
    scenario: str | Path,
    format: str,
    to: str | Path | Sink,
    *,
    workers: int = 1,
    report: Callable[[Run], None] | None = None,
    **options: Unpack[PublishOptions],
) -> Summary:
    """Generate, encode and send: `publish("orders", "canal-json", "kafka://localhost:9092/cdc", limit=10_000)`.

    `to` is a URL as `--to` takes it, a `Path` of a folder or of a `.jsonl` file, or a sink, which stays open. `workers`
    processes render, if more than one. `report` is called with the run about twice a second; its `stop`, set to True,
    ends the run. Spark runs jobs as its data source. Raises UsageError before anything is sent, SinkError, and
    DeliveryFailed.
    """
    check_whole("workers", workers, 1)
    session = open_session(
        subject_of(scenario, format, options), of(Span, options), of(Sending, options, to), about_of(options)
    )
    outcome = session.run(workers=workers, report=report)
    if outcome.failure is not None:
        raise outcome.failure
    return outcome.summary


@takes(RunOptions)
def simulate(
    scenario: str | Path,
    format: str,
    *,
    topic: str | None = None,
    partitions: int = 1,
    typed: bool = False,
    **options: Unpack[RunOptions],
) -> Simulation:
    """A run kept in memory, for tests: `simulate("orders", "canal-json", limit=20).expected["shop.orders"]`.

    `topic` is a topic or a pattern of topics (`{database}.{table}`; default: the product's), `partitions` what the
    router assumes of topics. Values of rows are texts as the database's client prints them; with `typed` they are
    Python's: int, Decimal, bytes, datetime …; MySQL's zero and partial dates stay texts. Raises UsageError, also where
    neither `limit` nor the scenario ends it.
    """
    job, span = _ending(scenario, format, options, topic=topic, partitions=partitions)
    plan = job.plan(limits_of(span), snapshot=span.snapshot, most_turns=SINGLE_TURNS)
    return Simulation(job, plan.counted(), typed)


@takes(RunOptions)
def verify(
    scenario: str | Path,
    format: str,
    origin: str | Path,
    *,
    at_least_once: bool = False,
    examples: int = EXAMPLES,
    **options: Unpack[RunOptions],
) -> Verdict:
    """Whether messages that are read back are those of a run: `verify("orders", "canal-json", "file:out", limit=1000)`.

    `origin` is a URL as `--to` takes it (Kafka, files, Parquet) or the path of a folder or file; the options say what
    was sent, as `publish` has them. With `at_least_once`, stretches that come again up to where the stream goes on are
    no findings, and neither are `faults` of the run that a correct consumer survives. The verdict counts all findings
    by kind and keeps `examples` of each. Raises UsageError, also where nothing that is read is expected (another
    scenario, seed or format), and SinkError.
    """
    check_whole("examples", examples)
    span = of(Span, options)
    url = f"file:{origin}" if isinstance(origin, Path) else origin
    if not isinstance(url, str):
        raise UsageError(f"origin is {origin!r}: it is a URL or a Path.")
    job = job_of(subject_of(scenario, format, options), broker_of(url))
    return verify_job(job, url, span, at_least_once=at_least_once, examples=examples)


@takes(ScenarioOptions)
def verify_tables(
    scenario: str | Path,
    output: str | Path | Sequence[str],
    *,
    at: int | None = None,
    format: str | None = None,
    tolerate: Sequence[str] = (),
    preset: str | None = None,
    follow: str | None = None,
    quiet: str | None = None,
    reached: str | None = None,
    examples: int = EXAMPLES,
    **options: Unpack[ScenarioOptions],
) -> list[TableVerdict]:
    """Whether a consumer's tables hold the rows before turn `at` (None: those at the end of a script): a verdict each.

    `output` is one or more of: a file `.parquet`, `.csv` or `.jsonl` named for its table or given as `orders=FILE`, a
    folder of them, `sqlite:FILE`, `mysql://USER@HOST/DATABASE`, `postgresql://…`, `duckdb:FILE`. With a `format`, what
    its messages lose is not expected. `tolerate` compares columns less strictly: `total=round:2`, `*_at=ms`,
    `orders.note=trim`, `seen_at=zone:+08:00`, `name=nocase`, `loaded_at=ignore`;
    `preset` allows what the types of a sink cannot hold: `connect-jdbc`, `flink`, `doris`, `clickhouse`.

    With `follow`, the longest wait (`10m`), the consumer may still run: its tables are read until they are right or
    unchanged for `quiet` (`30s`), and verdicts tell rows that wait for later changes (`behind`) from wrong ones.
    `reached` names the column that says what is applied: `turn:COLUMN` or `time:COLUMN`; default: the newest change
    that is visible. Raises UsageError for tables and columns that are not there, SinkError.
    """
    check_whole("at", at)
    check_whole("examples", examples)
    places = [str(output)] if isinstance(output, str | Path) else list(output)
    subject = subject_of(scenario, format or "", options)
    job = job_of(subject) if format else changes_of(subject)
    tolerances = [*([] if preset is None else [find_preset(preset)]), *map(parse_tolerance, tolerate)]
    patience = _patience(follow, quiet, reached)
    return verify_places(job, places, at, tolerances=tolerances, patience=patience, examples=examples)


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
        row_changes = [
            change for block in self._blocks for batch in block.batches for change in changes(batch, self._texts)
        ]
        return sorted(row_changes, key=lambda change: change.order)

    @cached_property
    def expected(self) -> dict[str, list[Row]]:
        """The rows, by table (`shop.orders`), of a consumer that began with nothing and applied all messages.

        After a snapshot these are all rows of the tables, else those that a change was about (of a table without a key:
        those that look like one of a change).
        """
        assert self.plan.stop is not None
        sent = None if self.plan.snapshot else self._sent(self.plan.stop)
        return {
            str(table.id): [
                row for row in rows if sent is None or _key(table.primary_key, row) in sent.get(table.id, ())
            ]
            for table, rows in self._tables
        }

    @property
    def keys(self) -> dict[str, tuple[str, ...]]:
        """The columns of each table's primary key after the last change."""
        return {str(table.id): table.primary_key for table, _ in self._tables}

    @property
    def tables(self) -> dict[str, Table]:
        """Each table with its columns, their types and its key after the last change."""
        return {str(table.id): table for table, _ in self._tables}

    def send(self, to: str | Sink) -> None:
        """Send the messages to a URL, as `--to` names it, or to a sink, which stays open. A topic that it names takes
        the place of the run's. Raises SinkError, DeliveryFailed."""
        deliver(self.job, lambda job: self._batches if job is self.job else self._rendered(job), to)

    def verify(
        self,
        output: str | Path | Mapping[str, Iterable[Mapping[str, Any]]],
        *,
        tolerate: Sequence[str] = (),
        follow: str | None = None,
        quiet: str | None = None,
        reached: str | None = None,
    ) -> list[TableVerdict]:
        """Whether a consumer that began with nothing holds the right rows after all messages: a verdict for each table.

        `output` is a folder or database that has all tables (see `verify_tables`), or rows by table (`shop.orders`, or
        `orders`) as mappings, whose values are texts as the database's client prints them, or Python's. `tolerate`,
        `follow`, `quiet` and `reached` are as `verify_tables` has them. Raises UsageError for tables and columns that
        are not there, SinkError.
        """
        tolerances = [parse_tolerance(text) for text in tolerate]
        patience, stream, stop = _patience(follow, quiet, reached), self.job.stream, self.plan.stop
        assert stop is not None
        if patience is None:
            return compare_tables(stream, stop, expected_of(self), output, tolerances)
        if isinstance(output, Mapping):
            raise UsageError("follow is about tables that a consumer writes to: name their folder or database.")
        tables = opened([str(output)], expected_of(self))
        known = KnownRows(self.job.format, self.job.codec, self.job.unsent)
        before = partial(expected_of, self)
        return Follower(stream, stop, tables, before, known=known, tolerances=tolerances, patience=patience).follow()

    def _is_sent(self, keys: set[Key], names: tuple[str, ...]) -> Callable[[ExpectedTable, Sequence[Any]], list[bool]]:
        def mask(table: ExpectedTable, arrays: Sequence[Any]) -> list[bool]:
            own = [i for i, column in enumerate(table.columns) if not names or column.name in names]
            rows = as_table([table.columns[i] for i in own], [arrays[i] for i in own], self._texts).to_pylist()
            return [_key(names, row) in keys for row in rows]

        return mask

    def _sent(self, turn: int) -> dict[TableId, set[Key]]:
        """Keys of the rows that exist after the changes before a turn, by the last name of their table."""
        keys: dict[TableId, set[Key]] = {}
        items: list[RowChange | SchemaChange] = [*self.changes]
        items += [event for block in self._blocks for event in block.events if isinstance(event, SchemaChange)]
        for item in sorted((item for item in items if item.order.turn < turn), key=lambda item: item.order):
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
        return self._rendered(self.job)

    def _rendered(self, job: Job) -> list[MessageBatch]:
        batches = map(job.renderer().render, self._blocks)
        return [batch for batch in batches if batch is not None]

    @cached_property
    def _tables(self) -> list[tuple[Table, list[Row]]]:
        assert self.plan.stop is not None
        return list(tables_before(self.job.stream, self.plan.stop, self._texts))

    @property
    def _texts(self) -> Source | None:
        return None if self.typed else self.job.stream.source


def expected_of(run: Simulation, turn: int | None = None) -> list[ExpectedTable]:
    """The rows of `Simulation.expected` in columns, as far as a consumer of the format can know them; those before an
    earlier turn, if it is given."""
    assert run.plan.stop is not None
    turn = run.plan.stop if turn is None else turn
    tables = expected_tables(run.job.stream, turn, KnownRows(run.job.format, run.job.codec, run.job.unsent))
    if run.plan.snapshot:
        return tables
    sent, keys = run._sent(turn), run.keys
    return [only(table, run._is_sent(sent.get(table.id, set()), keys.get(str(table.id), ()))) for table in tables]


def deliver(job: Job, rendered: Callable[[Job], Iterable[MessageBatch]], to: str | Sink) -> None:
    """Sends what `rendered` makes of a job to a URL or an open sink, whose topic is that of the job if it names one.
    Raises UsageError, SinkError, DeliveryFailed."""
    with ExitStack() as stack:
        sink = to
        if isinstance(sink, str):
            target = parse_target(sink)
            check_contents(job, target, envelope=False)
            sink = stack.enter_context(target.open(contents_of(job)))
        if sink.topic_pattern not in (None, job.addressing.topic):
            job = job.to_topic(sink.topic_pattern)
        for batch in rendered(job):
            sink.send(batch)
        sink.flush()


def _key(columns: tuple[str, ...], row: Mapping[str, object]) -> Key:
    """Identity of a row: its key, or all columns without one; documents and arrays as their text."""
    return tuple(repr(row.get(name)) for name in columns or row)


def _patience(follow: str | None, quiet: str | None, reached: str | None) -> Patience | None:
    """Returns the patience with which tables are followed; None: they are not. Raises UsageError."""
    if follow is not None:
        return parse_patience(follow, quiet, reached)
    if quiet is not None or reached is not None:
        raise UsageError("quiet and reached go with follow, the longest wait.")
    return None


def _ending(
    scenario: str | Path, format: str, options: RunOptions, *, topic: str | None = None, partitions: int
) -> tuple[Job, Span]:
    """The job and the span of a run in memory. Raises UsageError if it has no end."""
    subject, span = subject_of(scenario, format, options), of(Span, options)
    check_texts(topic=topic)
    check_whole("partitions", partitions, 1)
    job = job_of(subject).addressed(route=span.route, topic=topic, partitions=Partitions(partitions))
    job.check_end(limits_of(span))
    return job.starting(limits_of(span)), span
