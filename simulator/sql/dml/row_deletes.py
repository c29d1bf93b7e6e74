"""Deletes one row: its children, triggers and log entry."""

from __future__ import annotations

from simulator.model import DELETE
from simulator.sql.dml import triggers
from simulator.sql.errors import SqlError
from simulator.sql.expressions.table_plans import plan_of
from simulator.sql.store import foreign_keys
from simulator.sql.store.rows import Data
from simulator.sql.store.session import Session


def delete_row(session: Session, data: Data, number: int, row_number: int, *, ignore: bool = False) -> bool:
    """Whether the row was deleted; with IGNORE a referenced row stays."""
    plan, rules = plan_of(data, session), session.rules()
    old = data.rows.get(number)
    if old is None:
        return False
    for trigger in plan.triggers:
        triggers.fire(session, trigger, "delete", True, old, None, rules, row_number)
    if number not in data.rows:
        return False
    try:
        foreign_keys.delete_children(session, data, old)
    except SqlError:
        if ignore:
            return False
        raise
    data.put(number, None)
    session.record_undo(data, number, old)
    session.log_row(data, number, DELETE, old, None)
    for trigger in plan.triggers:
        triggers.fire(session, trigger, "delete", False, old, None, rules, row_number)
    return True
