"""Packing by rows events of the binlog: Canal turns each event into one flat message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.batch import ChangeBatch, Ints
from simulator.delivery.pack import Events, Packing, begins_of_statements, changed_by_column
from simulator.model import DELETE, INSERT, UPDATE, Column
from simulator.sources.mysql.row_bytes import event_header, event_starts, packed_row_bytes


@dataclass(frozen=True)
class RowsEvents(Packing):
    """Rows of one statement share an event while `header + Σ row bytes` stays within `max_bytes`, up to `max_rows`
    (None: any number).

    `row_bytes(columns, arrays)` gives the bytes of each row image; `header(columns, images)` those of an event without
    rows, for that many columns and images (two for updates).
    """

    max_bytes: int
    max_rows: int | None = None
    row_bytes: Callable[[Sequence[Column], Sequence[pa.Array]], npt.NDArray[np.int64]] = packed_row_bytes
    header: Callable[[int, int], int] = event_header

    @property
    def reads_values(self) -> bool:
        return True

    def events(self, batch: ChangeBatch) -> Events:
        if batch.kind not in (INSERT, UPDATE, DELETE) or batch.moved or self.max_rows == 1:
            return super().events(batch)
        begins = begins_of_statements(batch)
        if begins.all():
            return super().events(batch)
        starts, changed = self._filled(batch, np.flatnonzero(begins)), changed_by_column(batch)
        return Events(starts, changed and tuple(_accumulate(rows, starts) for rows in changed))

    def _filled(self, batch: ChangeBatch, statements: Ints) -> Ints:
        """Event starts: within a statement a row joins the event while it fits."""
        columns = batch.table.columns
        sizes = self.row_bytes(columns, batch.image())
        images = 1
        if batch.kind is UPDATE:
            images = 2
            sizes = sizes + self.row_bytes(columns, [batch.full_before(i) for i in range(len(columns))])
        room = self.max_bytes - self.header(len(columns), images)
        return event_starts(sizes, statements, room, self.max_rows)


def _accumulate(rows: Ints | None, starts: Ints) -> Ints | None:
    """Rows in which a column counts as changed: those from the first row of the event that changed it."""
    if rows is None or len(starts) == starts[-1] + 1:
        return rows
    count = int(starts[-1])
    last = np.full(count, -1, dtype=np.int64)
    last[rows] = rows
    np.maximum.accumulate(last, out=last)
    begin = np.repeat(starts[:-1], np.diff(starts))
    return np.flatnonzero(last >= begin)
