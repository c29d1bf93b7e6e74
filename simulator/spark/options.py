"""The options of the data source, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from simulator.errors import OptionError, UnknownName, did_you_mean
from simulator.model import Table
from simulator.run.job import Job, Partitions, changes_of, job_of
from simulator.run.plan import Limits
from simulator.run.request import Subject
from simulator.stream.engine.block import Stream

TEXTS: Final = ("scenario", "format", "view", "table", "source", "route", "topic")
NUMBERS: Final = ("seed", "limit", "turns", "start_at", "turn", "partitions", "tasks", "rate", "turns_per_batch")
FLAGS: Final = ("snapshot", "pushdown")
VIEWS: Final = ("messages", "changes", "state")


@dataclass(frozen=True)
class Options:
    """The options of a read."""

    texts: Mapping[str, str]
    numbers: Mapping[str, int]
    flags: Mapping[str, bool]

    @property
    def view(self) -> str:
        return self.texts.get("view", "messages")

    def job(self) -> Job:
        """The job of a read; the views changes and state have no format. Raises UsageError."""
        format, source = self.texts.get("format", ""), self.texts.get("source")
        subject = Subject(self.texts["scenario"], format, source, self.numbers.get("seed"))
        if self.view != "messages":
            return changes_of(subject)
        partitions = Partitions(self.numbers.get("partitions", 1))
        return job_of(subject).addressed(
            route=self.texts.get("route"), topic=self.texts.get("topic"), partitions=partitions
        )

    def limits(self) -> Limits:
        return Limits(self.numbers.get("start_at", 0), self.numbers.get("limit"), self.numbers.get("turns"))

    def versions(self, stream: Stream, turn: int) -> list[Table]:
        """The versions of the table `table`: the one before a turn, then those of later schema changes. Raises
        UnknownName."""
        name, tables = self.texts.get("table", ""), list(stream.tables_from(turn))
        versions = [table for table in tables if name in (str(table.id), table.id.name)]
        if len({table.id for table in versions}) != 1:
            known = sorted({str(table.id) for table in tables})
            raise UnknownName("table", name, known, f"`table` is one of {', '.join(known)}.")
        return versions


def parse(options: Mapping[str, str]) -> Options:
    """The options of a read. Raises OptionError for an unknown or missing option, and for a wrong value."""
    known = (*TEXTS, *NUMBERS, *FLAGS)
    for name in options:
        if name not in known:
            raise OptionError(f"option {name!r}: the data source cdcsim has no such option.{did_you_mean(name, known)}")
    texts = {name: options[name] for name in TEXTS if name in options}
    numbers = {}
    for name in NUMBERS:
        if name in options:
            if not options[name].isascii() or not options[name].isdigit():
                raise OptionError(f"option {name!r}: {options[name]!r} is not a whole number.")
            numbers[name] = int(options[name])
    view = texts.setdefault("view", "messages")
    if view not in VIEWS:
        raise OptionError(f"option 'view': {view!r} is none of {', '.join(VIEWS)}.{did_you_mean(view, VIEWS)}")
    for name in ("scenario", "format" if view == "messages" else "table"):
        if name not in texts:
            raise OptionError(f"option {name!r} is missing: the view {view} needs it.")
    flags = {name: options[name] for name in FLAGS if name in options}
    for name, value in flags.items():
        if value not in ("true", "false"):
            raise OptionError(f"option {name!r}: {value!r} is neither true nor false.")
    return Options(texts, numbers, {name: value == "true" for name, value in flags.items()})
