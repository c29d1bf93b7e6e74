"""MongoDB as a source: one door to BSON types, their values, documents, commands and cluster times.

| module | holds |
| --- | --- |
| `type_table` | the table of BSON types, carriers |
| `types` | types as text |
| `json` | extended JSON: what stands in objects and arrays, read into trees and written |
| `values` | literals to carrier arrays and back, generated values as stored |
| `documents` | rows as documents, what an update sets and unsets |
| `corpus` | boundary values and believable defaults of every type |
| `ddl` | the commands that change streams tell |
| `log` | cluster times, bytes of a document |

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
from typing import Final

import pyarrow as pa

from simulator.errors import UsageError
from simulator.model import Column, ColumnType, Table, TableId
from simulator.sources import mysql
from simulator.sources.mongodb import ddl as mongodb_ddl
from simulator.sources.mongodb import values as mongodb_values
from simulator.sources.mongodb.corpus import LARGE_BYTES, boundary_values, default_values
from simulator.sources.mongodb.documents import EXTENDED, ID, Spelling, documents, keys, replaced, set_ids, updates
from simulator.sources.mongodb.log import packed_bytes
from simulator.sources.mongodb.type_table import ALIASES, TYPES, BsonType, arrow_type, bounds, family, subtype
from simulator.sources.mongodb.types import STYLES, parse_type, type_text
from simulator.sources.mongodb.values import extended_text, format_values, leaf_text, stored, unit_us

__all__ = [
    "ALIASES",
    "EXTENDED",
    "ID",
    "KEY_IS_FIXED",
    "LARGE_BYTES",
    "PORTABLE",
    "STYLES",
    "TYPES",
    "BsonType",
    "Spelling",
    "arrow_type",
    "boundary_values",
    "bounds",
    "ddl",
    "default_values",
    "document_style",
    "documents",
    "extended_text",
    "family",
    "format_values",
    "from_portable",
    "identifier",
    "keys",
    "leaf_text",
    "made_key",
    "packed_bytes",
    "parse_type",
    "parse_values",
    "replaced",
    "shaped",
    "stored",
    "subtype",
    "table_id",
    "type_text",
    "unit_us",
    "updates",
]

ddl = mongodb_ddl
# An update of the key is told as the delete of one document and the insert of another.
KEY_IS_FIXED: Final = True


def document_style(type: ColumnType) -> str:
    """Documents keep their fields in the order in which they were written."""
    return "written"


def identifier(name: str) -> str:
    """Names keep their case."""
    return name


def table_id(database: str, name: str) -> TableId:
    """A collection in a database."""
    return TableId(database, name)


def parse_values(texts: Sequence[str | None], type: ColumnType, *, server: str = "mongodb-6.0") -> pa.Array:
    """Literals as carriers: see `values.parse_values`. Raises ValueError."""
    return mongodb_values.parse_values(texts, type)


def shaped(table: Table) -> Table:
    """A table of a scenario as a collection: with `_id`, which is its key, in front.

    >>> table = Table(TableId("shop", "t"), (Column("n", ColumnType("int")), Column("k", ColumnType("int"))), ("k",))
    >>> [(column.name, column.field) for column in shaped(table).columns], shaped(table).primary_key
    ([('_id', 'k'), ('n', 'n')], ('_id',))
    """
    by_name = {column.name: column for column in table.columns}
    if ID in by_name:
        if table.primary_key != (ID,):
            raise UsageError(f"{table.id.name} has a field _id, so that is its key.")
        key = by_name[ID]
    elif len(table.primary_key) == 1:
        key = replace(by_name[table.primary_key[0]], name=ID)
    else:
        key = Column(ID, ColumnType("object" if table.primary_key else "objectId"), nullable=False)
    rest = [column for column in table.columns if column.field != key.field]
    return replace(table, columns=(key, *rest), primary_key=(ID,))


def made_key(parts: Sequence[tuple[Column, pa.Array]]) -> pa.Array:
    """The `_id` of a collection whose key has several columns, of the values of those."""
    return set_ids(parts)


# The portable types of scenarios. MongoDB has no time of day and no date without one; a UUID is a string here, as it is
# in most applications.
PORTABLE: Final[Mapping[str, str]] = {
    "bool": "bool",
    "int16": "int",
    "int32": "int",
    "int64": "long",
    "uint16": "int",
    "uint32": "long",
    "uint64": "decimal(20,0)",
    "decimal": "decimal",
    "float32": "double",
    "float64": "double",
    "string": "string",
    "text": "string",
    "bytes": "binData",
    "blob": "binData",
    "date": "date",
    "time": "string",
    "timestamp": "date",
    "timestamptz": "date",
    "json": "object",
    "uuid": "string",
}


def from_portable(text: str) -> ColumnType:
    """The BSON type of a portable one; labels of an enum stay with the field as all that it holds.

    >>> [type_text(from_portable(text)) for text in ("string(40)", "int64", "decimal(10,2)", "timestamp(3)", "json")]
    ['string', 'long', 'decimal(10,2)', 'date', 'object']
    """
    known = mysql.from_portable(text)  # its arguments, checked
    if known.labels:
        return ColumnType("string", labels=known.labels)
    word = text.partition("(")[0].strip().lower()
    if word == "decimal":
        type = parse_type(f"decimal({known.length},{known.scale or 0})")
    else:
        type = parse_type(PORTABLE[word])
    length = min(known.length or 0, 3) if type.name == "date" else type.length
    return ColumnType(type.name, length, type.scale)
