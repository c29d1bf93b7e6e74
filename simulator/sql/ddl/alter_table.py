"""ALTER TABLE: converts the rows to the new definition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from simulator.model import SchemaChangeKind
from simulator.sources.mysql import type_table as mysql_table
from simulator.sql.assignment.conversion import from_stored, implicit_default, to_stored
from simulator.sql.catalog.definitions import Field
from simulator.sql.ddl import tables
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions.compiler import scope_of
from simulator.sql.expressions.defaults import default
from simulator.sql.expressions.table_plans import check_definition, plan_of
from simulator.sql.parse.alter_table import Alteration
from simulator.sql.parse.words import Reader
from simulator.sql.store.rows import Data, Row
from simulator.sql.store.session import Session


def _converted(
    session: Session, data: Data, fields: Sequence[Field], origins: Sequence[int], *, null_fails: bool
) -> dict[int, Row]:
    """The rows with the new columns; `origins` are their old positions, -1 for new columns. Raises SqlError for a value
    that does not fit."""
    same_columns = list(range(len(data.definition.fields))) == list(origins)
    if same_columns and all(map(_keeps_values, data.definition.fields, fields)):
        return data.rows
    makers = [_maker(session, data, *pair, null_fails=null_fails) for pair in zip(fields, origins, strict=True)]
    return {id: tuple([make(row, number) for make in makers]) for number, (id, row) in enumerate(data.scan(), 1)}


def _keeps_values(old: Field, new: Field) -> bool:
    return old.type == new.type and old.nullable <= new.nullable


def _maker(session: Session, data: Data, field: Field, origin: int, *, null_fails: bool) -> Callable[[Row, int], Any]:
    """Returns a function from an old row to the value of one column."""
    if origin < 0:
        if field.default is not None:
            default_value = default(field, scope_of(session))
            return lambda row, number: default_value(())
        return lambda row, number: None if field.nullable or field.auto else implicit_default(field.type)
    old = data.definition.fields[origin]
    if _keeps_values(old, field):
        return lambda row, number: row[origin]
    same_type = replace(old.type, spelled="") == replace(field.type, spelled="")
    rules = session.rules()

    def convert(row: Row, number: int) -> Any:
        value = row[origin]
        if value is None:
            if field.nullable or field.auto:
                return None
            if null_fails:
                raise SqlError(1138)
            if session.strict:
                raise SqlError(1265, field.name, number)
            return implicit_default(field.type)
        if same_type:
            return value
        if mysql_table.family(old.type) == "json" and session.server.json_is_text:
            return to_stored(value, field, number, rules)
        return to_stored(
            from_stored(value, old.type, session.connection.zone, session.server.json_way), field, number, rules
        )

    return convert


def _fill(session: Session, data: Data, origin: Sequence[int]) -> None:
    """Fill a new AUTO_INCREMENT column and the generated columns of existing rows."""
    plan = plan_of(data, session)
    auto = data.auto_position
    new_auto = auto is not None and origin[auto] < 0
    if not plan.generated and not new_auto:
        return
    rules = session.rules()
    rows: dict[int, Row] = {}
    for number, (id, row) in enumerate(list(data.rows.items()), 1):
        values = list(row)
        if new_auto and auto is not None:
            values[auto] = data.next_auto
            data.next_auto += 1
        for position, generate in plan.generated:
            value = generate([values])
            field = data.definition.fields[position]
            values[position] = None if value is None else to_stored(value, field, number, rules)
        rows[id] = tuple(values)
    data.rows = rows
    data.define(data.definition)
    check_definition(data, session)


def alter_table(session: Session, words: Reader, sql: str) -> None:
    data = session.table(*words.qualified())
    before = data.table
    old_timestamps = bool(session.connection.settings["old_timestamps"])
    change = Alteration(data.definition, words, session.server, session.connection.database, old_timestamps)
    if change.new_id is not None and session.find_table(change.new_id) is not None:
        raise SqlError(1050, change.new_id.name)
    if change.definition.partitioned != data.definition.partitioned:
        tables.warn_of_partitions(session, change.definition)
    _apply(session, data, change)
    if data.definition.temporary:
        return
    after = data.table
    if change.new_id is not None:
        _, after = tables.renamed(session, data.definition.id, change.new_id)
    database = before.id.database if change.kind is not SchemaChangeKind.RENAME_TABLE else ""
    tables.log(session, change.kind, before, after, sql, database, kinds=tuple(change.kinds))


def _apply(session: Session, data: Data, change: Alteration) -> None:
    """Convert the rows and take the new definition. An error leaves the table as it was. Raises SqlError."""
    definition = change.typed()
    tables.check_keys(session, definition, data.definition)
    old = data.definition, data.rows, data.next_auto
    try:
        data.rows = _converted(session, data, definition.fields, change.origins, null_fails=change.null_fails)
        data.define(session.with_next_version(definition))
        check_definition(data, session)
        _fill(session, data, change.origins)
    except (SqlError, Unsupported):
        data.rows = old[1]
        data.define(old[0])
        data.next_auto = old[2]
        raise
    if change.auto is not None:
        data.next_auto = max(change.auto, data.next_auto if data.rows else 1)
