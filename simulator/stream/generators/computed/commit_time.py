"""`commit_time`: commit time of the transaction that set the value."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa

from simulator.carriers import US_PER_DAY, primitive
from simulator.stream.engine.history import State
from simulator.stream.generators.arrays import numeric
from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import NUMBERS, TIMES, Generator
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.values.draw import Ints


class Times(Draws):
    """The commit time in UTC, cut to the column's fraction digits; epoch milliseconds in a column of numbers."""

    def __init__(self, target: Target, clock: Callable[[Ints], Ints]) -> None:
        self.clock, self.type, self.history = clock, target.type, target.history
        self.unit_us = 1 if target.source.stores else target.source.unit_us(target.field.type)

    def array(self, state: State) -> pa.Array:
        us = self.clock(state.turns(self.history))
        if pa.types.is_date32(self.type):
            return primitive(np.floor_divide(us, US_PER_DAY).astype(np.int32), self.type)
        if pa.types.is_duration(self.type):
            us = us % US_PER_DAY
        elif not pa.types.is_timestamp(self.type):
            return numeric(us // 1000, self.type)
        return primitive(us - us % self.unit_us, self.type)


def check(check: ColumnCheck, arguments: bool) -> None:
    """The first commit must be a value of the type: a MySQL TIMESTAMP ends in 2038."""
    if check.holds == "times":
        start = datetime.fromtimestamp(check.spec.start // 1000, UTC)
        check.literals([start.strftime("%Y-%m-%d %H:%M:%S")])


def draw(target: Target, arguments: bool) -> Draws:
    return Times(target, target.columns.timeline.commit_us)


GENERATOR = Generator(
    name="commit_time",
    doc="the commit time of the transaction that set the value; milliseconds since 1970 in a column of numbers",
    example="{type: timestamp(3), values: commit_time}",
    alone=True,
    fits=(*TIMES, *NUMBERS),
    leaf=True,
    check=check,
    draw=draw,
)
