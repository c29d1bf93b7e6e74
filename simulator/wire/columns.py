"""Rendering of columns by one encoder: chosen once per column and cached per table."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final

import pyarrow as pa

from simulator.model import Table
from simulator.text.json_style import Style, escape, quote
from simulator.text.template import join
from simulator.wire.fields import Cell, Cells, Order, PerTable, plain

# Maximum number of cached dictionaries.
KEPT_DICTIONARIES: Final = 512


class Dictionaries:
    """Cache of rendered dictionaries. Pools return with every batch, and are rendered once."""

    def __init__(self) -> None:
        self._made: dict[tuple[Hashable, int, int, int], tuple[pa.Array, pa.Array]] = {}

    def of(self, values: pa.Array, how: Hashable, make: Callable[[pa.Array], pa.Array]) -> pa.Array:
        """`make(values)`, made once for these values and `how`."""
        offsets = values.buffers()[1]
        key = (how, offsets.address if offsets is not None else 0, values.offset, len(values))
        if key not in self._made:
            if len(self._made) >= KEPT_DICTIONARIES:
                self._made.clear()
            # keep the values, too: their address is the key and must not be reused
            self._made[key] = (values, make(values))
        return self._made[key][1]


class WrittenTable:
    """Cached rendering of a table version: names and cells of columns, texts of placeholders."""

    def __init__(self, table: Table, cells: Cells, style: Style, member: Callable[[str], str]) -> None:
        self.table = table
        self.names = [column.name for column in table.columns]
        self.quoted = [quote(member(name), style) for name in self.names]
        self._style, self._cells, self._dictionaries = style, cells, Dictionaries()
        self._known: dict[tuple[int, Cells], Cell] = {}
        self._texts: dict[PerTable, str] = {}

    def cell(self, column: int, cells: Cells | None = None) -> Cell:
        """The cell of the column at this index."""
        key = (column, cells or self._cells)
        if key not in self._known:
            self._known[key] = key[1](self.table.columns[column])
        return self._known[key]

    def texts(self, column: int, array: pa.Array) -> pa.Array:
        """Values of the column at this index as text, escaped; nulls kept."""
        if pa.types.is_dictionary(array.type):
            values = self._dictionaries.of(array.dictionary, column, lambda values: plain(self.texts(column, values)))
            encoded = pa.DictionaryArray.from_arrays(array.indices, values, safe=False)
            return plain(encoded) if values.null_count else encoded
        cell = self.cell(column)
        text = cell.text(array)
        return escape(text, self._style) if cell.escaped else text

    def text(self, value: PerTable) -> str:
        """The text of a placeholder."""
        if value not in self._texts:
            self._texts[value] = value.of(self.table, self._style)
        return self._texts[value]


class WrittenColumns:
    """Caches of the tables seen so far and of rendered dictionaries; the order of members in maps."""

    def __init__(self, cells: Cells, style: Style, order: Order, member: Callable[[str], str]) -> None:
        self.style, self.order = style, order
        self._cells, self._member = cells, member
        self._tables: dict[Table, WrittenTable] = {}
        self._surrounded = Dictionaries()

    def table(self, table: Table) -> WrittenTable:
        """The table's cached rendering. Call once per batch: the look-up compares whole tables."""
        if table not in self._tables:
            self._tables[table] = WrittenTable(table, self._cells, self.style, self._member)
        return self._tables[table]

    def surrounded(self, before: str, values: pa.Array, after: str, null: str) -> pa.Array:
        """Values of a dictionary with text before and after each; the last entry is the text for null."""

        def with_text(values: pa.Array) -> pa.Array:
            return pa.concat_arrays([join([before, values, after], len(values)), pa.array([null], pa.string())])

        return self._surrounded.of(values, (before, null), with_text)
