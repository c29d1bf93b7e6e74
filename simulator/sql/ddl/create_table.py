"""CREATE TABLE: columns, LIKE another table, or AS SELECT."""

from __future__ import annotations

from dataclasses import replace

from simulator.model import SchemaChangeKind
from simulator.sql.ddl import tables
from simulator.sql.ddl.create_as_select import create_as_select
from simulator.sql.errors import SqlError
from simulator.sql.parse.create_table import read_table
from simulator.sql.parse.words import Reader
from simulator.sql.store.session import Session


def create_table(session: Session, words: Reader, sql: str, *, temporary: bool) -> None:
    exists = words.take("IF", "NOT", "EXISTS")
    id = session.table_id(*words.qualified())
    database = session.objects.databases.get(id.database)
    if database is None:
        raise SqlError(1049, id.database)
    existing = session.find_table(id)
    if existing is not None and not (temporary and not existing.definition.temporary):
        if not exists:
            raise SqlError(1050, id.name)
        if session.server.logs_existing and not temporary:
            tables.log(session, SchemaChangeKind.CREATE_TABLE, existing.table, existing.table, sql)
        return
    if id.name in database.views:
        raise SqlError(1050, id.name)
    if words.take("LIKE") or (words.peek("(", "LIKE") and words.take("(", "LIKE")):
        source = session.table(*words.qualified())
        definition = replace(source.definition, id=id, temporary=temporary, foreign=())
        tables.add_table(session, definition, sql, temporary)
        return
    context = tables.context_of(session, id.database)
    new = read_table(words, id, context, session.statement.text, temporary=temporary)
    tables.warn_of_partitions(session, new.definition)
    if new.from_query:
        create_as_select(session, new.definition, words.remaining(), sql, temporary)
        return
    tables.add_table(session, new.definition, sql, temporary, new.next_auto)
