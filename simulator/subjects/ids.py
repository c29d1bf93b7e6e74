"""Ids of schemas, the prefix of messages that have one, and the schemas that this process knows by their ids."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Protocol

from simulator.errors import UsageError
from simulator.model import Table, TableId
from simulator.subjects.registered import OWN, Origin
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
    """Ids of schemas by their texts; their own (`own_id`) where no registry or file has them. `numbers`: the ids from
    there, set before the first message; until then messages are attempts, which have the id 0."""

    origin: Origin = OWN
    numbers: Mapping[str, int] | None = None

    def of(self, schema: str) -> int:
        """The id of a schema. Raises UsageError for one that has none."""
        if not self.origin.is_given:
            id = own_id(schema)
        elif self.numbers is None:
            return 0
        elif schema in self.numbers:
            id = self.numbers[schema]
        else:
            raise UsageError(f"no id is known for the schema {full_name(schema)}.")
        remember(id, schema)
        return id

    def prefix(self, schema: str) -> bytes:
        """The first bytes of each message with a schema."""
        return b"\x00" + self.of(schema).to_bytes(4)


class Pairs(Protocol):
    """The subjects and schemas of a stream's messages, in the order in which they are registered: of the tables as it
    finds them, and of all versions that it has; `topic_of` gives a table's topic."""

    def __call__(
        self, first: Sequence[Table], versions: Iterable[Table], topic_of: Callable[[TableId], str]
    ) -> Iterable[tuple[str, str]]: ...


@dataclass(frozen=True)
class Subjects:
    """A format's schemas that messages refer to by id: their ids, and where they are registered."""

    ids: SchemaIds
    pairs: Pairs


@dataclass(frozen=True, slots=True)
class Registered(Container):
    """Messages of several schemas, each with the id of its own."""

    schema: str = MESSAGES
    keys: bool = True
    whole: bool = True
    origin: Origin = OWN

    def decoded(self, value: bytes) -> Any:
        """The datum of a message as Python data: numbers, texts, bytes, as Avro has them without logical types. Raises
        ValueError for an unknown id."""
        return Container(bare(schema_of(value, self.origin)), PREFIX_BYTES).decoded(value)


def schema_of(value: bytes, origin: Origin) -> str:
    """The schema of a message: one that this process has used, else one of the registry or file. Raises ValueError for
    an unknown id."""
    id = id_of(value)
    schema = known(id) if not origin.is_given else origin.schema(id)
    if schema is None:
        hint = "" if origin.is_given else "; name its registry (schema.registry.url) or a file of schemas (schema.ids)"
        raise ValueError(f"no schema is known for the id {id}{hint}")
    return schema


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


def full_name(schema: str) -> str:
    """The full name of a schema's record, or of the record in its union."""
    parsed = json.loads(schema)
    if isinstance(parsed, list):
        parsed = next(branch for branch in parsed if branch != "null")
    return f"{parsed.get('namespace', '')}.{parsed.get('name', parsed.get('type'))}".lstrip(".")
