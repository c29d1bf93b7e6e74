"""Columns derived from the entity's other values, those of its rows in other tables included."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from simulator.stream.engine.history import History, State, row_count
from simulator.stream.generators import expressions, generators
from simulator.values.draw import Ints

if TYPE_CHECKING:
    from simulator.stream.generators.columns import Compiler
    from simulator.stream.scenario.scenario import Field


class Derived:
    """The value of an expression over the entity's values, as they were when the column was set."""

    always = False

    def __init__(self, compiler: Compiler, field: Field, tree: Any, type: pa.DataType, history: History) -> None:
        self.compiler, self.field, self.tree, self.type, self.history = compiler, field, tree, type, history

    def array(self, state: State) -> pa.Array:
        written = state.written(self.history)
        expanded: dict[str, tuple[Ints, State]] = {}

        def members(table: str) -> tuple[Ints, int]:
            owner, rows = expanded.setdefault(table, self._members(state, table, written.cycle, written.tick))
            return owner, len(rows)

        def column(table: str | None, name: str) -> pa.Array:
            if table is None or table == self.field.table:
                return self.compiler.column(self.field.table, name).array(
                    state.at(self.field.table, written, state.row)
                )
            if table in expanded:
                return self.compiler.column(table, name).array(expanded[table][1])
            single = np.zeros(len(state), dtype=np.int64)
            return self.compiler.column(table, name).array(state.at(table, written, single))

        scope = expressions.Scope(len(state), column, members)
        if pa.types.is_string(self.type):
            return expressions.concat(self.tree, scope)
        value = expressions.evaluate(self.tree, scope)
        return generators.numeric(value.at(getattr(self.type, "scale", 0)), self.type)

    def _members(self, state: State, table: str, cycle: Ints, tick: Ints) -> tuple[Ints, State]:
        """The entities' rows of a table that exist after the tick: whose each is, and their states."""
        ticks = self.compiler.ticks
        counts = np.zeros(len(state), dtype=np.int64)
        for p in np.unique(ticks.program[tick]):
            program = ticks.plan.programs[p]
            member = program.members.get(table)
            if member is None:
                continue
            here = np.flatnonzero(ticks.program[tick] == p)
            rows = row_count(member, program.lifecycle, self.compiler.seed, state.slot[here], cycle[here])
            alive = np.array([*program.has_rows(table), member.eternal])[tick[here] - ticks.first[p]]
            counts[here] = rows * alive
        owner = np.repeat(np.arange(len(state)), counts)
        row = np.arange(len(owner), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)
        return owner, State(
            ticks,
            table,
            cohort=state.cohort[owner],
            slot=state.slot[owner],
            cycle=cycle[owner],
            tick=tick[owner],
            row=row,
        )
