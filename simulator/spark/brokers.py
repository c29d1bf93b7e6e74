"""Runs into a broker: window by window, each rendered, brought to the senders of its broker partitions, and sent.

A task renders its share and hands on, for each block and each topic and partition, the messages as one Arrow buffer.
Spark brings buffers to the sender of their partition and sorts them by task and block, which is stream order.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final
from zlib import crc32

import pyarrow as pa

from simulator.batch import MESSAGE_SCHEMA, MessageBatch
from simulator.errors import DeliveryFailed, SimulatorError, UsageError
from simulator.run.job import Job
from simulator.run.pipeline import Summary
from simulator.run.session import share_run
from simulator.sinks import parse_target
from simulator.sinks.ledger import Ints, Parcel, Place
from simulator.sinks.ledger import Progress as Sends
from simulator.sinks.sink import Sink
from simulator.sinks.target import Contents
from simulator.spark.engine import Progress, SparkRun, joined, total
from simulator.spark.jobs import Buffer, Stopped, Tasks, task_context
from simulator.spark.work import Work

# Blocks that a task renders and holds at once, and tasks of a window per core.
BLOCKS_A_TASK = 4
TASKS_A_CORE = 2
# Part number of a task's summary, which comes before all messages.
SUMMARY: Final = -1


class BrokerRun(SparkRun):
    """A run into a broker. A stopped run ends after the window that is being sent.

    Windows follow each other, and within one each broker partition has one sender: so a partition has its messages in
    stream order, but for those that a task sends again which takes the place of one that died.
    """

    blocks_a_task = BLOCKS_A_TASK

    def __init__(self, session: Any, job: Job, to: Broker, **options: Any) -> None:
        if session.conf.get("spark.speculation", "false") == "true":
            raise UsageError(
                "spark.speculation: two tasks at once would send the same messages, in no order; set it to false for "
                "runs into a broker."
            )
        super().__init__(session, job, **options)
        self._to = to
        self._sends: dict[Place, Sends] = {}
        self._repeated: Counter[Place] = Counter()

    def cancels(self) -> bool:
        return False

    def run(self) -> None:
        todo = self.work()
        self.summary = Summary(todo.first, todo.first)
        with self._to.open() as sink:
            senders = self._senders(sink.partitions)
        window = TASKS_A_CORE * self.jobs.cores
        for first in range(0, todo.tasks, window):
            tasks = range(first, min(first + window, todo.tasks))
            self.progress = Progress(todo, Tasks(first, len(tasks), todo.tasks))
            self._add(todo, tasks, self._send(todo, tasks, senders))
            if self.stop and tasks.stop < todo.tasks:
                raise Stopped

    def watch(self, tasks: Tasks) -> None:
        """Watches the tasks; messages rendered in a window count when they are sent."""
        super().watch(self.progress.tasks if self.progress is not None else tasks)

    def _senders(self, partitions: Any) -> int:
        """As many as there are broker partitions of the tables, and no more than tasks that run at once."""
        router = self.job.renderer(partitions).router
        topics = {router.topics.of(table.id) for table in self.job.stream.first_tables}
        return max(1, min(sum(map(router.count, topics)), self.jobs.cores))

    def _send(self, todo: Work, tasks: range, senders: int) -> list[Sent]:
        return self.jobs.exchange(partial(render, self._to, todo, senders), tasks, partial(send, self._to), senders)

    def _add(self, todo: Work, tasks: range, sent: Iterable[Sent]) -> None:
        """Account for a window. Raises DeliveryFailed."""
        sent = list(sent)
        summary = total(todo, [self.summary, *(part for each in sent for part in each.rendered)])
        done = [progress for each in sent for progress in each.progress]
        share = todo.share(tasks[-1])
        # what was rendered counts as sent and delivered when the senders say so
        self.summary = replace(
            summary,
            next_turn=share.block(share.numbers[-1]).stop if share.numbers else todo.first,
            delivered=self.summary.delivered + sum(each.delivered for each in done),
            failed=self.summary.failed + sum(each.failed for each in done),
        )
        self._count_repeated(sent)
        for progress in done:
            place = progress.topic, progress.partition
            before = self._sends.get(place)
            self._sends[place] = progress if before is None else joined(before, progress)
        if failures := [each.failure for each in sent if each.failure is not None]:
            missing = self.summary.messages - self.summary.delivered
            self.summary.failed = missing
            raise DeliveryFailed(failures[0]) if self.summary.delivered else SimulatorError(failures[0])

    def _count_repeated(self, sent: Iterable[Sent]) -> None:
        """Counts messages that may have been sent before: by tasks that died, by a stage that was begun anew, and over
        connections that broke."""
        for each in sent:
            before = each.attempts + self.jobs.again
            self._repeated.update({(p.topic, p.partition): before * p.sent for p in each.progress})
            self._repeated.update({(topic, partition): count for topic, partition, count in each.repeated})
        self.summary.count_repeated(self._repeated)

    def partitions(self) -> Iterable[tuple[Sends, dict[str, Any]]]:
        return ((each, {}) for _, each in sorted(self._sends.items()))


@dataclass(frozen=True, slots=True)
class Broker:
    """Destination of the messages: a URL, and the properties of the messages that the sink must know. Each process
    parses the URL, since it may name secrets of the machine."""

    url: str
    contents: Contents = field(default_factory=Contents)

    def open(self) -> Sink:
        return parse_target(self.url).open(self.contents)


class Outbox(Sink):
    """Messages as buffers, for each block and partition. Partitions are chosen as the broker's sink does."""

    def __init__(self, broker: Sink, task: int, senders: int) -> None:
        super().__init__()
        self.topic_pattern = broker.topic_pattern
        self.buffers: list[Buffer] = []
        self._broker, self._task, self._senders = broker, task, senders
        self._block = 0

    def partitions(self, topic: str) -> int:
        return self._broker.partitions(topic)

    def choose(self, keys: pa.Array, turns: Ints, count: int) -> Ints:
        return self._broker.choose(keys, turns, count)

    def write(self, batch: MessageBatch, parcels: Sequence[Parcel], *, whole: bool) -> None:
        for number, parcel in enumerate(parcels):
            key = sender(parcel.topic, parcel.partition, self._senders), (self._task, self._block, number)
            self.buffers.append((key, packed(batch.columns.take(pa.array(parcel.rows)))))
            self.ledger.acknowledge_parcel(parcel)
        self._block += 1


