"""Paces: what they allow when, and how a run keeps to one. The clock is a number, so nothing here takes time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from each import each

from simulator.batch import MessageBatch
from simulator.errors import OptionError
from simulator.run import pipeline
from simulator.run.job import open_job
from simulator.run.pacing import Schedule, parse_pace
from simulator.run.plan import Limits
from simulator.run.session import local_run
from simulator.sinks import open_sink
from simulator.sinks.ledger import Parcel
from simulator.sinks.memory import MemorySink


class Clock:
    """Time passes while somebody sleeps."""

    now = 50.0

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return 1.7e9 + self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_a_run_sends_what_is_due_whenever_it_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(pipeline, "time", clock)
    sent: list[tuple[float, int]] = []
    sink = open_sink("memory:")
    sink.watch = lambda batch, parcels: sent.append((clock.now, len(batch)))
    done = local_run(open_job("crud", "canal-json"), sink, limits=Limits(changes=2000), pace=parse_pace("1000/s"))()
    assert done.messages == sink.delivered == 2000
    assert done.rate_reached >= 0.95 * done.rate_wanted
    began = sent[0][0] - pipeline.TICK_SECONDS
    for (when, _), total in zip(sent, np.cumsum([count for _, count in sent]).tolist(), strict=True):
        assert abs(total - 1000 * (when - began)) <= 1000 * pipeline.TICK_SECONDS


@pytest.mark.parametrize(
    ("text", "unit", "due"),
    [
        ("50k/s", "changes", {0: 0, 2: 100_000}),
        ("2.5k messages/s", "messages", {2: 5000}),
        ("20MB/s", "bytes", {3: 60e6}),
        ("ramp:1k..3k/10s", "changes", {5: 7500, 10: 20_000, 12: 26_000}),
        ("sine:0..2k/10s", "changes", {5: 8183.0988618, 10: 10_000, 20: 20_000}),
        ("spike:1k..11kmessages/10s", "", {}),
        ("spike:1kmessages..11kmessages/10s", "messages", {1: 11_000, 10: 20_000, 10.5: 25_500}),
        ("steps:1k,5k,2k/10s", "changes", {5: 5000, 15: 35_000, 20: 60_000, 40: 100_000}),
        (
            "ramp:1k..3k/10s then 2k/s for 5s then spike:0..10k/10s",
            "changes",
            {5: 7500, 10: 20_000, 15: 30_000, 15.5: 35_000, 20: 40_000, 26: 50_000},
        ),
        (
            "steps:1k,2k/10s then sine:0..2k/10s for 5s then 100",
            "changes",
            {20: 30_000, 25: 38183.0988618, 26: 38283.0988618},
        ),
        ("curve: then 1k", "changes", {4: 800, 5: 1800}),
        ("curve:", "changes", {1: 100, 2: 200, 4: 800, 6: 1600}),
    ],
)
def test_shapes(tmp_path: Path, text: str, unit: str, due: dict[float, float]) -> None:
    (tmp_path / "load.csv").write_text("seconds,rate\n2, 100\n\n4,500\n4,400\n")
    text = text.replace("curve:", f"curve:{tmp_path / 'load.csv'}")  # in front of `then`, too
    if not unit:
        with pytest.raises(OptionError, match="20MB/s"):
            parse_pace(text)
        return
    pace = parse_pace(text)
    assert pace.unit == unit
    assert {seconds: pace.due(seconds) for seconds in due} == pytest.approx(due)
    assert pace.seconds(round(max(due.values()))) == pytest.approx(max(due), rel=0.002)


@each([
    ("5k then 2k", "5k never ends: write how long it lasts, 5k for 10m."),
    ("5k for 10m then 2k for 5m", "the last part goes on: leave out for 5m, and add --duration."),
    ("5k for ever then 2k", "--rate '5k for ever': for 'ever': write a time such as 90s, 10m or 1h."),
    ("5k for 1m then 2MB/s", "write all its rates in row changes, in messages or in bytes."),
    ("5k for 1m then climb:1..2/1m", "write row changes, messages or bytes a second such as 50000/s"),
])  # fmt: skip
def test_parts_that_do_not_follow_one_another(text: str, problem: str) -> None:
    with pytest.raises(OptionError, match=re.escape(problem)):
        parse_pace(text)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ("seconds,rate\n", "there is no line of seconds,rate, such as 60,5000."),
        ("0,5\n1\n", ":2: write seconds,rate, as in 60,5000."),
        ("5,5\n1,5\n", ":2: 1 s are before the line above: sort the lines by time."),
        ("0,5\n1,5MB\n", ": its rates have different units: write all in row changes, in messages or in bytes."),
        ("0,5\n1,0\n", ": the last rate must be above 0, and none above 1,000,000,000,000."),
    ],
)
def test_bad_curves(tmp_path: Path, lines: str, problem: str) -> None:
    file = tmp_path / "load.csv"
    file.write_text(lines)
    with pytest.raises(OptionError) as caught:
        parse_pace(f"curve:{file}")
    assert str(caught.value).startswith(str(file))
    assert str(caught.value).endswith(problem)


@pytest.mark.parametrize(("rate", "unit"), [("1000messages/s", "messages"), ("1MB/s", "bytes")])
def test_a_rate_may_count_messages_or_bytes(monkeypatch: pytest.MonkeyPatch, rate: str, unit: str) -> None:
    monkeypatch.setattr(pipeline, "time", Clock())
    done = local_run(
        open_job("crud", "canal-json"), open_sink("memory:"), limits=Limits(changes=2000), pace=parse_pace(rate)
    )()
    assert done.rate_unit == unit
    total = done.messages if unit == "messages" else done.bytes
    pace = parse_pace(rate)
    assert done.rate_reached == pytest.approx(pace.high, rel=0.05)
    assert done.rate_reached * pace.seconds(total) == pytest.approx(total, rel=0.05)


@pytest.mark.parametrize("scenario", ["crud", "orders"])
@pytest.mark.parametrize(("rate", "wall_clock", "seconds"), [("4k/s", False, 1.0), ("4k/s", True, 0.1)])
def test_blocks_are_as_long_as_a_second(scenario: str, rate: str, wall_clock: bool, seconds: float) -> None:
    """So a block's fixed cost is small; with the time of writing in messages it must be near."""
    job, limits, pace = open_job(scenario, "canal-json"), Limits(changes=50_000), parse_pace(rate)
    plan = local_run(job, open_sink("memory:"), limits=limits, pace=pace, wall_clock=wall_clock).plan
    assert plan.count(range(4)) == pytest.approx([pace.high * seconds] * 4, rel=0.25)


