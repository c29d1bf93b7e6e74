"""Message values as readable text, and cut into members; every value keeps the product's spelling."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import orjson

if TYPE_CHECKING:
    from simulator.formats.format import Codec

# A string, an empty object or list, a bracket, a comma, a colon, or a number or word; blanks are skipped.
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|\{\s*\}|\[\s*\]|[{}\[\],:]|[^\s{}\[\],:"]+')


def value_text(value: bytes, codec: Codec) -> str:
    """The value as text: Avro decoded to JSON, JSON and other text unchanged."""
    if (container := codec.layout.container) is not None:
        return orjson.dumps(container.decoded(value), default=_bytes).decode()
    return value.decode(errors="replace")


def key_text(key: bytes, codec: Codec) -> str:
    """The key as text; a key with a known schema of its own decoded to JSON."""
    container = codec.layout.container
    if container is not None and container.keys:
        with suppress(ValueError):
            return orjson.dumps(container.decoded(key), default=_bytes).decode()
    return key.decode(errors="backslashreplace")


def readable(text: str) -> str:
    """JSON with one member per line; other text unchanged."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return indented(text)


def indented(text: str) -> str:
    """JSON with one member per line; texts and numbers keep the product's spelling.

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


def cut(text: str, known: Collection[str]) -> list[tuple[str, str]]:
    """The members of a JSON object with the text of each, in order. A nested object is cut, too, if `known` has the
    path of one of its members.

    >>> cut('{"meta":{"op":"ins","scn":1.0},"data":{"a":"}"}}', ["meta.op", "data"])
    [('meta.op', '"ins"'), ('meta.scn', '1.0'), ('data', '{"a":"}"}')]
    """
    paths = {*known, *(path.partition(".")[2] for path in known)}  # an option may remove the outermost object
    opened = {path.rpartition(".")[0] for path in paths} - {""}
    return list(_cut(text, "", opened | {path.rpartition(".")[0] for path in opened}))


def _cut(text: str, parent: str, opened: Collection[str]) -> Iterator[tuple[str, str]]:
    for name, value in members(text):
        path = f"{parent}.{name}" if parent else name
        if path in opened and value.startswith("{") and value != "{}":
            yield from _cut(value, path, opened)
        else:
            yield path, value


def members(text: str) -> Iterator[tuple[str, str]]:
    """The members of an object: name and text; none if the text is no object. The MongoDB shell's syntax is cut, too:
    `{"_id": NumberLong(2)}`."""
    if text.startswith("{"):
        for part in elements(text):
            name = _TOKEN.match(part)
            if name is not None:
                yield orjson.loads(name[0]), part[name.end() :].lstrip().removeprefix(":").lstrip()


def elements(text: str) -> Iterator[str]:
    """The texts between the commas of an object or a list.

    >>> list(elements('[1.50, {"a": [2, 3]}]'))
    ['1.50', '{"a": [2, 3]}']
    """
    depth, start = 0, 1
    for match in _TOKEN.finditer(text):
        token = match[0]
        opens, closes = (0, 0) if token[0] == '"' else (sum(map(token.count, "{[(")), sum(map(token.count, "}])")))
        if (depth == 1 and token == ",") or (depth == 1 and closes > opens):
            if part := text[start : match.start()].strip():
                yield part
            start = match.end()
        depth += opens - closes


def _bytes(value: object) -> str:
    if not isinstance(value, bytes):
        raise TypeError(type(value))
    try:
        return value.decode()
    except UnicodeDecodeError:
        return "0x" + value.hex()
