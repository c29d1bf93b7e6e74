"""YAML as scenarios are written by hand: a line a column, inner mappings in braces."""

from __future__ import annotations

import json
import re
from typing import Any, Final

# A scalar that means itself without quotes, in braces, too. The language reads all scalars but null as texts.
_PLAIN: Final = re.compile(r"[A-Za-z0-9_/][\w/.@+-]*(?:[ ()][\w()/.@+-]+)*\)?")
_NULL: Final = ("null", "Null", "NULL")


def scalar(text: str) -> str:
    """
    >>> scalar("varchar(40)"), scalar("decimal(8,2)"), scalar("null")
    ('varchar(40)', '"decimal(8,2)"', '"null"')
    """
    if _PLAIN.fullmatch(text) and text not in _NULL:
        return text
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def flow(data: Any) -> str:
    """
    >>> flow({"type": "json", "values": {"range": ["1", "9"]}})
    '{type: json, values: {range: [1, 9]}}'
    """
    if isinstance(data, dict):
        return "{" + ", ".join(f"{scalar(str(key))}: {flow(value)}" for key, value in data.items()) + "}"
    if isinstance(data, list | tuple):
        return "[" + ", ".join(map(flow, data)) + "]"
    return scalar(str(data))


def comment(text: str, indent: str) -> str:
    """A comment of one line; names in it may have hold line breaks."""
    return f"{indent}# {' '.join(text.split())}"
