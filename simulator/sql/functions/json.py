"""Functions on JSON documents."""

from __future__ import annotations

from typing import Any

from simulator.sql.errors import SqlError
from simulator.sql.functions.arguments import Function
from simulator.sql.values import documents
from simulator.sql.values.documents import MISSING, Document
from simulator.sql.values.kinds import Shape, text_of


def as_json(value: Any) -> Any:
    """A value as it goes into a document."""
    if isinstance(value, Document):
        return value.value
    if isinstance(value, bytes) and not isinstance(value, Shape):
        return bytes(value)
    return value


def document(value: Any, function: str, duplicates: str) -> Any:
    """The value of a JSON argument: a document, or a text to be read."""
    if isinstance(value, Document):
        return value.value
    try:
        return documents.parse(text_of(value), duplicates=duplicates)
    except ValueError as error:
        raise SqlError(3141, 1, function, error) from None


def path(value: Any) -> list[str | int]:
    try:
        return documents.path(text_of(value))
    except ValueError:
        raise SqlError(3143) from None


def sql_json_object(session: Any, *values: Any) -> Any:
    made: dict[str, Any] = {}
    for key, value in zip(values[::2], values[1::2], strict=False):
        if key is None:
            raise SqlError(3141, 1, "json_object", "NULL is no key")
        name = text_of(key)
        if name not in made or session.server.json_duplicates == "last":
            made[name] = as_json(value)
    return session.as_document(made)


def sql_json_change(name: str, *, insert: bool, replace: bool) -> Function:
    def change(session: Any, value: Any, *rest: Any) -> Any:
        if value is None:
            return None
        made = document(value, name, session.server.json_duplicates)
        for where, new in zip(rest[::2], rest[1::2], strict=False):
            if where is None:
                return None
            made = documents.changed(made, path(where), as_json(new), insert=insert, replace=replace)
        return session.as_document(made)

    return change


def sql_json_remove(session: Any, value: Any, *paths: Any) -> Any:
    made = document(value, "json_remove", session.server.json_duplicates)
    for where in paths:
        made = documents.removed(made, path(where))
    return session.as_document(made)


def json_extract(session: Any, value: Any, *paths: Any) -> Any:
    inner = document(value, "json_extract", session.server.json_duplicates)
    found = [documents.find(inner, path(where)) for where in paths]
    if len(paths) == 1:
        return None if found[0] is MISSING else Document(found[0])
    kept = [item for item in found if item is not MISSING]
    return session.as_document(kept) if kept else None


def json_unquote(session: Any, value: Any) -> Any:
    inner = value.value if isinstance(value, Document) else value
    if isinstance(inner, str) and not isinstance(value, Document) and inner[:1] == '"':
        inner = document(inner, "json_unquote", "last")
    return inner if isinstance(inner, str) else text_of(value)
