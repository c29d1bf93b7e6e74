"""The values of a row's key as members: put together, and as a JSON object in a string.

The key is the primary key, or the first unique key that is NOT NULL of a table without one (decided here).
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from simulator.batch import ChangeBatch
from simulator.formats.oms.types.columns import Columns
from simulator.model import READ, UPDATE, Table
from simulator.text.json_style import JACKSON, escape, quote
from simulator.text.template import Piece, join, repeat
from simulator.wire.fields import PerChange, inner_text


def key_texts(batch: ChangeBatch, columns: Columns) -> list[Piece]:
    """The values of each row's key, in key order, as they look in the row but without quotes, escaped; of an update
    those before it."""
    texts = []
    for position in batch.table.row_key_positions:
        values = batch.full_before(position) if batch.kind is UPDATE else batch.image()[position]
        cell = columns.cell(batch.table.columns[position], full=batch.kind is READ)
        texts.append(inner_text(cell, values, JACKSON))
    return texts


def key_values(columns: Columns, *, lead: Callable[[Table], str] | None = None) -> PerChange:
    """The values of the key with U+0001 between, as a JSON string that begins with `lead`.

    Without a key null, or the lead alone.
    """

    def of(batch: ChangeBatch) -> pa.Array | list[Piece]:
        texts = key_texts(batch, columns)
        if not texts and lead is None:
            return repeat("null", len(batch))
        before = "" if lead is None else quote(lead(batch.table), JACKSON)[1:-1]
        pieces: list[Piece] = [f'"{before}']
        for number, text in enumerate(texts):
            pieces += [r"\u0001" if number else "", text]
        return [*pieces, '"']

    return PerChange(of)


def key_object(columns: Columns) -> PerChange:
    """The key as a JSON object in a JSON string; null without a key."""

    def of(batch: ChangeBatch) -> pa.Array | list[Piece]:
        table = batch.table
        if not table.row_key:
            return repeat("null", len(batch))
        pieces: list[Piece] = ["{"]
        for number, (name, text) in enumerate(zip(table.row_key, key_texts(batch, columns), strict=True)):
            mark = '"' if columns.cell(table.columns[table.positions[name]]).quoted else ""
            lead = f"{',' if number else ''}{quote(name, JACKSON)}:{mark}"
            pieces += [lead, text, mark]
        return ['"', escape(join([*pieces, "}"], len(batch)), JACKSON), '"']

    return PerChange(of)
