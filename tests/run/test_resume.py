"""Runs that go on where an earlier one ended: nothing is missing, and files hold nothing twice."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import time
from contextlib import nullcontext
from math import inf
from pathlib import Path
from typing import Any, Final

import orjson
import pytest
from command import Command, start

import simulator
from simulator.errors import UsageError
from simulator.model import OrderKey
from simulator.run import bookmark
from simulator.run.bookmark import Bookmark
from simulator.run.job import open_job
from simulator.run.plan import Limits
from simulator.run.resume import Resumed
from simulator.sinks.files import FolderSink
from simulator.sinks.framing import Lines
from simulator.sinks.ledger import Position
from simulator.sinks.memory import MemorySink
from simulator.sinks.sink import FileState

KILLS = int(os.environ.get("CDCSIM_KILLS", "2"))
LIMIT = 40_000
RUN = ["run", "orders", "-f", "dts-canal-json", "--snapshot", "--route", "key", "--limit", str(LIMIT)]


# Writes of the resume file: before and behind the creation of files, behind the first batch, and before the second.
NUMBERS: Final = (1, 2, 3, 4)


def contents(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What a run writes that nothing interrupts."""
    folder = tmp_path_factory.mktemp("whole") / "messages"
    to = f"file:{folder}?partitions=3"
    simulator.publish("orders", "dts-canal-json", to, snapshot=True, route="key", limit=LIMIT)
    return contents(folder)


