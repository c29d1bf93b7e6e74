"""MySQL's JSON documents as text: in the stream as the Java client of the binary log prints them
(`JsonStringFormatter`, used by Debezium and Maxwell), in a snapshot as the server does."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from simulator.sources.mysql import json as mysql_json
from simulator.sources.mysql import typed_json
from simulator.sources.mysql.typed_json import OPAQUE, Number, Pairs
from simulator.text.columns import distinct_text
from simulator.text.java.numbers import double_string
from simulator.text.json_style import JACKSON

_MOMENT: Final = re.compile(r"((?:\d{4}-\d\d-\d\d )?\d+:\d\d:\d\d)\.(\d{6})")
_NEGATIVE: Final = re.compile(r"-(\d+):(\d\d):(\d\d)\.(\d{6})")
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*')


def snapshot_text(array: pa.Array, *, old: bool) -> pa.Array:
    """The server's text; `old`: the text of MySQL 5.7."""
    return distinct_text(array, old_text) if old else array


def old_text(text: str) -> str:
    r"""MySQL 5.7 prints whole doubles as integers, and calls strings of bytes by the type of variable-length ones.

    >>> print(old_text('[3.0, "3.0", "base64:type15:AP8="]'))
    [3, "3.0", "base64:type253:AP8="]
    """

    def token(match: re.Match[str]) -> str:
        scalar = match[0]
        if scalar[0] == '"':
            return scalar.replace("base64:type15:", "base64:type253:") if OPAQUE.fullmatch(scalar[1:-1]) else scalar
        return scalar.removesuffix(".0")

    return _TOKEN.sub(token, text)


def binlog_text(array: pa.Array) -> pa.Array:
    """The text of the binary document, without blanks."""
    return distinct_text(array, document)


def document(text: str) -> str:
    r"""One document of MySQL's text.

    >>> document('{"a": [1, 1e20, 0.1], "t": "12:34:56.000000"}')
    '{"a":[1,100000000000000000000,0.1],"t":"12:34:56"}'
    """
    if text == typed_json.EMPTY:
        return "null"
    texts: list[str] = []
    _write(typed_json.parsed(text), texts)
    return "".join(texts)


def _write(value: Any, texts: list[str]) -> None:
    if isinstance(value, Pairs) and value and value[0][0] == typed_json.DECIMAL:
        texts.append(value[0][1])
    elif isinstance(value, Pairs) and value and value[0][0] == typed_json.DATE:
        texts.append(_string(value[0][1]))
    elif isinstance(value, Pairs):
        texts.append("{")
        for i, (key, member) in enumerate(value):
            texts.append(("," if i else "") + _string(key) + ":")
            _write(member, texts)
        texts.append("}")
    elif isinstance(value, list):
        texts.append("[")
        for i, member in enumerate(value):
            texts.append("," if i else "")
            _write(member, texts)
        texts.append("]")
    elif isinstance(value, Number):
        texts.append(_double(value))
    elif isinstance(value, str):
        texts.append(_string(_scalar(value)))
    else:
        texts.append("null" if value is None else str(value).lower() if isinstance(value, bool) else str(value))


def _double(text: str) -> str:
    """Java's text of a double; plain digits of the exact number instead of an exponent; a decimal unchanged."""
    number = float(text)
    if mysql_json.double_text(number) != text:
        return text
    java = double_string(number)
    return format(Decimal(number), "f") if "E" in java else java


def _scalar(text: str) -> str:
    if opaque := OPAQUE.fullmatch(text):
        return opaque[1]
    if moment := _MOMENT.fullmatch(text):
        fraction = moment[2].rstrip("0")
        return moment[1] + (f".{fraction}" if fraction else "")
    if time := _NEGATIVE.fullmatch(text):
        return _negative_time(*map(int, time.groups()))
    return text


def _negative_time(hours: int, minutes: int, seconds: int, us: int) -> str:
    """A negative time as the binary log's reader prints it, which splits it into parts as if it were positive
    (`JsonBinary.parseTime`).

    >>> _negative_time(12, 34, 56, 500_000)
    '13:0-35:0-57.00000-5'
    """
    packed = -((hours << 12 | minutes << 6 | seconds) << 24) - us
    value = packed >> 24
    parts = -(value >> 12), -(-(value >> 6) % 64), -(-value % 64)
    text = ":".join(f"0{part}" if part < 10 else str(part) for part in parts)
    if not us:
        return text
    fraction = -us
    while fraction % 10 == 0:
        fraction //= 10
    return f"{text}.{'0' * 5}{fraction}"


def _string(text: str) -> str:
    return '"' + text.translate(JACKSON.table) + '"'
