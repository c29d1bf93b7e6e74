"""`choices`: one of some literals, evenly or by weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field

from simulator.native import draws as native
from simulator.native.program import compiled
from simulator.stream.engine.history import History, State
from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator
from simulator.stream.generators.index import WeightedIndex
from simulator.stream.generators.sampled import Picked, even
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.stream.scenario.language.words import Text, Weight

Choices = list[Text] | dict[str, Weight]


def weighted(values: pa.Array, weights: Sequence[float], target: Target) -> Draws:
    """Values by weight; an update picks another value, by weight among the others."""
    return Picked(values, WeightedIndex(weights, target.history, target.salt))


def in_turn(values: pa.Array, history: History) -> Draws:
    """The values in turn, over neighbouring rows and over the settings of each row."""
    count = len(values)

    def index(state: State) -> npt.NDArray[np.signedinteger]:
        changes = state.changes(history)
        return native.in_turn(state.place, changes, count) if compiled() else (state.place + changes) % count

    return Picked(values, index)


def check(check: ColumnCheck, choices: Choices) -> None:
    for i, text in enumerate(choices):
        check.nullable_literals([text], i if isinstance(choices, list) else str(text))


def draw(target: Target, choices: Choices) -> Draws:
    values = target.literals(choices)
    return weighted(values, list(choices.values()), target) if isinstance(choices, dict) else even(values, target)


GENERATOR = Generator(
    name="choices",
    doc="one of these literals, all as often, or by weight: `literal: weight`; an update takes another one",
    example="{type: string(8), values: {choices: {small: 70, large: 30}}}",
    arguments=Annotated[Choices, Field(min_length=1)],
    leaf=True,
    check=check,
    draw=draw,
)
