"""The table of SQL Server's column types: numbers, codes, other names, bounds and carriers.

Names are those of `sys.types` in lower case; `rowversion` is there what everybody knows it by, `timestamp`.
A length of None on varchar, nvarchar and varbinary is `(max)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from simulator.model import ColumnType


@dataclass(frozen=True, slots=True)
class SqlServerType:
    """A row of the table of types.

    `number` is `sys.types.system_type_id`; `jdbc` the code that Microsoft's JDBC driver gives the column; `arguments`
    says what may stand in brackets and `default` what stands there if nothing; `most` is the longest length in bytes
    (of the national types: pairs of bytes), without a length that of the value.
    """

    name: str
    family: str
    number: int
    jdbc: int
    arguments: str = ""
    default: tuple[int, ...] = ()
    most: int = 0


# Numbers: Transact-SQL reference, "sys.types"; CLR types (hierarchyid, geometry, geography) share 240.
# Codes: Microsoft JDBC driver, "Using basic data types" and microsoft.sql.Types (below -144): datetimeoffset -155,
# sql_variant -156, geometry -157, geography -158; xml and the udt hierarchyid travel as LONGNVARCHAR and VARBINARY.
_MAX: Final = (1 << 31) - 1
_ROWS: Final = (
    SqlServerType("bit", "bit", 104, -7),
    SqlServerType("tinyint", "integer", 48, -6),
    SqlServerType("smallint", "integer", 52, 5),
    SqlServerType("int", "integer", 56, 4),
    SqlServerType("bigint", "integer", 127, -5),
    SqlServerType("decimal", "decimal", 106, 3, "precision", (18, 0)),
    SqlServerType("numeric", "decimal", 108, 2, "precision", (18, 0)),
    SqlServerType("smallmoney", "decimal", 122, 3),
    SqlServerType("money", "decimal", 60, 3),
    SqlServerType("real", "float", 59, 7),
    SqlServerType("float", "float", 62, 8, "mantissa"),
    SqlServerType("date", "date", 40, 91),
    SqlServerType("time", "time", 41, 92, "fraction", (7,)),
    SqlServerType("smalldatetime", "datetime", 58, 93),
    SqlServerType("datetime", "datetime", 61, 93),
    SqlServerType("datetime2", "datetime", 42, 93, "fraction", (7,)),
    SqlServerType("datetimeoffset", "zoned", 43, -155, "fraction", (7,)),
    SqlServerType("char", "text", 175, 1, "bytes", (1,), most=8000),
    SqlServerType("varchar", "text", 167, 12, "bytes or max", (1,), most=8000),
    SqlServerType("text", "text", 35, -1, most=_MAX),
    SqlServerType("nchar", "text", 239, -15, "pairs", (1,), most=4000),
    SqlServerType("nvarchar", "text", 231, -9, "pairs or max", (1,), most=4000),
    SqlServerType("ntext", "text", 99, -16, most=_MAX // 2),
    SqlServerType("binary", "binary", 173, -2, "bytes", (1,), most=8000),
    SqlServerType("varbinary", "binary", 165, -3, "bytes or max", (1,), most=8000),
    SqlServerType("image", "binary", 34, -4, most=_MAX),
    SqlServerType("timestamp", "binary", 189, -2, most=8),
    SqlServerType("uniqueidentifier", "uuid", 36, 1),
    SqlServerType("xml", "xml", 241, -16, most=_MAX),
    SqlServerType("sql_variant", "other", 98, -156, most=8000),
    SqlServerType("hierarchyid", "other", 240, -3, most=892),
    SqlServerType("geometry", "geometry", 240, -157, most=_MAX),
    SqlServerType("geography", "geometry", 240, -158, most=_MAX),
)
TYPES: Final[Mapping[str, SqlServerType]] = {row.name: row for row in _ROWS}

# Other spellings: Transact-SQL reference, "Data type synonyms"; sysname is a type made of nvarchar(128).
ALIASES: Final[Mapping[str, tuple[str, Mapping[str, int]]]] = {
    "binary varying": ("varbinary", {}),
    "char varying": ("varchar", {}),
    "character": ("char", {}),
    "character varying": ("varchar", {}),
    "dec": ("decimal", {}),
    "double precision": ("float", {}),
    "integer": ("int", {}),
    "national char": ("nchar", {}),
    "national character": ("nchar", {}),
    "national char varying": ("nvarchar", {}),
    "national character varying": ("nvarchar", {}),
    "national text": ("ntext", {}),
    "rowversion": ("timestamp", {}),
    "sysname": ("nvarchar", {"length": 128}),
}

# What the national types count.
NATIONAL: Final = frozenset({"nchar", "nvarchar", "ntext"})
# Fixed lengths, filled up with blanks or zero bytes.
FILLED: Final = frozenset({"char", "nchar", "binary"})

_BOUNDS: Final = {
    "tinyint": (0, 255),
    "smallint": (-(1 << 15), (1 << 15) - 1),
    "int": (-(1 << 31), (1 << 31) - 1),
    "bigint": (-(1 << 63), (1 << 63) - 1),
}
_CARRIERS: Final[Mapping[str, pa.DataType]] = {
    "bit": pa.uint64(),
    "integer": pa.int64(),
    "float": pa.float64(),
    "date": pa.date32(),
    "time": pa.duration("us"),
    "datetime": pa.timestamp("us"),
    "zoned": pa.string(),
    "text": pa.string(),
    "binary": pa.binary(),
    "uuid": pa.string(),
    "xml": pa.string(),
    "geometry": pa.binary(),
}


def family(type: ColumnType) -> str:
    """`bit`, `integer`, `decimal`, `float`, `date`, `time`, `datetime`, `zoned`, `text`, `binary`, `uuid`, `xml`,
    `geometry`, or `other` (sql_variant, hierarchyid)."""
    return TYPES[type.name].family


def arrow_type(type: ColumnType) -> pa.DataType:
    """The Arrow type that carries the values of a column (the table of `simulator.carriers`).

    hierarchyid is bytes, sql_variant the text of its value, a bit 0 or 1.

    >>> arrow_type(ColumnType("money")), arrow_type(ColumnType("datetime2", 7)), arrow_type(ColumnType("datetime2", 6))
    (Decimal128Type(decimal128(19, 4)), DataType(string), TimestampType(timestamp[us]))
    """
    row = TYPES[type.name]
    if row.family == "decimal":
        return pa.decimal128(*precision_scale(type))
    if row.name == "real":
        return pa.float32()
    if row.family in ("time", "datetime") and digits(type) > 6:
        return pa.string()
    if row.family == "other":
        return pa.binary() if row.name == "hierarchyid" else pa.string()
    return _CARRIERS[row.family]


def precision_scale(type: ColumnType) -> tuple[int, int]:
    """Precision and scale of a decimal or an amount of money."""
    if type.name == "money":
        return 19, 4
    if type.name == "smallmoney":
        return 10, 4
    return type.length if type.length is not None else 18, type.scale or 0


def digits(type: ColumnType) -> int:
    """Digits of a second's fraction: 3 of a datetime, none of a smalldatetime, else what is declared, 7 by default."""
    if type.name == "datetime":
        return 3
    if type.name == "smalldatetime":
        return 0
    return type.length if type.length is not None else 7


