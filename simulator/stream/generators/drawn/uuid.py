"""`uuid`: random UUIDs."""

from __future__ import annotations

import pyarrow as pa

from simulator.stream.engine.history import State
from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator
from simulator.stream.generators.index import draws
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.values import texts


class Uuids(Draws):
    always = True
    most_bytes = 36

    def __init__(self, target: Target) -> None:
        self.history, self.salt = target.history, target.salt

    def array(self, state: State) -> pa.Array:
        return texts.uuid(draws(state, self.history, self.salt))


def check(check: ColumnCheck, arguments: bool) -> None:
    check.room(36)


def draw(target: Target, arguments: bool) -> Draws:
    return Uuids(target)


GENERATOR = Generator(
    name="uuid",
    doc="a random UUID",
    example="{type: uuid, values: uuid}",
    alone=True,
    fits=("text", "UUIDs", "ids"),
    unique=True,
    leaf=True,
    check=check,
    draw=draw,
)
