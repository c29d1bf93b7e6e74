"""How a scenario writes portable types: a name that every system has a type for, and arguments in brackets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from simulator.errors import UsageError
from simulator.sources import type_texts

# The portable types, and how many arguments each takes. `enum('a','b')` is one more.
ARGUMENTS: Final[Mapping[str, tuple[int, ...]]] = {
    "bool": (0,),
    "int16": (0,),
    "int32": (0,),
    "int64": (0,),
    "uint16": (0,),
    "uint32": (0,),
    "uint64": (0,),
    "decimal": (0, 1, 2),
    "float32": (0,),
    "float64": (0,),
    "string": (1,),
    "text": (0,),
    "bytes": (1,),
    "blob": (0,),
    "date": (0,),
    "time": (0, 1),
    "timestamp": (0, 1),
    "timestamptz": (0, 1),
    "json": (0,),
    "uuid": (0,),
}
# What stands in the brackets if nothing does.
_DEFAULTS: Final[Mapping[str, tuple[str, ...]]] = {
    "decimal": ("10", "0"),
    "time": ("0",),
    "timestamp": ("0",),
    "timestamptz": ("0",),
}
_TEXT: Final = re.compile(r"\s*([A-Za-z0-9_]+)\s*(?:\(\s*(\d+(?:\s*,\s*\d+)*)\s*\))?\s*")
_ENUM: Final = re.compile(r"\s*enum\s*\(((?:\s*'(?:[^']|'')*'\s*,?)+)\)\s*", re.IGNORECASE)


def parsed(text: str) -> tuple[str, tuple[str, ...]]:
    """(name, arguments) of a portable type. Raises UsageError for a name that is not there, and for another number of
    arguments.

    >>> parsed("string(40)"), parsed("timestamp")
    (('string', ('40',)), ('timestamp', ('0',)))
    """
    match = _TEXT.fullmatch(text)
    name = match[1].lower() if match else text.strip()
    if not match or name not in ARGUMENTS:
        raise type_texts.unknown(name, "a portable", [*ARGUMENTS, "enum"])
    given = tuple(part.strip() for part in match[2].split(",")) if match[2] else ()
    if len(given) not in ARGUMENTS[name]:
        example = {"string": "string(40)", "bytes": "bytes(16)"}.get(name, name)
        counts = " or ".join(map(str, ARGUMENTS[name]))
        raise UsageError(f"{text!r}: {name} wants {counts} arguments, as in {example}.")
    return name, given or _DEFAULTS.get(name, ())


def is_enum(text: str) -> bool:
    return re.match(r"\s*enum\s*\(", text, re.IGNORECASE) is not None


def labels(text: str) -> tuple[str, ...]:
    """The labels of `enum('a','it''s')`. Raises UsageError."""
    match = _ENUM.fullmatch(text)
    if not match:
        raise UsageError(f"{text!r}: quoted labels belong between the brackets, as in enum('a','b').")
    found = tuple(label.replace("''", "'") for label in re.findall(r"'((?:[^']|'')*)'", match[1]))
    if len(set(found)) < len(found):
        raise UsageError(f"{text!r}: a label stands there twice.")
    return found
