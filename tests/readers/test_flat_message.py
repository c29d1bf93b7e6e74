"""Canal's own message class and JSON library on messages of all Canal dialects: read and written again, they are the
same bytes, but for the members that the class does not have, or the dialect does not write.

OMS's dialect has numbers, which the class has not: see `test_oms_canal.py`.
"""

from __future__ import annotations

import json
import re
from typing import Final

import pytest
from building import block_of, messages_of
from cases import cases_of
from jvm import Reader

from simulator import formats
from simulator.run.job import open_job
from simulator.run.plan import Limits
from simulator.run.session import local_run
from simulator.sinks.memory import MemorySink
from simulator.sources import SOURCES

pytestmark = pytest.mark.jvm

DIALECTS: Final = ("canal-json", "cloudcanal-canal-json", "dts-canal-json")
PAIRS: Final = [
    (format, f"{id}-{SOURCES[id][2][0]}") for format in DIALECTS for id in formats.find(format).sources
]  # fmt: skip


def values(scenario: str, format: str, start_at: int, changes: int | None, snapshot: bool) -> list[bytes]:
    with MemorySink() as sink:
        local_run(open_job(scenario, format), sink, limits=Limits(start_at, changes), snapshot=snapshot)()
        return sink.values()


def expected(format: str, line: bytes) -> bytes:
    """What Canal makes of a message: CloudCanal writes no `gtid`, which comes as null, and adds `tableChanges`."""
    if not format.startswith("cloudcanal"):
        return line
    line, numbered = re.subn(rb'("es":\d+,)("id":\d+,"isDdl":)', rb'\1"gtid":null,\2', line)
    assert numbered == 1
    return re.sub(rb'"tableChanges":\{.*\},("ts":\d+,"type":"[A-Z]+"\})$', rb"\1", line)


@pytest.mark.parametrize("format", ["canal-json", "cloudcanal-canal-json,batch_rows=20", "dts-canal-json"])
@pytest.mark.parametrize(
    ("scenario", "start_at", "changes", "snapshot"),
    [
        ("crud", 0, 5_000, False),
        ("orders", 19_000, 20_000, False),  # a statement is among them
        ("orders", 59_000, 10_000, False),
        ("wide", 0, 1_500, True),
        ("tour", 0, None, True),
    ],
)
def test_the_round_trip_is_the_identity(
    canal: Reader, scenario: str, format: str, start_at: int, changes: int | None, snapshot: bool
) -> None:
    nulls = ",null_members=null" if format.startswith("dts") else ""
    ours = values(scenario, format + nulls, start_at, changes, snapshot)
    assert len(ours) >= (900 if changes else 20)
    answers = [answer for (answer,) in canal.ask(ours)]
    assert [pair for pair in zip(ours, answers, strict=True) if pair[1] != expected(format, pair[0])][:3] == []
    if scenario == "wide":
        text = b"".join(ours)
        for piece in ("😀".encode(), b"\\u0000", b"\\u001f", b"\\n", b'\\"', b"\x7f"):
            assert piece in text, f"{piece!r} is in no message"
    if scenario in ("tour", "orders"):
        assert any(json.loads(line)["isDdl"] for line in ours)


@pytest.mark.parametrize(("format", "source"), PAIRS)
def test_all_cases_come_back(canal: Reader, format: str, source: str) -> None:
    """Every type of every source."""
    nulls = ",null_members=null" if format.startswith("dts") else ""
    ours = [m.value or b"" for case in cases_of(source) for m in messages_of(format + nulls, source, block_of(case))]
    assert len(ours) > 20
    assert canal.ask(ours) == [[expected(format, line)] for line in ours]


def test_members_that_dts_leaves_out_come_back_as_null(canal: Reader) -> None:
    bare, whole = (values("tour", f"dts-canal-json,null_members={how}", 0, None, True) for how in ("omit", "null"))
    assert bare != whole
    assert canal.ask(bare) == [[line] for line in whole]


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
