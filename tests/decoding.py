"""What the values of each format say, read by others' decoders; each raises ValueError for what is none."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final


def read_json(value: bytes) -> Any:
    """A compact JSON text in UTF-8, no name twice in an object."""
    text = value.decode()
    decoded = json.loads(text, object_pairs_hook=_unique)
    if re.search(r"\s", re.sub(r'"(?:[^"\\]|\\.)*"', "", text)):
        raise ValueError("white space between values")
    return decoded


def _unique(members: list[tuple[str, object]]) -> dict[str, object]:
    if len(dict(members)) != len(members):
        raise ValueError("a name stands there twice")
    return dict(members)


# The decoders of formats that are not JSON.
DECODERS: Final[Mapping[str, Callable[[bytes], Any]]] = {}


def decode(format: str, value: bytes) -> Any:
    """A value of a format (options after a comma do not count)."""
    return DECODERS.get(format.partition(",")[0], read_json)(value)
