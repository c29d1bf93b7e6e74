"""Three common kinds of draws: values made of fresh bits, values made of a number below a size, values of a list."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.stream.engine.history import State
from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import SHORT_BYTES, Draws
from simulator.stream.generators.index import Index, Picks, draws
from simulator.values.draw import Bits, Ints


class OfBits(Draws):
    """Values that `make` computes from 64 fresh bits for each setting of the column."""

    def __init__(
        self,
        target: Target,
        make: Callable[[Bits], pa.Array],
        *,
        always: bool = False,
        most_bytes: int = SHORT_BYTES,
    ) -> None:
        self.history, self.salt, self.make = target.history, target.salt, make
        self.always, self.most_bytes = always, most_bytes

    def array(self, state: State) -> pa.Array:
        return self.make(draws(state, self.history, self.salt))


class OfIndex(Draws):
    """Values that `make` computes from numbers in [0, size), equally likely; consecutive settings differ."""

    def __init__(self, target: Target, size: int, make: Callable[[Ints], pa.Array]) -> None:
        self.index, self.make, self.always = Index(size, target.history, target.salt), make, size > 1

    def array(self, state: State) -> pa.Array:
        return self.make(self.index(state))


class Picked(Draws):
    """Values of a list; `index` gives the position of each row's value in it."""

    def __init__(self, values: pa.Array, index: Callable[[State], npt.NDArray[np.signedinteger]]) -> None:
        self.picks, self.index = Picks(values), index
        self.most_bytes, self.always = self.picks.most_bytes, self.picks.differ

    def array(self, state: State) -> pa.Array:
        return self.picks(self.index(state))


def even(values: pa.Array, target: Target) -> Draws:
    """The values with equal shares."""
    return Picked(values, Index(len(values), target.history, target.salt))
