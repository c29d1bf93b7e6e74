"""ALTER TABLE: converts the rows to the new definition."""

from __future__ import annotations

from simulator.model import SchemaChangeKind
from simulator.sql.ddl import altered_rows, tables
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions.table_plans import check_definition
from simulator.sql.parse.alter_table import Alteration
from simulator.sql.parse.words import Reader
from simulator.sql.store.rows import Data
from simulator.sql.store.session import Session


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
        data.rows = altered_rows.converted(
            session, data, definition.fields, change.origins, null_fails=change.null_fails
        )
        data.define(session.with_next_version(definition))
        check_definition(data, session)
        altered_rows.fill(session, data, change.origins)
    except (SqlError, Unsupported):
        data.rows = old[1]
        data.define(old[0])
        data.next_auto = old[2]
        raise
    if change.auto is not None:
        data.next_auto = max(change.auto, data.next_auto if data.rows else 1)
