"""A model of delivery: runs that are killed, cut off, refused and begun anew, against a broker in memory.

A schedule is a list of lives of one run. Each life is told what the broker does with every batch (answers, answers
late, breaks the connection, refuses a message) and whether the process is killed, within a batch or around the writing
of its resume file. Between them other runs write to the same broker, other commands try to take the position, and a
second process tries to have the resume file. The last life comes to its end. Then the broker's partitions are read:

* every message is there, in order;
* what is there twice is one step back, and the summary counted it;
* in transactions nothing is there twice.

CDCSIM_SCHEDULES says how many schedules are tried.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulator.batch import MessageBatch
from simulator.delivery.router import parse_route
from simulator.errors import DeliveryFailed, UsageError
from simulator.model import OrderKey
from simulator.native.program import ARROW
from simulator.run import bookmark
from simulator.run.job import Job, open_job
from simulator.run.pipeline import Run, Summary
from simulator.run.plan import Limits
from simulator.run.render import Rendered, Renderer
from simulator.run.resume import Resumed, rest
from simulator.run.session import identity as identity_of
from simulator.sinks.ledger import Parcel, Place
from simulator.sinks.sink import Sink
from simulator.sinks.target import Target, Transport

SCHEDULES: Final = int(os.environ.get("CDCSIM_SCHEDULES", "60"))
PARTITIONS: Final = 3
CHANGES: Final = 96
TURNS: Final = 16  # of a block


class Killed(BaseException):
    """The process is gone."""


@dataclass
class Broker:
    """What partitions hold, and the positions that transactions committed, by run."""

    held: dict[Place, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    positions: dict[str, OrderKey] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """What becomes of a batch: `stored` of its messages arrive before the trouble."""

    kind: Literal["at once", "late", "killed", "broken", "refused"]
    stored: int = 0


class FakeSink(Sink):
    """Sends to a broker in memory, which answers as it is told, and at once after that."""

    def __init__(self, broker: Broker, topic: str, answers: Iterator[Answer]) -> None:
        super().__init__()
        self.topic_pattern = topic
        self._broker, self._answers = broker, answers
        self._open: list[tuple[Place, bytes, Parcel]] = []

    def partitions(self, topic: str) -> int:
        return PARTITIONS

    def _store(self, messages: Sequence[tuple[Place, bytes, Parcel]]) -> None:
        for place, value, _ in messages:
            self._broker.held[place].append(value)

    def write(self, batch: MessageBatch, parcels: Sequence[Parcel], *, whole: bool) -> None:
        values = batch["value"].to_pylist()
        messages = [((p.topic, p.partition), values[row], p) for p in parcels for row in p.rows.tolist()]
        answer = next(self._answers, Answer("at once"))
        stored = min(answer.stored, len(messages))
        match answer.kind:
            case "killed":
                self._store(messages[:stored])
                raise Killed
            case "refused":
                self._store(messages[:stored])
                self._fail(messages, stored, parcels)
            case "broken":
                self._store(messages[:stored])
                again = [*self._open, *messages]
                for place, _, _ in again[: len(self._open) + stored]:
                    self.ledger.repeat(place, 1)
                self._store(again)
                self._open = []
                self.ledger.acknowledge_all()
            case kind:
                self._store(messages)
                self._open += messages
                if kind == "at once":
                    self.flush()

    def _fail(self, messages: Sequence[tuple[Place, bytes, Parcel]], stored: int, parcels: Sequence[Parcel]) -> None:
        """Everything before the refused message is acknowledged in its partition, and nothing is sent behind it."""
        arrived: dict[Place, int] = defaultdict(int)
        for place, _, _ in messages[:stored]:
            arrived[place] += 1
        for parcel in parcels:
            number = parcel.first + arrived[parcel.topic, parcel.partition]
            if number < parcel.end:
                self.ledger.fail(parcel, number, "refused")
                self.ledger.withhold(parcel, number)
        self._open = []
        self.ledger.acknowledge_all()
        self.check()

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
        if answer.kind == "killed" and not answer.stored % 2:
            raise Killed
        self._open += [((p.topic, p.partition), values[row], p) for p in parcels for row in p.rows.tolist()]
        self._last = batch.order_key(len(batch) - 1)
        if answer.kind == "refused":
            self.ledger.fail_open("its transaction was not committed", dropped=False)
            self._open = []
            self.check()
        if answer.kind != "late":
            self._commit()
        if answer.kind == "killed":  # after the commit, before anybody knows
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


@dataclass(frozen=True)
class Life:
    """One life of the run: answers to its batches, whether the writing of its resume file kills it (the number of the
    time, and whether before or after), and what others do before it."""

    answers: tuple[Answer, ...]
    killed_at: tuple[int, bool] | None
    before: Literal["nothing", "another run", "another command", "a second process", "a shorter limit"]


ANSWERS: Final = st.builds(
    Answer, st.sampled_from(["at once", "late", "late", "killed", "broken", "refused"]), st.integers(0, 30)
)
# The last life is not killed, and nothing of it is refused.
LAST: Final = st.lists(ANSWERS.filter(lambda answer: answer.kind not in ("killed", "refused")), max_size=4).map(tuple)
LIVES: Final = st.lists(
    st.builds(
        Life,
        st.lists(ANSWERS, max_size=6).map(tuple),
        st.none() | st.tuples(st.integers(0, 12), st.booleans()),
        st.sampled_from(["nothing", "another run", "another command", "a second process", "a shorter limit"]),
    ),
    min_size=1,
    max_size=4,
)


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
    this = job(topic)
    return Remembering(this.stream, this.codec, parse_route("key", this.codec.layout.routing), topic, sink.partitions)


@cache
def wanted(topic: str) -> Mapping[Place, list[bytes]]:
    """Every message, by partition."""
    sink = FakeSink(broker := Broker(), topic, iter(()))
    plan = job(topic).plan(Limits(changes=CHANGES), most_turns=TURNS)
    Run(plan, renderer(topic, sink), sink)()
    return broker.held


class Machine:
    """One broker, a run that is to be finished, and whoever crosses it."""

    def __init__(self, folder: Path, kind: type[FakeSink]) -> None:
        self.folder, self.kind, self.broker = folder, kind, Broker()
        self.others = 0
        self.killed = False

    def live(self, name: str, life: Life, limit: int = CHANGES, option: str = "") -> Summary:
        """A life of the run that writes to the topic of this name. Raises what ends it."""
        file, this = self.folder / name, job(name)
        identity = identity_of(this, Limits(), Target(f"fake:{name}{option}", "fake", FAKE, None).deciding())
        dead = False
        write, written = bookmark.write, 0

        def killing(to: Path, mark: bookmark.Bookmark) -> None:
            nonlocal dead, written
            if dead:
                return
            number, written = written, written + 1
            if life.killed_at == (number, False):
                dead = True
                raise Killed
            write(to, mark)
            if life.killed_at == (number, True):
                dead = True
                raise Killed

        class Dying(self.kind):  # type: ignore[name-defined, misc]
            def write(self, *arguments: Any, **named: Any) -> None:
                nonlocal dead
                try:
                    super().write(*arguments, **named)
                except Killed:
                    dead = True
                    raise

        with pytest.MonkeyPatch.context() as patch, Resumed(file, identity) as resumed:
            patch.setattr(bookmark, "write", killing)
            patch.setattr(os, "fsync", lambda descriptor: None)  # the machine lives on
            sink = Dying(self.broker, name, iter(life.answers))
            resumed.ask(sink)
            plan = this.plan(Limits(changes=limit), most_turns=TURNS)
            if resumed.start is not None:
                plan = rest(plan, resumed.start)
            resumed.check_end(plan)
            return Run(plan, renderer(name, sink), sink, resumed=resumed)()

    def cross(self, life: Life) -> None:
        """What others do between two lives of the run."""
        peaceful = Life((), None, "nothing")
        found = bookmark.read(self.folder / "run")
        last = None if found is None else self.last(found)
        match life.before:
            case "another run":
                self.others += 1
                self.live(f"other{self.others}", peaceful)
            case "another command" if found is not None:
                with pytest.raises(UsageError, match="that run had the URL's option queue"):
                    self.live("run", peaceful, option="?queue=other")
            case "a shorter limit" if last is not None and last.turn > TURNS:
                with pytest.raises(UsageError, match="beyond the end of this one"):
                    self.live("run", peaceful, limit=1)
            case "a second process":
                with pytest.MonkeyPatch.context() as patch, Resumed(self.folder / "locked", {}):
                    patch.setattr(bookmark, "LOCK_SECS", 0.0)
                    with pytest.raises(UsageError, match="another run that is not over"):
                        Resumed(self.folder / "locked", {})

    def last(self, found: bookmark.Bookmark) -> OrderKey | None:
        """How far the run has come for those who read: what transactions left open counts for nobody."""
        return self.broker.positions.get(found.run_id) if self.kind is FakeTransactions else found.sent

    def check(self, summary: Summary) -> None:
        """Raises AssertionError for what an independent reader finds that is not so."""
        for name in ("run", *(f"other{number + 1}" for number in range(self.others))):
            for place, values in wanted(name).items():
                held = self.broker.held[place]
                assert list(dict.fromkeys(held)) == values
                numbers = [values.index(value) for value in held]
                assert all(later <= earlier + 1 for earlier, later in pairwise(numbers))
        held = Counter((place, value) for place in wanted("run") for value in self.broker.held[place])
        extra = sum(count - 1 for count in held.values())
        if self.kind is FakeTransactions:
            assert (extra, summary.repeated) == (0, 0)
        # A life that was killed takes its last count with it; the messages themselves are counted when they are sent
        # again, so that each of those that are there several times is counted at least once.
        assert (sum(count > 1 for count in held.values()) if self.killed else extra) <= summary.repeated
        assert summary.repeated == sum(each["messages"] for each in summary.repeated_in)


@pytest.mark.parametrize("kind", [FakeSink, FakeTransactions])
def test_no_schedule_loses_a_message(kind: type[FakeSink]) -> None:
    @settings(max_examples=SCHEDULES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(LIVES, LAST)
    def schedules(lives: list[Life], last: tuple[Answer, ...]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            machine = Machine(Path(folder), kind)
            for life in lives:
                machine.cross(life)
                try:
                    machine.live("run", life)
                except DeliveryFailed:
                    pass
                except Killed:
                    machine.killed = True
            summary = machine.live("run", Life(last, None, "nothing"))
            machine.check(summary)

    schedules()
