"""Records of MongoDB: two fields instead of columns, `_value` with the document and `_id`, in this order.

The vendor's SDK takes these two as the fields of every row, whatever the record says. Decided here: both are objects of
type JSON, and their text is extended JSON. The oplog does not hold the document before an update or a delete, so its
`_value` is EmptyObject NONE, unless the collection keeps pre-images (`mongodb_before=document`).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import pyarrow as pa

from simulator.batch import ChangeBatch
from simulator.formats.dts.record import record
from simulator.formats.dts.record.record import BRANCHES, NONE
from simulator.model import Column, ColumnType, Table
from simulator.sources.mongodb import documents as mongodb_documents
from simulator.sources.mongodb import values as mongodb_values
from simulator.wire import avro
from simulator.wire.avro import Bytes
from simulator.wire.fields import plain

# Both fields have the number 0.
FIELDS: Final = b"".join(
    [record.ARRAY, avro.long(2), avro.string("_value"), avro.long(0), avro.string("_id"), avro.long(0), b"\x00"]
)
_JSON: Final = BRANCHES["TextObject"] + avro.string("JSON")


def fields(table: Table, tail: Callable[[Table, Column], bytes] | None) -> bytes:
    """The two fields; `tail` is what a wider Field record has after name and number."""
    if tail is None:
        return FIELDS
    columns = [Column(name, ColumnType("object")) for name in ("_value", "_id")]
    return record.fields_of(columns, lambda column: 0, lambda column: tail(table, column))


def tags(name: str) -> Mapping[str, str]:
    """The key, and the version of the two fields, which never change."""
    return {"pk_uk_info": '{"PRIMARY":["_id"]}', "metaVersion": str(zlib.crc32(name.encode() + FIELDS))}


def images(batch: ChangeBatch, *, whole: bool) -> tuple[Sequence[Bytes], Sequence[Bytes]]:
    """The before and the after image; `whole`: the document before the change is known."""
    before = after = record.NO_IMAGE
    if batch.after is not None:
        after = _image(batch.table, batch.after)
    if batch.before is not None:
        row = [batch.full_before(i) for i in range(len(batch.table.columns))]
        before = _image(batch.table, row, known=whole)
    return before, after


def _image(table: Table, row: Sequence[pa.Array], *, known: bool = True) -> list[Bytes]:
    value = [_JSON, avro.Strings(mongodb_documents.documents(table, row))] if known else [NONE]
    return record.image([value, [_key(table, row)]], 2)


def _key(table: Table, row: Sequence[pa.Array]) -> Bytes:
    """The `_id` of each document in extended JSON: an object if it has several parts; null without a key."""
    if not table.primary_key:
        return BRANCHES["null"]
    if len(table.key_positions) == 1:
        (i,) = table.key_positions
        texts = mongodb_values.extended_text(row[i], table.columns[i].type)
    else:
        texts = mongodb_documents.keys(table, row)
    return avro.present(avro.join([_JSON, avro.Strings(plain(texts))], len(row[0])))
