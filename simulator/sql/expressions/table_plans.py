"""Compiles a table's defaults, generated columns, checks and triggers once."""

from __future__ import annotations

from sqlglot import exp

from simulator.sources.mysql import type_table as mysql_table
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions.compiler import scope_of
from simulator.sql.expressions.defaults import check_expression, default
from simulator.sql.expressions.scope import Source, compiled
from simulator.sql.parse.trees import expression_tree
from simulator.sql.store.rows import Data, Plan
from simulator.sql.store.session import Session


def plan_of(data: Data, session: Session) -> Plan:
    """A table's plan, compiled at its first use."""
    if data.plan is not None:
        return data.plan
    definition = data.definition
    names = tuple(field.name for field in definition.fields)
    scope = scope_of(session, (Source(definition.id.name, definition.id.database, names, definition.fields),))
    plan = data.plan = Plan()
    for position, field in enumerate(definition.fields):
        if field.default is not None:
            plan.defaults[position] = default(field, scope)
        if field.generated is not None:
            tree = expression_tree(field.generated)
            check_expression(tree, session)
            column_names = {column.name.lower() for column in tree.find_all(exp.Column)}
            counters = [f.name for f in definition.fields if f.auto and f.name.lower() in column_names]
            if counters and not session.server.mariadb:
                raise SqlError(3109, field.name)
            if counters and field.stored:
                raise SqlError(1901, "AUTO_INCREMENT", "GENERATED ALWAYS AS", counters[0])
            if counters:  # its first image in the log is computed from 0
                raise Unsupported("a generated column of an AUTO_INCREMENT column")
            plan.generated.append((position, compiled(tree, scope)))
    if session.server.checks:
        for name, text in definition.checks:
            check_expression(tree := expression_tree(text), session)
            plan.checks.append((name, compiled(tree, scope)))
    plan.triggers = [(trigger, None) for trigger in session.objects.triggers if trigger.table == definition.id]
    return plan


def check_definition(data: Data, session: Session) -> None:
    """Compile a new definition to report its errors with its statement."""
    try:
        plan_of(data, session)
    except Unsupported:
        data.plan = None
        raise
    for field in data.definition.fields:
        if field.on_update and mysql_table.family(field.type) != "datetime":
            raise SqlError(1067, field.name)
