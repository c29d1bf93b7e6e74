"""Tiers of rows by how often they change: each has a share of the rows and a weight."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np

from simulator.stream.engine.traffic.seats import GROUP
from simulator.stream.scenario.language.tables import Hot, LifecycleSpec, TableSpec

# Zipf's law: this many rows have weights of their own; each later tier is about a sixth of the rows before it.
FIRST_RANKS: Final = 32
STEP: Final = 6


class Tier(NamedTuple):
    """`slots` slots with the same weight, relative to other tables' weights. `times` are factors of the weight, by
    number of the surge; `moving` slots take turns in being hot.
    """

    weight: float
    slots: int
    times: Mapping[int, float] = {}
    moving: Hot | None = None


def tiers(spec: TableSpec | LifecycleSpec, slots: int, surges: Mapping[int, tuple[float, float]]) -> list[Tier]:
    """The tiers of `slots` slots; the last are the cold ones. `surges` are those of a share of them: (share, times)."""
    if spec.moves:
        (hot,) = spec.hot
        return [Tier((1 + hot.share * (hot.times - 1)) / spec.every, slots, {}, hot)]
    if spec.zipf is not None:
        *warm, last = _zipf(spec.zipf, slots, 1 / spec.every)
    else:
        counts = [(hot, max(1, round(slots * hot.share))) for hot in sorted(spec.hot, key=lambda h: -h.times)]
        warm = [Tier(hot.times / spec.every, count) for hot, count in counts]
        last = Tier(1 / spec.every, max(slots - sum(count for _, count in counts), 1))
    for surge, (share, times) in surges.items():
        count = min(max(1, round(slots * share)), last.slots - 1)
        if count:
            warm.append(Tier(last.weight, count, {surge: times}))
            last = last._replace(slots=last.slots - count)
    return [*warm, last]


def _zipf(exponent: float, slots: int, mean: float) -> list[Tier]:
    """Tiers of ranks with about the same weight; their sizes are powers of two, so that few different
    decks are needed.
    """
    sizes: list[int] = []
    first = 0
    while first < slots:
        size = 1 if first < FIRST_RANKS else 1 << (first // STEP).bit_length() - 1
        size = min(size, slots - first)
        if size > GROUP:  # cohorts of whole groups
            size -= size % GROUP
        sizes.append(size)
        first += size
    ends = np.cumsum(sizes)
    # the mean of rank^-s over the ranks of each
    if exponent == 1:
        integral = np.log(ends + 0.5) - np.log(ends - sizes + 0.5)
    else:
        integral = ((ends + 0.5) ** (1 - exponent) - (ends - sizes + 0.5) ** (1 - exponent)) / (1 - exponent)
    weights = np.where(np.array(sizes) == 1, ends.astype(float) ** -exponent, integral / np.array(sizes))
    weights *= mean * slots / float((weights * sizes).sum())
    return [Tier(float(weight), size) for weight, size in zip(weights, sizes, strict=True)]
