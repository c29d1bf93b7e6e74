"""The rows of a table on the server, which follow its log: updates and deletes name a row by its identity."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.model import Table
from simulator.sql.server.postgresql.tables import Known
from simulator.stream.literal.transactions import Row


class HeldRows:
    """Rows by number; `identity` are the columns that the log names them by."""

    def __init__(self, known: Known) -> None:
        self.known, self.rows, self._born = known, dict[int, Row](), 0
        self._identity: tuple[int, ...] = ()
        self._numbers: dict[Row, list[int]] = {}

    @property
    def table(self) -> Table:
        return self.known.table

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
        self._born += 1
        self.rows[self._born] = row
        self._enter(self._born, row)
        return self._born

    def remove(self, named: Row) -> tuple[int, Row]:
        """Remove the row that the log names; returns its number and its cells. Raises KeyError."""
        key = self._key(named)
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

    def reshape(self, known: Known, rewritten: Sequence[Sequence[str | None]] | None) -> bool:
        """Apply a DDL statement to the rows; returns whether they changed. `rewritten`: all rows after a statement that
        rewrote the table, else None."""
        old, self.known = self.known, known
        self._identity, self._numbers = (), {}
        if rewritten is not None:
            self._rewrite(old, [tuple(row) for row in rewritten])
            return True
        if old.numbers == known.numbers:
            return False
        places = {number: place for place, number in enumerate(old.numbers)}
        for number, row in self.rows.items():
            self.rows[number] = tuple(
                [row[places[each]] if each in places else known.missing[each] for each in known.numbers]
            )
        return True

    def _rewrite(self, old: Known, rows: Sequence[Row]) -> None:
        """Rows keep their numbers by the primary key, or by their order where keys changed or there is none."""
        keys = old.table.key_positions
        places = [_position(self.known, old.numbers[i]) for i in keys]
        numbers = {tuple(row[i] for i in keys): number for number, row in self.rows.items()}
        named = {tuple(row[i] for i in places if i is not None): row for row in rows}
        if keys and named.keys() == numbers.keys():
            self.rows = {number: named[key] for key, number in numbers.items()}
        else:
            self.rows = dict(zip(self.rows, rows, strict=True))


def _position(known: Known, number: int) -> int | None:
    """Where a table has the column of this number; None: it was dropped."""
    return known.numbers.index(number) if number in known.numbers else None
