"""MySQL's column types as text: read from SQL, and printed as servers and readers of their DDL print them.

The table of types is `type_table`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from simulator.errors import UsageError, did_you_mean
from simulator.model import ColumnType
from simulator.sources import type_texts
from simulator.sources.mysql.type_table import (
    ALIASES,
    CHARSETS,
    DEFAULT_CHARSET,
    TYPES,
    Alias,
    MysqlType,
    precision_scale,
)

# Binary types that text types become with `character set binary` or `byte`.
_AS_BYTES: Final = {
    "char": "binary",
    "varchar": "varbinary",
    "tinytext": "tinyblob",
    "text": "blob",
    "mediumtext": "mediumblob",
    "longtext": "longblob",
}
# TEXT(n) and BLOB(n) are the smallest of these types that hold n characters.
_LOBS: Final = {
    "text": ("tinytext", "text", "mediumtext", "longtext"),
    "blob": ("tinyblob", "blob", "mediumblob", "longblob"),
}


_WORD: Final = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)")
_QUOTED: Final = re.compile(r"""\s*('(?:[^'\\]|''|\\.)*'|"(?:[^"\\]|""|\\.)*")\s*""", re.DOTALL)
# MySQL string literals: these escapes mean a character, any other \x means x.
_ESCAPES: Final = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}


@dataclass(frozen=True, slots=True)
class _Spelling:
    """A type text taken apart: `name` as typed, `arguments` as typed numbers, labels, and the attribute words."""

    name: str
    arguments: tuple[int, ...] | None
    labels: tuple[str, ...]
    attributes: tuple[str, ...]
    charset: str | None


def parse_type(text: str) -> ColumnType:
    """A column type as typed in SQL; the text is kept in `spelled`.

    >>> parse_type("bigint(20) unsigned").unsigned
    True
    >>> parse_type("INTEGER").name, parse_type("float(30)").name, parse_type("text(30)").name
    ('int', 'double', 'tinytext')
    >>> parse_type("enum('a','b''c')").labels
    ('a', "b'c")
    >>> parse_type("decimal").length, parse_type("decimal").scale
    (10, 0)
    """
    spelling = _take_apart(text)
    lowered = " ".join(spelling.name.lower().split())
    implied = ALIASES.get(lowered) or Alias(lowered)
    name, row = implied.name, TYPES[implied.name]
    length, scale = _arguments(text, spelling, row, implied.length)
    unsigned = implied.unsigned or bool({"unsigned", "zerofill"} & set(spelling.attributes))
    _check_attributes(text, spelling, row)
    charset = spelling.charset or implied.charset
    if charset == "binary" and name in _AS_BYTES:
        name, charset = _AS_BYTES[name], None
    if name in _LOBS and spelling.arguments and spelling.arguments[0]:
        name, length = _least_lob(name, spelling.arguments[0], charset), None
    if name in _LOBS:
        length = None
    if name == "float" and length is not None and scale is None:
        # FLOAT(p) only chooses between the two types: single precision has 24 bits.
        name, length = ("double" if length > 24 else "float"), None
    zerofill = "zerofill" in spelling.attributes
    return ColumnType(name, length, scale, unsigned, zerofill, charset, spelling.labels, text.strip())


def _take_apart(text: str) -> _Spelling:
    words: list[str] = []
    end, name_end, name = 0, 0, ""
    while match := _WORD.match(text, end):
        words.append(match[1])
        end = match.end()
        joined = " ".join(words)
        if joined.lower() in TYPES or joined.lower() in ALIASES:
            name_end, name = end, joined
        if len(words) == 3:
            break
    if not name_end:
        word = words[0] if words else text.strip()
        raise type_texts.unknown(word, "a MySQL", [*TYPES, *ALIASES])
    remaining = text[name_end:].lstrip()
    arguments: tuple[int, ...] | None = None
    labels: tuple[str, ...] = ()
    if remaining.startswith("("):
        if name.lower() in ("enum", "set"):
            labels, remaining = _labels(text, remaining[1:])
        else:
            bracketed, bracket, remaining = remaining[1:].partition(")")
            parts = [part.strip() for part in bracketed.split(",")]
            if not bracket or not all(part.isdecimal() for part in parts):
                raise UsageError(f"{text!r}: whole numbers belong between the brackets of {name}.")
            arguments = tuple(int(part) for part in parts)
    attributes: list[str] = []
    charset = None
    tokens = remaining.lower().replace("=", " ").split()
    while tokens:
        word = tokens.pop(0)
        if word == "character" and tokens[:1] == ["set"]:
            tokens.pop(0)
            word = "charset"
        if word in ("charset", "collate"):
            if not tokens:
                raise UsageError(f"{text!r}: a name belongs after {word}.")
            value = tokens.pop(0).strip("'\"`")
            if word == "charset":
                charset = value
            elif charset is None:
                # a collation's name begins with its character set
                charset = value.split("_")[0]
        elif word in ("ascii", "unicode", "byte"):
            charset = {"ascii": "latin1", "unicode": "ucs2", "byte": "binary"}[word]
        elif word in ("unsigned", "signed", "zerofill", "binary"):
            attributes.append(word)
        else:
            raise UsageError(f"{text!r}: {word!r} is no attribute of a type.")
    if charset is not None and charset not in CHARSETS and charset != "binary":
        hint = did_you_mean(charset, CHARSETS)
        raise UsageError(f"{text!r}: {charset!r} is not a character set known here.{hint}")
    return _Spelling(name, arguments, labels, tuple(attributes), charset)


