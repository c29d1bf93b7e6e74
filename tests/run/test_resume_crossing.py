"""Runs that cross: another command, another run at once, files and positions that are not as a run left them."""

from __future__ import annotations

import errno
import hashlib
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import orjson
import pytest
from command import Command, start

import simulator
from simulator.batch import MessageBatch
from simulator.errors import DeliveryFailed, UsageError
from simulator.model import OrderKey
from simulator.run import bookmark
from simulator.run.job import open_job
from simulator.run.plan import Limits
from simulator.run.session import identity as identity_of
from simulator.sinks import parse_target
from simulator.sinks.files import FolderSink
from simulator.sinks.framing import Lines
from simulator.sinks.kafka import url as kafka
from simulator.sinks.rabbitmq import url as rabbitmq
from simulator.sinks.rocketmq import url as rocketmq
from simulator.sinks.sink import FileState


class Killed(BaseException):
    """The process is gone."""


RUN: Final = ["run", "orders", "-f", "dts-canal-json", "--snapshot", "--route", "key", "--limit"]


def contents(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


# What another command line decides, and what it says.
DECIDING: Final = [
    (["--envelope"], "", "envelope 'false', and this one has 'true'"),
    (["--clock", "wall"], "", "--clock 'simulated', and this one has 'wall'"),
    (["--faults", "duplicates"], "", "--faults not set, and this one has 'duplicates'"),
    ([], "more", "destination 'file:{folder}', and this one has 'file:{folder}more'"),
]


def test_all_that_decides_bytes_and_places_is_compared(command: Command, tmp_path: Path) -> None:
    file, folder = tmp_path / "position", tmp_path / "messages"
    arguments = [*RUN, "100", "--resume", file]
    command(*arguments, "--to", f"file:{folder}", status=0)
    for change, more, said in DECIDING:
        done = command(*arguments, *change, "--to", f"file:{folder}{more}", status=2)
        assert f"that run had {said.format(folder=folder)}; give the same again" in done.err
    assert [path.name for path in folder.iterdir()] == ["dts-0.jsonl"]
    assert not (tmp_path / "messagesmore").exists()


def test_the_identity_of_a_job() -> None:
    """What `--force` and `--set` change is in members of their own."""
    job = open_job("orders", "canal-json")
    fewer_rows = open_job("orders", "canal-json", settings=["tables.customers.rows=9"])
    first = identity_of(job, Limits(), {})
    for name, other in (("--force", replace(job, force=True)), ("fingerprint of the scenario", fewer_rows)):
        changed = identity_of(other, Limits(), {})
        assert {member for member in changed if first.get(member) != changed[member]} == {name}


def test_the_identity_of_a_destination() -> None:
    job = open_job("crud", "canal-json")

    def identity(to: str) -> dict[str, str]:
        return identity_of(job, Limits(), parse_target(to).deciding())

    first = identity("amqp://h/v?exchange=a&queue=q&window=9&password_env=HOME")
    assert first != identity("amqp://h/v?exchange=a&queue=q&partitions=1")  # it names queues otherwise
    assert first == identity("amqp://h/v?exchange=a&queue=q&timeout_secs=2")
    for other in ("exchange=b&queue=q", "exchange=a&queue=r", "exchange=a", "exchange=a&queue=q&routing_key=k"):
        assert first != identity(f"amqp://h/v?{other}")
    transactions = identity("kafka://h/t?exactly-once=true")
    assert identity("kafka://h/t") != transactions != identity("kafka://h/t?exactly-once=true&transactional-id=a")
    # what is written in two ways is one
    assert transactions == identity("kafka://h/t?transactional-id=cdcsim-t&exactly-once=true")
    assert identity("kafka://h/t?exactly-once=false") == identity("kafka://h/t")
    assert identity("amqp://h/v?queue=q.{table}&mandatory=true") == identity("amqp://h/v?queue=q.{topic}&topic={table}")
    assert identity("kafka://h/t?compression=lz4") == identity("kafka://h/t")


def test_every_option_of_a_sink_decides_or_may_change() -> None:
    """A new option has to be thought about: what is not listed is compared."""
    deciding = {
        "exactly-once", "transactional-id", "topic_type", "tag", "topic", "exchange", "exchange_type", "routing_key",
        "queue", "queue_type", "mandatory", "persistent", "content_type", "partitions",
    }  # fmt: skip
    kept = {name for sink in (kafka, rabbitmq, rocketmq) for name in sink.OPTIONS.keys() - sink.MAY_CHANGE}
    assert kept == deciding
    assert "partitions" in kafka.MAY_CHANGE & rocketmq.MAY_CHANGE  # topics are asked for what they have


@pytest.mark.parametrize("change", ["shorter", "longer", "other bytes", "gone"])
def test_files_that_are_not_as_the_run_left_them(command: Command, tmp_path: Path, change: str) -> None:
    folder = tmp_path / "messages"
    to = ["--to", f"file:{folder}", "--resume", tmp_path / "position"]
    command(*RUN, "100", *to, status=0)
    path = folder / "dts-0.jsonl"
    size = path.stat().st_size
    match change:
        case "shorter":
            os.truncate(path, size - 1)
            found = f"{size - 1:,} bytes"
        case "longer":  # nothing of the run is on its way: somebody else wrote it
            path.write_bytes(path.read_bytes() + b"not ours\n")
            found = f"{size + 9:,} bytes"
        case "other bytes":
            path.write_bytes(path.read_bytes()[:-9] + b"000000000")
            found = "other bytes before that"
        case _:
            path.unlink()
            found = "no such file"
    before = contents(folder)
    done = command(*RUN, "2000", *to, status=2)
    assert f"the run had written {size:,} bytes of {path}, and there is {found}: put the file back" in done.err
    assert contents(folder) == before


def test_no_file_is_touched_that_the_run_did_not_write(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "messages"
    run = ["run", "orders", "-f", "canal-json", "--route", "key", "--to", f"file:{folder}?partitions=40"]
    run += ["--resume", str(tmp_path / "position"), "--limit"]
    command(*run, "1", status=0)
    written = {path.name for path in folder.iterdir()}
    foreign = next(name for n in range(40) if (name := f"example-{n}.jsonl") not in written)
    (folder / foreign).write_text("not ours\n")
    for _ in range(2):
        done = command(*run, "5000", status=1)
        assert f"{foreign} is already there, and the run that is resumed did not write it" in done.err
    assert (folder / foreign).read_text() == "not ours\n"


@pytest.mark.parametrize("ended", ["before its file", "behind its file"])
def test_a_file_that_a_run_was_about_to_create(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ended: str
) -> None:
    """A run is killed between the note of a new file and its creation, or before the note that it is created: another
    run writes the file, or finds it; the first run goes on where nobody did."""
    folder, written = tmp_path / "messages", 0
    write, to = bookmark.write, ["--to", f"file:{folder}"]

    def killed(file: Path, mark: bookmark.Bookmark) -> None:
        nonlocal written
        if (written := written + 1) == 1:
            write(file, mark)
        if written > 1 or ended == "before its file":
            raise Killed

    monkeypatch.setattr(bookmark, "write", killed)
    resumed = [*RUN, "100", *to, "--resume", tmp_path / "position"]
    with pytest.raises(Killed):
        command(*resumed)
    monkeypatch.undo()
    if ended == "before its file":
        command(*RUN, "20", *to, status=0)
        before = contents(folder)
        assert f"of {folder}/dts-0.jsonl, and there is " in command(*resumed, status=2).err
        assert contents(folder) == before
        (folder / "dts-0.jsonl").unlink()
    else:
        assert "dts-0.jsonl is already there" in command(*RUN, "20", *to, status=1).err
    command(*resumed, status=0)
    command(*RUN, "100", "--to", f"file:{tmp_path / 'whole'}", status=0)
    assert contents(folder) == contents(tmp_path / "whole")


def test_files_without_a_message_are_removed_at_the_end(tmp_path: Path) -> None:
    """A run with a rate creates the files of the messages that are due soon, and may end before them."""
    job = open_job("crud", "canal-json")
    renderer = job.renderer(lambda topic: 1)
    batches = [renderer.render_block(block) for block in job.plan(Limits(turns=40), most_turns=4).blocks()]
    batch, later = (each for each in batches[:2] if each is not None)
    with FolderSink(tmp_path, 1, Lines()) as sink:
        sink.make_files(later)
        (name,) = sink.files()
        assert (tmp_path / name).read_bytes() == b""
        sink.flush()
        assert sink.files() == {name: FileState(0, "")}
        assert not (tmp_path / name).exists()
    with FolderSink(tmp_path, 1, Lines(), {name: FileState(0, "")}) as sink:
        assert list(sink.new_files(batch)) == [name]
        sink.make_files(batch)
        sink.send(batch)
        sink.flush()
        assert sink.files()[name].size == (tmp_path / name).stat().st_size > 0


def test_a_resume_file_is_a_regular_file(command: Command, tmp_path: Path) -> None:
    """Reading some devices never ends."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    done = command("run", "crud", "-f", "canal-json", "--to", f"file:{tmp_path / 'm'}", "--resume", pipe, status=2)
    assert done.err == f"cdcsim: --resume {pipe}: it is no regular file; name another one.\n"


def test_two_runs_do_not_share_a_resume_file(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "position"
    arguments = ["run", "crud", "-f", "canal-json", "--resume", file, "--to", f"file:{tmp_path / 'messages'}"]
    with start(*arguments, "--rate", "100/s") as first:
        while not file.exists():
            assert first.poll() is None
            time.sleep(0.05)
        done = command(*arguments, status=2)
        assert "another run that is not over keeps its position there" in done.err
        first.terminate()
        first.communicate()
    assert not file.with_name("position.lock").exists()
    command(*arguments, "--turns", "5000", status=0)


def test_parquet_of_a_killed_run_is_taken_for_no_table(command: Command, tmp_path: Path) -> None:
    """Its files have no end: they are told by their names, and no run writes beside them."""
    folder = tmp_path / "messages"
    run = ["run", "crud", "-f", "canal-json", "--to", f"parquet:{folder}"]
    with start(*run, "--rate", "500/s") as process:
        while not any(path.stat().st_size for path in folder.rglob("*.parquet")):
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
    (file,) = folder.rglob("*.parquet")
    before = file.read_bytes()
    done = command("verify", "crud", "-f", "canal-json", "--from", f"parquet:{folder}", "--limit", "5", status=2)
    assert f"{file}: it is no whole file of Parquet: " in done.err
    assert "topic=example is already there; name an empty folder, or remove it" in command(*run, status=1).err
    assert file.read_bytes() == before


def test_an_end_before_the_position_is_refused(command: Command, tmp_path: Path) -> None:
    to = ["--to", f"file:{tmp_path / 'messages'}", "--resume", tmp_path / "position"]
    run = ["run", "crud", "-f", "canal-json", *to, "--turns"]
    command(*run, "20", status=0)
    for turns in (5, 19):
        done = command(*run, str(turns), status=2)
        assert f"that run is at turn 19 already, beyond the end of this one, turn {turns - 1}; raise" in done.err


def test_an_end_at_the_position(command: Command, tmp_path: Path) -> None:
    """What a killed run wrote behind its position goes, also where the next run has nothing to write."""
    file, folder = tmp_path / "position", tmp_path / "messages"
    to = ["--to", f"file:{folder}?partitions=3", "--resume", file]
    command(*RUN, "100", *to, status=0)
    before, mark = contents(folder), bookmark.read(file)
    assert mark is not None
    assert mark.sent is not None
    # as it is while a second batch is written, which begins a file
    noted = {**mark.files, "dts-7.jsonl": FileState(0, hashlib.sha256().hexdigest())}
    sent = OrderKey(1, mark.sent.turn + 9, 0)
    bookmark.write(file, replace(mark, sent=sent, files=noted, done=False))
    for name in (*mark.files, "dts-7.jsonl"):
        with (folder / name).open("ab") as more:
            more.write(b'{"half a mess')
    assert "no turns" in command(*RUN, "100", *to, status=0).err
    assert contents(folder) == before


def test_the_rate_and_the_duration_go_on_where_they_were(command: Command, tmp_path: Path) -> None:
    """Of a second at 100/s and then 2000/s, the second part begins in the second step, and has half a second left."""
    file, facts = tmp_path / "position", tmp_path / "summary.json"
    arguments = ["run", "crud", "-f", "canal-json", "--to", f"file:{tmp_path / 'messages'}", "--resume", file]
    arguments += ["--rate", "steps:100,2000/500ms", "--summary-to", facts]
    command(*arguments, "--duration", "600ms", status=0)
    first = orjson.loads(facts.read_bytes())
    kept = orjson.loads(file.read_bytes())["seconds"]
    assert 0.6 <= kept < 3
    command(*arguments, "--duration", f"{kept + 0.5}s", status=0)
    second = orjson.loads(facts.read_bytes())
    assert second["first_turn"] == first["next_turn"]
    assert second["rate_wanted"] == pytest.approx(2000, rel=0.01)
    assert orjson.loads(file.read_bytes())["seconds"] >= kept + 0.5
    done = command(*arguments, "--duration", "1s", status=0)
    assert "no turns" in done.err


def test_damaged_resume_files(command: Command, tmp_path: Path) -> None:
    """Cut at any byte, any byte another one, any member another value or missing: no run goes on from it."""
    file, folder = tmp_path / "position", tmp_path / "messages"
    arguments = ["run", "crud", "-f", "canal-json", "--limit", "9", "--to", f"file:{folder}", "--resume", file]
    command(*arguments, status=0)
    text, before = file.read_bytes().rstrip(), contents(folder)
    facts = orjson.loads(text)
    damaged = [orjson.dumps({**facts, name: other}) for name in facts for other in (7, None, [["example", 9, 9]], {})]
    damaged = [each for each in damaged if orjson.loads(each) != facts]
    damaged += [orjson.dumps({each: facts[each] for each in facts if each != name}) for name in facts]
    damaged += [orjson.dumps({**facts, "more": 1}), b"[]", b"7", b"null"]
    damaged += [text[:size] for size in range(len(text))]
    damaged += [text[:at] + bytes([text[at] ^ 1]) + text[at + 1 :] for at in range(0, len(text), 7)]
    other = tmp_path / "damaged"
    for each in damaged:
        other.write_bytes(each)
        with pytest.raises(UsageError, match="name another"):
            bookmark.read(other)
    file.write_bytes(damaged[0])
    other_version = f"cdcsim: --resume {file}: another version of cdcsim wrote it; name another file.\n"
    assert command(*arguments, status=2).err == other_version
    file.write_bytes(text[:-1])
    done = command(*arguments, status=2)
    assert done.err == f"cdcsim: --resume {file}: it is no file of a run, or damaged; name another one.\n"
    assert contents(folder) == before


def test_a_position_that_cannot_be_kept_hides_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full under the messages and under the resume file."""

    def no_space(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    class Full(FolderSink):
        def _append(self, file: Any, batch: MessageBatch) -> None:
            monkeypatch.setattr(os, "fsync", no_space)
            no_space(0)

    monkeypatch.setattr("simulator.sinks.files.FolderSink", Full)
    with pytest.raises(DeliveryFailed) as caught:
        simulator.publish("crud", "canal-json", f"file:{tmp_path / 'm'}", limit=10, resume=tmp_path / "position")
    assert "messages were not delivered" in str(caught.value)
    assert "cannot be" in str(caught.value)
