"""`choices`: one of some literals, evenly or by weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import pyarrow as pa
from pydantic import Field

from simulator.native import draws as native
from simulator.native.program import compiled
from simulator.stream.engine.history import History, State
from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator
from simulator.stream.generators.index import Index, Picks, WeightedIndex
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.stream.scenario.language.words import Text, Weight

Choices = list[Text] | dict[str, Weight]


class Even(Draws):
    """Literals drawn with equal shares."""

    def __init__(self, values: pa.Array, target: Target) -> None:
        self.picks = Picks(values)
        self.most_bytes, self.always = self.picks.most_bytes, self.picks.differ
        self.index = Index(len(values), target.history, target.salt)

    def array(self, state: State) -> pa.Array:
        return self.picks(self.index(state))


class Weighted(Draws):
    """Literals drawn by weight: an update takes another one, by weight among the others."""

    def __init__(self, values: pa.Array, weights: Sequence[float], target: Target) -> None:
        self.picks = Picks(values)
        self.most_bytes, self.always = self.picks.most_bytes, self.picks.differ
        self.index = WeightedIndex(weights, target.history, target.salt)

    def array(self, state: State) -> pa.Array:
        return self.picks(self.index(state))


class InTurn(Draws):
    """Literals in turn, over neighbouring rows and over the settings of each row."""

    def __init__(self, values: pa.Array, history: History) -> None:
        self.picks, self.history = Picks(values), history
        self.most_bytes, self.always = self.picks.most_bytes, self.picks.differ

    def array(self, state: State) -> pa.Array:
        changes = state.changes(self.history)
        if compiled():
            return self.picks(native.in_turn(state.place, changes, self.picks.count))
        return self.picks((state.place + changes) % self.picks.count)


def check(check: ColumnCheck, choices: Choices) -> None:
    for i, text in enumerate(choices):
        check.nullable_literals([text], i if isinstance(choices, list) else str(text))


def draw(target: Target, choices: Choices) -> Draws:
    values = target.literals(choices)
    return Weighted(values, list(choices.values()), target) if isinstance(choices, dict) else Even(values, target)


GENERATOR = Generator(
    name="choices",
    doc="one of these literals, all as often, or by weight: `literal: weight`; an update takes another one",
    example="{type: string(8), values: {choices: {small: 70, large: 30}}}",
    arguments=Annotated[Choices, Field(min_length=1)],
    leaf=True,
    check=check,
    draw=draw,
)
