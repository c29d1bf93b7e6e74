"""Members that messages of several products have: values by kind of event, names of key columns."""

from __future__ import annotations

from typing import Any

from simulator.model import DDL, DELETE, INSERT, READ, STATEMENT, UPDATE, Kind, SchemaChange, Table
from simulator.text.json_style import Style, quote


def by_row(value: Any, ddl: Any = None, text: Any = None) -> dict[Kind, Any]:
    """The same for all kinds that change rows, others for DDL and for texts of the log."""
    return {READ: value, INSERT: value, UPDATE: value, DELETE: value, DDL: ddl, STATEMENT: text}


def table_of(event: SchemaChange) -> Table | None:
    """The table of a DDL statement as it was before, so the old name of a rename; a new table; None for no table."""
    return event.before or event.after


def key_names(table: Table, style: Style) -> str:
    """The key's columns in key order; [] without a key."""
    return "[" + ",".join(quote(name, style) for name in table.primary_key) + "]"


def whole_seconds(milliseconds: Any) -> Any:
    """A time that the source knows to the second, in milliseconds."""
    return milliseconds - milliseconds % 1000
