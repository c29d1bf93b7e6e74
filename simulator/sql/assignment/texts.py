"""Texts and bytes on assignment: character sets, lengths, padding."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from simulator.sources.mysql import type_table as mysql_table
from simulator.sql.assignment.rules import Rules
from simulator.sql.catalog.definitions import Field
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.values.kinds import Bits, Quotient, Shape, bytes_of, latin1, text_of


def store_text(value: Any, field: Field, row: int, rules: Rules) -> str:
    type = field.type
    charset = type.charset or "utf8mb4"
    width, codec = mysql_table.CHARSETS.get(charset, (4, "utf-8"))
    if isinstance(value, Bits):
        raise Unsupported("a BIT value in a column of text")
    if isinstance(value, Shape):
        raise Unsupported("a geometry in a column of text")
    if isinstance(value, Quotient):
        raise Unsupported("an average, or a zero that was calculated, in a column of text")
    if isinstance(value, bytes):
        text = _decoded(bytes(value), codec, field, row, rules)
    else:
        typed = _typed(value, type.length or 0)
        text = _encodable(typed, width, codec, field, row, rules)
    if type.name in ("char", "varchar"):
        maximum = type.length or 0
        if len(text) > maximum:
            if text[maximum:].strip(" ") and rules.strict:
                raise SqlError(1406, field.name, row)
            text = text[:maximum]
        return text.rstrip(" ") if type.name == "char" else text
    maximum = mysql_table.TYPES[type.name].max_bytes
    if len(text) * width > maximum and len(text.encode(codec, "replace")) > maximum:
        rules.raise_if_strict(1406, field.name, row)
        text = text.encode(codec, "replace")[:maximum].decode(codec, "ignore")
    return text


def _typed(value: Any, width: int) -> str:
    """A value as text; a quotient with all digits that were calculated."""
    if isinstance(value, Decimal):
        return format(value, "f")
    return _fitted(float(value), width) if isinstance(value, float) else text_of(value)


def _fitted(value: float, width: int) -> str:
    """A double in a column of `width` characters: with an exponent or fewer digits where it would not fit."""
    text = text_of(value)
    for digits in range(17, 0, -1) if width else ():
        without_exponent = f"{value:.{digits}g}"
        if "e" not in without_exponent and len(without_exponent) <= width:
            return text if len(text) <= width else without_exponent
    digits = 17
    while width and len(text) > width and digits:
        mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
        text = f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}e{int(exponent)}"
        digits -= 1
    return text


def _decoded(raw: bytes, codec: str, field: Field, row: int, rules: Rules) -> str:
    """Bytes decoded as the column's character set."""
    try:
        return raw.decode(codec)
    except UnicodeDecodeError as error:
        if codec == "cp1252":  # MySQL's latin1 assigns a character to every byte
            return latin1(raw)
        if rules.strict:
            raise SqlError(1366, "string", _escaped(raw[error.start :]), field.name, row) from None
        if rules.mariadb:  # a question mark for each byte that is wrong
            return raw.decode(codec, "replace").replace("\ufffd", "?")
        return raw[: error.start].decode(codec)


def _encodable(text: str, width: int, codec: str, field: Field, row: int, rules: Rules) -> str:
    """The text with the characters that the column's character set has; others become question marks."""
    if codec == "utf-8" and (width == 4 or text.isascii() or max(text) <= "\uffff"):
        return text
    if codec == "utf-8":
        lacking = [character > "\uffff" for character in text]
    else:
        try:
            text.encode(codec)
            return text
        except UnicodeEncodeError:
            lacking = [_lacks(character, codec) for character in text]
    if rules.strict and any(lacking):
        raise SqlError(1366, "string", _escaped(text[lacking.index(True) :].encode()), field.name, row)
    return "".join("?" if wrong else character for character, wrong in zip(text, lacking, strict=True))


def _lacks(character: str, codec: str) -> bool:
    if codec == "cp1252" and character in "\x81\x8d\x8f\x90\x9d":
        return False
    try:
        character.encode(codec)
    except UnicodeEncodeError:
        return True
    return False


def _escaped(raw: bytes) -> str:
    text = "".join(chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02X}" for byte in raw[:6])
    return text + ("..." if len(raw) > 6 else "")


def store_binary(value: Any, field: Field, row: int, rules: Rules) -> bytes:
    type = field.type
    raw = bytes_of(_typed(value, type.length or 0) if isinstance(value, float | Decimal) else value)
    maximum = type.length if type.length is not None else mysql_table.TYPES[type.name].max_bytes
    if len(raw) > maximum:
        rules.raise_if_strict(1406, field.name, row)
        raw = raw[:maximum]
    return raw.ljust(maximum, b"\0") if type.name == "binary" else raw
