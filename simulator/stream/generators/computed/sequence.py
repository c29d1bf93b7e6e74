"""`sequence`: numbers that rise with the turn that wrote them, as an auto-increment column has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import numpy as np
import pyarrow as pa
from pydantic import Field

from simulator.stream.engine.history import State, Ticks
from simulator.stream.generators.arrays import numeric
from simulator.stream.generators.generator import NUMBERS, Draws, Generator, Target
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.stream.scenario.language.words import Strict
from simulator.values.draw import Ints, below, bits, key

if TYPE_CHECKING:
    from simulator.stream.generators.columns import Columns

NEVER_FULL: Final = 1 << 62
# Orders in which concurrent writers commit.
ORDERS: Final = 16


class Sequence(Strict):
    """Numbers that rise with the turn that wrote them, each once, with gaps, as an auto-increment column has."""

    start: Annotated[int, Field(ge=0, lt=1 << 62, description="The first number.")] = 1
    step: Annotated[int, Field(ge=1, le=65_535, description="From one number to the next at least.")] = 1
    concurrent: Annotated[
        int, Field(ge=1, le=1024, description="Writers at once: their numbers are out of order by less than that.")
    ] = 1


class Numbers(Draws):
    """`start + step · n`, where n is `(visits + before) · most + offset`.

    `visits` are the turns so far of all slots that insert rows of the table or change the column, `most` rows are
    numbered in one turn at most, `offsets[tick]` is how many of them come before the tick's first row, `before` such
    turns lie between the oldest living row and turn 0.

    Rows born before the stream come first, without gaps. The n of `concurrent` neighbours are shuffled.
    """

    always = True

    def __init__(self, sequence: Sequence, type: pa.DataType, columns: Columns, table: str, field: str) -> None:
        ticks = columns.ticks
        self.start, self.step, self.concurrent = sequence.start, sequence.step, sequence.concurrent
        self.type, self.history = type, ticks.history(table, field)
        self._key = key(columns.scenario.seed, table, field, "concurrent")
        drawn = bits(self._key, np.arange(ORDERS * self.concurrent)).reshape(ORDERS, -1)
        self._orders = np.argsort(drawn, axis=1).astype(np.int64)
        self.permanent = columns.permanent(table)
        self.offsets, self.most = _offsets(ticks, table, field)
        self.traffic = columns.traffic
        self.cohorts: list[int] = []
        earliest = 0
        for number, cohort in enumerate(ticks.plan.cohorts):
            program = ticks.plan.programs[cohort.program]
            if table in program.members and len(ticks.set_by(cohort.program, table, field)):
                self.cohorts.append(number)
                deepest = len(program.steps) if program.members[table].permanent else program.longest
                earliest = min(earliest, self.traffic.earliest(number, deepest))
        self.before = -int(self._visits(np.array([earliest], dtype=np.int64))[0]) if self.cohorts else 0

    def _visits(self, turns: Ints) -> Ints:
        return self.traffic.cohort_visits(self.cohorts, turns)

    def last_turn(self, highest: int) -> int:
        """The last turn whose numbers are sure to fit below or at `highest`: each turn may insert rows, unless all of
        them were there before."""
        room = (highest - self.start) // self.step
        if not self.cohorts and self.permanent.rows - 1 <= room:
            return NEVER_FULL
        return (room - self.permanent.rows - self.most - self.concurrent + 1) // self.most - self.before

    def array(self, state: State) -> pa.Array:
        return numeric(self.numbers(state), self.type)

    def numbers(self, state: State) -> Ints:
        _, tick = state.written(self.history)
        born = np.flatnonzero(tick == state.ticks.birth[state.program]) if self.permanent.rows else ()
        if len(born) == len(state):
            return self._stepped(self.permanent.number(state.cohort, state.slot, state.row))
        numbers = (self._visits(state.turns(self.history)) + self.before) * self.most
        numbers += self.offsets[tick - self.history.start] + state.row
        if self.concurrent > 1:
            window, place = np.divmod(numbers, self.concurrent)
            numbers = window * self.concurrent + self._orders[below(bits(self._key, window), ORDERS), place]
        numbers += self.permanent.rows
        if len(born):
            numbers[born] = self.permanent.number(state.cohort[born], state.slot[born], state.row[born])
        return self._stepped(numbers)

    def _stepped(self, numbers: Ints) -> Ints:
        stepped: Ints = numbers if self.step == 1 else numbers * self.step
        return stepped + self.start


def row_numbers(columns: Columns, table: str) -> Numbers:
    """The number that each row of a table keeps: that of an auto-increment column which no update sets."""
    return Numbers(Sequence(), pa.int64(), columns, table, "")


def _offsets(ticks: Ticks, table: str, field: str) -> tuple[Ints, int]:
    """For each tick that sets the column, how many rows its turn numbers before; and how many one turn numbers at
    most."""
    span = ticks.span(table)
    offsets = np.zeros(len(span), dtype=np.int64)
    most = 1
    for number, program in enumerate(ticks.plan.programs):
        if table in program.members and len(setting := ticks.set_by(number, table, field) + ticks.first[number]):
            step = ticks.step[setting]
            before = (np.arange(len(step)) - np.searchsorted(step, step)) * program.members[table].high
            offsets[setting - span.start] = before
            most = max(most, int(before.max()) + program.members[table].high)
    return offsets, most


def check(check: ColumnCheck, sequence: Sequence) -> None:
    check.literals([str(sequence.start)])


def draw(target: Target, sequence: Sequence) -> Draws:
    return Numbers(sequence, target.carrier, target.columns, target.field.table, target.field.name)


GENERATOR = Generator(
    name="sequence",
    doc="numbers that rise with the turn that wrote them, each once, without gaps where rows of the table are only "
    "inserted; `start` is the first (1), `step` the least distance of two (1); of so many `concurrent` writers (1) one "
    "may commit before another that has a lower number",
    example="{type: int64, values: {sequence: {start: 1000}}}",
    arguments=Sequence,
    alone={},
    fits=(*NUMBERS, "text", "ids"),
    unique=True,
    check=check,
    draw=draw,
)
