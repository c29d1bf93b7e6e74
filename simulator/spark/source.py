"""The PySpark data source `cdcsim`: messages, changes and rows as DataFrames, and as a stream.

    spark.dataSource.register(CdcSimDataSource)
    spark.read.format("cdcsim").options(scenario="orders", format="canal-json", limit=100_000).load()

README.md lists the options.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    EqualTo,
    Filter,
    In,
    InputPartition,
)
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from simulator.errors import OptionError, UsageError
from simulator.model import Table
from simulator.run.bookmark import difference
from simulator.run.job import Job, Partitions
from simulator.run.plan import Limits, Plan, plan
from simulator.run.session import identity
from simulator.sinks.columns import MESSAGES
from simulator.sinks.memory import MemorySink
from simulator.spark import rows
from simulator.spark.images import Images
from simulator.spark.options import BATCH, STREAM, STREAMS, Options, parse
from simulator.spark.work import Work, opened, work
from simulator.stream.engine.block import SnapshotBlock, Stream
from simulator.truth.known import KnownRows
from simulator.truth.ledger import KeyLedger, with_positions
from simulator.truth.partitions import SCHEMA, PartitionLedger

# Default number of cores that the number of Spark partitions is computed for; `tasks` overrides it.
CORES: Final = 8
# Views of a table before a turn.
BEFORE_TURN: Final = ("state", "ledger")
# Columns of the view partitions: a ledger for each task.
PARTITIONS: Final = pa.schema([("task", pa.int32()), *SCHEMA])


class CdcSimDataSource(DataSource):
    """`spark.read.format("cdcsim")` and `spark.readStream.format("cdcsim")`."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._given = parse(dict(options))
        self._job = self._given.job()
        if self._job.failure is not None:  # a part of a script is no table
            raise self._job.failure

    @classmethod
    def name(cls) -> str:
        return "cdcsim"

    def schema(self) -> StructType:
        return from_arrow_schema(self._view().schema)

    def reader(self, schema: StructType) -> DataSourceReader:
        self._given.check_read(BATCH)
        if self._given.view in BEFORE_TURN:
            return Batch(self._view(), self._before_turn())
        return (FilteredBatch if self._given.get("pushdown") else Batch)(self._view(), self._work())

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        if self._given.view not in STREAMS:
            raise UsageError(f"option 'view': {self._given.view} is no stream; read it with spark.read.")
        self._given.check_read(STREAM)
        return Live(self._view(), self._job, self._given, self._plan(), self._identity())

    def _identity(self) -> dict[str, str]:
        """Properties that decide the rows of a stream: a checkpoint does not continue with other ones."""
        given = self._given
        named = {name: given.values[name] for name in ("table", "topic") if name in given.values}
        partitions = str(given.get("partitions", 1))
        return identity(
            self._job,
            given.limits(),
            {"destination": "spark", "view": given.view, **named, "partitions": partitions},
            snapshot=given.get("snapshot"),
        )

    def _view(self) -> View:
        given, stream = self._given, self._job.stream
        if given.view == "messages":
            return View("messages", MESSAGES)
        if given.view == "partitions":
            return View("partitions", PARTITIONS)
        versions = given.versions(stream, stream.border(self._turn() if given.view in BEFORE_TURN else self._first()))
        if given.view == "state":
            return View("state", Images(self._job, versions[:1]).schema, (versions[0],))
        if given.view == "ledger":
            ledger = key_ledger(self._job, versions[0])
            if not ledger.has_key:
                raise OptionError(f"option 'table': {versions[0].id} has no key that a consumer knows.")
            return View("ledger", with_positions(ledger.schema.empty_table()).schema, (versions[0],))
        return View("changes", rows.change_schema(Images(self._job, versions)), tuple(versions))

    def _first(self) -> int:
        return int(self._given.get("start_at", 0))

    def _plan(self) -> Plan:
        return self._job.plan(self._given.limits(), snapshot=self._given.get("snapshot"))

    def _work(self) -> Work:
        self._job.check_end(self._given.limits())
        planned = self._plan().counted()
        planned.check_reach()
        blocks = tuple(planned.snapshot_blocks())
        return work(pickle.dumps(self._job), planned, blocks, tasks=self._given.get("tasks"), cores=CORES)

    def _turn(self) -> int:
        """The turn before which the view `state` shows the rows; for a script its end. Raises OptionError."""
        turn: int | None = self._given.get("turn", self._job.stream.turns)
        if turn is None:
            raise OptionError(f"option 'turn' is missing: {self._job.stream.file} has no end.")
        return turn

    def _before_turn(self) -> Work:
        """The rows of a table before a turn: a snapshot without a stream; for a ledger the turns before it, too."""
        stream = self._job.stream
        table = self._view().versions[0]
        planned = plan(stream, Limits(self._turn(), turns=0), snapshot=True)
        tables = stream.tables_at(planned.first) or tuple(table for table, _ in stream.rows_at(planned.first))
        ids = [version.id for version in tables]
        blocks = [block for block in planned.snapshot_blocks() if ids[block.part.table] == table.id]
        if self._given.view == "ledger":
            planned = Plan(stream, 0, planned.first, stream.block_turns)
        return work(pickle.dumps(self._job), planned, tuple(blocks), tasks=self._given.get("tasks"), cores=CORES)


