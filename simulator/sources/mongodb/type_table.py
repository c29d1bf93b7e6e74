"""The table of BSON types: numbers, other names, bounds and carriers.

Names are the aliases of MongoDB's `$type` (`objectId`, `binData`). Two types may say more: `decimal(10,2)` is a decimal
of which the application always writes two digits behind the point, `binData(4)` has a subtype (here a UUID).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from simulator.model import ColumnType
from simulator.tables import CsvTable


@dataclass(frozen=True, slots=True)
class BsonType:
    """A row of the table of types: the number of the element in BSON (`$type` takes both)."""

    name: str
    family: str
    carrier: pa.DataType
    number: int


@dataclass(frozen=True, slots=True)
class Alias:
    """Name of a type in drivers and the shell, and the subtype that it implies."""

    name: str
    subtype: int | None = None


TYPES: Final = CsvTable(__file__, "types.csv", BsonType)
# All names are read without regard to case.
ALIASES: Final = CsvTable(__file__, "aliases.csv", Alias)


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
    if type.name == "decimal" and type.length is not None:
        return pa.decimal128(type.length, type.scale or 0)
    return TYPES[type.name].carrier


def bounds(type: ColumnType) -> tuple[int, int]:
    """Least and greatest value of int and long."""
    bits = 31 if type.name == "int" else 63
    return -(1 << bits), (1 << bits) - 1


def subtype(type: ColumnType) -> int:
    """The subtype of a binData field; 0 (generic) by default."""
    return type.scale or 0
