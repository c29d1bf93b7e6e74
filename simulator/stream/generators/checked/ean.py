"""`ean`: article numbers whose last digit checks."""

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


class Ean(Strict):
    """An EAN-13."""

    prefix: Annotated[str, Field(pattern=r"^\d{1,7}$", description="Its first digits: 400 to 440 are German.")] = "400"


class ArticleNumbers(Draws):
    def __init__(self, ean: Ean, target: Target) -> None:
        self.prefix, self.history, self.salt = ean.prefix, target.history, target.salt

    def array(self, state: State) -> pa.Array:
        drawn = check_digits.drawn(draws(state, self.history, self.salt), 12 - len(self.prefix))
        digits = np.hstack([check_digits.constant(self.prefix, len(state)), drawn])
        return check_digits.texts(np.column_stack([digits, check_digits.ean(digits)]))


def check(check: ColumnCheck, ean: Ean) -> None:
    check.room(13)


def draw(target: Target, ean: Ean) -> Draws:
    return ArticleNumbers(ean, target)


GENERATOR = Generator(
    name="ean",
    doc="an article number (EAN-13, GTIN) whose check digit is right; `prefix` are its first digits (400)",
    example="{type: string(13), values: {ean: {prefix: 400}}}",
    arguments=Ean,
    alone={},
    fits=("text",),
    leaf=True,
    check=check,
    draw=draw,
)