def key_ledger(job: Job, table: Table) -> KeyLedger:
    return KeyLedger(table, job.source, KnownRows(job.format, job.codec, job.unsent) if job.format else None)


@dataclass(frozen=True)
class View:
    """View of a task's blocks as rows; `versions`: of the table that it shows."""

    name: str
    schema: pa.Schema
    versions: tuple[Table, ...] = ()
    only: rows.Only = field(default_factory=dict)

    def filtered(self, filters: Iterable[Filter]) -> tuple[View, list[Filter]]:
        """The view with the filters that it applies itself (on operations, kinds and topics), and the remaining
        filters."""
        only, unsupported = dict(self.only), []
        columns = {"messages": ("kind", "topic"), "changes": ("op",)}.get(self.name, ())
        for condition in filters:
            match condition:
                case EqualTo((name,), value) if name in columns:
                    values = frozenset([value])
                case In((name,), several) if name in columns:
                    values = frozenset(several)
                case _:
                    unsupported.append(condition)
                    continue
            only[name] = only.get(name, values) & values
        return replace(self, only=only), unsupported

    def read(self, todo: Work, task: int) -> Iterator[pa.RecordBatch]:
        job, share = todo.open(), todo.share(task)
        if self.name == "messages":
            sink, renderer = Client(job.addressing.partitions), job.renderer()
            for where in share.all_blocks():
                if (batch := renderer.render_block(where)) is not None:
                    yield from rows.messages(sink.place(batch), self.only)
            return
        if self.name == "partitions":
            counted, renderer = PartitionLedger(job.addressing.partitions), job.renderer()
            for where in share.all_blocks():
                if (batch := renderer.render_block(where)) is not None:
                    counted.send(batch)
            part = counted.table()
            yield from part.add_column(0, "task", pa.array([task] * len(part), pa.int32())).to_batches()
            return
        if self.name == "ledger":
            ledger = key_ledger(job, self.versions[0])
            for where in share.all_blocks():
                if isinstance(where, SnapshotBlock):
                    entries = [ledger.of_rows(job.stream.snapshot_rows(where)[1])]
                else:
                    entries = list(ledger.of_changes(job.stream.read_block(where)))
                if entries:
                    yield from with_positions(ledger.added_up(entries)).combine_chunks().to_batches(rows.BATCH_ROWS)
            return
        table, images = self.versions[0], Images(job, self.versions)
        for where in share.all_blocks():
            if self.name == "changes":
                yield from rows.changes(job.stream.read_block(where), table, images, self.schema, self.only)
            else:
                assert isinstance(where, SnapshotBlock)
                version, columns = job.stream.snapshot_rows(where)
                yield from rows.rows(columns, version, images)


class Client(MemorySink):
    """Chooses partitions where the product leaves that to the client."""

    def __init__(self, partitions: Partitions) -> None:
        super().__init__()
        self._counts = partitions

    def partitions(self, topic: str) -> int:
        return self._counts(topic)


