"""Rows as Python values, for tests and for people: of changes, and of tables before a turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, TypeAlias

import pyarrow as pa

from simulator.batch import ChangeBatch
from simulator.delivery.steps.images import logged_columns
from simulator.model import ABSENT, Column, OrderKey, RowChange, Table
from simulator.sources.source import Source
from simulator.stream.engine.block import Stream
from simulator.truth.expected import as_table

# Values by column name.
Row: TypeAlias = dict[str, Any]


def changes(batch: ChangeBatch, texts: Source | None) -> Iterator[RowChange]:
    """Yields the changes of a batch, with the columns that the log holds. `texts`: values are texts, as this system's
    client prints them."""
    batch = logged_columns(batch)
    count, envelope = len(batch), batch.envelope
    columns = batch.table.columns
    after = [None] * count if batch.after is None else _rows(columns, batch.after, texts)
    before: Sequence[Row | None] = [None] * count
    if batch.before is not None:
        logged = [i for i, old in enumerate(batch.before) if old is not ABSENT]
        before = _rows([columns[i] for i in logged], [batch.full_before(i) for i in logged], texts)
    for row in range(count):
        order = OrderKey(envelope.phase, int(envelope.turn[row]), int(envelope.ordinal[row]))
        yield RowChange(order, batch.kind, batch.table.id, batch.table.primary_key, before[row], after[row])


def tables_before(stream: Stream, turn: int, texts: Source | None) -> Iterator[tuple[Table, list[Row]]]:
    """Every table before a turn, with its rows in memory."""
    for table, parts in groupby(stream.rows_at(turn), key=lambda part: part[0]):
        yield table, [row for _, columns in parts for row in _rows(table.columns, columns, texts)]


def _rows(columns: Sequence[Column], values: Sequence[pa.Array], texts: Source | None) -> list[Row]:
    rows: list[Row] = as_table(columns, values, texts).to_pylist()
    return rows
