"""Comparison of values: collations, numbers against texts, sort keys, LIKE."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from simulator.sql.errors import Unsupported
from simulator.sql.values import temporal
from simulator.sql.values.documents import Document
from simulator.sql.values.kinds import Bits, Label, Raw, bytes_of, number_of, text_of
from simulator.sql.values.temporal import Temporal

# Unicode's order: blanks and marks, other signs, currencies, digits, letters.
_MARKS: Final = str.maketrans(
    {mark: chr(rank) for rank, mark in enumerate(" _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~", 1)} | {"$": "\x2f$"}
)
# Letters that Unicode's order decomposes: equal to their parts since version 9, after them before that.
_LETTERS: Final = {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ħ": "h"}
_OLD_LETTERS: Final = {letter: f"{letters[0]}\uffff" for letter, letters in _LETTERS.items()}
# Collations, and the letters under them, whose equal letters were compared with those of servers; of other collations
# only ASCII.
_VERIFIED: Final = re.compile(
    r"utf8(mb[34])?_(general_ci|unicode_ci|0900_ai_ci)|(ascii|cp866|cp1251|greek|hebrew|koi8r|koi8u)_general_ci"
)
_VERIFIED_LETTERS: Final = re.compile(
    r"(?:(?![ÐðĐđıİŒœ])[\0-\u017f\u0370-\u03ff\u0400-\u045f\u2010-\u2bff\u4e00-\u9fff\uac00-\ud7a3\ufffd"
    r"\U00010000-\U0010ffff])*"
)
_BEYOND_BMP: Final = re.compile("[\U00010000-\U0010ffff]")


@lru_cache(maxsize=65_536)
def ordered(text: str, collation: str) -> str:
    """The sort key of a text under a collation; equal texts have equal keys."""
    key = folded(text, collation)
    if "_0900_" not in collation and "_unicode_" not in collation:
        return key
    key = key.translate(_MARKS)
    return key if key.isascii() else "".join(map(_in_order, key))


def _in_order(character: str) -> str:
    if character < "\x80" or character in "\ufffd\uffff" or character.isalnum():
        return character
    return ("\x2f" if unicodedata.category(character) == "Sc" else "\x2e") + character


@lru_cache(maxsize=65_536)
def folded(text: str, collation: str) -> str:
    """The text without what the collation ignores: case and accents under `_ci`, trailing blanks if the collation pads
    (all but those of Unicode 9 and binary)."""
    pads = "_0900_" not in collation and collation != "binary"
    if pads:
        text = text.rstrip(" ")
    if collation.endswith("_bin") or collation == "binary":
        return text
    if "_cs" in collation or "_as_" in collation:
        return text.upper() if "_ci" in collation else text
    if text.isascii():
        return text.upper()
    if _VERIFIED.fullmatch(collation) is None or _VERIFIED_LETTERS.fullmatch(text) is None:
        raise Unsupported(f"comparing letters such as those of {text[:20]!r} under {collation}")
    if "_general_" in collation:
        text = text.replace("ß", "s")  # a single letter there; two letters in other collations
    else:
        letters = _LETTERS if "_0900_" in collation else _OLD_LETTERS
        text = "".join(letters.get(c.lower(), c) for c in text)
    if "_0900_" not in collation and "_520_" not in collation:
        text = _BEYOND_BMP.sub("\ufffd", text)  # older collations treat all of these characters as equal
    unaccented = "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
    return unaccented.upper() if "_0900_" not in collation else unaccented.casefold().upper()


def compare(left: Any, right: Any, collation: str) -> int | None:
    """-1, 0 or 1; None where one is NULL."""
    if left is None or right is None:
        return None
    if type(left) is int and type(right) is int:
        return (left > right) - (left < right)
    a: Any
    b: Any
    if isinstance(left, Temporal) or isinstance(right, Temporal):
        a, b = _as_temporals(left, right)
    elif isinstance(left, Document) or isinstance(right, Document):
        a, b = _documents(left, right)
    elif _textual(left) and _textual(right):
        if isinstance(left, bytes) or isinstance(right, bytes):
            if isinstance(left, Raw | str) and isinstance(right, Raw | str) and type(left) is not type(right):
                raise Unsupported("comparing hexadecimal digits with a text")
            a, b = bytes_of(left), bytes_of(right)
        else:
            a, b = ordered(str(left), collation), ordered(str(right), collation)
    else:
        a, b = number_of(left), number_of(right)
        if isinstance(a, Decimal) != isinstance(b, Decimal) and isinstance(a, float | Decimal):
            a, b = (float(a), float(b)) if isinstance(a, float) or isinstance(b, float) else (a, b)
        elif isinstance(b, float) or isinstance(a, float):
            a, b = float(a), float(b)
    return int(a > b) - int(a < b)


def _textual(value: Any) -> bool:
    return isinstance(value, str | bytes)


def _as_temporals(left: Any, right: Any) -> tuple[Any, Any]:
    reference = left if isinstance(left, Temporal) else right
    sides = []
    for side in (left, right):
        if isinstance(side, str | bytes):
            side = _as_temporal(text_of(side), reference.kind)
        sides.append(side)
    a, b = sides
    if isinstance(a, str) or isinstance(b, str):
        raise Unsupported("comparing a date or time with a text that is none")
    if isinstance(a, Temporal) and isinstance(b, Temporal):
        if "time" in (a.kind, b.kind) and a.kind != b.kind:
            raise Unsupported("comparing a time with a date")
        return a.key, b.key
    return float(number_of(a)), float(number_of(b))


def _as_temporal(text: str, kind: str) -> Any:
    if kind == "time":
        time = temporal.parse_time(text) if ":" in text else None
        return text if time is None else Temporal("time", 0, time[0], time[1])
    parsed = temporal.parse_datetime(text)
    return text if parsed is None else parsed[0]


def _documents(left: Any, right: Any) -> tuple[Any, Any]:
    a = left.value if isinstance(left, Document) else left
    b = right.value if isinstance(right, Document) else right
    numbers = int | float | Decimal
    if isinstance(a, numbers) and isinstance(b, numbers):
        return float(a), float(b)
    if isinstance(a, str) and isinstance(b, str):
        return a, b
    if not (isinstance(left, Document) and isinstance(right, Document)):
        raise Unsupported("comparing a JSON document with a value of another kind")
    return Document(a).text(), Document(b).text()


def sort_key(value: Any, collation: str) -> Any:
    """A key that orders values of one column: NULL first."""
    if value is None:
        return (0, 0)
    if isinstance(value, Label | Bits):
        return (1, value.number if isinstance(value, Label) else int(value))
    if isinstance(value, str):
        return (1, ordered(value, collation))
    if isinstance(value, Temporal):
        return (1, value.key)
    if isinstance(value, Raw):
        return (1, bytes(value))
    if isinstance(value, Document):
        return (1, value.text())
    return (1, float(value) if isinstance(value, float) else value)


@lru_cache(maxsize=1024)
def like_pattern(pattern: str, escape: str) -> re.Pattern[str]:
    pattern_parts: list[str] = []
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if character == escape and position + 1 < len(pattern):
            position += 1
            pattern_parts.append(re.escape(pattern[position]))
        elif character == "%":
            pattern_parts.append(".*")
        elif character == "_":
            pattern_parts.append(".")
        else:
            pattern_parts.append(re.escape(character))
        position += 1
    return re.compile("".join(pattern_parts), re.DOTALL)


def _folded_letters(text: str, collation: str) -> str:
    """The text letter by letter: LIKE knows no letter that equals several others, such as `ß` and `ss`."""
    if text.isascii():
        return folded(text + "\0", collation)[:-1]  # trailing blanks are significant in LIKE
    letters = []
    for letter in text:
        alone = letter if letter == " " else folded(letter, collation)
        letters.append(alone if len(alone) == 1 else letter)
    return "".join(letters)


def like(value: Any, pattern: Any, escape: str, collation: str) -> bool | None:
    if value is None or pattern is None:
        return None
    text, pattern_text = text_of(value), text_of(pattern)
    if not collation.endswith("_bin") and collation != "binary" and not isinstance(value, bytes):
        text, pattern_text = _folded_letters(text, collation), _folded_letters(pattern_text, collation)
        escape = escape.upper()
    return like_pattern(pattern_text, escape).fullmatch(text) is not None
