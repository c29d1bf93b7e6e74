"""`range`: numbers, dates or times between two bounds, both included."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Final

import pyarrow as pa
from pydantic import WithJsonSchema

from simulator.carriers import US_PER_DAY
from simulator.model import ColumnType
from simulator.sources.source import Source
from simulator.stream.generators.arrays import numeric
from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import NUMBERS, TIMES, Generator
from simulator.stream.generators.sampled import OfIndex
from simulator.stream.scenario.checks.column import ColumnCheck

# Steps through a range are computed in 64 bits.
MOST: Final = 1 << 62


def check(check: ColumnCheck, ends: tuple[str, str]) -> None:
    literals = check.literals(ends, by_index=True)
    low, high = ends_of(literals, check.field.type, check.source)
    if low > high:
        check.fail(f"{ends[0]!r} is above {ends[1]!r}")
    if low <= -MOST or high >= MOST:
        check.fail(f"{ends[0]!r} to {ends[1]!r} is wider than 62 bits; take ends nearer to zero")


def ends_of(literals: pa.Array, column: ColumnType, source: Source) -> tuple[float, float] | tuple[int, int]:
    """The bounds as numbers: unscaled decimals, microseconds of times."""
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
        # two decimals: all algorithms for printing floats agree on such short texts
        first = round(low * 100)
        count = max(round(high * 100) - first + 1, 1)
        dtype = type.to_pandas_dtype()
        return OfIndex(target, count, lambda index: pa.array(((first + index) / 100).astype(dtype), type))
    unit = 1
    if pa.types.is_timestamp(type) or pa.types.is_duration(type):
        unit = target.source.unit_us(target.field.type)
        if target.field.type.name == "date" and ":" not in "".join(ends):
            unit = max(unit, US_PER_DAY)  # some systems' dates have a time of day, which a range does not set
    lowest = int(low)
    return OfIndex(target, (int(high) - lowest) // unit + 1, lambda index: numeric(lowest + index * unit, type))


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
