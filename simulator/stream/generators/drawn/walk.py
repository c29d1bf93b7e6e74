"""`walk`: a value that moves by small steps: a balance, a stock, a position."""

from __future__ import annotations

import math
from typing import Annotated, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field, WithJsonSchema

from simulator.stream.engine.history import State
from simulator.stream.generators.arrays import numeric
from simulator.stream.generators.columns import Target
from simulator.stream.generators.drawn.range import ends_of
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import NUMBERS, Generator
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.stream.scenario.language.words import Strict
from simulator.values.draw import GOLDEN, Ints, key, mix, unit

# Waves of twice the length each are added up, up to this many.
WAVES: Final = 16
# Places in a walk are floats.
MOST: Final = 1 << 50


Amount = Annotated[str, WithJsonSchema({"type": ["string", "number"]})]


class WalkArguments(Strict):
    """From where to where, and how far in one update."""

    range: Annotated[list[Amount], Field(min_length=2, max_length=2, description="The lowest and the highest value.")]
    step: Annotated[Amount, Field(description="How far an update moves the value, about.")]
    trend: Annotated[
        Amount,
        Field(description="Added by each update; behind an end of the range it goes on at the other: -2 sells out."),
    ] = "0"


class Walk(Draws):
    """A sum of waves, each with a random height at its knots: those of length 2^n move 2^(n/2) times as far as a step.

    The values are in pairs of neighbours, of which settings take the lower and the upper one in turn, so a value always
    differs from the last one.
    """

    def __init__(self, low: int, high: int, step: int, trend: int, target: Target) -> None:
        self.low, self.pairs = low, max((high - low + 1) // 2, 1)
        self.always = high > low
        self.step, self.trend = step / 2, trend / 2
        self.type, self.history = target.type, target.history
        waves = 1 + math.ceil(2 * math.log2(max(self.pairs / max(self.step, 0.5), 1)))
        self.salts = [key(target.salt, "wave", n) for n in range(min(waves, WAVES))]
        self.start = target.salt

    def array(self, state: State) -> pa.Array:
        changes = state.changes(self.history)
        level = unit(mix(state.identity + self.start)) * self.pairs + changes * self.trend
        for n, salt in enumerate(self.salts):
            level += self._wave(state, changes, n, salt) * (self.step * 2 ** (n / 2))
        if self.trend:
            level %= self.pairs
        else:  # it turns back at either end
            level %= 2 * self.pairs
            level = np.where(level >= self.pairs, 2 * self.pairs - level, level)
        pair = np.minimum(level.astype(np.int64), self.pairs - 1)
        return numeric(self.low + 2 * pair + (changes & 1 if self.always else 0), self.type)

    @staticmethod
    def _wave(state: State, changes: Ints, n: int, salt: np.uint64) -> npt.NDArray[np.float64]:
        """Heights between -1 and 1 at every 2^n-th setting, and straight lines between them."""
        knot = (changes >> n).view(np.uint64)
        height = unit(mix(state.identity + salt + knot * GOLDEN))
        if n:
            after = unit(mix(state.identity + salt + (knot + np.uint64(1)) * GOLDEN))
            height += (after - height) * ((changes & ((1 << n) - 1)) / (1 << n))
        return 2 * height - 1


def check(check: ColumnCheck, walk: WalkArguments) -> None:
    low, high = ends_of(check.literals(walk.range, "range", by_index=True), check.field.type, check.source)
    if low >= high:
        check.fail(f"{walk.range[0]!r} is not below {walk.range[1]!r}", "range")
    if high - low >= MOST:
        check.fail(
            f"{walk.range[0]!r} to {walk.range[1]!r} is wider than 50 bits; take ends nearer to each other", "range"
        )
    for name, text in (("step", walk.step), ("trend", walk.trend)):
        size, _ = ends_of(check.literals([text, text], name), check.field.type, check.source)
        if abs(size) > high - low:
            check.fail(f"{text!r} leads out of the range", name)
        if name == "step" and size <= 0:
            check.fail(f"{text!r} is not above 0", name)


def draw(target: Target, walk: WalkArguments) -> Draws:
    def whole(texts: list[str]) -> tuple[int, int]:
        low, high = ends_of(target.literals(texts), target.field.type, target.source)
        return int(low), int(high)

    return Walk(*whole(walk.range), *whole([walk.step, walk.trend]), target)


GENERATOR = Generator(
    name="walk",
    doc="a value that an update moves by about `step`, inside of `range`: a balance, a stock; `trend` is added each "
    "time, and behind an end of the range it goes on at the other",
    example="{type: int32, values: {walk: {range: [0, 500], step: 5, trend: -2}}}",
    arguments=WalkArguments,
    fits=NUMBERS,
    check=check,
    draw=draw,
)
