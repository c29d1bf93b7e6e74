"""A scenario's YAML script as literal transactions, run on rows in memory. Each entry is a turn."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from simulator.batch import Ints
from simulator.model import DELETE, INSERT, UPDATE, Table
from simulator.stream.literal.prepared import Turn, prepare
from simulator.stream.literal.rows import Rows
from simulator.stream.literal.stream import LiteralStream
from simulator.stream.literal.transactions import Ddl, Entry, Row, RowChange, Transaction
from simulator.stream.scenario.scenario import Scenario
from simulator.stream.scenario.tables import column_names


class ScriptStream(LiteralStream):
    """The literal history of a scenario's `script`. It is run once, when the stream is created.

    Raises ScenarioError for a script that cannot happen: a missing row, a duplicate key.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario, source = scenario, scenario.source
        self.row_image = scenario.row_image
        self.source, self._script = source, prepare(scenario, source)
        self._shapes = {shape.table: shape for shape in self._script.shapes}
        first = tuple(shape.table for shape in self._script.first)
        rows = self._rows_at_start()
        alive = sum(map(len, rows.rows.values()))
        super().__init__(
            scenario.file,
            source,
            source.table_id(scenario.spec.database, "").database,
            [_transaction(rows, turn) for turn in self._script.turns],
            alive=alive,
            start_ms=scenario.spec.start,
            first_tables=first,
            column_names=column_names(scenario, source, first),
        )

    @property
    def step_names(self) -> Collection[str]:
        return dict.fromkeys(turn.name for turn in self._script.turns if turn.name is not None)

    def steps_of(self, turns: Collection[int]) -> dict[int, str]:
        names = ((number, self._script.turns[number].name) for number in turns)
        return {number: name for number, name in names if name is not None}

    def column(self, table: Table, position: int, cells: Sequence[Any]) -> pa.Array:
        return self._shapes[table].column(position, np.array(cells, dtype=np.int64))

    def row_bytes(self, table: Table, row: Row) -> int:
        literals = self._shapes[table].literals
        return sum(len(literals[i].texts[cell] or "") for i, cell in enumerate(row))

    def numbered_rows(self, turn: int) -> Iterator[tuple[Table, tuple[pa.Array, ...], Ints]]:
        """The rows before a turn, and their numbers; runs the script up to it."""
        rows = self._rows_at_start()
        for past in self._script.turns[:turn]:
            _transaction(rows, past)
        for number, shape in rows.shapes.items():
            cells = list(rows.rows[number].values())
            columns = range(len(shape.table.columns))
            numbers = np.array([rows.numbers[number][key] for key in rows.rows[number]], dtype=np.int64)
            yield shape.table, tuple(self.column(shape.table, i, [row[i] for row in cells]) for i in columns), numbers

    def _rows_at_start(self) -> Rows:
        rows = Rows(self.scenario, self.source)
        for shape in self._script.first:
            rows.begin(shape)
        for statement in self._script.snapshot:
            rows.insert(statement)
        return rows


def _transaction(rows: Rows, turn: Turn) -> Transaction:
    """Runs a turn; returns its transaction."""
    entries: list[Entry] = []
    for run, statement in enumerate(turn.statements):
        for before, after, number in rows.statement(statement):
            kind = INSERT if before is None else DELETE if after is None else UPDATE
            entries.append(RowChange(statement.shape.table, kind, before, after, number, run, turn.event_ms))
    if turn.change is not None:
        rows.change(turn.change)
        applied = turn.change.applied
        if applied.sql:
            entries.append(
                Ddl(applied.kind, applied.database, applied.before, applied.after, applied.sql, turn.event_ms)
            )
    return Transaction(tuple(entries), turn.event_ms, heartbeat=turn.heartbeat)
