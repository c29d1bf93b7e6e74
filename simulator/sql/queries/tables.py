"""The sources of FROM: tables, views, derived tables, common table expressions, VALUES and JSON_TABLE."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from simulator.sources.mysql import types as mysql_types
from simulator.sql.assignment.conversion import from_stored, to_stored
from simulator.sql.catalog.definitions import Field, View
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions.compiler import scope_of
from simulator.sql.expressions.scope import Scope, Source, compiled
from simulator.sql.functions.json import document, json_unquote, parsed_path
from simulator.sql.parse.trees import statement_tree
from simulator.sql.store.rows import Data
from simulator.sql.store.session import Session
from simulator.sql.values import json_paths
from simulator.sql.values.json_paths import MISSING

Reader = Callable[[Any, int], Any]


def json_table(
    node: exp.JSONTable, before: Scope | None, session: Session
) -> tuple[tuple[str, ...], Callable[[Any], list[Any]]]:
    """The names of the columns, and a function from an environment to the rows."""
    value = compiled(node.this, before or scope_of(session))
    legs = parsed_path(node.args["path"].name, wildcards=True)
    columns = node.args["schema"].expressions
    if any(column.args.get("nested_schema") for column in columns):
        raise Unsupported("NESTED PATH in JSON_TABLE")
    names = tuple(column.name for column in columns)
    readers = [_reader(column, session) for column in columns]

    def rows(env: Any) -> list[Any]:
        source = value(env)
        if source is None:
            return []
        items = json_paths.find_all(document(session, source, "json_table"), legs)
        return [tuple(read(item, number) for read in readers) for number, item in enumerate(items, 1)]

    return names, rows


def _reader(column: Any, session: Session) -> Reader:
    if column.args.get("ordinality") or column.args.get("kind") is None:
        return lambda item, number: number
    if any(column.args.get(key) for key in ("on_empty", "on_error", "default", "exists")):
        raise Unsupported("ON EMPTY and ON ERROR in JSON_TABLE")
    legs = parsed_path(column.args["path"].name, wildcards=True)
    type = mysql_types.parse_type(column.args["kind"].sql("mysql").lower())
    field = Field(column.name, type)

    def read(item: Any, number: int) -> Any:
        value = json_paths.find(item, legs)
        if value is MISSING or value is None:
            return None
        document = session.as_document(value)
        if type.name != "json":
            if isinstance(value, list | dict):
                return None
            document = json_unquote(session, document) if isinstance(value, str) else document.value
        try:
            stored = to_stored(document, field, 1, session.rules())
        except SqlError:
            return None  # NULL ON ERROR
        return from_stored(stored, type, session.connection.zone, session.server.json_way)

    return read


Rows = Callable[[Any], list[Any]]


@dataclass(frozen=True, slots=True)
class Relation:
    """A source of rows and how they are read; `data` if it is a table. `lateral`: it reads the sources before it."""

    source: Source
    rows: Rows
    data: Data | None = None
    lateral: bool = False


@dataclass(frozen=True, slots=True)
class Common:
    """A common table expression: its columns and rows."""

    names: tuple[str, ...]
    rows: Rows


# Compiles a query: (tree, session, outer scope, visible common table expressions).
Prepare = Callable[[Any, Session, Scope | None, Mapping[str, Common]], Any]


def relation_of(
    table: Any, session: Session, commons: Mapping[str, Common], prepare: Prepare, before: Scope | None
) -> Relation:
    """The relation of an item of FROM. `before`: the scope of the sources before it, for lateral sources."""
    alias, columns = _alias(table)
    match table:
        case exp.Table() if isinstance(table.this, exp.Identifier):
            return _named_relation(table, session, commons, prepare, alias)
        case exp.Subquery():
            query = prepare(table.this, session, None, commons)
            return Relation(Source(alias, "", _renamed(columns, query.names, alias)), query.run)
        case exp.Lateral() if isinstance(table.this, exp.Subquery):
            query = prepare(table.this.this, session, before, commons)
            return Relation(Source(alias, "", _renamed(columns, query.names, alias)), query.run, lateral=True)
        case exp.Values():
            return _values(table, session, alias, columns)
        case exp.JSONTable():
            names, rows = json_table(table, before, session)
            return Relation(Source(alias, "", names), rows, lateral=True)
        case exp.Table() if isinstance(table.this, exp.JSONTable):
            names, rows = json_table(table.this, before, session)
            return Relation(Source(alias, "", names), rows, lateral=True)
    raise Unsupported(f"FROM {table.sql('mysql')[:40]!r}")


def _alias(table: Any) -> tuple[str, list[str]]:
    alias = table.args.get("alias")
    if isinstance(alias, exp.TableAlias):
        return alias.name, [column.name for column in alias.args.get("columns") or ()]
    return table.alias or "", []


def _renamed(columns: Sequence[str], names: Sequence[str], alias: str) -> tuple[str, ...]:
    if columns and len(columns) != len(names):
        raise SqlError(1353, alias)
    return tuple(columns or names)


def _named_relation(
    table: exp.Table, session: Session, commons: Mapping[str, Common], prepare: Prepare, alias: str
) -> Relation:
    name = alias or table.name
    if not table.db:
        if table.name.lower() == "dual":
            return Relation(Source("dual", "", ()), lambda env: [()])
        common = commons.get(table.name.lower())
        if common is not None:
            return Relation(Source(name, "", common.names), common.rows)
    view = session.view(table.db, table.name)
    if view is not None:
        query = prepare_view(view, session, prepare)
        return Relation(Source(name, view.database, view.columns or query.names), query.run)
    if table.args.get("partition"):
        raise Unsupported("PARTITION in FROM")
    source, data = source_of_table(session, table)
    return Relation(source, lambda env: [row for _, row in data.scan()], data)


def prepare_view(view: View, session: Session, prepare: Prepare) -> Any:
    """Compile the view's query in the view's database."""
    database, session.connection.database = session.connection.database, view.database
    try:
        return prepare(statement_tree(view.select), session, None, {})
    finally:
        session.connection.database = database


def source_of_table(session: Session, table: exp.Table) -> tuple[Source, Data]:
    data = session.table(table.db, table.name)
    definition = data.definition
    names = tuple(field.name for field in definition.fields)
    return Source(table.alias or table.name, definition.id.database, names, definition.fields), data


def _values(table: exp.Values, session: Session, alias: str, columns: Sequence[str]) -> Relation:
    lists = [values_of(row) for row in table.expressions]
    scope = scope_of(session)
    names = tuple(columns or (f"column_{number}" for number in range(len(lists[0]))))
    readers = [[compiled(value, scope) for value in values] for values in lists]
    return Relation(Source(alias, "", names), lambda env: [tuple(read(env) for read in row) for row in readers])


def values_of(row: Any) -> list[Any]:
    """The nodes of `(1, 2)` or `ROW(1, 2)`."""
    inner = row.expressions
    if len(inner) == 1 and isinstance(inner[0], exp.Anonymous) and str(inner[0].this).lower() == "row":
        return list(inner[0].expressions)
    return list(inner)
