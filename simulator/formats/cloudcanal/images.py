"""The images of rows: what stands of a row in messages of each kind."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

from simulator.batch import ChangeBatch
from simulator.formats.cloudcanal.options import CommonOptions
from simulator.formats.format import Settings
from simulator.formats.logged import LoggedRows, rows_of
from simulator.model import Table
from simulator.wire.fields import Rows


class Images(NamedTuple):
    """Of an inserted row, of an update after and before it, and of a deleted row."""

    inserted: Rows
    after: Rows
    before: Rows
    deleted: Rows


# REPLICA IDENTITY with which old rows are their key.
KEY_ALONE: Final = frozenset({"default"})


def key_positions(table: Table) -> tuple[int, ...]:
    """Positions of the key's columns, in table order."""
    return tuple(sorted(table.key_positions))


def images(settings: Settings[CommonOptions], *, array: bool, changed: bool = False) -> Images:
    """`array`: rows stand in an array; `changed`: an update shows only the changed columns of the row before it.

    With `increLogMinimal` an update has the key and the changed columns, a deleted row its key. Of PostgreSQL without
    REPLICA IDENTITY FULL old rows are the key alone.
    """
    options = settings.options
    row = partial(Rows, array=array)
    after, before = (row(image, skip_nulls=options.null_columns == "omit") for image in ("after", "before"))
    key = row("before", columns=key_positions)
    if options.minimal:
        return Images(after, row("changed after", kept=key_positions), row("changed", kept=key_positions), key)
    before = replace(before, logged=_key_alone)
    return Images(after, after, row("changed", logged=_key_alone) if changed else before, before)


def _key_alone(batch: ChangeBatch) -> LoggedRows:
    return None if batch.logged is None else rows_of(batch, key_positions(batch.table))
