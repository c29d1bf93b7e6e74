"""SQL Server's column types as text: read from Transact-SQL, and printed as its catalogue and its tools print them."""

from __future__ import annotations

import re
from typing import Final

from simulator.errors import UsageError
from simulator.model import ColumnType
from simulator.sources import type_texts
from simulator.sources.sqlserver.type_table import ALIASES, CODE_PAGES, COLLATIONS, TYPES, Alias, SqlServerType

_TEXT: Final = re.compile(
    r"\s*(?P<name>\[?[A-Za-z_][A-Za-z0-9_]*\]?(?:\s+(?!collate\b)[A-Za-z]+)*)\s*"
    r"(?:\(\s*(?P<arguments>[^)]*?)\s*\))?\s*"
    r"(?:collate\s+(?P<collation>[A-Za-z0-9_]+))?\s*",
    re.IGNORECASE,
)
STYLES: Final = ("catalogue", "ddl_text", "bare")


def parse_type(text: str) -> ColumnType:
    """A column type as typed in Transact-SQL; the text is kept in `spelled`.

    >>> parse_type("NVARCHAR(max)").length, parse_type("nvarchar").length, parse_type("datetime2").length
    (None, 1, 7)
    >>> parse_type("float(24)").name, parse_type("rowversion").name, parse_type("sysname").length
    ('real', 'timestamp', 128)
    >>> parse_type("varchar(20) collate Latin1_General_100_CI_AS_SC_UTF8").charset
    'utf8'
    """
    match = _TEXT.fullmatch(text)
    typed = " ".join(match["name"].lower().strip("[]").split()) if match else text.strip()
    alias = ALIASES.get(typed) or Alias(typed)
    if not match or alias.name not in TYPES:
        raise type_texts.unknown(typed, "a SQL Server", [*TYPES, *ALIASES])
    name, row = alias.name, TYPES[alias.name]
    length, scale = _arguments(text, typed, row, match["arguments"], alias.length)
    if name == "float":
        # FLOAT(n) only chooses between the two types: single precision has 24 bits
        name, length = ("real" if length is not None and length <= 24 else "float"), None
    charset = _charset(text, row, match["collation"]) if match["collation"] else None
    return ColumnType(name, length, scale, charset=charset, spelled=text.strip())


def _arguments(
    text: str, typed: str, row: SqlServerType, typed_arguments: str | None, implied: int | None
) -> tuple[int | None, int | None]:
    """Length and scale of a type, checked; `implied`: the length that an alias implies."""
    if typed_arguments is None:
        if implied is not None:
            return implied, None
        length, scale = (*row.default, None, None)[:2]
        return length, scale
    if typed_arguments.lower() == "max" and row.arguments.endswith("or max"):
        return None, None
    parts = [part.strip() for part in typed_arguments.split(",")]
    if not all(part.isdecimal() for part in parts):
        also = ", or max," if row.arguments.endswith("or max") else ""
        raise UsageError(f"{text!r}: whole numbers{also} belong between the brackets of {typed}.")
    values = [int(part) for part in parts]
    type_texts.check(text, typed, values, () if implied else type_texts.arguments(__file__).get(row.arguments, ()))
    second = values[1] if len(values) > 1 else None
    if row.arguments == "precision":
        second = second or 0
        if second > values[0]:
            raise UsageError(f"{text!r}: the scale must not be above the precision.")
    return values[0], second


def _charset(text: str, row: SqlServerType, collation: str) -> str:
    """The code page of a collation, by the conventions of their names."""
    if row.family != "text":
        raise UsageError(f"{text!r}: a collation belongs to texts, not to {row.name}.")
    lowered = collation.lower()
    if lowered.endswith("_utf8"):
        if row.name not in ("char", "varchar"):
            raise UsageError(f"{text!r}: a UTF-8 collation belongs to char and varchar, not to {row.name}.")
        return "utf8"
    if match := re.search(r"_cp(\d+)_", lowered):
        page = {"1": "1252"}.get(match[1], match[1])
        if f"cp{page}" in CODE_PAGES:
            return f"cp{page}"
    for beginning, page in COLLATIONS.items():
        if lowered.startswith(beginning):
            return page
    raise UsageError(f"{text!r}: the code page of {collation!r} is not known here.")


def type_text(type: ColumnType, *, style: str | None = None) -> str:
    """The text of a type: `catalogue` as tools script it, `ddl_text` as it was typed, `bare` the name alone.

    >>> [type_text(parse_type(text), style="catalogue") for text in ("dec(8)", "NVARCHAR( MAX )", "datetime2", "real")]
    ['decimal(8,0)', 'nvarchar(max)', 'datetime2(7)', 'real']
    >>> type_text(parse_type("float(53)"), style="bare"), type_text(parse_type("Dec( 8 )"), style="ddl_text")
    ('float', 'Dec( 8 )')
    """
    style = type_texts.style_of(style, STYLES)
    row = TYPES[type.name]
    if style == "bare":
        return row.name
    if style == "ddl_text" and type.spelled:
        return type.spelled
    if row.arguments == "precision":
        return f"{row.name}({type.length if type.length is not None else 18},{type.scale or 0})"
    if row.arguments == "fraction":
        return f"{row.name}({type.length if type.length is not None else 7})"
    if row.arguments.endswith("or max") and type.length is None:
        return f"{row.name}(max)"
    if row.arguments in ("", "mantissa"):
        return row.name
    return f"{row.name}({type.length if type.length is not None else 1})"
