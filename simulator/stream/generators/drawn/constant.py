"""`constant`: always the same value."""

from __future__ import annotations

import numpy as np

from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator
from simulator.stream.generators.sampled import Picked
from simulator.stream.scenario.language.words import Text


def draw(target: Target, text: str | None) -> Draws:
    return Picked(target.literals([text]), lambda state: np.zeros(len(state), dtype=np.int64))


GENERATOR = Generator(
    name="constant",
    doc="always this literal",
    example="{type: string(2), values: {constant: NO}}",
    arguments=Text,
    leaf=True,
    check=lambda check, text: check.nullable_literals([text]),
    draw=draw,
)
