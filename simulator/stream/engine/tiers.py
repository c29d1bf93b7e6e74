"""How often rows change: shares of them, each with a weight."""

from __future__ import annotations

from typing import Final

import numpy as np

from simulator.stream.engine.traffic import GROUP
from simulator.stream.scenario.language.tables import LifecycleSpec, TableSpec

# By Zipf's law: this many rows have weights of their own, the others share one with about a sixth of those before them.
FIRST_RANKS: Final = 32
STEP: Final = 6


def tiers(spec: TableSpec | LifecycleSpec, slots: int) -> list[tuple[float, int]]:
    """(weight of each, slots), hottest first; the last are the cold ones. A weight is relative to other tables'."""
    if spec.zipf is not None:
        return _zipf(spec.zipf, slots, 1 / spec.every)
    cold = slots
    hot = []
    for share in sorted(spec.hot, key=lambda h: -h.times):
        count = max(1, round(slots * share.share))
        cold -= count
        hot.append((share.times / spec.every, count))
    return [*hot, (1 / spec.every, max(cold, 1))]


def _zipf(exponent: float, slots: int, mean: float) -> list[tuple[float, int]]:
    """Ranks with about the same weight together: as many as a power of two, so that few different decks are needed."""
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
    return [(float(weight), size) for weight, size in zip(weights, sizes, strict=True)]