def sender(topic: str, partition: int, senders: int) -> int:
    """Number of the sender of a partition: consecutive partitions have consecutive senders."""
    return (crc32(topic.encode()) + partition) % senders


def packed(rows: pa.RecordBatch) -> bytes:
    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, MESSAGE_SCHEMA, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_batch(rows)
    return bytes(out.getvalue())


def unpacked(buffer: bytes) -> Iterator[MessageBatch]:
    with pa.ipc.open_stream(buffer) as stream:
        yield from map(MessageBatch, stream)


def render(broker: Broker, work: Work, senders: int, task: int) -> list[Buffer]:
    """A task's share as buffers, after a summary of it."""
    with broker.open() as sink:
        outbox = Outbox(sink, task, senders)
        summary = share_run(work.open(), work.share(task), outbox)()
    return [((task % senders, (SUMMARY, task, 0)), pickle.dumps(summary)), *outbox.buffers]


@dataclass(frozen=True, slots=True)
class Sent:
    """Result of a sender. The `attempts` before it may have sent all of it; `repeated` has the messages that this one
    sent again itself, by topic and partition."""

    rendered: list[Summary]
    progress: list[Sends] = field(default_factory=list)
    attempts: int = 0
    repeated: list[tuple[str, int, int]] = field(default_factory=list)
    failure: str | None = None


def send(broker: Broker, buffers: Iterable[Buffer]) -> Iterator[Sent]:
    """Sends the buffers in their order.

    What the broker refuses is part of the account, and is not tried again. A task that dies is: Spark gives another one
    all of its buffers, so that what the first one sent is there twice.
    """
    attempts = task_context().attemptNumber()
    rendered: list[Summary] = []
    sink: Sink | None = None
    failure: str | None = None
    try:
        for (_, (kind, _, _)), content in buffers:
            if kind == SUMMARY:
                rendered.append(pickle.loads(content))
                continue
            sink = sink or broker.open()
            for batch in unpacked(content):
                sink.send(batch)
        if sink is not None:
            sink.flush()
    except SimulatorError as error:
        failure = str(error)
    finally:
        if sink is not None:
            sink.close()
    progress = [] if sink is None else sink.ledger.progress()
    repeated = [] if sink is None else [(*place, count) for place, count in sink.ledger.repeated.items()]
    yield Sent(rendered, progress, attempts, repeated, failure)
