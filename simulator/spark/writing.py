"""A run on Spark that writes files: every task writes its own, and nothing is left to commit."""

from __future__ import annotations

from functools import partial
from typing import Any

from simulator.run.job import Job
from simulator.spark.engine import Progress, SparkRun, total
from simulator.spark.files import Done, Folder
from simulator.spark.jobs import Tasks
from simulator.spark.record import document


class FileRun(SparkRun):
    """A run into a folder. A run that is stopped has no end and no marker of success."""

    def __init__(self, session: Any, job: Job, to: Folder, **options: Any) -> None:
        super().__init__(session, job, **options)
        self._to = to
        self._done: list[Done] = []

    def run(self) -> None:
        todo = self.work()
        self._to.begin()
        self.progress = Progress(todo, Tasks(0, 0, todo.tasks))
        self._done = self.jobs.map_tasks(partial(self._to.write, todo), todo.tasks)
        self.summary = total(todo, (each.summary for each in self._done))
        self._to.finish(sum(each.count for each in self._done))

    def record(self, facts: dict[str, Any]) -> dict[str, Any]:
        return document(facts, self._done, self.failure or self.job.failure)
