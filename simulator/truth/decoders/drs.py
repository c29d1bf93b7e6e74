"""Decoders of Huawei Cloud DRS: JSON, JSON-C and Avro, by the vendor's pages on formats and its Avro schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from simulator.formats.drs import record as drs_record
from simulator.model import DELETE, UPDATE
from simulator.truth.decoders import avro, canal
from simulator.truth.decoders.change import (
    CHANGED,
    KEY,
    OPERATIONS,
    UNSET,
    Change,
    Decoder,
    Image,
    Item,
    Statement,
    milliseconds,
    text,
)
from simulator.truth.decoders.documents import RELAXED, bson, extended_json, relaxed
from simulator.truth.decoders.json_text import read_object
from simulator.truth.decoders.values import (
    EPOCH,
    HEXADECIMAL,
    LEFT_OUT,
    SHANGHAI,
    SIGNED_BYTES,
    Reading,
    east,
    to_milliseconds,
    to_seconds,
)

# Prefix of Avro's single-object encoding: two bytes, then the schema's fingerprint. Files omit it; readers put zeros.
MARKER: Final = b"\xc3\x01"
FRAME_BYTES: Final = 10
LEFT_AWAY: Final = bytes(FRAME_BYTES)


def items(message: Any) -> Iterator[Item]:
    """Items as in Canal's messages; MongoDB's messages have a document, or the fields that an update sets."""
    if "coll" not in message:
        yield from canal.items(message)
        return
    event_ms = milliseconds(message["es"])
    if message["op"] not in OPERATIONS:
        yield Statement(message["value"], event_ms)
        return
    op, value = OPERATIONS[message["op"]], extended_json(message["value"])
    before: Image = None
    after: Image = None
    if op is UPDATE:
        before = extended_json(message["where"])
        replaced = not {"$set", "$unset"} & set(value)
        after = value if replaced else value.get("$set", {}) | dict.fromkeys(value.get("$unset", {}), UNSET)
    elif op is DELETE:
        before = value
    else:
        after = value
    yield Change(op, message["coll"], before, after, None, event_ms, text(message["db"]), text(message["id"]))


def parse_record(value: bytes, options: Mapping[str, str]) -> Any:
    """Decodes a record with the schema of the value's fingerprint. Raises ValueError."""
    return _reader()(value)


@cache
def _reader() -> Callable[[bytes], Any]:
    import fastavro

    text = Path(drs_record.__file__).with_name("record.avsc").read_text(encoding="utf-8")
    schema = avro.parse_schema(json.loads(text))
    canonical = fastavro.schema.to_parsing_canonical_form(json.loads(text))
    frame = MARKER + bytes.fromhex(fastavro.schema.fingerprint(canonical, "CRC-64-AVRO"))

    def read(value: bytes) -> Any:
        if value[:FRAME_BYTES] not in (frame, LEFT_AWAY):
            raise ValueError(f"a frame of another schema: {value[:FRAME_BYTES].hex()}")
        datum = BytesIO(value[FRAME_BYTES:])
        try:
            record = fastavro.schemaless_reader(datum, schema, None, return_record_name=True)
        except (EOFError, IndexError, KeyError, TypeError, OverflowError, MemoryError):
            raise ValueError("no record of DRS's schema") from None
        if datum.read():
            raise ValueError("bytes behind the record")
        return record

    return read


def record_items(message: Any) -> Iterator[Item]:
    """Reads images as lists in the order of `fields`; names of tables are in quotes."""
    event_ms = message["updateTimestamp"]
    if message["operation"] not in OPERATIONS:
        yield Statement(message["afterImages"][0][1]["value"].decode(), event_ms)
        return
    names = [field["name"] for field in message["fields"]]
    before, after = (
        None if values is None else dict(zip(names, values, strict=True))
        for values in (message["beforeImages"], message["afterImages"])
    )
    *outer, table = message["tableName"].strip('"').split('"."')
    yield Change(
        OPERATIONS[message["operation"]],
        table,
        before,
        after,
        None,
        event_ms,
        ".".join(outer) or None,
        text(message["eventid"]),
    )


def _epoch_microseconds(value: Any, type: object) -> int:
    """A Timestamp as the carrier holds it; the carrier can express infinity."""
    return int(value[1]["timestamp"]) * 1_000_000 + int(value[1]["millis"]) * 1000


_NO_ORACLE: Final = {
    f"oracle {type}": LEFT_OUT
    for type in ("interval", "binary", "bfile", "urowid", "xml", "long", "clob", "nclob", "json")
}
_MICROSECONDS: Final = "microseconds"
_MILLISECONDS: Final = Reading(_epoch_microseconds, to_milliseconds, lost=_MICROSECONDS)
_DOCUMENT: Final = Reading(bson, relaxed, lost=RELAXED)
_AVRO: Final = {
    "mysql timestamp": Reading(
        lambda value, type: avro.member(value, type, digits=3), to_milliseconds, lost=_MICROSECONDS
    ),
    "oracle timestamptz": _MILLISECONDS,
    "postgresql timestamptz": _MILLISECONDS,
    "*": Reading(avro.member),
    **_NO_ORACLE,
}
_JSON: Final = {
    "mongodb null": LEFT_OUT,
    "mongodb document": _DOCUMENT,
    "mongodb javascriptWithScope": _DOCUMENT,
    "mongodb dbPointer": _DOCUMENT,
    "mongodb *": Reading(bson),
    "mysql timestamp": EPOCH,
    "mysql binary": SIGNED_BYTES,
    "mysql geometry": SIGNED_BYTES,
    "sqlserver binary": SIGNED_BYTES,
    "sqlserver hierarchyid": SIGNED_BYTES,
    "postgresql binary": HEXADECIMAL,
    "oracle timestamptz": SHANGHAI,
    **_NO_ORACLE,
}
_NOT_DELETED: Final = {"sqlserver": ("text", "ntext", "image")}

AVRO: Final = Decoder(
    parse=parse_record,
    items=record_items,
    carries=frozenset(("event_ms", "position")),
    readings=_AVRO,
    not_deleted=_NOT_DELETED,
    shown=lambda message, value: avro.member(value, None) if avro.is_member(value) else value,
)
JSON: Final = Decoder(
    parse=read_object,
    items=items,
    carries=frozenset(("key", "event_ms", "position")),
    images_of={"mongodb": {(UPDATE, "before"): KEY, (UPDATE, "after"): CHANGED, (DELETE, "before"): KEY}},
    readings=_JSON,
    not_deleted=_NOT_DELETED,
)
JSON_C: Final = Decoder(
    parse=read_object,
    items=items,
    carries=JSON.carries,
    readings={**_JSON, "mysql timestamp": Reading(east(8), to_seconds, lost="fractions of a second")},
)
