"""`references`: the key of a row of another table that lives as long as it is referred to."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import pyarrow as pa
from pydantic import BeforeValidator, Field

from simulator.stream.engine.history import State
from simulator.stream.generators.arrays import with_nulls
from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator
from simulator.stream.generators.index import draws
from simulator.stream.generators.living import TRIES, Deaths, LivingRows
from simulator.stream.generators.shuffle import Shuffle
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.stream.scenario.language.words import WORD, Name, Share, Strict
from simulator.values.draw import GOLDEN, Bits, Ints, below, mix, unit


class Reference(Strict):
    """The key of a row of another table."""

    table: Name
    skew: Annotated[
        float, Field(ge=1, le=20, description="1 picks evenly; more picks some of the permanent rows more often.")
    ] = 1
    recent: Annotated[Share, Field(description="Share of the references that are to the newest rows.")] = 0


class References(Draws):
    """A permanent row, or one that is there before the turn and is deleted only after the row that refers to it."""

    def __init__(self, reference: Reference, target: Target) -> None:
        self.table, self.skew, self.recent = reference.table, reference.skew, reference.recent
        (key,) = target.scenario.spec.tables[self.table].key
        self.column = target.columns.column(self.table, key)
        self.most_bytes = self.column.most_bytes
        self.permanent = target.columns.permanent(self.table)
        self.living = LivingRows(target.columns, self.table)
        self.deaths = Deaths(target.columns, target.field.table)
        self.pairs = target.columns.pairs(target.field)
        self.name = target.field.name
        self.history, self.salt = target.history, target.salt
        # which rows are picked more often: any of them
        self.preferred = Shuffle(max(self.permanent.rows, 1), target.salt)

    def array(self, state: State) -> pa.Array:
        ticks = state.ticks
        if self.pairs is not None:
            cohort, slot, row = self.permanent.rows_at(self.pairs.numbers(self.name, state))
            cycle, tick = np.full(len(slot), -1, dtype=np.int64), ticks.birth[ticks.cohort_program[cohort]]
            return self.column.array(
                State(ticks, self.table, cohort=cohort, slot=slot, cycle=cycle, tick=tick, row=row)
            )
        drawn = draws(state, self.history, self.salt)
        cohort, slot, row = self._permanent(drawn)
        cycle, tick = np.full(len(slot), -1, dtype=np.int64), ticks.birth[ticks.cohort_program[cohort]]
        missing = np.zeros(len(slot), dtype=bool)
        if self.living.cohorts:
            turns = state.turns(self.history)
            groups, whose = self._groups(drawn, turns), (state.cohort, state.slot, state.cycle, state.tick)
            missing[:] = not self.permanent.rows
            for group, number in enumerate(self.living.cohorts):
                left = np.flatnonzero(groups == group)
                tried, until = drawn[left], self.deaths(*(x[left] for x in whose))
                for _ in range(TRIES):
                    if not len(left):
                        break
                    tried = mix(tried + GOLDEN)
                    picked, good = self.living.pick(number, tried, turns[left], until, self.recent)
                    at = left[good]
                    for whole, part in (
                        (cohort, picked.cohort),
                        (slot, picked.slot),
                        (cycle, picked.cycle),
                        (tick, picked.tick),
                        (row, picked.row),
                    ):
                        whole[at] = part[good]
                    missing[at] = False
                    left, tried, until = left[~good], tried[~good], until[~good]
        values = self.column.array(State(ticks, self.table, cohort=cohort, slot=slot, cycle=cycle, tick=tick, row=row))
        return with_nulls(values, missing)

    def _permanent(self, drawn: Bits) -> tuple[Ints, Ints, Ints]:
        """(cohort, slot, row) of permanent rows; of any rows if there are none."""
        rows = self.permanent.rows
        if not rows:
            first = np.full(len(drawn), self.living.cohorts[0], dtype=np.int64)
            bases = self.living.ticks.plan.cohorts[self.living.cohorts[0]].base
            return first, np.full(len(drawn), bases, dtype=np.int64), np.zeros(len(drawn), dtype=np.int64)
        if self.skew == 1:
            return self.permanent.rows_at(below(drawn, rows))
        rank = np.minimum((unit(drawn) ** self.skew * rows).astype(np.int64), rows - 1)
        return self.permanent.rows_at(self.preferred.forward(rank))

    def _groups(self, drawn: Bits, turns: Ints) -> Ints:
        """The number of the living cohort to pick from, -1 for permanent rows: by how many rows each has."""
        ends = np.cumsum(self.living.rows(turns), axis=0)
        more = mix(drawn ^ GOLDEN)
        newest = unit(mix(more)) < self.recent
        permanent = np.where(newest, 0, self.permanent.rows)
        place = unit(more) * (permanent + ends[-1]) - permanent
        return np.where(place < 0, -1, np.minimum((place >= ends).sum(axis=0), len(ends) - 1))


def _word(data: Any) -> Any:
    return {"table": data} if isinstance(data, str) else data


def check(check: ColumnCheck, reference: Reference) -> None:
    table = reference.table
    if table not in check.fields:
        check.unknown("table", table, check.fields, "table")
    spec = check.spec.tables[table]
    if len(spec.key) != 1:
        check.fail(f"{table} has no key of a single column to refer to", "table")
    home = check.homes[table]
    if not home.permanent and not check.field.column.nullable:
        check.fail(
            f"{table} has no permanent rows, so there may be none to refer to: leave out `nullable: no`, or insert "
            f"{table} in the first step of a lifecycle that repeats",
            "table",
        )
    if spec.key_updates or any(spec.key[0] in columns for _, _, columns in home.updates):
        check.fail(f"the key of {table} changes, so nothing can refer to it", "table")
    check.reads(table, spec.key[0])
    check.fits(check.fields[table][spec.key[0]])


def draw(target: Target, reference: Reference) -> Draws:
    return References(reference, target)


GENERATOR = Generator(
    name="references",
    doc="the key of a row of another `table` (or its name alone) that is there by then and is deleted only after this "
    "row; `skew` above 1 picks some permanent rows more often, `recent` is the share that are to the newest rows",
    example="{type: int64, values: {references: {table: products, skew: 2}}}",
    arguments=Annotated[Reference, BeforeValidator(_word), WORD],
    check=check,
    draw=draw,
)