def _labels(text: str, remaining: str) -> tuple[tuple[str, ...], str]:
    labels: list[str] = []
    while match := _QUOTED.match(remaining):
        labels.append(unquote(match[1]))
        remaining = remaining[match.end() :]
        if remaining.startswith(","):
            remaining = remaining[1:]
        elif remaining.startswith(")"):
            return tuple(labels), remaining[1:]
        else:
            break
    raise UsageError(f"{text!r}: quoted labels belong between the brackets, as in enum('a','b').")


def unquote(literal: str) -> str:
    r"""The text of a MySQL string literal: `'it''s'` is `it's`, `"a\nb"` has a line break.

    >>> unquote("'it''s'"), unquote(r"'b\\s'")
    ("it's", 'b\\s')
    """
    quote, body = literal[0], literal[1:-1]
    body = body.replace(quote * 2, "\\" + quote)
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), body, flags=re.DOTALL)


def quote(text: str) -> str:
    r"""A MySQL string literal that any client reads back: backslashes and control characters escaped.

    >>> print(quote("it's a \\"), quote("a\n"))
    'it''s a \\' 'a\n'
    """
    escapes = {"\\": "\\\\", "'": "''", "\0": "\\0", "\n": "\\n", "\r": "\\r", "\x1a": "\\Z"}
    return "'" + "".join(escapes.get(character, character) for character in text) + "'"


def _arguments(text: str, spelling: _Spelling, row: MysqlType, implied: int | None) -> tuple[int | None, int | None]:
    """Length and scale of a type, checked; `implied`: the length that an alias implies."""
    if row.arguments == "labels":
        _check_labels(text, row.name, spelling.labels)
        return None, None
    typed = spelling.arguments
    if typed is None:
        if row.name in ("varchar", "varbinary"):
            raise UsageError(f"{text!r}: {row.name} needs a length, as in {row.name}(40).")
        if implied is not None:
            return implied, None
        length, scale = (*row.default, None, None)[:2]
        return length, scale
    allowed = type_texts.arguments(__file__).get(row.arguments, ()) if implied is None else ()
    type_texts.check(text, spelling.name, typed, allowed)
    length = typed[0]
    second = typed[1] if len(typed) > 1 else None
    if row.name == "decimal":
        # DECIMAL(0) means DECIMAL(10)
        length, second = length or 10, second or 0
    if row.name == "float" and second is None and length > 53:
        raise UsageError(f"{text!r}: the precision must be 0 to 53.")
    if second is not None and second > length:
        raise UsageError(f"{text!r}: the scale must not be above the precision.")
    if row.arguments == "fraction" and length == 0:
        return None, None
    return length, second


def _check_labels(text: str, name: str, labels: tuple[str, ...]) -> None:
    most = {"enum": 65_535, "set": 64}[name]
    if not labels:
        raise UsageError(f"{text!r}: {name} needs labels, as in {name}('a','b').")
    if len(labels) > most:
        raise UsageError(f"{text!r}: {name} takes up to {most} labels, not {len(labels)}.")
    if len(set(labels)) < len(labels):
        raise UsageError(f"{text!r}: a label stands there twice.")
    if name == "set" and any("," in label for label in labels):
        raise UsageError(f"{text!r}: the labels of a set hold no comma.")


