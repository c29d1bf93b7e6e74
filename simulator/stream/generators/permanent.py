"""The permanent rows of a table, which live for the whole stream, numbered from 0 without gaps.

The numbers are shuffled: hot rows are spread over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import numpy as np

from simulator.stream.generators.shuffle import Shuffle
from simulator.values.draw import Bits, Ints, identity

# Maximum rows of a cached table: 32 MB.
MOST_IN_TABLE: Final = 1 << 20


class PermanentRows:
    """Maps rows to their numbers, and back."""

    def __init__(self, parts: Sequence[tuple[int, int, int, int]], key: np.uint64) -> None:
        """Index of (cohort, first slot, slots, rows of each)."""
        sizes = [slots * rows for _, _, slots, rows in parts]
        self.starts: Ints = np.cumsum([0, *sizes]).astype(np.int64)
        self.rows = int(self.starts[-1])
        self._shuffle = Shuffle(max(self.rows, 1), key)
        self._part = np.full(max((cohort for cohort, *_ in parts), default=-1) + 1, -1, dtype=np.int64)
        for i, (cohort, *_) in enumerate(parts):
            self._part[cohort] = i
        self._cohort, self._first, _, self._rows_of_slot = np.array(parts, dtype=np.int64).reshape(-1, 4).T

    def number(self, cohort: Ints, slot: Ints, row: Ints) -> Ints:
        range_number = self._part[cohort]
        return self._shuffle.forward(
            self.starts[range_number] + (slot - self._first[range_number]) * self._rows_of_slot[range_number] + row
        )

    @cached_property
    def _table(self) -> tuple[Ints, Ints, Ints, Bits] | None:
        """(cohorts, slots, rows, identities) by number; None if there are too many rows."""
        if not 0 < self.rows <= MOST_IN_TABLE:
            return None
        cohort, slot, row = self._computed(np.arange(self.rows, dtype=np.int64))
        return cohort, slot, row, identity(slot, np.full(self.rows, -1, dtype=np.int64), row)

    def identified(self, numbers: Ints) -> tuple[Ints, Ints, Ints, Bits]:
        """(cohort, slot, row, identity) of these numbers."""
        if self._table is not None:
            cohort, slot, row, names = self._table
            return cohort[numbers], slot[numbers], row[numbers], names[numbers]
        cohort, slot, row = self._computed(numbers)
        return cohort, slot, row, identity(slot, np.full(len(slot), -1, dtype=np.int64), row)

    def _computed(self, numbers: Ints) -> tuple[Ints, Ints, Ints]:
        numbers = self._shuffle.backward(numbers)
        range_number = np.searchsorted(self.starts, numbers, side="right") - 1
        slot, row = np.divmod(numbers - self.starts[range_number], self._rows_of_slot[range_number])
        return self._cohort[range_number], slot + self._first[range_number], row
