"""Columnar comparison of documents with a common shape, which is their text without the leaves.

Generated documents of a field mostly have one shape. Texts with the same shape differ in the leaves' texts only, since
a carrier holds the shortest text of a value; so no document is parsed row by row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from simulator.model import Column, ColumnType
from simulator.sources.json_tree import quoted
from simulator.sources.mongodb import json as bson

# Patterns of leaves' texts by type, without escapes, wrappers and exponents.
_LEAVES: Final = {str: r'"[^"\\]*"', int: r"-?\d{1,9}", float: r"-?\d{1,7}\.\d{1,8}"}
_TYPES: Final = {str: "string", int: "int", float: "double", list: "array", dict: "object"}
_CARRIERS: Final = {str: pa.string(), int: pa.int64(), float: pa.float64(), list: pa.string(), dict: pa.string()}


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a document that an update sets as a whole: a leaf, an array, or an object whose fields no path can
    name.
    """

    path: str
    kind: type

    @property
    def column(self) -> Column:
        return Column(self.path, ColumnType(_TYPES[self.kind]))

    def values(self, texts: pa.Array) -> pa.Array:
        """Carriers of this part's texts."""
        return (pc.utf8_slice_codeunits(texts, 1, -1) if self.kind is str else texts).cast(_CARRIERS[self.kind])


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape's pattern, with a group for each part."""

    pattern: str
    parts: tuple[Part, ...]

    def texts(self, documents: pa.Array) -> pa.StructArray:
        """The texts of the parts of each document; null for documents of another shape."""
        return pc.extract_regex(documents, self.pattern)


def shape_of(text: str, path: str) -> Shape | None:
    """The shape of an object at a path; None if it has values with several spellings."""
    parts: list[Part] = []
    try:
        pattern = "".join(_pattern(bson.stored_tree(text), path, parts))
    except KeyError:
        return None
    return Shape(f"^{pattern}$", tuple(parts)) if parts else None


def _pattern(value: Any, path: str | None, parts: list[Part]) -> Iterator[str]:
    """Pieces of the pattern; without a path, inside of a part. Raises KeyError for a type that has none."""
    inner = isinstance(value, dict) and path is not None and can_be_named(value)
    if path is not None and not inner:
        yield f"(?P<part{len(parts)}>"
        parts.append(Part(path, type(value)))
    if isinstance(value, dict):
        for i, (name, member) in enumerate(value.items()):
            yield (", " if i else r"\{") + re.escape(quoted(name)) + ": "
            yield from _pattern(member, f"{path}.{name}" if inner else None, parts)
        yield r"\}" if value else r"\{\}"
    elif isinstance(value, list):
        for i, member in enumerate(value):
            yield ", " if i else r"\["
            yield from _pattern(member, None, parts)
        yield r"\]" if value else r"\[\]"
    else:
        yield _LEAVES[type(value)]
    if path is not None and not inner:
        yield ")"


def can_be_named(fields: dict[str, Any]) -> bool:
    """Whether a path can name each of the fields."""
    return all(name and "." not in name and not name.startswith("$") for name in fields)
