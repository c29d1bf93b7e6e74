"""Compiles the DEFAULT of a column."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from sqlglot import exp

from simulator.sql.assignment.conversion import to_stored
from simulator.sql.catalog.definitions import Compiled, Field
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions.scope import Scope, compiled
from simulator.sql.parse.trees import expression_tree

_UNKNOWN_COLUMN: Final = 1054
_TRUNCATED: Final = 1292


def refuse_digits(tree: Any, session: Any) -> None:
    """Raises Unsupported for hexadecimal digits inside an expression of a column, which MariaDB keeps as a text."""
    if session.server.mariadb and not isinstance(tree, exp.HexString) and tree.find(exp.HexString) is not None:
        raise Unsupported("hexadecimal digits in the expression of a column")


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
    refuse_digits(expression_tree(field.default), session)
    constant = not field.default.startswith("(") and field.default.upper()[:3] not in ("CUR", "NOW", "LOC")

    def value(env: Any) -> Any:
        try:
            result = expression(env)
        except SqlError as error:
            if error.number == _TRUNCATED and session.server.mariadb:
                raise Unsupported("a DEFAULT of a text that is no number") from None
            raise
        return None if result is None else to_stored(result, field, 1, session.rules())

    if not constant:
        return value
    try:
        fixed = value(())
    except SqlError:
        raise SqlError(1067, field.name) from None
    return lambda env: fixed
