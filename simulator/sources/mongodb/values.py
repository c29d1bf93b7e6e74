"""Values of BSON types: literals as a person writes them to carrier arrays, and back; generated values as stored."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.carriers import cut_times, primitive
from simulator.errors import short
from simulator.model import ColumnType
from simulator.sources import literals
from simulator.sources.mongodb import json as bson
from simulator.sources.mongodb.type_table import arrow_type, bounds, family, subtype
from simulator.sources.mongodb.types import type_text
from simulator.text.base64 import number_bytes
from simulator.text.bytewise import HEX, mapped
from simulator.text.columns import distinct_text
from simulator.text.json_style import escape
from simulator.text.template import constant, join
from simulator.text.timestamps import time_text

_INTEGER: Final = re.compile(r"[+-]?\d+")
_HEX: Final = re.compile(r"0[xX]([0-9A-Fa-f]*)")
_UUID: Final = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_TIMESTAMP: Final = re.compile(r"(?:Timestamp\(\s*)?(\d+)\s*[:,]\s*(\d+)\)?")
_REGEX: Final = re.compile(r"/(.*)/([a-z]*)", re.DOTALL)
_BOOLS: Final = {"true": True, "1": True, "false": False, "0": False}
# Ids derived from numbers begin with this timestamp, 2024-05-01T00:00:00Z.
ID_SECONDS: Final = 1_714_521_600
# The carrier holds microseconds in 64 bits.
_MOST_MS: Final = (1 << 62) // 1000


def parse_values(texts: Sequence[str | None], type: ColumnType) -> pa.Array:
    """Literals of a field's type as its carrier array; None is a field that is not there. Raises ValueError.

    | type | literals |
    | --- | --- |
    | int, long, double, decimal | `-5`, `1.5e3`; `NaN`, `Infinity` for the last two; decimal(p,s) is rounded half up |
    | string | itself |
    | bool | `true`, `false`, `1`, `0` |
    | objectId | 24 hexadecimal digits; or a number, of which an id is made that sorts like it |
    | date | `2024-05-01T10:00:00.123Z`, with an offset, the date alone; or milliseconds since 1970 |
    | timestamp | `1714557600:1` |
    | binData | `0x6a67`, text as UTF-8, a UUID for the subtypes 3 and 4 |
    | regex | `/^a/i`, or extended JSON |
    | object, array, and all others | extended JSON; symbol and javascript also their text, minKey … also their name |
    """
    parse = _PARSERS.get(type.name) or _PARSERS[family(type)]
    values = [None if text is None else parse(text, type) for text in texts]
    return literals.carried(values, arrow_type(type))


def format_values(array: pa.Array, type: ColumnType) -> list[str | None]:
    """The inverse of `parse_values`, in texts that it reads as the same values."""
    show = _FORMATTERS.get(type.name)
    return [
        None if value is None else show(value, type) if show else str(value) for value in literals.raw_values(array)
    ]


def _double(text: str, type: ColumnType) -> float:
    word = text.strip()
    try:
        value = float(word.replace("_", "x"))
    except ValueError:
        raise ValueError(f"{short(text)} is not a double such as 1.5, 1e3 or NaN") from None
    if value in (float("inf"), float("-inf")) and "inf" not in word.lower():
        raise ValueError(f"{word} is beyond the range of double")
    return value


def _decimal(text: str, type: ColumnType) -> Decimal | str:
    if type.length is None:
        return bson.decimal128(text).text
    return literals.decimal(text, type.length, type.scale or 0, type_text(type))


def _string(text: str, type: ColumnType) -> str:
    if type.labels and text not in type.labels:
        raise ValueError(f"{short(text)} is none of {literals.listed(type.labels)}")
    text.encode("utf-8")
    return text


def _bool(text: str, type: ColumnType) -> bool:
    word = text.strip().lower()
    if word not in _BOOLS:
        raise ValueError(f"{short(text)} is not true or false")
    return _BOOLS[word]


def _object_id(text: str, type: ColumnType) -> str:
    word = text.strip()
    if word.isdecimal() and len(word) < 20 and int(word) < 1 << 63:
        return f"{ID_SECONDS:08x}{int(word):016x}"
    return bson.object_id(word).text


def _date(text: str, type: ColumnType) -> int:
    word = text.strip()
    ms = int(word) if _INTEGER.fullmatch(word) else bson.iso_ms(word)
    if abs(ms) > _MOST_MS:
        raise ValueError(f"{word} is further from 1970 than can be carried: {_MOST_MS} milliseconds")
    return ms * 1000


def _timestamp(text: str, type: ColumnType) -> int:
    match = _TIMESTAMP.fullmatch(text.strip())
    if not match or int(match[1]) >> 32 or int(match[2]) >> 32:
        raise ValueError(f"{short(text)} is not a timestamp such as 1714557600:1")
    return int(match[1]) << 32 | int(match[2])


def _binary(text: str, type: ColumnType) -> bytes:
    if subtype(type) in (3, 4) and _UUID.fullmatch(text.strip()):
        return bytes.fromhex(text.strip().replace("-", ""))
    match = _HEX.fullmatch(text)
    value = literals.hexadecimal(match[1]) if match else text.encode()
    if subtype(type) == 4 and len(value) != 16:
        raise ValueError(f"{short(text)} has {len(value)} bytes, and a UUID has 16")
    return value


def _document(text: str, type: ColumnType) -> str:
    value = bson.loads(text)
    expected = dict if type.name == "object" else list
    if not isinstance(value, expected):
        raise ValueError(f"{short(text)} is not an {type.name}")
    return bson.dumps(value)


# By type: test for values that are valid in it.
_OTHERS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "undefined": lambda value: value is bson.Special.UNDEFINED,
    "null": lambda value: value is None,
    "minKey": lambda value: value is bson.Special.MIN_KEY,
    "maxKey": lambda value: value is bson.Special.MAX_KEY,
    "regex": lambda value: isinstance(value, bson.Regex),
    "dbPointer": lambda value: isinstance(value, bson.DBPointer),
    "javascript": lambda value: isinstance(value, bson.Code) and value.scope is None,
    "javascriptWithScope": lambda value: isinstance(value, bson.Code) and value.scope is not None,
    "symbol": lambda value: isinstance(value, bson.Symbol),
}
_SINGLE: Final[Mapping[str, Any]] = {
    "undefined": bson.Special.UNDEFINED,
    "null": None,
    "minKey": bson.Special.MIN_KEY,
    "maxKey": bson.Special.MAX_KEY,
}


def _other(text: str, type: ColumnType) -> str:
    word = text.strip()
    if type.name in _SINGLE and word.lower() == type.name.lower():
        return bson.extended(_SINGLE[type.name])
    if type.name == "regex" and (match := _REGEX.fullmatch(word)):
        return bson.extended(bson.Regex(match[1], "".join(sorted(match[2]))))
    if type.name in ("symbol", "javascript") and not word.startswith('{"$'):
        return bson.extended(bson.Symbol(text) if type.name == "symbol" else bson.Code(text))
    value = bson.loads(text)
    if not _OTHERS[type.name](value):
        raise ValueError(f"{short(text)} is not a {type.name}")
    return bson.extended(value)


_PARSERS: Final[Mapping[str, Callable[[str, ColumnType], Any]]] = {
    "integer": lambda text, type: literals.integer(text, bounds(type), type.name),
    "float": _double,
    "decimal": _decimal,
    "text": _string,
    "boolean": _bool,
    "objectid": _object_id,
    "timestamptz": _date,
    "timestamp": _timestamp,
    "binary": _binary,
    "document": _document,
    "other": _other,
}


_FORMATTERS: Final[Mapping[str, Callable[[Any, ColumnType], str]]] = {
    "double": lambda value, type: repr(value),
    "decimal": lambda value, type: value if isinstance(value, str) else format(value, "f"),
    "bool": lambda value, type: str(value).lower(),
    "date": lambda value, type: _show_date(value // 1000),
    "timestamp": lambda value, type: f"{value >> 32}:{value & 0xFFFFFFFF}",
    "binData": lambda value, type: "0x" + value.hex(),
}
_FIRST_ISO_MS: Final = -62_135_596_800_000


def _show_date(ms: int) -> str:
    return bson.iso_text(ms) if _FIRST_ISO_MS <= ms <= bson.LAST_ISO_MS else str(ms)


# ------------------------------------------------------------------------------------------------------ whole columns


def stored(array: pa.Array, type: ColumnType) -> pa.Array:
    """Generated values, or values of a type that this one widens, as they are stored.

    An objectId is made of a number (as literals are) or of a UUID; a date keeps the digits that its type has.
    """
    if pa.types.is_dictionary(array.type):
        values = stored(array.dictionary, type)
        if pa.types.is_string(values.type) or pa.types.is_binary(values.type):
            return pa.DictionaryArray.from_arrays(array.indices, values)
        return values.take(array.indices)
    if type.name == "objectId":
        return _ids(array)
    if type.name == "date" and pa.types.is_timestamp(array.type):
        return cut_times(array, unit_us(type))
    target = arrow_type(type)
    return array if array.type == target else array.cast(target)


def unit_us(type: ColumnType) -> int:
    """Step between values of a date, in microseconds: a millisecond, or more if the portable type has fewer digits."""
    return int(10 ** (6 - min(type.length if type.length is not None else 3, 3)))


def _ids(array: pa.Array) -> pa.Array:
    sizes = np.asarray(pc.fill_null(pc.binary_length(array), 24))
    if (sizes == 24).all():
        return array
    if (sizes == 36).all():  # UUIDs: their first digits, after those that give all ids about the same date
        digits = pc.utf8_slice_codeunits(pc.replace_substring(array, "-", ""), 0, 20)
        return join([f"{ID_SECONDS:08x}"[:4], digits], len(array))
    if sizes.max() < 19 and not array.null_count and pc.all(pc.utf8_is_decimal(array)).as_py():
        digits = pc.ascii_lower(mapped(number_bytes(array.cast(pa.int64()), 8), HEX))
        return join([f"{ID_SECONDS:08x}", digits], len(array))
    return pa.array([None if text is None else _object_id(text, ColumnType("objectId")) for text in array.to_pylist()])


def is_small(array: pa.Array) -> pa.Array:
    """Whether whole numbers fit 32 bits."""
    least, limit = pa.scalar(-(1 << 31), pa.int64()), pa.scalar(1 << 31, pa.int64())
    return pc.and_(pc.greater_equal(array, least), pc.less(array, limit))


def extended_text(array: pa.Array, type: ColumnType) -> pa.Array:
    """Each value in extended JSON, as in a document; null stays null.

    >>> extended_text(pa.array([7, None]), ColumnType("long")).to_pylist()
    ['{"$numberLong": "7"}', None]
    """
    if pa.types.is_dictionary(array.type):
        return extended_text(array.dictionary, type).take(array.indices)
    if family(type) == "document" or (family(type) == "other" and type.name != "timestamp"):
        return array
    if type.name == "int":
        return array.cast(pa.string())
    if type.name == "bool":
        return pc.if_else(array, constant("true"), constant("false"))
    if type.name == "objectId":
        return join(['{"$oid": "', array, '"}'], len(array))
    if type.name == "decimal":
        return join(['{"$numberDecimal": "', array.cast(pa.string()), '"}'], len(array))
    if type.name == "long":
        text = array.cast(pa.string())
        return pc.if_else(is_small(array), join(['{"$numberLong": "', text, '"}'], len(array)), text)
    if type.name == "string":
        return join(['"', escape(array), '"'], len(array))
    if type.name == "date":
        return _date_text(array)
    return distinct_text(array, lambda value: _LEAVES[type.name](value, type))


_LEAVES: Final[Mapping[str, Callable[[Any, ColumnType], str]]] = {
    "double": lambda value, type: bson.double_text(value),
    "timestamp": lambda value, type: bson.extended(bson.Timestamp(value >> 32, value & 0xFFFFFFFF)),
    "binData": lambda value, type: bson.binary_text(subtype(type), value),
}
_ISO_US: Final = (bson.LAST_ISO_MS + 1) * 1000


def _date_text(array: pa.Array) -> pa.Array:
    us = np.asarray(array.view(pa.int64()).fill_null(0))
    in_range = (us >= 0) & (us < _ISO_US)
    text_in_range = time_text(primitive(np.where(in_range, us, 0), array.type), 3)
    text = join(['{"$date": "', pc.replace_substring(text_in_range, " ", "T"), 'Z"}'], len(array))
    if not in_range.all():
        outside = join(['{"$date": {"$numberLong": "', pa.array(us // 1000), '"}}'], len(array))
        text = pc.if_else(pa.array(in_range), text, outside)
    if array.null_count:
        text = pc.if_else(array.is_valid(), text, pa.scalar(None, pa.string()))
    return text


def leaf_text(array: pa.Array, type: ColumnType) -> pa.Array:
    """Generated values as leaves of a generated document: whole numbers of 32 bits where they fit, others doubles."""
    if pa.types.is_dictionary(array.type):
        return leaf_text(array.dictionary, type).take(array.indices).fill_null("null")
    if type.name == "long":
        text = array.cast(pa.string())
    elif type.name == "decimal":
        text = extended_text(array.cast(pa.string()).cast(pa.float64()), ColumnType("double"))
    else:
        text = extended_text(array, type)
    return text.fill_null("null")
