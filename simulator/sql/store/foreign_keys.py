"""Foreign keys: checks, and cascades to children, which are not logged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from simulator.sql.catalog.definitions import Definition, Field, ForeignKey
from simulator.sql.errors import SqlError
from simulator.sql.store.rows import Data, Row, index_value
from simulator.sql.store.session import Session


def _values(data: Data, row: Row, names: Sequence[str]) -> tuple[Any, ...]:
    positions = [data.definition.position(name) or 0 for name in names]
    return tuple(index_value(row[position], data.definition.fields[position], None) for position in positions)


def constraint_text(data: Data, key: ForeignKey) -> str:
    id = data.definition.id
    columns = ", ".join(f"`{name}`" for name in key.columns)
    parents = ", ".join(f"`{name}`" for name in key.parent_columns)
    return (
        f"`{id.database}`.`{id.name}`, CONSTRAINT `{key.name}` FOREIGN KEY ({columns}) "
        f"REFERENCES `{key.parent.name}` ({parents})"
    )


def check_foreign_keys(session: Session, definition: Definition) -> None:
    """Check parents, columns and names of a new table's foreign keys; each server has its own errors. Raises
    SqlError."""
    server, id = session.server, definition.id
    names = {
        key.name
        for other in session.all_tables()
        if other.definition.id.database == id.database and other.definition.id != id
        for key in other.definition.foreign
    }
    for key in definition.foreign:
        if key.name in names:
            if server.mariadb:
                raise SqlError(1005, id.database, id.name, 121, "Duplicate key on write or update")
            raise SqlError(1826, key.name) if server.modern else SqlError(1022, id.name)
        parent = definition if key.parent == id else None
        if parent is None:
            data = session.find_table(key.parent)
            parent = None if data is None else data.definition
        if not session.connection.settings["foreign_key_checks"] and parent is None:
            continue
        problem = _problem(definition, key, parent)
        if problem is None:
            continue
        if server.mariadb:
            raise SqlError(1005, id.database, id.name, 150, "Foreign key constraint is incorrectly formed")
        raise problem if server.modern else SqlError(1215)


def _problem(child: Definition, key: ForeignKey, parent: Definition | None) -> SqlError | None:
    """The error of an invalid foreign key, as MySQL 8.0 reports it."""
    if "set null" in (key.on_delete, key.on_update):
        for name in key.columns:
            if not _field(child, name).nullable:
                return SqlError(1830, name, key.name)
    if parent is None:
        return SqlError(1824, key.parent.name)
    for name, other in zip(key.columns, key.parent_columns, strict=False):
        if parent.position(other) is None:
            return SqlError(3734, other, key.name, key.parent.name)
        if _compared(_field(child, name)) != _compared(_field(parent, other)):
            return SqlError(3780, name, other, key.name)
    parent_names = [name.lower() for name in key.parent_columns]
    if not any([name.lower() for name in index.names[: len(parent_names)]] == parent_names for index in parent.keys):
        return SqlError(1822, key.name, key.parent.name)
    return None


def _field(definition: Definition, name: str) -> Field:
    return definition.fields[definition.position(name) or 0]


def _compared(field: Field) -> tuple[object, ...]:
    """Properties of a type that parent and child columns must share; the length of texts may differ."""
    type = field.type
    if type.charset:
        return (type.charset, field.collation)
    digits = (type.length, type.scale) if type.name == "decimal" else ()
    return (type.name, type.unsigned or type.zerofill, digits)


def has_parents(session: Session, data: Data, row: Row, *, ignore: bool = False) -> bool:
    """Whether a row's parents exist; without `ignore` raises SqlError 1452 if not."""
    if not session.connection.settings["foreign_key_checks"]:
        return True
    for key in data.definition.foreign:
        key_values = _values(data, row, key.columns)
        if None in key_values:
            continue
        parent = session.find_table(key.parent)
        if parent is None or not any(
            _values(parent, other, key.parent_columns) == key_values for other in parent.rows.values()
        ):
            if ignore:
                return False
            raise SqlError(1452, constraint_text(data, key))
    return True


def _children(session: Session, data: Data) -> Iterator[tuple[Data, ForeignKey]]:
    if session.connection.settings["foreign_key_checks"]:
        for child in list(session.all_tables()):
            for key in child.definition.foreign:
                if key.parent == data.definition.id:
                    yield child, key


def is_parent(session: Session, data: Data) -> bool:
    return any(True for _ in _children(session, data))


def _of_parent(child: Data, key: ForeignKey, data: Data, row: Row) -> list[tuple[int, Row]]:
    key_values = _values(data, row, key.parent_columns)
    return [(n, other) for n, other in child.scan() if _values(child, other, key.columns) == key_values]


def delete_children(session: Session, data: Data, row: Row) -> None:
    """ON DELETE: the storage engine runs CASCADE and SET NULL without a log entry. Raises SqlError 1451."""
    for child, key in _children(session, data):
        for number, other in _of_parent(child, key, data, row):
            if key.on_delete == "restrict":
                raise SqlError(1451, constraint_text(child, key))
            if key.on_delete == "cascade":
                delete_children(session, child, other)
                child.put(number, None)
            else:
                child.put(number, _with(child, other, key, [None] * len(key.columns)))
            session.record_undo(child, number, other)


def update_children(session: Session, data: Data, old: Row, new: Row) -> None:
    """ON UPDATE, like `delete_children`."""
    for child, key in _children(session, data):
        if _values(data, old, key.parent_columns) == _values(data, new, key.parent_columns):
            continue
        for number, other in _of_parent(child, key, data, old):
            if key.on_update == "restrict":
                raise SqlError(1451, constraint_text(child, key))
            positions = [data.definition.position(name) or 0 for name in key.parent_columns]
            values = [new[p] for p in positions] if key.on_update == "cascade" else [None] * len(positions)
            changed = _with(child, other, key, values)
            child.put(number, changed)
            session.record_undo(child, number, other)


def _with(child: Data, row: Row, key: ForeignKey, values: Sequence[Any]) -> Row:
    cells = list(row)
    for name, value in zip(key.columns, values, strict=True):
        cells[child.definition.position(name) or 0] = value
    return tuple(cells)
