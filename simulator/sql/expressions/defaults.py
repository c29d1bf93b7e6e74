"""What gives the DEFAULT of a column."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from simulator.sql.assignment.conversion import to_stored
from simulator.sql.catalog.definitions import Compiled, Field
from simulator.sql.errors import SqlError
from simulator.sql.expressions.scope import Scope, compiled
from simulator.sql.parse.trees import expression_tree


def default(one: Field, scope: Scope) -> Compiled:
    """What gives a column's default, as stored; it sees no columns."""
    assert one.default is not None
    session = scope.session
    made = compiled(expression_tree(one.default), replace(scope, sources=(), place="field list"))
    constant = not one.default.startswith("(") and one.default.upper()[:3] not in ("CUR", "NOW", "LOC")

    def value(env: Any) -> Any:
        found = made(env)
        return None if found is None else to_stored(found, one, 1, session.rules())

    if not constant:
        return value
    try:
        fixed = value(())
    except SqlError:
        raise SqlError(1067, one.name) from None
    return lambda env: fixed
