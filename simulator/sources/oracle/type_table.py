"""The table of Oracle's column types, which OceanBase's Oracle mode shares: codes, bounds, carriers, other names.

Type names are Oracle's own in lower case (`varchar2`, `timestamp with local time zone`). NUMBER and FLOAT are one
family, `decimal`, as Oracle keeps and all products treat them; what carries a NUMBER depends on its digits:

| column | carrier |
| --- | --- |
| NUMBER(p), NUMBER(p,0) up to 18 digits | int64 |
| NUMBER(p), NUMBER(p,s) up to 38 digits | decimal128(p, s) |
| NUMBER(p,-s) | as NUMBER(p+s) |
| NUMBER, FLOAT(b), and what is wider than 38 digits | string: plain decimal text without needless zeros |

A DATE has a time of day, so it travels as a timestamp. CHAR and NCHAR are filled up with blanks. RAW, LONG RAW and
BLOB are bytes. A moment without a zone of its own (TIMESTAMP WITH LOCAL TIME ZONE) is UTC.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from simulator.model import ColumnType
from simulator.tables import CsvTable


@dataclass(frozen=True, slots=True)
class OracleType:
    """A row of the table of types.

    `jdbc` is the code in oracle.jdbc.OracleTypes (ojdbc's own numbers below -100 and 100, 101); `dty` the internal
    data type code that DUMP() prints; `arguments` says what may stand in brackets, `default` what stands there if
    nothing; `max_bytes` belongs to texts and bytes; `sources` are the systems that have it (id and version begin so).
    """

    name: str
    family: str
    carrier: pa.DataType
    jdbc: int
    dty: int
    arguments: str = ""
    default: tuple[int, ...] = ()
    max_bytes: int = 0
    sources: tuple[str, ...] = ("oracle-", "oceanbase-oracle-")


@dataclass(frozen=True, slots=True)
class Alias:
    """Another spelling: the canonical name, and the length or precision and scale that the spelling implies."""

    name: str
    implied: tuple[int, ...] = ()


TYPES: Final = CsvTable(__file__, "types.csv", OracleType)
ALIASES: Final = CsvTable(__file__, "aliases.csv", Alias)
# Spellings of whole numbers, which take no digits in brackets, and those that mean NUMBER(38) if none are there.
WHOLE: Final = frozenset(("integer", "int", "smallint"))
FIXED_POINT: Final = frozenset(("decimal", "dec", "numeric"))

MOST_DIGITS: Final = 38


def family(type: ColumnType) -> str:
    """`text`, `decimal` (NUMBER and FLOAT), `float`, `datetime` (DATE too), `zoned`, `timestamptz`, `interval`,
    `binary`, `xml`, `json` or `other` (ROWID, UROWID, BFILE)."""
    return TYPES[type.name].family


def number_digits(type: ColumnType) -> tuple[int, int] | None:
    """Digits and scale (0 or more) of a NUMBER's carrier; None for what travels as text.

    >>> number_digits(ColumnType("number", 10, 2)), number_digits(ColumnType("number", 5, -2))
    ((10, 2), (7, 0))
    >>> number_digits(ColumnType("number")), number_digits(ColumnType("number", 2, 3))
    (None, (3, 3))
    """
    if type.name != "number" or type.length is None:
        return None
    scale = type.scale or 0
    digits = type.length - scale if scale < 0 else max(type.length, scale)
    return (digits, max(scale, 0)) if digits <= MOST_DIGITS else None


def arrow_type(type: ColumnType) -> pa.DataType:
    """The Arrow type that carries the values of a column (the tables above and of `simulator.carriers`).

    >>> arrow_type(ColumnType("number", 18, 0)), arrow_type(ColumnType("number", 19, 0))
    (DataType(int64), Decimal128Type(decimal128(19, 0)))
    >>> arrow_type(ColumnType("timestamp", 6)), arrow_type(ColumnType("timestamp", 9))
    (TimestampType(timestamp[us]), DataType(string))
    """
    row = TYPES[type.name]
    if row.family in ("datetime", "timestamptz") and (type.length or 0) > 6:
        return pa.string()
    digits = number_digits(type)
    if digits is not None:
        return pa.int64() if digits[1] == 0 and digits[0] <= 18 else pa.decimal128(*digits)
    return row.carrier


def most_bytes(type: ColumnType) -> int:
    """The bytes that a text or binary column holds: its length's, where it counts bytes."""
    row = TYPES[type.name]
    if type.length is None:
        return row.max_bytes
    if row.name == "raw" or (row.name in ("char", "varchar2") and not type.characters):
        return type.length
    # a character takes up to four bytes in AL32UTF8 and two in AL16UTF16
    return min(type.length * (2 if row.name.startswith("n") else 4), row.max_bytes)
