"""A script prepared to run: names are looked up, table versions made, literals numbered and parsed column by column.

A cell is the number of a literal among those of its column (0 is null). Rows are tuples of cells, so a script is run
without looking at a value; columns of carriers are taken from the parsed literals when a block is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from simulator.batch import Ints
from simulator.carriers import storage
from simulator.errors import UsageError, all_problems
from simulator.model import ColumnType, SchemaChangeKind, Table, TableId
from simulator.sources.source import Source
from simulator.stream.scenario import tables
from simulator.stream.scenario.language.changes import ScriptedChange, ScriptedStatement, ScriptEntry
from simulator.stream.scenario.lines import Key
from simulator.stream.scenario.loader import Loaded
from simulator.stream.scenario.tables import Applied, unknown

Cells = tuple[int, ...]


class Literals:
    """The distinct literals of a column, for all types that it has in the course of the script."""

    def __init__(self, type: ColumnType) -> None:
        self.types = [type]
        self.begins = [0]  # the first cell of each type
        self.texts: list[str | None] = [None]
        self.paths: list[Key] = [()]
        self._cells: dict[str | None, int] = {None: 0}
        self.arrays: list[pa.Array] = []  # for each type, all cells up to its last one
        self.identity: list[int] = []  # equal for cells with equal values

    def cell(self, text: str | None, path: Key) -> int:
        cell = self._cells.get(text)
        if cell is None:
            cell = self._cells[text] = len(self.texts)
            self.texts.append(text)
            self.paths.append(path)
        return cell

    def widen(self, type: ColumnType) -> None:
        """Sets the type of the literals that follow."""
        self.types.append(type)
        self.begins.append(len(self.texts))
        self._cells = {None: 0}

    def parse(self, loaded: Loaded, source: Source) -> None:
        """Parse all literals. Raises ScenarioError for those that are wrong."""
        parsed: pa.Array | None = None
        for type, begin, end in zip(self.types, self.begins, [*self.begins[1:], len(self.texts)], strict=True):
            try:
                part = source.parse_values(self.texts[begin:end], type)
            except (ValueError, UsageError):
                self._report(loaded, source, type, range(begin, end))
                raise
            parsed = part if parsed is None else pa.concat_arrays([source.stored(parsed, type), part])
            self.arrays.append(parsed)
        assert parsed is not None
        indices = storage(parsed).dictionary_encode().indices
        self.identity = np.asarray(indices.fill_null(-1)).tolist()

    def _report(self, loaded: Loaded, source: Source, type: ColumnType, cells: Sequence[int]) -> None:
        with all_problems() as part:
            for cell in cells:
                try:
                    source.parse_values([self.texts[cell]], type)
                except (ValueError, UsageError) as error:
                    with part():
                        loaded.fail(self.paths[cell], str(error))


@dataclass(frozen=True, eq=False)
class Shape:
    """A table version as the script sees it: `number` is that of the table's rows, which renames keep."""

    number: int
    table: Table
    literals: tuple[Literals, ...]
    types: tuple[int, ...]  # by column: index of its current type
    missing: tuple[int | None, ...]  # by column: the cell where an insert leaves it out; None: it is required

    def column(self, position: int, cells: Ints) -> pa.Array:
        """Cells of a column as carriers of this version."""
        return self.literals[position].arrays[self.types[position]].take(pa.array(cells))

    def key(self, row: Cells) -> tuple[int, ...]:
        """The identity of a row; available after the literals are parsed."""
        return self.identities(row, self.table.key_positions)

    def identities(self, row: Cells, positions: Sequence[int]) -> tuple[int, ...]:
        """Numbers of a row's values at some positions: equal for equal values; null is -1."""
        return tuple([self.literals[position].identity[row[position]] for position in positions])


@dataclass(frozen=True)
class Statement:
    """A statement: rows to insert, or conditions (column position, cell; none: all rows) and cells to set."""

    kind: str
    shape: Shape
    path: Key
    rows: tuple[Cells, ...] = ()
    where: tuple[Mapping[int, int], ...] = ()
    set: Mapping[int, int] | None = None
    paths: tuple[Key, ...] = ()


