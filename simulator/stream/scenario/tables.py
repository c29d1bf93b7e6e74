"""Table versions: the first as the scenario declares it, later ones by schema changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NoReturn

from simulator.errors import ScenarioError, UnknownName, UsageError, all_problems
from simulator.model import Column, ColumnType, SchemaChangeKind, Table, UniqueKey
from simulator.sources.source import Source
from simulator.stream.scenario.language.changes import TableChange
from simulator.stream.scenario.language.tables import ColumnSpec, Native, TableSpec
from simulator.stream.scenario.lines import Key
from simulator.stream.scenario.loader import Loaded


@dataclass(frozen=True)
class Applied:
    """Applied schema change: the table before (None: created) and after (None: dropped), and the statement's text."""

    kind: SchemaChangeKind
    database: str
    before: Table | None
    after: Table | None
    sql: str


def column_type(loaded: Loaded, path: Key, text: str, source: Source) -> ColumnType:
    """Parses a type of the scenario: portable, or native if the scenario names its source."""
    if isinstance(text, Native):
        return source.parse_type(text)
    try:
        return source.from_portable(text) if loaded.spec.source is None else source.parse_type(text)
    except (UsageError, ValueError) as error:
        problem = str(error)
    if loaded.spec.source is None:
        try:
            source.parse_type(text)
        except (UsageError, ValueError):
            pass
        else:
            problem += f" It is a type of {source.title}: add `source: {source.id}` at the top to use it."
    loaded.fail(path, problem)


def column_names(loaded: Loaded, source: Source, first: Iterable[Table]) -> frozenset[str]:
    """Names of all columns at any time, in the scenario's and in the source's spelling."""
    spec = loaded.spec
    changes = [*spec.schema_changes, *(entry.ddl for entry in spec.script or () if entry.ddl is not None)]
    names = {name for table in spec.tables.values() for name in table.columns}
    names |= {change.add_column.name for change in changes if change.add_column is not None}
    names |= {change.rename_column.to for change in changes if change.rename_column is not None}
    names |= {column.name for table in first for column in table.columns}
    return frozenset(names | set(map(source.identifier, names)))


def first_version(loaded: Loaded, name: str, source: Source) -> Table:
    """The table as `tables.<name>` declares it."""
    spec = loaded.spec.tables[name]
    path: Key = ("tables", name)
    lowered: dict[str, str] = {}
    columns: list[Column] = []
    unique: list[UniqueKey] = []
    with all_problems() as part:
        for column, column_spec in spec.columns.items():
            with part():
                if column.lower() in lowered:
                    problem = f"duplicate column {lowered[column.lower()]!r}: upper and lower case are the same"
                    loaded.fail((*path, "columns", column), problem)
                lowered[column.lower()] = column
                under = (*path, "columns", column)
                columns.append(_column(loaded, under, column, column_spec, source, is_key=column in spec.key))
        for i, column in enumerate(spec.key):
            with part():
                if column not in spec.columns:
                    unknown(loaded, (*path, "key", i), "column", column, spec.columns)
                if column in spec.key[:i]:
                    loaded.fail((*path, "key", i), f"{column!r} is in the key twice")
        for key in spec.unique:
            with part():
                unique.append(_unique_key(loaded, (*path, "unique"), key, spec, source))
    id = source.table_id(spec.database or loaded.spec.database, name, spec.db_schema or loaded.spec.db_schema)
    try:
        return source.shaped(Table(id, tuple(columns), tuple(map(source.identifier, spec.key)), 0, tuple(unique)))
    except UsageError as error:
        loaded.fail(path, str(error))


def _column(loaded: Loaded, path: Key, name: str, spec: ColumnSpec, source: Source, *, is_key: bool) -> Column:
    if is_key and spec.nullable:
        loaded.fail((*path, "nullable"), "a key column cannot be null")
    nullable = spec.nullable if spec.nullable is not None else not is_key
    type = column_type(loaded, (*path, "type"), spec.type, source)
    return Column(source.identifier(name), type, nullable, field=name)


def _unique_key(loaded: Loaded, path: Key, name: str, spec: TableSpec, source: Source) -> UniqueKey:
    columns = spec.unique[name]
    for column in columns:
        if column not in spec.columns:
            unknown(loaded, path, "column", column, spec.columns)
    if len(set(columns)) < len(columns):
        loaded.fail(path, f"the unique key {name!r} has a column twice")
    if source.identifier(name).upper() == "PRIMARY":
        loaded.fail(path, "PRIMARY is the name of the primary key; choose another name")
    return UniqueKey(source.identifier(name), tuple(map(source.identifier, columns)))


