"""Decoders of Alibaba Cloud DTS: records of its Avro schema, Canal JSON and SharePlex JSON.

Sources: the vendor's pages on message formats, and the Avro classes of its subscription example.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final

from simulator.formats.dts.record import record as dts_record
from simulator.model import DELETE, UPDATE
from simulator.truth.decoders import avro, canal
from simulator.truth.decoders.change import (
    CHANGED,
    KEY,
    OPERATIONS,
    Change,
    Decoder,
    Image,
    Item,
    Mark,
    Statement,
    text,
)
from simulator.truth.decoders.documents import bson, extended_json
from simulator.truth.decoders.json_text import read_object
from simulator.truth.decoders.values import (
    EMPTY_LOB,
    HEXADECIMAL,
    LATIN1,
    LEFT_OUT,
    LOB,
    NO_SRID,
    SHANGHAI,
    Reading,
    cut_to_microseconds,
    geometry_text,
    interval_of_parts,
    no_srid,
)


@cache
def schema(variant: str) -> Any:
    """The vendor's schema, version A or B, parsed for fastavro."""
    return avro.parse_schema(json.loads(dts_record.schema(variant)))


# Confluent's prefix of a value: a zero and the schema's number.
CONFLUENT_BYTES: Final = 5
MARKS: Final = ("BEGIN", "COMMIT", "HEARTBEAT", "NOOP")


def parse_record(value: bytes, options: Mapping[str, str]) -> Any:
    prefix = CONFLUENT_BYTES if options.get("framing") == "confluent" else 0
    return avro.read_avro(schema(options.get("schema_variant", "B")), value[prefix:])


def record_items(message: Any) -> Iterator[Item]:
    """Reads images as lists in the order of `fields`; MongoDB's have a document and its id."""
    operation, event_ms = message["operation"], message["sourceTimestamp"] * 1000
    if operation in MARKS:
        yield Mark(operation)
        return
    if operation not in OPERATIONS:
        yield Statement(message["afterImages"], event_ms)
        return
    names = [field["name"] for field in message["fields"]]
    database, _, table = message["objectName"].rpartition(".")
    keys = json.loads(message["tags"].get("pk_uk_info", "{}")).get("PRIMARY", ())
    yield Change(
        OPERATIONS[operation],
        table,
        _image(names, message["beforeImages"]),
        _image(names, message["afterImages"]),
        frozenset(keys),
        event_ms,
        text(database),
        text(message["sourcePosition"]),
        text(message["sourceTxid"]) if message["sourceTxid"] != "0" else None,
    )


def _image(names: list[str], values: Any) -> Image:
    if not isinstance(values, list):
        return None
    row = dict(zip(names, values, strict=True))
    if names[0] != "_value":
        return {name: value for name, value in row.items() if value not in ("NONE", "EMPTY")}
    document = row["_value"] if row["_value"] != "NONE" else None
    return {"_id": extended_json(row["_id"][1]["value"])} | (extended_json(document[1]["value"]) if document else {})


def shown(message: Any, value: Any) -> Any:
    """A record's value for people."""
    return avro.member(value, None) if avro.is_member(value) else value


def shareplex_items(message: Any) -> Iterator[Item]:
    """Reads `key` as the row before and `data` as the changed columns; a deleted row is in `data`."""
    yield from _shareplex(message, hours_east=0)


def shareplex_in_china(message: Any) -> Iterator[Item]:
    """The same members as OMS prints them, in China's time."""
    yield from _shareplex(message, hours_east=8)


def _shareplex(message: Any, hours_east: int) -> Iterator[Item]:
    meta, data = message["meta"], message["data"]
    moment = datetime.fromisoformat(meta["time"]).replace(tzinfo=UTC) - timedelta(hours=hours_east)
    event_ms = round(moment.timestamp()) * 1000
    if meta["op"] not in OPERATIONS:
        yield Statement(data["sql"], event_ms)
        return
    op = OPERATIONS[meta["op"]]
    database, _, table = meta["table"].rpartition(".")
    yield Change(
        op,
        table,
        message.get("key") if op is UPDATE else data if op is DELETE else None,
        None if op is DELETE else data,
        None,
        event_ms,
        text(database),
        text(meta.get("scn")),
        text(meta.get("trans")),
    )


_TEXT: Final = {
    "mysql binary": LATIN1,
    "mysql geometry": LATIN1,
    "mysql timestamp": SHANGHAI,
    "oracle interval": Reading(interval_of_parts),
    "oracle binary": HEXADECIMAL,
    "oracle clob": LOB,
    "oracle nclob": LOB,
    "sqlserver binary": HEXADECIMAL,
    "sqlserver hierarchyid": HEXADECIMAL,
    "sqlserver geometry": HEXADECIMAL,
}
_LOB_MEMBER: Final = Reading(lambda value, type: avro.member(value, type) or EMPTY_LOB)
MEMBER: Final = Reading(avro.member)
_MICROSECONDS: Final = Reading(avro.member, cut_to_microseconds, lost="nanoseconds")
RECORD: Final = {
    "mysql geometry": Reading(lambda value, type: bytes(4) + avro.member(value, type), no_srid, lost=NO_SRID),
    "oracle clob": _LOB_MEMBER,
    "oracle nclob": _LOB_MEMBER,
    "oracle *": _MICROSECONDS,
    "sqlserver hierarchyid": MEMBER,
    "sqlserver geometry": Reading(lambda value, type: geometry_text(value[1]["value"]), no_srid, lost=NO_SRID),
    "sqlserver *": _MICROSECONDS,
    "mongodb null": LEFT_OUT,
    "mongodb *": Reading(bson),
    "postgresql jsonb": Reading(lambda value, type: avro.member(value, type).decode()),
    "*": MEMBER,
}

AVRO: Final = Decoder(
    parse=parse_record,
    items=record_items,
    carries=frozenset(("key", "event_ms", "position")),
    by_source=frozenset(("transaction",)),  # 0 of MySQL
    images_of={"mongodb": {(UPDATE, "before"): KEY, (DELETE, "before"): KEY}},
    readings=RECORD,
    shown=shown,
)
CANAL_JSON: Final = Decoder(
    parse=read_object, items=canal.items, carries=frozenset(("key", "event_ms", "position")), readings=_TEXT
)
SHAREPLEX_JSON: Final = Decoder(
    parse=read_object,
    items=shareplex_items,
    carries=frozenset(("event_ms", "position", "transaction")),
    images={(UPDATE, "after"): CHANGED},
    readings=_TEXT,
)
