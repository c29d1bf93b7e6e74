"""How the columns of tables are written by one encoder: chosen once a column, kept for the tables that come again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pyarrow as pa

from simulator.model import Column, Table
from simulator.text.json_style import Style
from simulator.text.template import join
from simulator.wire.fields import Cell, Cells, Order, PerTable

# Dictionaries that are kept in finished form.
KEPT_DICTIONARIES: Final = 512


class WrittenColumns:
    """Cells of columns, texts of tables and dictionaries in finished form; the order and names of members in maps."""

    def __init__(self, cells: Cells, style: Style, order: Order, member: Callable[[str], str]) -> None:
        self.style, self.order, self.member = style, order, member
        self._cells = cells
        self._known: dict[tuple[Column, Cells], Cell] = {}
        self._tables: dict[tuple[Table, PerTable], str] = {}
        self._surrounded: dict[tuple[str, str, int, int, int], tuple[pa.Array, pa.Array]] = {}

    def cell(self, column: Column, cells: Cells | None = None) -> Cell:
        """The cell of a column, chosen once."""
        key = (column, cells or self._cells)
        if key not in self._known:
            self._known[key] = key[1](column)
        return self._known[key]

    def per_table(self, value: PerTable, table: Table) -> str:
        """The text of a placeholder for a table version, made once."""
        key = (table, value)
        if key not in self._tables:
            self._tables[key] = value.of(table, self.style)
        return self._tables[key]

    def surrounded(self, before: str, values: pa.Array, after: str, null: str) -> pa.Array:
        """Values of a dictionary with text before and after each, and behind them what stands for a null. Pools come
        again with every batch and are kept."""
        data = values.buffers()[2]
        key = (before, null, data.address if data is not None else 0, values.offset, len(values))
        if key not in self._surrounded:
            if len(self._surrounded) >= KEPT_DICTIONARIES:
                self._surrounded.clear()
            whole = pa.concat_arrays([join([before, values, after], len(values)), pa.array([null], pa.string())])
            # the values are kept, too, so that their address is not given to others
            self._surrounded[key] = (values, whole)
        return self._surrounded[key][1]
