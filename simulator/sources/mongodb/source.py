"""MongoDB as a source: collections as tables, documents as rows.

A collection is a table whose columns are the documents' top-level fields, `_id` first. A null is a field that is not in
the document; an explicit null of BSON stands inside an object or array, or in a field of the type null. Scenarios with
tables of relational systems run here too: a key of one column becomes `_id`, a key of several an `_id` that is an
object of them, and documents without a key get an ObjectId. An `_id` never changes: an update of one is a delete and an
insert.

No difference between the versions shows in values: both have the same BSON types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import pyarrow as pa

from simulator.errors import UsageError
from simulator.model import Column, ColumnType, Table
from simulator.sources import portable
from simulator.sources.mongodb import corpus, type_table, values
from simulator.sources.mongodb import types as mongodb_types
from simulator.sources.mongodb.ddl import MongodbDdl, ddl
from simulator.sources.mongodb.documents import ID, set_ids
from simulator.sources.mongodb.log import MongodbLog
from simulator.sources.mongodb.type_table import BsonType
from simulator.sources.source import Source
from simulator.tables import CsvTable


class MongodbSource(Source):
    types: ClassVar[Mapping[str, BsonType]] = type_table.TYPES
    portable_types = CsvTable(__file__, "portable.csv", str)
    key_is_fixed = True
    logs_equal_updates = False
    stores = True
    ddl: ClassVar[MongodbDdl] = ddl
    log: ClassVar[MongodbLog] = MongodbLog()

    parse_type = staticmethod(mongodb_types.parse_type)
    type_text = staticmethod(mongodb_types.type_text)
    arrow_type = staticmethod(type_table.arrow_type)

    def portable_type(self, name: str, arguments: Sequence[str]) -> ColumnType:
        """The BSON type of a portable type; a date has the requested fraction digits, up to milliseconds."""
        type = super().portable_type(name, arguments)
        digits = min(int(arguments[0]), 3) if arguments else 0
        return replace(type, length=digits) if type.name == "date" else type

    def labels_type(self, text: str) -> ColumnType:
        """A string that keeps the labels, as its only values."""
        return ColumnType("string", labels=portable.labels(text))

    parse_values = staticmethod(values.parse_values)
    format_values = staticmethod(values.format_values)
    boundary_values = staticmethod(corpus.boundary_values)
    default_values = staticmethod(corpus.default_values)
    stored = staticmethod(values.stored)
    unit_us = staticmethod(values.unit_us)

    def document_style(self, type: ColumnType) -> str:
        """Documents keep the written order of their fields."""
        return "written"

    leaf_text = staticmethod(values.leaf_text)

    def shaped(self, table: Table) -> Table:
        """A table of a scenario as a collection: its key `_id` comes first."""
        by_name = {column.name: column for column in table.columns}
        if ID in by_name:
            if table.primary_key != (ID,):
                raise UsageError(f"{table.id.name} has a field _id, so that is its key.")
            key = by_name[ID]
        elif len(table.primary_key) == 1:
            key = replace(by_name[table.primary_key[0]], name=ID)
        else:
            key = Column(ID, ColumnType("object" if table.primary_key else "objectId"), nullable=False)
        other_columns = [column for column in table.columns if column.field != key.field]
        names = {column.field: column.name for column in (key, *other_columns)}
        fields = {column.name: column.field for column in table.columns}
        unique = tuple(
            replace(unique_key, columns=tuple(names[fields[name]] for name in unique_key.columns))
            for unique_key in table.unique_keys
        )
        return replace(table, columns=(key, *other_columns), primary_key=(ID,), unique_keys=unique)

    def may_repeat(self, nulls: Sequence[bool]) -> bool:
        """False: unique indexes treat missing fields as equal values."""
        return False

    def made_key(self, parts: Sequence[tuple[Column, pa.Array]]) -> pa.Array:
        """The `_id` of a collection whose key has several columns, composed of their values."""
        return set_ids(parts)
