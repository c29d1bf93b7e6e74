"""The images of rows: what stands of a row in messages of each kind."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from simulator.formats.cloudcanal.options import CommonOptions
from simulator.formats.cloudcanal.systems import library_of
from simulator.formats.format import Settings
from simulator.model import Table
from simulator.wire.fields import Rows


class Images(NamedTuple):
    """Of an inserted row, of an update after and before it, and of a deleted row."""

    inserted: Rows
    after: Rows
    before: Rows
    deleted: Rows


def key_positions(table: Table) -> tuple[int, ...]:
    """Positions of the key's columns, in table order."""
    return tuple(sorted(table.key_positions))


def images(settings: Settings[CommonOptions], *, array: bool, changed: bool = False) -> Images:
    """`array`: rows stand in an array; `changed`: an update shows only the changed columns of the row before it.

    With `increLogMinimal` an update has the key and the changed columns, a deleted row its key. PostgreSQL without
    REPLICA IDENTITY FULL logs of old rows the key alone.
    """
    options = settings.options
    row = partial(Rows, array=array)
    after, before = (row(image, skip_nulls=options.null_columns == "omit") for image in ("after", "before"))
    key = row("before", columns=key_positions)
    if options.minimal:
        return Images(after, row("changed after", kept=key_positions), row("changed", kept=key_positions), key)
    if options.replica_identity == "default" and library_of(settings).replica_identity:
        return Images(after, after, key, key)
    return Images(after, after, row("changed") if changed else before, before)
