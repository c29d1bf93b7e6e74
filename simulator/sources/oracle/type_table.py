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

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from simulator.model import ColumnType


@dataclass(frozen=True, slots=True)
class OracleType:
    """A row of the table of types.

    `jdbc` is the code in oracle.jdbc.OracleTypes (ojdbc's own numbers below -100 and 100, 101); `dty` the internal
    data type code that DUMP() prints; `arguments` says what may stand in brackets, `default` what stands there if
    nothing; `max_bytes` belongs to texts and bytes; `sources` are the systems that have it (id and version begin so).
    """

    name: str
    family: str
    jdbc: int
    dty: int
    arguments: str = ""
    default: tuple[int, ...] = ()
    max_bytes: int = 0
    sources: tuple[str, ...] = ("oracle-", "oceanbase-oracle-")


_ORACLE: Final = ("oracle-",)
_JSON: Final = ("oracle-21c", "oceanbase-oracle-")
_MOST: Final = 4_294_967_295  # LOBs hold (4 GB - 1) database blocks; products and drivers count in bytes

# `jdbc`: the constants of oracle.jdbc.OracleTypes (Oracle Database JDBC Java API Reference 21c). `dty`: Oracle Database
# SQL Language Reference 19c, "Oracle Built-in Data Types", code column, and OCI Programmer's Guide, "Internal Data
# Types" for what that leaves out (BINARY_FLOAT 100, BINARY_DOUBLE 101 as DUMP prints them; XMLTYPE is opaque, 58).
# Which types OceanBase has: OceanBase V4.3 documentation, "Oracle mode, built-in data types": no LONG, LONG RAW, NCLOB
# and BFILE; a ROWID is a UROWID there.
_ROWS: Final = (
    OracleType("char", "text", 1, 96, "char", (1,), max_bytes=2000),
    OracleType("nchar", "text", -15, 96, "nchar", (1,), max_bytes=2000),
    OracleType("varchar2", "text", 12, 1, "varchar", max_bytes=32_767),
    OracleType("nvarchar2", "text", -9, 1, "nvarchar", max_bytes=32_767),
    OracleType("long", "text", -1, 8, max_bytes=2_147_483_647, sources=_ORACLE),
    OracleType("clob", "text", 2005, 112, max_bytes=_MOST),
    OracleType("nclob", "text", 2011, 112, max_bytes=_MOST, sources=_ORACLE),
    OracleType("number", "decimal", 2, 2, "precision"),
    OracleType("float", "decimal", 6, 2, "binary", (126,)),
    OracleType("binary_float", "float", 100, 100),
    OracleType("binary_double", "float", 101, 101),
    OracleType("date", "datetime", 91, 12),
    OracleType("timestamp", "datetime", 93, 180, "fraction", (6,)),
    OracleType("timestamp with time zone", "zoned", -101, 181, "fraction", (6,)),
    OracleType("timestamp with local time zone", "timestamptz", -102, 231, "fraction", (6,)),
    OracleType("interval year to month", "interval", -103, 182, "leading", (2,)),
    OracleType("interval day to second", "interval", -104, 183, "leading", (2, 6)),
    OracleType("raw", "binary", -2, 23, "raw", max_bytes=32_767),
    OracleType("long raw", "binary", -4, 24, max_bytes=2_147_483_647, sources=_ORACLE),
    OracleType("blob", "binary", 2004, 113, max_bytes=_MOST),
    OracleType("bfile", "other", -13, 114, sources=_ORACLE),
    OracleType("rowid", "other", -8, 69),
    OracleType("urowid", "other", -8, 208, "urowid", (4000,)),
    OracleType("xmltype", "xml", 2009, 58, max_bytes=_MOST),
    OracleType("json", "json", 2016, 119, max_bytes=33_554_432, sources=_JSON),
)
TYPES: Final[Mapping[str, OracleType]] = {row.name: row for row in _ROWS}

# Other spellings: what is typed, the canonical name, and the length or precision and scale that the spelling implies.
# SQL Language Reference 19c, "ANSI, DB2, and SQL/DS Data Types": the whole numbers are NUMBER(38), a DECIMAL of which
# nothing is said too; DOUBLE PRECISION and REAL are FLOAT(126) and FLOAT(63).
ALIASES: Final[Mapping[str, tuple[str, tuple[int, ...]]]] = {
    "integer": ("number", (38, 0)),
    "int": ("number", (38, 0)),
    "smallint": ("number", (38, 0)),
    "decimal": ("number", ()),
    "dec": ("number", ()),
    "numeric": ("number", ()),
    "double precision": ("float", (126,)),
    "real": ("float", (63,)),
    "character": ("char", ()),
    "varchar": ("varchar2", ()),
    "character varying": ("varchar2", ()),
    "char varying": ("varchar2", ()),
    "nchar varying": ("nvarchar2", ()),
    "national character": ("nchar", ()),
    "national char": ("nchar", ()),
    "national character varying": ("nvarchar2", ()),
    "national char varying": ("nvarchar2", ()),
    "long varchar": ("long", ()),
    "sys.xmltype": ("xmltype", ()),
}
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


_CARRIERS: Final[Mapping[str, pa.DataType]] = {
    "text": pa.string(),
    "decimal": pa.string(),
    "float": pa.float64(),
    "zoned": pa.string(),
    "interval": pa.string(),
    "binary": pa.binary(),
    "xml": pa.string(),
    "json": pa.string(),
    "other": pa.string(),
}


def arrow_type(type: ColumnType) -> pa.DataType:
    """The Arrow type that carries the values of a column (the tables above and of `simulator.carriers`).

    >>> arrow_type(ColumnType("number", 18, 0)), arrow_type(ColumnType("number", 19, 0))
    (DataType(int64), Decimal128Type(decimal128(19, 0)))
    >>> arrow_type(ColumnType("timestamp", 6)), arrow_type(ColumnType("timestamp", 9))
    (TimestampType(timestamp[us]), DataType(string))
    """
    row = TYPES[type.name]
    if row.name == "binary_float":
        return pa.float32()
    if row.family in ("datetime", "timestamptz"):
        return pa.string() if (type.length or 0) > 6 else pa.timestamp("us")
    digits = number_digits(type)
    if digits is not None:
        return pa.int64() if digits[1] == 0 and digits[0] <= 18 else pa.decimal128(*digits)
    return _CARRIERS[row.family]


def most_bytes(type: ColumnType) -> int:
    """The bytes that a text or binary column holds: its length's, where it counts bytes."""
    row = TYPES[type.name]
    if type.length is None:
        return row.max_bytes
    if row.name == "raw" or (row.name in ("char", "varchar2") and not type.characters):
        return type.length
    # a character takes up to four bytes in AL32UTF8 and two in AL16UTF16
    return min(type.length * (2 if row.name.startswith("n") else 4), row.max_bytes)
