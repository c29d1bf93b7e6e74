"""Counts of the rows numbered before a turn, from which ascending keys are made.

Every deck of a cohort numbers the same count of rows (`traffic/circles.py`): the number of decks times that count, plus
a look-up in a table of running sums.
Cohorts that number as much in each turn need no table. Hot sets that move, and cohorts too large or too many for
tables, are given as many numbers in each turn as one may need: theirs have gaps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from simulator.stream.engine.traffic.traffic import Traffic
from simulator.values.draw import Ints

Int32s = npt.NDArray[np.int32]

# Visits of a table at the most, and cohorts with tables: 20 MB each at the most.
LARGEST: Final = 5 << 20
MOST_TABLES: Final = 16


class Births:
    """Counts of rows, from turn 0 on; negative before it."""

    def __init__(self, traffic: Traffic, numbered: Mapping[int, Ints]) -> None:
        """`numbered`: of cohorts, how many rows each step of their program numbers."""
        self._traffic = traffic
        # cohorts by what each of their turns counts, and cohorts with tables: of a deck, and the running sums in it
        self._even: defaultdict[int, list[int]] = defaultdict(list)
        self._tables: dict[int, tuple[int, Int32s]] = {}
        for cohort, rows in numbered.items():
            circle = traffic.cohorts[cohort].circle
            most, size = int(rows.max()), circle.cards * circle.groups
            if (rows == most).all() or not circle.bound or size > LARGEST or len(self._tables) == MOST_TABLES:
                self._even[most].append(cohort)
                continue
            of_cards = rows.astype(np.int32)[traffic.deck_steps(cohort)].reshape(-1, size)
            sums = np.cumsum(of_cards, axis=1, dtype=np.int32)
            self._tables[cohort] = int(sums[0, -1]), (sums - of_cards).ravel()

    def before(self, turns: Ints) -> Ints:
        """Counts the rows that were numbered before each turn."""
        total = np.zeros(len(turns), dtype=np.int64)
        for rows, cohorts in self._even.items():
            total += self._traffic.cohort_visits(cohorts, turns) * rows
        for cohort, (of_deck, sums) in self._tables.items():
            deck, card = self._traffic.deck_of(cohort, self._traffic.cohort_visits([cohort], turns))
            total += deck * of_deck + sums[card]
        return total
