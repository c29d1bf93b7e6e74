"""BSON values as MongoDB's extended JSON v2, read into a tree and written again.

Carriers hold the shortest text that reads back as the same BSON: int32, double, string, bool and null are plain JSON; a
long is plain where it does not fit 32 bits and `{"$numberLong": "7"}` else; dates from 1970 to 9999 are `{"$date":
"2024-05-01T10:00:00.000Z"}`; all else is as in the specification's canonical form. Separators are `, ` and `: `, fields
stand in the document's order.

A tree is made of dict, list, str, bool, None, int (int32), float (double), and the classes below. Formats write trees
in their own spelling with `write` and a function for what is neither dict nor list.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import enum
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal, InvalidOperation
from typing import Any, Final, TypeAlias

import orjson

from simulator.errors import short
from simulator.sources.json_tree import quoted, write

Value: TypeAlias = Any
Leaf: TypeAlias = Callable[[Value], str]

# MongoDB nests a hundred levels of documents.
MAX_DEPTH: Final = 100


class Long(int):
    """A 64-bit integer; a plain int is one of 32 bits."""


@dataclass(frozen=True, slots=True)
class ObjectId:
    text: str


@dataclass(frozen=True, slots=True)
class Decimal128:
    """A decimal as MongoDB prints it: `1.10`, `1E+3`, `NaN`."""

    text: str


@dataclass(frozen=True, slots=True)
class Date:
    """Milliseconds since 1970, UTC."""

    ms: int


@dataclass(frozen=True, slots=True)
class Timestamp:
    seconds: int
    ordinal: int


@dataclass(frozen=True, slots=True)
class Binary:
    subtype: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Regex:
    pattern: str
    options: str


@dataclass(frozen=True, slots=True, eq=False)
class Code:
    """JavaScript; with a scope it is the other, deprecated type."""

    text: str
    scope: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Symbol:
    text: str


@dataclass(frozen=True, slots=True)
class DBPointer:
    namespace: str
    id: str


class Special(enum.Enum):
    """Values of types that have one value each."""

    MIN_KEY = "minKey"
    MAX_KEY = "maxKey"
    UNDEFINED = "undefined"


# ------------------------------------------------------------------------------------------------------------- reading


def loads(text: str) -> Value:
    """Extended JSON, canonical or relaxed, as a tree. Raises ValueError with a sentence.

    >>> loads('{"a": {"$numberLong": "7"}, "b": [1, 1.0, {"$oid": "65535f40aabbccddeeff0011"}]}')
    {'a': 7, 'b': [1, 1.0, ObjectId(text='65535f40aabbccddeeff0011')]}
    """
    try:
        value = json.loads(text, parse_int=integer, parse_constant=_refuse, object_pairs_hook=_object)
    except RecursionError:
        raise ValueError(f"a document is nested {MAX_DEPTH} deep at most") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{short(text)} is not extended JSON: {error.msg} at character {error.pos}") from None
    if depth(value) > MAX_DEPTH:
        raise ValueError(f"a document is nested {MAX_DEPTH} deep at most")
    return value


# Wrappers, and integers that may be longs.
_NEEDS_CARE: Final = re.compile(r'"\$|\d{10}')


def stored_tree(text: str) -> Value:
    """`loads` for texts of carriers; fast for those without wrappers and long numbers."""
    return loads(text) if _NEEDS_CARE.search(text) else orjson.loads(text)


def same(left: Value, right: Value) -> bool:
    """Whether two trees are the same BSON: types count, and the order of fields."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[name], right[name]) for name in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float | Code):  # NaN, -0.0; scopes
        return extended(left) == extended(right)
    return bool(left == right)


