"""Columns that decide the partition, and their values as a product hashes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pyarrow as pa

from simulator.batch import ChangeBatch
from simulator.delivery.routing import Texts
from simulator.model import UPDATE, Table


def places(table: Table, names: tuple[str, ...] | None, *, unique: bool = False) -> tuple[int, ...]:
    """Indexes of the columns with these scenario names, which a source may spell differently (ORDERS for orders). None:
    the primary key, or the `unique` key that takes its place. `orders.region` names a column of that table alone."""
    if names is None:
        return table.row_key_positions if unique else table.key_positions
    index_by_name = {column.field: index for index, column in enumerate(table.columns)} | dict(table.positions)
    own = table.id.name.lower()
    chosen = [column for owner, _, column in (name.rpartition(".") for name in names) if owner.lower() in ("", own)]
    return tuple(index_by_name[name] for name in chosen if name in index_by_name)


def column_texts(
    batch: ChangeBatch, columns: Sequence[int], texts: Texts, image: Literal["before", "after"], null_text: str
) -> list[pa.Array]:
    """The values of these columns as the product hashes them; for an update, those of its `image`."""
    before = batch.kind is UPDATE and image == "before"
    return [
        texts(batch.table.columns[i], batch.full_before(i) if before else batch.image()[i]).fill_null(null_text)
        for i in columns
    ]
