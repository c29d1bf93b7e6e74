"""`pattern`: codes such as `SKU-4711-QX`."""

from __future__ import annotations

import math
from typing import Annotated, Final

import pyarrow as pa
from pydantic import Field

from simulator.stream.engine.history import State
from simulator.stream.generators.generator import Draws, Generator, Target
from simulator.stream.generators.index import draws
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.values import texts

# How many characters each placeholder may become.
PLACEHOLDERS: Final = {"#": 10, "?": 26, "*": 36}


class Codes(Draws):
    def __init__(self, shape: str, target: Target) -> None:
        self.shape, self.history, self.salt = shape, target.history, target.salt
        # a chance of one in 2^64 is as good as a promise
        self.always = sum(math.log2(PLACEHOLDERS.get(character, 1)) for character in shape) >= 64
        self.most_bytes = len(shape.encode())

    def array(self, state: State) -> pa.Array:
        return texts.pattern(draws(state, self.history, self.salt), self.shape)


def check(check: ColumnCheck, shape: str) -> None:
    check.room(len(shape))


def draw(target: Target, shape: str) -> Draws:
    return Codes(shape, target)


GENERATOR = Generator(
    name="pattern",
    doc="`#` becomes a digit, `?` a capital letter, `*` either; all else stands for itself",
    example='{type: string(20), values: {pattern: "SKU-####-??-**"}}',
    arguments=Annotated[str, Field(min_length=1)],
    fits=("text",),
    leaf=True,
    check=check,
    draw=draw,
)
