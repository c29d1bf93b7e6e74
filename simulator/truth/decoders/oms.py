"""Decoders of OceanBase Migration Service: five JSON formats, by the vendor's pages and Flink's reader of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from simulator.model import UPDATE
from simulator.truth.decoders import canal, dts
from simulator.truth.decoders.change import (
    CHANGED,
    OPERATIONS,
    Change,
    Decoder,
    Image,
    Item,
    Mark,
    Statement,
    milliseconds,
    text,
)
from simulator.truth.decoders.json_text import read_object
from simulator.truth.decoders.values import (
    BASE64,
    EPOCH,
    LOB,
    Reading,
    in_base64,
    interval_literal,
    named_zone,
    number,
    significant,
)

MARKS: Final = ("HEARTBEAT", "TRANSACTION_BEGIN", "TRANSACTION_END")


def default_items(message: Any) -> Iterator[Item]:
    """Reads `prevStruct` and `postStruct` of one row."""
    meta, kind = message["allMetaData"], message["recordType"]
    if kind in MARKS:
        yield Mark(kind)
        return
    event_ms = int(meta["timestamp"]) * 1000 if meta.get("timestamp") else None  # rows of a full sync have none
    if kind not in OPERATIONS:
        yield Statement(message["postStruct"]["ddl"], event_ms)
        return
    yield Change(
        OPERATIONS[kind],
        meta["table_name"],
        _without_types(message["prevStruct"]),
        _without_types(message["postStruct"]),
        frozenset((meta["record_primary_key"] or "").split("\x01")) - {""},
        event_ms,
        text(meta["db"]),
        text(meta.get("storeDataSequence")),
    )


def _without_types(image: Image) -> Image:
    return None if image is None else {name: value for name, value in image.items() if name != "__light_type"}


def dataworks_items(message: Any) -> Iterator[Item]:
    """Reads the row before and after from `payload`, its table and key from `schema`."""
    payload, schema = message["payload"], message["schema"]
    if payload["op"] in MARKS:
        yield Mark(payload["op"])
        return
    event_ms = milliseconds(payload["timestamp"]["eventTime"])
    if payload["ddl"] is not None:
        yield Statement(payload["ddl"]["text"], event_ms)
        return
    yield Change(
        OPERATIONS[payload["op"]],
        schema["source"]["table"],
        (payload["before"] or {}).get("data"),
        (payload["after"] or {}).get("data"),
        frozenset(schema["pk"]),
        event_ms,
        text(schema["source"]["dbName"]),
        text(payload.get("scn")),
    )


_READINGS: Final = {
    "mysql float": significant(7),
    "mysql double": significant(16),
    "mysql bit": Reading(number(in_base64)),
    "mysql binary": BASE64,
    "mysql timestamp": EPOCH,
    "oracle binary_float": significant(7),
    "oracle binary_double": significant(16),
    "oracle binary": BASE64,
    "oracle timestamptz": Reading(named_zone),
    "oracle interval": Reading(interval_literal),
    "oracle clob": LOB,
    "oracle nclob": LOB,
}

CANAL_JSON: Final = Decoder(
    parse=read_object,
    items=canal.items,
    carries=frozenset(("key", "event_ms")),
    images={(UPDATE, "before"): CHANGED},
    readings=_READINGS,
)
DATAWORKS: Final = Decoder(
    parse=read_object,
    items=dataworks_items,
    carries=frozenset(("key", "event_ms", "position")),
    readings=_READINGS,
)
DEFAULT: Final = Decoder(
    parse=read_object, items=default_items, carries=frozenset(("key", "event_ms", "position")), readings=_READINGS
)
SHAREPLEX: Final = Decoder(
    parse=read_object,
    items=dts.shareplex_in_china,
    carries=frozenset(("event_ms", "position", "transaction")),
    images={(UPDATE, "after"): CHANGED},
    readings=_READINGS,
)
