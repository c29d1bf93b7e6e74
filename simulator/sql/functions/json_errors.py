r"""What MySQL says of a text that is no JSON: RapidJSON's sentence and the place in bytes.

Confirmed by MySQL 5.7.22 and 8.0.31. MySQL 5.7 counts some places otherwise (`_PLACES_57`), as its RapidJSON does.

>>> problem('{"a":1 x', "mysql-8.0")
'"Missing a comma or \'}\' after an object member." at position 7'
"""

from __future__ import annotations

import re
from typing import Final

_BLANK: Final = b" \t\n\r"
_NUMBER: Final = re.compile(rb"-?(?:0|[1-9]\d*)")
_NOT_SINGULAR_57: Final = "The document root must not follow by other values."
# What 5.7 adds to a place: where a text follows it, where the text ends there.
_PLACES_57: Final = {
    "Missing a comma or '}' after an object member.": (1, 0),
    "Missing a comma or ']' after an array element.": (1, 0),
    "Missing a colon after a name of object member.": (1, 0),
    "Missing a closing quotation mark in string.": (0, -1),
    "Invalid value.": (0, 0),
}


class _Wrong(Exception):
    def __init__(self, sentence: str, place: int) -> None:
        super().__init__(sentence)
        self.sentence, self.place = sentence, place


def problem(text: str, server: str) -> str:
    """`"Invalid value." at position 3`: what is wrong in a text that is no JSON."""
    raw = text.encode("utf-8", "replace")
    try:
        at = _value(raw, _skip(raw, 0), root=True)
        at = _skip(raw, at)
        sentence, place = "The document root must not be followed by other values.", at
    except _Wrong as wrong:
        sentence, place = wrong.sentence, wrong.place
    except RecursionError:
        sentence, place = "The JSON document exceeds the maximum depth.", 0
    if server == "mysql-5.7":
        ends = place >= len(raw)
        place += _PLACES_57.get(sentence, (0, 0))[ends]
        if sentence == "Invalid value." and ends and raw[place - 1 : place].isalpha():
            place -= 1
        if sentence.startswith("The document root"):
            sentence = _NOT_SINGULAR_57
    return f'"{sentence}" at position {place}'


def _skip(raw: bytes, at: int) -> int:
    while at < len(raw) and raw[at] in _BLANK:
        at += 1
    return at


def _value(raw: bytes, at: int, *, root: bool = False) -> int:
    """The place behind the value that begins here."""
    first = raw[at : at + 1]
    if not first and root:
        raise _Wrong("The document is empty.", at)
    if first == b"{":
        return _object(raw, at + 1)
    if first == b"[":
        return _array(raw, at + 1)
    if first == b'"':
        return _string(raw, at)
    for word in (b"null", b"true", b"false"):
        if first == word[:1]:
            for i, letter in enumerate(word):
                if raw[at + i : at + i + 1] != bytes([letter]):
                    raise _Wrong("Invalid value.", at + i)
            return at + len(word)
    return _number(raw, at)


def _object(raw: bytes, at: int) -> int:
    at = _skip(raw, at)
    if raw[at : at + 1] == b"}":
        return at + 1
    while True:
        if raw[at : at + 1] != b'"':
            raise _Wrong("Missing a name for object member.", at)
        at = _skip(raw, _string(raw, at))
        if raw[at : at + 1] != b":":
            raise _Wrong("Missing a colon after a name of object member.", at)
        at = _skip(raw, _value(raw, _skip(raw, at + 1)))
        if raw[at : at + 1] == b"}":
            return at + 1
        if raw[at : at + 1] != b",":
            raise _Wrong("Missing a comma or '}' after an object member.", at)
        at = _skip(raw, at + 1)


def _array(raw: bytes, at: int) -> int:
    at = _skip(raw, at)
    if raw[at : at + 1] == b"]":
        return at + 1
    while True:
        at = _skip(raw, _value(raw, at))
        if raw[at : at + 1] == b"]":
            return at + 1
        if raw[at : at + 1] != b",":
            raise _Wrong("Missing a comma or ']' after an array element.", at)
        at = _skip(raw, at + 1)


def _string(raw: bytes, start: int) -> int:
    at = start + 1
    while at < len(raw):
        byte = raw[at]
        if byte == 0x22:
            return at + 1
        if byte == 0x5C:
            at = _escape(raw, at)
        elif byte < 0x20:
            raise _Wrong("Invalid encoding in string.", at)
        else:
            at += 1
    raise _Wrong("Missing a closing quotation mark in string.", len(raw))


def _escape(raw: bytes, at: int) -> int:
    mark = raw[at + 1 : at + 2]
    if mark == b"u":
        code = _hex(raw, at, at)
        if 0xD800 <= code < 0xDC00:
            if raw[at + 6 : at + 8] != b"\\u" or not 0xDC00 <= _hex(raw, at + 6, at) < 0xE000:
                raise _Wrong("The surrogate pair in string is invalid.", at)
            return at + 12
        return at + 6
    if not mark or mark not in b'"\\/bfnrt':
        raise _Wrong("Invalid escape character in string.", at)
    return at + 2


def _hex(raw: bytes, at: int, told: int) -> int:
    digits = raw[at + 2 : at + 6]
    if not re.fullmatch(rb"[0-9a-fA-F]{4}", digits):
        raise _Wrong("Incorrect hex digit after \\u escape in string.", told)
    return int(digits, 16)


def _number(raw: bytes, start: int) -> int:
    match = _NUMBER.match(raw, start)
    if match is None:
        raise _Wrong("Invalid value.", start + (raw[start : start + 1] == b"-"))
    at = match.end()
    if raw[at : at + 1] == b".":
        at += 1
        if not raw[at : at + 1].isdigit():
            raise _Wrong("Miss fraction part in number.", at)
        at = _digits(raw, at)
    if raw[at : at + 1] in (b"e", b"E"):
        at += 1
        if raw[at : at + 1] in (b"+", b"-"):
            at += 1
        if not raw[at : at + 1].isdigit():
            raise _Wrong("Miss exponent in number.", at)
        at = _digits(raw, at)
    if float(raw[start:at]) in (float("inf"), float("-inf")):
        raise _Wrong("Number too big to be stored in double.", start)
    return at


def _digits(raw: bytes, at: int) -> int:
    while raw[at : at + 1].isdigit():
        at += 1
    return at
