"""Decoders of CloudCanal: its own JSON, Canal JSON, a Debezium envelope and DTS's Avro records, by the vendor's
pages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from simulator.formats.cloudcanal import dts_avro as cloudcanal_dts_avro
from simulator.model import DELETE, UPDATE
from simulator.truth.decoders import avro, canal, dts
from simulator.truth.decoders.change import OPERATIONS, Change, Decoder, Item, Mark, Statement, milliseconds, text
from simulator.truth.decoders.documents import RELAXED, any_year, bson, relaxed
from simulator.truth.decoders.json_text import read_object
from simulator.truth.decoders.values import HEXADECIMAL, LEFT_OUT, LOB, NO_SRID, Carried, Reading, no_srid


def json_items(message: Any) -> Iterator[Item]:
    """Reads `data` and `before`; a deleted row is in `data`."""
    if message["entryType"] == "TRANSACTIONEND":
        yield Mark("COMMIT")
        return
    event_ms = milliseconds(message["execTs"])
    if message["action"] not in OPERATIONS:
        yield Statement(message["sql"], event_ms)
        return
    op = OPERATIONS[message["action"]]
    for index, row in enumerate(message["data"]):
        yield Change(
            op,
            message["table"],
            row if op is DELETE else message["before"][index] if op is UPDATE else None,
            None if op is DELETE else row,
            frozenset(message["pks"]),
            event_ms,
            text(message["db"]),
            text(message["bid"]),
        )


# Members of a Debezium envelope's `source`, if present: together they are the position, one of them the transaction.
POSITIONS: Final = (
    "file",
    "pos",
    "commit_scn",
    "scn",
    "ssn",
    "lsn",
    "commit_lsn",
    "change_lsn",
    "event_serial_no",
    "ord",
)
TRANSACTIONS: Final = ("gtid", "txId")


def debezium_items(message: Any) -> Iterator[Item]:
    """Reads `before` and `after` of one row; a statement is in `ddl`."""
    payload = message.get("payload", message)
    if "ddl" in payload:
        yield Statement(payload["ddl"])
        return
    source = payload["source"]
    position = ":".join(str(source[name]) for name in POSITIONS if source.get(name) is not None)
    transaction = next((source[name] for name in TRANSACTIONS if source.get(name) is not None), None)
    yield Change(
        OPERATIONS[payload["op"]],
        source["table"],
        payload["before"] or None,
        payload["after"] or None,
        database=text(source.get("db")),
        position=text(position),
        transaction=text(transaction),
    )


@cache
def ispk_schema(variant: str) -> Any:
    """The vendor's schema with a member isPk in each field, parsed for fastavro."""
    path = Path(cloudcanal_dts_avro.__file__).with_name("dts_record.avsc")
    schema = json.loads(path.read_text(encoding="utf-8"))
    if variant == "A":
        schema["fields"] = [field for field in schema["fields"] if field["name"] != "bornTimestamp"]
    return avro.parse_schema(schema)


def parse_record(value: bytes, options: Mapping[str, str]) -> Any:
    if options.get("ispk_field") == "on":
        return avro.read_avro(ispk_schema(options.get("schema_variant", "B")), value)
    return dts.parse_record(value, options)


_RELAXED: Final = Reading(lambda value, type: Carried(value), relaxed, lost=RELAXED)
_TEXT: Final = {
    "mysql bit": Reading(lambda value, type: str(int(value, 16))),
    "mysql geometry": Reading(seen=no_srid, lost=NO_SRID),
    "mysql binary": HEXADECIMAL,
    "oracle raw": HEXADECIMAL,
    "oracle long raw": HEXADECIMAL,
    "oracle blob": LEFT_OUT,
    "oracle clob": LOB,
    "oracle nclob": LOB,
    "oceanbase-oracle blob": HEXADECIMAL,
    "postgresql binary": HEXADECIMAL,
    "sqlserver binary": HEXADECIMAL,
    "sqlserver geometry": Reading(seen=no_srid, lost=NO_SRID),
    "mongodb binary": HEXADECIMAL,
    "mongodb date": Reading(any_year),
    "mongodb timestamp": Reading(lambda value, type: bson(json.loads(value), type)),
    "mongodb null": LEFT_OUT,
    "mongodb document": _RELAXED,
    "mongodb javascriptWithScope": _RELAXED,
    "mongodb dbPointer": _RELAXED,
}

JSON: Final = Decoder(
    parse=read_object, items=json_items, carries=frozenset(("key", "event_ms", "position")), readings=_TEXT
)
CANAL_JSON: Final = Decoder(
    parse=read_object, items=canal.items, carries=frozenset(("key", "event_ms", "position")), readings=_TEXT
)
DEBEZIUM: Final = Decoder(
    parse=read_object,
    items=debezium_items,
    carries=frozenset(("position",)),
    by_source=frozenset(("transaction",)),  # MySQL has one with GTIDs alone
    readings=_TEXT,
)
DTS_AVRO: Final = Decoder(
    parse=parse_record,
    items=dts.record_items,
    carries=dts.AVRO.carries,
    by_source=dts.AVRO.by_source,
    readings=dts.RECORD,
    shown=dts.shown,
)
