"""`sequence`: numbers that ascend with the turn that wrote them, as in an auto-increment column."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Final

import numpy as np
import pyarrow as pa
from pydantic import Field

from simulator.stream.engine.births import Births
from simulator.stream.engine.history import State, Ticks
from simulator.stream.generators.arrays import numeric
from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import NUMBERS, Generator
from simulator.stream.scenario.language.words import Strict
from simulator.values.draw import Ints, below, bits, key

if TYPE_CHECKING:
    from simulator.stream.generators.columns import Columns

NEVER_FULL: Final = 1 << 62
# Number of precomputed orders in which concurrent writers commit.
ORDERS: Final = 16
# Numbers per window, within which gaps are placed; and the maximum numbers that a rollback leaves unused.
WINDOW: Final = 1024
RUNS: Final = np.array([1, 1, 1, 2, 3])


class Sequence(Strict):
    """Unique numbers that ascend with the turn that wrote them, as in an auto-increment column."""

    start: Annotated[int, Field(ge=0, lt=1 << 62, description="The first number.")] = 1
    step: Annotated[int, Field(ge=1, le=65_535, description="From one number to the next.")] = 1
    concurrent: Annotated[
        int, Field(ge=1, le=1024, description="Writers at once: their numbers are out of order by less than that.")
    ] = 1
    gaps: Annotated[
        float, Field(ge=0, le=0.5, description="Share of the numbers that no row has, as rollbacks leave them.")
    ] = 0


class Numbers(Draws):
    """`start + step · n`, where n is the count of numbers given before: to rows born before the stream, in earlier
    turns, in earlier statements of the turn, and to earlier rows of the statement. The n of `concurrent` neighbours are
    shuffled. With `gaps`, each WINDOW of numbers is spread over a longer range.
    """

    always = True

    def __init__(self, sequence: Sequence, type: pa.DataType, columns: Columns, table: str, field: str) -> None:
        ticks = columns.ticks
        self.start, self.step, self.concurrent = sequence.start, sequence.step, sequence.concurrent
        self.type, self.history = type, ticks.history(table, field)
        self._key = key(columns.scenario.seed, table, field, "concurrent")
        drawn = bits(self._key, np.arange(ORDERS * self.concurrent)).reshape(ORDERS, -1)
        self._orders = np.argsort(drawn, axis=1).astype(np.int64)
        self._left_out = round(WINDOW * sequence.gaps / (1 - sequence.gaps))
        self._spread = self._spreads(columns.scenario.seed, table, field)
        self.permanent = columns.permanent(table)
        self.offsets, of_steps = _numbered(ticks, table, field)
        self._numbered: dict[int, Ints] = {}
        self._earliest = 0
        for number, cohort in enumerate(ticks.plan.cohorts):
            if cohort.program in of_steps:
                program = ticks.plan.programs[cohort.program]
                self._numbered[number] = of_steps[cohort.program]
                deepest = len(program.steps) if program.members[table].permanent else program.longest
                self._earliest = min(self._earliest, columns.traffic.earliest(number, deepest))
        self.most = max((int(rows.max()) for rows in of_steps.values()), default=1)
        self._traffic = columns.traffic

    def _spreads(self, seed: int, table: str, field: str) -> Ints:
        """Precomputed placements of a window's numbers among unused numbers, which come in runs of 1 to 3."""
        spreads = np.empty((ORDERS, WINDOW), dtype=np.int64)
        for order in range(ORDERS):
            drawn = bits(key(seed, table, field, "gaps", order), np.arange(2 * self._left_out + 2))
            runs = RUNS[below(drawn[: self._left_out + 1], len(RUNS))]
            runs = np.diff(np.minimum(np.cumsum(runs), self._left_out), prepend=0)
            before = np.bincount(below(drawn[-len(runs) :], WINDOW), weights=runs, minlength=WINDOW)
            spreads[order] = np.arange(WINDOW) + np.cumsum(before).astype(np.int64)
        return spreads

    @cached_property
    def _births(self) -> Births:
        return Births(self._traffic, self._numbered)

    @cached_property
    def _before(self) -> int:
        """Count of numbers given from the birth of the oldest living row to turn 0."""
        return -int(self._births.before(np.array([self._earliest], dtype=np.int64))[0])

    def last_turn(self, highest: int) -> int:
        """The last turn whose numbers are certainly at most `highest`, if each turn inserts as many rows as it can."""
        room = (highest - self.start) // self.step
        room = room // (WINDOW + self._left_out) * WINDOW if self._left_out else room
        if not self._numbered and self.permanent.rows - 1 <= room:
            return NEVER_FULL
        earliest = np.array([self._earliest], dtype=np.int64)
        earlier = -int(self._traffic.cohort_visits(list(self._numbered), earliest)[0])
        return (room - self.permanent.rows - self.most - self.concurrent + 1) // self.most - earlier

    def array(self, state: State) -> pa.Array:
        return numeric(self.numbers(state), self.type)

    def numbers(self, state: State) -> Ints:
        _, tick = state.written(self.history)
        born = np.flatnonzero(tick == state.ticks.birth[state.program]) if self.permanent.rows else ()
        if len(born) == len(state):
            return self._stepped(self.permanent.number(state.cohort, state.slot, state.row))
        numbers = self._births.before(state.turns(self.history)) + self._before
        numbers += self.offsets[tick - self.history.start] + state.row
        if self.concurrent > 1:
            window, position = np.divmod(numbers, self.concurrent)
            numbers = window * self.concurrent + self._orders[below(bits(self._key, window), ORDERS), position]
        numbers += self.permanent.rows
        if len(born):
            numbers[born] = self.permanent.number(state.cohort[born], state.slot[born], state.row[born])
        return self._stepped(numbers)

    def _stepped(self, numbers: Ints) -> Ints:
        if self._left_out:
            window, position = np.divmod(numbers, WINDOW)
            numbers = window * (WINDOW + self._left_out)
            numbers += self._spread[below(bits(self._key, window), ORDERS), position]
        stepped: Ints = numbers if self.step == 1 else numbers * self.step
        return stepped + self.start


