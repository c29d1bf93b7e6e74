"""Type, database and table of DDL and of other texts in the log; which of them Canal drops."""

from __future__ import annotations

import re
from typing import Final

from simulator.formats.canal.definitions import readable
from simulator.formats.canal.options import CanalOptions
from simulator.formats.format import Settings
from simulator.model import WITHOUT_TABLE, Event, LoggedStatement, SchemaChange, SchemaChangeKind, StatementKind

# EventType of a DDL statement: DruidDdlParser.
WORDS: Final = {
    SchemaChangeKind.CREATE_DATABASE: "QUERY",
    SchemaChangeKind.DROP_DATABASE: "QUERY",
    SchemaChangeKind.CREATE_TABLE: "CREATE",
    SchemaChangeKind.ADD_COLUMN: "ALTER",
    SchemaChangeKind.ALTER_COLUMN_TYPE: "ALTER",
    SchemaChangeKind.RENAME_COLUMN: "ALTER",
    SchemaChangeKind.DROP_COLUMN: "ALTER",
    SchemaChangeKind.TRUNCATE_TABLE: "TRUNCATE",
    SchemaChangeKind.RENAME_TABLE: "RENAME",
    SchemaChangeKind.DROP_TABLE: "ERASE",
    SchemaChangeKind.CREATE_INDEX: "CINDEX",
    SchemaChangeKind.DROP_INDEX: "DINDEX",
    SchemaChangeKind.ALTER_TABLE: "ALTER",
    SchemaChangeKind.TABLE_OPTIONS: "ALTER",
    SchemaChangeKind.DROP_FOREIGN_KEY: "DINDEX",
    SchemaChangeKind.ALTER_VIEW: "QUERY",
    SchemaChangeKind.ALTER_USER: "QUERY",
}


# EventType of logged texts other than DDL: LogEventConvert.parseQueryEvent and the like. Others are a QUERY.
STATEMENT_WORDS: Final = {
    StatementKind.INSERT: "INSERT",
    StatementKind.UPDATE: "UPDATE",
    StatementKind.DELETE: "DELETE",
    StatementKind.XA_COMMIT: "XACOMMIT",
    StatementKind.XA_ROLLBACK: "XAROLLBACK",
}


# Sources whose ALTER VIEW and ALTER USER 1.1.8 reads, and drops; it does not read those that MariaDB logs.
VIEWS_READ: Final = frozenset({"mysql"})

_DATABASE_NAME: Final = re.compile(
    r"(?:database|schema)\s+(?:if\s+(?:not\s+)?exists\s+)?(`(?:[^`]|``)+`)", re.IGNORECASE
)
_COMMENT_BEFORE_NAME: Final = re.compile(r"\bcreate\s+(?:database|schema)\s*/\*!", re.IGNORECASE)
# A statement that is entirely in version comments, which Canal ignores.
_IN_COMMENT: Final = re.compile(r"\s*(?:/\*!(?:(?!\*/).)*\*/\s*)+", re.DOTALL)
# An ALTER VIEW whose definer's host is not %, which Canal does not parse.
_OTHER_DEFINER: Final = re.compile(r"^\s*ALTER\b[^(]*?\bDEFINER\s*=\s*`[^`]*`@`(?!%`)", re.IGNORECASE)
_UNREAD_BODY: Final = re.compile(
    r"\s*CREATE\b(?:(?!\bBEGIN\b).)*\b(?:TRIGGER|PROCEDURE|FUNCTION|EVENT)\b.*\b(?:RE)?SIGNAL\b",
    re.IGNORECASE | re.DOTALL,
)


def backquoted(name: str) -> str:
    """A name with its back-quotes doubled, as they were typed (captured)."""
    return name.replace("`", "``")


def word(event: SchemaChange, settings: Settings[CanalOptions]) -> str:
    """The `type` of a DDL statement."""
    kind = first_read(event, settings)
    if kind is SchemaChangeKind.DROP_FOREIGN_KEY and settings.options.version < "1.1.8":
        return "ALTER"
    return "QUERY" if unread(event) else WORDS[kind]


def first_read(event: SchemaChange, settings: Settings[CanalOptions]) -> SchemaChangeKind:
    """The kind of the first item that Canal's parser recognises: it skips foreign keys and checks, and up to 1.1.5
    also table options."""
    skipped = {SchemaChangeKind.ADD_CONSTRAINT}
    if settings.options.version <= "1.1.5":
        skipped.add(SchemaChangeKind.TABLE_OPTIONS)
    return next((kind for kind in event.kinds if kind not in skipped), event.kind)


def unread(event: SchemaChange) -> bool:
    """Tests for a statement that Canal's parser does not understand: some types, bodies with SIGNAL."""
    if event.kind in WITHOUT_TABLE:
        return _UNREAD_BODY.match(event.sql) is not None
    if event.kind is not SchemaChangeKind.CREATE_TABLE or event.after is None:
        return False
    return not readable([text for column in event.after.columns for text in column.typed_in])


def omitted(event: Event, settings: Settings[CanalOptions]) -> bool:
    """Tests for an event that Canal drops: a statement that belongs to no table, the text of a REPLACE, others by
    version."""
    version = settings.options.version
    if isinstance(event, LoggedStatement):
        return event.kind is StatementKind.REPLACE or (
            settings.options.filter_query_dml and event.kind not in (StatementKind.XA_COMMIT, StatementKind.XA_ROLLBACK)
        )
    if not isinstance(event, SchemaChange):
        return False
    if _IN_COMMENT.fullmatch(event.sql):
        return True
    if event.kind in (SchemaChangeKind.ALTER_VIEW, SchemaChangeKind.ALTER_USER):
        read = version >= "1.1.8" and settings.source.id in VIEWS_READ
        return read and _OTHER_DEFINER.search(event.sql) is None
    if unread(event):
        return False
    kind = first_read(event, settings)
    if kind is SchemaChangeKind.TABLE_OPTIONS:
        return bool(version <= "1.1.5")
    return kind is SchemaChangeKind.ADD_CONSTRAINT or kind in WITHOUT_TABLE


def ddl_database(event: SchemaChange) -> str:
    """The database of a statement: as typed if it creates or drops one, "" if Canal does not understand it."""
    if event.kind in (SchemaChangeKind.CREATE_DATABASE, SchemaChangeKind.DROP_DATABASE):
        if _COMMENT_BEFORE_NAME.search(event.sql):
            return ""
        typed = _DATABASE_NAME.search(event.sql)
        return typed[1] if typed else event.database
    if event.kind in (SchemaChangeKind.ALTER_VIEW, SchemaChangeKind.ALTER_USER) or unread(event):
        return ""
    return event.database


def text_table(event: LoggedStatement) -> tuple[str, str]:
    """(database, table) of a statement's text in the log."""
    if event.kind is StatementKind.ROWS_QUERY:
        return "", event.table
    return ("", "") if event.kind is StatementKind.ANNOTATION else (event.database, event.table)


def ddl_table(event: SchemaChange) -> str:
    """The table of a statement: the new name of a rename, "" for statements about databases."""
    renames = event.kind is SchemaChangeKind.RENAME_TABLE
    table = (event.after or event.before) if renames else (event.before or event.after)
    return "" if table is None or unread(event) else backquoted(table.id.name)


def filed_under(event: Event) -> tuple[str, str, str]:
    """(database, schema, table) that decide the topic of a single event: those in the message itself."""
    if isinstance(event, SchemaChange):
        return ddl_database(event), "", ddl_table(event)
    return (text_table(event)[0], "", text_table(event)[1]) if isinstance(event, LoggedStatement) else ("", "", "")
