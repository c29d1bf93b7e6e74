"""Row images of a log that lacks columns, such as PostgreSQL's by REPLICA IDENTITY.

Columns that the before image lacks are null, or the replacement of a required value; a before image without columns is
null. Columns that the after image lacks did not change and are stored out of line: a placeholder replaces them, as
text, as its bytes, or, in arrays of numbers, as the numbers of its bytes (`unavailable.value.placeholder`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pyarrow as pa

from simulator.batch import ChangeBatch
from simulator.delivery.steps import Changes
from simulator.formats.debezium.schema import Schema
from simulator.formats.debezium.values.cells import base64_of
from simulator.model import DELETE, UPDATE
from simulator.text.json_style import JACKSON_BYTES, quote

# Gaps of a batch: whether the before image is null; indexes of the columns that the after image lacks.
Gaps = tuple[bool, tuple[int, ...]]
NO_GAPS: Final[Gaps] = (False, ())


def gaps(batch: ChangeBatch) -> Gaps:
    """Gaps in the images of a batch that are not simply written as null columns."""
    if batch.logged is None:
        return NO_GAPS
    after = batch.logged.after
    missing = () if after is None else tuple(i for i in range(len(batch.table.columns)) if i not in after)
    return batch.kind is UPDATE and batch.logged.before == (), missing if batch.after is not None else ()


def nulls_for_gaps(changes: Changes) -> Changes:
    """Sets columns that the log does not hold to null."""
    return replace(changes, batches=[_with_nulls(batch) for batch in changes.batches])


def _with_nulls(batch: ChangeBatch) -> ChangeBatch:
    logged = batch.logged
    if logged is None:
        return batch
    after, before = batch.after, batch.before
    if before is not None and logged.before is not None:
        held = set(logged.before)
        columns = [batch.full_before(i) for i in range(len(before))]
        if batch.kind in (UPDATE, DELETE):
            before = tuple(
                column if i in held else pa.nulls(len(batch), column.type) for i, column in enumerate(columns)
            )
    if after is not None and logged.after is not None:
        held = set(logged.after)
        if batch.kind is UPDATE and before is not None:
            before = tuple(batch.full_before(i) if column is None else column for i, column in enumerate(before))
        after = tuple(column if i in held else pa.nulls(len(batch), column.type) for i, column in enumerate(after))
    return replace(batch, after=after, before=before)


def placeholder(schema: Schema, text: str) -> str:
    """The placeholder as a value of a schema, in JSON."""
    match schema.type:
        case "bytes":
            return f'"{base64_of(text.encode())}"'
        case "array":
            assert schema.items is not None
            if schema.items.type == "string":
                return f"[{quote(text, JACKSON_BYTES)}]"
            return "[" + ",".join(str(byte) for byte in text.encode()) + "]"
        case "map":
            return f"{{{quote(text, JACKSON_BYTES)}:{quote(text, JACKSON_BYTES)}}}"
    return quote(text, JACKSON_BYTES)
