"""Tracks the rows of a table by the server's log: images name a row by its key, or by all of its cells."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from simulator.sql.catalog.definitions import Definition
from simulator.sql.errors import Unsupported
from simulator.sql.store.rows import index_value
from simulator.stream.literal.transactions import Positions, Row


class TrackedRows:
    """Rows by number, and the definition of their table. Rows that no statement of the log inserted are unknown."""

    def __init__(self, definition: Definition) -> None:
        self.rows: dict[int, Row] = {}
        self._last_number = 0
        self.layout: tuple[Any, ...] | None = None  # what the log says of the columns, as last read
        self.define(definition, self.rows)

    def define(self, definition: Definition, rows: dict[int, Row]) -> None:
        """Change the definition, and the rows with it."""
        self.definition, self.table, self.rows = definition, definition.table(), rows
        names = next(
            (
                key.names
                for key in sorted(definition.keys, key=lambda key: key.kind != "primary")
                if key.unique and all(key.names) and not any(self._nullable(name) for name in key.names)
            ),
            (),
        )
        positions = [definition.position(name) for name in names]
        self._key = tuple(position for position in positions if position is not None)
        self._numbers: dict[Row, list[int]] = {}
        for number, row in rows.items():
            self._numbers.setdefault(self._identity(row), []).append(number)

    def _nullable(self, name: str) -> bool:
        position = self.definition.position(name)
        return position is None or self.definition.fields[position].nullable

    def _identity(self, row: Row) -> Row:
        return tuple([row[i] for i in self._key]) if self._key else row

    def apply(self, before: Row | None, after: Row | None, logged: Positions) -> int:
        """Apply a change; `logged` are the columns of its after image. Returns the row's number, 0 if it is unknown and
        gone."""
        number, old = None, None
        if before is not None:
            identity = self._identity(before)
            numbers = self._numbers.get(identity)
            if numbers:
                number = numbers.pop(0)
                old = self.rows[number]
                if not numbers:
                    del self._numbers[identity]
        if after is None:
            if number is not None:
                del self.rows[number]
            return number or 0
        if number is None:
            number = self._last_number = self._last_number + 1
        if old is not None and logged is not None:
            after = tuple([after[i] if i in logged else cell for i, cell in enumerate(old)])
        self.rows[number] = after
        self._numbers.setdefault(self._identity(after), []).append(number)
        return number

    def sorted(self) -> dict[int, Row]:
        """The rows in the order of their key, as a server reads them; without a key in the order of their numbers."""
        items: Iterable[tuple[int, Row]] = sorted(self.rows.items())
        if self._key:
            fields = [(position, self.definition.fields[position]) for position in self._key]

            def order(item: tuple[int, Row]) -> list[Any]:
                return [index_value(item[1][position], field, None) for position, field in fields]

            with suppress(Unsupported):  # letters whose order only the server knows
                items = sorted(items, key=order)
        return dict(items)

    def clear(self) -> None:
        self.define(self.definition, {})
