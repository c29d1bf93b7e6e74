"""Runs into a broker: window by window, in tasks that run at once, render blocks in turns and send them in their order.

Of T tasks, task c has the shares c, c + T, c + 2T and so on of a window. It renders a share and keeps it in groups of
broker partitions. A group is sent when the task of the share before has sent its own messages of that group, and says
so: the permission to send a group goes round the tasks, and as many send at once as there are groups.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final
from zlib import crc32

import pyarrow as pa

from simulator.batch import MessageBatch
from simulator.errors import DeliveryFailed, SimulatorError, UsageError
from simulator.run.job import Job
from simulator.run.session import share_run
from simulator.run.summary import Summary
from simulator.sinks import parse_target
from simulator.sinks.ledger import Ints, Parcel, Parts, Place
from simulator.sinks.ledger import Progress as Sends
from simulator.sinks.sink import Sink
from simulator.sinks.target import Contents
from simulator.spark.engine import Progress, SparkRun, joined, total
from simulator.spark.failures import TaskDied
from simulator.spark.jobs import Stopped, Tasks, ring
from simulator.spark.ring import SECRET_BYTES
from simulator.spark.work import Work

# Shares of each task in the first window, and at least. Later windows take about so many seconds, of which Spark needs
# one to begin.
FIRST_SHARES: Final = 4
WINDOW_SECONDS: Final = 10
# A window has at most so many times the shares of the one before.
GROWTH: Final = 4
# Attempts of a window, as many as Spark makes of a task.
ATTEMPTS: Final = 4


class BrokerRun(SparkRun):
    """A run into a broker. A stopped run ends after the window that is being sent.

    A partition has its messages in stream order, but for those of a window that is sent again since one of its tasks
    died. A share is a block, where there are not too many of them.
    """

    blocks_a_task = 1

    def __init__(self, session: Any, job: Job, to: Broker, **options: Any) -> None:
        if session.conf.get("spark.dynamicAllocation.enabled", "false") == "true":
            raise UsageError(
                "spark.dynamicAllocation.enabled: tasks of a run into a broker run at once, which Spark does not offer "
                "with it; set it to false."
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
            partitions = self._partition_count(sink.partitions)
        first, count = 0, FIRST_SHARES * self.jobs.slots
        while first < todo.tasks:
            shares = range(first, min(first + count, todo.tasks))
            self.progress = Progress(todo, Tasks(first, len(shares), todo.tasks))
            began = time.monotonic()
            self._add(todo, shares, self._send(todo, shares, partitions))
            first, slots = shares.stop, self.jobs.slots
            rounds = count * WINDOW_SECONDS / (time.monotonic() - began) / slots
            count = slots * max(FIRST_SHARES, int(min(rounds, GROWTH * count / slots)))
            if self.stop and first < todo.tasks:
                raise Stopped

    def _send(self, todo: Work, shares: range, partitions: int) -> list[Sent]:
        """Renders and sends the shares of a window, again if a task dies. Raises TaskDied after the last attempt."""
        for attempt in range(ATTEMPTS):
            tasks = min(self.jobs.slots, len(shares))
            window = Window(shares, tasks, max(1, min(partitions, tasks)), secrets.token_bytes(SECRET_BYTES))
            try:
                sent = self.jobs.together(partial(deliver, self._to, todo, window), tasks)
            except TaskDied:
                if attempt + 1 == ATTEMPTS:
                    raise
                continue
            for done in sent:
                self._repeated.update(
                    {(progress.topic, progress.partition): attempt * progress.sent for progress in done.progress}
                )
                self._repeated.update({(topic, partition): count for topic, partition, count in done.repeated})
            return sent
        raise AssertionError

    def watch(self, tasks: Tasks) -> None:
        """Watches the tasks; messages rendered in a window count when they are sent."""
        super().watch(self.progress.tasks if self.progress is not None else tasks)

    def _partition_count(self, partitions: Any) -> int:
        """Number of broker partitions of the tables."""
        router = self.job.renderer(partitions).router
        return sum(map(router.count, {router.topics.of(table.id) for table in self.job.stream.first_tables}))

    def _add(self, todo: Work, shares: range, sent: Sequence[Sent]) -> None:
        """Account for a window. Raises SimulatorError for what went wrong in it."""
        summary = total(todo, [self.summary, *(rendered for result in sent for rendered in result.rendered)])
        done = [progress for result in sent for progress in result.progress]
        last = todo.share(shares[-1])
        # what was rendered counts as sent and delivered when it is
        self.summary = replace(
            summary,
            next_turn=last.block(last.numbers[-1]).stop if last.numbers else todo.first,
            delivered=self.summary.delivered + sum(progress.delivered for progress in done),
            failed=self.summary.failed + sum(progress.failed for progress in done),
        )
        self.summary.count_repeated(self._repeated)
        for progress in done:
            partition = progress.topic, progress.partition
            before = self._sends.get(partition)
            self._sends[partition] = progress if before is None else joined(before, progress)
        if failures := [result.failure for result in sent if result.failure is not None]:
            self.summary.failed = self.summary.messages - self.summary.delivered
            raise DeliveryFailed(str(failures[0])) if self.summary.delivered else failures[0]

    def partitions(self) -> Iterable[tuple[Sends, dict[str, Any]]]:
        return ((progress, {}) for _, progress in sorted(self._sends.items()))


@dataclass(frozen=True, slots=True)
class Broker:
    """Destination of the messages: a URL, and the properties of the messages that the sink must know. Each process
    parses the URL, since it may name secrets of the machine."""

    url: str
    contents: Contents = field(default_factory=Contents)

    def open(self) -> Sink:
        return parse_target(self.url).open(self.contents)


@dataclass(frozen=True, slots=True)
class Window:
    """Shares that a number of tasks deliver at once, with broker partitions in a number of groups, and the secret by
    which the tasks know each other. More groups than tasks would be more messages between tasks, and no more senders.
    """

    shares: range
    tasks: int
    groups: int
    secret: bytes

    def group(self, topic: str, partition: int) -> int:
        """Group of a partition: consecutive partitions have consecutive groups."""
        return (crc32(topic.encode()) + partition) % self.groups


class Outbox(Sink):
    """Messages of a share by group of partitions. Partitions are chosen as the broker's sink does."""

    def __init__(self, broker: Sink, window: Window) -> None:
        super().__init__()
        self.topic_pattern = broker.topic_pattern
        self.groups: list[list[tuple[MessageBatch, Parts]]] = [[] for _ in range(window.groups)]
        self._broker, self._window = broker, window

    def partitions(self, topic: str) -> int:
        return self._broker.partitions(topic)

    def choose(self, keys: pa.Array, turns: Ints, count: int) -> Ints:
        return self._broker.choose(keys, turns, count)

    def poll(self) -> None:
        self._broker.poll()

    def write(self, batch: MessageBatch, parcels: Sequence[Parcel], *, whole: bool) -> None:
        by_group: dict[int, list[tuple[Place, Ints]]] = {}
        for parcel in parcels:
            group = self._window.group(parcel.topic, parcel.partition)
            by_group.setdefault(group, []).append(((parcel.topic, parcel.partition), parcel.rows))
            self.ledger.acknowledge_parcel(parcel)
        for group, parts in by_group.items():
            self.groups[group].append((batch, parts))


