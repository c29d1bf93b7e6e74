"""Envelopes and rows in Avro, from the fields that are declared for JSON and the schemas of Connect beside them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch, Delta, PackedBatch
from simulator.formats.debezium.confluent import values
from simulator.formats.debezium.schema import Schema
from simulator.model import ABSENT, Column, Kind, Table
from simulator.text.json_style import JACKSON_BYTES
from simulator.text.template import Choice, Piece
from simulator.wire import avro
from simulator.wire.columns import Dictionaries
from simulator.wire.fields import Cell, Field, Members, PerChange, PerTable, Rows
from simulator.wire.images import is_costly

# The schema and the writer of a column.
Typed = tuple[Schema, Cell]
# A constant, rows, or a value per change and its schema.
_Member = bytes | Rows | tuple[PerChange, Schema]


class AvroEncoder:
    """Encodes messages about rows, from the fields of an object. Holds no state but caches. `typed` gives the schema
    and writer of a column."""

    def __init__(self, fields: Sequence[Field], typed: Callable[[Column], Typed]) -> None:
        self.fields, self._typed = tuple(fields), typed
        self._pools = Dictionaries()
        self._columns: dict[Column, Typed] = {}
        self._compiled: dict[tuple[Kind, Table], list[_Member]] = {}

    def pieces(self, packed: PackedBatch, schema: Schema) -> list[Piece]:
        """The pieces of one value per message; the schema is always the same for a table."""
        if not packed.single:
            raise TypeError("a format with one object a message must not pack rows")
        batch = packed.changes
        members = self._compiled.get((batch.kind, batch.table))
        if members is None:
            members = self._members(self.fields, schema, batch.kind, batch.table)
            self._compiled[batch.kind, batch.table] = members
        images, pieces = _Images(self, batch), list[Piece]()
        for member in members:
            if isinstance(member, bytes):
                pieces.append(member)
            elif isinstance(member, Rows):
                pieces += images.row(member)
            else:
                value, of = member
                column = value.of(batch)
                pieces += per_change(of, column * 10**value.zeros if value.zeros else column, len(packed))
        return pieces

    def row_pieces(self, packed: PackedBatch, rows: Rows) -> list[Piece]:
        """The pieces of row images alone, without a branch."""
        return _Images(self, packed.changes).row(rows)

    def typed(self, column: Column) -> Typed:
        """The schema and writer of a column."""
        if column not in self._columns:
            self._columns[column] = self._typed(column)
        return self._columns[column]

    def _members(self, fields: Sequence[Field], schema: Schema, kind: Kind, table: Table) -> list[_Member]:
        """Constants, rows, and values per change with their schemas, in the messages of a kind about a table."""
        members: list[_Member] = []
        for field, (name, member) in zip(fields, schema.fields, strict=True):
            if field.name != name:
                raise ValueError(f"the field {field.name!r} has the schema of {name!r}")
            match field.on(kind):
                case PerTable() as value:
                    members.append(values.datum(member, json.loads(value.of(table, JACKSON_BYTES))))
                case Members() as value:
                    members += [values.branch(member), *self._members(value.fields, member, kind, table)]
                case Rows() as value:
                    members += [values.branch(member), value]
                case PerChange() as value:
                    members.append((value, member))
                case value if value is ABSENT:
                    raise ValueError("a record has all members of its schema")
                case value:
                    members.append(values.datum(member, value))
        return members

    def column(self, typed: Typed, key: Column, array: pa.Array) -> list[Piece]:
        """A column's values. Pools return with every batch and are kept."""
        schema, cell = typed
        if not pa.types.is_dictionary(array.type):
            return values.column(schema, cell, array)
        indices = array.indices
        nulls = bool(indices.null_count)

        def encoded(pool: pa.Array) -> pa.Array:
            """The values of a pool, and null behind them if there are nulls."""
            entries = avro.join(values.column(schema, cell, pool), len(pool))
            return pa.concat_arrays([entries, pa.array([values.null(schema, cell)], pa.binary())]) if nulls else entries

        pool = self._pools.of(array.dictionary, (key, nulls), encoded)
        if nulls:
            indices = pc.coalesce(indices, pa.scalar(len(pool) - 1, indices.type))
        return [pa.DictionaryArray.from_arrays(indices, pool, safe=False)]


class _Images:
    """The row images of one batch; what both have is made once."""

    def __init__(self, encoder: AvroEncoder, batch: ChangeBatch) -> None:
        self.encoder, self.batch = encoder, batch
        self._after: dict[int, list[Piece]] = {}

    def row(self, rows: Rows) -> list[Piece]:
        positions = range(len(self.batch.table.columns)) if rows.columns is None else rows.columns(self.batch.table)
        return [piece for i in positions for piece in self._member(rows.image, i)]

    def _member(self, image: str, i: int) -> list[Piece]:
        batch = self.batch
        if batch.before is None or image != "before":
            return self._of_after(i)
        old = batch.before[i]
        if old is None:
            return self._of_after(i)
        if isinstance(old, Delta) and is_costly(old.values.type):
            return self._two_states(i, old)
        return self._of(i, batch.full_before(i))

    def _of_after(self, i: int) -> list[Piece]:
        assert self.batch.after is not None
        if i not in self._after:
            self._after[i] = self._of(i, self.batch.after[i])
        return self._after[i]

    def _of(self, i: int, array: pa.Array) -> list[Piece]:
        column = self.batch.table.columns[i]
        return self.encoder.column(self.encoder.typed(column), column, array)

    def _two_states(self, i: int, old: Delta) -> list[Piece]:
        """A column of texts before an update, some rows of which differ from those after it."""
        count = len(self.batch)
        same, changed = old.slots(count)
        return [
            Choice(self._of_after(i), same, b"", count),
            Choice(self._of(i, old.values), changed, b"", len(old.rows)),
        ]


def per_change(schema: Schema, value: Any, count: int) -> list[Piece]:
    """One value per change: integers, or finished JSON text, a column or the pieces of one."""
    if isinstance(value, np.ndarray):
        return [values.branch(schema), avro.Longs(value.astype(np.int64, copy=False))]
    if isinstance(value, pa.Array):
        return [values.texts(schema, value)]
    if len(value) == 1:
        (only,) = value
        return [values.datum(schema, json.loads(only))] if isinstance(only, str) else [values.texts(schema, only)]
    # a text in quotes whose constants are escaped; what stands between them needs no escapes
    first, *inner, last = value
    if schema.type != "string" or not (str(first).startswith('"') and str(last).endswith('"')):
        raise TypeError(f"pieces of a {schema.type}")
    parts = [first[1:], *inner, last[:-1]]
    plain = [json.loads(f'"{part}"') if isinstance(part, str) else part for part in parts]
    match [part for part in plain if part != ""]:
        case [pa.DictionaryArray() as texts]:
            return [values.branch(schema), avro.strings(texts)]
    return [values.branch(schema), avro.Sized(plain, count)]
