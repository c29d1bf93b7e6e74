"""`of`: a copy of a column of the same entity."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import pyarrow as pa
from pydantic import Field

from simulator.stream.engine.history import State
from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator
from simulator.stream.scenario.checks.column import ColumnCheck


class Copies(Draws):
    """A column of the same entity's row in another table, as it was when this column was set."""

    def __init__(self, table: str, name: str, target: Target) -> None:
        self.table, self.column, self.history = table, target.columns.column(table, name), target.history
        self.most_bytes = self.column.most_bytes
        programs = [program for program in target.columns.ticks.plan.programs if table in program.members]
        self.single = all(program.members[table].high == 1 for program in programs)

    def array(self, state: State) -> pa.Array:
        row = np.zeros(len(state), dtype=np.int64) if self.single else state.row
        return self.column.array(state.at(self.table, state.written(self.history), row))


def check(check: ColumnCheck, text: str) -> None:
    table, _, name = text.partition(".")
    home, own_table = check.home, check.field.table
    check.same_entity(table)
    if name not in check.fields[table]:
        check.unknown(f"column of {table}", name, check.fields[table])
    other = check.homes[table]
    if table != own_table:
        if not other.is_there_for(home):
            check.fail(f"not every entity that has rows of {own_table} has rows of {table}")
        if other.inserted > home.inserted:
            check.fail(f"{table} is inserted after {own_table}, so it has no value to copy yet")
        if other.deleted is not None and other.deleted < max(home.settings(check.field.name)):
            check.fail(f"{table} is deleted before {own_table}.{check.field.column.name} is set")
        if not other.single and other.counted_as != home.counted_as:
            check.fail(f"{table} has several rows; {own_table} must have as many, with rows: {table}")
    check.reads(table, name)
    check.fits(check.fields[table][name])
    if name in check.spec.tables[table].key:
        _follows_key(check, table, name)


def _follows_key(check: ColumnCheck, table: str, name: str) -> None:
    """A copy of a key changes together with it."""
    home, field = check.home, check.field
    copied = {step for step, _, columns in home.updates if field.name in columns}
    for step, position, columns in check.homes[table].updates:
        alive = home.inserted < position and (home.deleted is None or home.deleted > position)
        if name in columns and alive and step not in copied:
            check.fail(
                f"step {step!r} changes the key {table}.{name}, so it must set {field.table}.{field.name} as well"
            )


def draw(target: Target, text: str) -> Draws:
    table, _, name = text.partition(".")
    return Copies(table, name, target)


GENERATOR = Generator(
    name="of",
    doc="a copy of `table.column` of the same entity, as it was when this column was set",
    example="{type: int64, values: {of: orders.id}}",
    arguments=Annotated[str, Field(pattern=r"^[^.]+\.[^.]+$")],
    check=check,
    draw=draw,
)
