"""`derived`: an expression over the entity's other values, those of its rows in other tables included."""

from __future__ import annotations

import ast
from typing import Annotated, Final

import numpy as np
import pyarrow as pa
from pydantic import Field as Rule

from simulator.stream.engine.history import EntityRows, State
from simulator.stream.generators.arrays import numeric
from simulator.stream.generators.columns import Target
from simulator.stream.generators.computed import expressions
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import NUMBERS, Generator
from simulator.stream.scenario.checks.column import ColumnCheck, holds
from simulator.stream.scenario.scenario import Field
from simulator.values.draw import Ints

# Sums and products are computed in 64 bits.
MOST_DIGITS: Final = 18


class Derived(Draws):
    """The value of an expression over the entity's values, as they were when the column was set."""

    def __init__(self, tree: ast.expr, target: Target) -> None:
        self.columns, self.table, self.tree = target.columns, target.field.table, tree
        self.type, self.history = target.carrier, target.history
        if pa.types.is_string(self.type):
            read = [self.columns.column(table or self.table, name) for table, name in expressions.columns(tree)]
            self.most_bytes = len(ast.unparse(tree)) + sum(column.most_bytes for column in read)

    def array(self, state: State) -> pa.Array:
        written = state.written(self.history)
        expanded: dict[str, EntityRows] = {}

        def members(table: str) -> tuple[Ints, int]:
            if table not in expanded:
                expanded[table] = self._members(state, table, written.cycle, written.tick)
            return expanded[table].owner, len(expanded[table])

        def column(table: str | None, name: str) -> pa.Array:
            if table is None or table == self.table:
                return self.columns.column(self.table, name).array(state.at(self.table, written, state.row))
            if table in expanded:
                return self.columns.column(table, name).array(expanded[table])
            single = np.zeros(len(state), dtype=np.int64)
            return self.columns.column(table, name).array(state.at(table, written, single))

        scope = expressions.Scope(len(state), column, members)
        if pa.types.is_string(self.type):
            return expressions.concat(self.tree, scope)
        value = expressions.evaluate(self.tree, scope)
        return numeric(value.at(self.type.scale if pa.types.is_decimal(self.type) else 0), self.type)

    def _members(self, state: State, table: str, cycle: Ints, tick: Ints) -> EntityRows:
        """Rows of the entities in a table that exist after the tick."""
        ticks = self.columns.ticks
        counts = np.zeros(len(state), dtype=np.int64)
        for p in np.unique(ticks.program[tick]):
            program = ticks.plan.programs[p]
            if table not in program.members:
                continue
            indices = np.flatnonzero(ticks.program[tick] == p)
            rows = ticks.row_count(table, state.slot[indices], tick[indices])
            alive = program.has_rows[table][tick[indices] - ticks.first[p]]
            counts[indices] = rows * alive
        return EntityRows(State(ticks, table, cohort=state.cohort, slot=state.slot, cycle=cycle, tick=tick, row=counts))