def unknown(loaded: Loaded, path: Key, noun: str, name: str, names: Iterable[str]) -> NoReturn:
    """`no column 'qyt'. Did you mean 'qty'?`, at this key of the file."""
    loaded.fail(path, str(UnknownName(noun, name, names)))


# ------------------------------------------------------------------------------------------------------ schema changes


def apply(loaded: Loaded, path: Key, table: Table | None, change: TableChange, source: Source) -> Applied:
    """Applies the change at `path` to a table; `table` is None if the change creates one, or is about a database.

    Versions count up; a column keeps its `field` through renames. Raises ScenarioError for an impossible change.
    """
    name = change.change
    path = (*path, name)
    try:
        if table is None:
            applied = _without_table(loaded, change, source)
        else:
            applied = _CHANGES[name](loaded, path, table, change, source)
    except ScenarioError:
        raise
    except UsageError as error:  # the source has no such statement
        loaded.fail(path, str(error))
    return replace(applied, sql=change.sql) if change.sql is not None else applied


def _without_table(loaded: Loaded, change: TableChange, source: Source) -> Applied:
    if change.change == "create_table":
        table = first_version(loaded, change.table, source)
        sql = source.ddl.create_table(table)
        return Applied(SchemaChangeKind.CREATE_TABLE, table.id.database, None, table, sql)
    database = str(getattr(change, change.change))
    stored = source.table_id(database, "").database
    if change.change == "create_database":
        return Applied(SchemaChangeKind.CREATE_DATABASE, stored, None, None, source.ddl.create_database(database))
    return Applied(SchemaChangeKind.DROP_DATABASE, stored, None, None, source.ddl.drop_database(database))


def find_column(loaded: Loaded, path: Key, table: Table, name: str, source: Source) -> Column:
    """The column of this name. Raises ScenarioError with a close match."""
    stored = source.identifier(name)
    if stored in table.positions:
        return table.columns[table.positions[stored]]
    for column in table.columns:
        if column.field == name and column.name in table.primary_key:
            return column  # the source renames the key
    unknown(loaded, path, f"column of {table.id.name}", name, table.positions)


def _new_name(loaded: Loaded, path: Key, table: Table, name: str, but: str = "") -> None:
    for column in table.columns:
        if column.name.lower() == name.lower() and column.name != but:
            loaded.fail(path, f"there is a column {column.name!r} already")


def _after(table: Table, columns: Iterable[Column]) -> Table:
    return replace(table, columns=tuple(columns), version=table.version + 1)


def _replaced(table: Table, old: Column, new: Column) -> list[Column]:
    return [new if column is old else column for column in table.columns]


def _applied(kind: SchemaChangeKind, before: Table, after: Table | None, sql: str) -> Applied:
    return Applied(kind, before.id.database, before, after, sql)


def _add_column(loaded: Loaded, path: Key, table: Table, change: TableChange, source: Source) -> Applied:
    new = change.add_column
    assert new is not None
    _new_name(loaded, (*path, "name"), table, new.name)
    column = _column(loaded, (*path, "column"), new.name, new.column, source, is_key=False)
    if new.default is None and not column.nullable:
        loaded.fail((*path, "default"), f"{new.name} cannot be null, so existing rows need a default")
    if new.default is not None and not source.ddl.takes_default(column.type):
        loaded.fail((*path, "default"), f"{source.title} allows no default for a column of type {column.type.name}")
    if not source.ddl.fills_columns:
        column = replace(column, nullable=True)
    if new.default is not None:
        column = replace(column, default=source.ddl.default(new.default, column.type))
    # a column that was renamed may have had this name and keeps it as its field
    field_names = {other.field for other in table.columns}
    if new.name in field_names:
        column = replace(column, field=f"{new.name}@{table.version + 1}")
    columns = list(table.columns)
    if new.after is None or not source.ddl.places_columns:
        columns.append(column)
    else:
        before = find_column(loaded, (*path, "after"), table, new.after, source)
        columns.insert(columns.index(before) + 1, column)
    sql = source.ddl.add_column(table, column, new.default, new.after)
    return _applied(SchemaChangeKind.ADD_COLUMN, table, _after(table, columns), sql)


def _widen(loaded: Loaded, path: Key, table: Table, change: TableChange, source: Source) -> Applied:
    assert change.widen is not None
    old = find_column(loaded, (*path, "column"), table, change.widen.column, source)
    type = column_type(loaded, (*path, "type"), change.widen.type, source)
    new = replace(old, type=type, default=None if source.ddl.retypes_columns else old.default)
    if not source.ddl.widens(old.type, new.type):
        was, would = source.ddl.type_definition(old.type), source.ddl.type_definition(new.type)
        loaded.fail(
            (*path, "type"),
            f"{would} does not widen {was}: the new type must hold all values of the old one, and more",
        )
    after = _after(table, _replaced(table, old, new))
    return _applied(SchemaChangeKind.ALTER_COLUMN_TYPE, table, after, source.ddl.alter_column(table, new))


