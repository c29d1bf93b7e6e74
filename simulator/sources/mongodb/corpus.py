"""What a field is filled with: boundary values of every BSON type, and believable ones when nothing is said."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

from simulator.model import ColumnType
from simulator.sources import believable
from simulator.sources.believable import Drawn
from simulator.sources.mongodb.type_table import bounds, subtype

LARGE_BYTES: Final = 70_000

_TEXTS: Final = (
    "",
    "a",
    "héé",
    "中文",
    "😀",
    "  x  ",
    "a\tb\nc\r",
    "\x00\x01\b\x0b\f\x1f",
    "\x7f\x80\x9f\xa0",
    "\u200b\u2028\u2029\ufeff",
    "\"\\/'`",
    "<b>&amp;=</b>",
    "\\n",
    "null",
    "e\u0301",
)
_OBJECTS: Final = (
    "{}",
    '{"": "empty name", "b": 1, "a": {"deep": {"er": [[], [[]], {}]}}}',
    '{"int": 1, "long": {"$numberLong": "7"}, "wide": 4294967296, "double": 1.0, "nan": {"$numberDouble": "NaN"}}',
    '{"exact": {"$numberDecimal": "1.10"}, "when": {"$date": "2024-02-29T12:34:56.789Z"}, "none": null, "yes": true}',
    '{"old": {"$date": {"$numberLong": "-1"}}, "id": {"$oid": "65535f40aabbccddeeff0011"}}',
    '{"bytes": {"$binary": {"base64": "AQI=", "subType": "00"}}, "at": {"$timestamp": {"t": 1714557600, "i": 1}}}',
    '{"like": {"$regularExpression": {"pattern": "^a/b", "options": "i"}}, "low": {"$minKey": 1}}',
    '{"high": {"$maxKey": 1}, "code": {"$code": "f()"}, "scoped": {"$code": "g()", "$scope": {"x": 1}}}',
    '{"word": {"$symbol": "s"}, "gone": {"$undefined": true}, "中": "文😀\\u0001\\"\\\\", "a.b": 1, "$c": 2}',
    '{"to": {"$dbPointer": {"$ref": "shop.users", "$id": {"$oid": "65535f40aabbccddeeff0011"}}}}',
)
_ARRAYS: Final = ("[]", "[1, 2.5, null, true]", '["a", ["b", []], {"c": {}}]', '[{"$numberLong": "1"}, {"$minKey": 1}]')
_DECIMALS: Final = (
    "0",
    "-0",
    "1.10",
    "-1.5",
    "1E+3",
    "9.999999999999999999999999999999999E+6144",
    "1E-6176",
    "NaN",
    "Infinity",
    "-Infinity",
)
_OTHERS: Final[Mapping[str, tuple[str, ...]]] = {
    "undefined": ("undefined",),
    "null": ("null",),
    "minKey": ("minKey",),
    "maxKey": ("maxKey",),
    "regex": ("/^a/i", "//", '/a\\/b"é/imsx'),
    "dbPointer": ('{"$dbPointer": {"$ref": "shop.users", "$id": {"$oid": "65535f40aabbccddeeff0011"}}}',),
    "javascript": ("function() { return 1 < 2; }", ""),
    "symbol": ("s", "中\"'"),
    "javascriptWithScope": ('{"$code": "f(x)", "$scope": {"x": {"$numberLong": "1"}}}',),
}


def boundary_values(type: ColumnType, *, large: bool = False) -> list[str | None]:
    """Literals at the edges of a type, the last of them None; each is one that `parse_values` takes.

    >>> boundary_values(ColumnType("int"))[:4]
    ['-2147483648', '-1', '0', '1']
    """
    values = list(dict.fromkeys(_BOUNDARIES[type.name](type) if type.name in _BOUNDARIES else _OTHERS[type.name]))
    if large and type.name in _LARGE and subtype(type) != 4:
        values.append(_LARGE[type.name])
    return [*values, None]


_LARGE: Final = {
    "string": "0123456789" * 7000,
    "binData": "0x" + "00ff" * 35_000,
    "object": json.dumps({"x": "0123456789" * 7000}),
    "array": json.dumps(["0123456789" * 7000]),
}


def _integers(type: ColumnType) -> list[str]:
    low, high = bounds(type)
    edges = {low, -1, 0, 1, high, 127, 128, -(2**31) - 1, -(2**31), 2**31 - 1, 2**31, 2**53 + 1}
    return [str(value) for value in sorted(edges) if low <= value <= high]


def _decimals(type: ColumnType) -> list[str]:
    if type.length is None:
        return list(_DECIMALS)
    scale = type.scale or 0
    digits = "9" * type.length
    most = (digits[: type.length - scale] or "0") + ("." + digits[type.length - scale :] if scale else "")
    least = "0." + "1".zfill(scale) if scale else "1"
    return ["0", least, most, "-" + least, "-" + most]


def _binaries(type: ColumnType) -> list[str]:
    if subtype(type) == 4:
        return ["00000000-0000-0000-0000-000000000000", "6f9619ff-8b86-d011-b42d-00c04fc964ff", "0x" + "ff" * 16]
    return ["", "0x00", "0xff", "0x61000000", "0x00ff10", "0xe4b8ad", "0x220a5c", "0x" + bytes(range(256)).hex()]


def _dates(type: ColumnType) -> list[str]:
    days = ["0001-01-01", "1969-12-31T23:59:59.999Z", "1970-01-01", "2000-02-29T12:34:56Z", "2024-02-29T23:59:59.999Z"]
    # the last moment of the year 9999, the one behind it, and one before the year 1
    return [*days, "9999-12-31T23:59:59.999Z", "253402300800000", "-62135596800001"]


_BOUNDARIES: Final[Mapping[str, Callable[[ColumnType], list[str]]]] = {
    "double": lambda type: [
        *("0", "-0e0", "1", "3.14", "0.1", "0.001", "0.0009999", "9999999", "1e7", "-1.5", "2e23", "1e21"),
        *("1.7976931348623157e308", "2.2250738585072014e-308", "4.9e-324", "NaN", "Infinity", "-Infinity"),
    ],
    "string": lambda type: list(type.labels or _TEXTS),
    "object": lambda type: list(_OBJECTS),
    "array": lambda type: list(_ARRAYS),
    "binData": _binaries,
    "objectId": lambda type: ["0" * 24, "65535f40aabbccddeeff0011", "f" * 24],
    "bool": lambda type: ["false", "true"],
    "date": _dates,
    "int": _integers,
    "long": _integers,
    "timestamp": lambda type: ["0:0", "1558965508:31", "4294967295:4294967295"],
    "decimal": _decimals,
}


# --------------------------------------------------------------------------------------------------- defaults


def default_values(type: ColumnType) -> Drawn:
    """How a field is filled of which a scenario says nothing; of a UUID an objectId is made.

    >>> default_values(ColumnType("bool"))
    ('choices', ['false', 'true'])
    """
    drawn = _DEFAULTS.get(type.name)
    return drawn(type) if drawn is not None else believable.BOUNDARY


def _default_decimal(type: ColumnType) -> Drawn:
    if type.length is None:
        return believable.choices(["0.10", "1.5", "19.99", "1E+3"])
    return believable.decimals(type.length, type.scale or 0)


def _default_bytes(type: ColumnType) -> Drawn:
    return believable.binaries(16, fixed=True) if subtype(type) in (3, 4) else believable.binaries(32)


_DEFAULTS: Final[Mapping[str, Callable[[ColumnType], Drawn]]] = {
    "double": lambda type: believable.FLOATS,
    "string": lambda type: believable.choices(type.labels) if type.labels else believable.texts(24),
    "object": lambda type: believable.DOCUMENTS,
    "array": lambda type: believable.choices(['["new", "sale"]', '["gift"]', "[]", '["new", "gift", "red"]']),
    "binData": _default_bytes,
    "objectId": lambda type: believable.UUIDS,
    "bool": lambda type: believable.BOOLEANS,
    "date": lambda type: ("range", ("2015-01-01T00:00:00Z", "2029-12-31T23:59:59Z")),
    "int": lambda type: believable.integers(bounds(type)[1]),
    "long": lambda type: believable.up_to("1000000000000"),
    "decimal": _default_decimal,
}
