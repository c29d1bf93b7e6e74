"""Tracks the rows of a table on the server by its log: updates and deletes name a row by its identity."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.model import Table
from simulator.sql.server.postgresql.tables import CatalogTable
from simulator.stream.literal.transactions import Row


class TrackedRows:
    """Rows by number; the log names them by the columns of `identity`."""

    def __init__(self, definition: CatalogTable) -> None:
        self.definition, self.rows, self._last_number = definition, dict[int, Row](), 0
        self._identity: tuple[int, ...] = ()
        self._numbers: dict[Row, list[int]] = {}

    @property
    def table(self) -> Table:
        return self.definition.table

    def identify_by(self, identity: tuple[int, ...]) -> None:
        if identity != self._identity:
            self._identity, self._numbers = identity, {}
            for number, row in self.rows.items():
                self._enter(number, row)

    def _key(self, row: Row) -> Row:
        return tuple([row[i] for i in self._identity])

    def _enter(self, number: int, row: Row) -> None:
        if self._identity:
            self._numbers.setdefault(self._key(row), []).append(number)

    def insert(self, row: Row) -> int:
        self._last_number += 1
        self.rows[self._last_number] = row
        self._enter(self._last_number, row)
        return self._last_number

    def remove(self, old: Row) -> tuple[int, Row]:
        """Remove the row that the log names; returns its number and its cells. Raises KeyError."""
        key = self._key(old)
        numbers = self._numbers[key]
        number = numbers.pop(0)
        if not numbers:
            del self._numbers[key]
        return number, self.rows.pop(number)

    def put(self, number: int, row: Row) -> None:
        self.rows[number] = row
        self._enter(number, row)

    def clear(self) -> Table:
        self.rows, self._numbers = {}, {}
        return self.table

    def reshape(self, definition: CatalogTable, rewritten: Sequence[Sequence[str | None]] | None) -> bool:
        """Apply a DDL statement to the rows; returns whether they changed. `rewritten`: all rows after a statement that
        rewrote the table, else None."""
        old, self.definition = self.definition, definition
        self._identity, self._numbers = (), {}
        if rewritten is not None:
            self._rewrite(old, [tuple(row) for row in rewritten])
            return True
        if old.numbers == definition.numbers:
            return False
        positions = {number: position for position, number in enumerate(old.numbers)}
        for number, row in self.rows.items():
            self.rows[number] = tuple(
                [
                    row[positions[column_number]] if column_number in positions else definition.missing[column_number]
                    for column_number in definition.numbers
                ]
            )
        return True

    def _rewrite(self, old: CatalogTable, rows: Sequence[Row]) -> None:
        """Rows keep their numbers by the primary key, or by their order where keys changed or there is none."""
        keys = old.table.key_positions
        key_positions = [_position(self.definition, old.numbers[i]) for i in keys]
        numbers = {tuple(row[i] for i in keys): number for number, row in self.rows.items()}
        rows_by_key = {tuple(row[i] for i in key_positions if i is not None): row for row in rows}
        if keys and rows_by_key.keys() == numbers.keys():
            self.rows = {number: rows_by_key[key] for key, number in numbers.items()}
        else:
            self.rows = dict(zip(self.rows, rows, strict=True))


def _position(definition: CatalogTable, number: int) -> int | None:
    """The position of the column of this number; None: it was dropped."""
    return definition.numbers.index(number) if number in definition.numbers else None