class _Walk:
    """Checks an expression: names must exist, and each part must have the required type, number or text."""

    def __init__(self, check: ColumnCheck) -> None:
        self.check, self.fail = check, check.fail
        self.check_digits(check.field)
        self.is_text = check.holds == "text"

    def walk(self, tree: ast.expr, *, aggregated: str | None = None, number: bool = False) -> None:
        """Checks a subtree. `aggregated` is the table of the enclosing sum, min or max; `number`: it must not be a
        text.
        """
        number = number or not self.is_text
        match tree:
            case ast.Constant(value=bool()):
                self.fail(f"{ast.unparse(tree)} is neither a number nor a text")
            case ast.Constant(value=int() | float() as value):
                unscaled, scale = expressions.constant(value) if abs(value) < 10**MOST_DIGITS else (0, MOST_DIGITS + 1)
                if max(len(str(abs(unscaled))), scale) > MOST_DIGITS:
                    self.fail(f"{ast.unparse(tree)} is too long: expressions support at most {MOST_DIGITS} digits")
            case ast.Constant(value=str()) if number:
                self.fail(f"{ast.unparse(tree)} is a text where a number is needed; texts belong into concat(…)")
            case ast.Name(id=name):
                self.column(self.check.field.table, name, number)
                if aggregated is not None and aggregated != self.check.field.table:
                    self.fail(f"{name!r} is a column of this row; inside the brackets write table.column")
            case ast.Attribute(value=ast.Name(id=table), attr=name):
                self.of_table(table, name, aggregated, number)
            case ast.BinOp(left=left, right=right):
                self.walk(left, aggregated=aggregated, number=True)
                self.walk(right, aggregated=aggregated, number=True)
            case ast.UnaryOp(operand=operand):
                self.walk(operand, aggregated=aggregated, number=True)
            case ast.Call(func=ast.Name(id="concat"), args=arguments):
                if number:
                    self.fail("concat(…) makes a text where a number is needed")
                for argument in arguments:
                    self.walk(argument, aggregated=aggregated)
            case ast.Call(func=ast.Name(id=name), args=[argument]):
                self.aggregate(name, argument, aggregated)

    def aggregate(self, name: str, argument: ast.expr, aggregated: str | None) -> None:
        if aggregated is not None:
            self.fail(f"{name}(…) cannot stand inside another sum, count, min or max")
        if name == "count":
            if not isinstance(argument, ast.Name):
                self.fail("count(…) needs the name of a table")
            self.check.same_entity(argument.id)
            return
        read = {table for table, _ in expressions.columns(argument) if table is not None}
        if len(read) != 1:
            self.fail(f"{name}(…) needs columns of one table, written table.column")
        (table,) = read
        self.check.same_entity(table)
        self.walk(argument, aggregated=table, number=True)

    def of_table(self, table: str, name: str, aggregated: str | None, number: bool) -> None:
        check, field = self.check, self.check.field
        check.same_entity(table)
        if aggregated is None and table != field.table:
            if not check.homes[table].single:
                self.fail(f"an entity has several rows of {table}; use sum(…), min(…) or max(…)")
            if not check.homes[table].is_there_for(check.home):
                self.fail(f"not every entity that has rows of {field.table} has rows of {table}")
            if check.homes[table].inserted > min(check.home.settings(field.name)):
                self.fail(f"{table} has no row yet when {field.table}.{field.column.name} is set")
        self.column(table, name, number)

    def column(self, table: str, name: str, number: bool) -> None:
        columns, source = self.check.fields[table], self.check.source
        if name not in columns:
            self.check.unknown(f"column of {table}", name, columns)
        if number and holds(columns[name].type, source) not in NUMBERS:
            text = source.ddl.type_name(columns[name].type)
            self.fail(f"{table}.{name} is {text}; sums and products need integers or decimals")
        self.check_digits(columns[name])
        self.check.reads(table, name)

    def check_digits(self, field: Field) -> None:
        source = self.check.source
        arrow, name = source.arrow_type(field.type), f"{field.table}.{field.column.name}"
        # some systems hold 64-bit integers as decimals of 19 digits
        if pa.types.is_decimal(arrow) and arrow.precision > MOST_DIGITS + (arrow.scale == 0):
            self.fail(f"{name} has {arrow.precision} digits; expressions support at most {MOST_DIGITS} digits")
        if pa.types.is_string(arrow) and holds(field.type, source) in NUMBERS:
            self.fail(f"{name} does not say how many digits it has; expressions need columns that do")


def check(check: ColumnCheck, text: str) -> None:
    try:
        tree = expressions.parse(text)
    except ValueError as error:
        check.fail(str(error))
    _Walk(check).walk(tree)


def draw(target: Target, text: str) -> Draws:
    return Derived(expressions.parse(text), target)


GENERATOR = Generator(
    name="derived",
    doc="an expression over the entity's values",
    example='{type: "decimal(12,2)", values: {derived: sum(items.quantity * items.price)}}',
    arguments=Annotated[str, Rule(max_length=1000)],
    fits=(*NUMBERS, "text"),
    check=check,
    draw=draw,
)
