"""Drawing one of several: fresh bits for each setting of a column, and numbers that never come twice in a row."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.stream.engine.history import History, State
from simulator.stream.generators.generator import SHORT_BYTES
from simulator.values.draw import GOLDEN, Bits, Ints, below, mix


def draws(state: State, history: History, salt: np.uint64) -> Bits:
    """64 fresh bits for each setting of the column."""
    return mix(state.identity + salt + state.changes(history).view(np.uint64) * GOLDEN)


class Index:
    """Numbers in [0, size), even; two settings in a row never give the same one (if there are two).

    The first is drawn, each further one is a fixed odd step on, drawn once per row.
    """

    def __init__(self, size: int, history: History, salt: np.uint64) -> None:
        self.size, self.history, self.salt = size, history, salt

    def __call__(self, state: State) -> Ints:
        first = below(mix(state.identity + self.salt), self.size)
        changes = state.changes(self.history)
        if self.size < 2 or not changes.any():
            return first
        step = 1 + below(mix(state.identity ^ self.salt), min(self.size - 1, 1 << 31))
        moved = first.view(np.uint64) + (changes % self.size * step).view(np.uint64)
        return (moved % np.uint64(self.size)).view(np.int64)


def longest(values: pa.Array) -> int:
    """The bytes of the longest of some values (`Draws.most_bytes`)."""
    if pa.types.is_string(values.type) or pa.types.is_binary(values.type):
        return max(SHORT_BYTES, pc.max(pc.binary_length(values)).as_py() or 0)
    return SHORT_BYTES


def pick(values: pa.Array, index: npt.NDArray[np.intp]) -> pa.Array:
    """`values[index]`; texts and bytes stay a dictionary, so that work on them is done once per different value."""
    if (pa.types.is_string(values.type) or pa.types.is_binary(values.type)) and not values.null_count:
        return pa.DictionaryArray.from_arrays(pa.array(index.astype(np.int32)), values)
    return values.take(pa.array(index))
