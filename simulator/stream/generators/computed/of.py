"""`of`: a copy of a column of the same entity, or of the referenced row."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import pyarrow as pa
from pydantic import BeforeValidator, Field

from simulator.stream.engine.history import State
from simulator.stream.generators.arrays import with_nulls
from simulator.stream.generators.columns import Target
from simulator.stream.generators.computed.references import References
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator
from simulator.stream.generators.living import Current
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.stream.scenario.language.words import WORD, Name, Strict


class Copy(Strict):
    """A copy of a column."""

    column: Annotated[str, Field(pattern=r"^[^.]+\.[^.]+$", description="table.column")]
    via: Annotated[
        Name | None,
        Field(description="The column of references that leads to the row; left out: a row of the same entity."),
    ] = None

    @property
    def table(self) -> str:
        return self.column.partition(".")[0]

    @property
    def name(self) -> str:
        return self.column.partition(".")[2]


class Copies(Draws):
    """A column of the same entity's row in another table, as it was when this column was set."""

    def __init__(self, copy: Copy, target: Target) -> None:
        self.table, self.history = copy.table, target.history
        self.column = target.columns.column(copy.table, copy.name)
        self.most_bytes = self.column.most_bytes
        programs = [program for program in target.columns.ticks.plan.programs if copy.table in program.members]
        self.single = all(program.members[copy.table].high == 1 for program in programs)

    def array(self, state: State) -> pa.Array:
        row = np.zeros(len(state), dtype=np.int64) if self.single else state.row
        return self.column.array(state.at(self.table, state.written(self.history), row))


class Looked(Draws):
    """A column of the referenced row, as it was before the turn that set this column."""

    def __init__(self, copy: Copy, via: str, target: Target) -> None:
        self.history, self.table = target.history, target.field.table
        references = target.columns.column(self.table, via)
        assert isinstance(references.generator, References)
        self.references, self.via = references.generator, references
        self.column = target.columns.column(copy.table, copy.name)
        self.most_bytes = self.column.most_bytes
        self.current = Current(target.columns, copy.table, self.column.history)
        self.nullable = references.field.column.nullable

    def array(self, state: State) -> pa.Array:
        turns = state.turns(self.history)
        if self.via.history is not self.history:
            state = state.at(self.table, state.written(self.history), state.row)
        rows, missing = self.references.rows(state)
        values = self.column.array(self.current(rows, turns))
        return with_nulls(values, missing | self.via.nulls(state)) if self.nullable else values


def _word(data: Any) -> Any:
    return {"column": data} if isinstance(data, str) else data


def check(check: ColumnCheck, copy: Copy) -> None:
    if copy.via is not None:
        _check_via(check, copy, copy.via)
        return
    table, name = copy.table, copy.name
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


def _check_via(check: ColumnCheck, copy: Copy, via: str) -> None:
    """Fails unless `via` is a column of this table that references the table of the copied column."""
    columns = check.fields[check.field.table]
    if via not in columns:
        check.unknown(f"column of {check.field.table}", via, columns, "via")
    values = columns[via].spec.values
    if values.kind != "references":
        check.fail(f"{via} refers to no table: its values are {values.kind}, not references", "via")
    if values.arguments.table != copy.table:
        check.fail(f"{via} refers to {values.arguments.table}, not to {copy.table}", "via")
    others = check.fields[copy.table]
    if copy.name not in others:
        check.unknown(f"column of {copy.table}", copy.name, others)
    if columns[via].column.nullable and not check.field.column.nullable:
        check.fail(f"{via} can be null and {check.field.column.name} cannot", "via")
    check.reads(check.field.table, via)
    check.reads(copy.table, copy.name)
    check.fits(others[copy.name])


def _follows_key(check: ColumnCheck, table: str, name: str) -> None:
    """Fails unless a copy of a key is set whenever the key is."""
    home, field = check.home, check.field
    copied = {step for step, _, columns in home.updates if field.name in columns}
    for step, position, columns in check.homes[table].updates:
        alive = home.inserted < position and (home.deleted is None or home.deleted > position)
        if name in columns and alive and step not in copied:
            check.fail(
                f"step {step!r} changes the key {table}.{name}, so it must set {field.table}.{field.name} as well"
            )


def draw(target: Target, copy: Copy) -> Draws:
    return Copies(copy, target) if copy.via is None else Looked(copy, copy.via, target)


GENERATOR = Generator(
    name="of",
    doc="a copy of `table.column` of the same entity, as it was when this column was set; `via` a column of "
    "references: of the row that it leads to, as it was by then (`{of: products.price, via: product_id}`)",
    example="{type: int64, values: {of: orders.id}}",
    arguments=Annotated[Copy, BeforeValidator(_word), WORD],
    main="column",
    beside=("via",),
    check=check,
    draw=draw,
)
