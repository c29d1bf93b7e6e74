"""Changes one row for UPDATE or ON DUPLICATE KEY UPDATE."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from simulator.model import UPDATE
from simulator.sources.mysql import type_table as mysql_table
from simulator.sql.assignment.conversion import implicit_default, to_stored
from simulator.sql.catalog.definitions import Compiled
from simulator.sql.dml import triggers
from simulator.sql.dml.row_inserts import DEFAULT, duplicate_key, finish, in_images, null_for
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions.scope import Scope, compiled
from simulator.sql.expressions.table_plans import plan_of
from simulator.sql.store import foreign_keys
from simulator.sql.store.rows import Data, Row
from simulator.sql.store.session import Session
from simulator.sql.values.temporal import rounded


def position_of(definition: Any, name: str, clause: str) -> int:
    position = definition.position(name)
    if position is None:
        raise SqlError(1054, name, clause)
    return int(position)


def assignments(nodes: Sequence[Any], definition: Any, scope: Scope) -> list[tuple[int, Compiled]]:
    """`a = a + 1, b = DEFAULT` as positions and compiled values."""
    pairs: list[tuple[int, Compiled]] = []
    for node in nodes:
        if not isinstance(node, exp.EQ):
            raise Unsupported(f"the assignment {node.sql('mysql')[:40]!r}")
        position = position_of(definition, node.this.name, scope.clause)
        right = node.expression
        default = (isinstance(right, exp.Var) and right.name.upper() == "DEFAULT") or (
            isinstance(right, exp.Column) and right.name.upper() == "DEFAULT" and not right.this.quoted
        )
        field = definition.fields[position]
        family = mysql_table.family(field.type)
        required = not field.nullable and field.default is None and field.generated is None
        if default and required and scope.session.server.mariadb and scope.session.strict and family != "enum":
            raise SqlError(1364, field.name)  # before any row is read
        if family == "geometry" and scope.session.server.mariadb and not _may_be_shape(right):
            raise Unsupported("this value of a geometry column of MariaDB")
        pairs.append((position, (lambda env: DEFAULT) if default else compiled(right, scope)))
    return pairs


def _may_be_shape(node: Any) -> bool:
    """Whether MariaDB may accept the expression as a geometry; it refuses other types before it reads a row."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower().startswith(("st_", "point", "line", "poly", "multi", "geom"))
    return isinstance(node, exp.Column | exp.Null | exp.Var)


def change_row(
    session: Session,
    data: Data,
    number: int,
    old: Row,
    sets: Sequence[tuple[int, Compiled]],
    rules: Any,
    row_number: int,
    env: list[Any],
    *,
    at: int = 0,
    ignore: bool = False,
    inserts: bool = False,
    also: frozenset[int] = frozenset(),
) -> bool:
    """Set columns of one row, from left to right; an unchanged row is not logged. `inserts`: the statement is an
    INSERT, which names the columns `also`; `at`: the row's position in the environment."""
    fields, plan = data.definition.fields, plan_of(data, session)
    row = env[at]
    for position, value_of in sets:
        field = fields[position]
        value = value_of(env)
        if value is DEFAULT:
            default = plan.defaults.get(position)
            if default is None and not field.nullable and field.generated is None:
                if mysql_table.family(field.type) != "enum":
                    raise SqlError(1364, field.name)
                row[position] = implicit_default(field.type)
            else:
                row[position] = default(()) if default is not None else None
        elif field.generated is not None:
            raise SqlError(3105, field.name, data.definition.id.name)
        elif value is None:
            row[position] = (
                implicit_default(field.type)
                if not field.nullable and not session.strict
                else null_for(session, field, ignore=ignore)
            )
            if field.auto and row[position] is None:
                row[position] = 0
        else:
            row[position] = to_stored(value, field, row_number, rules)
    written = {position for position, _ in sets}
    for trigger in plan.triggers:
        triggers.fire(session, trigger, "update", True, old, row, rules, row_number)
    if tuple(row) != old:
        for i, field in enumerate(fields):
            if field.on_update and i not in written:
                digits = field.type.length or 0
                us = rounded(session.now_us, digits, truncate=True)
                row[i] = us if field.type.name == "timestamp" else session.connection.zone.to_local(us)
                written.add(i)
    if plan.generated or plan.checks or plan.triggers:
        finish(session, data, row, rules, row_number)
        mariadb = session.server.mariadb  # its image has all stored generated columns, changed or not
        for position, _ in plan.generated:
            if (mariadb or row[position] != old[position]) and in_images(fields[position], session):
                written.add(position)
    new = tuple(row)
    if _same(new, old):
        # the row matched but did not change
        for trigger in plan.triggers:
            if session.server.mariadb and trigger[0].event == "update":
                raise Unsupported("a trigger of an UPDATE that leaves a row as it is")
            triggers.fire(session, trigger, "update", False, old, row, rules, row_number)
        return False
    conflict = data.conflict(new, besides=number)
    if conflict is not None:
        if ignore:
            return False
        raise duplicate_key(session, data, conflict[1], new)
    if data.definition.foreign and not foreign_keys.has_parents(session, data, new, ignore=ignore):
        return False
    foreign_keys.update_children(session, data, old, new)
    data.put(number, new)
    session.record_undo(data, number, old)
    auto = data.auto_position
    counts = inserts or session.server.counts_updates
    if auto is not None and counts and new[auto] is not None and new[auto] >= data.next_auto:
        data.next_auto = new[auto] + 1
    session.log_row(data, number, UPDATE, old, new, also | written)
    for trigger in plan.triggers:
        triggers.fire(session, trigger, "update", False, old, row, rules, row_number)
    return True


def _same(new: Row, old: Row) -> bool:
    """Whether a server sees no difference; -0.0 differs from 0.0."""
    return new == old and all(
        not isinstance(a, float) or (a or repr(a) == repr(b)) for a, b in zip(new, old, strict=True)
    )
