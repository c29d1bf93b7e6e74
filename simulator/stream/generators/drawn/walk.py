"""`walk`: a value that moves by small steps: a price, a balance, a position."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, WithJsonSchema

from simulator.native import draws as native
from simulator.native.program import compiled
from simulator.stream.engine.history import State
from simulator.stream.generators.arrays import numeric
from simulator.stream.generators.columns import Target
from simulator.stream.generators.drawn.range import ends_of
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import NUMBERS, Generator
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.stream.scenario.language.words import Strict
from simulator.values.draw import GOLDEN, Bits, Ints, below, key, mix

# Maximum number of waves that are added up; each is 2^4 times as long as the one before.
WAVES: Final = 6
LONGER: Final = 4
# Levels are in sixteenths of a pair and fit into 64 bits.
UNIT: Final = 16
MOST: Final = 1 << 40
# Maximum values of a walk by percents; and approximate number of values that one step passes.
MOST_VALUES: Final = 1 << 16
FINER: Final = 8
# Ratios of neighbours, in millionths.
MILLION: Final = 1_000_000

Amount = Annotated[str, WithJsonSchema({"type": ["string", "number"]})]


class WalkArguments(Strict):
    """The bounds of a walk, and the longest step in one update."""

    range: Annotated[list[Amount], Field(min_length=2, max_length=2, description="The lowest and the highest value.")]
    step: Annotated[Amount, Field(description="How far an update moves the value, about: 2.50, or a share of it: 3%.")]
    law: Annotated[
        Literal["even", "normal", "heavy"],
        Field(description="How steps differ: evenly, normally, or most are small and some are large."),
    ] = "even"
    endings: Annotated[
        tuple[Amount, ...], Field(description="How values end: [0.99, 0.49]; a whole unit apart. Left out: in any way.")
    ] = ()
    trend: Annotated[
        Amount,
        Field(description="Added by each update; behind an end of the range it goes on at the other: -2 sells out."),
    ] = "0"

    @property
    def share(self) -> int | None:
        """The step in millionths of the value, if it is a percentage."""
        return round(float(self.step[:-1]) * MILLION / 100) if self.step.endswith("%") else None


class Walk(Draws):
    """A sum of waves, each with random heights at its knots; waves of 16^n settings move 4^n times as far as a step.
    Values are grouped in adjacent pairs, and settings alternate between the lower and the upper value of a pair, so a
    value always differs from the last one. The walk reflects at both ends; with a trend it wraps around.
    """

    def __init__(
        self, values: Ints | range, step: int, trend: int, law: str, target: Target, starts: Ints | None = None
    ) -> None:
        """`values` ascend; `step` and `trend` are counts of values. A walk begins in one of the pairs `starts`;
        default: any.
        """
        self.values, self.pairs = values, max(len(values) // 2, 1)
        self.always = len(values) > 1
        self.step, self.trend, self.law = step * UNIT // 2, trend * UNIT // 2, law
        self.type, self.history = target.type, target.history
        waves = 1
        while waves < WAVES and self.step << LONGER // 2 * waves < self.pairs * UNIT:
            waves += 1
        self.salts = [key(target.salt, "wave", n) for n in range(waves)]
        self.start = target.salt
        self.starts = starts

    def array(self, state: State) -> pa.Array:
        index = self._index(state)
        if not self.always:
            index[:] = 0
        if isinstance(self.values, range):
            return numeric(self.values.start + index * self.values.step, self.type)
        return numeric(self.values[index], self.type)

    def _index(self, state: State) -> Ints:
        changes = state.changes(self.history)
        start = self._drawn(state, np.zeros(len(changes), dtype=np.int64), self.start)
        level = UNIT * (
            below(start, self.pairs) if self.starts is None else self.starts[below(start, len(self.starts))]
        )
        if self.trend:
            level += changes * np.int64(self.trend)
        for n, salt in enumerate(self.salts):
            level += self._wave(state, changes, n, salt) * np.int64(self.step << LONGER // 2 * n) >> 15
        period = UNIT * self.pairs * (1 if self.trend else 2)
        level %= period
        level = np.where(level >= UNIT * self.pairs, period - 1 - level, level)
        index: Ints = (level // UNIT * 2) + (changes & 1)
        return index

    def _wave(self, state: State, changes: Ints, n: int, salt: np.uint64) -> Ints:
        """A wave: heights at every 16^n-th setting, linear between them."""
        knot = changes >> LONGER * n
        height = self._height(self._drawn(state, knot, salt))
        if n:
            after = self._height(self._drawn(state, knot + 1, salt))
            height += (after - height) * (changes & ((1 << LONGER * n) - 1)) >> LONGER * n
        return height

    @staticmethod
    def _drawn(state: State, number: Ints, salt: np.uint64) -> Bits:
        if compiled():
            return native.draws(state.identity, number, salt)
        return mix(state.identity + salt + number.view(np.uint64) * GOLDEN)

    def _height(self, drawn: Bits) -> Ints:
        """A random height in units of 1/2^15; all distributions have the same spread."""
        if self.law == "normal":
            pieces = [(drawn >> np.uint64(shift) & np.uint64(65535)).view(np.int64) for shift in (48, 32, 16, 0)]
            normal: Ints = np.add.reduce(pieces) - 131072 >> 1
            return normal
        even: Ints = (drawn >> np.uint64(48)).view(np.int64) - 32768
        if self.law == "heavy":
            square = even * even >> 15
            even = 2 * ((even * square >> 15) * square >> 15)
        return even


def by_percents(low: int, high: int, share: int) -> list[int]:
    """Integers from low to high, each a fraction of the step above its predecessor; computed without floats, which
    platforms round differently."""
    scaled, numbers, increase = low << 20, [low], max(share // FINER, 1)
    while len(numbers) < MOST_VALUES and scaled < high << 20:
        scaled += max(scaled * increase // MILLION, 1 << 20)
        numbers.append(min(scaled >> 20, high))
    return list(dict.fromkeys(numbers))


def ending(numbers: list[int] | range, endings: list[int], unit: int) -> list[int]:
    """The nearest values at or below each number that have one of the endings: ascending, distinct."""
    base = numbers[0] // unit * unit
    if isinstance(numbers, range):
        above = np.arange(numbers.start - base, numbers.stop - base, numbers.step)
    else:
        above = np.array([number - base for number in numbers], dtype=np.int64)
    floor = above // unit * unit
    nearest = floor + min(endings) - unit
    for end in [*(end - unit for end in endings), *endings]:
        candidate = floor + end
        nearest = np.where(candidate <= above, np.maximum(candidate, nearest), nearest)
    return [base + number for number in np.unique(nearest[nearest >= above[0]]).tolist()]


def check(check: ColumnCheck, walk: WalkArguments) -> None:
    def sizes(texts: list[str], name: str, *, by_index: bool = False) -> tuple[float, float]:
        return ends_of(check.literals(texts, name, by_index=by_index), check.field.type, check.source)

    low, high = sizes(walk.range, "range", by_index=True)
    if low >= high:
        check.fail(f"{walk.range[0]!r} is not below {walk.range[1]!r}", "range")
    if high - low >= MOST:
        check.fail(
            f"{walk.range[0]!r} to {walk.range[1]!r} is wider than 40 bits; take ends nearer to each other", "range"
        )
    if walk.step.endswith("%"):
        try:
            share = walk.share or 0
        except ValueError:
            check.fail(f"{walk.step!r} is not a share such as 3%", "step")
        if not 0 < share <= MILLION:
            check.fail(f"{walk.step!r} is not above 0% and up to 100%", "step")
        if low <= 0:
            check.fail(f"a step of {walk.step} needs a range above 0", "step")
        if walk.trend != "0":
            check.fail("a trend needs a step that is an amount", "trend")
    for name, text in (("step", walk.step), ("trend", walk.trend)):
        if text.endswith("%"):
            continue
        size, _ = sizes([text, text], name)
        if abs(size) > high - low:
            check.fail(f"{text!r} leads out of the range", name)
        if name == "step" and size <= 0:
            check.fail(f"{text!r} is not above 0", name)
    if walk.endings:
        unit, _ = sizes(["1", "1"], "endings")
        ends, _ = zip(*(sizes([text, text], "endings") for text in walk.endings), strict=True)
        if min(ends) < 0 or max(ends) >= unit:
            check.fail("endings are from 0 up to less than 1: 0.99", "endings")
        if not walk.share and high - low > MOST_VALUES * unit:
            check.fail(f"endings need a range of at most {MOST_VALUES} units, or a step in percents", "endings")
        if high - low < 2 * unit:
            check.fail("the range has less than two values that end so", "endings")


def draw(target: Target, walk: WalkArguments) -> Draws:
    def sizes(*texts: str) -> list[int]:
        pairs = (ends_of(target.literals([text, text]), target.field.type, target.source) for text in texts)
        return [int(size) for size, _ in pairs]

    low, high = sizes(*walk.range)
    (trend,) = sizes(walk.trend)
    share = walk.share
    numbers: list[int] | range = range(low, high + 1) if share is None else by_percents(low, high, share)
    (step,) = (FINER,) if share is not None else sizes(walk.step)
    starts = None
    if walk.endings:
        (unit,) = sizes("1")
        fine = len(numbers)
        steps = range(low, high + 1, max(unit // 100, 1))
        numbers = ending(steps if isinstance(numbers, range) else numbers, sizes(*walk.endings), unit)
        step, trend = (max(round(size * len(numbers) / fine), bool(size)) for size in (step, trend))
        if share is not None:  # rounding to the endings merges low prices: keep as many walks that start there
            positions = np.searchsorted(numbers, by_percents(low, high, share), side="right") - 1
            starts = np.clip(positions // 2, 0, max(len(numbers) // 2, 1) - 1).astype(np.int64)
    values = numbers if isinstance(numbers, range) else np.array(numbers, dtype=np.int64)
    return Walk(values, step, trend, walk.law, target, starts)


GENERATOR = Generator(
    name="walk",
    doc="a value that an update moves by about `step` (an amount, or a share such as 3%), inside of `range`: a price, "
    "a balance; `law` says how steps differ (even, normal, heavy: most small, some large), `endings` how values end "
    "([0.99]); `trend` is added each time, and behind an end of the range it goes on at the other",
    example='{type: "decimal(8,2)", values: {walk: {range: [4.99, 499.99], step: 3%, law: heavy, endings: [0.99]}}}',
    arguments=WalkArguments,
    fits=NUMBERS,
    check=check,
    draw=draw,
)
