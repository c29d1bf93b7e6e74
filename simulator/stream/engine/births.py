"""Counts of the numbers given to rows before a turn; ascending keys are made of them.

Every deck of a cohort gives the same count of numbers (`traffic/circles.py`), so the total is the number of decks times
that count, plus a look-up in a table of running sums. Cohorts with the same count in each turn need no table. Hot sets
that move, and cohorts that are too large or too many for tables, reserve the maximum count in each turn, which leaves
gaps.
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

# Maximum visits in a table, and maximum cohorts with tables, of up to 20 MB each.
LARGEST: Final = 5 << 20
MOST_TABLES: Final = 16


class Births:
    """Counts of numbers given since turn 0; negative for turns before it."""

    def __init__(self, traffic: Traffic, numbered: Mapping[int, Ints]) -> None:
        """`numbered` maps cohorts to the count of numbers that each step of their program gives."""
        self._traffic = traffic
        # cohorts by their count per turn; cohorts with tables: count per deck, and the running sums within it
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
