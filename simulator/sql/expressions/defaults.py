"""Compiles the DEFAULT of a column."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from sqlglot import exp

from simulator.sql.assignment.conversion import to_stored
from simulator.sql.catalog.definitions import Compiled, Field
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions.scope import Scope, compiled
from simulator.sql.functions.table import known_as
from simulator.sql.parse.trees import expression_tree

_UNKNOWN_COLUMN: Final = 1054
_TRUNCATED: Final = 1292


# Functions of the session, and those whose value changes, which a DEFAULT may have.
_OF_SESSION: Final = frozenset((
    "connection_id", "currentuser", "database", "found_rows", "last_insert_id", "parameter", "row_count",
    "sessionparameter", "user", "version",
))  # fmt: skip
_CHANGING: Final = frozenset((
    "curdate", "current_date", "current_time", "current_timestamp", "currentdate", "currenttime", "currenttimestamp",
    "curtime", "localtime", "localtimestamp", "now", "rand", "sysdate", "unix_timestamp", "utc_date", "utc_time",
    "utc_timestamp", "uuid", "uuid_short",
))  # fmt: skip


def check_expression(tree: Any, session: Any, *, changes: bool = False) -> None:
    """Raises Unsupported for what servers refuse or keep differently in an expression of a column; a DEFAULT `changes`
    from row to row."""
    for node in tree.walk():
        name = str(node.name if isinstance(node, exp.Anonymous | exp.Column) else type(node).__name__).lower()
        if isinstance(node, exp.Anonymous):
            name = known_as(name)
        elif isinstance(node, exp.Column) and (node.this.quoted or not name.startswith("utc_")):
            continue
        if name in _OF_SESSION or (name in _CHANGING and not changes):
            typed = "a variable" if isinstance(node, exp.Parameter | exp.SessionParameter) else f"{name}()"
            raise Unsupported(f"{typed} in the expression of a column")
    # MariaDB keeps them as a text
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
    check_expression(expression_tree(field.default), session, changes=True)
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
