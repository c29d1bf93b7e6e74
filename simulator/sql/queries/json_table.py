"""JSON_TABLE: rows of a document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from simulator.sources.mysql import types as mysql_types
from simulator.sql.assignment.conversion import from_stored, to_stored
from simulator.sql.catalog.definitions import Field
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions.compiler import scope_of
from simulator.sql.expressions.scope import Scope, compiled
from simulator.sql.functions.json import document, json_unquote, parsed_path
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
