"""JSON documents as column values: a fixed shape whose leaves are literals or values of their own.

The text is the database's own: `", "` and `": "` between things, keys by length of their bytes and then by bytes, as
MySQL stores and prints them; a system of other habits has the scenario's order, or no blanks either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded

# A leaf makes a column of finished JSON text for a number of rows.
Leaf = Callable[[Any], pa.Array]


def quoted(text: str) -> str:
    return orjson.dumps(text).decode()


def literal(text: str | None) -> str:
    """A literal as JSON: null, true, false and numbers as they are, all else as a string."""
    if text is None:
        return "null"
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return quoted(text)
    return text if value is None or isinstance(value, bool | int | float) else quoted(text)


def pieces(shape: Any, leaf: Callable[[dict[str, Any]], Leaf | None], style: str = "sorted") -> list[str | Leaf]:
    """The document as constants and leaves in the order in which they are written.

    Its keys are sorted, or stay in the order in which they were `written`; `compact` has no blanks either.
    """
    out: list[str | Leaf] = []
    comma, colon = (",", ":") if style == "compact" else (", ", ": ")

    def write(node: Any) -> None:
        if isinstance(node, dict):
            made = leaf(node)
            if made is not None:
                out.append(made)
                return
            out.append("{")
            keys = sorted(node, key=lambda k: (len(k.encode()), k.encode())) if style == "sorted" else list(node)
            for i, key in enumerate(keys):
                out.append((comma if i else "") + quoted(key) + colon)
                write(node[key])
            out.append("}")
        elif isinstance(node, list):
            out.append("[")
            for i, item in enumerate(node):
                if i:
                    out.append(comma)
                write(item)
            out.append("]")
        else:
            out.append(literal(node))

    write(shape)
    merged: list[str | Leaf] = []
    for piece in out:
        if isinstance(piece, str) and merged and isinstance(merged[-1], str):
            merged[-1] += piece
        else:
            merged.append(piece)
    return merged


def as_json(array: pa.Array) -> pa.Array:
    """A column of carriers as JSON text: numbers bare, all else as strings; null is `null`."""
    plain = decoded(array)
    if pa.types.is_integer(plain.type) or pa.types.is_decimal(plain.type):
        return plain.cast(pa.string()).fill_null("null")
    distinct = plain.dictionary_encode()
    words = pa.array([quoted(str(value)) for value in distinct.dictionary.to_pylist()], pa.string())
    return words.take(distinct.indices).fill_null("null")


class Document:
    """A generator of documents."""

    def __init__(self, parts: list[str | Leaf], *, always: bool) -> None:
        self.parts, self.always = parts, always

    def array(self, state: Any) -> pa.Array:
        if all(isinstance(part, str) for part in self.parts):
            text = "".join(part for part in self.parts if isinstance(part, str))
            return pa.array([text] * len(state), pa.string())
        columns = [part if isinstance(part, str) else part(state) for part in self.parts]
        return pc.binary_join_element_wise(*columns, "")
