"""Pairs of references that no two rows have at the same time: the key of a table between two others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from simulator.stream.engine.history import State
from simulator.stream.engine.program import Plan
from simulator.stream.generators.permanent import PermanentRows
from simulator.stream.generators.shuffle import Shuffle
from simulator.stream.scenario.scenario import Scenario
from simulator.values.draw import Ints, below, key, mix


class Pairs:
    """Pairs by row. A row has a fixed place: cohort, slot, and number within the slot. All pairs are shuffled and dealt
    to the places, equally many to each; a row draws one of the pairs of its place. There may be more than two columns;
    each references permanent rows of another table.
    """

    def __init__(
        self,
        scenario: Scenario,
        plan: Plan,
        permanent: Callable[[str], PermanentRows],
        table: str,
        fields: Sequence[str],
    ) -> None:
        """`permanent` returns the permanent rows of a table."""
        parts = []
        for number, cohort in enumerate(plan.cohorts):
            program = plan.programs[cohort.program]
            if table in program.members:
                if program.leaves_rows[table].any():
                    scenario.fail(
                        ("tables", table),
                        f"{' and '.join(fields)} are unique, and rows that are never deleted would use up all pairs of "
                        "them: have as many deletes as inserts, or a sequence as the key",
                    )
                parts.append((number, cohort.base, cohort.count, program.members[table].high))
        self._key = key(scenario.seed, table, *fields, "pairs")
        self._rows = PermanentRows(parts, self._key)
        referred = [scenario.spec.tables[table].columns[field].values.arguments.table for field in fields]
        sizes = [permanent(other).rows for other in referred]
        self._size = dict(zip(fields, sizes, strict=True))
        self._below = {field: prod(sizes[:i]) for i, field in enumerate(fields)}
        rows, pairs = self._rows.rows, prod(sizes)
        if pairs < rows:
            scenario.fail(
                ("tables", table),
                f"the table may have {rows:,} rows at a time, and there are only {pairs:,} pairs of permanent rows "
                f"of {' and '.join(referred)}: lower its rows, or raise theirs",
            )
        self._pairs_of_row = pairs // rows if rows else 1
        self._shuffle = Shuffle(max(pairs, 1), mix(np.array([self._key]))[0])

    def numbers(self, field: str, state: State) -> Ints:
        """Numbers of the permanent rows that a column references."""
        row = self._rows.number(state.cohort, state.slot, state.row)
        pair = self._shuffle.forward(
            row * self._pairs_of_row + below(mix(state.identity + self._key), self._pairs_of_row)
        )
        numbers: Ints = pair // self._below[field] % self._size[field]
        return numbers
