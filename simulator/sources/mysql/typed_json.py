"""MySQL's JSON documents as text that keeps the types which JSON lacks.

A log holds documents in binary, with dates and decimals; their text has strings and numbers only. A blank behind a
scalar, where MySQL's text never has one, marks a date (without it: a string) or a decimal that would read as a double.
Streams carry such texts apart from the printed ones (`ChangeBatch.typed_json`), for products that print the binary
document themselves. So does the document without a byte that INSERT IGNORE may store in place of a missing one, which
MySQL prints as null: `null` and a blank.
"""

from __future__ import annotations

import re
from typing import Final

_SCALAR: Final = re.compile(r'("(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*)( ?)')
_MAYBE: Final = re.compile(r'[0-9"] (?:[,}\]]|$)')
# A document without a byte.
EMPTY: Final = "null "
# The only member of an object that represents a marked scalar.
MARK: Final = "\0"


def is_typed(text: str) -> bool:
    """Whether a text may hold a marked scalar."""
    return _MAYBE.search(text) is not None or text == EMPTY


def printed(text: str) -> str:
    r"""The text as MySQL prints it.

    >>> printed('{"d": "2024-05-01" , "s": "a , b", "n": [1.5 ]}')
    '{"d": "2024-05-01", "s": "a , b", "n": [1.5]}'
    """
    return _SCALAR.sub(r"\1", text).removesuffix(" ") if is_typed(text) else text


def marks_as_objects(text: str) -> str:
    r"""JSON in which a marked scalar is an object with the one member `MARK`.

    >>> marks_as_objects('[1.5 , 1.5]')
    '[{"\\u0000":1.5}, 1.5]'
    """
    if text == EMPTY:
        return '{"\\u0000":null}'
    return _SCALAR.sub(lambda match: f'{{"\\u0000":{match[1]}}}' if match[2] else match[1], text)