class Batch(DataSourceReader):
    """A read with an end."""

    def __init__(self, view: View, work: Work) -> None:
        self.view, self.work = view, work

    def partitions(self) -> Sequence[InputPartition]:
        return [InputPartition(task) for task in range(self.work.tasks)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self.view.read(self.work, partition.value)


class FilteredBatch(Batch):
    """A read whose tasks apply filters. Spark refuses one unless `spark.sql.python.filterPushdown.enabled` is true."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        self.view, left = self.view.filtered(filters)
        return left


class Live(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """A streaming read. An offset is a turn, whether the snapshot has been read, and the identity of the stream;
    Spark's checkpoint stores it.

    The clock decides how far a batch goes, and never what is in it: a batch that Spark asks for again is the same.
    """

    def __init__(self, view: View, job: Job, given: Options, plan: Plan, identity: Mapping[str, str]) -> None:
        self.view, self.job, self.identity = view, pickle.dumps(job), dict(identity)
        self.first, self.step, self.unit = plan.first, plan.step, plan.unit
        self.tasks = given.get("tasks")
        self.rate = given.get("rate")
        self.most: int | None = given.get("changes_per_batch")
        # a limit of changes alone decides by itself how far a batch goes
        self.turns = given.get("turns_per_batch") or (plan.step if self.most is None else max(plan.step, self.most))
        self.end = plan.counted().stop if plan.changes is not None else plan.stop
        self.blocks = tuple(plan.snapshot_blocks())
        self.asked: float | None = None
        self.allowed = 0.0  # row changes that the rate allows and no batch has had

    def initialOffset(self) -> dict[str, Any]:
        return self._offset(self.first, snapshot=not self.blocks)

    def _offset(self, turn: int, *, snapshot: bool) -> dict[str, Any]:
        return {"turn": turn, "snapshot": snapshot, "run": self.identity}

    def _check(self, offset: Mapping[str, Any]) -> None:
        """Raises UsageError for the offset of another stream."""
        if "run" not in offset:
            raise UsageError("another version of cdcsim wrote the query's checkpoint: name another checkpointLocation.")
        if (differing := difference(offset["run"], self.identity)) is not None:
            raise UsageError(
                f"the query's checkpoint is of another stream: {differing}; give the same again, or another"
                " checkpointLocation."
            )

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadAllAvailable() if self.most is None else ReadMaxRows(self.most)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        """The end of the next batch: `turns_per_batch` on, or what `rate` allows for the time since the last call (the
        first time: a second), and no more than `changes_per_batch`."""
        self._check(start)
        stream, turn = opened(self.job).stream, int(start["turn"])
        most = min(self.most, limit.max_rows) if self.most and isinstance(limit, ReadMaxRows) else self.most
        if self.rate is None:
            end = stream.border(turn + self.turns)
        else:
            now = time.monotonic()
            self.allowed += self.rate * (1.0 if self.asked is None else now - self.asked)
            self.asked = now
            changes = int(self.allowed)
            end = plan(stream, Limits(turn, changes=changes), snapshot=False).counted().stop or turn
            self.allowed -= changes
        if most is not None:
            end = _within(stream, turn, end, most)
        # messages that belong together are of one batch
        end = stream.border(-(-end // self.unit) * self.unit)
        return self._offset(end if self.end is None else min(end, max(self.end, turn)), snapshot=True)

    def prepareForTriggerAvailableNow(self) -> None:
        if self.end is None:
            raise UsageError("availableNow reads a stream to its end: give the option 'limit' or 'turns'.")

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        self._check(start)
        first, stop = int(start["turn"]), int(end["turn"])
        planned = Plan(opened(self.job).stream, first, stop, self.step, unit=self.unit)
        rows = self.blocks if end["snapshot"] and not start["snapshot"] else ()
        if first == stop and not rows:
            return []
        todo = work(self.job, planned, rows, tasks=self.tasks, cores=CORES)
        return [InputPartition((first, stop, todo.step, bool(rows), todo.tasks, task)) for task in range(todo.tasks)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        first, stop, step, snapshot, tasks, task = partition.value
        return self.view.read(Work(self.job, first, stop, step, self.blocks if snapshot else (), tasks), task)


def _within(stream: Stream, first: int, stop: int, most: int) -> int:
    """The last transaction border up to `stop` with at most so many row changes behind `first`; where a single
    transaction has more, its end."""
    low, high, step = first, first, 1024
    while high < stop and (counted := stream.count(low, high := min(stop, stream.border(low + step)))).sum() <= most:
        most, low, step = most - int(counted.sum()), high, 2 * step
    if low == high:
        return stop
    turn = low + int(np.searchsorted(np.cumsum(counted), most, side="right"))
    while turn > low and stream.border(turn) != turn:
        turn -= 1
    return turn if turn > first else min(stop, stream.border(first + 1))
