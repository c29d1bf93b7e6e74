"""`constant`: always the same value."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from simulator.stream.engine.history import State
from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator
from simulator.stream.generators.index import Picks
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.stream.scenario.language.words import Text


class Constant(Draws):
    def __init__(self, value: pa.Array) -> None:
        self.picks = Picks(value)
        self.most_bytes = self.picks.most_bytes

    def array(self, state: State) -> pa.Array:
        return self.picks(np.zeros(len(state), dtype=np.int64))


def check(check: ColumnCheck, text: str | None) -> None:
    check.nullable_literals([text])


def draw(target: Target, text: str | None) -> Draws:
    return Constant(target.literals([text]))


GENERATOR = Generator(
    name="constant",
    doc="always this literal",
    example="{type: string(2), values: {constant: NO}}",
    arguments=Text,
    leaf=True,
    check=check,
    draw=draw,
)