def depth(value: Value) -> int:
    """Nesting depth of documents and arrays."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth, inner), default=0)


def _refuse(word: str) -> Any:
    raise ValueError(f'{word} is not a JSON value; a double may be {{"$numberDouble": "{word}"}}')


def integer(text: str) -> int:
    """A plain integer: int32 if it fits, else a long."""
    value = int(text)
    if -(1 << 31) <= value < 1 << 31:
        return value
    if not -(1 << 63) <= value < 1 << 63:
        raise ValueError(f"{text} does not fit 64 bits")
    return Long(value)


def decimal128(text: str) -> Decimal128:
    """A decimal of up to 34 digits, exponents from -6176 to 6111, or NaN, Infinity. Raises ValueError."""
    word = text.strip()
    try:
        value = Decimal(word, Context(prec=50))
    except InvalidOperation:
        raise ValueError(f"{short(text)} is not a decimal number") from None
    if value.is_finite():
        digits, exponent = value.as_tuple().digits, int(value.as_tuple().exponent)
        if len(digits) > 34 or not -6176 <= exponent <= 6111:
            raise ValueError(f"{short(text)} does not fit decimal128: 34 digits, exponents from -6176 to 6111")
    return Decimal128("NaN" if value.is_nan() else str(value))


def object_id(text: str) -> ObjectId:
    if not re.fullmatch(r"[0-9A-Fa-f]{24}", text):
        raise ValueError(f"{short(text)} is not an ObjectId: 24 hexadecimal digits")
    return ObjectId(text.lower())


_ISO: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?\s*(Z|[+-]\d\d:?\d\d)?"
)


def iso_ms(text: str) -> int:
    """The milliseconds of `2024-05-01T10:00:00.123Z` or with an offset; without one it is UTC; finer parts are cut."""
    match = _ISO.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{short(text)} is not a date such as 2024-05-01T10:00:00.123Z")
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    try:
        timestamp = dt.datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), tzinfo=dt.UTC
        )
    except ValueError:
        raise ValueError(f"{short(text)} is not in the calendar") from None
    ms = (timestamp - EPOCH) // dt.timedelta(milliseconds=1) + int((fraction or "0")[:3].ljust(3, "0"))
    if zone and zone != "Z":
        offset_minutes = int(zone[1:3]) * 60 + int(zone[-2:])
        ms -= (offset_minutes if zone[0] == "+" else -offset_minutes) * 60_000
    return ms


EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def _double(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{short(text)} is not a double") from None


def _date(value: Value) -> Date:
    return Date(int(value)) if isinstance(value, int) else Date(iso_ms(value))


def _binary(value: dict[str, str]) -> Binary:
    try:
        return Binary(int(value["subType"], 16), base64.b64decode(value["base64"], validate=True))
    except (binascii.Error, KeyError, ValueError):
        raise ValueError("$binary wants base64 and subType, two hexadecimal digits") from None


def _pointer(value: dict[str, Value]) -> DBPointer:
    return DBPointer(value["$ref"], value["$id"].text)


_WRAPPERS: Final[dict[str, Callable[[Any], Value]]] = {
    "$oid": object_id,
    "$numberInt": lambda given: int(given),
    "$numberLong": lambda given: Long(given),
    "$numberDouble": _double,
    "$numberDecimal": decimal128,
    "$date": _date,
    "$timestamp": lambda given: Timestamp(given["t"], given["i"]),
    "$binary": _binary,
    "$uuid": lambda given: Binary(4, bytes.fromhex(given.replace("-", ""))),
    "$regularExpression": lambda given: Regex(given["pattern"], "".join(sorted(given["options"]))),
    "$code": lambda given: Code(given),
    "$symbol": lambda given: Symbol(given),
    "$dbPointer": _pointer,
    "$minKey": lambda given: Special.MIN_KEY,
    "$maxKey": lambda given: Special.MAX_KEY,
    "$undefined": lambda given: Special.UNDEFINED,
}


def _object(pairs: list[tuple[str, Value]]) -> Value:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a document has a field twice")
    if not pairs or not pairs[0][0].startswith("$"):
        return members
    name, value = pairs[0]
    if set(members) == {"$code", "$scope"}:
        return Code(members["$code"], members["$scope"])
    if len(pairs) == 1 and name in _WRAPPERS:
        try:
            return _WRAPPERS[name](value)
        except (KeyError, TypeError, AttributeError):
            raise ValueError(f"{name} does not hold what it should") from None
    return members


# ------------------------------------------------------------------------------------------------------------- writing


def dumps(value: Value) -> str:
    """A tree as the text of carriers.

    >>> dumps(loads('{"b":{"$numberLong":"7"},"a":[1,2.50,{"$date":{"$numberLong":"0"}}]}'))
    '{"b": {"$numberLong": "7"}, "a": [1, 2.5, {"$date": "1970-01-01T00:00:00.000Z"}]}'
    """
    return write(value, extended)


def normalise(text: str) -> str:
    """Extended JSON in any spelling as the text of carriers. Raises ValueError."""
    return dumps(loads(text))


def extended(value: Value) -> str:
    """A leaf in extended JSON."""
    if isinstance(value, str):
        return quoted(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Long):
        return long_text(int(value))
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return double_text(value)
    return _EXTENDED[type(value)](value)


def long_text(value: int) -> str:
    return f'{{"$numberLong": "{value}"}}' if -(1 << 31) <= value < 1 << 31 else str(value)


def double_text(value: float) -> str:
    if math.isfinite(value):
        return repr(float(value))
    word = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return f'{{"$numberDouble": "{word}"}}'


# 9999-12-31T23:59:59.999Z
LAST_ISO_MS: Final = 253_402_300_799_999


def iso_text(ms: int) -> str:
    """`2024-05-01T10:00:00.123Z`, for the years 1 to 9999."""
    timestamp = EPOCH + dt.timedelta(milliseconds=ms)
    return timestamp.strftime(f"{timestamp.year:04}-%m-%dT%H:%M:%S.") + f"{ms % 1000:03}Z"


def date_text(ms: int) -> str:
    in_range = 0 <= ms <= LAST_ISO_MS
    return f'{{"$date": "{iso_text(ms)}"}}' if in_range else f'{{"$date": {{"$numberLong": "{ms}"}}}}'


def binary_text(subtype: int, data: bytes) -> str:
    return f'{{"$binary": {{"base64": "{base64.b64encode(data).decode()}", "subType": "{subtype:02x}"}}}}'


def _code_text(code: Code) -> str:
    scope = "" if code.scope is None else f', "$scope": {dumps(code.scope)}'
    return f'{{"$code": {quoted(code.text)}{scope}}}'


_SPECIAL: Final = {
    Special.MIN_KEY: '{"$minKey": 1}',
    Special.MAX_KEY: '{"$maxKey": 1}',
    Special.UNDEFINED: '{"$undefined": true}',
}
_EXTENDED: Final[dict[type, Callable[[Any], str]]] = {
    ObjectId: lambda value: f'{{"$oid": "{value.text}"}}',
    Decimal128: lambda value: f'{{"$numberDecimal": "{value.text}"}}',
    Date: lambda value: date_text(value.ms),
    Timestamp: lambda value: f'{{"$timestamp": {{"t": {value.seconds}, "i": {value.ordinal}}}}}',
    Binary: lambda value: binary_text(value.subtype, value.data),
    Regex: lambda value: (
        f'{{"$regularExpression": {{"pattern": {quoted(value.pattern)}, "options": {quoted(value.options)}}}}}'
    ),
    Code: _code_text,
    Symbol: lambda value: f'{{"$symbol": {quoted(value.text)}}}',
    DBPointer: lambda value: (
        f'{{"$dbPointer": {{"$ref": {quoted(value.namespace)}, "$id": {{"$oid": "{value.id}"}}}}}}'
    ),
    Special: lambda value: _SPECIAL[value],
}
