"""The permanent rows of a table, which live for the whole stream, numbered from 0 without gaps.

The numbers are shuffled, so that hot rows are anywhere among them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simulator.stream.generators.shuffle import Shuffle
from simulator.values.draw import Ints


class PermanentRows:
    """Both ways: from a row to its number, and back."""

    def __init__(self, parts: Sequence[tuple[int, int, int, int]], key: np.uint64) -> None:
        """Of (cohort, first slot, slots, rows of each)."""
        sizes = [slots * each for _, _, slots, each in parts]
        self.starts: Ints = np.cumsum([0, *sizes]).astype(np.int64)
        self.rows = int(self.starts[-1])
        self._shuffle = Shuffle(max(self.rows, 1), key)
        self._part = np.full(max((cohort for cohort, *_ in parts), default=-1) + 1, -1, dtype=np.int64)
        for i, (cohort, *_) in enumerate(parts):
            self._part[cohort] = i
        self._cohort, self._first, _, self._each = np.array(parts, dtype=np.int64).reshape(-1, 4).T

    def number(self, cohort: Ints, slot: Ints, row: Ints) -> Ints:
        part = self._part[cohort]
        return self._shuffle.forward(self.starts[part] + (slot - self._first[part]) * self._each[part] + row)

    def rows_at(self, numbers: Ints) -> tuple[Ints, Ints, Ints]:
        """(cohort, slot, row) of these numbers."""
        numbers = self._shuffle.backward(numbers)
        part = np.searchsorted(self.starts, numbers, side="right") - 1
        slot, row = np.divmod(numbers - self.starts[part], self._each[part])
        return self._cohort[part], slot + self._first[part], row
