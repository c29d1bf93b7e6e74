"""Portable types of scenarios: a name for which every system has a type, and arguments in brackets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from simulator.errors import UsageError
from simulator.sources import type_texts
from simulator.tables import CsvTable


@dataclass(frozen=True, slots=True)
class Arguments:
    """The permitted numbers of arguments of a portable type, and the default arguments."""

    counts: tuple[int, ...]
    default: tuple[str, ...] = ()


# By type; `enum('a','b')` is one more.
ARGUMENTS: Final = CsvTable(__file__, "portable.csv", Arguments)
_TEXT: Final = re.compile(r"\s*([A-Za-z0-9_]+)\s*(?:\(\s*(\d+(?:\s*,\s*\d+)*)\s*\))?\s*")
_ENUM: Final = re.compile(r"\s*enum\s*\(((?:\s*'(?:[^']|'')*'\s*,?)+)\)\s*", re.IGNORECASE)


def parsed(text: str) -> tuple[str, tuple[str, ...]]:
    """(name, arguments) of a portable type. Raises UsageError for an unknown name, and for a wrong number of arguments.

    >>> parsed("string(40)"), parsed("timestamp")
    (('string', ('40',)), ('timestamp', ('0',)))
    """
    match = _TEXT.fullmatch(text)
    name = match[1].lower() if match else text.strip()
    if not match or name not in ARGUMENTS:
        raise type_texts.unknown(name, "a portable", [*ARGUMENTS, "enum"])
    arguments = tuple(part.strip() for part in match[2].split(",")) if match[2] else ()
    if len(arguments) not in ARGUMENTS[name].counts:
        example = {"string": "string(40)", "bytes": "bytes(16)"}.get(name, name)
        counts = " or ".join(map(str, ARGUMENTS[name].counts))
        raise UsageError(f"{text!r}: {name} wants {counts} arguments, as in {example}.")
    return name, arguments or ARGUMENTS[name].default


def is_enum(text: str) -> bool:
    return re.match(r"\s*enum\s*\(", text, re.IGNORECASE) is not None


def labels(text: str) -> tuple[str, ...]:
    """The labels of `enum('a','it''s')`. Raises UsageError."""
    match = _ENUM.fullmatch(text)
    if not match:
        raise UsageError(f"{text!r}: quoted labels belong between the brackets, as in enum('a','b').")
    names = tuple(label.replace("''", "'") for label in re.findall(r"'((?:[^']|'')*)'", match[1]))
    if len(set(names)) < len(names):
        raise UsageError(f"{text!r}: a label stands there twice.")
    return names
