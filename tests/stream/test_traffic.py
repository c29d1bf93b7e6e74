"""Turns and back: the closed form of traffic, with NumPy and compiled, and the steps that decks repeat."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.native import program
from simulator.stream.engine.arrivals import Arrivals
from simulator.stream.engine.births import Births
from simulator.stream.engine.timeline import Timeline
from simulator.stream.engine.traffic.circles import Circle, even, hot_set
from simulator.stream.engine.traffic.cohorts import Cohort
from simulator.stream.engine.traffic.traffic import Traffic
from simulator.values.draw import Ints

FAR = st.sampled_from([-(10**6), -3, 0, 10**5, 10**9])


@st.composite
def circles(draw: st.DrawFn) -> Circle:
    slots, steps = draw(st.sampled_from([1, 2, 7, 40, 500, 9000])), draw(st.sampled_from([1, 2, 5, 16, 333, 2048]))
    moves = hot_set(slots, 0.1, 4, draw(st.sampled_from([20_000, 400_000])), steps) if draw(st.booleans()) else None
    return moves or even(slots, steps)


def cohorts_of(circles: Sequence[Circle]) -> list[Cohort]:
    bases = np.cumsum([0, *(circle.count for circle in circles)]).tolist()
    return [Cohort(i, bases[i], 1 + i / 3, circle) for i, circle in enumerate(circles)]


@settings(max_examples=25)
@given(st.lists(circles(), min_size=1, max_size=3), FAR)
def test_there_and_back(several: list[Circle], first: int) -> None:
    """A turn's slot comes to its place at that turn, places of a slot follow each other; compiled as with NumPy."""
    cohorts = cohorts_of(several)
    turns = np.arange(first, first + 3000)

    def answers() -> list[Ints]:
        traffic = Traffic(cohorts, 7, [(100_500, 101_000)])
        cohort, slot, place = traffic.visits(turns)
        np.testing.assert_array_equal(traffic.turns(cohort, slot, place), turns)
        before = [traffic.places(c, slot[cohort == c], turns[cohort == c]) for c in range(len(cohorts))]
        assert all((place[cohort == c] == here).all() for c, here in enumerate(before))
        phases = traffic.phases(cohort, slot)
        for c, each in enumerate(cohorts):
            mine = phases[cohort == c]
            assert ((mine >= 0) & (mine < each.circle.steps)).all()
            np.testing.assert_array_equal(traffic.places(c, slot[cohort == c], 0), mine)
        return [cohort, slot, place, phases]

    compiled = answers()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program, "LIBRARY", None)
        for one, other in zip(answers(), compiled, strict=True):
            np.testing.assert_array_equal(one, other)


@settings(max_examples=25)
@given(st.lists(circles().filter(lambda circle: circle.bound), min_size=1, max_size=3), FAR, st.data())
def test_births_are_counted(several: list[Circle], first: int, data: st.DataObject) -> None:
    """As many as the steps of the turns until then have."""
    traffic = Traffic(cohorts_of(several), 3)
    rows = {
        c: np.array(data.draw(st.lists(st.integers(0, 5), min_size=circle.steps, max_size=circle.steps)))
        for c, circle in enumerate(several)
        if circle.steps < 20
    }
    turns = np.arange(first, first + 2000)
    cohort, _, place = traffic.visits(turns)
    born = np.zeros(len(turns), dtype=np.int64)
    for c, of_steps in rows.items():
        born[cohort == c] = of_steps[place[cohort == c] % several[c].steps]
    before = Births(traffic, rows).before(turns)
    np.testing.assert_array_equal(np.diff(before), born[:-1])
    assert Births(traffic, rows).before(np.zeros(1, dtype=np.int64))[0] == 0


@pytest.mark.parametrize("circle", [even(1000, 2), even(997, 5), even(5000, 2048), even(40, 300)], ids=str)
def test_slots_are_anywhere_in_their_program(circle: Circle) -> None:
    """At the beginning of a deck, too: a tenth of the steps has a tenth of the slots, more or less."""
    traffic = Traffic(cohorts_of([circle]), 5)
    slots = np.arange(circle.count)
    bins = min(circle.steps, 10)
    for deck in (0, 1, 77):
        turn = deck * circle.cards * circle.groups
        places = traffic.places(0, slots, turn) % circle.steps * bins // circle.steps
        counts = np.bincount(places, minlength=bins)
        assert counts.max() < 1.5 * len(slots) / bins


@pytest.mark.parametrize("sizes", [{(1, 1): 80, (2, 4): 18, (8, 16): 2}, {(1, 1000): 1}, {(3, 3): 1}], ids=str)
@pytest.mark.parametrize("first", [-500, 0, 10**9])
def test_turns_are_in_their_transactions(sizes: dict[tuple[int, int], float], first: int) -> None:
    arrivals = Arrivals(seed=1, start_us=0, rate=10, gaps="independent", hours=[1.0] * 24, days=[1.0] * 7)
    timeline = Timeline(sizes, arrivals, seed=1, start_ms=0, durations={})
    turns = np.concatenate([np.arange(first, first + 4000), np.arange(first, first + 10**8, 31_337)])
    _, begins, lengths = timeline.transactions(turns)
    assert ((begins <= turns) & (turns < begins + lengths)).all()
