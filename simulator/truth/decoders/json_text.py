"""Strict parser of JSON messages; numbers keep their spelling."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

_STRINGS: Final = re.compile(r'"(?:[^"\\]|\\.)*"')


class Number(str):
    """A JSON number in its original spelling."""

    __slots__ = ()


def read_json(value: bytes, *, blanks: bool = False) -> Any:
    """Parses compact JSON in UTF-8, with `blanks` also other JSON. Raises ValueError for any other text, and for a
    repeated name in an object."""
    text = value.decode()
    decoded = json.loads(text, object_pairs_hook=_unique, parse_int=Number, parse_float=Number)
    if not blanks and re.search(r"\s", _STRINGS.sub("", text)):
        end = "a carriage return at its end" if text.endswith("\r") else "white space between values"
        raise ValueError(f"{end}, which the product does not write")
    return decoded


def read_object(value: bytes, options: Mapping[str, str] | None = None, *, blanks: bool = False) -> Any:
    """Parses a JSON object. Raises ValueError for anything else."""
    if not isinstance(decoded := read_json(value, blanks=blanks), dict):
        raise ValueError("no JSON object")
    return decoded


def _unique(members: list[tuple[str, object]]) -> dict[str, object]:
    if len(dict(members)) != len(members):
        raise ValueError("a name appears twice in an object")
    return dict(members)
