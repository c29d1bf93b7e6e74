"""Ids of schemas, the prefix of messages that have one, and the schemas that this process knows by their ids."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from simulator.errors import UsageError
from simulator.wire.avro import MESSAGES, Container

# The magic byte and the id.
PREFIX_BYTES: Final = 5
# Schemas by id that codecs of this process have used; one id has one schema, wherever it comes from.
_KNOWN: Final[dict[int, str]] = {}


def known(id: int) -> str | None:
    """The text of a schema that this process has used."""
    return _KNOWN.get(id)


def remember(id: int, schema: str) -> None:
    """Keeps a schema under its id."""
    _KNOWN[id] = schema


def own_id(schema: str) -> int:
    """The id of a schema without a registry: the same in every process, whatever other schemas there are.

    >>> own_id('"string"')
    1810591403
    """
    return zlib.crc32(schema.encode()) & 0x7FFFFFFF


@dataclass
class SchemaIds:
    """Ids of schemas by their texts; without `numbers`, their own (`own_id`)."""

    numbers: Mapping[str, int] | None = None

    def of(self, schema: str) -> int:
        """The id of a schema. Raises UsageError for one that has none."""
        if self.numbers is None:
            id = own_id(schema)
        elif schema in self.numbers:
            id = self.numbers[schema]
        else:
            name = json.loads(schema)
            raise UsageError(f"no id is known for the schema {_name(name)}: {schema[:200]}")
        remember(id, schema)
        return id

    def prefix(self, schema: str) -> bytes:
        """The first bytes of each message with a schema."""
        return b"\x00" + self.of(schema).to_bytes(4)


@dataclass(frozen=True, slots=True)
class Registered(Container):
    """Messages of several schemas, each with the id of its own."""

    schema: str = MESSAGES
    keys: bool = True
    whole: bool = True

    def decoded(self, value: bytes) -> Any:
        """The datum of a message as Python data. Raises ValueError for an id that this process does not know."""
        id = id_of(value)
        schema = known(id)
        if schema is None:
            raise ValueError(f"no schema is known here for the id {id}")
        return read(schema, value)


def read(schema: str, value: bytes) -> Any:
    """The datum of a message as Python data: numbers, texts, bytes, as Avro has them without logical types."""
    return Container(bare(schema), PREFIX_BYTES).decoded(value)


@cache
def bare(schema: str) -> str:
    """A schema without logical types, whose readers make decimals and dates of bytes and numbers."""
    return json.dumps(_without_logical_types(json.loads(schema)))


def _without_logical_types(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {key: _without_logical_types(part) for key, part in schema.items() if key != "logicalType"}
    return [_without_logical_types(part) for part in schema] if isinstance(schema, list) else schema


def id_of(value: bytes) -> int:
    """The schema id of a message. Raises ValueError for a message without one."""
    if len(value) < PREFIX_BYTES or value[0]:
        raise ValueError("it does not begin with a zero and a schema id")
    return int.from_bytes(value[1:PREFIX_BYTES])


def _name(schema: Any) -> str:
    """The full name of a schema's record."""
    if isinstance(schema, list):
        schema = next(branch for branch in schema if branch != "null")
    return f"{schema.get('namespace', '')}.{schema.get('name', schema.get('type'))}".lstrip(".")
