"""Cohorts: ranges of slots that run one program and get equal shares of the turns."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.stream.engine.traffic.moving import Moving
from simulator.stream.engine.traffic.seats import GROUP, Gaps


@dataclass(frozen=True, slots=True)
class Cohort:
    """`count` slots from `base` on that run one program, each with `weight` as its share of the turns.

    In surges, by their numbers, it has so many `times` its weight. `moving`: slots that are hot for some time.
    """

    program: int
    base: int
    count: int
    weight: float
    gaps: Gaps = "independent"
    times: tuple[float, ...] = ()
    moving: Moving | None = None

    @property
    def groups(self) -> int:
        """Groups of slots that take turns, each with a deck of its own."""
        return -(-self.count // GROUP) if self.moving is None else self.moving.groups


def fitting(slots: int) -> int:
    """The number of slots nearest to the one asked for that can be cut into groups of the same size."""
    groups = -(-slots // GROUP)
    return groups * max(1, round(slots / groups))
