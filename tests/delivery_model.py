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
"""

from __future__ import annotations

import errno
import os
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal

import pytest
from hypothesis import strategies as st

from simulator.batch import MessageBatch
from simulator.delivery.router import parse_route
from simulator.errors import SimulatorError, UsageError
from simulator.model import OrderKey
from simulator.native.program import ARROW
from simulator.run import bookmark
from simulator.run.job import Job, open_job
from simulator.run.pipeline import Run, Summary
from simulator.run.plan import Limits
from simulator.run.render import Rendered, Renderer
from simulator.run.resume import Resumed, rest
from simulator.run.session import identity as identity_of
from simulator.sinks.files import FolderSink
from simulator.sinks.framing import Lines
from simulator.sinks.ledger import Parcel, Place
from simulator.sinks.sink import Sink
from simulator.sinks.target import Target, Transport

PARTITIONS: Final = 3
CHANGES: Final = 96
TURNS: Final = 16  # of a block

Kind = Literal["acknowledged", "transactions", "files"]
KINDS: Final[tuple[Kind, ...]] = ("acknowledged", "transactions", "files")


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
    do before it, and whether a kill is that of the machine."""

    answers: tuple[Answer, ...] = ()
    at_write: tuple[int, Literal["killed before", "killed after", "disk full"]] | None = None
    before: str = "nothing"
    without_power: bool = False

    @property
    def may_fail(self) -> bool:
        full = self.at_write is not None and self.at_write[1] == "disk full"
        return full or any(answer.kind == "refused" for answer in self.answers)


CROSSINGS: Final = (
    "nothing", "another run", "another command", "a second process", "a shorter limit", "a changed file"
)  # fmt: skip
ANSWERS: Final = st.builds(
    Answer,
    st.sampled_from(["at once", "late", "late", "killed", "broken", "broken and killed", "refused"]),
    st.integers(0, 30),
    st.integers(0, 30),
)
# The last life is not killed, and nothing of it is refused.
LAST: Final = st.builds(
    Life,
    st.lists(ANSWERS.filter(lambda answer: answer.kind in ("at once", "late", "broken")), max_size=4).map(tuple),
    st.none(),
    st.sampled_from(CROSSINGS),
)
LIVES: Final = st.lists(
    st.builds(
        Life,
        st.lists(ANSWERS, max_size=6).map(tuple),
        st.none() | st.tuples(st.integers(0, 12), st.sampled_from(["killed before", "killed after", "disk full"])),
        st.sampled_from(CROSSINGS),
        st.booleans(),
    ),
    min_size=1,
    max_size=4,
)


# --------------------------------------------------------------------------------------------------------- destinations


