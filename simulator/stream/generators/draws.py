"""What draws the values of a column."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

import pyarrow as pa

from simulator.stream.engine.history import State

# Approximate bytes of numbers and times as text.
SHORT_BYTES: Final = 20


class Draws(ABC):
    """A generator made ready for one column: a state of a row in, its value out, for whole arrays of states.

    A value is a function of the row's identity and of how often the column was set before, so that before and after
    images, snapshots and final states agree wherever they are computed; no column needs that another is drawn, too.
    `always`: setting the column once more is sure to change it. No value has more than about `most_bytes`.
    """

    always: bool = False
    most_bytes: int = SHORT_BYTES

    @abstractmethod
    def array(self, state: State) -> pa.Array: ...
