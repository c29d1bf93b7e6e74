"""Canal's own message class and JSON library on our messages: read and written again, they are the same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from jvm import Jars, Reader

from simulator.api import open_job
from simulator.pipeline import Limits
from simulator.sinks.memory import MemorySink

pytestmark = pytest.mark.jvm

CANAL = Jars(
    "canal-protocol-1.1.8", ("com.alibaba.otter:canal.protocol:1.1.8", "com.alibaba.fastjson2:fastjson2:2.0.31")
)


@pytest.fixture(scope="module")
def canal() -> Iterator[Reader]:
    with Reader("FlatMessageTrip.java", CANAL, "-Dfile.encoding=UTF-8") as reader:
        yield reader


def values(scenario: str, format: str, start_at: int, changes: int | None, snapshot: bool) -> list[bytes]:
    with MemorySink() as sink:
        open_job(scenario, format).run(sink, limits=Limits(start_at, changes), snapshot=snapshot)()
        return sink.values()


@pytest.mark.parametrize(
    ("scenario", "start_at", "changes", "snapshot"),
    [
        ("crud", 0, 10_000, False),
        ("orders", 19_000, 20_000, False),  # a statement is among them
        ("orders", 59_000, 20_000, False),
        ("wide", 0, 3_000, True),
        ("tour", 0, None, True),
    ],
)
def test_the_round_trip_is_the_identity(
    canal: Reader, scenario: str, start_at: int, changes: int | None, snapshot: bool
) -> None:
    ours = values(scenario, "canal-json", start_at, changes, snapshot)
    assert len(ours) > (1_000 if changes else 20)
    answers = canal.ask(ours)
    assert [pair for pair in zip(ours, answers, strict=True) if pair[1] != [pair[0]]][:3] == []
    if scenario == "wide":
        text = b"".join(ours)
        for piece in ("😀".encode(), b"\\u0000", b"\\u001f", b"\\n", b'\\"', b"\x7f"):
            assert piece in text, f"{piece!r} is in no message"
    if scenario in ("tour", "orders"):
        assert any(json.loads(line)["isDdl"] for line in ours)


def test_a_gtid_comes_back(canal: Reader) -> None:
    ours = values("tour", "canal-json,gtid=on", 0, None, True)
    assert canal.ask(ours) == [[line] for line in ours]


@pytest.mark.parametrize(
    "line",
    [
        b'{"database":"shop","data":null}',  # members that are missing, in another order
        b'{"data":[{"a":1}]}',  # a number where Canal has texts
        b"{]",
    ],
)
def test_other_messages_do_not_come_back(canal: Reader, line: bytes) -> None:
    assert canal.ask([line]) != [[line]]


# What Canal's class does not know is dropped, and what it knows and CloudCanal does not write comes back as null.
UNKNOWN = {"tableChanges"}
UNWRITTEN = {"gtid"}


@pytest.mark.parametrize("options", ["", ",batch_rows=20"])
def test_cloudcanal_messages_come_back_but_for_two_members(canal: Reader, options: str) -> None:
    ours = [
        *values("orders", f"cloudcanal-canal-json{options}", 19_000, 5_000, False),
        *values("tour", f"cloudcanal-canal-json{options}", 0, None, True),
    ]
    assert any(json.loads(line)["isDdl"] for line in ours)
    for line, answer in zip(ours, canal.ask(ours), strict=True):
        written, (read,) = json.loads(line), map(json.loads, answer)
        assert set(written) - set(read) <= UNKNOWN
        assert set(read) - set(written) <= UNWRITTEN
        assert all(list(read[name].items()) == list(value.items()) if isinstance(value, dict) else read[name] == value
                   for name, value in written.items() if name not in UNKNOWN)  # fmt: skip
