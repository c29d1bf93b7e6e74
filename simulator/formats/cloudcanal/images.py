"""Row images: the columns of a row in messages of each kind."""

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
    """Images of an inserted row, of an updated row after and before the update, and of a deleted row."""

    inserted: Rows
    after: Rows
    before: Rows
    deleted: Rows


# REPLICA IDENTITY settings with which old rows have only their key.
KEY_ALONE: Final = frozenset({"default"})


def key_positions(table: Table) -> tuple[int, ...]:
    """Indexes of the key's columns, in table order."""
    return tuple(sorted(table.key_positions))


def images(settings: Settings[CommonOptions], *, array: bool, changed: bool = False) -> Images:
    """Row images by kind. `array`: rows are in an array; `changed`: the before image has only the changed columns.

    With `increLogMinimal` an update has the key and the changed columns, a deleted row its key. In PostgreSQL without
    REPLICA IDENTITY FULL, old rows have only the key.
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
