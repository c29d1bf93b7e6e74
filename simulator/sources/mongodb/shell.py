"""Documents as MongoDB's shell would read them, written as MongoDB's Java driver 4 does (JsonMode.SHELL).

Source: `org.bson.json` of mongo-java-driver, run in versions 4.0.6 and 4.11.1; the samples of the vendor's page fit it.

| BSON | text |
| --- | --- |
| int, long | `1`; `NumberLong(7)`, or `NumberLong("4294967296")` where it does not fit 32 bits |
| double | as Java prints it: `1.0`, `1.0E7`, `NaN` |
| decimal | `NumberDecimal("1.10")` |
| string | in quotes; control characters, marks, format characters and those beyond U+FFFF as escapes |
| date | `ISODate("2023-05-17T09:18:31.439Z")`; `new Date(-62135596800000)` before the year 100 and at the end of 9999 |
| timestamp | `Timestamp(1684344064, 1)`, both numbers with the signs that Java gives 32 bits |
| objectId, binData | `ObjectId("64650cf67dc36a464e76e583")`, `new BinData(0, "AQI=")` |
| regex | `/^a/i`; slashes inside have a backslash, even those that have one |
| javascript, symbol | `{"$code": "f()", "$scope": {}}`, `{"$symbol": "s"}` |
| dbPointer | `{"$ref": "shop.users", "$id": ObjectId("…")}` |
| others | `true`, `null`, `undefined`, `MinKey`, `MaxKey` |
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.model import Column, ColumnType
from simulator.sources.json_tree import write
from simulator.sources.mongodb import documents as mongodb_documents
from simulator.sources.mongodb import json as bson
from simulator.sources.mongodb import type_table as mongodb_table
from simulator.sources.mongodb.values import is_small
from simulator.text import mysql as binlog_text
from simulator.text.base64 import base64
from simulator.text.columns import distinct_text
from simulator.text.java import numbers as java
from simulator.text.json_style import SHORT, Style, escape
from simulator.text.template import constant, join

_ASTRAL: Final = re.compile("[\U00010000-\U0010ffff]")
_EASY: Final = r"^[ !#-\[\]-~]*$"
_is_easy: Final = re.compile(r"[ !#-\[\]-~]*").fullmatch
# Texts without characters that any style of JSON escapes.
_EASY_INSIDE: Final = r"^[ !#-%(-;?-\[\]-~]*$"
# In extended JSON: a long of up to nine digits; and what the shell may write otherwise, or what may look like that.
_SMALL_LONG: Final = r'\{"\$numberLong": "(-?\d{1,9})"\}'
# Doubles of up to seven digits before the point and eight behind it look the same in both, from 0.001 on.
_HARD: Final = r'\\|[^ -~]|"\$|\d{10}|\d{8}\.|\.\d{9}|0\.00|\d[eE]'
# Range of timestamps that the driver prints as a date, in milliseconds; it prints others as numbers.
_FIRST_MS, _LAST_MS = -59_014_396_800_000, 253_399_536_000_000
# 1582-10-15, the day after 1582-10-04 in Java's calendar, which has leap days as Julius Caesar had them before.
_GREGORIAN_MS: Final = -12_219_292_800_000
_DAY_MS: Final = 86_400_000
# Days from 0000-03-01 of the Julian calendar to 1970.
_JULIAN_DAYS: Final = 719_470
_MILLISECONDS: Final = ColumnType("datetime", 3)


@lru_cache(maxsize=1)
def _escapes() -> Mapping[int, str]:
    """Escapes of the characters up to U+FFFF that are not written as they are.

    `shell_raw.txt` has the ranges of unescaped characters: letters, numbers, blanks, punctuation and symbols of Unicode
    13, that of JDK 17. Python's own table differs from version to version.
    """
    ranges = Path(__file__).with_name("shell_raw.txt").read_text(encoding="ascii").split()
    raw = [False] * 0x10000
    for first, last in (span.split("-") for span in ranges):
        begin, end = int(first, 16), int(last, 16) + 1
        raw[begin:end] = [True] * (end - begin)
    odd = {code: f"\\u{code:04x}" for code in range(0x10000) if not raw[code]}
    return odd | {ord(character): text for character, text in SHORT.items()}


def _units(match: re.Match[str]) -> str:
    data = match[0].encode("utf-16-be")
    return f"\\u{data[:2].hex()}\\u{data[2:].hex()}"


def shell_string(text: str) -> str:
    r"""A string in quotes.

    >>> shell_string("a\"/é中"), shell_string("\x7f\N{GRINNING FACE}")
    ('"a\\"/é中"', '"\\u007f\\ud83d\\ude00"')
    """
    return f'"{text if _is_easy(text) else _ASTRAL.sub(_units, text.translate(_escapes()))}"'


def shell_long(value: int) -> str:
    return f"NumberLong({value})" if -(1 << 31) <= value < 1 << 31 else f'NumberLong("{value}")'


def shell_date(ms: int) -> str:
    """A timestamp in Java's calendar.

    >>> shell_date(0), shell_date(-12_219_292_800_001), shell_date(-62_135_596_800_000)
    ('ISODate("1970-01-01T00:00:00.000Z")', 'ISODate("1582-10-04T23:59:59.999Z")', 'new Date(-62135596800000)')
    """
    if not _FIRST_MS <= ms <= _LAST_MS:
        return f"new Date({ms})"
    text = bson.iso_text(ms)
    return f'ISODate("{text if ms >= _GREGORIAN_MS else _julian_date(ms // _DAY_MS) + text[10:]}")'


def _julian_date(days: int) -> str:
    """A day, counted from 1970-01-01, in the Julian calendar; years begin in March, which puts leap days last."""
    cycle, day = divmod(days + _JULIAN_DAYS, 1461)
    year = min(day // 365, 3)
    month, day = divmod(5 * (day - 365 * year) + 2, 153)
    late = month >= 10
    return f"{4 * cycle + year + late:04}-{month - 9 if late else month + 3:02}-{day // 5 + 1:02}"


def shell_binary(subtype: int, data: bytes) -> str:
    return f'new BinData({subtype}, "{b64encode(data).decode()}")'


def shell_timestamp(seconds: int, ordinal: int) -> str:
    """A timestamp as the driver prints it: Java has no unsigned 32-bit integers.

    >>> shell_timestamp(1684344064, 1), shell_timestamp(4294967295, 0)
    ('Timestamp(1684344064, 1)', 'Timestamp(-1, 0)')
    """
    return f"Timestamp({_signed(seconds)}, {_signed(ordinal)})"


def _signed(number: int) -> int:
    return number - (1 << 32) if number >> 31 else number


def _regex(value: bson.Regex) -> str:
    return f"/{value.pattern.replace('/', chr(92) + '/') or '(?:)'}/{value.options}"


def _code(value: bson.Code) -> str:
    scope = "" if value.scope is None else f', "$scope": {shell(value.scope)}'
    return f'{{"$code": {shell_string(value.text)}{scope}}}'


_LEAVES: Final[Mapping[type, Callable[[Any], str]]] = {
    str: shell_string,
    type(None): lambda value: "null",
    bool: lambda value: "true" if value else "false",
    bson.Long: shell_long,
    int: str,
    float: java.double_string,
    bson.ObjectId: lambda value: f'ObjectId("{value.text}")',
    bson.Decimal128: lambda value: f'NumberDecimal("{value.text}")',
    bson.Date: lambda value: shell_date(value.ms),
    bson.Timestamp: lambda value: shell_timestamp(value.seconds, value.ordinal),
    bson.Binary: lambda value: shell_binary(value.subtype, value.data),
    bson.Regex: _regex,
    bson.Code: _code,
    bson.Symbol: lambda value: f'{{"$symbol": {shell_string(value.text)}}}',
    bson.DBPointer: lambda value: f'{{"$ref": {shell_string(value.namespace)}, "$id": ObjectId("{value.id}")}}',
    bson.Special: lambda value: {"minKey": "MinKey", "maxKey": "MaxKey", "undefined": "undefined"}[value.value],
}


def shell_leaf(value: Any) -> str:
    return _LEAVES[type(value)](value)


def shell(value: Any) -> str:
    """A tree of documents, arrays and leaves.

    >>> shell(bson.loads('{"a": [1, 2.0, {"$numberLong": "7"}], "b": {"$oid": "0123456789abcdef01234567"}}'))
    '{"a": [1, 2.0, NumberLong(7)], "b": ObjectId("0123456789abcdef01234567")}'
    """
    return write(value, shell_leaf, key=shell_string)


@dataclass(frozen=True)
class Shell:
    """Writer of the shell's text: plain, or escaped for use within a JSON string."""

    style: Style | None = None

    @property
    def mark(self) -> str:
        """A quotation mark."""
        return '"' if self.style is None else self.escaped('"')

    def escaped(self, text: str) -> str:
        return text if self.style is None else text.translate(self.style.table)

    def key(self, name: str) -> str:
        return self.escaped(shell_string(name))

    def leaf(self, value: Any) -> str:
        return self.escaped(shell_leaf(value))

    def text(self, column: Column, array: pa.Array) -> pa.Array:
        """The text of a field's values; nulls (missing fields) stay null."""
        type, mark = column.type, self.mark
        if pa.types.is_dictionary(array.type):
            return self.text(column, array.dictionary).take(array.indices)
        match type.name:
            case "string":
                return self._strings(array)
            case "int":
                return array.cast(pa.string())
            case "long":
                return self._longs(array)
            case "double":
                return java.double_text(array)
            case "bool":
                return pc.if_else(array, constant("true"), constant("false"))
            case "objectId":
                return join([f"ObjectId({mark}", array, f"{mark})"], len(array))
            case "decimal":
                return join([f"NumberDecimal({mark}", array.cast(pa.string()), f"{mark})"], len(array))
            case "object" | "array":
                return self._documents(array)
            case "binData":
                text = base64(array) if self.style is None else escape(base64(array), self.style)
                return join([f"new BinData({mongodb_table.subtype(type)}, {mark}", text, f"{mark})"], len(array))
            case "date" if _is_ordinary(array):
                text = pc.replace_substring(binlog_text.datetime_fixed(array, _MILLISECONDS), " ", "T")
                return join([f"ISODate({mark}", text, f"Z{mark})"], len(array))
        write: Callable[[Any], str] = {
            "date": lambda us: shell_date(us // 1000),
            "timestamp": lambda packed: shell_timestamp(packed >> 32, packed & 0xFFFFFFFF),
        }.get(type.name, lambda text: shell(bson.stored_tree(text)))
        return self._one_by_one(array.view(pa.int64()) if pa.types.is_temporal(array.type) else array, write)

    def _longs(self, array: pa.Array) -> pa.Array:
        text, count, mark = array.cast(pa.string()), len(array), self.mark
        small = is_small(array)
        plain = join(["NumberLong(", text, ")"], count)
        if pc.all(small).as_py() is not False:
            return plain
        return pc.if_else(small, plain, join([f"NumberLong({mark}", text, f"{mark})"], count))

    def _strings(self, array: pa.Array) -> pa.Array:
        """Strings; those that need escapes are written one by one."""
        easy = pc.match_substring_regex(array, _EASY if self.style is None else _EASY_INSIDE).fill_null(True)
        quoted = join([self.mark, array, self.mark], len(array))
        if pc.all(easy).as_py() is not False:
            return quoted
        hard = pc.invert(easy)
        return pc.replace_with_mask(quoted, hard, self._one_by_one(array.filter(hard), shell_string))

    def _documents(self, array: pa.Array) -> pa.Array:
        """Objects and arrays; their extended JSON mostly equals the shell's text, except for small longs."""
        text = pc.replace_substring_regex(array, _SMALL_LONG, r"NumberLong(\1)")
        hard = pc.match_substring_regex(text, _HARD).fill_null(False)
        if self.style is not None:
            text = escape(text, self.style)
        if not pc.any(hard).as_py():
            return text
        texts = self._one_by_one(array.filter(hard), lambda text: shell(bson.stored_tree(text)))
        return pc.replace_with_mask(text, hard, texts)

    def _one_by_one(self, array: pa.Array, write: Callable[[Any], str]) -> pa.Array:
        """Values written one by one, each distinct value once."""
        return distinct_text(array, lambda value: self.escaped(write(value)))

    @property
    def spelling(self) -> mongodb_documents.Spelling:
        return mongodb_documents.Spelling(text=self.text, leaf=self.leaf, key=self.key)


def _is_ordinary(array: pa.Array) -> bool:
    """Whether all dates are in the Gregorian calendar, with years of four digits."""
    us = np.asarray(array.view(pa.int64()).fill_null(0))
    return not len(us) or bool(us.min() >= _GREGORIAN_MS * 1000 and us.max() <= _LAST_MS * 1000)
