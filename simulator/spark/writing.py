"""A run on Spark that writes files: every task writes its own, and nothing is left to commit."""

from __future__ import annotations

from functools import partial
from typing import Any

from simulator.run.job import Job
from simulator.spark.engine import Progress, SparkRun, total
from simulator.spark.files import Done, Folder
from simulator.spark.jobs import Tasks
from simulator.spark.record import document
from simulator.spark.work import Work


class FileRun(SparkRun):
    """A run into a folder. A run that is stopped has no end and no marker of success."""

    def __init__(self, session: Any, job: Job, to: Folder, **options: Any) -> None:
        super().__init__(session, job, **options)
        self._to = to
        self._done: list[Done] = []
        self._messages = session.sparkContext.accumulator(0)

    @property
    def messages(self) -> int:
        return int(self._messages.value)

    def run(self) -> None:
        todo = self.work()
        self._to.begin()
        self.progress = Progress(todo, Tasks(0, 0, todo.tasks))
        self._done = self.jobs.map_tasks(partial(write, self._to, todo, self._messages), todo.tasks)
        self.summary = total(todo, (each.summary for each in self._done))
        self._to.finish(sum(each.count for each in self._done))

    def record(self, facts: dict[str, Any]) -> dict[str, Any]:
        return document(facts, self._done, self.failure or self.job.failure)


def write(to: Folder, todo: Work, messages: Any, task: int, attempt: int) -> Done:
    """A task's share, counted where the driver sees it at once: in an accumulator of Spark."""
    done = to.write(todo, task, attempt)
    messages += done.summary.messages
    return done
