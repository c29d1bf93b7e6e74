"""The rows of a YAML script in memory: its statements and schema changes run, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from simulator.stream.literal.prepared import Cells, Change, Shape, Statement
from simulator.stream.scenario.loader import Loaded


@dataclass
class Rows:
    """The rows of all tables at some turn, by the table's number and the row's key (a count where it has none)."""

    loaded: Loaded
    shapes: dict[int, Shape] = field(default_factory=dict)
    rows: dict[int, dict[tuple[int, ...], Cells]] = field(default_factory=dict)
    keyless: int = 0

    def insert(self, statement: Statement) -> list[tuple[None, Cells]]:
        shape = statement.shape
        rows = self.rows[shape.number]
        for row, path in zip(statement.rows, statement.paths, strict=True):
            key = self._key(shape, row)
            if key in rows:
                self.loaded.fail(path, f"{shape.table.id.name} has a row with {_key_text(shape, row)} already")
            rows[key] = row
        return [(None, row) for row in statement.rows]

    def update(self, statement: Statement) -> list[tuple[Cells, Cells]]:
        shape, to_set = statement.shape, statement.set or {}
        rows = self.rows[shape.number]
        positions = range(len(shape.table.columns))
        changes = []
        for key, path in self._named(statement):
            old = rows[key]
            new = tuple([to_set.get(position, old[position]) for position in positions])
            new_key = self._key(shape, new) if shape.table.primary_key else key
            if new_key == key:
                rows[key] = new
            else:
                if new_key in rows:
                    self.loaded.fail(path, f"{shape.table.id.name} has a row with {_key_text(shape, new)} already")
                del rows[key]
                rows[new_key] = new
            changes.append((old, new))
        return changes

    def delete(self, statement: Statement) -> list[tuple[Cells, None]]:
        rows = self.rows[statement.shape.number]
        return [(rows.pop(key), None) for key, _ in self._named(statement)]

    def _key(self, shape: Shape, row: Cells) -> tuple[int, ...]:
        if shape.table.primary_key:
            return shape.key(row)
        self.keyless += 1
        return (self.keyless,)

    def _named(self, statement: Statement) -> list[tuple[tuple[int, ...], tuple[str | int, ...]]]:
        """The keys of the rows that a statement names, each once, with the key of the file that names it."""
        shape = statement.shape
        rows = self.rows[shape.number]
        named: dict[tuple[int, ...], tuple[str | int, ...]] = {}
        for where, path in zip(statement.where, statement.paths, strict=True):
            values = {position: shape.literals[position].identity[cell] for position, cell in where.items()}
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
                if key in named:
                    self.loaded.fail(path, "this row is named already")
                named[key] = path
        return list(named.items())

    def statement(self, statement: Statement) -> Sequence[tuple[Cells | None, Cells | None]]:
        """Run one; the rows before and after."""
        if statement.kind == "insert":
            return self.insert(statement)
        return self.update(statement) if statement.kind == "update" else self.delete(statement)

    def begin(self, shape: Shape) -> None:
        self.shapes[shape.number], self.rows[shape.number] = shape, {}

    def change(self, change: Change) -> None:
        """Run a DDL statement."""
        before, after = change.before, change.after
        if before is None and after is not None:
            self.begin(after)
        elif before is not None and after is not None:
            self.shapes[after.number] = after
            if change.moved != tuple(range(len(before.table.columns))):
                rows = self.rows[after.number]
                for key, row in rows.items():
                    rows[key] = tuple([change.new if position < 0 else row[position] for position in change.moved])
        for number in change.dropped:
            self.rows[number] = {}
            if after is None:
                del self.shapes[number]


def _key_text(shape: Shape, row: Cells) -> str:
    return ", ".join(
        f"{name} {shape.literals[position].texts[row[position]]!r}"
        for name, position in zip(shape.table.primary_key, shape.table.key_positions, strict=True)
    )
