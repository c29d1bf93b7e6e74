"""Writing of JSON documents, given as trees of Python values, in a system's spelling."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any


def write(
    tree: Any,
    leaf: Callable[[Any], str],
    *,
    key: Callable[[str], str] | None = None,
    comma: str = ", ",
    colon: str = ": ",
    order: Callable[[Iterable[str]], Iterable[str]] = iter,
) -> str:
    """A tree as text. `leaf` writes values other than objects and arrays, `key` a name with its quotes (default:
    `quoted`); `order` sorts the names of an object.
    """
    key = key or quoted

    def text(value: Any) -> str:
        if isinstance(value, dict):
            return "{" + comma.join([key(name) + colon + text(value[name]) for name in order(value)]) + "}"
        if isinstance(value, list):
            return "[" + comma.join([text(item) for item in value]) + "]"
        return leaf(value)

    return text(tree)


def quoted(text: str) -> str:
    """A JSON string with only the escapes that JSON requires."""
    return json.dumps(text, ensure_ascii=False)


def by_length(names: Iterable[str]) -> list[str]:
    """Names by their length in bytes of UTF-8, then by these bytes."""
    return sorted(names, key=lambda name: (len(raw := name.encode("utf-8", "surrogatepass")), raw))
