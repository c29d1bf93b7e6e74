"""Names of databases, tables and statements in messages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from simulator.formats.format import Settings
from simulator.formats.oms.options import EventOptions
from simulator.formats.oms.systems import system_of
from simulator.model import SchemaChange, SchemaChangeKind, Table
from simulator.text.json_style import quote
from simulator.wire.fields import PerTable


class Statement(NamedTuple):
    """A kind of DDL: its `ddlType` in Default, and its event type in Canal and Dataworks."""

    ddl_type: str
    word: str


_ON: Final = re.compile(r"\bON\b", re.IGNORECASE)
_ALTER: Final = Statement("ALTER TABLE", "ALTER")

# ddlType: wentaojin/dbms for CREATE, ALTER, DROP and RENAME TABLE; the rest is decided, as are all words: Canal's.
# An ALTER TABLE is one whatever its items are, as the vendor counts ADD INDEX. Statements about databases are not
# synchronized.
STATEMENTS: Final[Mapping[SchemaChangeKind, Statement]] = {
    SchemaChangeKind.CREATE_TABLE: Statement("CREATE TABLE", "CREATE"),
    SchemaChangeKind.ADD_COLUMN: _ALTER,
    SchemaChangeKind.ALTER_COLUMN_TYPE: _ALTER,
    SchemaChangeKind.RENAME_COLUMN: _ALTER,
    SchemaChangeKind.DROP_COLUMN: _ALTER,
    SchemaChangeKind.ALTER_TABLE: _ALTER,
    SchemaChangeKind.TABLE_OPTIONS: _ALTER,
    SchemaChangeKind.ADD_CONSTRAINT: _ALTER,
    SchemaChangeKind.DROP_FOREIGN_KEY: _ALTER,
    SchemaChangeKind.DROP_TABLE: Statement("DROP TABLE", "ERASE"),
    SchemaChangeKind.RENAME_TABLE: Statement("RENAME TABLE", "RENAME"),
    SchemaChangeKind.TRUNCATE_TABLE: Statement("TRUNCATE TABLE", "TRUNCATE"),
    SchemaChangeKind.CREATE_INDEX: Statement("CREATE INDEX", "CINDEX"),
    SchemaChangeKind.DROP_INDEX: Statement("DROP INDEX", "DINDEX"),
}


def word(event: SchemaChange) -> str:
    """`type` of Canal, `op` of Dataworks."""
    return STATEMENTS[event.statement].word


def db_type(settings: Settings[EventOptions]) -> str:
    return settings.options.db_type or system_of(settings).db_type


def database_of(table: Table) -> str:
    """The database of a table; in systems with schemas the schema, as in Oracle mode."""
    return table.id.schema or table.id.database


def subject(event: SchemaChange) -> Table | None:
    """The table of a statement: under its new name after a rename."""
    return event.after or event.before


def event_database(event: SchemaChange) -> str:
    table = subject(event)
    return database_of(table) if table else event.database


def event_table(event: SchemaChange) -> str | None:
    """The table as the statement's text names it: DROP INDEX of Oracle mode names none."""
    table = subject(event)
    return table.id.name if table and names_table(event) else None


def names_table(event: SchemaChange) -> bool:
    return event.statement is not SchemaChangeKind.DROP_INDEX or _ON.search(event.sql) is not None


DATABASE: Final = PerTable(lambda table, style: quote(database_of(table), style))
