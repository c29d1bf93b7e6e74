"""The images of a table's rows as Spark's columns: of all its versions, and as a format's consumers can know them.

An image has the columns of every version. One that its own version has is its value. One that comes later has what
the schema changes make of it: the value under its earlier name, or that which the row got when they added it. So rows
written before a schema change and those written after it are rows of one table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch, decoded
from simulator.carriers import storage, storage_type
from simulator.errors import OptionError
from simulator.model import Column, ColumnType, Table
from simulator.run.job import Job
from simulator.sources.source import Source
from simulator.truth.known import KnownRows

# Families of types whose carriers are numbers of labels.
LABELS: Final = frozenset({"enum", "set"})
INTEGERS: Final = (pa.int8(), pa.int16(), pa.int32())


@dataclass(frozen=True)
class Images:
    """The images of a table in its versions, the oldest first. A job with a format has what its messages carry. Raises
    OptionError for a table that the format does not send."""

    job: Job
    versions: Sequence[Table]

    def __post_init__(self) -> None:
        if not any(map(self._columns, self.versions)):
            raise OptionError(f"option 'table': {self.job.format} does not send {self.versions[0].id}.")

    @property
    def source(self) -> Source:
        return self.job.source

    @cached_property
    def _known(self) -> KnownRows | None:
        job = self.job
        return KnownRows(job.format, job.codec, job.unsent) if job.format else None

    def _columns(self, table: Table) -> list[Column]:
        known_rows = self._known
        return [
            table.columns[i] for i in (range(len(table.columns)) if known_rows is None else known_rows.columns(table))
        ]

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns of all versions; one whose type changes has a type for the values of both."""
        types: dict[str, pa.DataType] = {}
        for column in (column for table in self.versions for column in self._columns(table)):
            type = column_type(column.type, self.source)
            types[column.name] = _common(types.get(column.name, type), type)
        return pa.schema(list(types.items()))

    def image(self, table: Table, values: Sequence[pa.Array], changes: ChangeBatch | None = None) -> list[pa.Array]:
        """The columns of a table's version, of changes or of a state, as those of the schema."""
        count = len(values[0])
        columns: Sequence[Column] = table.columns
        if self._known is not None:
            columns, values = self._known.rows(table, values)
        own = {column.field: (column, array) for column, array in zip(columns, values, strict=True)}
        fields = {column.name: column.field for column in columns}
        arrays = []
        for name, type in zip(self.schema.names, self.schema.types, strict=True):
            later = None if name in fields else self._later(table, name)
            field = fields[name] if later is None and name in fields else later and later[1].field
            if field in own:
                column, array = own[field]
                arrays.append(cells(array, column.type, self.source).cast(type))
            elif later is not None:
                assert changes is not None
                arrays.append(self._added(changes, *later).cast(type))
            else:
                arrays.append(pa.nulls(count, type))
        return arrays

    def _later(self, table: Table, name: str) -> tuple[int, Column] | None:
        """The first later version that has a column of this name, by its number, and the column."""
        if table not in self.versions:
            return None
        for number in range(self.versions.index(table) + 1, len(self.versions)):
            for column in self._columns(self.versions[number]):
                if column.name == name:
                    return number, column
        return None

    def _added(self, changes: ChangeBatch, number: int, column: Column) -> pa.Array:
        """The values of a version's column in rows that are older than it."""
        while number and (earlier := _field(self.versions[number - 1], column.field)) is not None:
            number, column = number - 1, earlier
        added = self.job.stream.added_values(changes, self.versions[number], column)
        return cells(added, column.type, self.source)


def _field(table: Table, name: str) -> Column | None:
    return next((column for column in table.columns if column.field == name), None)


def column_type(type: ColumnType, source: Source) -> pa.DataType:
    """The nearest type that Spark has for a column: integers as narrow as the column's, labels as text.

    >>> from simulator.sources import find
    >>> from simulator.model import ColumnType
    >>> [str(column_type(ColumnType(name), find("mysql"))) for name in ("tinyint", "int", "bigint")]
    ['int8', 'int32', 'int64']
    """
    family = source.family(type)
    carrier = source.arrow_type(type)
    if family in LABELS:
        return pa.string()
    if family == "integer" and carrier == pa.int64():
        edges = pc.min_max(source.parse_values(source.boundary_values(type), type)).as_py()
        for narrow in INTEGERS:
            half = 1 << (narrow.bit_width - 1)
            if -half <= edges["min"] and edges["max"] < half:
                return narrow
    return spark_type(carrier)


def cells(array: pa.Array, type: ColumnType, source: Source) -> pa.Array:
    """Values of a column: labels instead of their numbers."""
    if source.family(type) not in LABELS:
        return storage(decoded(array))
    numbers = decoded(array).dictionary_encode()
    labels = pa.array(source.format_values(numbers.dictionary, type), pa.string())
    return labels.take(numbers.indices)


def spark_type(carrier: pa.DataType) -> pa.DataType:
    """The nearest type that Spark has for a carrier."""
    if pa.types.is_dictionary(carrier):
        return spark_type(carrier.value_type)
    carrier = storage_type(carrier)
    if pa.types.is_uint64(carrier):
        return pa.decimal128(20, 0)
    return pa.string() if pa.types.is_decimal256(carrier) else carrier


def _common(a: pa.DataType, b: pa.DataType) -> pa.DataType:
    """A type for the values of both; text, where no other has them."""
    if a == b:
        return a
    try:
        schemas = [pa.schema([("", type)]) for type in (a, b)]
        return spark_type(pa.unify_schemas(schemas, promote_options="permissive").field(0).type)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.string()
