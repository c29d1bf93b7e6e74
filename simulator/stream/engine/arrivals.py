"""Arrival times as a function of the turn, by a law of gaps and a curve over the week.

Turns are grouped in chunks of equal duration. A hash chooses one of a few precomputed lists of positions of the turns
within their chunk. The curve then stretches quiet hours and squeezes busy ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from simulator.stream.engine.traffic.seats import Gaps
from simulator.values.draw import Ints, below, bits, key, unit

Floats = npt.NDArray[np.float64]

CHUNK_BITS: Final = 12
CHUNK: Final = 1 << CHUNK_BITS
LISTS: Final = 16
# Bursts: one gap in BURST_TURNS is a pause, on average PAUSE times as long as the others.
BURST_TURNS: Final = 8
PAUSE: Final = 50
HOURS: Final = 168
HOUR_US: Final = 3_600_000_000
WEEK_US: Final = HOURS * HOUR_US
# 1970-01-01 was a Thursday; weeks begin on Monday.
MONDAY_US: Final = 4 * 24 * HOUR_US


@lru_cache(maxsize=3)
def positions(gaps: Gaps) -> Floats:
    """Positions of turns within a chunk, ascending from 0 to 1, for each list."""
    drawn = unit(bits(key("arrivals", gaps), np.arange(LISTS * (CHUNK + 1)))).reshape(LISTS, -1)
    if gaps == "steady":
        steady: Floats = (np.arange(CHUNK) + drawn[:, 1:]) / CHUNK
        return steady
    waits = -np.log1p(-drawn)
    if gaps == "bursts":
        pauses = unit(bits(key("arrivals", gaps, "pauses"), np.arange(waits.size))).reshape(LISTS, -1) < 1 / BURST_TURNS
        waits = np.where(pauses, waits * PAUSE, waits)
    ends = np.cumsum(waits, axis=1)
    fractions: Floats = ends[:, :-1] / ends[:, -1:]
    return fractions


class Arrivals:
    """Arrival times in epoch microseconds, for arrays of turns; they never decrease."""

    def __init__(
        self, *, seed: int, start_us: int, rate: float, gaps: Gaps, hours: Sequence[float], days: Sequence[float]
    ) -> None:
        """`hours` are the weights of the hours of a day, `days` those of the days of a week from Monday on."""
        self.rate, self._start_us, self._positions = rate, start_us, positions(gaps)
        self._flat = self._positions.ravel()
        self._key = key(seed, "time")
        self._chunk_us = CHUNK * 1e6 / rate
        self._knots: Floats | None = None
        self._busiest = self._quietest = 1.0
        weights = np.outer(days, hours).ravel()
        weights /= weights.mean()
        if (weights != 1).any():
            self._busiest, self._quietest = float(weights.max()), float(weights.min())
            # weighted time passed by each hour of the week; it adds up to the length of a week
            self._knots = np.concatenate([[0.0], np.cumsum(weights)]) * HOUR_US
            self._start = float(self._busy(np.array([start_us - MONDAY_US], dtype=np.float64))[0])

    def us(self, turns: Ints) -> Ints:
        chunk, index = turns >> CHUNK_BITS, turns & (CHUNK - 1)
        list_number = below(bits(self._key, chunk), LISTS)
        us = self._flat[(list_number << CHUNK_BITS) + index]
        us += chunk
        us *= self._chunk_us
        if self._knots is None:
            rounded: Ints = np.floor(us, out=us).astype(np.int64)
            rounded += self._start_us
            return rounded
        us += self._start
        week, within_week = np.divmod(us, WEEK_US)
        clock = np.interp(within_week, self._knots, np.arange(HOURS + 1) * float(HOUR_US))
        seats: Ints = np.floor(clock).astype(np.int64)
        return seats + week.astype(np.int64) * WEEK_US + MONDAY_US

    def turn_near(self, us: int) -> int:
        """Approximate first turn at or after a time."""
        since = float(us - self._start_us)
        if self._knots is not None:
            since = float(self._busy(np.array([us - MONDAY_US], dtype=np.float64))[0]) - self._start
        chunk, fraction = divmod(since / self._chunk_us, 1)
        list_number = below(bits(self._key, np.array([int(chunk)], dtype=np.int64)), LISTS)[0]
        return int(chunk) * CHUNK + int(np.searchsorted(self._positions[list_number], fraction))

    def _busy(self, us: Floats) -> Floats:
        """Weighted time since the Monday of week 0, in microseconds."""
        assert self._knots is not None
        week, within_week = np.divmod(us, WEEK_US)
        busy: Floats = week * WEEK_US + np.interp(within_week, np.arange(HOURS + 1) * float(HOUR_US), self._knots)
        return busy

    @cached_property
    def most_a_second(self) -> int:
        """Upper bound of the turns in a second."""
        share = 1e6 * self._busiest / self._chunk_us
        if share >= 1:
            return int((share + 2) * CHUNK)
        begins = self._positions
        counts = [int((np.searchsorted(row, row + share) - np.arange(CHUNK)).max()) for row in begins]
        return 2 * max(counts) + 2

    def longest_us(self, turns: int) -> float:
        """Upper bound of the time that `turns` consecutive turns take, in microseconds."""
        padded = np.concatenate([np.zeros((LISTS, 1)), self._positions, np.ones((LISTS, 1))], axis=1)
        steps = min(turns, CHUNK + 1)
        widest = float((padded[:, steps:] - padded[:, :-steps]).max())
        return 2 * widest * self._chunk_us / self._quietest
