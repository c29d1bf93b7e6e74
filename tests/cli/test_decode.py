"""`cdcsim decode`: messages of files and standard input for people."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from command import Command

import simulator
from simulator.formats import FORMATS


def test_every_format_is_told_in_a_line_and_its_value(command: Command, tmp_path: Path) -> None:
    """Of a file of each format: as many heads as messages, and none that is no message."""
    rows = "tables.users.rows=9"
    for format in FORMATS:
        folder = tmp_path / format
        command("run", "crud", "-f", format, "--limit", "12", "--set", rows, "-q", "--to", f"file:{folder}", status=0)
        expected = list(simulator.messages("crud", format, limit=12, settings={"tables.users.rows": 9}))
        done = command("decode", folder, "-f", format, status=0)
        heads = [line for line in done.out.splitlines() if line.startswith("-- ")]
        assert len(heads) == len(expected), format
        assert {word for head in heads for word in head.split()} >= {"INSERT", "UPDATE", "DELETE", "users"}, format


def test_a_stream_of_one_line(command: Command, tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_bytes(
        b'{"data":[{"id":"1"}],"es":1000,"old":null,"pkNames":["id"],"table":"t","type":"INSERT"}\n'
    )
    done = command("decode", tmp_path / "one.jsonl", "-f", "canal-json", status=0)
    assert done.out.splitlines()[:3] == ["-- INSERT t", "{", '  "data": [']
    assert done.out.count("-- ") == 1


def test_what_is_no_message_is_said_and_shown(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """The messages before and behind it are printed, and the last sentence counts."""
    good = b'{"data":[{"id":"1"}],"es":1000,"old":null,"pkNames":["id"],"table":"t","type":"INSERT"}'
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"\n".join([good, b'{"x":1}', b"null", good]))))
    done = command("decode", "-", "-f", "canal-json", status=2)
    lines = done.out.splitlines()
    assert [line for line in lines if line.startswith("-- ")][::3] == ["-- INSERT t"] * 2
    place = next(number for number, line in enumerate(lines) if line.startswith("-- these 7 bytes are no message of"))
    assert lines[place + 1 : place + 3] == ['{"x":1}', "-- (no value: a tombstone)"]
    sentence = "cdcsim: 1 of 4 messages of standard input are not canal-json; the first is number 2: "
    assert done.err.startswith(sentence)
    assert done.err.count("\n") == 1


def test_messages_that_a_fault_made_large(command: Command, tmp_path: Path) -> None:
    """Their blanks are counted, and left out."""
    run = ("run", "crud", "-f", "canal-json", "-q", "--limit", "9", "--to", f"file:{tmp_path}")
    command(*run, "--faults", "oversized=0.5", status=0)
    done = command("decode", tmp_path, "-f", "canal-json", status=0)
    heads = [line for line in done.out.splitlines() if line.startswith("-- ")]
    large = [head for head in heads if head.endswith(" blanks behind its first byte")]
    assert 0 < len(large) < len(heads) == 9
    assert len(done.out) < 20_000


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("nothing.jsonl", "-f", "canal-json"), "nothing.jsonl: No such file or directory"),
        (("ftp://host/x", "-f", "canal-json"), "messages are read from -, file, parquet, amqp, amqps, kafka, rocketmq"),
        (("x", "-f", "canl-json"), "canal-json"),
    ],
)
def test_mistakes(command: Command, arguments: tuple[str, ...], sentence: str) -> None:
    done = command("decode", *arguments, status=2)
    assert sentence in done.err
    assert "--from" not in done.err
    assert done.out == ""
