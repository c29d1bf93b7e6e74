"""PostgreSQL's JSON: `json` keeps its text once it is checked, `jsonb` becomes the text that the server prints.

Keys are sorted by length in bytes, then by bytes; the last of equal ones is kept; numbers are numerics and keep their
scale.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from simulator.errors import short
from simulator.sources.json_tree import by_length, write
from simulator.sources.postgresql.literals.numbers import plain_decimal
from simulator.text.json_style import ESCAPES


class _Number(str):
    """A number of a document, as it is written."""


def checked(text: str) -> str:
    """The text of a `json` value, which is kept as written. Raises ValueError."""
    _loaded(text)
    return text


def normalised(text: str) -> str:
    """The text that PostgreSQL prints of a `jsonb` value. Raises ValueError.

    >>> normalised('{"b": 1,  "aa":[1.0, 1e3, -0.0], "a":"é/", "b":2}')
    '{"a": "é/", "b": 2, "aa": [1.0, 1000, 0.0]}'
    """
    try:
        return write(_loaded(text), _leaf, key=_quoted, order=by_length)
    except RecursionError:
        raise ValueError(f"{short(text)} is nested too deeply") from None


def _loaded(text: str) -> Any:
    try:
        return json.loads(text, parse_int=_Number, parse_float=_Number, parse_constant=_refused)
    except RecursionError:
        raise ValueError(f"{short(text)} is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{short(text)} is not a JSON text: {error.msg} at character {error.pos}") from None


def _refused(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON value")


def _quoted(text: str) -> str:
    if "\0" in text:
        raise ValueError("a jsonb string cannot hold the character \\u0000")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("a jsonb string holds half a surrogate pair") from None
    return f'"{text.translate(ESCAPES)}"'


def _leaf(value: Any) -> str:
    if isinstance(value, _Number):
        return plain_decimal(Decimal(value))
    return _quoted(value) if isinstance(value, str) else json.dumps(value)
