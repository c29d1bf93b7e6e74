"""Actions of rows and DDL; the DDL that CloudCanal publishes, its table, its text and its `tableChanges`.

A job can choose CREATE, ALTER, RENAME and TRUNCATE; an ALTER TABLE is always ALTER, whatever its items are. A statement
about several tables becomes one message per table, in that table's topic. Decisions: the actions of statements about
indexes and databases, which are published only on request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from simulator.formats.cloudcanal.options import CommonOptions, JobOptions
from simulator.formats.cloudcanal.systems import library_of
from simulator.formats.cloudcanal.types import code, expression
from simulator.formats.format import Settings
from simulator.formats.members import table_of
from simulator.model import ABSENT, DELETE, INSERT, READ, UPDATE, Column, Kind, SchemaChange, SchemaChangeKind, Table

_QUOTED: Final = re.compile(r"""('(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")""")

ROW_ACTIONS: Final[Mapping[Kind, str]] = {READ: "INSERT", INSERT: "INSERT", UPDATE: "UPDATE", DELETE: "DELETE"}

_ALTERS: Final = (
    SchemaChangeKind.ALTER_TABLE,
    SchemaChangeKind.ADD_COLUMN,
    SchemaChangeKind.ALTER_COLUMN_TYPE,
    SchemaChangeKind.RENAME_COLUMN,
    SchemaChangeKind.DROP_COLUMN,
    SchemaChangeKind.TABLE_OPTIONS,
    SchemaChangeKind.ADD_CONSTRAINT,
    SchemaChangeKind.DROP_FOREIGN_KEY,
)
# The words of `ddl_statements`, and the action of each kind of statement.
CHOICES: Final[Mapping[str, Mapping[SchemaChangeKind, str]]] = {
    "create": {SchemaChangeKind.CREATE_TABLE: "CREATE"},
    "alter": dict.fromkeys(_ALTERS, "ALTER"),
    "rename": {SchemaChangeKind.RENAME_TABLE: "RENAME"},
    "truncate": {SchemaChangeKind.TRUNCATE_TABLE: "TRUNCATE"},
    "drop": {SchemaChangeKind.DROP_TABLE: "DROP"},
    "index": {SchemaChangeKind.CREATE_INDEX: "CREATE", SchemaChangeKind.DROP_INDEX: "DROP"},
    "database": {
        SchemaChangeKind.CREATE_DATABASE: "CREATE",
        SchemaChangeKind.ALTER_DATABASE: "ALTER",
        SchemaChangeKind.DROP_DATABASE: "DROP",
    },
}
ACTIONS: Final = {kind: action for actions in CHOICES.values() for kind, action in actions.items()}


def published(options: JobOptions) -> frozenset[SchemaChangeKind]:
    """The kinds of statements that a job publishes."""
    return frozenset(kind for word in options.ddl_statements.split("+") for kind in CHOICES[word])


def action(event: SchemaChange, settings: Settings[CommonOptions]) -> str:
    """The action of a statement. Up to 5.2.0.0 a TRUNCATE of PostgreSQL was tagged ALTER TABLE."""
    return "ALTER" if _old_truncate(event, settings) else ACTIONS[event.statement]


def _old_truncate(event: SchemaChange, settings: Settings[CommonOptions]) -> bool:
    old = settings.options.pg_truncate == "alter" and library_of(settings).triggers
    return old and event.kind is SchemaChangeKind.TRUNCATE_TABLE


def subject(event: SchemaChange, settings: Settings[CommonOptions]) -> Table | None:
    """The table of a statement, as it was subscribed: for a rename the old one, unless the option chooses the new."""
    if event.kind is SchemaChangeKind.RENAME_TABLE and settings.options.rename_table == "new":
        return event.after
    return table_of(event)


def columns_after(event: SchemaChange) -> tuple[Column, ...]:
    """The columns after the statement; empty for a dropped table."""
    return event.after.columns if event.after else ()


def sql(event: SchemaChange, settings: Settings[CommonOptions]) -> str:
    """The statement without a semicolon at its end; the old TRUNCATE of PostgreSQL as its trigger wrote it.

    The page's real message lost the database of `alter table alltype_mysql.aaa`; so does any statement of MySQL's
    family about tables of one database."""
    if _old_truncate(event, settings) and event.before is not None:
        return f"TRUNCATE {event.before.id.schema}.{event.before.id.name}"
    text = event.sql.rstrip().removesuffix(";").rstrip()
    databases = {table.id.database for pair in event.tables for table in pair if table}
    return unqualified(text, *databases) if library_of(settings).table_changes and len(databases) == 1 else text


def unqualified(text: str, database: str) -> str:
    """A statement without this database before names; quoted texts stay.

    >>> unqualified("ALTER TABLE `shop`.t ADD c int COMMENT 'shop.t'", "shop")
    "ALTER TABLE t ADD c int COMMENT 'shop.t'"
    """
    name = re.escape(database)
    qualifier = re.compile(rf"(?<![\w`$.])(?:`{name}`|{name})\s*\.\s*(?=[`\w])", re.IGNORECASE)
    parts = _QUOTED.split(text)  # quoted texts have odd indexes
    parts[::2] = [qualifier.sub("", part) for part in parts[::2]]
    return "".join(parts)


def table_changes(event: SchemaChange, settings: Settings[CommonOptions]) -> Any:
    """`tableChanges`: the table after the statement, columns in table order from position 0. ABSENT for sources
    outside MySQL's family, and for statements that belong to no table."""
    if not library_of(settings).table_changes or subject(event, settings) is None:
        return ABSENT
    columns = [
        {
            "jdbcType": code(column, settings),
            "name": column.name,
            "position": position,
            "typeExpression": expression(column, settings),
            "typeName": column.type.name,
        }
        for position, column in enumerate(columns_after(event))
    ]
    keys = list(event.after.primary_key) if event.after else []
    return {"table": {"columns": columns, "primaryKeyColumnNames": keys}, "type": ACTIONS[event.statement]}
