"""Triggers: their bodies run for each row, with OLD and NEW."""

from __future__ import annotations

from typing import Any, Final

from sqlglot import exp

from simulator.sources.mysql import type_table as mysql_table
from simulator.sources.mysql import values as mysql_values
from simulator.sql.assignment.conversion import to_stored
from simulator.sql.catalog.definitions import Trigger
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions.compiler import scope_of
from simulator.sql.expressions.scope import Source, compiled
from simulator.sql.parse.trees import expression_tree
from simulator.sql.store.rows import Row, carrier
from simulator.sql.store.session import Session

# Triggers may fire triggers; this deep.
MOST_DEPTH: Final = 32


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
    """Run a trigger's body if it is one of this event and time. Its body is one statement, or SET NEW.column = …"""
    trigger = entry[0]
    if trigger.event != event or trigger.before is not before:
        return
    if session.depth >= MOST_DEPTH:
        raise SqlError(1442, trigger.table.name)
    data = session.table(trigger.table.database, trigger.table.name)
    fields = data.definition.fields
    names = tuple(one.name for one in fields)
    words = trigger.body.split(None, 1)
    if words[0].upper() == "SET":
        if new is None:
            raise SqlError(1064, trigger.body[:80])
        sources = (Source("new", "", names, fields), Source("old", "", names, fields))
        for part in _assignments(words[1]):
            target = part.this
            place = data.definition.place(target.name)
            if target.table.lower() != "new" or place is None:
                raise Unsupported(f"SET {target.sql('mysql')} in a trigger")
            value = compiled(part.expression, scope_of(session, sources))([new, old or (None,) * len(fields)])
            new[place] = None if value is None else to_stored(value, fields[place], row_number, rules)
        return
    literals: dict[tuple[str, str], Any] = {}
    for prefix, row in (("old", old), ("new", new)):
        if row is not None:
            texts = [_literal(value, one) for value, one in zip(row, fields, strict=True)]
            literals |= {(prefix, name.lower()): text for name, text in zip(names, texts, strict=True)}
    session.depth += 1
    database, session.database = session.database, trigger.database
    try:
        session.run_body(session, trigger.body, literals)
    finally:
        session.database = database
        session.depth -= 1


def _assignments(text: str) -> list[exp.EQ]:
    tree = expression_tree(f"row_({text})")
    parts = list(tree.expressions)
    if not all(isinstance(part, exp.EQ) for part in parts):
        raise Unsupported("SET in a trigger wants column = value")
    return parts


def _literal(stored: Any, one: Any) -> Any:
    """A stored value as a node that stands for OLD.column or NEW.column."""
    if stored is None:
        return exp.Null()
    if mysql_table.family(one.type) in ("binary", "geometry"):
        return exp.HexString(this=bytes(stored).hex())
    text = mysql_values.format_values(carrier([stored], one.type), one.type)[0]
    if mysql_table.family(one.type) in ("integer", "decimal", "float", "year", "bit"):
        return exp.Literal.number(str(stored) if not isinstance(stored, float) else repr(stored))
    return exp.Literal.string(text or "")
