"""PostgreSQL's and GaussDB's column types as text: read from SQL, and printed as the server's `format_type` does.

The table of types is `type_table`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from simulator.errors import UsageError
from simulator.model import ColumnType
from simulator.sources import type_texts
from simulator.sources.postgresql.type_table import EVERY_TYPE, PostgresType, aliases_of, element, types_of

STYLES: Final = ("format_type", "bare")


@dataclass(frozen=True)
class Dialect:
    """The types of one system in one version, with its name in messages."""

    system: str
    title: str
    version: int = 0

    @cached_property
    def types(self) -> Mapping[str, PostgresType]:
        return types_of(self.system, self.version)

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        return aliases_of(self.system)


POSTGRESQL_16: Final = Dialect("postgresql", "PostgreSQL", 16)

# The default length of types.
_DEFAULTS: Final = {"character": 1, "bit": 1}
# Scales below 0 or above the precision: PostgreSQL since this version.
_ANY_SCALE_SINCE: Final = 15

_ENUM: Final = re.compile(r"(?:([A-Za-z_\u0080-\uffff][\w$]*)\s+)?(?i:enum)\s*\((.*)\)", re.DOTALL)
_LABEL: Final = re.compile(r"\s*'((?:[^']|'')*)'\s*(,|$)")
_SHAPE: Final = re.compile(
    r"""\s* ( "char" | [A-Za-z_][A-Za-z0-9_]* (?:\s+[A-Za-z_][A-Za-z0-9_]*)* )
        \s* (?: \( ([^)]*) \) )?
        \s* ( [A-Za-z_]+ (?:\s+[A-Za-z_]+)* )?
        \s* ( (?: \[ \s* \d* \s* \] \s* )* | array ) \s*""",
    re.VERBOSE | re.IGNORECASE,
)


def parse_type(text: str, dialect: Dialect = POSTGRESQL_16) -> ColumnType:
    """A column type as typed in SQL; the text is kept in `spelled`. An enum is written with its labels, behind the
    name of the type if it has one: `mood enum('sad','ok')`; its name is what is typed in SQL.

    >>> parse_type("INT4").name, parse_type("timestamptz(3)").name, parse_type("float(24)").name
    ('integer', 'timestamp with time zone', 'real')
    >>> parse_type("varchar(40)[]").name, parse_type("varchar(40)[]").length
    ('character varying[]', 40)
    >>> parse_type("mood enum('sad','it''s')").labels, parse_type("mood enum('sad')").spelled
    (('sad', "it's"), 'mood')
    """
    if match := _ENUM.fullmatch(text.strip()):
        return ColumnType("enum", labels=_labels(text, match[2]), spelled=(match[1] or "").lower())
    match = _SHAPE.fullmatch(text)
    if not match:
        raise _unknown(text.strip(), dialect)
    word, bracketed, suffix, dimensions = match.groups()
    typed = " ".join((word + (" " + suffix if suffix else "")).split())
    array = bool(dimensions) or typed.lower().endswith(" array")
    typed = typed.removesuffix(" array").removesuffix(" ARRAY")
    name = typed.lower() if word != '"char"' else word
    name = dialect.aliases.get(name, name)
    if name not in dialect.types or name == "enum" or name.endswith("[]"):
        raise _unknown(typed, dialect)
    numbers = _numbers(text, typed, bracketed)
    if typed.lower() == "float" and numbers:
        return _float(text, numbers, array)
    length, scale = _arguments(text, typed, name, numbers, dialect)
    if array:
        name += "[]"
        if name not in dialect.types:
            raise UsageError(f"{text.strip()!r}: arrays of {typed} are not offered here.")
    return ColumnType(name, length, scale, spelled=text.strip())


def _unknown(typed: str, dialect: Dialect) -> UsageError:
    return type_texts.unknown(typed, f"a {dialect.title}", [*dialect.types, *dialect.aliases])


def _labels(text: str, bracketed: str) -> tuple[str, ...]:
    labels: list[str] = []
    end = 0
    while match := _LABEL.match(bracketed, end):
        labels.append(match[1].replace("''", "'"))
        end = match.end()
        if match[2] != ",":
            break
    if not labels or end < len(bracketed):
        raise UsageError(f"{text.strip()!r}: quoted labels belong between the brackets, as in enum('a','b').")
    if len(set(labels)) < len(labels):
        raise UsageError(f"{text.strip()!r}: a label stands there twice.")
    if long := next((label for label in labels if not 1 <= len(label.encode()) <= 63), None):
        raise UsageError(f"{text.strip()!r}: a label has 1 to 63 bytes, not {len(long.encode())}.")
    return tuple(labels)


def _numbers(text: str, typed: str, bracketed: str | None) -> tuple[int, ...]:
    if bracketed is None:
        return ()
    parts = [part.strip() for part in bracketed.split(",")]
    if not all(re.fullmatch(r"-?\d+", part) for part in parts):
        raise UsageError(f"{text.strip()!r}: whole numbers belong between the brackets of {typed}.")
    return tuple(map(int, parts))


def _float(text: str, numbers: tuple[int, ...], array: bool) -> ColumnType:
    """FLOAT(p) only chooses between the two types: single precision has 24 bits."""
    if len(numbers) > 1 or not 1 <= numbers[0] <= 53:
        raise UsageError(f"{text.strip()!r}: the precision must be 1 to 53.")
    name = "real" if numbers[0] <= 24 else "double precision"
    return ColumnType(name + ("[]" if array else ""), spelled=text.strip())


def _arguments(
    text: str, typed: str, name: str, numbers: tuple[int, ...], dialect: Dialect
) -> tuple[int | None, int | None]:
    if not numbers:
        return _DEFAULTS.get(name), None
    type_texts.check(text.strip(), typed, numbers, type_texts.arguments(__file__).get(EVERY_TYPE[name].arguments, ()))
    if name != "numeric":
        return numbers[0], None
    scale = numbers[1] if len(numbers) > 1 else 0
    free = dialect.system == "postgresql" and dialect.version >= _ANY_SCALE_SINCE
    if not free and not 0 <= scale <= numbers[0]:
        raise UsageError(f"{text.strip()!r}: the scale must be 0 to {numbers[0]}, the precision.")
    return numbers[0], scale


# ------------------------------------------------------------------------------------------------ texts of types


def type_text(type: ColumnType, *, style: str | None = None) -> str:
    """The text of a type as the server prints it; an enum is its own name.

    | style | varchar(40) | timestamptz(3) | decimal(8, 3)[] | int | bpchar |
    | --- | --- | --- | --- | --- | --- |
    | format_type | character varying(40) | timestamp(3) with time zone | numeric(8,3)[] | integer | bpchar |
    | bare | character varying | timestamp with time zone | numeric[] | integer | bpchar |

    >>> type_text(parse_type("Timestamp( 3 ) with time zone"), style="format_type")
    'timestamp(3) with time zone'
    """
    style = type_texts.style_of(style, STYLES)
    if type.name == "enum":
        return enum_name(type)
    if style == "bare" or type.length is None:
        return type.name
    if type.name.endswith("[]"):
        return type_text(element(type), style=style) + "[]"
    arguments = f"({type.length})" if type.name != "numeric" else f"({type.length},{type.scale or 0})"
    first, blank, remaining = type.name.partition(" ")
    return first + arguments + blank + remaining if remaining.endswith("time zone") else type.name + arguments


def enum_name(type: ColumnType) -> str:
    """The name of an enum type; by default it is derived from the labels.

    >>> enum_name(parse_type("mood enum('sad','ok')")), enum_name(parse_type("enum('New York','ok')"))
    ('mood', 'enum_new_york_ok')
    """
    if type.spelled:
        return type.spelled
    words = [re.sub(r"\W+", "_", label).strip("_").lower() for label in type.labels]
    return "_".join(["enum", *filter(None, words)])[:63]