def bounds(type: ColumnType) -> tuple[int, int]:
    """Least and greatest value of an integer type; a tinyint has no sign.

    >>> bounds(ColumnType("tinyint")), bounds(ColumnType("smallint"))
    ((0, 255), (-32768, 32767))
    """
    return _BOUNDS[type.name]


def codec(type: ColumnType) -> str:
    """The Python codec of a column's texts: its code page, UTF-8 or UTF-16."""
    if type.name in NATIONAL:
        return "utf-16-le"
    return CODE_PAGES[type.charset or DEFAULT_CHARSET]


# Code pages of collations: the code page's number and the Python codec; utf8 collations are there since 2019.
CODE_PAGES: Final[Mapping[str, str]] = {
    "cp437": "cp437",
    "cp850": "cp850",
    "cp874": "cp874",
    "cp932": "cp932",
    "cp936": "gbk",
    "cp949": "cp949",
    "cp950": "cp950",
    "cp1250": "cp1250",
    "cp1251": "cp1251",
    "cp1252": "cp1252",
    "cp1253": "cp1253",
    "cp1254": "cp1254",
    "cp1255": "cp1255",
    "cp1256": "cp1256",
    "cp1257": "cp1257",
    "cp1258": "cp1258",
    "utf8": "utf-8",
}
# SQL_Latin1_General_CP1_CI_AS, what a server set up in English has.
DEFAULT_CHARSET: Final = "cp1252"
# The beginning of a Windows collation's name, and its code page (Transact-SQL reference, "Windows collation name").
COLLATIONS: Final = {
    "latin1": "cp1252",
    "chinese_prc": "cp936",
    "chinese_simplified": "cp936",
    "chinese_traditional": "cp950",
    "chinese_taiwan": "cp950",
    "japanese": "cp932",
    "korean": "cp949",
    "cyrillic": "cp1251",
    "ukrainian": "cp1251",
    "greek": "cp1253",
    "turkish": "cp1254",
    "hebrew": "cp1255",
    "arabic": "cp1256",
    "vietnamese": "cp1258",
    "thai": "cp874",
    "polish": "cp1250",
    "czech": "cp1250",
    "hungarian": "cp1250",
}
