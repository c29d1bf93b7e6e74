"""Random indexes below n: fresh bits for each setting of a column, and numbers that never repeat in consecutive
settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.carriers import storage
from simulator.native import draws as native
from simulator.native.program import compiled
from simulator.stream.engine.history import History, State
from simulator.stream.generators.draws import SHORT_BYTES
from simulator.values.draw import GOLDEN, Bits, Ints, below, mix, unit


def draws(state: State, history: History, salt: np.uint64) -> Bits:
    """64 fresh bits for each setting of the column."""
    if compiled():
        return native.draws(state.identity, state.changes(history), salt)
    return mix(state.identity + salt + state.changes(history).view(np.uint64) * GOLDEN)


def neighbours(state: State, history: History, salt: np.uint64) -> tuple[Ints, Bits, Bits]:
    """Indexes of the states at odd settings of the column, and the bits of the settings before and after. Even settings
    are drawn freely, odd ones so that they differ from both neighbours. So a value differs from the last one, and still
    follows from the number of the setting alone.
    """
    changes = state.changes(history)
    odd = np.flatnonzero(changes & 1)
    start = state.identity[odd] + salt + changes[odd].view(np.uint64) * GOLDEN
    return odd, mix(start - GOLDEN), mix(start + GOLDEN)


# Below this size, numbers other than the two neighbours' are drawn exactly evenly.
EXACT_BELOW: Final = 1 << 16


class Index:
    """Numbers in [0, size), equally likely; consecutive settings differ if `size` is 2 or more."""

    def __init__(self, size: int, history: History, salt: np.uint64) -> None:
        self.size, self.history, self.salt = size, history, salt

    def __call__(self, state: State) -> Ints:
        if compiled() and self.size < 1 << 63:
            return native.index(state.identity, state.changes(self.history), self.salt, self.size)
        if self.size == 2:  # only the first one is random
            first = below(mix(state.identity + self.salt), 2)
            return first ^ (state.changes(self.history) & 1)
        drawn = draws(state, self.history, self.salt)
        index = below(drawn, self.size)
        if self.size > 2:
            odd, before, after = neighbours(state, self.history, self.salt)
            if len(odd):
                odd_draws = drawn[odd]
                a, b = below(before, self.size), below(after, self.size)
                low, high = np.minimum(a, b), np.maximum(a, b)
                differ = low != high
                other_numbers = below(odd_draws, self.size - 1)
                if self.size < EXACT_BELOW:
                    other_numbers = np.where(differ, below(odd_draws, self.size - 2), other_numbers)
                else:  # nearly even, and faster
                    other_numbers -= differ & (other_numbers == self.size - 2)
                other_numbers += other_numbers >= low
                other_numbers += differ & (other_numbers >= high)
                index[odd] = other_numbers
        return index


class WeightedIndex:
    """Numbers in [0, len(weights)), by weight; consecutive settings differ."""

    def __init__(self, weights: Sequence[float], history: History, salt: np.uint64) -> None:
        self.weights = np.array(weights, dtype=np.float64) / sum(weights)
        self.ends = np.cumsum(self.weights)
        self.history, self.salt = history, salt

    def __call__(self, state: State) -> Ints:
        last = len(self.ends) - 1
        if last == 1:
            first = self._number_at(unit(mix(state.identity + self.salt)))
            return first ^ (state.changes(self.history) & 1)
        drawn = unit(draws(state, self.history, self.salt))
        index = self._number_at(drawn)
        if last > 1:
            odd, before, after = neighbours(state, self.history, self.salt)
            if len(odd):
                odd_draws = drawn[odd]
                a, b = self._number_at(unit(before)), self._number_at(unit(after))
                low, high = np.minimum(a, b), np.maximum(a, b)
                differ = low != high
                # a point on the line of weights without the neighbours' numbers, then moved past each of these below it
                point = odd_draws * (1 - self.weights[low] - differ * self.weights[high])
                point += self.weights[low] * (point >= self.ends[low] - self.weights[low])
                point += self.weights[high] * (differ & (point >= self.ends[high] - self.weights[high]))
                other_numbers = self._number_at(point)
                # rounding at an end of an interval
                wrong = np.flatnonzero((other_numbers == low) | (other_numbers == high))
                while len(wrong):
                    other_numbers[wrong] = (other_numbers[wrong] + 1) % (last + 1)
                    wrong = wrong[(other_numbers[wrong] == low[wrong]) | (other_numbers[wrong] == high[wrong])]
                index[odd] = other_numbers
        return index

    def _number_at(self, points: npt.NDArray[np.float64]) -> Ints:
        index: Ints = np.minimum(np.searchsorted(self.ends, points, side="right"), len(self.ends) - 1)
        return index


class Picks:
    """Values picked by index: dictionary arrays that share one dictionary, so that work on values is done once per
    distinct value.
    """

    def __init__(self, values: pa.Array) -> None:
        self.values, self.count = values, len(values)
        self.differ = len(values) > 1 and len(storage(values).unique()) == len(values)
        self.most_bytes = SHORT_BYTES
        self._indices: npt.NDArray[np.int32] | None = None
        has_values = values.null_count < max(len(values), 1)
        if _is_text(values.type) and has_values:
            self.most_bytes = max(SHORT_BYTES, pc.max(pc.binary_length(values)).as_py() or 0)
        if values.null_count and has_values:
            is_valid = np.asarray(values.is_valid())
            self._indices, self._null = (np.cumsum(is_valid) - 1).astype(np.int32), ~is_valid
            self.values = values.drop_null()

    def __call__(self, index: npt.NDArray[np.signedinteger]) -> pa.Array:
        if self._indices is None:
            indices = pa.array(index.astype(np.int32, copy=False))
        else:
            indices = pa.array(self._indices[index], mask=self._null[index])
        return pa.DictionaryArray.from_arrays(indices, self.values)


def _is_text(type: pa.DataType) -> bool:
    return bool(pa.types.is_string(type) or pa.types.is_binary(type))