@dataclass(frozen=True, slots=True)
class Sent:
    """Result of a task: summaries of the shares that it rendered, what it sent, the messages that it sent again, by
    topic and partition, and what went wrong."""

    rendered: list[Summary]
    progress: list[Sends]
    repeated: list[tuple[str, int, int]]
    wrong: str | None
    usage: bool

    @property
    def failure(self) -> SimulatorError | None:
        if self.wrong is None:
            return None
        return UsageError(self.wrong) if self.usage else SimulatorError(self.wrong)


def deliver(broker: Broker, work: Work, window: Window, task: int) -> Sent:
    """Renders the shares of a task, and sends each group of partitions in its turn.

    What goes wrong is part of the account, and is not tried again: this task ends, and tells the next ones to end. If a
    task dies, Spark ends the others, and the run begins the window anew: what was sent of it is there twice.
    """
    rendered: list[Summary] = []
    failure: SimulatorError | None = None
    go = True
    with ring(window.secret) as turns, broker.open() as sink:
        for number in window.shares[task :: window.tasks]:
            outbox = Outbox(sink, window)
            try:
                rendered.append(share_run(work.open(), work.share(number), outbox)())
            except SimulatorError as error:
                failure, go = error, False
            for batches in outbox.groups:
                if number != window.shares[0]:
                    go = turns.wait(sink.poll) and go
                if go and (failure := _sent(sink, batches)) is not None:
                    go = False
                if number != window.shares[-1]:
                    turns.tell(go, sink.poll)
            if not go:
                break
    repeated = [(*partition, count) for partition, count in sink.ledger.repeated.items()]
    wrong = None if failure is None else str(failure)
    return Sent(rendered, sink.ledger.progress(), repeated, wrong, isinstance(failure, UsageError))


def _sent(sink: Sink, batches: Iterable[tuple[MessageBatch, Parts]]) -> SimulatorError | None:
    """Sends the messages of a group, and returns what went wrong when all have arrived or failed."""
    try:
        for batch, parts in batches:
            sink.send(batch, parts=parts)
        sink.flush()
    except SimulatorError as error:
        return error
    return None
