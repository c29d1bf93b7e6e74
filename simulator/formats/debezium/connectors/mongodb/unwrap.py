"""`transforms=unwrap` of documents, as Debezium's SMT ExtractNewDocumentState makes records of them.

A document becomes a struct whose schema is that of the document alone, so schemas differ from message to message; the
key is the value of `_id`, with its type. Modes of `delete.tombstone.handling.mode`:

| mode | delete | tombstone |
| --- | --- | --- |
| drop | none | none |
| tombstone, delete-to-tombstone | a tombstone | none |
| rewrite | the document before, if there is one, with `__deleted` of all messages | none |
| rewrite-with-tombstone | the same | sent |

Without whole documents (`capture.mode=change_streams`) the record of an update has the fields that are set, under their
dotted names, and `_id`. The transform ends with an error at symbols, at the least and the greatest key, at code with a
scope, and at arrays of several types; those are refused here, as are arrays in arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

import pyarrow as pa

from simulator.batch import ChangeBatch, PackedBatch
from simulator.errors import NotOffered
from simulator.formats.debezium.envelope import Envelopes
from simulator.formats.debezium.keys import JsonKeys
from simulator.formats.debezium.options import Unwrap
from simulator.formats.debezium.schema import (
    BOOLEAN,
    BYTES,
    CONNECT_TIMESTAMP,
    DOUBLE,
    INT32,
    INT64,
    STRING,
    Schema,
    array,
    optional,
    struct,
    with_envelope,
)  # fmt: skip
from simulator.formats.debezium.unwrap import DELETED, UnwrappedWriter
from simulator.formats.debezium.values.cells import base64_of, double_text
from simulator.formats.writing import Written
from simulator.model import DELETE, MARKS, UPDATE
from simulator.sources.mongodb import documents as mongodb_documents
from simulator.sources.mongodb import json as bson
from simulator.sources.mongodb.documents import ID
from simulator.text.json_style import JACKSON_BYTES, quote
from simulator.text.template import join
from simulator.wire.encoder import Encoder

Document = dict[str, Any]
_STRING: Final = optional(STRING)
_TIMESTAMP: Final = optional(CONNECT_TIMESTAMP)
_SCHEMAS: Final[Mapping[type, Schema]] = {
    **dict.fromkeys((type(None), str, bson.Code, bson.ObjectId, bson.Decimal128), _STRING),
    **dict.fromkeys((bson.Date, bson.Timestamp), _TIMESTAMP),
    float: optional(DOUBLE),
    bson.Binary: optional(BYTES),
    int: optional(INT32),
    bson.Long: optional(INT64),
    bool: optional(BOOLEAN),
}
_REGEX: Final = optional(struct({"regex": optional(STRING), "options": optional(STRING)}, "io.debezium.mongodb.regex"))


class DocumentUnwrappedWriter(UnwrappedWriter):
    """Documents as records."""

    def __init__(self, envelopes: Envelopes, keys: JsonKeys, options: Unwrap, *, schemas: bool) -> None:
        super().__init__(envelopes, keys, options, schemas=schemas)
        added = self.members[1:] if self.rewrites else self.members
        self._encoder_of_added = Encoder(added, envelopes.connector.cells(snapshot=False), JACKSON_BYTES)

    def messages(self, packed: PackedBatch) -> Iterator[Written]:
        batch, mode = packed.changes, self.options.deletes
        if batch.kind in MARKS:
            yield from super().messages(packed)
            return
        name = self.envelopes.names.topics.of(batch.table.id)
        columns = self.keys.columns(packed)
        if "key" in columns:
            columns["key"] = self._keys(batch)
        if batch.kind is not DELETE or self.rewrites:
            added = [""] * len(batch)
            if self._added:
                texts = join(self._encoder_of_added.pieces(packed), len(batch)).to_pylist()
                added = [text[1:-1] for text in texts]
            documents = self._documents(batch)
            values = [self._value(text, name, more, batch) for text, more in zip(documents, added, strict=True)]
            yield Written([pa.array(values, pa.string())], self._with_headers(packed, columns))
        if batch.kind is DELETE and mode in ("tombstone", "delete-to-tombstone"):
            yield Written(None, self._with_headers(packed, columns))
        elif batch.kind is DELETE and mode == "rewrite-with-tombstone" and self.envelopes.options.tombstones:
            yield Written(None, self._with_operation(packed, columns))

    def _keys(self, batch: ChangeBatch) -> pa.Array:
        (position,) = batch.table.key_positions
        texts = mongodb_documents.extended(batch.table.columns[position], batch.image()[position])
        keys = (record(f'{{"id": {text}}}', "null") for text in texts.to_pylist())
        return pa.array(
            [with_envelope(schema, text) if self.keys.schemas else text for schema, text in keys], pa.binary()
        )

    def _documents(self, batch: ChangeBatch) -> list[str]:
        """The document of each record, in extended JSON."""
        mode = self.envelopes.options.capture_mode
        if batch.kind is DELETE:
            if not mode.endswith("pre_image"):
                return ["{}"] * len(batch)
            columns = [batch.full_before(i) for i in range(len(batch.table.columns))]
            return list(mongodb_documents.documents(batch.table, columns).to_pylist())
        assert batch.after is not None
        documents: list[str] = mongodb_documents.documents(batch.table, batch.after).to_pylist()
        if batch.kind is not UPDATE or "update_full" in mode:
            return documents
        replaced = mongodb_documents.replaced(batch).tolist()
        sets, _ = mongodb_documents.updates(batch, lambda path: "")
        (position,) = batch.table.key_positions
        ids = mongodb_documents.extended(batch.table.columns[position], batch.after[position]).to_pylist()
        return [
            text if is_replaced else "{" + ", ".join(filter(None, (part, f'"{ID}": {id}'))) + "}"
            for text, is_replaced, part, id in zip(documents, replaced, sets.to_pylist(), ids, strict=True)
        ]

    def _value(self, text: str, name: str, added: str, batch: ChangeBatch) -> str:
        schema, payload = record(text, name)
        deleted = batch.kind is DELETE
        members = [payload[1:-1]] if schema.fields else []
        fields = list(schema.fields)
        if self.rewrites:
            fields.append((f"__{DELETED}", optional(BOOLEAN)))
            members.append(f'"__{DELETED}":{"true" if deleted else "false"}')
        if added:
            fields += self.added_schemas(batch.table)
            members.append(added)
        row = "{" + ",".join(members) + "}"
        return with_envelope(replace(schema, fields=tuple(fields)), row) if self.schemas else row


@lru_cache(maxsize=4096)
def record(text: str, name: str) -> tuple[Schema, str]:
    """The schema of a document (extended JSON) and its JSON.

    >>> schema, row = record('{"_id": {"$numberLong": "7"}, "tags": ["a"], "at": {"$date": 1}}', "p.shop.items")
    >>> [(name, field.type) for name, field in schema.fields], row
    ([('_id', 'int64'), ('tags', 'array'), ('at', 'int64')], '{"_id":7,"tags":["a"],"at":1}')
    """
    document = bson.stored_tree(text)
    schema = replace(_struct(document, name, ""), optional=False, name="" if name == "null" else name)
    return schema, _text(document, schema)


def _schema(value: Any, name: str, path: str) -> Schema:
    """The schema of a field; `name`: that of its struct; `path`: its own, for messages."""
    if isinstance(value, bson.DBPointer):  # its text is that of a document
        value = _reference(value)
    if isinstance(value, dict):
        return _struct(value, name, path) if value else optional(Schema("struct"))
    if isinstance(value, list):
        return _array(value, name, path)
    if isinstance(value, bson.Regex):
        return _REGEX
    if type(value) not in _SCHEMAS or (isinstance(value, bson.Code) and value.scope is not None):
        raise _stops(path, "a value without a type in Kafka Connect")
    return _SCHEMAS[type(value)]


def _reference(pointer: bson.DBPointer) -> Document:
    return {"$ref": pointer.namespace, "$id": bson.ObjectId(pointer.id)}


def _struct(document: Document, name: str, path: str) -> Schema:
    fields = {
        key: _schema(value, f"{name}.{key}", f"{path}.{key}" if path else key)
        for key, value in document.items()
        if value is not bson.Special.UNDEFINED
    }
    return optional(struct(fields, name))


def _array(items: list[Any], name: str, path: str) -> Schema:
    if not items:
        return optional(array(optional(STRING)))
    if any(isinstance(item, list) for item in items):
        raise _stops(path, "an array in an array")
    if all(isinstance(item, dict) for item in items):
        merged: Document = {}
        for item in items:
            for key, value in item.items():
                if key in merged and _kind(merged[key]) != _kind(value):
                    raise _stops(f"{path}.{key}", "values of several types in an array")
                merged[key] = value
        return optional(array(_struct(merged, name, path))) if merged else optional(array(optional(STRING)))
    kinds = {_schema(item, name, path) for item in items}
    if len(kinds) > 1:
        raise _stops(path, "values of several types in an array")
    return optional(array(kinds.pop()))


def _kind(value: Any) -> Any:
    return type(value) if isinstance(value, dict | list) else _SCHEMAS.get(type(value))


def _stops(path: str, what: str) -> NotOffered:
    return NotOffered(
        f"-f debezium-json,transforms=unwrap: the field {path} has {what}, at which ExtractNewDocumentState ends with"
        " an error; leave the field out, or take transforms=none."
    )


def _text(value: Any, schema: Schema) -> str:
    if isinstance(value, bson.DBPointer):
        value = _reference(value)
    match value:
        case dict():
            members = (f"{quote(name, JACKSON_BYTES)}:{_text(value.get(name), field)}" for name, field in schema.fields)
            return "{" + ",".join(members) + "}"
        case list():
            assert schema.items is not None
            items = schema.items
            return "[" + ",".join(_text(item, items) for item in value) + "]"
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(int(value))
        case float():
            return str(double_text(pa.array([value]))[0])
        case str():
            return quote(value, JACKSON_BYTES)
        case bson.Binary():
            return f'"{base64_of(value.data)}"'
        case bson.Date():
            return str(value.ms)
        case bson.Timestamp():
            return str((value.seconds - (value.seconds >> 31 << 32)) * 1000)  # Java has no unsigned 32-bit integers
        case bson.Regex():
            pattern, options = quote(value.pattern, JACKSON_BYTES), quote(value.options, JACKSON_BYTES)
            return f'{{"regex":{pattern},"options":{options}}}'
    return quote(value.text, JACKSON_BYTES)
