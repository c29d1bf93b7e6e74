"""The table of BSON types: numbers, other names, bounds and carriers.

Names are the aliases of MongoDB's `$type` (`objectId`, `binData`). Two types may say more: `decimal(10,2)` is a decimal
of which the application always writes two digits behind the point, `binData(4)` has a subtype (here a UUID).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from simulator.model import ColumnType


@dataclass(frozen=True, slots=True)
class BsonType:
    """A row of the table of types: the number of the element in BSON (`$type` takes both)."""

    name: str
    family: str
    number: int


# BSON specification 1.1 and MongoDB manual, "BSON types"; undefined, dbPointer, symbol and javascriptWithScope are
# deprecated, and are read still.
_ROWS: Final = (
    BsonType("double", "float", 1),
    BsonType("string", "text", 2),
    BsonType("object", "document", 3),
    BsonType("array", "document", 4),
    BsonType("binData", "binary", 5),
    BsonType("undefined", "other", 6),
    BsonType("objectId", "objectid", 7),
    BsonType("bool", "boolean", 8),
    BsonType("date", "timestamptz", 9),
    BsonType("null", "other", 10),
    BsonType("regex", "other", 11),
    BsonType("dbPointer", "other", 12),
    BsonType("javascript", "other", 13),
    BsonType("symbol", "other", 14),
    BsonType("javascriptWithScope", "other", 15),
    BsonType("int", "integer", 16),
    BsonType("timestamp", "other", 17),
    BsonType("long", "integer", 18),
    BsonType("decimal", "decimal", 19),
    BsonType("minKey", "other", -1),
    BsonType("maxKey", "other", 127),
)
TYPES: Final[Mapping[str, BsonType]] = {row.name: row for row in _ROWS}

# As drivers and the shell call them; all names are read without regard to case.
ALIASES: Final[Mapping[str, tuple[str, int | None]]] = {
    "binary": ("binData", None),
    "boolean": ("bool", None),
    "code": ("javascript", None),
    "decimal128": ("decimal", None),
    "document": ("object", None),
    "int32": ("int", None),
    "int64": ("long", None),
    "integer": ("int", None),
    "isodate": ("date", None),
    "numberdecimal": ("decimal", None),
    "numberint": ("int", None),
    "numberlong": ("long", None),
    "uuid": ("binData", 4),
}

_CARRIERS: Final[Mapping[str, pa.DataType]] = {
    "float": pa.float64(),
    "text": pa.string(),
    "document": pa.string(),
    "binary": pa.binary(),
    "objectid": pa.string(),
    "boolean": pa.bool_(),
    "timestamptz": pa.timestamp("us"),
    "integer": pa.int64(),
    "other": pa.string(),
}


def family(type: ColumnType) -> str:
    """`float`, `text`, `document` (object and array), `binary`, `objectid`, `boolean`, `timestamptz`, `integer`,
    `decimal`, or `other`."""
    return TYPES[type.name].family


def arrow_type(type: ColumnType) -> pa.DataType:
    """The Arrow type that carries the values of a field (the table of `simulator.carriers`).

    A null value is a field that is not in the document at all; an explicit null is a field of the type null, or stands
    inside an object or array.

    | type | carrier |
    | --- | --- |
    | object, array, and what is `other` but timestamp | string: extended JSON v2 (`json`) |
    | objectId | string: 24 hexadecimal digits |
    | date | timestamp[us], whole milliseconds; any moment that milliseconds of 52 bits reach |
    | timestamp | uint64: seconds in the upper half, ordinal in the lower |
    | decimal(p,s) | decimal128(p, s) |
    | decimal | string: any value of decimal128, as MongoDB prints it |
    """
    if type.name == "timestamp":
        return pa.uint64()
    if type.name == "decimal":
        return pa.string() if type.length is None else pa.decimal128(type.length, type.scale or 0)
    return _CARRIERS[family(type)]


def bounds(type: ColumnType) -> tuple[int, int]:
    """Least and greatest value of int and long."""
    bits = 31 if type.name == "int" else 63
    return -(1 << bits), (1 << bits) - 1


def subtype(type: ColumnType) -> int:
    """The subtype of a binData field; 0 (generic) if nothing is said."""
    return type.scale or 0
