"""The table of SQL Server's column types: numbers, codes, other names, bounds and carriers.

Names are those of `sys.types` in lower case, so a `rowversion` is `timestamp`. A length of None on varchar, nvarchar
and varbinary is `(max)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from simulator.model import ColumnType
from simulator.tables import CsvTable


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
    carrier: pa.DataType = None
    arguments: str = ""
    default: tuple[int, ...] = ()
    most: int = 0


@dataclass(frozen=True, slots=True)
class Alias:
    """Another spelling: the name in `sys.types`, and the length that the spelling implies."""

    name: str
    length: int | None = None


TYPES: Final = CsvTable(__file__, "types.csv", SqlServerType)
ALIASES: Final = CsvTable(__file__, "aliases.csv", Alias)
# Code pages by the prefix of a collation's name.
COLLATIONS: Final = CsvTable(__file__, "collations.csv", str)
# Code pages of collations, and their Python codecs; utf8 collations are there since 2019.
CODE_PAGES: Final[Mapping[str, str]] = {
    **{page: page for page in ("cp437", "cp850", "cp874", "cp932", "cp949", "cp950")},
    **{
        page: page
        for page in ("cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258")
    },
    "cp936": "gbk",
    "utf8": "utf-8",
}
# SQL_Latin1_General_CP1_CI_AS, the default collation of a server installed in English.
DEFAULT_CHARSET: Final = "cp1252"
# Types that count UTF-16 units.
NATIONAL: Final = frozenset({"nchar", "nvarchar", "ntext"})
# Types of fixed length, padded with blanks or zero bytes.
FILLED: Final = frozenset({"char", "nchar", "binary"})

_BOUNDS: Final = {
    "tinyint": (0, 255),
    "smallint": (-(1 << 15), (1 << 15) - 1),
    "int": (-(1 << 31), (1 << 31) - 1),
    "bigint": (-(1 << 63), (1 << 63) - 1),
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
    if row.family in ("time", "datetime") and digits(type) > 6:
        return pa.string()
    return row.carrier


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
