"""Actions of rows and DDL; which DDL CloudCanal publishes, of which table, with which text and `tableChanges`.

The choices of a job are CREATE, ALTER, RENAME and TRUNCATE. Decisions: the actions of statements about indexes and
databases, which are published only when asked for (`ddl_statements=all`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from simulator.formats.cloudcanal.options import CommonOptions
from simulator.formats.cloudcanal.systems import library_of
from simulator.formats.cloudcanal.types import code, expression
from simulator.formats.format import Settings
from simulator.formats.members import table_of
from simulator.model import (
    ABSENT,
    DELETE,
    INSERT,
    READ,
    UPDATE,
    Column,
    Kind,
    SchemaChange,
    SchemaChangeKind,
    Table,
)

ROW_ACTIONS: Final[Mapping[Kind, str]] = {READ: "INSERT", INSERT: "INSERT", UPDATE: "UPDATE", DELETE: "DELETE"}

ACTIONS: Final[Mapping[SchemaChangeKind, str]] = {
    SchemaChangeKind.CREATE_TABLE: "CREATE",
    SchemaChangeKind.ADD_COLUMN: "ALTER",
    SchemaChangeKind.ALTER_COLUMN_TYPE: "ALTER",
    SchemaChangeKind.RENAME_COLUMN: "ALTER",
    SchemaChangeKind.DROP_COLUMN: "ALTER",
    SchemaChangeKind.RENAME_TABLE: "RENAME",
    SchemaChangeKind.TRUNCATE_TABLE: "TRUNCATE",
    SchemaChangeKind.DROP_TABLE: "DROP",
    SchemaChangeKind.CREATE_INDEX: "CREATE",
    SchemaChangeKind.DROP_INDEX: "DROP",
    SchemaChangeKind.CREATE_DATABASE: "CREATE",
    SchemaChangeKind.DROP_DATABASE: "DROP",
}

_NOT_OF_TABLES: Final = frozenset(
    {
        SchemaChangeKind.CREATE_INDEX,
        SchemaChangeKind.DROP_INDEX,
        SchemaChangeKind.CREATE_DATABASE,
        SchemaChangeKind.DROP_DATABASE,
    }
)

# What `ddl_statements` takes.
PUBLISHED: Final[Mapping[str, frozenset[SchemaChangeKind]]] = {
    "tables": frozenset(ACTIONS) - _NOT_OF_TABLES - {SchemaChangeKind.DROP_TABLE},
    "drop": frozenset(ACTIONS) - _NOT_OF_TABLES,
    "all": frozenset(ACTIONS),
}


def action(event: SchemaChange, settings: Settings[CommonOptions]) -> str:
    """The action of a statement. Up to 5.2.0.0 a TRUNCATE of PostgreSQL was tagged ALTER TABLE."""
    return "ALTER" if _old_truncate(event, settings) else ACTIONS[event.kind]


def _old_truncate(event: SchemaChange, settings: Settings[CommonOptions]) -> bool:
    old = settings.options.pg_truncate == "alter" and library_of(settings).triggers
    return old and event.kind is SchemaChangeKind.TRUNCATE_TABLE


def subject(event: SchemaChange, settings: Settings[CommonOptions]) -> Table | None:
    """The table of a statement, as it was subscribed: the old one of a rename, unless the option says so."""
    if event.kind is SchemaChangeKind.RENAME_TABLE and settings.options.rename_table == "new":
        return event.after
    return table_of(event)


def columns_after(event: SchemaChange) -> tuple[Column, ...]:
    """The columns after the statement; none of a dropped table."""
    return event.after.columns if event.after else ()


def sql(event: SchemaChange, settings: Settings[CommonOptions]) -> str:
    """The statement without a semicolon at its end; the old TRUNCATE of PostgreSQL as its trigger wrote it."""
    if _old_truncate(event, settings) and event.before is not None:
        return f"TRUNCATE {event.before.id.schema}.{event.before.id.name}"
    return event.sql.rstrip().removesuffix(";").rstrip()


def table_changes(event: SchemaChange, settings: Settings[CommonOptions]) -> Any:
    """`tableChanges`: the table after the statement, columns in table order from position 0. ABSENT of sources
    other than MySQL's family, and where the statement is about no table."""
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
    return {"table": {"columns": columns, "primaryKeyColumnNames": keys}, "type": ACTIONS[event.kind]}