@dataclass
class Broker:
    """What partitions hold, the positions that transactions committed, by run, and what was sent again over connections
    that broke."""

    held: dict[Place, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    positions: dict[str, OrderKey] = field(default_factory=dict)
    again: Counter[Place] = field(default_factory=Counter)


class FakeSink(Sink):
    """Sends to a broker in memory, which answers as it is told, and at once after that."""

    def __init__(self, broker: Broker, topic: str, answers: Iterator[Answer]) -> None:
        super().__init__()
        self.topic_pattern = topic
        self._broker, self._answers = broker, answers
        self._open: list[tuple[Place, bytes]] = []

    def partitions(self, topic: str) -> int:
        return PARTITIONS

    def _store(self, messages: Sequence[tuple[Place, bytes]]) -> None:
        for place, value in messages:
            self._broker.held[place].append(value)

    def write(self, batch: MessageBatch, parcels: Sequence[Parcel], *, whole: bool) -> None:
        values = batch["value"].to_pylist()
        messages = [((p.topic, p.partition), values[row]) for p in parcels for row in p.rows.tolist()]
        answer = next(self._answers, Answer("at once"))
        sent = messages[: answer.stored]
        match answer.kind:
            case "killed":
                self._store(sent)
                raise Killed
            case "refused":
                self._store(sent)
                self._refuse(sent, parcels)
            case "broken" | "broken and killed" as kind:
                self._store(sent)
                again = Counter(place for place, _ in [*self._open, *sent])
                self._broker.again.update(again)
                try:
                    self.ledger.repeat(again)
                except SimulatorError as error:
                    self.ledger.fail_open(str(error), dropped=False)
                    self.check()
                messages = [*self._open, *messages]
                if kind == "broken and killed":
                    self._store(messages[: answer.again])
                    raise Killed
                self._store(messages)
                self._open = []
                self.ledger.acknowledge_all()
            case kind:
                self._store(messages)
                self._open += messages
                if kind == "at once":
                    self.flush()

    def _refuse(self, arrived: Sequence[tuple[Place, bytes]], parcels: Sequence[Parcel]) -> None:
        """All before the refused message is acknowledged in its partition, and nothing is sent behind it."""
        counts = Counter(place for place, _ in arrived)
        for parcel in parcels:
            number = parcel.first + counts[parcel.topic, parcel.partition]
            if number < parcel.end:
                self.ledger.fail(parcel, number, "refused")
                self.ledger.withhold(parcel, number)
        self.flush()

    def flush(self) -> None:
        self._open = []
        self.ledger.acknowledge_all()
        self.check()


class FakeTransactions(FakeSink):
    """A transaction for each batch that is answered at once, and the batches before it; a killed one leaves nothing."""

    def __init__(self, broker: Broker, topic: str, answers: Iterator[Answer]) -> None:
        super().__init__(broker, topic, answers)
        self._run_id = ""
        self._last: OrderKey | None = None

    def stored(self, run_id: str, topics: Collection[str]) -> OrderKey | Literal["nowhere"] | None:
        self._run_id = run_id
        return self._broker.positions.get(run_id)

    def write(self, batch: MessageBatch, parcels: Sequence[Parcel], *, whole: bool) -> None:
        values = batch["value"].to_pylist()
        answer = next(self._answers, Answer("at once"))
        killed = answer.kind in ("killed", "broken and killed")
        if killed and not answer.stored % 2:
            raise Killed
        self._open += [((p.topic, p.partition), values[row]) for p in parcels for row in p.rows.tolist()]
        self._last = batch.order_key(len(batch) - 1)
        if answer.kind == "refused":
            self.ledger.fail_open("its transaction was not committed", dropped=False)
            self._open = []
            self.check()
        if answer.kind != "late":
            self._commit()
        if killed:  # after the commit, before anybody knows
            raise Killed

    def _commit(self) -> None:
        self._store(self._open)
        self._open = []
        if self._last is not None:
            self._broker.positions[self._run_id] = self._last
        self.ledger.acknowledge_all()

    def flush(self) -> None:
        self._commit()
        self.check()


class CrashingFiles(FolderSink):
    """Files of a run that is killed before, behind and within a write, and whose disk may be full."""

    def __init__(self, answers: Iterator[Answer], folder: Path, resumed: Resumed) -> None:
        super().__init__(folder, PARTITIONS, Lines(), resumed.files)
        self._answers = answers
        self._full = False

    def write(self, batch: MessageBatch, parcels: Sequence[Parcel], *, whole: bool) -> None:
        answer = next(self._answers, Answer("at once"))
        killed = answer.kind in ("killed", "broken and killed")
        if killed and answer.stored % 3 == 0:
            raise Killed
        self._full = answer.kind == "refused"
        super().write(batch, parcels, whole=whole)
        if killed:
            if answer.stored % 3 == 1:
                for file in self._files.values():
                    file.write(b'{"half a mess')
                    file.flush()
            raise Killed

    def _append(self, file: Any, batch: MessageBatch) -> None:
        super()._append(file, batch)
        if self._full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


# ------------------------------------------------------------------------------------------------------------- the run


FAKE: Final = Transport(form="fake:TOPIC", parse=str, open=lambda url, contents: FakeSink(Broker(), url, iter(())))


@cache
def job(topic: str) -> Job:
    return open_job("crud", "canal-json").addressed(route="key", topic=topic)


class Remembering(Renderer):
    """Renders each block once: schedules differ in what becomes of messages, not in the messages."""

    rendered: Final[dict[tuple[str, Any], Rendered]] = {}

    def begin(self, where: Any) -> Any:
        return where

    def finish(self, begun: Any) -> Rendered:
        key = self.router.topics.pattern, begun
        if key not in self.rendered:
            self.rendered[key] = super().finish(super().begin(begun)).finished(ARROW)
        return self.rendered[key]


def renderer(topic: str, sink: Sink) -> Renderer:
    codec = job(topic).codec
    return Remembering(job(topic).stream, codec, parse_route("key", codec.layout.routing), topic, sink.partitions)


@cache
def wanted(topic: str) -> Mapping[Place, list[tuple[OrderKey, bytes]]]:
    """Every message and its order key, by partition."""
    messages: dict[Place, list[tuple[OrderKey, bytes]]] = defaultdict(list)

    class Noting(FakeSink):
        def write(self, batch: MessageBatch, parcels: Sequence[Parcel], *, whole: bool) -> None:
            values = batch["value"].to_pylist()
            for parcel in parcels:
                rows = parcel.rows.tolist()
                messages[parcel.topic, parcel.partition] += [(batch.order_key(row), values[row]) for row in rows]
            self.ledger.acknowledge_all()

    sink = Noting(Broker(), topic, iter(()))
    Run(job(topic).plan(Limits(changes=CHANGES), most_turns=TURNS), renderer(topic, sink), sink)()
    return messages


class Machine:
    """One destination, a run that is to be finished, and whoever crosses it."""

    def __init__(self, folder: Path, kind: Kind) -> None:
        self.folder, self.kind, self.broker = folder, kind, Broker()
        self.others = 0
        self.may_repeat: Counter[Place] = Counter()
        self.on_disk: dict[int, int] = {}  # size of each file at its last fsync, by its number

    def schedule(self, lives: Sequence[Life], last: Life) -> None:
        """Lives a schedule. Raises AssertionError for a promise that is broken."""
        for life in lives:
            self.cross(life.before)
            try:
                self.live("run", life)
            except SimulatorError:
                if not life.may_fail:
                    raise
            except Killed:
                if life.without_power:
                    self.lose_what_is_not_on_disk()
        self.cross(last.before)
        self.check(self.live("run", last))

    # Lives

    def live(self, name: str, life: Life, limit: int = CHANGES, option: str = "") -> Summary:
        """A life of the run that writes to the topic of this name. Raises what ends it."""
        file, dead, written, write = self.folder / name, False, 0, bookmark.write

        def killing(to: Path, mark: bookmark.Bookmark) -> None:
            nonlocal dead, written
            if dead:
                return
            number, written = written, written + 1
            trouble = life.at_write[1] if life.at_write is not None and life.at_write[0] == number else None
            if trouble == "disk full":
                raise UsageError(f"--resume {to}: it cannot be written: {os.strerror(errno.ENOSPC)}.")
            if trouble != "killed before":
                write(to, mark)
            if trouble is not None:
                dead = True
                raise Killed

        def fsync(descriptor: int) -> None:
            state = os.fstat(descriptor)
            self.on_disk[state.st_ino] = state.st_size

        with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
            patch.setattr(os, "fsync", fsync)
            resumed = stack.enter_context(Resumed(file, self.identity(name, option)))
            if name == "run":
                self.may_repeat.update(self.on_their_way())
                self.forget_what_is_written_again(resumed)
            sink = self.opened(name, iter(life.answers), resumed)
            stack.callback(sink.close)
            send = sink.write

            def dying(*arguments: Any, **named: Any) -> None:
                nonlocal dead
                try:
                    send(*arguments, **named)
                except Killed:
                    dead = True
                    raise

            patch.setattr(sink, "write", dying)
            patch.setattr(bookmark, "write", killing)
            resumed.ask(sink)
            plan = job(name).plan(Limits(changes=limit), most_turns=TURNS)
            if resumed.start is not None:
                plan = rest(plan, resumed.start)
            resumed.check_end(plan)
            return Run(plan, renderer(name, sink), sink, resumed=resumed)()

    def identity(self, name: str, option: str = "") -> dict[str, str]:
        return identity_of(job(name), Limits(), Target(f"fake:{name}{option}", "fake", FAKE, None).deciding())

    def opened(self, name: str, answers: Iterator[Answer], resumed: Resumed) -> Sink:
        match self.kind:
            case "acknowledged":
                return FakeSink(self.broker, name, answers)
            case "transactions":
                return FakeTransactions(self.broker, name, answers)
            case "files":
                return CrashingFiles(answers, self.folder / f"{name} files", resumed)

    def forget_what_is_written_again(self, resumed: Resumed) -> None:
        """Behind the position files are written again: what was on the disk there is not what will be."""
        for path in (self.folder / "run files").glob("*"):
            state, number = resumed.before.files.get(path.name), path.stat().st_ino
            self.on_disk[number] = min(self.on_disk.get(number, 0), 0 if state is None else state.size)

    def lose_what_is_not_on_disk(self) -> None:
        for path in (self.folder / "run files").glob("*"):
            state = path.stat()
            os.truncate(path, min(state.st_size, self.on_disk.get(state.st_ino, 0)))

    def on_their_way(self) -> Counter[Place]:
        """Messages that may have been sent and are not acknowledged, by the resume file: the next life sends them
        again."""
        mark = bookmark.read(self.folder / "run")
        if mark is None or mark.sent is None or self.kind != "acknowledged":
            return Counter()
        start, arrived = mark.position.next or OrderKey(0, -1, 0), mark.position.acknowledged
        return Counter(
            place
            for place, messages in wanted("run").items()
            for key, _ in messages
            if start <= key <= mark.sent and key > arrived.get(place, OrderKey(0, -1, 0))
        )

    # Others

    def cross(self, what: str) -> None:
        """What others do between two lives of the run."""
        mark = bookmark.read(self.folder / "run")
        last = None if mark is None else self.last(mark)
        match what:
            case "another run":
                self.others += 1
                self.live(f"other{self.others}", Life())
            case "another command" if mark is not None:
                with pytest.raises(UsageError, match="that run had the URL's option queue"):
                    self.live("run", Life(), option="?queue=other")
            case "a shorter limit" if last is not None and last.turn > TURNS:
                with pytest.raises(UsageError, match="beyond the end of this one"):
                    self.live("run", Life(), limit=1)
            case "a second process":
                with pytest.MonkeyPatch.context() as patch, Resumed(self.folder / "run", self.identity("run")):
                    patch.setattr(bookmark, "LOCK_SECS", 0.0)
                    with pytest.raises(UsageError, match="another run that is not over"):
                        Resumed(self.folder / "run", self.identity("run"))
            case "a changed file" if mark is not None and any(state.size for state in mark.files.values()):
                self.change(next(name for name, state in sorted(mark.files.items()) if state.size), mark)

    def change(self, name: str, mark: bookmark.Bookmark) -> None:
        """A file that is too short is refused, and put back."""
        file = self.folder / "run files" / name
        content = file.read_bytes()
        os.truncate(file, mark.files[name].size - 1)
        with pytest.raises(UsageError, match="put the file back"):
            self.live("run", Life())
        assert file.stat().st_size == mark.files[name].size - 1
        file.write_bytes(content)

    def last(self, mark: bookmark.Bookmark) -> OrderKey | None:
        """How far the run has come for those who read: what transactions left open counts for nobody."""
        match self.kind:
            case "acknowledged":
                return mark.sent
            case "transactions":
                return self.broker.positions.get(mark.run_id)
            case "files":  # what is behind the position is cut off
                return max(mark.position.acknowledged.values(), default=None)

    # The end

    def held(self, name: str, place: Place) -> list[bytes]:
        """What an independent reader finds in a partition."""
        if self.kind != "files":
            return self.broker.held[place]
        return (self.folder / f"{name} files" / f"{place[0]}-{place[1]}.jsonl").read_bytes().splitlines()

    def check(self, summary: Summary) -> None:
        """Raises AssertionError for what an independent reader finds that is not so."""
        repeated = {(each["topic"], each["partition"]): each["messages"] for each in summary.repeated_in}
        assert summary.repeated == sum(repeated.values())
        for name in ("run", *(f"other{number + 1}" for number in range(self.others))):
            for place, messages in wanted(name).items():
                values, held = [value for _, value in messages], self.held(name, place)
                assert list(dict.fromkeys(held)) == values
                numbers = [values.index(value) for value in held]
                assert all(later <= earlier + 1 for earlier, later in pairwise(numbers))
                if name == "run":
                    most = self.may_repeat[place] + self.broker.again[place]
                    assert len(held) - len(values) <= repeated.get(place, 0) <= most
                else:
                    assert held == values
