"""Stream of a history that was run or recorded: the rows before it, and transactions with their changes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from simulator.batch import Ints
from simulator.errors import UsageError
from simulator.model import SchemaChangeKind, Table, TableId
from simulator.sources.source import Source
from simulator.stream.literal.stream import LiteralStream
from simulator.stream.literal.transactions import Ddl, Row, RowChange, TableRows, Transaction


class HistoryStream(LiteralStream):
    """Turn i is transaction i. Cells are literals of the source, as `Source.parse_values` reads them.

    `before` are the rows before the first transaction, `after` those after the last one; None: they follow from the
    log. `tables` are further tables that exist. `partial_setting` is a part of error messages: why rows in the log lack
    columns at `{turn}`, and what to do. `steps` are names, each with the first turn that has it.
    """

    def __init__(
        self,
        file: str,
        source: Source,
        database: str,
        transactions: Sequence[Transaction],
        *,
        before: Sequence[TableRows],
        after: Sequence[TableRows] | None = None,
        tables: Sequence[Table] = (),
        start_ms: int,
        partial_setting: str = "",
        steps: Sequence[tuple[str, int]] = (),
    ) -> None:
        self.before, self._after, self.partial_setting, self.steps = before, after, partial_setting, steps
        self._texts = {(0, state.table.id): state.text for state in before}
        versions = [*_versions(transactions), *(state.table for state in before), *tables]
        last = {table.id: table for table in versions if table.columns}
        super().__init__(
            file,
            source,
            database,
            transactions,
            alive=sum(len(state.rows) for state in before),
            start_ms=start_ms,
            first_tables=tuple(last.values()),
            column_names={column.name for table in versions for column in table.columns},
        )

    @property
    def names_at_start(self) -> Collection[TableId]:
        return {state.table.id for state in self.before}

    @property
    def step_names(self) -> Collection[str]:
        return dict.fromkeys(name for name, _ in self.steps)

    def steps_of(self, turns: Collection[int]) -> dict[int, str]:
        first = [turn for _, turn in self.steps]
        return {turn: self.steps[number - 1][0] for turn in turns if (number := bisect_right(first, turn))}

    def create_table(self, table: Table, turn: int) -> str:
        """The server's own text, if `numbered_rows` has read one for this turn; else a text derived from the
        columns."""
        return self._texts.get((turn, table.id)) or super().create_table(table, turn)

    def column(self, table: Table, position: int, cells: Sequence[Any]) -> pa.Array:
        column = table.columns[position]
        try:
            return self.source.parse_values(cells, column.type)
        except ValueError as error:
            raise UsageError(f"{self.file}: {table.id}.{column.name}: {error}") from None

    @property
    def partial_images(self) -> str | None:
        return None if self.partial_turn is None else self.partial_setting.format(turn=self.partial_turn)

    def row_bytes(self, table: Table, row: Row) -> int:
        return sum(len(cell) for cell in row if isinstance(cell, str | bytes))

    def literals(self, table: Table, rows: Sequence[Row]) -> Sequence[Row]:
        """Rows with their cells as literals of the source."""
        return rows

    def printed(self, table: Table, rows: Sequence[Row]) -> Sequence[Row]:
        """Rows as the server's client prints them: the log may hold more, such as types in JSON documents."""
        return rows

    def rows_before(self, turn: int) -> Sequence[TableRows]:
        """The rows of each table before a turn."""
        if turn >= self.turns and self._after is not None:
            return self._after
        if not turn:
            return self.before
        tables = {state.table.id: TableRows(state.table, dict(state.rows)) for state in self.before}
        for transaction in self.transactions[:turn]:
            for entry in transaction.entries:
                if isinstance(entry, RowChange):
                    _change(tables, entry)
                elif isinstance(entry, Ddl):
                    _reshape(tables, entry)
        return list(tables.values())

    def numbered_rows(self, turn: int) -> Iterator[tuple[Table, tuple[pa.Array, ...], Ints]]:
        for state in self.rows_before(turn):
            self._texts[turn, state.table.id] = state.text
            rows, positions = self.printed(state.table, list(state.rows.values())), range(len(state.table.columns))
            arrays = tuple(self.column(state.table, i, [row[i] for row in rows]) for i in positions)
            yield state.table, arrays, np.array(list(state.rows), dtype=np.int64)


def _change(tables: dict[TableId, TableRows], change: RowChange) -> None:
    """Apply a row change to the tables."""
    state = tables.get(change.table.id)
    if state is None:
        state = tables[change.table.id] = TableRows(change.table, {})
    if change.after is None:
        state.rows.pop(change.number, None)
    else:
        state.rows[change.number] = change.after


def _reshape(tables: dict[TableId, TableRows], ddl: Ddl) -> None:
    """Apply a DDL statement to the tables."""
    pairs = [(old, new) for old, new in ((ddl.before, ddl.after), *ddl.more) if old or new]
    removed = [tables.pop(old.id, None) if old is not None else None for old, _ in pairs]
    for removed_state, (_, new) in zip(removed, pairs, strict=True):
        if new is not None and new.columns:
            keeps_rows = removed_state is not None and ddl.kind is not SchemaChangeKind.TRUNCATE_TABLE
            tables[new.id] = TableRows(new, removed_state.rows if removed_state is not None and keeps_rows else {})
    for state in ddl.rows:
        tables[state.table.id] = TableRows(state.table, dict(state.rows))


def _versions(transactions: Sequence[Transaction]) -> Iterator[Table]:
    """All versions of tables in the log, in order."""
    for transaction in transactions:
        for entry in transaction.entries:
            if isinstance(entry, RowChange):
                yield entry.table
            elif isinstance(entry, Ddl):
                yield from (table for table in (entry.before, entry.after) if table is not None)
