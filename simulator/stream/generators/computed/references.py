"""`references`: the key of a permanent row of another table."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import pyarrow as pa
from pydantic import BeforeValidator, Field

from simulator.stream.engine.history import State
from simulator.stream.generators.generator import Draws, Generator, Target
from simulator.stream.generators.index import draws
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.stream.scenario.language.words import WORD, Name, Strict
from simulator.values.draw import below, unit


class Reference(Strict):
    """The key of a row of another table that lives for the whole stream."""

    table: Name
    skew: Annotated[float, Field(ge=1, le=20, description="1 picks evenly; more picks low rows more often.")] = 1


class References(Draws):
    def __init__(self, reference: Reference, target: Target) -> None:
        self.table, self.skew = reference.table, reference.skew
        (key,) = target.scenario.spec.tables[self.table].key
        self.column = target.columns.column(self.table, key)
        self.most_bytes = self.column.most_bytes
        self.permanent = target.columns.permanent(self.table)
        self.history, self.salt = target.history, target.salt

    def array(self, state: State) -> pa.Array:
        drawn, rows = draws(state, self.history, self.salt), self.permanent.rows
        if self.skew == 1:
            number = below(drawn, rows)
        else:
            number = np.minimum((unit(drawn) ** self.skew * rows).astype(np.int64), rows - 1)
        cohort, slot, row = self.permanent.rows_at(number)
        ticks = state.ticks
        return self.column.array(
            State(
                ticks,
                self.table,
                cohort=cohort,
                slot=slot,
                cycle=np.full(len(slot), -1, dtype=np.int64),
                tick=ticks.birth[ticks.cohort_program[cohort]],
                row=row,
            )
        )


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
    if not home.permanent:
        check.fail(
            f"{table} has no permanent rows: insert it in the first step of a lifecycle that repeats, or give it a mix "
            "with updates and without deletes",
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
    doc="the key of a permanent row of another `table` (or its name alone); `skew` above 1 picks low rows more often",
    example="{type: int64, values: {references: {table: products, skew: 2}}}",
    arguments=Annotated[Reference, BeforeValidator(_word), WORD],
    check=check,
    draw=draw,
)