def test_a_rate_near_the_fastest_has_the_blocks_of_a_run_without_one() -> None:
    job, limits = open_job("orders", "canal-json"), Limits(changes=1000)
    fast = local_run(job, open_sink("memory:"), limits=limits, pace=parse_pace("200k/s")).plan
    assert fast.step == job.plan(limits).step


def test_messages_are_due_when_the_pace_allows_them() -> None:
    schedule = Schedule(parse_pace("100/s"))
    schedule.begin(1000.0)
    assert schedule.allowed(0.5) == 50
    assert schedule.due([10, 50]).tolist() == [1000.1, 1000.5]  # type: ignore[arg-type]
    schedule.send(50, 2.5)
    assert schedule.allowed(2.5) == 250
    assert schedule.due([100, 250]).tolist() == [1001.0, 1002.5]  # type: ignore[arg-type]
    assert (schedule.behind(3.0), schedule.rates()) == (250.0, (100.0, 20.0))


def test_topics_are_made_before_the_clock_begins() -> None:
    """Also those of tables that come later: fifty new topics took nine seconds of a ramp. Until then nothing lags."""
    asked: list[str] = []
    before_first: list[set[str]] = []
    behind: list[float] = []

    class NewTopics(MemorySink):
        def partitions(self, topic: str) -> int:
            if topic not in asked:
                asked.append(topic)
            return 1

        def write(self, batch: MessageBatch, parcels: Sequence[Parcel], *, whole: bool) -> None:
            before_first.append(set(asked))
            super().write(batch, parcels, whole=whole)

    job = open_job("orders", "canal-json")
    sink = NewTopics(topic_pattern="{table}")
    run = local_run(job, sink, limits=Limits(changes=5), pace=parse_pace("20/s"))
    behind.append(run.lag)
    run()
    assert before_first[0] == {table.id.name for table in job.stream.first_tables}
    assert behind == [0.0]
