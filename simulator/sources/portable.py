"""How a scenario writes portable types: a name that every system has a type for, and arguments in brackets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from simulator.errors import UsageError, closest

_TEXT: Final = re.compile(r"\s*([A-Za-z0-9_]+)\s*(?:\(\s*(\d+(?:\s*,\s*\d+)*)\s*\))?\s*")


def parsed(text: str, table: Mapping[str, tuple[tuple[int, ...], str]]) -> tuple[str, str, list[str]]:
    """(name, the system's type, arguments) by the system's table of names: how many arguments each takes, and its type.

    Raises UsageError for a name that is not there and for another number of arguments.
    """
    match = _TEXT.fullmatch(text)
    name = match[1].lower() if match else text.strip()
    if not match or name not in table:
        guess = closest(name, [*table, "enum"])
        raise UsageError(f"{name!r} is not a portable type." + (f" Did you mean {guess!r}?" if guess else ""))
    counts, target = table[name]
    given = match[2].split(",") if match[2] else []
    if len(given) not in counts:
        example = {"string": "string(40)", "bytes": "bytes(16)"}.get(name, name)
        raise UsageError(f"{text!r}: {name} wants {' or '.join(map(str, counts))} arguments, as in {example}.")
    return name, target, given
