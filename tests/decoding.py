"""What the values of each format say, read by others' decoders; each raises ValueError for what is none."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import fastavro

from simulator.formats.cloudcanal import dts_avro as cloudcanal_dts_avro
from simulator.formats.drs import record as drs_record
from simulator.formats.dts.record import record as dts_record


class Number(str):
    """A JSON number, as it is written."""

    __slots__ = ()


def read_json(value: bytes) -> Any:
    """A compact JSON text in UTF-8, no name twice in an object."""
    text = value.decode()
    decoded = json.loads(text, object_pairs_hook=_unique, parse_int=Number, parse_float=Number)
    if re.search(r"\s", re.sub(r'"[^"\\]*(?:\\.[^"\\]*)*"', "", text)):
        raise ValueError("white space between values")
    return decoded


def _unique(members: list[tuple[str, object]]) -> dict[str, object]:
    if len(dict(members)) != len(members):
        raise ValueError("a name stands there twice")
    return dict(members)


def read_drs_avro(value: bytes) -> Any:
    """A record of the schema whose fingerprint the value names."""
    return _drs_reader()(value)


@cache
def _drs_reader() -> Callable[[bytes], Any]:
    text = Path(drs_record.__file__).with_name("record.avsc").read_text(encoding="utf-8")
    schema = fastavro.parse_schema(json.loads(text))
    canonical = fastavro.schema.to_parsing_canonical_form(json.loads(text))
    fingerprint = bytes.fromhex(fastavro.schema.fingerprint(canonical, "CRC-64-AVRO"))

    def read(value: bytes) -> Any:
        frame, datum = value[:10], BytesIO(value[10:])
        if frame != b"\xc3\x01" + fingerprint:
            raise ValueError(f"a frame of another schema: {frame.hex()}")
        record = fastavro.schemaless_reader(datum, schema, None, return_record_name=True)
        if datum.read():
            raise ValueError("more bytes than a record has")
        return record

    return read


def read_avro(schema: Any, value: bytes) -> Any:
    """A datum of a parsed schema, with the names of branches; it is the same bytes when it is written again."""
    file = BytesIO(value)
    decoded = fastavro.schemaless_reader(file, schema, None, return_record_name=True)
    if file.read():
        raise ValueError("bytes behind the record")
    again = BytesIO()
    fastavro.schemaless_writer(again, schema, decoded)
    if again.getvalue() != value:
        raise ValueError("fastavro writes other bytes")
    return decoded


@cache
def dts_schema(variant: str) -> Any:
    return fastavro.parse_schema(json.loads(dts_record.schema(variant)))


@cache
def ispk_schema(variant: str) -> Any:
    """Of the shipped file, which has a member isPk in each field."""
    path = Path(cloudcanal_dts_avro.__file__).with_name("dts_record.avsc")
    schema = json.loads(path.read_text(encoding="utf-8"))
    if variant == "A":
        schema["fields"] = [field for field in schema["fields"] if field["name"] != "bornTimestamp"]
    return fastavro.parse_schema(schema)


# The decoders of formats that are not JSON; an option of its own may have another than its format.
DECODERS: Final[Mapping[str, Callable[[bytes], Any]]] = {
    "drs-avro": read_drs_avro,
    "cloudcanal-dts-avro": lambda value: read_avro(dts_schema("B"), value),
    "cloudcanal-dts-avro,ispk_field=on": lambda value: read_avro(ispk_schema("B"), value),
    "cloudcanal-dts-avro,schema_variant=A": lambda value: read_avro(dts_schema("A"), value),
    "cloudcanal-dts-avro,ispk_field=on,schema_variant=A": lambda value: read_avro(ispk_schema("A"), value),
    "dts-avro": lambda value: read_avro(dts_schema("B"), value),
    "dts-avro,schema_variant=A": lambda value: read_avro(dts_schema("A"), value),
    "dts-avro,framing=confluent": lambda value: read_avro(dts_schema("B"), value[5:]),
    "dts-avro,framing=confluent,schema_variant=A": lambda value: read_avro(dts_schema("A"), value[5:]),
}


def decode(format: str, value: bytes) -> Any:
    """A value of a format: by the decoder that most of its options have."""
    parts = set(format.split(","))
    fitting = [name for name in DECODERS if set(name.split(",")) <= parts]
    return DECODERS[max(fitting, key=len)](value) if fitting else read_json(value)
