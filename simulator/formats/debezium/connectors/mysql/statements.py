"""DDL of MySQL and MariaDB as messages of the topic of schema changes (`MySqlAntlrDdlParser`, `DdlParserListener`).

| statement | messages |
| --- | --- |
| CREATE TABLE; ALTER TABLE, whatever it does | one: CREATE, or ALTER with the table after it |
| CREATE UNIQUE INDEX of columns, of a table without a key | one: ALTER with the table after it |
| other CREATE INDEX, DROP INDEX | one without changes |
| RENAME TABLE | one for each table, with a text of its own in lower case: ALTER with the new name |
| DROP TABLE | one for each table, with a text of its own |
| of databases; of events; FLUSH | one without changes |
| views, routines, triggers, accounts, ANALYZE | none |
| TRUNCATE TABLE | one of the table's own topic |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from simulator.formats.debezium.connectors.connector import Published, SnapshotOpened, TableChange, members_of
from simulator.formats.debezium.connectors.mysql.literals import single_quoted
from simulator.model import SchemaChange, SchemaChangeKind, Table, TableId

K = SchemaChangeKind
# Statements that belong to no table but have a message.
_SENT: Final = re.compile(
    r"(?:CREATE\s+(?:DEFINER\s*=\s*\S+\s+)?|DROP\s+|ALTER\s+(?:DEFINER\s*=\s*\S+\s+)?)EVENT\b|FLUSH\b(?!\s+LOGS)",
    re.IGNORECASE,
)
# Words of a statement, and what its parser does not see: blanks, comments, the borders of version comments.
_TOKENS: Final = re.compile(
    r"""(?P<hidden>\s+|/\*(?!M?!).*?\*/|/\*M?!\d*|\*/|--(?=\s|\Z)[^\n]*|\#[^\n]*)"""
    r"""|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|[^\s/*\#'"`-]+|.""",
    re.DOTALL,
)
# What the context of CREATE UNIQUE INDEX leaves out in the grammar of MySQL, not in that of MariaDB.
BEFORE_UNIQUE: Final = re.compile(r"CREATE(?:\s|/\*.*?\*/)+(?=UNIQUE\b)", re.IGNORECASE | re.DOTALL)
_IF_EXISTS: Final = re.compile(r"\bTABLE\s+IF\s+EXISTS\b", re.IGNORECASE)
OF_DATABASE: Final = frozenset({K.CREATE_DATABASE, K.DROP_DATABASE, K.ALTER_DATABASE})
SILENT: Final = frozenset({K.VIEW, K.ALTER_VIEW, K.ALTER_USER, K.ACCOUNT})


def quoted_id(table: TableId) -> str:
    """`"shop"."orders"`."""
    return ".".join(f'"{part}"' for part in (table.database, table.schema, table.name) if part)


def parsed_text(sql: str) -> str:
    """A statement from its first word to its last, as the parser reports it: comments around it are not.

    >>> parsed_text("/* a */ create table t(i int /* b */) /*!50100 comment 'x' */ -- c")
    "create table t(i int /* b */) /*!50100 comment 'x'"
    """
    words = [match.span() for match in _TOKENS.finditer(sql) if match["hidden"] is None]
    return sql[words[0][0] : words[-1][1]] if words else sql


