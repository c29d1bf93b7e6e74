"""A table's rows in memory: by number, with unique keys, read in the order of the clustered key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from simulator.model import ColumnType, Table
from simulator.sources.literals import carried
from simulator.sources.mysql import type_table as mysql_table
from simulator.sources.mysql import values as mysql_values
from simulator.sql.catalog.definitions import Compiled, Definition, Field, Key, Trigger
from simulator.sql.errors import SqlError
from simulator.sql.values.comparison import ordered

Row = tuple[Any, ...]


def index_value(stored: Any, column: Field, prefix: int | None) -> Any:
    """The value of a key for a stored value: texts are folded by their collation."""
    if isinstance(stored, str):
        return ordered(stored if prefix is None else stored[:prefix], column.collation or "utf8mb4_general_ci")
    return stored if prefix is None or not isinstance(stored, bytes) else stored[:prefix]


@dataclass
class Index:
    """A unique key: from the values of its columns to the row's number. Rows with a NULL are not in it."""

    key: Key
    positions: tuple[int, ...]
    fields: tuple[Field, ...]
    rows: dict[Any, int] = field(default_factory=dict)
    unfolded: bool = False  # one column that needs no folding

    def key_of(self, row: Row) -> Any:
        if self.unfolded:
            return row[self.positions[0]]
        key_values = tuple(
            index_value(row[position], column, prefix)
            for position, column, (_, prefix) in zip(self.positions, self.fields, self.key.columns, strict=True)
        )
        return None if None in key_values else key_values


@dataclass(eq=False)
class Plan:
    """The compiled parts of a definition: defaults, generated columns and checks, by the column's position."""

    defaults: dict[int, Compiled] = field(default_factory=dict)
    generated: list[tuple[int, Compiled]] = field(default_factory=list)
    checks: list[tuple[str, Compiled]] = field(default_factory=list)
    triggers: list[tuple[Trigger, Any]] = field(default_factory=list)
    # Cached conversions of literals under certain rules: (rules, a map for each position).
    stored: tuple[Any, list[dict[Any, Any]]] | None = None
    # By the text of an INSERT's column list: positions. By positions: unnamed columns, and columns of a row image.
    column_lists: dict[str, list[int]] = field(default_factory=dict)
    shapes: dict[tuple[int, ...], tuple[list[int], frozenset[int]]] = field(default_factory=dict)


class Data:
    """A table: its current definition, its rows, its AUTO_INCREMENT counter."""

    def __init__(self, definition: Definition) -> None:
        self.rows: dict[int, Row] = {}
        self.next_auto = 1
        self._number = 0
        self._sorted = True
        self._last: Any = None
        self.plan: Plan | None = None
        self.define(definition)

    def define(self, definition: Definition) -> None:
        """Change the definition; the rows must match it already. Raises SqlError 1062 for a duplicate key."""
        self.definition = definition
        self.table: Table = definition.table()
        self.plan = None
        self.indexes = [self._index(key) for key in definition.keys if key.unique and all(key.names)]
        # primary first, as servers check duplicates
        self.indexes.sort(key=lambda index: index.key.kind != "primary")
        self.clustered = self._clustered()
        auto = next((i for i, column in enumerate(definition.fields) if column.auto), None)
        self.auto_position = auto
        for number, row in self.rows.items():
            self._enter(number, row)
        self._sorted = False
        if auto is not None and self.rows:
            self.next_auto = max(self.next_auto, 1 + max((row[auto] or 0) for row in self.rows.values()))

    def _index(self, key: Key) -> Index:
        positions = tuple(self.definition.position(name) or 0 for name in key.names)
        fields = tuple(self.definition.fields[position] for position in positions)
        unfolded = len(positions) == 1 and mysql_table.family(fields[0].type) not in ("text", "binary")
        return Index(key, positions, fields, unfolded=unfolded)

    def _clustered(self) -> Index | None:
        """The primary key, else the first unique key without NULLs."""
        for index in self.indexes:
            if index.key.kind == "primary" or not any(column.nullable for column in index.fields):
                return index
        return None

    def _enter(self, number: int, row: Row) -> None:
        for index in self.indexes:
            key_values = index.key_of(row)
            if key_values is not None and index.rows.setdefault(key_values, number) != number:
                raise self.duplicate(index, row)

    def duplicate(self, index: Index, row: Row) -> SqlError:
        texts = []
        for position in index.positions:
            column = self.definition.fields[position]
            array = mysql_values.format_values(carrier([row[position]], column.type), column.type)
            texts.append("NULL" if array[0] is None else array[0])
        return SqlError(1062, "-".join(texts), index.key.name)

    def conflict(self, row: Row, besides: int | None = None) -> tuple[int, Index] | None:
        """The number of an existing row with the same unique key, and the key's index."""
        for index in self.indexes:
            key_values = index.key_of(row)
            if key_values is not None:
                number = index.rows.get(key_values)
                if number is not None and number != besides:
                    return number, index
        return None

    def add(self, row: Row) -> int:
        """Add a row; the caller has checked for conflicts."""
        self._number += 1
        number = self._number
        self.rows[number] = row
        for index in self.indexes:
            key_values = index.key_of(row)
            if key_values is not None:
                index.rows[key_values] = number
                if index is self.clustered and self._sorted:
                    if self._last is not None and not self._last < key_values:
                        self._sorted = False
                    else:
                        self._last = key_values
        return number

    def put(self, number: int, row: Row | None) -> Row | None:
        """Replace, remove (None) or restore the row of this number; returns the previous row."""
        old = self.rows.get(number)
        for index in self.indexes:
            before = None if old is None else index.key_of(old)
            after = None if row is None else index.key_of(row)
            if before == after and old is not None:
                continue
            if before is not None and index.rows.get(before) == number:
                del index.rows[before]
            if after is not None:
                index.rows[after] = number
                if index is self.clustered:
                    self._sorted = False
        if row is None:
            self.rows.pop(number, None)
        else:
            if old is None:
                self._sorted = False
            self.rows[number] = row
        return old

    def scan(self) -> Iterator[tuple[int, Row]]:
        """All rows in the order of the clustered key, else in insertion order."""
        if not self._sorted:
            clustered = self.clustered
            if clustered is None:
                self.rows = dict(sorted(self.rows.items()))
                self._last = None
            else:
                self.rows = dict(sorted(self.rows.items(), key=lambda item: clustered.key_of(item[1])))
                self._last = clustered.key_of(next(reversed(self.rows.values()))) if self.rows else None
            self._sorted = True
        return iter(list(self.rows.items()))

    def clear(self) -> None:
        self.rows.clear()
        for index in self.indexes:
            index.rows.clear()
        self.next_auto, self._sorted, self._last = 1, True, None


def carrier(values: Sequence[Any], type: ColumnType) -> pa.Array:
    """Stored values of a column as its carrier array."""
    return carried(values, mysql_table.arrow_type(type))
