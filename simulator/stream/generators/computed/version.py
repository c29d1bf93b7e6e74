"""`version`: count of the column's settings."""

from __future__ import annotations

import pyarrow as pa

from simulator.stream.engine.history import State
from simulator.stream.generators.arrays import numeric
from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import NUMBERS, Generator


class Versions(Draws):
    always = True

    def __init__(self, target: Target) -> None:
        self.type, self.history = target.carrier, target.history

    def array(self, state: State) -> pa.Array:
        return numeric(state.changes(self.history) + 1, self.type)


def draw(target: Target, arguments: bool) -> Draws:
    return Versions(target)


GENERATOR = Generator(
    name="version",
    doc="how often the column was set: 1, 2, 3 …",
    example="{type: int32, values: version}",
    alone=True,
    fits=(*NUMBERS, "text"),
    leaf=True,
    draw=draw,
)
