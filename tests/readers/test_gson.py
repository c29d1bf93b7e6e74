"""Gson, with its default escapes, on messages that a Gson wrote: read and written again, they are the same bytes."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pytest
from building import block_of, messages_of
from cases import cases_of
from jvm import Reader

from simulator import formats, sources
from simulator.run.job import open_job
from simulator.run.plan import Limits
from simulator.run.session import local_run
from simulator.sinks.memory import MemorySink
from simulator.text.json_style import HTML_SAFE, escape

pytestmark = pytest.mark.jvm

FORMATS: Final = ("drs-json", "drs-json-c")
PAIRS: Final = [
    (format, f"{id}-{version}")
    for format in FORMATS
    for id in formats.find(format).sources
    for version in sources.SOURCES[id][2]
]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    ("scenario", "start_at", "changes"),
    [("crud", 0, 5_000), ("orders", 19_000, 5_000), ("wide", 0, 2_000), ("tour", 0, None)],
)
def test_runs_come_back_unchanged(gson: Reader, format: str, scenario: str, start_at: int, changes: int | None) -> None:
    with MemorySink() as sink:
        local_run(open_job(scenario, format), sink, limits=Limits(start_at, changes), snapshot=True)()
        ours = sink.values()
    assert len(ours) > (1_000 if changes else 20)
    answers = gson.ask(ours)
    assert [pair for pair in zip(ours, answers, strict=True) if pair[1] != [pair[0]]][:3] == []


@pytest.mark.parametrize(
    ("scenario", "source"),
    [
        ("documents", "mongodb-6.0"),
        *(("orders", source) for source in ("gaussdb-505", "oracle-19c", "postgresql-16", "sqlserver-2022")),
    ],
)
def test_runs_of_other_sources_come_back_unchanged(gson: Reader, scenario: str, source: str) -> None:
    with MemorySink() as sink:
        local_run(open_job(scenario, "drs-json", source=source), sink, limits=Limits(0, 2_000))()
        ours = sink.values()
    assert len(ours) >= 2_000
    assert gson.ask(ours) == [[value] for value in ours]


@pytest.mark.parametrize(("format", "source"), PAIRS)
def test_all_cases_come_back_unchanged(gson: Reader, format: str, source: str) -> None:
    ours = [
        message.value or b""
        for case in cases_of(source, format)
        for message in messages_of(format, source, block_of(case))
    ]
    assert ours
    assert gson.ask(ours) == [[value] for value in ours]


def test_escapes_of_random_texts(gson: Reader) -> None:
    """Texts of all characters but lone surrogates: each character somewhere, and beside any other."""
    rng = np.random.default_rng(20_261_121)
    every = np.concatenate([np.arange(0xD800), np.arange(0xE000, 0x110000)])
    common = np.concatenate([np.arange(0x300), np.arange(0x2000, 0x2100), np.arange(0xE000, 0x110000, 1009)])
    texts = [chr(code) for code in common]
    texts += ["".join(map(chr, part)) for part in np.array_split(every, 10_000)]
    texts += ["".join(map(chr, rng.choice(common, 20))) for _ in range(2_000)]
    written = [f'{{"t":"{text}"}}'.encode() for text in escape(pa.array(texts), HTML_SAFE).to_pylist()]
    assert gson.ask(written) == [[line] for line in written]


@pytest.mark.parametrize("line", [b'{"a":"x=y"}', b'{"a": 1}', b'{"a":"\\u000B"}', b"{]"])
def test_other_texts_do_not_come_back(gson: Reader, line: bytes) -> None:
    assert gson.ask([line]) != [[line]]
