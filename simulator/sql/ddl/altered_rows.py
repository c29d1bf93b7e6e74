"""The rows of a table whose definition ALTER TABLE changes: converted, filled, counted anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from simulator.sources.mysql import type_table as mysql_table
from simulator.sql.assignment.conversion import from_stored, implicit_default, to_stored
from simulator.sql.catalog.definitions import Field
from simulator.sql.errors import SqlError
from simulator.sql.expressions.compiler import scope_of
from simulator.sql.expressions.defaults import default
from simulator.sql.expressions.table_plans import check_definition, plan_of
from simulator.sql.store.rows import Data, Row
from simulator.sql.store.session import Session


def converted(
    session: Session, data: Data, fields: Sequence[Field], origins: Sequence[int], *, null_fails: bool
) -> dict[int, Row]:
    """The rows of a table with these columns; `origins` are their old places, -1 for new ones. Raises SqlError for a
    value that does not fit."""
    kept = list(range(len(data.definition.fields))) == list(origins)
    if kept and all(map(_keeps_values, data.definition.fields, fields)):
        return data.rows
    makers = [_maker(session, data, *pair, null_fails=null_fails) for pair in zip(fields, origins, strict=True)]
    return {id: tuple([make(row, number) for make in makers]) for number, (id, row) in enumerate(data.scan(), 1)}


def _keeps_values(old: Field, new: Field) -> bool:
    return old.type == new.type and old.nullable <= new.nullable


def _maker(session: Session, data: Data, one: Field, origin: int, *, null_fails: bool) -> Callable[[Row, int], Any]:
    """What gives a column's value of an old row."""
    if origin < 0:
        if one.default is not None:
            give = default(one, scope_of(session))
            return lambda row, number: give(())
        return lambda row, number: None if one.nullable or one.auto else implicit_default(one.type)
    old = data.definition.fields[origin]
    if _keeps_values(old, one):
        return lambda row, number: row[origin]
    same = replace(old.type, spelled="") == replace(one.type, spelled="")
    rules = session.rules()

    def convert(row: Row, number: int) -> Any:
        value = row[origin]
        if value is None:
            if one.nullable or one.auto:
                return None
            if null_fails:
                raise SqlError(1138)
            if session.strict:
                raise SqlError(1265, one.name, number)
            return implicit_default(one.type)
        if same:
            return value
        if mysql_table.family(old.type) == "json" and session.server.json_is_text:
            return to_stored(value, one, number, rules)
        return to_stored(from_stored(value, old.type, session.zone, session.server.json_way), one, number, rules)

    return convert


def fill(session: Session, data: Data, origin: Sequence[int]) -> None:
    """Counters of a new AUTO_INCREMENT column, and generated columns of the rows that are there."""
    plan = plan_of(data, session)
    auto = data.auto_place
    new_auto = auto is not None and origin[auto] < 0
    if not plan.generated and not new_auto:
        return
    rules = session.rules()
    rows: dict[int, Row] = {}
    for number, (id, row) in enumerate(list(data.rows.items()), 1):
        made = list(row)
        if new_auto and auto is not None:
            made[auto] = data.next_auto
            data.next_auto += 1
        for place, generate in plan.generated:
            value = generate([made])
            one = data.definition.fields[place]
            made[place] = None if value is None else to_stored(value, one, number, rules)
        rows[id] = tuple(made)
    data.rows = rows
    data.define(data.definition)
    check_definition(data, session)