def test_files_go_on_from_every_position(
    command: Command, tmp_path: Path, whole: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder as it is some time after the position was written, with half a message more: as after a crash."""
    file, folder = tmp_path / "position", tmp_path / "messages"
    written, write = 0, bookmark.write

    def copy(to: Path, mark: Bookmark) -> None:
        nonlocal written
        write(to, mark)
        if (written := written + 1) in NUMBERS:
            shutil.copytree(folder, tmp_path / f"messages{written}")
            shutil.copy(to, tmp_path / f"position{written}")

    monkeypatch.setattr(bookmark, "write", copy)
    command(*RUN, "--to", f"file:{folder}?partitions=3", "--resume", file, status=0)
    monkeypatch.undo()
    assert written > 6
    assert contents(folder) == whole
    for number in NUMBERS:
        folder, other = tmp_path / "messages", tmp_path / f"messages{number}"
        shutil.rmtree(folder)
        other.rename(folder)
        for path in folder.iterdir():
            with path.open("ab") as more:
                more.write(b'{"half a mess' if number % 2 == 0 else b"")
        shutil.copy(tmp_path / f"position{number}", file)
        command(*RUN, "--to", f"file:{folder}?partitions=3", "--resume", file, status=0)
        assert contents(folder) == whole, number
    # there is nothing left to do
    done = command(*RUN, "--to", f"file:{folder}?partitions=3", "--resume", file, status=0)
    assert "0 messages written" in done.err
    assert contents(folder) == whole


def test_kill(command: Command, tmp_path: Path, whole: dict[str, str]) -> None:
    """SIGKILL of a worker and of the run, in turn, at any moment; the record is that of all parts."""
    file, folder, record = tmp_path / "position", tmp_path / "messages", tmp_path / "record.json"
    arguments = [*RUN, "-q", "--to", f"file:{folder}?partitions=3", "--resume", file, "--record", record]
    for number in range(KILLS):
        before = file.stat().st_mtime_ns if file.exists() else None
        kills_worker = number % 2 == 0
        # so slow that it does not end before
        with start(*arguments, "--workers", "2", "--rate", "500/s") as process:
            while process.poll() is None and (not file.exists() or file.stat().st_mtime_ns == before):
                time.sleep(0.01)
            time.sleep(random.Random(number).random() / 4)
            if kills_worker:
                workers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
                os.kill(int(workers[number // 2 % 2]), signal.SIGKILL)
                _, err = process.communicate()
                assert (process.returncode, b"was killed by SIGKILL" in err) == (1, True), err
            process.kill()
    command(*arguments, status=0)
    assert contents(folder) == whole
    recorded(orjson.loads(record.read_bytes()), folder)


def recorded(record: dict[str, Any], folder: Path) -> None:
    """Each part of a run is in its record as it is in the files, and nothing else is."""
    lines = {path.name: path.read_bytes().splitlines(keepends=True) for path in folder.iterdir()}
    assert record["total"]["delivered"] == sum(map(len, lines.values()))
    for part in (*record["earlier"], record):
        for each in part["partitions"]:
            rest = lines[f"{each['topic']}-{each['partition']}.jsonl"]
            assert hashlib.sha256(b"".join(rest[: each["sent"]])).hexdigest() == each["sha256"]
            del rest[: each["sent"]]
    assert not any(lines.values())


OTHERS: Final = [
    (["--seed", "9"], "seed '1', and this one has '9'"),
    (["-f", "canal-json"], "format 'dts-canal-json', and this one has 'canal-json'"),
    (["--source", "mysql-5.7"], "source 'mysql-8.0', and this one has 'mysql-5.7'"),
    (["--route", "table"], "route 'key', and this one has 'table'"),
    (["--no-snapshot"], "snapshot 'true', and this one has 'false'"),
    (["--start-at", "7"], "--start-at '0', and this one has '7'"),
]


def test_another_run_is_refused(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "position"
    arguments = [*RUN[:-1], "100", "--to", f"file:{tmp_path / 'messages'}", "--resume", file]
    command(*arguments, status=0)
    for change, said in OTHERS:
        other = [*arguments]
        for option in ("-f", "--route"):
            if option in change:
                at = other.index(option)
                del other[at : at + 2]
        if "--no-snapshot" in change:
            other.remove("--snapshot")
        done = command(*other, *change, status=2)
        assert done.err == f"cdcsim: --resume {file}: that run had {said}; give the same again, or another file.\n"


def test_another_count_of_partitions_and_other_files_are_refused(command: Command, tmp_path: Path) -> None:
    file, folder = tmp_path / "position", tmp_path / "messages"
    arguments = [*RUN[:-1], "100", "--resume", file, "--to"]
    command(*arguments, f"file:{folder}?partitions=3", status=0)
    done = command(*arguments, f"file:{folder}?partitions=4", status=2)
    assert "topic 'dts' had 3 partitions, and now it has 4" in done.err
    for to in ("-", f"parquet:{folder}"):
        assert f"a run to {to} cannot be resumed" in command(*arguments, to, status=2).err


def test_a_position_is_read_as_it_was_written(tmp_path: Path) -> None:
    place = ("topic", 3)
    mark = Bookmark(
        {"seed": "1"},
        Position(OrderKey(1, 5, 2), {place: OrderKey(1, 7, 0)}),
        OrderKey(1, 9, 4),
        {"topic": 4},
        {"topic-3.jsonl": FileState(77, "0a")},
        {place: 8},
        {place: 5},
        [{"messages": 6}],
        {"partitioner": "murmur2"},
    )
    bookmark.write(tmp_path / "position", mark)
    assert bookmark.read(tmp_path / "position") == mark
    assert [path.name for path in tmp_path.iterdir()] == ["position"]
    later = bookmark.merged(mark.position, Position(OrderKey(1, 8, 0), {place: OrderKey(1, 8, 4)}))
    assert later == Position(OrderKey(1, 8, 0), {place: OrderKey(1, 8, 4)})
    assert bookmark.merged(mark.position, Position(None, {})) == mark.position


@pytest.mark.parametrize(
    ("most", "missed"),
    [
        ([5, 3], None),
        ([inf, inf], None),
        (None, None),
        ([9, 9, 0], None),  # another count of partitions is told as that
        ([5, 2], "3 messages had arrived at topic 'topic', partition 1,"),
        ([0, 0], "5 messages had arrived at topic 'topic', partition 0,"),
        ([], "5 messages had arrived at topic 'topic', partition 0,"),
    ],
)
def test_messages_that_had_arrived_are_looked_for(most: list[float] | None, missed: str | None, tmp_path: Path) -> None:
    """A destination says how many each partition can have got at most."""
    mark = Bookmark(
        {},
        Position(OrderKey(1, 4, 0), {("topic", 0): OrderKey(1, 3, 0)}),
        OrderKey(1, 9, 0),
        {"topic": 2},
        arrived={("topic", 0): 5, ("topic", 1): 3},
    )
    bookmark.write(tmp_path / "position", mark)

    class Counting(MemorySink):
        def most_arrived(self, topic: str) -> list[float] | None:
            return most

    refused = pytest.raises(UsageError, match=missed) if missed else nullcontext()
    with Resumed(tmp_path / "position", {}) as resumed, refused:
        resumed.ask(Counting())


def test_the_last_key_sent_never_goes_back(tmp_path: Path) -> None:
    """A part that is killed earlier than the one before it: the next part still counts what that one may have sent."""
    sent = OrderKey(1, 999, 0)
    bookmark.write(tmp_path / "position", Bookmark({}, Position(OrderKey(1, 0, 0), {}), sent, {"example": 1}))
    job = open_job("crud", "canal-json")
    (batch,) = (job.renderer(lambda topic: 1).render_block(block) for block in job.plan(Limits(turns=8)).blocks())
    assert batch is not None
    with Resumed(tmp_path / "position", {}) as resumed:
        resumed.ask(sink := MemorySink())
        resumed.sending(batch, sink)
    mark = bookmark.read(tmp_path / "position")
    assert mark is not None
    assert (mark.sent, sum(mark.repeated.values())) == (sent, len(batch))


def test_settings_of_places_are_compared(tmp_path: Path) -> None:
    """Some settings are known only once the sink is open: Kafka's partitioner may come from a file."""

    class Placing(MemorySink):
        def __init__(self, partitioner: str) -> None:
            super().__init__()
            self._partitioner = partitioner

        def settings_of_places(self) -> dict[str, str]:
            return {"partitioner": self._partitioner}

    mark = Bookmark({}, Position(OrderKey(1, 4, 0), {}), OrderKey(1, 9, 0), settings={"partitioner": "murmur2"})
    bookmark.write(tmp_path / "position", mark)
    with Resumed(tmp_path / "position", {}) as resumed:
        resumed.ask(Placing("murmur2"))
        with pytest.raises(UsageError, match="that run had partitioner 'murmur2', and this one has 'random'"):
            resumed.ask(Placing("random"))


def test_what_a_position_counts_is_on_the_disk_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files, their names, the position, and its name, in this order; and what is cut off."""
    steps: list[tuple[str, int]] = []
    fsync, rename = os.fsync, os.replace

    def syncing(descriptor: int) -> None:
        steps.append(("sync", os.fstat(descriptor).st_ino))
        fsync(descriptor)

    def renaming(source: Path, target: Path) -> None:
        steps.append(("rename", source.stat().st_ino))
        rename(source, target)

    monkeypatch.setattr(os, "fsync", syncing)
    monkeypatch.setattr(os, "replace", renaming)
    file, folder = tmp_path / "marks" / "position", tmp_path / "messages"
    file.parent.mkdir()
    simulator.publish("crud", "canal-json", f"file:{folder}", limit=10, resume=file)
    message_file = folder / "example-0.jsonl"
    steps_of_the_last_write = [
        ("sync", message_file), ("sync", folder), ("sync", file), ("rename", file), ("sync", file.parent),
    ]  # fmt: skip
    assert steps[-5:] == [(step, path.stat().st_ino) for step, path in steps_of_the_last_write]
    del steps[:]
    message_file.write_bytes(b"kept\nmore")
    with FolderSink(
        folder, 1, Lines(), {message_file.name: FileState(5, hashlib.sha256(b"kept\n").hexdigest())}
    ) as sink:
        sink.flush()
    assert (message_file.read_bytes(), steps) == (b"kept\n", [("sync", message_file.stat().st_ino)])


def test_a_record_tells_what_was_sent(command: Command, tmp_path: Path) -> None:
    folder, file = tmp_path / "messages", tmp_path / "record.json"
    command(*RUN[:-1], "2000", "--to", f"file:{folder}?partitions=3", "--record", file, status=0)
    record: dict[str, Any] = orjson.loads(file.read_bytes())
    digests = {f"{each['topic']}-{each['partition']}.jsonl": each["sha256"] for each in record["partitions"]}
    assert digests == contents(folder)
    assert sum(each["delivered"] for each in record["partitions"]) == record["delivered"] == record["messages"]
    assert record["failure"] is None
    assert record["run"]["seed"] == "1"
    assert 0 < record["latency_ms"]["p50"] <= record["latency_ms"]["p99.9"] <= record["latency_ms"]["max"]
    assert max(each["last"] for each in record["partitions"]).startswith("turn ")


def test_a_record_has_the_parts_of_a_run_that_went_on(command: Command, tmp_path: Path) -> None:
    file, record = tmp_path / "position", tmp_path / "record.json"
    to = ["--to", f"file:{tmp_path / 'messages'}", "--resume", file]
    for limit in ("500", "1000"):  # a part without a record counts, too
        command(*RUN[:-1], limit, *to, status=0)
    command(*RUN[:-1], "2000", *to, "--record", record, status=0)
    later = orjson.loads(record.read_bytes())
    first, second = later["earlier"]
    assert first["resumed_from"] is None
    assert {part["sha256"] for part in first["partitions"]} == {None}
    assert (second["resumed_from"], later["resumed_from"]) == (first["next"], second["next"])
    command(*RUN[:-1], "2000", "--to", f"file:{tmp_path / 'whole'}", "--record", record, status=0)
    whole = orjson.loads(record.read_bytes())
    assert sum(part["messages"] for part in (first, second, later)) == whole["messages"] == later["total"]["delivered"]
    assert (whole["resumed_from"], whole["earlier"]) == (None, [])


def test_a_missed_rate_is_reported(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "summary.json"
    arguments = ["run", "crud", "-f", "canal-json", "--limit", "3000", "--summary-to", file]
    done = command(*arguments, "--to", f"file:{tmp_path / 'fast'}", "--rate", "100000m/s", status=0)
    assert "the rate was missed: " in done.err
    missed = orjson.loads(file.read_bytes())
    assert 0 < missed["rate_reached"] < missed["rate_wanted"]
