"""Nulls: a share of the values; consecutive settings are never both null if the share allows it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from simulator.native import draws as native
from simulator.native.program import compiled
from simulator.stream.engine.history import History, State
from simulator.stream.generators.index import draws, neighbours
from simulator.values.draw import chance


class Nulls:
    """Masks of null values. `always`: no two consecutive settings are null; possible up to a share of (3 - √5) / 2."""

    def __init__(self, share: float, history: History, salt: np.uint64) -> None:
        self.share, self.history, self.salt = share, history, salt
        self.always = share <= (1 - share) ** 2
        # chance of a null between two settings that are not null, so that the overall share is right
        self._between = share / (1 - share) ** 2 if self.always else 0.0

    def __call__(self, state: State) -> npt.NDArray[np.bool_]:
        if compiled() and self.share < 1 and self._between < 1:
            share, between = (int(fraction * 2.0**64) for fraction in (self.share, self._between))
            return native.nulls(state.identity, state.changes(self.history), self.salt, share, between)
        drawn = draws(state, self.history, self.salt)
        nulls = chance(drawn, self.share)
        if self.always:
            odd, before, after = neighbours(state, self.history, self.salt)
            free = ~(chance(before, self.share) | chance(after, self.share))
            nulls[odd] = free & chance(drawn[odd], self._between)
        return nulls
