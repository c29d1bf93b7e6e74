"""BSON types as text: read from scenarios, and printed."""

from __future__ import annotations

import re
from typing import Final

from simulator.errors import UsageError
from simulator.model import ColumnType
from simulator.sources import type_texts
from simulator.sources.mongodb.type_table import ALIASES, TYPES, Alias

_TEXT: Final = re.compile(r"\s*([A-Za-z][A-Za-z0-9]*)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?\s*")
STYLES: Final = ("catalogue", "bare")


def parse_type(text: str) -> ColumnType:
    """A BSON type as a scenario writes it; the text is kept in `spelled`.

    >>> parse_type("ObjectId").name, parse_type("NumberLong").name, parse_type("uuid").scale
    ('objectId', 'long', 4)
    """
    match = _TEXT.fullmatch(text)
    word = match[1].lower() if match else text.strip()
    names = {name.lower(): name for name in TYPES}
    if not match or (word not in names and word not in ALIASES):
        raise type_texts.unknown(word, "a BSON", [*TYPES, *ALIASES])
    alias = ALIASES.get(word) or Alias(names[word])
    name = alias.name
    first, second = (int(part) if part else None for part in match.groups()[1:])
    if name == "decimal" and first is not None:
        if not 1 <= first <= 34 or (second or 0) > first:
            raise UsageError(
                f"{text!r}: a decimal of MongoDB has 1 to 34 digits, and no more of them behind the point."
            )
        return ColumnType(name, first, second or 0, spelled=text.strip())
    if name == "binData" and second is None and word != "uuid":
        if first is not None and first > 255:
            raise UsageError(f"{text!r}: a subtype is 0 to 255.")
        return ColumnType(name, scale=first, spelled=text.strip())
    if first is not None:
        raise UsageError(f"{text!r}: {name} takes no number in brackets; binData takes one, decimal two.")
    # a date has milliseconds
    return ColumnType(name, 3 if name == "date" else None, alias.subtype, spelled=text.strip())


def type_text(type: ColumnType, *, style: str | None = None) -> str:
    """The text of a type: `decimal(10,2)`, `binData(4)`; `bare` the name alone.

    >>> type_text(parse_type("uuid")), type_text(parse_type("decimal(9,2)"), style="bare")
    ('binData(4)', 'decimal')
    """
    style = type_texts.style_of(style, STYLES)
    if style == "bare":
        return type.name
    if type.name == "decimal" and type.length is not None:
        return f"decimal({type.length},{type.scale or 0})"
    return f"binData({type.scale})" if type.name == "binData" and type.scale else type.name
