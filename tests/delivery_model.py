"""A model of delivery: runs that are killed, cut off, refused and begun anew, to destinations that do as they are told.

A schedule is a list of lives of one run. Each life is told what the destination does with every batch (answers, answers
late, breaks the connection, refuses a message) and what happens to the process and to its resume file: killed within a
batch, while messages are sent again, or around the writing of the file, alone or with the machine, which loses what is
not on the disk; a full disk. Between them other runs write to the same destination, other commands try to take the
position, a second process tries to have the resume file, and files are changed. The last life comes to its end. Then
the partitions are read:

* every message is there, in order;
* what is there twice is one step back, and counted: by partition, over all lives, and no more than may have been sent;
* in transactions and files nothing is there twice.

`Machine` lives a schedule. Its destinations are in memory and files (`delivery_fakes.py`), where kills are exceptions,
and real brokers (`brokers/delivery_brokers.py`), where each life is a process that is killed.
"""

from __future__ import annotations

import errno
import os
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal

import pytest
from hypothesis import strategies as st

from simulator.batch import MessageBatch
from simulator.errors import SimulatorError, UsageError
from simulator.model import OrderKey
from simulator.run import bookmark
from simulator.run.job import Job, open_job
from simulator.run.pacing import parse_pace
from simulator.run.pipeline import Run
from simulator.run.plan import Limits
from simulator.run.render import Renderer
from simulator.run.resume import Resumed, rest
from simulator.run.session import identity
from simulator.run.summary import Summary
from simulator.sinks.ledger import Parcel, Place
from simulator.sinks.sink import Sink
from simulator.sinks.target import Target

PARTITIONS: Final = 3
CHANGES: Final = 96
TURNS: Final = 16  # of a block
RATE: Final = "5000/s"


class Killed(BaseException):
    """The process is gone."""


# ------------------------------------------------------------------------------------------------------------ schedules


@dataclass(frozen=True)
class Answer:
    """What becomes of a batch: `stored` of its messages arrive before the trouble, and `again` of those that are sent
    again arrive before the process is killed."""

    kind: Literal["at once", "late", "killed", "broken", "broken and killed", "refused"]
    stored: int = 0
    again: int = 0


@dataclass(frozen=True)
class Life:
    """One life of the run: answers to its batches, what happens at a write of its resume file (by number), what others
    do before it, whether it has a rate, and whether a kill is that of the machine."""

    answers: tuple[Answer, ...] = ()
    at_write: tuple[int, Literal["killed before", "killed after", "disk full"]] | None = None
    before: str = "nothing"
    paced: bool = False
    without_power: bool = False

    @property
    def may_fail(self) -> bool:
        full = self.at_write is not None and self.at_write[1] == "disk full"
        return full or any(answer.kind == "refused" for answer in self.answers)


CROSSINGS: Final = (
    "nothing", "another run", "another command", "a second process", "a shorter limit", "a changed file",
    "a topic made again", "an end at the position",
)  # fmt: skip
ANSWERS: Final = st.builds(
    Answer,
    st.sampled_from(["at once", "late", "late", "killed", "broken", "broken and killed", "refused"]),
    st.integers(0, 30),
    st.integers(0, 30),
)
PACED: Final = st.sampled_from([False, False, False, True])
# The last life is not killed, and nothing of it is refused.
LAST: Final = st.builds(
    Life,
    st.lists(ANSWERS.filter(lambda answer: answer.kind in ("at once", "late", "broken")), max_size=4).map(tuple),
    st.none(),
    st.sampled_from(CROSSINGS),
    PACED,
)
LIVES: Final = st.lists(
    st.builds(
        Life,
        st.lists(ANSWERS, max_size=6).map(tuple),
        st.none() | st.tuples(st.integers(0, 12), st.sampled_from(["killed before", "killed after", "disk full"])),
        st.sampled_from(CROSSINGS),
        PACED,
        st.booleans(),
    ),
    min_size=1,
    max_size=4,
)


# ------------------------------------------------------------------------------------------------------------- the run


@cache
def opened_job(scenario: str) -> Job:
    return open_job(scenario, "canal-json")


@cache
def job(topic: str) -> Job:
    """A run to one topic, or to one of each table."""
    return opened_job("orders" if "{table}" in topic else "crud").addressed(route="key", topic=topic)


