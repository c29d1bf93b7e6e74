"""Paces: what they allow when, and how a run keeps to one. The clock is a number, so nothing here takes time."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.run import pipeline
from simulator.run.job import open_job
from simulator.run.pacing import Schedule, parse_pace
from simulator.run.plan import Limits
from simulator.sinks import open_sink


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
    done = open_job("crud", "canal-json").run(sink, limits=Limits(changes=2000), pace=parse_pace("1000/s"))()
    assert done.messages == sink.delivered == 2000
    assert done.rate_reached >= 0.95 * done.rate_wanted
    began = sent[0][0] - pipeline.TICK_SECONDS
    for (when, _), total in zip(sent, np.cumsum([count for _, count in sent]).tolist(), strict=True):
        assert abs(total - 1000 * (when - began)) <= 1000 * pipeline.TICK_SECONDS


@pytest.mark.parametrize("scenario", ["crud", "orders"])
@pytest.mark.parametrize(("rate", "wall_clock", "seconds"), [("4k/s", False, 1.0), ("4k/s", True, 0.1)])
def test_blocks_are_as_long_as_a_second(scenario: str, rate: str, wall_clock: bool, seconds: float) -> None:
    """So a block's fixed cost is small; with the time of writing in messages it must be near."""
    job, limits, pace = open_job(scenario, "canal-json"), Limits(changes=50_000), parse_pace(rate)
    plan = job.run(open_sink("memory:"), limits=limits, pace=pace, wall_clock=wall_clock).plan
    assert plan.count(range(4)) == pytest.approx([pace.high * seconds] * 4, rel=0.25)


def test_a_rate_near_the_fastest_has_the_blocks_of_a_run_without_one() -> None:
    job, limits = open_job("orders", "canal-json"), Limits(changes=1000)
    fast = job.run(open_sink("memory:"), limits=limits, pace=parse_pace("200k/s")).plan
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
