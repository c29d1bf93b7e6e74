"""Row images of a log that lacks columns, such as PostgreSQL's by REPLICA IDENTITY.

Columns that the before image lacks are null, or the replacement of a required value; a before image without columns is
null. Columns that the after image lacks did not change and are stored out of line: a placeholder replaces them, as
text, as its bytes, or, in arrays of whole numbers and dates, as the numbers of its bytes
(`unavailable.value.placeholder`); other arrays are null. A before image with all columns has their values.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa

from simulator.batch import ChangeBatch
from simulator.delivery.steps import Changes
from simulator.formats.debezium.schema import DATE, JSON, UUID, Schema
from simulator.formats.debezium.values.cells import base64_of
from simulator.model import DELETE, INSERT, UPDATE, Table
from simulator.split import split
from simulator.text.json_style import JACKSON_BYTES, quote

# Gaps of a batch: whether the before image is null; indexes of the columns that the after image lacks.
Gaps = tuple[bool, tuple[int, ...]]
# Items of arrays that have a placeholder: type and name of their schema.
_TEXTS: Final = (("string", ""), ("bytes", ""), ("string", JSON.name))
_NUMBERS: Final = (("int32", ""), ("int64", ""), ("int32", DATE.name))
NO_GAPS: Final[Gaps] = (False, ())


def gaps(batch: ChangeBatch) -> Gaps:
    """Gaps in the images of a batch that are not simply written as null columns."""
    if batch.logged is None:
        return NO_GAPS
    after = batch.logged.after
    missing = () if after is None else tuple(i for i in range(len(batch.table.columns)) if i not in after)
    return batch.kind is UPDATE and batch.logged.before == (), missing if batch.after is not None else ()


def nulls_for_gaps(key_columns: Callable[[Table], tuple[int, ...]], changes: Changes) -> Changes:
    """Sets columns that the log does not hold to null. A before image without a column of the key has another key than
    the row after it."""
    parts = (part for batch in changes.batches for part in _by_key(batch, key_columns))
    return replace(changes, batches=[_with_nulls(batch) for batch in parts])


def _by_key(batch: ChangeBatch, key_columns: Callable[[Table], tuple[int, ...]]) -> list[ChangeBatch]:
    """An update, or its halves if the before image has no whole key."""
    held = None if batch.kind is not UPDATE or batch.logged is None else batch.logged.before
    return split(batch, None) if held and not set(key_columns(batch.table)).issubset(held) else [batch]


def _with_nulls(batch: ChangeBatch) -> ChangeBatch:
    logged = batch.logged
    if logged is None:
        return batch
    if logged.before is None:
        return replace(batch, logged=None)
    after, before = batch.after, batch.before
    if before is not None:
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
    counterpart = batch.counterpart
    if counterpart is not None and batch.kind is INSERT:
        held = set(logged.before)
        counterpart = tuple(c if i in held else pa.nulls(len(batch), c.type) for i, c in enumerate(counterpart))
    return replace(batch, after=after, before=before, counterpart=counterpart)


def placeholder(schema: Schema, data: bytes) -> str:
    """The placeholder as a value of a schema, in JSON: the bytes, the text that they are, or signed numbers."""
    text = data.decode(errors="replace")
    match schema.type:
        case "bytes":
            return f'"{base64_of(data)}"'
        case "array":
            assert schema.items is not None
            item = schema.items.type, schema.items.name
            if item in _NUMBERS:
                return "[" + ",".join(str(byte) for byte in np.frombuffer(data, np.int8)) + "]"
            if item == ("string", UUID.name):  # Java's UUID.nameUUIDFromBytes()
                return f'["{uuid.UUID(bytes=hashlib.md5(data, usedforsecurity=False).digest(), version=3)}"]'
            return f"[{placeholder(schema.items, data)}]" if item in _TEXTS else "null"
        case "map":
            return f"{{{quote(text, JACKSON_BYTES)}:{quote(text, JACKSON_BYTES)}}}"
    return quote(text, JACKSON_BYTES)
