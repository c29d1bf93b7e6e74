"""`luhn`: numbers whose last digit checks by Luhn's rule: payment cards, IMEIs."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import pyarrow as pa
from pydantic import Field

from simulator.stream.engine.history import State
from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator
from simulator.stream.generators.index import draws
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.stream.scenario.language.words import Strict
from simulator.values import check_digits


class Luhn(Strict):
    """A number of a card."""

    prefix: Annotated[str, Field(pattern=r"^\d{0,12}$", description="Its first digits: 4 is Visa, 51 Mastercard.")] = (
        "4"
    )
    length: Annotated[int, Field(ge=13, le=19, description="All its digits.")] = 16


class CardNumbers(Draws):
    def __init__(self, luhn: Luhn, target: Target) -> None:
        self.prefix, self.length, self.history, self.salt = luhn.prefix, luhn.length, target.history, target.salt

    def array(self, state: State) -> pa.Array:
        drawn = check_digits.drawn(draws(state, self.history, self.salt), self.length - 1 - len(self.prefix))
        digits = np.hstack([check_digits.constant(self.prefix, len(state)), drawn])
        return check_digits.texts(np.column_stack([digits, check_digits.luhn(digits)]))


def check(check: ColumnCheck, luhn: Luhn) -> None:
    check.room(luhn.length, "length")


def draw(target: Target, luhn: Luhn) -> Draws:
    return CardNumbers(luhn, target)


GENERATOR = Generator(
    name="luhn",
    doc="a number whose last digit is right by Luhn's rule, as payment cards have: `prefix` are its first digits (4), "
    "`length` counts all of them (16)",
    example="{type: string(16), values: {luhn: {prefix: 51}}}",
    arguments=Luhn,
    alone={},
    fits=("text",),
    leaf=True,
    check=check,
    draw=draw,
)
