"""The other way, to compare with: one dict per message, and orjson; fastavro, where messages are Avro."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from typing import Any, Final

import fastavro
import orjson

from simulator.subjects.ids import PREFIX_BYTES, Registered, bare, schema_of
from simulator.wire.avro import Container

# fastavro takes a hundred times as long over a message as orjson: so many are enough.
AVRO_MESSAGES: Final = 2000


@dataclass(frozen=True)
class Rowwise:
    """Ready-made messages, what writes them all, and what that is called."""

    name: str
    messages: list[Any]
    write: Callable[[list[Any]], None]


def rowwise(values: Sequence[bytes], container: Container | None) -> Rowwise:
    """Messages as ready-made dicts, and a loop that makes the same bytes of them. Raises SystemExit if it does not."""
    if container is None:
        return Rowwise("orjson", dicts(values), write_json)
    # of all batches, so of all kinds
    made = records(values[:: max(1, len(values) // AVRO_MESSAGES)], container)

    def write(messages: list[Any]) -> None:
        writer = fastavro.schemaless_writer
        for schema, message in messages:
            writer(BytesIO(), schema, message)

    return Rowwise("fastavro", made, write)


def write_json(messages: list[Any]) -> None:
    dumps = orjson.dumps
    for message in messages:
        dumps(message)


def records(values: Sequence[bytes], container: Container) -> list[tuple[Any, Any]]:
    """Messages as ready-made dicts, the branches of unions named, of which fastavro makes the very same bytes, each
    behind its schema."""
    made = []
    for value in values:
        schema, framing = parsed(container.schema), container.framing
        if isinstance(container, Registered):
            schema, framing = parsed(bare(schema_of(value, container.origin))), PREFIX_BYTES
        message = fastavro.schemaless_reader(BytesIO(value[framing:]), schema, None, return_record_name=True)
        again = BytesIO()
        fastavro.schemaless_writer(again, schema, message)
        if again.getvalue() != value[framing:]:
            raise SystemExit(f"fastavro writes this message in other bytes, so it cannot be compared: {value!r}")
        made.append((schema, message))
    return made


@cache
def parsed(schema: str) -> Any:
    """A schema of fastavro."""
    return fastavro.parse_schema(orjson.loads(schema))


def dicts(values: Sequence[bytes]) -> list[dict[str, Any]]:
    """Messages as ready-made dicts of which orjson makes the very same bytes. Raises SystemExit if it does not."""
    made = [orjson.loads(value) for value in values]
    if any(orjson.dumps(message) != value for value, message in zip(values, made, strict=True)):
        # decimals as numbers: the dicts hold their text
        made = [json.loads(value, parse_float=orjson.Fragment) for value in values]
    for value, message in zip(values, made, strict=True):
        if orjson.dumps(message) != value:
            raise SystemExit(f"orjson writes this message in other bytes, so it cannot be compared: {value!r}")
    return made
