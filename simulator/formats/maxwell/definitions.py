"""DDL as Maxwell writes it: what changed, with the whole definition of the table.

Source: zendesk/maxwell `schema/ddl/*.java`, `ColumnDefSerializer.java`, and messages captured from 1.44.0. TRUNCATE,
indexes of their own and statements about no table are not sent.
"""

from __future__ import annotations

import re
from typing import Any, Final

from simulator.formats.maxwell.cells import as_typed, is_unsigned
from simulator.model import Column, SchemaChange, SchemaChangeKind, Table
from simulator.sources.mysql.type_table import DEFAULT_CHARSET, family

_CHARSET: Final = re.compile(r"\b(?:character\s+set|charset)\s*=?\s*['\"`]?(\w+)", re.IGNORECASE)
# Kinds of statement that are sent: those that change Maxwell's picture of the tables.
STATEMENTS: Final = frozenset(
    {
        SchemaChangeKind.CREATE_DATABASE,
        SchemaChangeKind.ALTER_DATABASE,
        SchemaChangeKind.DROP_DATABASE,
        SchemaChangeKind.CREATE_TABLE,
        SchemaChangeKind.ALTER_TABLE,
        SchemaChangeKind.RENAME_TABLE,
        SchemaChangeKind.DROP_TABLE,
    }
)


def change(event: SchemaChange, *, stored: bool = False) -> dict[str, Any]:
    """The members of a DDL message before `ts`. `stored`: Maxwell has the tables from its own store, where the key
    comes last (captured after a restart)."""
    match event.kind:
        case SchemaChangeKind.CREATE_DATABASE | SchemaChangeKind.ALTER_DATABASE as kind:
            creates = kind is SchemaChangeKind.CREATE_DATABASE
            charset = _CHARSET.search(event.sql)
            default = DEFAULT_CHARSET if creates else None
            return {
                "type": "database-create" if creates else "database-alter",
                "database": event.database,
                "charset": charset[1].lower() if charset else default,
            }
        case SchemaChangeKind.DROP_DATABASE:
            return {"type": "database-drop", "database": event.database}
    before, after = event.before, event.after
    if after is None:
        assert before is not None
        return {"type": "table-drop", "database": before.id.database, "table": before.id.name}
    if before is None:
        return {
            "type": "table-create",
            "database": after.id.database,
            "table": after.id.name,
            "def": definition(after, stored=stored),
        }
    return {
        "type": "table-alter",
        "database": before.id.database,
        "table": before.id.name,
        "old": definition(before, stored=stored),
        "def": definition(after, stored=stored),
    }


def definition(table: Table, *, stored: bool = False) -> dict[str, Any]:
    """A table as Maxwell keeps it."""
    key = {"primary-key": list(table.primary_key)}
    columns = {"columns": [column_definition(column) for column in table.columns]}
    head = {"database": table.id.database, "charset": DEFAULT_CHARSET, "table": table.id.name}
    return {**head, **columns, **key} if stored else {**head, **key, **columns}


def column_definition(column: Column) -> dict[str, Any]:
    """`{"type":"int","name":"id","signed":true}`."""
    type, words = column.type, family(column.type)
    # FLOAT(53) is a DOUBLE to the server alone
    name = "float" if type.spelled.lower().startswith("float") else type.name
    members: dict[str, Any] = {"type": name, "name": column.name}
    match words:
        case "text":
            members["charset"] = type.charset or DEFAULT_CHARSET
        case "binary":
            members["charset"] = "binary"
        case "integer":
            members["signed"] = not is_unsigned(type)
        case "enum" | "set":
            members["enum-values"] = [as_typed(label) for label in type.labels]
        case "datetime" | "time":
            members["column-length"] = type.length or 0
    return members
