r"""MySQL's JSON documents as text that keeps the types which JSON lacks.

A log holds documents in binary, with dates and decimals; their text has strings and numbers only. Typed text has an
object with one member, `{"\ud800date": "2024-05-01"}` or `{"\ud800decimal": 1.5}`, for a date (a string in MySQL's
text) and for a decimal that would read as a double. No document of a table has such a member: `\ud800` alone is no
character, and MySQL refuses it. The document without a byte that INSERT IGNORE may store in place of a missing one,
which MySQL prints as null, is `EMPTY`. Streams carry typed text apart from the printed one
(`ChangeBatch.typed_json`), for products that print the binary document themselves.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

DATE: Final = "\ud800date"
DECIMAL: Final = "\ud800decimal"
# String that stands for a value of another type; the group holds its bytes.
OPAQUE: Final = re.compile(r"base64:type\d+:([A-Za-z0-9+/=]*)")
# Text of a document of zero bytes.
EMPTY: Final = '{"\\ud800empty": null}'
_OPENING: Final = '{"\\ud800'
_TYPED: Final = re.compile(r'\{"\\ud800(?:date|decimal|empty)": ("[^"]*"|[^}]*)\}')


class Number(str):
    """A number with a fraction or an exponent, as written."""


class Pairs(list[tuple[str, Any]]):
    """An object's members in order."""


def parsed(text: str) -> Any:
    """A document as Python data; `Number` and `Pairs` keep what `float` and `dict` lose."""
    return json.loads(text, parse_float=Number, object_pairs_hook=Pairs)


def date(text: str) -> str:
    return f'{_OPENING}date": "{text}"}}'


def decimal(text: str) -> str:
    return f'{_OPENING}decimal": {text}}}'


def is_typed(text: str) -> bool:
    """Whether a text has a typed scalar."""
    return _OPENING in text


def printed(text: str) -> str:
    r"""The text as MySQL prints it.

    >>> printed(r'{"d": {"\ud800date": "2024-05-01"}, "s": "a", "n": [{"\ud800decimal": 1.5}]}')
    '{"d": "2024-05-01", "s": "a", "n": [1.5]}'
    """
    return _TYPED.sub(r"\1", text) if is_typed(text) else text
