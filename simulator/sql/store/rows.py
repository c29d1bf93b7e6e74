"""A table's rows in memory: by number, with its unique keys, read in the order of its clustered key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from simulator.model import ColumnType, Table
from simulator.sources.mysql import type_table as mysql_table
from simulator.sources.mysql import values as mysql_values
from simulator.sql.catalog.definitions import Compiled, Definition, Field, Key, Trigger
from simulator.sql.errors import SqlError
from simulator.sql.values.comparison import ordered

Row = tuple[Any, ...]


def index_value(stored: Any, one: Field, prefix: int | None) -> Any:
    """What a key holds of a stored value: texts as their collation sees them."""
    if isinstance(stored, str):
        return ordered(stored if prefix is None else stored[:prefix], one.collation or "utf8mb4_general_ci")
    return stored if prefix is None or not isinstance(stored, bytes) else stored[:prefix]


@dataclass
class Index:
    """A unique key: what rows hold in its columns, to the row's number. A row with a NULL is not in it."""

    key: Key
    places: tuple[int, ...]
    fields: tuple[Field, ...]
    rows: dict[Any, int] = field(default_factory=dict)
    plain: bool = False  # one column that needs no folding

    def of(self, row: Row) -> Any:
        if self.plain:
            return row[self.places[0]]
        held = tuple(
            index_value(row[place], one, prefix)
            for place, one, (_, prefix) in zip(self.places, self.fields, self.key.columns, strict=True)
        )
        return None if None in held else held


@dataclass(eq=False)
class Plan:
    """What is compiled of a definition: defaults, generated columns and checks, by the column's place."""

    defaults: dict[int, Compiled] = field(default_factory=dict)
    generated: list[tuple[int, Compiled]] = field(default_factory=list)
    checks: list[tuple[str, Compiled]] = field(default_factory=list)
    triggers: list[tuple[Trigger, Any]] = field(default_factory=list)
    # What literals became in a column under certain rules: (rules, a map for each place).
    stored: tuple[Any, list[dict[Any, Any]]] | None = None
    # Lists of columns as typed in INSERT, and by places what is left to the columns and what an image shows.
    places: dict[str, list[int]] = field(default_factory=dict)
    shapes: dict[tuple[int, ...], tuple[list[int], frozenset[int]]] = field(default_factory=dict)


class Data:
    """A table: its definition now, its rows, its counter."""

    def __init__(self, definition: Definition) -> None:
        self.rows: dict[int, Row] = {}
        self.next_auto = 1
        self._number = 0
        self._sorted = True
        self._last: Any = None
        self.plan: Plan | None = None
        self.define(definition)

    def define(self, definition: Definition) -> None:
        """Take another definition; the rows must fit it already. Raises SqlError 1062 where a key would hold twice."""
        self.definition = definition
        self.table: Table = definition.table()
        self.plan = None
        self.indexes = [self._index(key) for key in definition.keys if key.unique and all(key.names)]
        # primary first, as servers look for duplicates
        self.indexes.sort(key=lambda index: index.key.kind != "primary")
        self.clustered = self._clustered()
        auto = next((i for i, one in enumerate(definition.fields) if one.auto), None)
        self.auto_place = auto
        for number, row in self.rows.items():
            self._enter(number, row)
        self._sorted = False
        if auto is not None and self.rows:
            self.next_auto = max(self.next_auto, 1 + max((row[auto] or 0) for row in self.rows.values()))

    def _index(self, key: Key) -> Index:
        places = tuple(self.definition.place(name) or 0 for name in key.names)
        fields = tuple(self.definition.fields[place] for place in places)
        plain = len(places) == 1 and mysql_table.family(fields[0].type) not in ("text", "binary")
        return Index(key, places, fields, plain=plain)

    def _clustered(self) -> Index | None:
        """The primary key, else the first unique key without NULLs."""
        for index in self.indexes:
            if index.key.kind == "primary" or not any(one.nullable for one in index.fields):
                return index
        return None

    def _enter(self, number: int, row: Row) -> None:
        for index in self.indexes:
            held = index.of(row)
            if held is not None and index.rows.setdefault(held, number) != number:
                raise self.duplicate(index, row)

    def duplicate(self, index: Index, row: Row) -> SqlError:
        texts = []
        for place in index.places:
            one = self.definition.fields[place]
            array = mysql_values.format_values(carrier([row[place]], one.type), one.type)
            texts.append("NULL" if array[0] is None else array[0])
        return SqlError(1062, "-".join(texts), index.key.name)

    def conflict(self, row: Row, besides: int | None = None) -> tuple[int, Index] | None:
        """The row that has a unique key of this one already, and the key."""
        for index in self.indexes:
            held = index.of(row)
            if held is not None:
                number = index.rows.get(held)
                if number is not None and number != besides:
                    return number, index
        return None

    def add(self, row: Row) -> int:
        """Put a row in; the caller looked for conflicts."""
        self._number += 1
        number = self._number
        self.rows[number] = row
        for index in self.indexes:
            held = index.of(row)
            if held is not None:
                index.rows[held] = number
                if index is self.clustered and self._sorted:
                    if self._last is not None and not self._last < held:
                        self._sorted = False
                    else:
                        self._last = held
        return number

    def put(self, number: int, row: Row | None) -> Row | None:
        """Replace, remove (None) or bring back the row of this number; what was there before."""
        old = self.rows.get(number)
        for index in self.indexes:
            before = None if old is None else index.of(old)
            after = None if row is None else index.of(row)
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
        """All rows in the order of the clustered key, else as they came."""
        if not self._sorted:
            clustered = self.clustered
            if clustered is None:
                self.rows = dict(sorted(self.rows.items()))
                self._last = None
            else:
                self.rows = dict(sorted(self.rows.items(), key=lambda item: clustered.of(item[1])))
                self._last = clustered.of(next(reversed(self.rows.values()))) if self.rows else None
            self._sorted = True
        return iter(list(self.rows.items()))

    def clear(self) -> None:
        self.rows.clear()
        for index in self.indexes:
            index.rows.clear()
        self.next_auto, self._sorted, self._last = 1, True, None


def carrier(values: Sequence[Any], type: ColumnType) -> pa.Array:
    """Stored values of a column as its carrier array."""
    kind = mysql_table.arrow_type(type)
    if pa.types.is_temporal(kind):
        whole = pa.int32() if kind == pa.date32() else pa.int64()
        return pa.array(values, type=whole).view(kind)
    if kind == pa.float32():
        return pa.array(values, type=pa.float64()).cast(kind)
    return pa.array(values, type=kind)
