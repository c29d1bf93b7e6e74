"""A run on Spark into a broker: window by window, each rendered, brought to its senders, and sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from simulator.errors import DeliveryFailed, SimulatorError, UsageError
from simulator.model import OrderKey
from simulator.run import record
from simulator.run.job import Job
from simulator.run.pipeline import Summary
from simulator.sinks.ledger import Place
from simulator.sinks.ledger import Progress as Sends
from simulator.spark.brokers import Broker, Key, Sent, render, send
from simulator.spark.engine import Progress, SparkRun, total
from simulator.spark.jobs import Stopped, Tasks
from simulator.spark.work import Work

# A task renders so many blocks, which it holds at once; a window has so many tasks for each core.
BLOCKS_A_TASK = 4
TASKS_A_CORE = 2


class BrokerRun(SparkRun):
    """A run into a broker. When it is stopped, it ends behind the window that is being sent.

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
        """What is rendered in a window counts when it is sent."""
        super().watch(self.progress.tasks if self.progress is not None else tasks)

    def _senders(self, partitions: Any) -> int:
        """As many as there are broker partitions of the tables, and no more than tasks that run at once."""
        router = self.job.renderer(partitions).router
        topics = {router.topics.of(table.id) for table in self.job.stream.first_tables}
        return max(1, min(sum(map(router.count, topics)), self.jobs.cores))

    def _send(self, todo: Work, tasks: range, senders: int) -> list[Sent]:
        rendered = self.jobs.flat_map(partial(render, self._to, todo, senders), tasks)
        sorted_ = rendered.repartitionAndSortWithinPartitions(senders, partitionFunc=_sender, keyfunc=_order)
        return self.jobs.collect(sorted_.mapPartitions(partial(send, self._to)))

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
            repeated=self.summary.repeated + self._repeated(sent),
        )
        for progress in done:
            place = progress.topic, progress.partition
            self._sends[place] = joined(self._sends.get(place), progress)
        if failures := [each.failure for each in sent if each.failure is not None]:
            missing = self.summary.messages - self.summary.delivered
            self.summary.failed = missing
            raise DeliveryFailed(failures[0]) if self.summary.delivered else SimulatorError(failures[0])

    def _repeated(self, sent: Iterable[Sent]) -> int:
        """Messages that may have been sent before: by a task that died, or by all of a stage that was begun anew."""
        if self.jobs.again:
            return sum(progress.sent for each in sent for progress in each.progress)
        return sum(each.repeated for each in sent)

    def record(self, facts: dict[str, Any]) -> dict[str, Any]:
        partitions = [record.partition(each) for _, each in sorted(self._sends.items())]
        last = max((each.last for each in self._sends.values()), default=None)
        position = None if last is None else OrderKey(last.phase, last.turn, last.ordinal + 1)
        return record.document(facts, position, partitions, self.failure or self.job.failure)


def joined(before: Sends | None, now: Sends) -> Sends:
    """What happened on a partition in two windows."""
    if before is None:
        return now
    return replace(
        now,
        sent=before.sent + now.sent,
        delivered=before.delivered + now.delivered,
        failed=before.failed + now.failed,
        first=before.first,
        acknowledged=now.acknowledged or before.acknowledged,
    )


def _sender(key: Key) -> int:
    return key[0]


def _order(key: Key) -> tuple[int, int, int]:
    return key[1]
