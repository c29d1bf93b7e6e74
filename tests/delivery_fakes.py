"""Destinations of the model of delivery in memory and in files, whose kills are exceptions."""

from __future__ import annotations

import errno
import os
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import pytest
from delivery_model import PARTITIONS, Answer, Killed, Life, Machine, job

from simulator.batch import MessageBatch
from simulator.delivery.router import parse_route
from simulator.errors import SimulatorError, UsageError
from simulator.model import OrderKey
from simulator.native.program import ARROW
from simulator.run import bookmark
from simulator.run.render import Rendered, Renderer
from simulator.run.resume import Resumed
from simulator.run.summary import Summary
from simulator.sinks.files import FolderSink
from simulator.sinks.framing import Lines
from simulator.sinks.ledger import Parcel, Place
from simulator.sinks.sink import Sink
from simulator.sinks.target import Target, Transport

Kind = Literal["acknowledged", "transactions", "files"]
KINDS: Final[tuple[Kind, ...]] = ("acknowledged", "transactions", "files")


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

    def most_arrived(self, topic: str) -> Sequence[float]:
        return [len(self._broker.held[topic, number]) for number in range(PARTITIONS)]

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
        if answer.kind != "late" and whole:
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


# ---------------------------------------------------------------------------------------------------------- the machine


FAKE: Final = Transport(form="fake:TOPIC", parse=str, open=lambda url, contents: FakeSink(Broker(), url, iter(())))


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


class Fakes(Machine):
    """A run to a destination of this kind."""

    other = ("queue", "other")

    def __init__(self, folder: Path, kind: Kind) -> None:
        super().__init__(folder)
        self.kind, self.broker = kind, Broker()
        self.sends_again = kind == "acknowledged"
        self.is_dead = False
        self.on_disk: dict[int, int] = {}  # size of each file at its last fsync, by its number

    def topic(self, name: str) -> str:
        return name

    def target(self, name: str, **options: str) -> Target:
        query = "&".join(f"{option}={text}" for option, text in options.items())
        return Target(f"fake:{name}?{query}", "fake", FAKE, None)

    def renderer(self, name: str, sink: Sink) -> Renderer:
        codec = job(name).codec
        return Remembering(job(name).stream, codec, parse_route("key", codec.layout.routing), name, sink.partitions)

    def die(self) -> None:
        self.is_dead = True
        raise Killed

    def live(self, name: str, life: Life, **options: Any) -> Summary:
        write = bookmark.write
        self.is_dead = False

        def unless_dead(to: Path, mark: bookmark.Bookmark) -> None:
            if not self.is_dead:
                write(to, mark)

        def fsync(descriptor: int) -> None:
            state = os.fstat(descriptor)
            self.on_disk[state.st_ino] = state.st_size

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "fsync", fsync)
            patch.setattr(bookmark, "write", unless_dead)
            return super().live(name, life, **options)

    def opened(self, name: str, life: Life, resumed: Resumed) -> Sink:
        if name == "run":
            self.forget_what_is_written_again(resumed)
        sink = self.sink(name, iter(life.answers), resumed)
        send = sink.write

        def dying(*arguments: Any, **named: Any) -> None:
            try:
                send(*arguments, **named)
            except Killed:
                self.is_dead = True
                raise

        sink.write = dying  # type: ignore[method-assign]
        return sink

    def sink(self, name: str, answers: Iterator[Answer], resumed: Resumed) -> Sink:
        match self.kind:
            case "acknowledged":
                return FakeSink(self.broker, name, answers)
            case "transactions":
                return FakeTransactions(self.broker, name, answers)
            case "files":
                return CrashingFiles(answers, self.folder / f"{name} files", resumed)

    def last(self, mark: bookmark.Bookmark) -> OrderKey | None:
        return self.broker.positions.get(mark.run_id) if self.kind == "transactions" else super().last(mark)

    def forget_what_is_written_again(self, resumed: Resumed) -> None:
        """Behind the position files are written again: what was on the disk there is not what will be."""
        for path in (self.folder / "run files").glob("*"):
            state, number = resumed.before.files.get(path.name), path.stat().st_ino
            self.on_disk[number] = min(self.on_disk.get(number, 0), 0 if state is None else state.size)

    def lose_what_is_not_on_disk(self) -> None:
        for path in (self.folder / "run files").glob("*"):
            state = path.stat()
            os.truncate(path, min(state.st_size, self.on_disk.get(state.st_ino, 0)))

    def check_end(self, mark: bookmark.Bookmark) -> None:
        for path in (self.folder / "run files").glob("*"):
            assert path.stat().st_size == mark.files[path.name].size

    def make_again(self, place: Place, mark: bookmark.Bookmark) -> None:
        if self.kind == "files":
            return
        messages = self.broker.held[place]
        self.broker.held[place] = messages[: mark.arrived[place] - 1]
        with pytest.raises(UsageError, match="it was deleted since, or the broker has lost messages"):
            self.live("run", Life())
        self.broker.held[place] = messages

    def held(self, name: str, place: Place) -> Sequence[bytes]:
        if self.kind != "files":
            return self.broker.held[place]
        return (self.folder / f"{name} files" / f"{place[0]}-{place[1]}.jsonl").read_bytes().splitlines()

    def sent_again(self, place: Place) -> int:
        return self.broker.again[place]
