"""Defaults of columns as MySQL prints them: values of the column's type, whatever literal was typed."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final

from simulator.carriers import US_PER_DAY
from simulator.model import ColumnType
from simulator.sources.mysql import type_table as mysql_table
from simulator.sources.mysql import types as mysql_types
from simulator.sources.mysql.json import plain_double
from simulator.sql.catalog.definitions import Field
from simulator.sql.values.temporal import clock_text, number_datetime, of_us, parse_datetime, parse_time, rounded, us_of

# Of a DECIMAL.
MAX_DIGITS: Final = 65
NOW: Final = re.compile(r"(?:NOW|CURRENT_TIMESTAMP|LOCALTIME|LOCALTIMESTAMP)\s*(?:\(\s*(\d*)\s*\))?", re.IGNORECASE)
_STRING: Final = re.compile(r"""(?:_\w+\s*|n)?(['"].*['"])""", re.IGNORECASE | re.DOTALL)
_HEXADECIMAL: Final = re.compile(r"x'([0-9a-f]*)'|0x([0-9a-f]+)", re.IGNORECASE)
_BINARY: Final = re.compile(r"b'([01]*)'|0b([01]+)", re.IGNORECASE)
_EXPONENT: Final = re.compile("e", re.IGNORECASE)
_NUMERIC: Final = ("bit", "integer", "decimal", "float", "year")


def printed_default(field: Field) -> str | None:
    """The DEFAULT of a column as the server prints it: a value of the column's type, in quotes; an expression as it was
    typed; None for none or NULL.

    >>> from simulator.sources.mysql.types import parse_type
    >>> texts = [("time(3)", "'1:00:00.5'"), ("int(3) zerofill", "7"), ("double", "1e7"), ("bit(3)", "5")]
    >>> [printed_default(Field("c", parse_type(type), default=default)) for type, default in texts]
    ["'01:00:00.500'", "'007'", "'10000000'", "b'101'"]
    >>> texts = [("int", "0x10"), ("binary(4)", "0x6162"), ("date", "'2020-1-5'"), ("enum('a','b')", "'B'")]
    >>> [printed_default(Field("c", parse_type(type), default=default)) for type, default in texts]
    ["'16'", "'ab\\\\0\\\\0'", "'2020-01-05'", "'b'"]
    """
    if field.default is None or field.default.upper() == "NULL":
        return None
    if field.default.startswith("(") or NOW.fullmatch(field.default):
        return field.default
    family = mysql_table.family(field.type)
    text = literal_value(field.default, is_number=family in _NUMERIC)
    if family == "bit":
        return f"b'{int(text):b}'"
    return mysql_types.quote(_printed(text, family, field.type))


def literal_value(literal: str, *, is_number: bool) -> str:
    """The text of a literal; numbers in hexadecimal or binary digits are bytes to texts."""
    if match := _STRING.fullmatch(literal):
        return mysql_types.unquote(match[1])
    for pattern, base in ((_HEXADECIMAL, 16), (_BINARY, 2)):
        if match := pattern.fullmatch(literal):
            digits = match[1] or match[2] or "0"
            number = int(digits, base)
            if is_number:
                return str(number)
            width = -(-len(digits) // (2 if base == 16 else 8))
            return number.to_bytes(width, "big").decode("utf-8", "surrogateescape")
    return {"TRUE": "1", "FALSE": "0"}.get(literal.upper(), literal)


def _printed(text: str, family: str, type: ColumnType) -> str:
    match family:
        case "decimal" | "integer":
            scale = mysql_table.precision_scale(type)[1] if family == "decimal" else 0
            with suppress(ArithmeticError):
                number = Decimal(text).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, Context(prec=MAX_DIGITS))
                text = format(number, "f")
            return text.zfill(type.length or 0) if type.zerofill else text
        case "float" if type.scale is not None:
            return format(Decimal(text).quantize(Decimal(1).scaleb(-type.scale), ROUND_HALF_UP), "f")
        case "float" if _EXPONENT.search(text):
            return plain_double(float(text))
        case "year" if text.isdecimal() and 0 < int(text) < 100:
            return str(int(text) + (2000 if int(text) < 70 else 1900))
        case "date" | "datetime":
            return _date(text, family, type.length or 0)
        case "time":
            parsed = parse_time(text)
            us = 0 if parsed is None else rounded(parsed[0], type.length or 0)
            return ("-" if us < 0 else "") + clock_text(abs(us), type.length or 0) if parsed else text
        case "binary" if type.name == "binary":
            return text + "\0" * ((type.length or 1) - len(text.encode("utf-8", "surrogateescape")))
        case "text" if type.name == "char":
            return text.rstrip(" ")
        case "enum":
            return next((label for label in type.labels if label.lower() == text.lower()), text)
        case "set":
            chosen = {part.lower() for part in text.split(",")}
            return ",".join(label for label in type.labels if label.lower() in chosen)
    return text


def _date(text: str, family: str, digits: int) -> str:
    value = number_datetime(int(text)) if text.isdecimal() else (parse_datetime(text) or (None,))[0]
    if value is None:
        return text
    if family == "date":
        return value.text().partition(" ")[0]
    us = rounded(value.us, digits)
    if us < US_PER_DAY:
        return replace(value, us=us, digits=digits).text()
    return of_us(us_of(value) - value.us + us, digits).text()