@dataclass(frozen=True)
class Change:
    """A DDL statement, with the shapes before and after. `moved` has the old position of each column;
    -1: a new column.
    """

    applied: Applied
    before: Shape | None
    after: Shape | None
    moved: tuple[int, ...] = ()
    new: int = 0
    dropped: tuple[int, ...] = ()
    path: Key = ()


@dataclass(frozen=True)
class Turn:
    """An entry of the script: statements of its transaction, a DDL statement, or neither (snapshot, heartbeat)."""

    event_ms: int
    name: str | None
    statements: tuple[Statement, ...] = ()
    change: Change | None = None
    heartbeat: bool = False


@dataclass(frozen=True)
class Prepared:
    """A prepared script. `snapshot` holds the inserts before its first turn; `shapes` are all table versions."""

    first: tuple[Shape, ...]
    shapes: tuple[Shape, ...]
    snapshot: tuple[Statement, ...]
    turns: tuple[Turn, ...]


def prepare(loaded: Loaded, source: Source) -> Prepared:
    """Compiles a script. Raises ScenarioError for errors that show without running it."""
    return _Preparation(loaded, source).script()


class _Preparation:
    def __init__(self, loaded: Loaded, source: Source) -> None:
        self.loaded, self.source = loaded, source
        self.current: dict[str, Shape] = {}  # by name in the source's spelling
        self.shapes: list[Shape] = []
        self.literals: list[Literals] = []
        self.versions: dict[TableId, int] = {}
        self.tables = 0
        spec = loaded.spec
        self.databases = {spec.database}
        for name, table in spec.tables.items():
            if table.created:
                self.databases.add(table.database or spec.database)
                self.current[self.source.identifier(name)] = self._created(tables.first_version(loaded, name, source))

    def script(self) -> Prepared:
        loaded = self.loaded
        first = tuple(self.current.values())
        snapshot: list[Statement] = []
        turns: list[Turn] = []
        ms = loaded.spec.start - 1000
        with all_problems() as part:
            for i, entry in enumerate(loaded.spec.script or ()):
                path: Key = ("script", i)
                with part():
                    if entry.at is not None and turns and entry.at < ms:
                        loaded.fail((*path, "at"), "this is before the entry above; commits come in order of time")
                ms = ms + 1000 if entry.at is None else entry.at
                if entry.ddl is not None:
                    turns.append(self._turn(path, entry, ms))  # later entries depend on a faulty one: report no more
                    continue
                with part():
                    if entry.snapshot is not None:
                        if len(snapshot) < i:
                            problem = "snapshots stand before all else: their rows were there before"
                            loaded.fail((*path, "snapshot"), problem)
                        shape = self._shape((*path, "snapshot", "table"), entry.snapshot.table)
                        snapshot.append(self._insert(shape, (*path, "snapshot"), entry.snapshot.rows))
                    turns.append(self._turn(path, entry, ms))
            for literals in self.literals:
                with part():
                    literals.parse(loaded, self.source)
        return Prepared(first, tuple(self.shapes), tuple(snapshot), tuple(turns))

    def _turn(self, path: Key, entry: ScriptEntry, ms: int) -> Turn:
        if entry.ddl is not None:
            if entry.ddl.truncate and not self.source.ddl.truncates:
                shape = self._shape((*path, "ddl", "table"), entry.ddl.table)
                every_row = Statement("delete", shape, path, where=({},), paths=((*path, "ddl"),))
                return Turn(ms, entry.name, (every_row,))
            return Turn(ms, entry.name, change=replace(self._change((*path, "ddl"), entry.ddl), path=(*path, "ddl")))
        statements: list[Statement] = []
        with all_problems() as part:
            for j, statement in enumerate(entry.transaction or ()):
                with part():
                    statements.append(self._statement((*path, "transaction", j), statement))
        return Turn(ms, entry.name, tuple(statements), heartbeat=entry.heartbeat)

    # ------------------------------------------------------------------------------------------------------ statements

    def _shape(self, path: Key, name: str) -> Shape:
        if self.source.identifier(name) not in self.current:
            declared = self.loaded.spec.tables.get(name)
            if declared is not None:
                self.loaded.fail(path, f"the table {name!r} is not there at this point of the script")
            unknown(self.loaded, path, "table", name, self.current)
        return self.current[self.source.identifier(name)]

    def _statement(self, path: Key, statement: ScriptedStatement) -> Statement:
        shape = self._shape((*path, statement.kind), statement.table)
        if statement.rows is not None:
            return self._insert(shape, path, statement.rows)
        if isinstance(statement.where, list):
            conditions, paths = statement.where, tuple((*path, "where", k) for k in range(len(statement.where)))
        else:
            conditions, paths = [statement.where or {}], ((*path, "where"),)
        where = tuple(self._where(shape, key, row) for key, row in zip(paths, conditions, strict=True))
        to_set = None
        if statement.set is not None:
            to_set = self._cells(shape, (*path, "set"), statement.set)
        return Statement(statement.kind, shape, path, where=where, set=to_set, paths=paths)

    def _where(self, shape: Shape, path: Key, row: Mapping[str, Any]) -> Mapping[int, int]:
        cells = self._cells(shape, path, row)
        key = shape.table.primary_key
        if key and set(cells) != set(shape.table.key_positions):
            self.loaded.fail(
                path, f"where names the key of {shape.table.id.name}, all of it and nothing else: {', '.join(key)}"
            )
        if not cells:
            self.loaded.fail(path, "where names at least one column")
        return cells

    def _insert(self, shape: Shape, path: Key, rows: Sequence[Mapping[str, Any]]) -> Statement:
        paths = tuple((*path, "rows", r) for r in range(len(rows)))
        return Statement(
            "insert",
            shape,
            path,
            rows=tuple(self._row(shape, key, row) for key, row in zip(paths, rows, strict=True)),
            paths=paths,
        )

    def _row(self, shape: Shape, path: Key, row: Mapping[str, Any]) -> Cells:
        typed = self._cells(shape, path, row)
        cells: list[int] = []
        for position, missing in enumerate(shape.missing):
            cell = typed.get(position, missing)
            if cell is None:
                name = shape.table.columns[position].name
                self.loaded.fail(path, f"a value for {name} is missing, which cannot be null")
            cells.append(cell)
        return tuple(cells)

    def _cells(self, shape: Shape, path: Key, row: Mapping[str, Any]) -> dict[int, int]:
        cells: dict[int, int] = {}
        for name, text in row.items():
            position = shape.table.positions.get(self.source.identifier(name))
            if position is None:
                column_found = tables.find_column(self.loaded, (*path, name), shape.table, name, self.source)
                position = shape.table.positions[column_found.name]
            if text is not None and not isinstance(text, str):
                self.loaded.fail((*path, name), "a literal is one value; a document is written as text between quotes")
            assert position is not None
            column = shape.table.columns[position]
            if not column.nullable and (text is None or (text == "" and self._is_null(column.type))):
                empty = "" if text is None else f", as an empty text is in {self.source.title}"
                self.loaded.fail((*path, name), f"{name} cannot be null{empty}")
            cells[position] = shape.literals[position].cell(text, (*path, name))
        return cells

    def _is_null(self, type: ColumnType) -> bool:
        """Whether an empty text is null in a column of this type."""
        try:
            return bool(self.source.parse_values([""], type).null_count)
        except (ValueError, UsageError):
            return False  # reported when the literals are parsed

    # -------------------------------------------------------------------------------------------------------------- DDL

    def _created(self, table: Table) -> Shape:
        for column in table.columns:
            if all(column.field not in spec.columns for spec in self.loaded.spec.tables.values()):
                key: Key = ("tables", table.id.name, "key")
                self.loaded.fail(
                    key, f"a script on {self.source.title} wants a key of one column, which becomes its {column.name}"
                )
        literals = tuple(Literals(column.type) for column in table.columns)
        self.literals += literals
        self.tables += 1
        missing = tuple(0 if column.nullable else None for column in table.columns)
        table = self._numbered(table)
        return self._shaped(Shape(self.tables, table, literals, (0,) * len(literals), missing))

    def _shaped(self, shape: Shape) -> Shape:
        self.shapes.append(shape)
        return shape

    def _numbered(self, table: Table) -> Table:
        """The table with a version that no earlier table of its name had."""
        version = max(table.version, self.versions.get(table.id, -1) + 1)
        self.versions[table.id] = version
        return replace(table, version=version)

    def _change(self, path: Key, change: ScriptedChange) -> Change:
        loaded = self.loaded
        if change.change in ("create_database", "drop_database"):
            return self._database(path, change)
        if change.change == "create_table":
            self._check_new_table(path, change)
            applied = tables.apply(loaded, path, None, change, self.source)
            assert applied.after is not None
            shape = self._created(applied.after)
            self.current[shape.table.id.name] = shape
            return Change(replace(applied, after=shape.table), None, shape)
        before = self._shape((*path, "table"), change.table)
        applied = tables.apply(loaded, path, before.table, change, self.source)
        del self.current[before.table.id.name]
        if applied.after is None:
            return Change(applied, before, None, dropped=(before.number,))
        table = self._numbered(applied.after)
        if table.id.name in self.current:
            loaded.fail((*path, "rename_table", "to"), f"a table {table.id.name!r} is there already")
        applied = replace(applied, after=table)
        after, moved, new = self._follow(path, before, table, change)
        self.current[table.id.name] = after
        dropped = (before.number,) if applied.kind is SchemaChangeKind.TRUNCATE_TABLE else ()
        return Change(applied, before, after, moved, new, dropped)

    def _follow(
        self, path: Key, before: Shape, table: Table, change: ScriptedChange
    ) -> tuple[Shape, tuple[int, ...], int]:
        """The shape after a change, the old position of each of its columns, and the cell of existing rows in an added
        column.
        """
        old = {column.field: position for position, column in enumerate(before.table.columns)}
        literals: list[Literals] = []
        types: list[int] = []
        missing: list[int | None] = []
        moved: list[int] = []
        new = 0
        for column in table.columns:
            position = old.get(column.field, -1)
            moved.append(position)
            if position < 0:
                assert change.add_column is not None
                added = Literals(column.type)
                self.literals.append(added)
                default = change.add_column.default if self.source.ddl.fills_columns else None
                new = added.cell(default, (*path, "add_column", "default"))
                literals.append(added)
                types.append(0)
                # later inserts that leave out the column get its default
                missing.append(new)
                continue
            literals.append(before.literals[position])
            if column.type != before.table.columns[position].type:
                before.literals[position].widen(column.type)
            types.append(len(before.literals[position].types) - 1)
            missing.append(before.missing[position])
        shape = Shape(before.number, table, tuple(literals), tuple(types), tuple(missing))
        return self._shaped(shape), tuple(moved), new

    def _check_new_table(self, path: Key, change: ScriptedChange) -> None:
        loaded, name = self.loaded, change.table
        if self.source.identifier(name) in self.current:
            loaded.fail(
                (*path, "table"), f"a table {name!r} is there already; one that a script creates says created: no"
            )
        if name not in loaded.spec.tables:
            unknown(loaded, (*path, "table"), "table", name, loaded.spec.tables)
        database = loaded.spec.tables[name].database or loaded.spec.database
        if database not in self.databases:
            loaded.fail((*path, "table"), f"its database {database!r} is not there; create_database makes one")

    def _database(self, path: Key, change: ScriptedChange) -> Change:
        name = change.create_database or change.drop_database or ""
        creates = change.create_database is not None
        key = (*path, change.change)
        if creates and name in self.databases:
            self.loaded.fail(key, f"a database {name!r} is there already")
        if not creates and name not in self.databases:
            unknown(self.loaded, key, "database", name, self.databases)
        applied = tables.apply(self.loaded, path, None, change, self.source)
        gone = [
            table for table, shape in self.current.items() if not creates and self.source.is_in(name, shape.table.id)
        ]
        numbers = tuple(self.current.pop(table).number for table in gone)
        self.databases ^= {name}
        return Change(applied, None, None, dropped=numbers)
