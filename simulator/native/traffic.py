"""Slots and places by the compiled library; callers check first that it is available."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from simulator.native.draws import Ints
from simulator.native.library import LIBRARY, memory

Int32s = npt.NDArray[np.int32]


class Tables:
    """The library's view of cohorts and their decks: one row of `Traffic`'s numbers per cohort."""

    def __init__(self, cohorts: Ints, seats: Int32s, ranks: Int32s, cards: Int32s, *keys: np.uint64) -> None:
        """The decks' arrays have the same length."""
        self._kept = np.ascontiguousarray(cohorts), seats, ranks, cards
        where, *decks = (memory(array) for array in self._kept)
        size = min(len(seats), len(ranks), len(cards))
        self._struct = np.array([where, len(cohorts), *decks, size, *map(int, keys)], dtype=np.uint64)

    def visits(self, cohorts: Ints, nth: Ints) -> tuple[Ints, Ints]:
        """(slot, place) of the n-th visit of each cohort."""
        assert LIBRARY is not None
        slots, places = np.empty(len(nth), dtype=np.int64), np.empty(len(nth), dtype=np.int64)
        self._within(LIBRARY.cdcsim_visits(*self._of(cohorts, nth), len(nth), memory(slots), memory(places)))
        return slots, places

    def nth(self, cohorts: Ints, slots: Ints, places: Ints) -> Ints:
        """The cohort's visit number of each slot's visit at a place."""
        assert LIBRARY is not None
        nth = np.empty(len(slots), dtype=np.int64)
        self._within(LIBRARY.cdcsim_nth(*self._of(cohorts, slots, places), len(nth), memory(nth)))
        return nth

    def phases(self, cohorts: Ints, slots: Ints) -> Ints:
        """The place of each slot's first visit of the stream."""
        assert LIBRARY is not None
        phases = np.empty(len(slots), dtype=np.int64)
        self._within(LIBRARY.cdcsim_phases(*self._of(cohorts, slots), len(slots), memory(phases)))
        return phases

    def places(self, cohorts: Ints, slots: Ints, nth: Ints) -> Ints:
        """The place of each slot's first visit at the n-th visit of its cohort or after it."""
        assert LIBRARY is not None
        places = np.empty(len(slots), dtype=np.int64)
        self._within(LIBRARY.cdcsim_places(*self._of(cohorts, slots, nth), len(slots), memory(places)))
        return places

    def _of(self, *arrays: Ints) -> tuple[int, ...]:
        """Pointers for the C call. The arrays have the same length."""
        self._arguments = [np.ascontiguousarray(array, dtype=np.int64) for array in arrays]
        assert len({len(array) for array in self._arguments}) == 1
        return memory(self._struct), *map(memory, self._arguments)

    def _within(self, done: int) -> None:
        assert done, "a cohort or a slot that the tables do not have"