def _rename_column(loaded: Loaded, path: Key, table: Table, change: TableChange, source: Source) -> Applied:
    assert change.rename_column is not None
    old = find_column(loaded, (*path, "column"), table, change.rename_column.column, source)
    name = source.identifier(change.rename_column.to)
    new = replace(old, name=name, default=None if source.ddl.retypes_columns else old.default)
    if new.name == old.name:
        loaded.fail((*path, "to"), f"{old.name!r} is its name already")
    _new_name(loaded, (*path, "to"), table, new.name, but=old.name)

    def renamed(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(new.name if name == old.name else name for name in names)

    unique = tuple(replace(key, columns=renamed(key.columns)) for key in table.unique_keys)
    after = _after(table, _replaced(table, old, new))
    after = replace(after, primary_key=renamed(table.primary_key), unique_keys=unique)
    return _applied(SchemaChangeKind.RENAME_COLUMN, table, after, source.ddl.rename_column(table, old, new))


def _drop_column(loaded: Loaded, path: Key, table: Table, change: TableChange, source: Source) -> Applied:
    assert change.drop_column is not None
    old = find_column(loaded, (*path, "column"), table, change.drop_column.column, source)
    if old.name in table.primary_key:
        loaded.fail((*path, "column"), f"{old.name!r} belongs to the key of {table.id.name}, which cannot be dropped")
    for key in table.unique_keys:
        if old.name in key.columns and len(key.columns) > 1:
            problem = f"{old.name!r} belongs to the unique key {key.name!r}: drop that index first"
            loaded.fail((*path, "column"), problem)
    remaining = tuple(key for key in table.unique_keys if old.name not in key.columns)
    after = _after(table, (column for column in table.columns if column is not old))
    after = replace(after, unique_keys=remaining)
    return _applied(SchemaChangeKind.DROP_COLUMN, table, after, source.ddl.drop_column(table, old))


def _create_index(loaded: Loaded, path: Key, table: Table, change: TableChange, source: Source) -> Applied:
    index = change.create_index
    assert index is not None
    name = source.identifier(index.name)
    if any(key.name == name for key in table.unique_keys):
        loaded.fail((*path, "name"), f"{table.id.name} has an index of this name already")
    columns = tuple(
        find_column(loaded, (*path, "columns", i), table, column, source).name for i, column in enumerate(index.columns)
    )
    sql = source.ddl.create_index(table, index.name, index.columns, unique=index.unique)
    after = _after(table, table.columns)
    if index.unique:
        after = replace(after, unique_keys=(*table.unique_keys, UniqueKey(name, columns)))
    return _applied(SchemaChangeKind.CREATE_INDEX, table, after, sql)


def _drop_index(loaded: Loaded, path: Key, table: Table, change: TableChange, source: Source) -> Applied:
    assert change.drop_index is not None
    sql = source.ddl.drop_index(table, change.drop_index.name)
    name = source.identifier(change.drop_index.name)
    remaining = tuple(key for key in table.unique_keys if key.name != name)
    after = replace(_after(table, table.columns), unique_keys=remaining)
    return _applied(SchemaChangeKind.DROP_INDEX, table, after, sql)


def _truncate(loaded: Loaded, path: Key, table: Table, change: TableChange, source: Source) -> Applied:
    sql = source.ddl.truncate_table(table)
    return _applied(SchemaChangeKind.TRUNCATE_TABLE, table, _after(table, table.columns), sql)


def _rename_table(loaded: Loaded, path: Key, table: Table, change: TableChange, source: Source) -> Applied:
    to = source.identifier(str(getattr(change, "rename_table").to))  # noqa: B009
    after = replace(_after(table, table.columns), id=replace(table.id, name=to))
    return _applied(SchemaChangeKind.RENAME_TABLE, table, after, source.ddl.rename_table(table, to))


def _drop_table(loaded: Loaded, path: Key, table: Table, change: TableChange, source: Source) -> Applied:
    return _applied(SchemaChangeKind.DROP_TABLE, table, None, source.ddl.drop_table(table))


_CHANGES = {
    "add_column": _add_column,
    "widen": _widen,
    "rename_column": _rename_column,
    "drop_column": _drop_column,
    "create_index": _create_index,
    "drop_index": _drop_index,
    "truncate": _truncate,
    "rename_table": _rename_table,
    "drop_table": _drop_table,
}
