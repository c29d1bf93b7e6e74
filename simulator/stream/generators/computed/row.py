"""`row`: the row's number in its entity."""

from __future__ import annotations

import pyarrow as pa

from simulator.stream.engine.history import State
from simulator.stream.generators.arrays import numeric
from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import NUMBERS, Generator


class RowNumbers(Draws):
    def __init__(self, type: pa.DataType) -> None:
        self.type = type

    def array(self, state: State) -> pa.Array:
        return numeric(state.row + 1, self.type)


def draw(target: Target, arguments: bool) -> Draws:
    return RowNumbers(target.carrier)


GENERATOR = Generator(
    name="row",
    doc="the row's number in its entity, from 1: the line number of an order",
    example="{type: int32, values: row}",
    alone=True,
    fits=(*NUMBERS, "text"),
    leaf=True,
    draw=draw,
)