def published(
    event: SchemaChange, known_key: Callable[[Table], tuple[str, ...]], omitted: re.Pattern[str] | None
) -> Iterator[Published]:
    """The messages of a statement. `known_key`: the key of a table that the parser knows; `omitted` by the text of an
    index that makes one."""
    kind = event.statement
    tables = [pair for pair in event.tables if any(pair)]
    if kind is K.TRUNCATE_TABLE:
        for before, after in tables:
            table = after or before
            assert table is not None
            yield _message(event, event.sql, table.id.name, truncated=table)
    elif kind is K.DROP_TABLE:
        names = ",".join(sorted(table.id.name for table, _ in tables if table))
        if_exists = "IF EXISTS " if _IF_EXISTS.search(event.sql) else ""
        for table, _ in tables:
            assert table is not None
            yield _message(
                event,
                f"DROP TABLE {if_exists}`{table.id.database}`.`{table.id.name}`",
                _names_in(tables, table) if len({t.id.database for t, _ in tables if t}) > 1 else names,
                (TableChange("DROP", quoted_id(table.id), None),),
                database=table.id.database,
            )
    elif kind is K.RENAME_TABLE and len(tables) > 1:
        names = ",".join(sorted(after.id.name for _, after in tables if after))
        for before, after in tables:
            assert before is not None
            assert after is not None
            yield _message(event, f"rename table {before.id.name} to {after.id.name}", names, (_altered(after),))
    elif tables and tables[0][1] is not None and tables[0][1].columns and kind not in OF_DATABASE:
        table = tables[0][1]
        created = kind is K.CREATE_TABLE
        if kind is K.CREATE_INDEX and _makes_key(event, known_key):
            text = parsed_text(single_quoted(event.sql))
            text = omitted.sub("", text, 1) if omitted else text
            yield _message(event, text, table.id.name, (_altered(table),), database=table.id.database)
        elif (created and tables[0][0] is not None) or kind in (
            K.CREATE_INDEX,
            K.DROP_INDEX,
        ):  # IF NOT EXISTS of a database that exists
            yield _message(event, event.sql, "")
        else:
            yield _message(
                event,
                parsed_text(single_quoted(event.sql)),
                table.id.name,
                (TableChange("CREATE" if created else "ALTER", quoted_id(table.id), table),),
                database=table.id.database,
            )
    else:
        yield _message(event, event.sql, None if kind in (K.CREATE_DATABASE, K.DROP_DATABASE) else "")


def _makes_key(event: SchemaChange, known_key: Callable[[Table], tuple[str, ...]]) -> bool:
    """Tests for a unique index of columns, whether they may be null or not, of a table without a key."""
    before, after = event.tables[0]
    if before is None or after is None or known_key(before):
        return False
    return len(after.unique_keys) > len(before.unique_keys)


def opened(event: SnapshotOpened, collation: str) -> Iterator[Published]:
    """The statements before a snapshot: they drop all tables and databases, then create the databases with their
    tables."""

    def message(sql: str, database: str, table: str | None, *changes: TableChange) -> Published:
        return _message(event, sql, table, changes, database=database)

    charset = f"utf8mb4 COLLATE {collation}"
    yield message(f"SET character_set_server=utf8mb4, collation_server={collation}", "", None)
    for table, _ in event.created:
        id = table.id
        change = TableChange("DROP", quoted_id(id), None)
        yield message(f"DROP TABLE IF EXISTS `{id.database}`.`{id.name}`", id.database, id.name, change)
    for database in dict.fromkeys(table.id.database for table, _ in event.created):
        yield message(f"DROP DATABASE IF EXISTS `{database}`", database, None)
        yield message(f"CREATE DATABASE `{database}` CHARSET {charset}", database, None)
        yield message(f"USE `{database}`", database, None)
        for table, text in event.created:
            if table.id.database == database:
                created = TableChange("CREATE", quoted_id(table.id), table)
                yield message(text, database, table.id.name, created)


def _names_in(tables: Any, table: Table) -> str:
    return ",".join(sorted(other.id.name for other, _ in tables if other and other.id.database == table.id.database))


def _altered(table: Table) -> TableChange:
    return TableChange("ALTER", quoted_id(table.id), table)


def _message(
    event: SchemaChange,
    sql: str,
    table_names: str | None,
    changes: tuple[TableChange, ...] = (),
    *,
    database: str | None = None,
    truncated: Table | None = None,
) -> Published:
    members = members_of(event)
    members |= {"sql": sql, "database": event.database if database is None else database}
    row = getattr(event, "row", 0)
    return Published(**members, table_names=table_names, changes=changes, truncated=truncated, row=row)


def is_sent(event: SchemaChange) -> bool:
    """Tests whether a statement that belongs to no table has a message."""
    return _SENT.match(event.sql.lstrip()) is not None