@cache
def wanted(topic: str) -> Mapping[Place, Sequence[tuple[OrderKey, bytes]]]:
    """Every message and its order key, by partition."""
    messages: dict[Place, list[tuple[OrderKey, bytes]]] = defaultdict(list)

    class Noting(Sink):
        def partitions(self, topic: str) -> int:
            return PARTITIONS

        def write(self, batch: MessageBatch, parcels: Sequence[Parcel], *, whole: bool) -> None:
            values = batch["value"].to_pylist()
            for parcel in parcels:
                rows = parcel.rows.tolist()
                messages[parcel.topic, parcel.partition] += [(batch.order_key(row), values[row]) for row in rows]
            self.ledger.acknowledge_all()

    sink = Noting()
    Run(job(topic).plan(Limits(changes=CHANGES), most_turns=TURNS), job(topic).renderer(sink.partitions), sink)()
    return messages


class Machine(ABC):
    """One destination, a run that is to be finished, and whoever crosses it.

    `other` is an option of the URL with which a run would write elsewhere or otherwise; `sends_again`: a life sends
    what was on its way when the one before it ended.
    """

    other: tuple[str, str]
    sends_again: bool

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.others = 0
        self.may_repeat: Counter[Place] = Counter()

    # Destinations

    @abstractmethod
    def topic(self, name: str) -> str:
        """Topic of a run of this name, or the pattern of its topics."""

    @abstractmethod
    def target(self, name: str, **options: str) -> Target:
        """The destination of a run, with further options."""

    @abstractmethod
    def opened(self, name: str, life: Life, resumed: Resumed) -> Sink:
        """The sink of a life, which does as the life is told."""

    @abstractmethod
    def renderer(self, name: str, sink: Sink) -> Renderer: ...

    @abstractmethod
    def die(self) -> None:
        """Kills the life."""

    @abstractmethod
    def held(self, name: str, place: Place) -> Sequence[bytes]:
        """What an independent reader finds in a partition."""

    @abstractmethod
    def sent_again(self, place: Place) -> int:
        """The most messages that a partition may have twice since a connection broke."""

    def last(self, mark: bookmark.Bookmark) -> OrderKey | None:
        """How far the run has come for those who read."""
        if self.sends_again:
            return mark.sent
        # what is behind the position is cut off, or counts for nobody
        return max(mark.position.acknowledged.values(), default=None)

    # Lives

    def schedule(self, lives: Iterable[Life], last: Life) -> None:
        """Lives a schedule. Raises AssertionError for a promise that is broken."""
        for life in lives:
            self.cross(life.before)
            self.may_repeat.update(self.on_their_way())
            try:
                self.live("run", life)
            except SimulatorError:
                if not life.may_fail:
                    raise
            except Killed:
                if life.without_power:
                    self.lose_what_is_not_on_disk()
        self.cross(last.before)
        self.may_repeat.update(self.on_their_way())
        self.check(self.live("run", last))

    def live(self, name: str, life: Life, *, limit: int = CHANGES, **options: str) -> Summary:
        """A life of the run of this name. Raises what ends it."""
        written, write = 0, bookmark.write

        def writing(to: Path, mark: bookmark.Bookmark) -> None:
            nonlocal written
            number, written = written, written + 1
            trouble = life.at_write[1] if life.at_write is not None and life.at_write[0] == number else None
            if trouble == "disk full":
                raise UsageError(f"--resume {to}: it cannot be written: {os.strerror(errno.ENOSPC)}.")
            if trouble != "killed before":
                write(to, mark)
            if trouble is not None:
                self.die()

        with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
            resumed = stack.enter_context(Resumed(self.folder / name, self.identity(name, **options)))
            sink = self.opened(name, life, resumed)
            stack.callback(sink.close)
            patch.setattr(bookmark, "write", writing)
            resumed.ask(sink)
            plan = job(self.topic(name)).plan(Limits(changes=limit), most_turns=TURNS)
            if resumed.start is not None:
                plan = rest(plan, resumed.start)
            resumed.check_end(plan)
            pace = parse_pace(RATE) if life.paced else None
            return Run(plan, self.renderer(name, sink), sink, pace=pace, resumed=resumed)()

    def identity(self, name: str, **options: str) -> dict[str, str]:
        return identity(job(self.topic(name)), Limits(), self.target(name, **options).deciding())

    def on_their_way(self) -> Counter[Place]:
        """Messages that may have been sent and are not acknowledged, by the resume file: the next life sends them
        again."""
        mark = bookmark.read(self.folder / "run")
        if mark is None or mark.sent is None or not self.sends_again:
            return Counter()
        start, arrived = mark.position.next or OrderKey(0, -1, 0), mark.position.acknowledged
        return Counter(
            place
            for place, messages in wanted(self.topic("run")).items()
            for key, _ in messages
            if start <= key <= mark.sent and key > arrived.get(place, OrderKey(0, -1, 0))
        )

    def lose_what_is_not_on_disk(self) -> None:  # noqa: B027 - brokers have disks of their own
        """The machine of the run lost power."""

    # Others

    def cross(self, crossing: str) -> None:
        """Lets others do something between two lives of the run."""
        mark = bookmark.read(self.folder / "run")
        last = None if mark is None else self.last(mark)
        match crossing:
            case "another run":
                self.others += 1
                self.live(f"other{self.others}", Life())
            case "another command" if mark is not None:
                name, text = self.other
                with pytest.raises(UsageError, match=f"that run had the URL's option {name}"):
                    self.live("run", Life(), **{name: text})
            case "a shorter limit" if last is not None and last.turn > TURNS:
                with pytest.raises(UsageError, match="beyond the end of this one"):
                    self.live("run", Life(), limit=1)
            case "an end at the position" if mark is not None and (turn := self.end(mark)) is not None:
                self.live("run", Life(), limit=turn)
                self.check_end(mark)
            case "a second process":
                with pytest.MonkeyPatch.context() as patch, Resumed(self.folder / "run", self.identity("run")):
                    patch.setattr(bookmark, "LOCK_SECS", 0.0)
                    with pytest.raises(UsageError, match="another run that is not over"):
                        Resumed(self.folder / "run", self.identity("run"))
            case "a topic made again" if mark is not None and mark.arrived:
                self.make_again(min(mark.arrived), mark)
            case "a changed file" if mark is not None and any(state.size for state in mark.files.values()):
                self.change(next(name for name, state in sorted(mark.files.items()) if state.size), mark)

    def make_again(self, place: Place, mark: bookmark.Bookmark) -> None:  # noqa: B027 - brokers could not undo it
        """A partition that has fewer messages than had arrived there is refused, and put back."""

    def end(self, mark: bookmark.Bookmark) -> int | None:
        """The number of turns, of a change each, up to which all has arrived and behind which readers see nothing."""
        end, last = mark.position.next, self.last(mark)
        if end is None or end.ordinal or not end.turn or (last is not None and last >= end):
            return None
        return None if "{table}" in self.topic("run") else end.turn

    def check_end(self, mark: bookmark.Bookmark) -> None:  # noqa: B027 - brokers take nothing back
        """Raises AssertionError for what is still there behind the position."""

    def change(self, name: str, mark: bookmark.Bookmark) -> None:
        """A file that is too short is refused, and so is one to which somebody added; both are put back."""
        file = self.folder / "run files" / name
        content, size = file.read_bytes(), mark.files[name].size
        changed = [content[: size - 1]]
        if mark.sent is not None and mark.position.next is not None and mark.position.next > mark.sent:
            changed.append(content + b"not ours")
        for text in changed:
            file.write_bytes(text)
            with pytest.raises(UsageError, match="put the file back"):
                self.live("run", Life())
            assert file.read_bytes() == text
        file.write_bytes(content)

    # The end

    def check(self, summary: Summary) -> None:
        """Raises AssertionError for what an independent reader finds that is not so."""
        repeated = {(part["topic"], part["partition"]): part["messages"] for part in summary.repeated_in}
        assert summary.repeated == sum(repeated.values())
        for name in ("run", *(f"other{number + 1}" for number in range(self.others))):
            for place, messages in wanted(self.topic(name)).items():
                values, held = [value for _, value in messages], self.held(name, place)
                assert list(dict.fromkeys(held)) == values
                numbers = [values.index(value) for value in held]
                assert all(later <= earlier + 1 for earlier, later in pairwise(numbers))
                if name == "run":
                    most = self.may_repeat[place] + self.sent_again(place)
                    again, counted = len(held) - len(values), repeated.get(place, 0)
                    assert again <= counted <= most, (place, again, counted, most)
                else:
                    assert held == values
