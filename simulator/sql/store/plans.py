"""What is compiled of a table once: its defaults, generated columns, checks and triggers."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from sqlglot import exp

from simulator.sources import mysql
from simulator.sql.assignment.assign import assign
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions.scopes import Scope, Source, compiled
from simulator.sql.store.catalog import Compiled, Field
from simulator.sql.store.rows import Data, Plan
from simulator.sql.store.session import Session


@lru_cache(maxsize=4096)
def expression(text: str) -> Any:
    """sqlglot's tree of an expression. Raises SqlError 1064."""
    import sqlglot
    from sqlglot.errors import ParseError, TokenError

    try:
        tree = sqlglot.parse_one(f"SELECT {text}", dialect="mysql")
    except (ParseError, TokenError):
        raise SqlError(1064, text[:80]) from None
    if len(tree.expressions) != 1:
        raise SqlError(1064, text[:80])
    return tree.expressions[0]


def plan_of(data: Data, session: Session) -> Plan:
    """A table's plan, made at its first use."""
    if data.plan is not None:
        return data.plan
    definition = data.definition
    names = tuple(one.name for one in definition.fields)
    scope = Scope(session, (Source(definition.id.name, definition.id.database, names, definition.fields),))
    plan = data.plan = Plan()
    for place, one in enumerate(definition.fields):
        if one.default is not None:
            plan.defaults[place] = default(one, session)
        if one.generated is not None:
            tree = expression(one.generated)
            named = {column.name.lower() for column in tree.find_all(exp.Column)}
            if not session.server.mariadb and any(f.auto and f.name.lower() in named for f in definition.fields):
                raise SqlError(3109, one.name)
            plan.generated.append((place, compiled(tree, scope)))
    if session.server.checks:
        plan.checks = [(name, compiled(expression(text), scope)) for name, text in definition.checks]
    plan.triggers = [(one, None) for one in session.triggers if one.table == definition.id]
    return plan


def default(one: Field, session: Session) -> Compiled:
    """What gives a column's default, as stored."""
    assert one.default is not None
    made = compiled(expression(one.default), Scope(session))
    constant = not one.default.startswith("(") and one.default.upper()[:3] not in ("CUR", "NOW", "LOC")

    def value(env: Any) -> Any:
        found = made(env)
        return None if found is None else assign(found, one, 1, session.rules())

    if not constant:
        return value
    try:
        fixed = value(())
    except SqlError:
        raise SqlError(1067, one.name) from None
    return lambda env: fixed


def check_definition(data: Data, session: Session) -> None:
    """Compile a new definition, so that what is wrong in it is told where it stands."""
    try:
        plan_of(data, session)
    except Unsupported:
        data.plan = None
        raise
    for one in data.definition.fields:
        if one.on_update and mysql.family(one.type) != "datetime":
            raise SqlError(1067, one.name)