def _check_attributes(text: str, spelling: _Spelling, row: MysqlType) -> None:
    if row.family not in ("integer", "decimal", "float"):
        for word in ("unsigned", "signed", "zerofill"):
            if word in spelling.attributes:
                raise UsageError(f"{text!r}: {word} belongs to numbers, not to {row.name}.")
    if row.family not in ("text", "enum", "set") and (spelling.charset or "binary" in spelling.attributes):
        raise UsageError(f"{text!r}: a character set belongs to texts, not to {row.name}.")


def _least_lob(name: str, length: int, charset: str | None) -> str:
    width = CHARSETS[charset or DEFAULT_CHARSET][0] if name == "text" else 1
    for candidate in _LOBS[name]:
        if length * width <= TYPES[candidate].max_bytes:
            return candidate
    return _LOBS[name][-1]


# ------------------------------------------------------------------------------------------------ texts of types

# MySQL 5.7 prints every integer's display width: signed, unsigned.
_WIDTHS: Final = {
    "tinyint": (4, 3),
    "smallint": (6, 5),
    "mediumint": (9, 8),
    "int": (11, 10),
    "bigint": (20, 20),
}
STYLES: Final = ("show_create_57", "show_create_80", "ddl_text", "bare")


def type_text(type: ColumnType, *, style: str) -> str:
    """The text of a type, as the server or a reader of its DDL prints it.

    | style | int | tinyint(1) | bigint(20) unsigned | INT(5) zerofill | DECIMAL(8, 3) | year |
    | --- | --- | --- | --- | --- | --- | --- |
    | show_create_57 | int(11) | tinyint(1) | bigint(20) unsigned | int(5) unsigned zerofill | decimal(8,3) | year(4) |
    | show_create_80 | int | tinyint(1) | bigint unsigned | int(5) unsigned zerofill | decimal(8,3) | year |
    | ddl_text | int | tinyint(1) | bigint(20) unsigned | INT(5) unsigned zerofill | DECIMAL(8,3) | year |
    | bare | int | tinyint | bigint unsigned | int unsigned | decimal | year |

    `ddl_text` of a type that was never typed is `show_create_80`.

    >>> type_text(parse_type("Decimal( 8 , 3 ) Unsigned"), style="ddl_text")
    'Decimal(8,3) unsigned'
    >>> type_text(parse_type("FLOAT(25)"), style="ddl_text")
    'double(25)'
    """
    style = type_texts.style_of(style, STYLES)
    if style == "bare":
        return type.name + (" unsigned" if type.unsigned else "")
    if style == "ddl_text" and type.spelled:
        return _ddl_text(type)
    old = style == "show_create_57"
    name = "geomcollection" if type.name == "geometrycollection" and not old else type.name
    text = name + _shown_arguments(type, old)
    if type.unsigned:
        text += " unsigned"
    return text + (" zerofill" if type.zerofill else "")


def _shown_arguments(type: ColumnType, old: bool) -> str:
    row = TYPES[type.name]
    if row.family == "integer":
        if old or type.zerofill:
            length = type.length if type.length is not None else _WIDTHS[row.name][type.unsigned]
            return f"({length})"
        # since 8.0.19 only this width is printed: it means a boolean
        return "(1)" if row.name == "tinyint" and type.length == 1 and not type.unsigned else ""
    if row.family in ("enum", "set"):
        return f"({_label_list(type.labels)})"
    if row.family == "decimal":
        return "({},{})".format(*precision_scale(type))
    if row.name == "year":
        return "(4)" if old else ""
    if type.scale is not None:
        return f"({type.length},{type.scale})"
    return f"({type.length})" if type.length is not None else ""


def _label_list(labels: tuple[str, ...]) -> str:
    # Captured: quotes are doubled, a backslash is not ('b\s' for the label b\s).
    return ",".join("'" + label.replace("'", "''") + "'" for label in labels)


def _ddl_text(type: ColumnType) -> str:
    spelling = _take_apart(type.spelled)
    name = spelling.name
    # Canal's parser renames FLOAT(p) above 24 bits and keeps the argument (captured: double(53)).
    if name.lower() == "float" and type.name == "double":
        name = "double"
    if spelling.labels:
        name += f"({_label_list(spelling.labels)})"
    elif spelling.arguments is not None:
        name += f"({','.join(map(str, spelling.arguments))})"
    if {"unsigned", "zerofill"} & set(spelling.attributes):
        name += " unsigned"
    return name + (" zerofill" if "zerofill" in spelling.attributes else "")
