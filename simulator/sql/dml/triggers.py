"""Fires triggers of an event and time, in the database that they belong to."""

from __future__ import annotations

from typing import Any, Final

from simulator.sql.catalog.definitions import Trigger
from simulator.sql.errors import SqlError
from simulator.sql.store.rows import Row
from simulator.sql.store.session import Session, TriggerRows

# The depth of nested triggers.
MAX_DEPTH: Final = 32


def fire(
    session: Session,
    entry: tuple[Trigger, Any],
    event: str,
    before: bool,
    old: Row | None,
    new: list[Any] | None,
    rules: Any,
    row_number: int,
) -> None:
    """Run a trigger's body if event and time match."""
    trigger = entry[0]
    if trigger.event != event or trigger.before is not before:
        return
    if session.statement.depth >= MAX_DEPTH:
        raise SqlError(1442, trigger.table.name)
    data = session.table(trigger.table.database, trigger.table.name)
    session.statement.depth += 1
    database, session.connection.database = session.connection.database, trigger.database
    try:
        session.run_body(session, trigger.body, TriggerRows(data.definition.fields, old, new, rules, row_number))
    finally:
        session.connection.database = database
        session.statement.depth -= 1
