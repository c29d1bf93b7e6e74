"""Compiles the DEFAULT of a column."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from simulator.sql.assignment.conversion import to_stored
from simulator.sql.catalog.definitions import Compiled, Field
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions.scope import Scope, compiled
from simulator.sql.parse.trees import expression_tree

_UNKNOWN_COLUMN: Final = 1054


def default(field: Field, scope: Scope) -> Compiled:
    """Returns a function that computes a column's default, as stored; it reads no columns."""
    assert field.default is not None
    session = scope.session
    try:
        expression = compiled(expression_tree(field.default), replace(scope, sources=(), clause="field list"))
    except SqlError as error:
        if error.number == _UNKNOWN_COLUMN and field.default.startswith("("):
            raise Unsupported("a DEFAULT that reads columns") from None
        raise
    constant = not field.default.startswith("(") and field.default.upper()[:3] not in ("CUR", "NOW", "LOC")

    def value(env: Any) -> Any:
        result = expression(env)
        return None if result is None else to_stored(result, field, 1, session.rules())

    if not constant:
        return value
    try:
        fixed = value(())
    except SqlError:
        raise SqlError(1067, field.name) from None
    return lambda env: fixed
