"""Oracle's column types as text: read from SQL, and printed as the data dictionary and DBAs print them.

The table of types is `type_table`.
"""

from __future__ import annotations

import re
from typing import Final

from simulator.errors import UsageError
from simulator.model import ColumnType
from simulator.sources import type_texts
from simulator.sources.oracle.type_table import ALIASES, FIXED_POINT, MOST_DIGITS, TYPES, WHOLE, Alias, OracleType

_WITH_LENGTH: Final = ("varchar", "nvarchar", "raw")
_COUNTED: Final = ("char", "varchar")

_PLAIN: Final = re.compile(r"([A-Z_][A-Z0-9_.]*(?: [A-Z_]+)*?) ?(?:\(([^()]*)\))?", re.IGNORECASE)
_TIMESTAMP: Final = re.compile(r"TIMESTAMP ?(?:\( ?([^()]*?) ?\))?( WITH (LOCAL )?TIME ZONE)?", re.IGNORECASE)
_YEARS: Final = re.compile(r"INTERVAL YEAR ?(?:\( ?([^()]*?) ?\))? TO MONTH", re.IGNORECASE)
_DAYS: Final = re.compile(r"INTERVAL DAY ?(?:\( ?([^()]*?) ?\))? TO SECOND ?(?:\( ?([^()]*?) ?\))?", re.IGNORECASE)


def parse_type(text: str) -> ColumnType:
    """A column type as typed in SQL; the text is kept in `spelled`. Raises UsageError.

    A precision that is not typed and that Oracle puts in is there: TIMESTAMP is TIMESTAMP(6).

    >>> parse_type("NUMBER(10,2)").length, parse_type("NUMBER(*,2)").length, parse_type("NUMBER").length
    (10, 38, None)
    >>> parse_type("INTEGER").name, parse_type("DOUBLE PRECISION").length, parse_type("VARCHAR(9)").name
    ('number', 126, 'varchar2')
    >>> parse_type("TIMESTAMP(3) WITH LOCAL TIME ZONE").name, parse_type("INTERVAL DAY(3) TO SECOND").scale
    ('timestamp with local time zone', 6)
    """
    typed = text.strip()
    words = re.sub(r" ?\( ?", "(", re.sub(r"\s+", " ", typed)).replace(" )", ")")
    if match := _TIMESTAMP.fullmatch(words):
        name = "timestamp" + (f" with {match[3] or ''}time zone".lower() if match[2] else "")
        return ColumnType(name, _number(typed, match[1], 6), spelled=typed)
    if match := _YEARS.fullmatch(words):
        return ColumnType("interval year to month", _number(typed, match[1], 2, "leading"), spelled=typed)
    if match := _DAYS.fullmatch(words):
        days, digits = _number(typed, match[1], 2, "leading"), _number(typed, match[2], 6)
        return ColumnType("interval day to second", days, digits, spelled=typed)
    match = _PLAIN.fullmatch(words)
    typed_name = match[1].lower() if match else typed
    alias = ALIASES.get(typed_name) or Alias(typed_name)
    if match is None or alias.name not in TYPES:
        raise type_texts.unknown(typed_name, "an Oracle", [*TYPES, *ALIASES])
    return _plain(typed, typed_name, TYPES[alias.name], alias.implied, match[2])


def _number(text: str, typed: str | None, default: int, argument: str = "fraction") -> int:
    """One argument of 0 to 9: fraction digits, or digits of the leading field of an interval."""
    if typed is None:
        return default
    if not typed.isdecimal() or int(typed) > 9:
        meanings = {"fraction": "the number of fraction digits", "leading": "the precision of the leading field"}
        raise UsageError(f"{text!r}: {meanings[argument]} must be 0 to 9.")
    return int(typed)


def _plain(text: str, typed: str, row: OracleType, implied: tuple[int, ...], bracketed: str | None) -> ColumnType:
    """A type of one name, with or without brackets."""
    if bracketed is None:
        if row.arguments in _WITH_LENGTH:
            raise UsageError(f"{text!r}: {row.name} needs a length, as in {row.name.upper()}(40).")
        integer = (MOST_DIGITS, 0) if typed in FIXED_POINT else ()
        length, scale = (*(implied or integer or row.default), None, None)[:2]
        return ColumnType(row.name, length, scale, spelled=text)
    if typed in WHOLE or typed in ("real", "double precision") or not row.arguments:
        raise UsageError(f"{text!r}: {typed} takes no argument in brackets.")
    parts = bracketed.split(",")
    in_characters = False
    if row.arguments in _COUNTED and (unit := re.fullmatch(r"(.*?) ?(BYTE|CHAR)", bracketed.strip(), re.IGNORECASE)):
        parts, in_characters = [unit[1]], unit[2].upper() == "CHAR"
    values: list[int | None] = []
    for i, part in enumerate(parts):
        word = part.strip()
        if word == "*" and row.name in ("number", "float") and i == 0:
            # a star is the maximum; alone it has no effect
            values.append(MOST_DIGITS if len(parts) > 1 else 126 if row.name == "float" else None)
        elif re.fullmatch(r"-?\d+", word):
            values.append(int(word))
        else:
            raise UsageError(f"{text!r}: whole numbers belong between the brackets of {typed}.")
    type_texts.check(text, typed, values, type_texts.arguments(__file__)[row.arguments])
    length = values[0]
    scale = values[1] if len(values) > 1 else 0 if row.name == "number" and length is not None else None
    characters = in_characters or row.arguments in ("nchar", "nvarchar")
    return ColumnType(row.name, length, scale, spelled=text, characters=characters)


# ------------------------------------------------------------------------------------------------ texts of types

STYLES: Final = ("dictionary", "bare")


def type_text(type: ColumnType, *, style: str | None = None) -> str:
    """The text of a type.

    | style | INTEGER | VARCHAR(40 CHAR) | TIMESTAMP WITH TIME ZONE | INTERVAL DAY TO SECOND |
    | --- | --- | --- | --- | --- |
    | dictionary | NUMBER(38) | VARCHAR2(40 CHAR) | TIMESTAMP(6) WITH TIME ZONE | INTERVAL DAY(2) TO SECOND(6) |
    | bare | NUMBER | VARCHAR2 | TIMESTAMP WITH TIME ZONE | INTERVAL DAY TO SECOND |

    >>> type_text(parse_type("integer")), type_text(parse_type("number(5,-2)")), type_text(parse_type("nchar(3)"))
    ('NUMBER(38)', 'NUMBER(5,-2)', 'NCHAR(3)')
    """
    style = type_texts.style_of(style, STYLES)
    name = type.name.upper()
    if style == "bare" or type.length is None:
        return name
    if type.name == "number":
        return f"NUMBER({type.length},{type.scale})" if type.scale else f"NUMBER({type.length})"
    if type.name.startswith("timestamp"):
        return name.replace("TIMESTAMP", f"TIMESTAMP({type.length})", 1)
    if type.name == "interval year to month":
        return f"INTERVAL YEAR({type.length}) TO MONTH"
    if type.name == "interval day to second":
        return f"INTERVAL DAY({type.length}) TO SECOND({type.scale})"
    counts = " CHAR" if type.characters and type.name in ("char", "varchar2") else ""
    return f"{name}({type.length}{counts})"
