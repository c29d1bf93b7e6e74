"""Base class that draws the values of a column."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

import pyarrow as pa

from simulator.stream.engine.history import State

# Approximate bytes of numbers and times as text.
SHORT_BYTES: Final = 20


class Draws(ABC):
    """A generator compiled for one column: maps arrays of row states to values.

    A value is a function of the row's identity and of how often the column was set before, which makes before and after
    images, snapshots and final states agree wherever they are computed; columns are drawn independently. `always`:
    setting the column again always changes it. `most_bytes`: approximate maximum size of a value.
    """

    always: bool = False
    most_bytes: int = SHORT_BYTES

    @abstractmethod
    def array(self, state: State) -> pa.Array: ...
