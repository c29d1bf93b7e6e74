"""A message for people: where it goes, and its value, indented."""

from __future__ import annotations

import re
from io import BytesIO
from typing import TYPE_CHECKING, Final

import orjson

if TYPE_CHECKING:
    from simulator.formats.format import Codec
    from simulator.model import Message


def message_text(message: Message, codec: Codec) -> str:
    """A message for people: a line that says where it goes, then its value, indented; Avro is decoded."""
    head = [
        f"-- {message.order}: {message.kind.name}",
        f"topic {message.topic}",
        f"partition {'by key' if message.partition is None else message.partition}",
        f"key {'none' if message.key is None else message.key.decode(errors='replace')}",
    ]
    if message.tag is not None:
        head.append(f"tag {message.tag}")
    for name, value in message.headers:
        head.append(f"header {name}={'' if value is None else value.decode(errors='replace')}")
    return ", ".join(head) + "\n" + _pretty(message.value, codec)


def _pretty(value: bytes | None, codec: Codec) -> str:
    if value is None:
        return "(no value: a tombstone)"
    if (container := codec.layout.container) is not None:
        from fastavro import parse_schema, schemaless_reader

        schema = parse_schema(orjson.loads(container.schema))
        decoded = schemaless_reader(BytesIO(value[container.framing :]), schema, None)
        return orjson.dumps(decoded, option=orjson.OPT_INDENT_2, default=_bytes).decode()
    try:
        orjson.loads(value)
    except orjson.JSONDecodeError:
        return value.decode(errors="replace")
    return indented(value.decode())


# A string, an empty object or list, a bracket, a comma, a colon, or a number or word; blanks are skipped.
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|\{\s*\}|\[\s*\]|[{}\[\],:]|[^\s{}\[\],:"]+')


def indented(text: str) -> str:
    """JSON with a member a line; texts and numbers stay as the product wrote them.

    >>> print(indented('{"a":[1.50,"x"],"b":{}}'))
    {
      "a": [
        1.50,
        "x"
      ],
      "b": {}
    }
    """
    parts: list[str] = []
    depth = 0
    for token in _TOKEN.findall(text):
        if token in ("}", "]"):
            depth -= 1
            parts.append("\n" + "  " * depth)
        parts.append("".join(token.split()) if token[0] in "{[" else token)
        if token in ("{", "["):
            depth += 1
        if token in ("{", "[", ","):
            parts.append("\n" + "  " * depth)
        elif token == ":":
            parts.append(" ")
    return "".join(parts)


def _bytes(value: object) -> str:
    if not isinstance(value, bytes):
        raise TypeError(type(value))
    try:
        return value.decode()
    except UnicodeDecodeError:
        return "0x" + value.hex()
