"""Messages, changes and rows as Spark's columns.

Values keep their types: decimals up to 38 digits, dates, timestamps without a zone, times of day as intervals, bytes.
Unsigned 64-bit numbers are decimal(20,0), longer decimals texts. Dates that no calendar has are as in `carriers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch, MessageBatch, decoded
from simulator.model import DELETE, UPDATE, Table
from simulator.sinks.columns import POSITION, STAMP, message_rows, positions
from simulator.sources.source import Source
from simulator.stream.engine.block import Block

# Rows of a batch: some megabytes.
BATCH_ROWS: Final = 10_000
# The values that a filter lets through, by columns of text.
Only: TypeAlias = Mapping[str, frozenset[str]]


def row_schema(table: Table, source: Source) -> pa.Schema:
    """The rows of a table."""
    carriers = [source.parse_values([], column.type).type for column in table.columns]
    return pa.schema([(column.name, spark_type(type)) for column, type in zip(table.columns, carriers, strict=True)])


def change_schema(versions: Iterable[Table], source: Source) -> pa.Schema:
    """The changes of a table: both images, where the change stands, and when it was committed.

    The images have the columns of all versions of the table; where its type changes, one that has all values.
    """
    types: dict[str, pa.DataType] = {}
    for field in (field for version in versions for field in row_schema(version, source)):
        types[field.name] = _common(types.get(field.name, field.type), field.type)
    row = pa.struct(list(types.items()))
    return pa.schema(
        [
            ("op", pa.string()),
            ("before", row),
            ("after", row),
            ("position", POSITION),
            ("transaction", pa.int64()),
            ("committed_at", STAMP),
        ]
    )


def _common(a: pa.DataType, b: pa.DataType) -> pa.DataType:
    """A type for the values of both; text, where no other has them."""
    if a == b:
        return a
    try:
        schemas = [pa.schema([("", type)]) for type in (a, b)]
        return spark_type(pa.unify_schemas(schemas, promote_options="permissive").field(0).type)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.string()


def spark_type(carrier: pa.DataType) -> pa.DataType:
    """The nearest type that Spark has."""
    if pa.types.is_dictionary(carrier):
        return spark_type(carrier.value_type)
    if pa.types.is_uint64(carrier):
        return pa.decimal128(20, 0)
    return pa.string() if pa.types.is_decimal256(carrier) else carrier


def messages(batch: MessageBatch, only: Only) -> Iterator[pa.RecordBatch]:
    """Messages whose partitions are chosen, as `MESSAGES`."""
    found = message_rows(batch)
    for name, values in only.items():
        found = found.filter(pc.is_in(found[name], pa.array(sorted(values), pa.string())))
    yield from _sliced(found)


def changes(block: Block, table: Table, schema: pa.Schema, only: Only) -> Iterator[pa.RecordBatch]:
    """The changes of a table in a block, in stream order, as `change_schema`."""
    batches = [
        batch
        for batch in block.batches
        if batch.table.id == table.id and ("op" not in only or batch.kind.name in only["op"])
    ]
    if batches:
        whole = pa.Table.from_batches([_changes(batch, schema) for batch in batches])
        keys = [
            np.concatenate([each.envelope.turn for each in batches]),
            np.concatenate([each.envelope.ordinal for each in batches]),
        ]
        rows = whole.take(pa.array(np.lexsort(keys[::-1]))).combine_chunks()
        yield from rows.to_batches(max_chunksize=BATCH_ROWS)


def rows(columns: Sequence[pa.Array], table: Table, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Rows of a table, as `row_schema`."""
    yield from _sliced(pa.RecordBatch.from_arrays(_image(table, columns, schema), schema=schema))


def _changes(batch: ChangeBatch, schema: pa.Schema) -> pa.RecordBatch:
    count, at = len(batch), batch.envelope
    struct = schema.field("after").type
    before = batch.before and [batch.full_before(i) for i in range(len(batch.table.columns))]
    images = {
        "before": before if batch.kind in (UPDATE, DELETE) else None,
        "after": None if batch.kind is DELETE else batch.after,
    }
    filled = {
        name: pa.nulls(count, struct)
        if image is None
        else pa.StructArray.from_arrays(_image(batch.table, image, pa.schema(list(struct))), fields=list(struct))
        for name, image in images.items()
    }
    columns = {
        **filled,
        "op": pa.array([batch.kind.name] * count),
        "position": positions(pa.array(np.full(count, at.phase)), pa.array(at.turn), pa.array(at.ordinal)),
        "transaction": pa.array(at.txn),
        "committed_at": pa.array(at.event_ms, pa.timestamp("ms", "UTC")).cast(STAMP),
    }
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def _image(table: Table, columns: Sequence[pa.Array], schema: pa.Schema) -> list[pa.Array]:
    """The columns of a table's version as those of the schema, by their names; null where it has none."""
    found = {column.name: array for column, array in zip(table.columns, columns, strict=True)}
    count = len(columns[0])
    return [
        decoded(found[field.name]).cast(field.type) if field.name in found else pa.nulls(count, field.type)
        for field in schema
    ]


def _sliced(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    for at in range(0, len(batch), BATCH_ROWS):
        yield batch.slice(at, BATCH_ROWS)