def row_numbers(columns: Columns, table: str) -> Numbers:
    """The permanent number of each row of a table, computed as for an auto-increment column that no update sets."""
    return Numbers(Sequence(), pa.int64(), columns, table, "")


def _numbered(ticks: Ticks, table: str, field: str) -> tuple[Ints, dict[int, Ints]]:
    """Numbers that the turn of each setting tick gives before it; and by program, the numbers that each step gives."""
    span = ticks.span(table)
    offsets = np.zeros(len(span), dtype=np.int64)
    of_steps = {}
    for number, program in enumerate(ticks.plan.programs):
        if table in program.members and len(setting := ticks.set_by(number, table, field) + ticks.first[number]):
            step, rows = ticks.step[setting], ticks.rows(table)[setting - span.start]
            rows = np.where(rows < 0, program.members[table].high, rows)
            before = np.cumsum(rows) - rows
            offsets[setting - span.start] = before - before[np.searchsorted(step, step)]
            of_steps[number] = np.bincount(step, weights=rows, minlength=len(program.steps)).astype(np.int64)
    return offsets, of_steps


def draw(target: Target, sequence: Sequence) -> Draws:
    return Numbers(sequence, target.carrier, target.columns, target.field.table, target.field.name)


GENERATOR = Generator(
    name="sequence",
    doc="numbers that rise with the turn that wrote them, each once and without gaps (hot sets that move, lifecycles "
    "with `zipf` and more than 250,000 entities alone have some); `start` is the first (1), `step` the distance of two "
    "(1); with more `concurrent` writers (1) one may commit before another that has a lower number; `gaps` is the "
    "share of numbers that no row has, as rollbacks leave them (0)",
    example="{type: int64, values: {sequence: {start: 1000}}}",
    arguments=Sequence,
    alone={},
    fits=(*NUMBERS, "text", "ids"),
    unique=True,
    check=lambda check, sequence: check.literals([str(sequence.start)]),
    draw=draw,
)
