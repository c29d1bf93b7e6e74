"""The row images of records: arrays of values, in the order of the record's fields.

| | before | after |
| --- | --- | --- |
| INSERT, INIT | - | the row |
| UPDATE | the row | the row |
| UPDATE, `row_image=minimal` | the key; the row if it has none | the changed columns |
| DELETE | the row | - |
| DELETE, `row_image=minimal` | the key; the row if it has none | - |

`minimal` is what MySQL logs with binlog_row_image=MINIMAL; here every source with columns can log so. A SQL script that
sets binlog_row_image says itself what the log holds. A value that the log lacks is EmptyObject NONE, since readers find
values by position.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch, changed_rows
from simulator.formats.dts.record import record
from simulator.formats.dts.record.record import BRANCHES, NONE
from simulator.formats.dts.record.values import Values, whole
from simulator.model import UPDATE, Column, ColumnType
from simulator.text.template import unless_null
from simulator.wire import avro
from simulator.wire.avro import Bytes
from simulator.wire.columns import Dictionaries

# RDS adds it to tables without a key; printed messages have it as the last field.
HIDDEN_KEY: Final = Column("__#alibaba_rds_row_id#__", ColumnType("bigint"), nullable=False)
_HIDDEN_BYTES: Final = 8
_UNKNOWN: Final = pa.scalar(NONE, pa.binary())


class Images:
    """The images of batches. Holds no state but a cache of dictionaries in finished form."""

    def __init__(self, *, minimal: bool) -> None:
        self.minimal = minimal
        self._pools = Dictionaries()

    def of(
        self, batch: ChangeBatch, writes: Sequence[Values], *, hidden_key: bool
    ) -> tuple[Sequence[Bytes], Sequence[Bytes]]:
        """The before and the after image; what both have is made once. `writes` has a function for each column."""
        columns = batch.table.columns
        indexes = range(len(columns))
        after = None if batch.after is None else [self._column(columns[i], writes[i], batch.after[i]) for i in indexes]
        before = None
        if batch.before is not None:
            before = [
                after[i]
                if after is not None and batch.before[i] is None
                else self._column(columns[i], writes[i], batch.full_before(i))
                for i in indexes
            ]
        if batch.logged is not None:
            before = known(before, batch.logged.before)
            after = known(after, batch.logged.after)
        elif self.minimal:
            before, after = minimal(batch, before, after)
        if hidden_key:
            row = hidden_values(batch)
            before, after = (None if values is None else [*values, row] for values in (before, after))
        first, second = (
            record.NO_IMAGE if values is None else record.image(values, len(values)) for values in (before, after)
        )
        return first, second

    def _column(self, column: Column, write: Values, array: pa.Array) -> list[Bytes]:
        """A column's values, each with its branch. Pools come again with every batch and are kept."""
        if pa.types.is_dictionary(array.type):
            pool = self._pools.of(array.dictionary, column, lambda pool: whole(write(pool), len(pool)))
            return [avro.present(pa.DictionaryArray.from_arrays(array.indices, pool))]
        pieces = write(array)
        if not array.null_count:
            return pieces
        return [unless_null(pieces, np.asarray(array.is_null()), record.NOTHING)]


Image = list[list[Bytes]]


def known(image: Image | None, columns: tuple[int, ...] | None) -> Image | None:
    """An image of which the log holds these columns alone."""
    if image is None or columns is None:
        return image
    held = set(columns)
    return [values if i in held else [NONE] for i, values in enumerate(image)]


def minimal(batch: ChangeBatch, before: Image | None, after: Image | None) -> tuple[Image | None, Image | None]:
    """Images of a log that has the key before a change and the changed columns after it."""
    keys = set(batch.table.row_key_positions)
    if before is not None and keys:
        before = [values if i in keys else [NONE] for i, values in enumerate(before)]
    if after is not None and batch.kind is UPDATE:
        after = [_changed(batch, i, values) for i, values in enumerate(after)]
    return before, after


def _changed(batch: ChangeBatch, i: int, values: list[Bytes]) -> list[Bytes]:
    rows = changed_rows(batch, i)
    if rows is None:
        return [NONE]
    mask = np.zeros(len(batch), dtype=bool)
    mask[rows] = True
    return values if mask.all() else [pc.if_else(pa.array(mask), avro.join(values, len(batch)), _UNKNOWN)]


def hidden_values(batch: ChangeBatch) -> list[Bytes]:
    """The hidden key of each row: its number, since RDS numbers rows as they come."""
    assert batch.row_numbers is not None
    numbers = pa.array(batch.row_numbers()).cast(pa.string())
    return [BRANCHES["Integer"] + avro.long(_HIDDEN_BYTES), avro.Strings(numbers)]
