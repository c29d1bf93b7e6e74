"""The key column that some sources add: composed of a table's columns; the scenario does not have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.model import Column
from simulator.sources.source import Source
from simulator.stream.engine.history import History, State
from simulator.stream.generators.draws import SHORT_BYTES
from simulator.values import texts
from simulator.values.draw import mix


class Part(Protocol):
    """A column of the key."""

    @property
    def history(self) -> History: ...
    @property
    def most_bytes(self) -> int: ...
    def array(self, state: State) -> pa.Array: ...


@dataclass(frozen=True)
class KeyHistory:
    """Mask of the ticks that set the key: those that set one of its parts."""

    start: int
    sets: npt.NDArray[np.bool_]


class KeyColumn:
    """A key composed of the values of other columns, or of the row's identity if the table has no key."""

    def __init__(
        self, source: Source, column: Column, parts: Sequence[tuple[Column, Part]], ticks: range, salt: np.uint64
    ) -> None:
        self.source, self.field, self._parts, self._salt = source, column, parts, salt
        sets = np.zeros(len(ticks), dtype=bool)
        for _, part in parts:
            sets = sets | part.history.sets
        self.history = KeyHistory(ticks.start, sets)
        self.most_bytes = SHORT_BYTES + sum(len(column.name) + part.most_bytes for column, part in parts)

    def pooled(self, state: State) -> pa.Array:
        """The column's values; there is no pool."""
        return self.array(state)

    def array(self, state: State) -> pa.Array:
        if self._parts:
            return self.source.made_key([(column, part.array(state)) for column, part in self._parts])
        return self.source.stored(texts.uuid(mix(state.identity + self._salt)), self.field.type)
