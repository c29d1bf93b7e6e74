"""Members that several products' messages have: values by kind of event, names, times, positions, and objects with
one member per column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyarrow as pa

from simulator.batch import ChangeBatch, Ints
from simulator.model import DDL, DELETE, INSERT, READ, STATEMENT, UPDATE, Column, Event, Kind, SchemaChange, Table
from simulator.sources.log import Entries, entries, entry
from simulator.text.json_style import JACKSON_BYTES, Style, quote
from simulator.text.template import Piece, repeat
from simulator.wire.fields import Order, PerChange, PerTable, json_text, table_order


def by_row(value: Any, ddl: Any = None, text: Any = None) -> dict[Kind, Any]:
    """A member by kind: one value for all row changes, others for DDL and for texts of the log."""
    return {READ: value, INSERT: value, UPDATE: value, DELETE: value, DDL: ddl, STATEMENT: text}


def table_of(event: SchemaChange) -> Table | None:
    """The table before a DDL statement (for a rename: the old name), or the new table; None without a table."""
    return event.before or event.after


def per_entry(of: Callable[[Entries], Ints | pa.Array]) -> PerChange:
    """A position of each change's entry in the source's log: `per_entry(source.log.position)`. NumPy arrays are written
    as numbers, Arrow arrays as strings."""

    def changes(batch: ChangeBatch) -> Ints | list[Piece]:
        values = of(entries(batch.envelope))
        return values if isinstance(values, np.ndarray) else ['"', values, '"']

    def event(event: Event) -> Any:
        value = of(entry(event))[0]
        if not isinstance(value, pa.Scalar):
            return int(value)
        return str(value) if value.is_valid else None

    return PerChange(changes, event)


def query_texts(batch: ChangeBatch, longest: int = 0) -> pa.Array:
    """The statement of each change as JSON, null where it is unknown (`simulator.delivery.steps.queries`). `longest`:
    maximum UTF-16 units; 0: no limit.
    """
    queries = batch.envelope.query
    if queries is None:  # no step has set the texts of statements
        return repeat("null", len(batch))

    def cut(text: str) -> str:
        return text.encode("utf-16-le")[: 2 * longest].decode("utf-16-le", "ignore") if longest else text

    return pa.array(["null" if text is None else quote(cut(text), JACKSON_BYTES) for text in queries], pa.string())


def key_names(table: Table, style: Style) -> str:
    """The key's columns in key order; [] without a key."""
    return "[" + ",".join(quote(name, style) for name in table.primary_key) + "]"


def row_key_names(table: Table, style: Style) -> str:
    """The columns of the primary key, else of the first NOT NULL unique key; [] without either."""
    return "[" + ",".join(quote(name, style) for name in table.row_key) + "]"


def per_column(of: Callable[[Column], Any], order: Order = table_order, member: Callable[[str], str] = str) -> PerTable:
    """An object with a member per column: `{"id":4}`."""

    def text(table: Table, style: Style) -> str:
        positions = order([column.name for column in table.columns], len(table.columns))
        columns = (table.columns[position] for position in positions)
        return "{" + ",".join(f"{quote(member(c.name), style)}:{json_text(of(c), style)}" for c in columns) + "}"

    return PerTable(text)


def whole_seconds(milliseconds: Any) -> Any:
    """A time cut to whole seconds, in milliseconds."""
    return milliseconds // 1000 * 1000  # NumPy's division by a constant is faster than its remainder


# The names of a row's table, and its times in milliseconds: the commit at the source, and the product's write.
DATABASE: Final = PerTable(lambda table, style: quote(table.id.database, style))
TABLE: Final = PerTable(lambda table, style: quote(table.id.name, style))
EVENT_MS: Final = PerChange(lambda batch: batch.envelope.event_ms, lambda event: event.event_ms)
EVENT_SECOND_MS: Final = PerChange(
    lambda batch: whole_seconds(batch.envelope.event_ms), lambda event: whole_seconds(event.event_ms)
)
# The time of a change in the log: the time of its statement, if the log has it (`Envelope.logged_ms`).
LOGGED_SECOND_MS: Final = PerChange(
    lambda batch: whole_seconds(batch.envelope.logged_ms), lambda event: whole_seconds(event.event_ms)
)
WRITE_MS: Final = PerChange(lambda batch: batch.envelope.write_ms, lambda event: event.write_ms)
