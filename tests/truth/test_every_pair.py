"""Every format with its sources: what a run wrote is right by the verdict, and a consumer of its messages holds the
expected rows. A whole run of the tests has each format and each source; CDCSIM_PAIRS=all has each source of each format
with three scenarios."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest
from replay import Replay, rows_at

import simulator
from simulator.formats import FORMATS, find
from simulator.run.job import Job, job_of
from simulator.run.plan import Limits
from simulator.run.request import Subject
from simulator.sources import SOURCES

ALL: Final = os.environ.get("CDCSIM_PAIRS") == "all"
FORMS: Final = ("file", "parquet", "envelope")
# The turns of each scenario (None: to its end), and what makes its tables small.
SCENARIOS: Final[dict[str, tuple[int | None, dict[str, int]]]] = {
    "crud": (30, {"tables.users.rows": 20}),
    "orders": (12, {
        "tables.customers.rows": 10, "tables.receipts.rows": 10, "tables.coupons.rows": 10,
        "lifecycles.product.slots": 10, "lifecycles.order.slots": 6,
    }),
    "tour": (None, {}),
    # documents get fields without a statement, which the tour's consumer waits for
    "documents": (40, {}),
}  # fmt: skip


def cases() -> Iterator[tuple[str, str, str, str]]:
    """Format, source, scenario, and the form of the files."""
    for row, format in enumerate(FORMATS):
        sources = find(format).sources
        pairs = list(product(sources, ("crud", "tour", "orders")))
        if not ALL:
            pairs = [(sources[(2 * row + n) % len(sources)], scenario) for n, scenario in enumerate(("crud", "tour"))]
        for number, (source, scenario) in enumerate(pairs, row):
            yield format, source, fitting(scenario, source), FORMS[number % len(FORMS)]


def fitting(scenario: str, source: str) -> str:
    return "documents" if (scenario, source) == ("tour", "mongodb") else scenario


CASES: Final = list(cases())


def test_the_cover() -> None:
    assert {format for format, *_ in CASES} == set(FORMATS)
    assert {source for _, source, *_ in CASES} == set(SOURCES)


@pytest.mark.parametrize(("format", "source", "scenario", "form"), CASES)
def test_a_run_is_right_and_its_messages_are_the_rows(
    format: str, source: str, scenario: str, form: str, tmp_path: Path
) -> None:
    """With a snapshot, in two partitions; Parquet and envelopes have keys and headers, too."""
    turns, settings = SCENARIOS[scenario]
    to = f"{'parquet' if form == 'parquet' else 'file'}:{tmp_path}?partitions=2"
    options: dict[str, Any] = {"source": source, "settings": settings, "turns": turns, "snapshot": True}
    simulator.publish(scenario, format, to, envelope=form == "envelope", **options)
    verdict = simulator.verify(scenario, format, to, **options)
    assert verdict.ok, str(verdict)
    assert verdict.right == verdict.expected == verdict.read > 15

    texts = tuple(f"{name}={value}" for name, value in settings.items())
    replay_to_the_rows(job_of(Subject(scenario, format, source, settings=texts)), Limits(turns=turns))


def replay_to_the_rows(job: Job, limits: Limits) -> None:
    """The messages of a run, which the verdict has found, one after the other in the hands of a strict consumer."""
    replay = Replay(job.format, str(job.source), job.stream.first_tables)
    plan, renderer = job.plan(limits, snapshot=True), job.renderer()
    replay.begin(job.stream, renderer, 0, map(job.stream.read_block, plan.snapshot_blocks()))
    replay.play(renderer, map(job.stream.read_block, plan.blocks()))
    stop = job.stream.turns if plan.stop is None else plan.stop
    assert stop is not None
    assert replay.state() == rows_at(job.stream, stop, job.format)
