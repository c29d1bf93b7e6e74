"""Row images reduced to the columns in the source's log."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from simulator.batch import ChangeBatch
from simulator.delivery.steps import Changes
from simulator.model import ABSENT, DELETE, UPDATE, Table


def logged_images(changes: Changes) -> Changes:
    """Keeps only the columns that the images in the log hold."""
    return replace(changes, batches=[logged_columns(batch) for batch in changes.batches])


def logged_columns(batch: ChangeBatch) -> ChangeBatch:
    """The batch with only the columns of its after image (for a delete, its before image): a reader of the log does not
    see others. Columns that the before image lacks are ABSENT.
    """
    logged = batch.logged
    if logged is None:
        return batch
    logged_image = logged.before if batch.kind is DELETE else logged.after
    if logged_image is None:
        logged_image = tuple(range(len(batch.table.columns)))
    after = None if batch.after is None else tuple(batch.after[i] for i in logged_image)
    before = None if batch.before is None else tuple(batch.before[i] for i in logged_image)
    if batch.kind is UPDATE and before is not None and logged.before is not None:
        held = set(logged.before)
        before = tuple(old if i in held else ABSENT for i, old in zip(logged_image, before, strict=True))
    return replace(batch, table=_with_columns(batch.table, logged_image), after=after, before=before, logged=None)


@lru_cache(maxsize=1024)
def _with_columns(table: Table, positions: tuple[int, ...]) -> Table:
    columns = tuple(table.columns[position] for position in positions)
    names = {column.name for column in columns}
    return replace(
        table,
        columns=columns,
        primary_key=tuple(name for name in table.primary_key if name in names),
        unique_keys=tuple(key for key in table.unique_keys if names.issuperset(key.columns)),
        text_key=None if table.text_key is None else tuple(name for name in table.text_key if name in names),
    )
