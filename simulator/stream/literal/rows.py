"""The rows of a YAML script in memory: its statements and schema changes run, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from simulator.model import UniqueKey
from simulator.sources.source import Source
from simulator.stream.literal.prepared import Cells, Change, Shape, Statement
from simulator.stream.scenario.lines import Key
from simulator.stream.scenario.loader import Loaded


@dataclass
class Rows:
    """The rows of all tables at some turn, by the table's number and the row's key (without a key: a count). `numbers`
    holds the permanent row numbers, counted per table in `born`; `unique` the values of unique keys, by the table's
    number and the key's name.
    """

    loaded: Loaded
    source: Source
    shapes: dict[int, Shape] = field(default_factory=dict)
    rows: dict[int, dict[tuple[int, ...], Cells]] = field(default_factory=dict)
    unique: dict[int, dict[str, set[tuple[int, ...]]]] = field(default_factory=dict)
    numbers: dict[int, dict[tuple[int, ...], int]] = field(default_factory=dict)
    born: dict[int, int] = field(default_factory=dict)
    keyless: int = 0

    def insert(self, statement: Statement) -> list[tuple[None, Cells, int]]:
        shape = statement.shape
        rows, numbers, inserted = self.rows[shape.number], self.numbers[shape.number], list[tuple[None, Cells, int]]()
        for row, path in zip(statement.rows, statement.paths, strict=True):
            key = self._key(shape, row)
            if key in rows:
                self.loaded.fail(path, f"{shape.table.id.name} has a row with {_key_text(shape, row)} already")
            self._enter(shape, row, path)
            rows[key] = row
            numbers[key] = self.born[shape.number] = self.born[shape.number] + 1
            inserted.append((None, row, numbers[key]))
        return inserted

    def update(self, statement: Statement) -> list[tuple[Cells, Cells, int]]:
        shape, to_set = statement.shape, statement.set or {}
        rows, numbers = self.rows[shape.number], self.numbers[shape.number]
        positions = range(len(shape.table.columns))
        changes = []
        for key, path in self._matching(statement):
            old = rows[key]
            new = tuple([to_set.get(position, old[position]) for position in positions])
            equal = new == old or shape.identities(new, positions) == shape.identities(old, positions)
            if equal and not self.source.logs_equal_updates:
                continue
            new_key = self._key(shape, new) if shape.table.primary_key else key
            if new_key != key and new_key in rows:
                self.loaded.fail(path, f"{shape.table.id.name} has a row with {_key_text(shape, new)} already")
            self._leave(shape, old)
            self._enter(shape, new, path)
            if new_key != key:
                del rows[key]
                numbers[new_key] = numbers.pop(key)
            rows[new_key] = new
            changes.append((old, new, numbers[new_key]))
        return changes

    def delete(self, statement: Statement) -> list[tuple[Cells, None, int]]:
        rows, numbers = self.rows[statement.shape.number], self.numbers[statement.shape.number]
        gone = [(rows.pop(key), None, numbers.pop(key)) for key, _ in self._matching(statement)]
        for row, _, _ in gone:
            self._leave(statement.shape, row)
        return gone

    def _unique(self, shape: Shape, row: Cells) -> Iterator[tuple[UniqueKey, tuple[int, ...]]]:
        """Unique keys that apply to a row, with its values; nulls exempt it from some."""
        for key in shape.table.unique_keys:
            values = shape.identities(row, [shape.table.positions[name] for name in key.columns])
            if not self.source.may_repeat([value < 0 for value in values]):
                yield key, values

    def _enter(self, shape: Shape, row: Cells, path: Key) -> None:
        """Enters a row in the table's unique keys. Raises ScenarioError for a duplicate."""
        for unique, values in self._unique(shape, row):
            existing = self.unique.setdefault(shape.number, {}).setdefault(unique.name, set())
            if values in existing:
                text = _text(shape, row, unique.columns)
                self.loaded.fail(path, f"{shape.table.id.name} has a row with {text} already ({unique.name})")
            existing.add(values)

    def _leave(self, shape: Shape, row: Cells) -> None:
        for unique, values in self._unique(shape, row):
            self.unique[shape.number][unique.name].remove(values)

    def _key(self, shape: Shape, row: Cells) -> tuple[int, ...]:
        if shape.table.primary_key:
            return shape.key(row)
        self.keyless += 1
        return (self.keyless,)

    def _matching(self, statement: Statement) -> list[tuple[tuple[int, ...], tuple[str | int, ...]]]:
        """Keys of the rows that a statement addresses, each once, with the path in the file that names it."""
        shape = statement.shape
        rows = self.rows[shape.number]
        paths: dict[tuple[int, ...], tuple[str | int, ...]] = {}
        for where, path in zip(statement.where, statement.paths, strict=True):
            values = {position: shape.literals[position].identity[cell] for position, cell in where.items()}
            if not where:  # the statement empties the table, which may be empty already
                return [(key, path) for key in rows]
            if shape.table.primary_key:
                key = tuple([values[position] for position in shape.table.key_positions])
                keys = [key] if key in rows else []
            else:
                keys = [
                    key
                    for key, row in rows.items()
                    if all(
                        shape.literals[position].identity[row[position]] == value for position, value in values.items()
                    )
                ]
            if not keys:
                wording = ", ".join(
                    f"{shape.table.columns[position].name} {shape.literals[position].texts[cell]!r}"
                    for position, cell in where.items()
                )
                self.loaded.fail(path, f"{shape.table.id.name} has no row with {wording} at this point of the script")
            for key in keys:
                if key in paths:
                    self.loaded.fail(path, "this row is named already")
                paths[key] = path
        return list(paths.items())

    def statement(self, statement: Statement) -> Sequence[tuple[Cells | None, Cells | None, int]]:
        """Runs a statement; returns the rows before and after, and their numbers."""
        if statement.kind == "insert":
            return self.insert(statement)
        return self.update(statement) if statement.kind == "update" else self.delete(statement)

    def begin(self, shape: Shape) -> None:
        self.shapes[shape.number], self.rows[shape.number] = shape, {}
        self.numbers[shape.number], self.born[shape.number] = {}, 0

    def change(self, change: Change) -> None:
        """Runs a DDL statement."""
        before, after = change.before, change.after
        if before is None and after is not None:
            self.begin(after)
        elif before is not None and after is not None:
            self.shapes[after.number] = after
            if change.moved != tuple(range(len(before.table.columns))):
                rows = self.rows[after.number]
                for key, row in rows.items():
                    rows[key] = tuple([change.new if position < 0 else row[position] for position in change.moved])
            if after.table.unique_keys != before.table.unique_keys:
                self.unique.pop(after.number, None)
                for row in self.rows[after.number].values():
                    self._enter(after, row, change.path)
        for number in change.dropped:
            self.rows[number], self.numbers[number] = {}, {}
            self.unique.pop(number, None)
            if after is None:
                del self.shapes[number]


def _key_text(shape: Shape, row: Cells) -> str:
    return _text(shape, row, shape.table.primary_key)


def _text(shape: Shape, row: Cells, columns: Sequence[str]) -> str:
    cells = ((name, shape.table.positions[name]) for name in columns)
    return ", ".join(f"{name} {shape.literals[position].texts[row[position]]!r}" for name, position in cells)
