"""CREATE TABLE: columns, LIKE another table, or AS SELECT."""

from __future__ import annotations

from dataclasses import replace

from simulator.model import INSERT, SchemaChangeKind
from simulator.sql.assignment.conversion import to_stored
from simulator.sql.catalog.definitions import Definition
from simulator.sql.ddl import tables
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.parse.create_table import read_table
from simulator.sql.parse.show_create import selected_column
from simulator.sql.parse.trees import statement_tree
from simulator.sql.parse.words import Reader, quoted
from simulator.sql.queries import select
from simulator.sql.store.session import STEP_US, Session


def create_as_select(session: Session, target: Definition, query_text: str, typed: str, temporary: bool) -> None:
    """Run CREATE TABLE … AS SELECT. A binary log in row format holds the text that SHOW CREATE TABLE would print, and
    the rows; OceanBase's log the `typed` statement."""
    query = select.prepare(statement_tree(query_text), session)
    lines = []
    for name, field in zip(query.names, query.fields, strict=True):
        if field is None:
            raise Unsupported(f"CREATE TABLE … AS SELECT of an expression ({name}); select plain columns")
        lines.append(f"  {quoted(name)} {selected_column(field, target, session.server)}")
    id = target.id
    text = f"CREATE TABLE {tables.logged_name(session, id)} (\n" + ",\n".join(lines) + "\n)"
    inner = Reader(text)
    inner.need("CREATE", "TABLE")
    inner.qualified()
    context = tables.context_of(session, id.database)
    definition = read_table(inner, id, context, session.statement.text, temporary=temporary).definition
    rows = query.run([])
    logged = typed if session.server.text_per_table else text + session.server.as_select_tail
    data = tables.add_table(session, definition, logged, temporary)
    rules = session.rules()
    session.now_us -= STEP_US if rows and not temporary else 0  # the rows have the timestamp of the statement
    for number, values in enumerate(rows, 1):
        row = tuple(
            None if value is None else to_stored(value, field, number, rules)
            for value, field in zip(values, definition.fields, strict=True)
        )
        added = data.add(row)
        session.record_undo(data, added, None)
        session.log_row(data, added, INSERT, None, row)


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
