"""The options of the data source, checked: their values, and the views and reads that have them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from simulator.errors import OptionError, UnknownName, did_you_mean
from simulator.model import Table
from simulator.run.job import Job, Partitions, changes_of, job_of
from simulator.run.plan import Limits
from simulator.run.request import Subject, parse_whole
from simulator.sinks.url import MOST_PARTITIONS, text
from simulator.stream.engine.block import FARTHEST, Stream

VIEWS: Final = ("messages", "changes", "state", "ledger", "partitions")
HISTORY: Final = ("messages", "changes", "partitions")
STREAMS: Final = ("messages", "changes")
MESSAGES: Final = ("messages", "partitions")
IMAGES: Final = ("changes", "state", "ledger")
BATCH: Final = "spark.read"
STREAM: Final = "spark.readStream"
MOST_CHANGES: Final = 10**18
MOST_TASKS: Final = 10_000_000
FLAGS: Final = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def flag(text: str) -> bool:
    if text.lower() not in FLAGS:
        raise ValueError("true or false")
    return FLAGS[text.lower()]


@dataclass(frozen=True)
class Option:
    """Parser of an option's text, which raises ValueError with what the text must be; the views that have it, and the
    kind of read (None: both)."""

    parse: Callable[[str], Any] = text
    views: tuple[str, ...] = VIEWS
    read: str | None = None


TURN: Final = partial(parse_whole, low=0, high=FARTHEST)
TURNS: Final = partial(parse_whole, low=1, high=FARTHEST)
CHANGES: Final = partial(parse_whole, low=1, high=MOST_CHANGES)
OPTIONS: Final[Mapping[str, Option]] = {
    "scenario": Option(),
    "view": Option(),
    "format": Option(),
    "table": Option(views=IMAGES),
    "source": Option(),
    "seed": Option(partial(parse_whole, low=0, high=2**64 - 1)),
    "set": Option(),
    "start": Option(),
    "route": Option(views=MESSAGES),
    "topic": Option(views=MESSAGES),
    "faults": Option(views=MESSAGES),
    "partitions": Option(partial(parse_whole, low=1, high=MOST_PARTITIONS), MESSAGES),
    "limit": Option(partial(parse_whole, low=0, high=MOST_CHANGES), HISTORY),
    "turns": Option(TURN, HISTORY),
    "start_at": Option(TURN, HISTORY),
    "snapshot": Option(flag, HISTORY),
    "turn": Option(TURN, ("state", "ledger")),
    "tasks": Option(partial(parse_whole, low=1, high=MOST_TASKS)),
    "pushdown": Option(flag, STREAMS, BATCH),
    "rate": Option(CHANGES, STREAMS, STREAM),
    "turns_per_batch": Option(TURNS, STREAMS, STREAM),
    "changes_per_batch": Option(CHANGES, STREAMS, STREAM),
}


@dataclass(frozen=True)
class Options:
    """The options of a read, by their names."""

    values: Mapping[str, Any]

    @property
    def view(self) -> str:
        return str(self.get("view", "messages"))

    def get(self, name: str, otherwise: Any = None) -> Any:
        return self.values.get(name, otherwise)

    def check_read(self, read: str) -> None:
        """Raises OptionError for an option that means nothing in `spark.read`, or in `spark.readStream`."""
        for name in self.values:
            if OPTIONS[name].read not in (None, read):
                raise OptionError(f"option {name!r} is for {OPTIONS[name].read}: leave it out of {read}.")

    def job(self) -> Job:
        """The job of a read; the views changes and state need no format. Raises UsageError."""
        settings = tuple(filter(None, map(str.strip, self.get("set", "").split(";"))))
        subject = Subject(
            self.values["scenario"],
            self.get("format", ""),
            self.get("source"),
            self.get("seed"),
            settings=settings,
            start=self.get("start"),
            faults=self.get("faults"),
        )
        if not subject.format:
            return changes_of(subject)
        partitions = Partitions(self.get("partitions", 1))
        job = job_of(subject).addressed(route=self.get("route"), topic=self.get("topic"), partitions=partitions)
        return job.starting(self.limits())

    def limits(self) -> Limits:
        return Limits(self.get("start_at", 0), self.get("limit"), self.get("turns"))

    def versions(self, stream: Stream, turn: int) -> list[Table]:
        """The versions of the table `table`: the one before a turn, then those of later schema changes. Raises
        UnknownName."""
        name, tables = self.values["table"], list(stream.tables_from(turn))
        versions = [table for table in tables if name in (str(table.id), table.id.name)]
        if len({table.id for table in versions}) != 1:
            table_names = sorted({str(table.id) for table in tables})
            raise UnknownName("table", name, table_names, f"`table` is one of {', '.join(table_names)}.")
        return versions


def parse(options: Mapping[str, str]) -> Options:
    """The options of a read. Raises OptionError for an unknown or missing option, for one that the view does not have,
    and for a wrong value."""
    values = {}
    for name, given in options.items():
        if name not in OPTIONS:
            hint = did_you_mean(name, OPTIONS, f" It has {', '.join(OPTIONS)}.")
            raise OptionError(f"option {name!r}: the data source cdcsim has no such option.{hint}")
        try:
            values[name] = OPTIONS[name].parse(given)
        except ValueError as expected:
            raise OptionError(f"option {name!r} is {expected}, not {given!r}.") from None
    view = values.get("view", "messages")
    if view not in VIEWS:
        raise OptionError(f"option 'view': {view!r} is none of {', '.join(VIEWS)}.{did_you_mean(view, VIEWS)}")
    for name in values:
        if view not in OPTIONS[name].views:
            *others, last = OPTIONS[name].views
            views = f"views {', '.join(others)} and {last}" if others else f"view {last}"
            raise OptionError(f"option {name!r} is for the {views}: leave it out of the view {view}.")
    for name in ("scenario", "format" if view in MESSAGES else "table"):
        if name not in values:
            raise OptionError(f"option {name!r} is missing: the view {view} needs it.")
    return Options(values)
