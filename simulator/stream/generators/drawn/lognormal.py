"""`lognormal`: amounts, most of them small, a few large."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Annotated, Final

import numpy as np
from pydantic import Field, WithJsonSchema

from simulator.stream.generators.arrays import numeric
from simulator.stream.generators.columns import Target
from simulator.stream.generators.drawn.range import ends_of
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import NUMBERS, Generator
from simulator.stream.generators.sampled import OfIndex
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.stream.scenario.language.words import Strict
from simulator.values.draw import Ints

# Equally likely parts of the distribution; values are their midpoints.
PARTS: Final = 1 << 13
MOST: Final = 1 << 53
Amount = Annotated[str, WithJsonSchema({"type": ["string", "number"]})]


class Lognormal(Strict):
    """Arguments of a log-normal distribution: amounts of money, sizes, durations."""

    median: Annotated[Amount, Field(description="As many are below it as above.")]
    spread: Annotated[float, Field(gt=1, le=100, description="Two thirds lie between the median over it and times it.")]
    range: Annotated[list[Amount], Field(min_length=2, max_length=2, description="The lowest and the highest value.")]


def values_of(median: float, spread: float, low: int, high: int) -> Ints:
    """Distinct midpoints of the distribution's parts between two bounds, rounded to 12 digits, on which all platforms
    agree.
    """
    law, scale = NormalDist(), math.log(spread)
    parts = (median * math.exp(scale * law.inv_cdf((part + 0.5) / PARTS)) for part in range(PARTS))
    numbers = {round(float(f"{part:.12g}")) for part in parts if low <= part <= high}
    return np.array(sorted(numbers), dtype=np.int64)


def check(check: ColumnCheck, law: Lognormal) -> None:
    low, high = ends_of(check.literals(law.range, "range", by_index=True), check.field.type, check.source)
    median, _ = ends_of(check.literals([law.median] * 2, "median"), check.field.type, check.source)
    if not 0 < low < high < MOST:
        check.fail(f"{law.range[0]!r} to {law.range[1]!r}: write two amounts above 0, the smaller first", "range")
    if not low < median < high:
        check.fail(f"{law.median!r} is not inside of the range", "median")


def draw(target: Target, law: Lognormal) -> Draws:
    literals = (target.literals([text, text]) for text in (law.median, *law.range))
    median, low, high = (ends_of(pair, target.field.type, target.source)[0] for pair in literals)
    values = values_of(median, law.spread, int(low), int(high))
    return OfIndex(target, len(values), lambda index: numeric(values[index], target.type))


GENERATOR = Generator(
    name="lognormal",
    doc="amounts of which most are small and a few large: two thirds lie between `median` / `spread` and `median` * "
    "`spread`, none outside of `range`; an update takes another one",
    example='{type: "decimal(10,2)", values: {lognormal: {median: 40, spread: 3, range: [0.5, 20000]}}}',
    arguments=Lognormal,
    fits=NUMBERS,
    leaf=True,
    check=check,
    draw=draw,
)
