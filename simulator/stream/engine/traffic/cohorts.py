"""Cohorts: ranges of slots that run one program and get equal shares of the turns."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.stream.engine.traffic.circles import Circle
from simulator.stream.engine.traffic.seats import Gaps


@dataclass(frozen=True, slots=True)
class Cohort:
    """Slots from `base` on that run one program, each with `weight` as its share of the turns.

    `times` are the factors of its weight in surges, by their numbers.
    """

    program: int
    base: int
    weight: float
    circle: Circle
    gaps: Gaps = "independent"
    times: tuple[float, ...] = ()

    @property
    def count(self) -> int:
        return self.circle.count
