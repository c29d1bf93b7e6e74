"""`range`: any value between two, both included: numbers, dates, times."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Final

import numpy as np
import pyarrow as pa
from pydantic import WithJsonSchema

from simulator.carriers import US_PER_DAY
from simulator.model import ColumnType
from simulator.sources.source import Source
from simulator.stream.engine.history import State
from simulator.stream.generators.arrays import numeric
from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import NUMBERS, TIMES, Generator
from simulator.stream.generators.index import Index
from simulator.stream.scenario.checks.column import ColumnCheck

# Steps through a range are computed in 64 bits.
MOST: Final = 1 << 62


class Range(Draws):
    """Every `unit`-th number from low to high, both included, as the column's carrier."""

    def __init__(self, low: int, high: int, unit: int, target: Target) -> None:
        self.low, self.unit, self.type = low, unit, target.type
        self.index = Index((high - low) // unit + 1, target.history, target.salt)
        self.always = self.index.size > 1

    def array(self, state: State) -> pa.Array:
        return numeric(self.low + self.index(state) * self.unit, self.type)


class FloatRange(Draws):
    """Numbers with two decimals from low to high: short texts, on which all algorithms for printing floats agree."""

    def __init__(self, low: float, high: float, target: Target) -> None:
        self.low, self.type = round(low * 100), target.type
        self.index = Index(max(round(high * 100) - self.low + 1, 1), target.history, target.salt)
        self.always = self.index.size > 1

    def array(self, state: State) -> pa.Array:
        hundredths = (self.low + self.index(state)).astype(np.float64) / 100
        return pa.array(hundredths.astype(self.type.to_pandas_dtype()), self.type)


def check(check: ColumnCheck, ends: tuple[str, str]) -> None:
    literals = check.literals(ends, by_index=True)
    low, high = ends_of(literals, check.field.type, check.source)
    if low > high:
        check.fail(f"{ends[0]!r} is above {ends[1]!r}")
    if low <= -MOST or high >= MOST:
        check.fail(f"{ends[0]!r} to {ends[1]!r} is wider than 62 bits; take ends nearer to zero")


def ends_of(literals: pa.Array, column: ColumnType, source: Source) -> tuple[float, float] | tuple[int, int]:
    """Two values as numbers: of decimals the unscaled ones, of times microseconds."""
    type = source.generated(column)
    if pa.types.is_floating(type):
        low, high = literals.to_pylist()
    elif pa.types.is_decimal(type):
        low, high = (int(Decimal(value).scaleb(type.scale)) for value in literals.to_pylist())
    else:
        low, high = source.microseconds(literals)
    return low, high


def draw(target: Target, ends: tuple[str, str]) -> Draws:
    type = target.type
    low, high = ends_of(target.literals(ends), target.field.type, target.source)
    if pa.types.is_floating(type):
        return FloatRange(low, high, target)
    unit = 1
    if pa.types.is_timestamp(type) or pa.types.is_duration(type):
        unit = target.source.unit_us(target.field.type)
        if target.field.type.name == "date" and ":" not in "".join(ends):
            unit = max(unit, US_PER_DAY)  # a date may have a time of day, which a range does not set
    return Range(int(low), int(high), unit, target)


GENERATOR = Generator(
    name="range",
    doc="any value between two, both included: numbers, dates, times; an update takes another one",
    example="{type: int32, values: {range: [18, 99]}}",
    arguments=Annotated[
        tuple[str, str],
        WithJsonSchema({"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": ["string", "number"]}}),
    ],
    fits=(*NUMBERS, "floats", *TIMES),
    leaf=True,
    check=check,
    draw=draw,
)
