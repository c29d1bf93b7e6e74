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

from simulator.formats import drs_record


def read_json(value: bytes) -> Any:
    """A compact JSON text in UTF-8, no name twice in an object."""
    text = value.decode()
    decoded = json.loads(text, object_pairs_hook=_unique)
    if re.search(r"\s", re.sub(r'"(?:[^"\\]|\\.)*"', "", text)):
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
    text = Path(drs_record.__file__).with_name("drs_record.avsc").read_text(encoding="utf-8")
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


# The decoders of formats that are not JSON.
DECODERS: Final[Mapping[str, Callable[[bytes], Any]]] = {
    "drs-avro": read_drs_avro,
}


def decode(format: str, value: bytes) -> Any:
    """A value of a format (options after a comma do not count)."""
    return DECODERS.get(format.partition(",")[0], read_json)(value)
