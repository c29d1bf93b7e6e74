"""The table of MySQL's column types: their other names, character sets, bounds and carriers.

Type names are MySQL's own canonical ones (`bigint`, `varchar`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import pyarrow as pa

from simulator.model import ColumnType
from simulator.partial_dates import DATE, DATETIME
from simulator.tables import CsvTable


@dataclass(frozen=True, slots=True)
class MysqlType:
    """A row of the table of types.

    `jdbc` is the java.sql.Types code of a value that is there and needs no wider type; `bits` belongs to integers,
    `max_bytes` to texts and bytes; `arguments` says what may stand in brackets; `default` what stands there if nothing.
    """

    name: str
    family: str
    jdbc: int
    carrier: pa.DataType = None
    arguments: str = ""
    default: tuple[int, ...] = ()
    bits: int = 0
    max_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Alias:
    """Another spelling: the canonical name, and the attributes that the spelling implies."""

    name: str
    length: int | None = None
    unsigned: bool = False
    charset: str | None = None


class Charset(NamedTuple):
    """Most bytes of a character, and the Python codec that knows which characters there are."""

    width: int
    codec: str


# Carriers of the families that have partial dates.
DATES: Final = {"date": DATE, "datetime": DATETIME}
TYPES: Final = CsvTable(__file__, "types.csv", MysqlType)
ALIASES: Final = CsvTable(__file__, "aliases.csv", Alias)
CHARSETS: Final = CsvTable(__file__, "charsets.csv", Charset)
DEFAULT_CHARSET: Final = "utf8mb4"


def family(type: ColumnType) -> str:
    """`integer`, `decimal`, `float`, `bit`, `date`, `datetime`, `time`, `year`, `text`, `binary`, `json`, `enum`, `set`
    or `geometry`."""
    return TYPES[type.name].family


def arrow_type(type: ColumnType) -> pa.DataType:
    """The Arrow type that carries the values of a column (the table of `simulator.carriers`).

    >>> arrow_type(ColumnType("bigint", unsigned=True)), arrow_type(ColumnType("decimal", 10, 2))
    (DataType(uint64), Decimal128Type(decimal128(10, 2)))
    """
    row = TYPES[type.name]
    if row.name == "bigint" and type.unsigned:
        return pa.uint64()
    if row.family == "decimal":
        precision, scale = precision_scale(type)
        return pa.decimal128(precision, scale) if precision <= 38 else pa.decimal256(precision, scale)
    return DATES.get(row.family, row.carrier)


def precision_scale(type: ColumnType) -> tuple[int, int]:
    """Precision and scale of a decimal, by default (10, 0)."""
    return type.length if type.length is not None else 10, type.scale or 0


def bounds(type: ColumnType) -> tuple[int, int]:
    """Least and greatest value of an integer type.

    >>> bounds(ColumnType("tinyint")), bounds(ColumnType("smallint", unsigned=True))
    ((-128, 127), (0, 65535))
    """
    bits = TYPES[type.name].bits
    return (0, (1 << bits) - 1) if type.unsigned else (-(1 << bits - 1), (1 << bits - 1) - 1)


def character_bytes(type: ColumnType) -> int:
    """Most bytes of one character of a text column: 4 for utf8mb4, which is the default."""
    return CHARSETS[type.charset or DEFAULT_CHARSET][0]
