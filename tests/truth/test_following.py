"""A consumer's tables followed while it runs: right in the end, behind, or with lost changes, at the turn reached."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from command import Command

import simulator
from simulator.library import Simulation
from simulator.pytest_plugin import Cdc
from simulator.run.job import open_job
from simulator.truth.known import KnownRows
from simulator.truth.verify.tables.comparer import TableVerdict, WrongRow
from simulator.truth.verify.tables.following import Follower, Patience, Progress, Reached
from simulator.truth.verify.tables.positions import expected_tables, opened

FORMAT = "dts-canal-json,frac=pad,timestamp_zone=UTC"
SETTINGS: dict[str, object] = {"tables.users.rows": 300, "rate": 5}
SET = [word for name, value in SETTINGS.items() for word in ("--set", f"{name}={value}")]
TURN = 1_500


@pytest.fixture(scope="module")
def run() -> Simulation:
    return simulator.simulate("crud", FORMAT, turns=TURN, snapshot=True, settings=SETTINGS)


class Consumer:
    """Keeps `users` in SQLite; `skips` are messages that it loses. Each step applies some messages."""

    def __init__(self, run: Simulation, file: Path, skips: Callable[[int, dict[str, Any]], bool]) -> None:
        self._messages = [(m.order.turn, m.order.phase, json.loads(m.value or b"")) for m in run.messages]
        self._file, self._skips, self._next = file, skips, 0
        with closing(sqlite3.connect(file)) as database, database:
            names = next(list(value["data"][0]) for _, _, value in self._messages if value["data"])
            self._names = names
            columns = ", ".join(f'"{name}" TEXT' for name in names)
            database.execute(f"CREATE TABLE users ({columns}, turn_ INTEGER, at_ INTEGER, PRIMARY KEY (id))")

    def apply(self, count: int) -> bool:
        """Applies the next messages. False: there were none."""
        messages = self._messages[self._next : self._next + count]
        self._next += count
        with closing(sqlite3.connect(self._file)) as database, database:
            for turn, phase, value in messages:
                if value["isDdl"] or self._skips(turn, value):
                    continue
                for row in value["data"]:
                    if value["type"] == "DELETE":
                        database.execute("DELETE FROM users WHERE id = ?", (row["id"],))
                    else:
                        cells = [*(row[name] for name in self._names), turn if phase else -1, value["es"]]
                        database.execute(f"REPLACE INTO users VALUES ({', '.join('?' * len(cells))})", cells)
        return bool(messages)


def followed(consumer: Consumer, file: Path, *, steps: int, **patience: Any) -> tuple[TableVerdict, list[Progress]]:
    """The verdict on a consumer that applies 400 messages between two readings, for some steps. Time is simulated: a
    second a reading."""
    job = open_job("crud", FORMAT, settings=[f"{name}={value}" for name, value in SETTINGS.items()])
    ticks = iter(range(1_000_000))
    left = iter(range(steps))

    def sleep(_: float) -> None:
        if next(left, None) is not None:
            consumer.apply(400)

    before = partial(expected_tables, job.stream, known=KnownRows(job.format, job.codec))
    tables = opened([f"users=sqlite:{file}"], before(TURN))
    follower = Follower(job.stream, TURN, tables, before, patience=Patience(**patience))
    progress: list[Progress] = []
    (verdict,) = follower.follow(progress.append, clock=lambda: float(next(ticks)), sleep=sleep)
    return verdict, progress


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "consumer.db"


COLUMNS = pytest.mark.parametrize(
    "reached", [None, Reached("turn_", False), Reached("at_", True)], ids=["visible", "turn", "time"]
)


@COLUMNS
def test_a_right_consumer_ends_as_soon_as_it_is_right(run: Simulation, file: Path, reached: Reached | None) -> None:
    verdict, progress = followed(Consumer(run, file, lambda *_: False), file, steps=100, reached=reached)
    assert verdict.ok, str(verdict)
    assert progress[0].right < progress[-1].right == progress[-1].expected == verdict.expected
    if reached is not None:
        turns = [each.reached or 0 for each in progress]
        assert turns == sorted(turns)
        assert turns[-1] >= TURN - 5


@COLUMNS
def test_a_slow_consumer_is_behind_and_has_lost_nothing(run: Simulation, file: Path, reached: Reached | None) -> None:
    verdict, _ = followed(Consumer(run, file, lambda *_: False), file, steps=3, reached=reached, quiet_secs=5)
    assert not verdict.ok
    assert not verdict.counts, str(verdict)
    assert verdict.behind > 50
    assert verdict.reached is not None
    assert 0 < verdict.reached < TURN
    assert f"rows wait for changes from turn {verdict.reached:,} on" in str(verdict)


@COLUMNS
def test_lost_changes_are_told_from_lag(run: Simulation, file: Path, reached: Reached | None) -> None:
    """Every fortieth turn is lost, and the consumer stops before the end."""
    consumer = Consumer(run, file, lambda turn, value: turn % 40 == 7)
    verdict, _ = followed(consumer, file, steps=3, reached=reached, quiet_secs=5)
    assert verdict.behind > 50
    assert 5 < sum(verdict.counts.values()) < 40, str(verdict)
    assert "earlier changes are lost" in str(verdict)
    assert any("is missing" in each.cause or "its last change is" in each.cause for each in verdict.examples)


def test_lost_changes_of_a_consumer_that_went_on(run: Simulation, file: Path) -> None:
    consumer = Consumer(run, file, lambda turn, value: turn in (3, 800))
    verdict, _ = followed(consumer, file, steps=1000, quiet_secs=5)
    assert verdict.behind == 0
    assert 1 <= sum(verdict.counts.values()) <= 4
    assert set(verdict.counts) <= set(WrongRow)


def test_the_time_is_bounded(run: Simulation, file: Path, command: Command) -> None:
    """A consumer that changes without end; and the command, whose exit status is the verdict."""
    consumer = Consumer(run, file, lambda *_: True)
    consumer.apply(1)
    verdict, progress = followed(consumer, file, steps=1000, quiet_secs=10_000, timeout_secs=20)
    assert not verdict.ok
    assert len(progress) <= 20
    arguments = ["crud", "-f", FORMAT, *SET, "--at", str(TURN), "--follow"]
    place = ["--table", f"users=sqlite:{file}"]
    done = command("verify", *arguments, *place, "--quiet", "1ms", "--timeout", "1ms", status=1)
    assert "users: 0 rows" in done.out
    for wrong, words in (
        (["--reached", "turn_"], "write turn:COLUMN"),
        (["--reached", "turn:nothing"], "it has no column 'nothing', which --reached names"),
        (["--timeout", "soon"], "--timeout 'soon': write a time"),
    ):
        assert words in command("verify", *arguments, *place, *wrong, status=2).err
    assert "go with --follow" in command("verify", *arguments[:-1], *place, "--quiet", "3s", status=2).err


def test_the_library_waits_for_a_consumer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A consumer that began with nothing, without a snapshot: half of it is lag and no loss, and then it goes on."""
    monkeypatch.setattr("simulator.truth.verify.tables.following.PAUSE_SECS", 0.01)
    cdc = Cdc("crud", FORMAT, turns=900, limit=None, settings=SETTINGS)
    run, file = simulator.simulate("crud", FORMAT, turns=900, settings=SETTINGS), tmp_path / "consumer.db"
    consumer, place = Consumer(run, file, lambda *_: False), f"sqlite:{file}"
    consumer.apply(450)
    for reached in (None, "turn:turn_"):
        (verdict,) = run.verify(place, follow="1ms", reached=reached)
        assert verdict.behind > 50, str(verdict)
        assert not verdict.counts, str(verdict)
    with pytest.raises(AssertionError, match="rows wait for changes from turn"):
        cdc.verify(place, follow="1ms")
    thread = Thread(target=lambda: all(iter(lambda: consumer.apply(50), False)))
    thread.start()
    cdc.verify(place, follow="10m", quiet="10m")
    thread.join()
    options: dict[str, Any] = {"format": FORMAT, "settings": SETTINGS, "at": 900, "follow": "1ms"}
    assert [verdict.ok for verdict in simulator.verify_tables("crud", place, **options)] == [False]  # no snapshot
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"quiet": "1s"}, "quiet and reached go with follow"),
        ({"follow": "soon"}, "write a time"),
        ({"follow": "1s", "reached": "turn_"}, "write turn:COLUMN"),
    ]
    for more, words in wrong:
        with pytest.raises(simulator.UsageError, match=words):
            run.verify(place, **more)
    with pytest.raises(simulator.UsageError, match="name their folder or database"):
        run.verify({"users": []}, follow="1s")
