"""The table of MySQL's column types: their other names, character sets, bounds and carriers.

Type names are MySQL's own canonical ones (`bigint`, `varchar`); aliases (`int8`, `national varchar`) are data beside
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from simulator.model import ColumnType


@dataclass(frozen=True, slots=True)
class MysqlType:
    """A row of the table of types.

    `jdbc` is the java.sql.Types code of a value that is there and needs no wider type; `bits` belongs to integers,
    `max_bytes` to texts and bytes; `arguments` says what may stand in brackets; `default` what stands there if nothing.
    """

    name: str
    family: str
    jdbc: int
    arguments: str = ""
    default: tuple[int, ...] = ()
    bits: int = 0
    max_bytes: int = 0


# Codes: java.sql.Types as Alibaba Canal 1.1.7 and 1.1.8 print them (captured); the promotions of unsigned values and
# the codes of nulls belong to the formats.
_ROWS: Final = (
    MysqlType("tinyint", "integer", -6, "width", bits=8),
    MysqlType("smallint", "integer", 5, "width", bits=16),
    MysqlType("mediumint", "integer", 4, "width", bits=24),
    MysqlType("int", "integer", 4, "width", bits=32),
    MysqlType("bigint", "integer", -5, "width", bits=64),
    MysqlType("decimal", "decimal", 3, "precision", (10, 0)),
    MysqlType("float", "float", 7, "digits"),
    MysqlType("double", "float", 8, "digits"),
    MysqlType("bit", "bit", -7, "bits", (1,)),
    MysqlType("date", "date", 91),
    MysqlType("datetime", "datetime", 93, "fraction"),
    MysqlType("timestamp", "datetime", 93, "fraction"),
    MysqlType("time", "time", 92, "fraction"),
    MysqlType("year", "year", 12, "year"),
    MysqlType("char", "text", 1, "char", (1,), max_bytes=255),
    MysqlType("varchar", "text", 12, "varchar", max_bytes=65_535),
    MysqlType("tinytext", "text", 2005, max_bytes=255),
    MysqlType("text", "text", 2005, "lob", max_bytes=65_535),
    MysqlType("mediumtext", "text", 2005, max_bytes=16_777_215),
    MysqlType("longtext", "text", 2005, max_bytes=4_294_967_295),
    MysqlType("binary", "binary", 2004, "char", (1,), max_bytes=255),
    MysqlType("varbinary", "binary", 2004, "varchar", max_bytes=65_535),
    MysqlType("tinyblob", "binary", 2004, max_bytes=255),
    MysqlType("blob", "binary", 2004, "lob", max_bytes=65_535),
    MysqlType("mediumblob", "binary", 2004, max_bytes=16_777_215),
    MysqlType("longblob", "binary", 2004, max_bytes=4_294_967_295),
    MysqlType("json", "json", 12, max_bytes=4_294_967_295),
    MysqlType("enum", "enum", 4, "labels"),
    MysqlType("set", "set", -7, "labels"),
    MysqlType("geometry", "geometry", 2004),
    MysqlType("point", "geometry", 2004),
    MysqlType("linestring", "geometry", 2004),
    MysqlType("polygon", "geometry", 2004),
    MysqlType("multipoint", "geometry", 2004),
    MysqlType("multilinestring", "geometry", 2004),
    MysqlType("multipolygon", "geometry", 2004),
    MysqlType("geometrycollection", "geometry", 2004),
)
TYPES: Final[Mapping[str, MysqlType]] = {row.name: row for row in _ROWS}

# Other spellings: what is typed, the canonical name, and the attributes that the spelling implies.
_NATIONAL: Final = {"charset": "utf8"}
ALIASES: Final[Mapping[str, tuple[str, Mapping[str, object]]]] = {
    "bool": ("tinyint", {"length": 1}),
    "boolean": ("tinyint", {"length": 1}),
    "int1": ("tinyint", {}),
    "int2": ("smallint", {}),
    "int3": ("mediumint", {}),
    "middleint": ("mediumint", {}),
    "int4": ("int", {}),
    "integer": ("int", {}),
    "int8": ("bigint", {}),
    "serial": ("bigint", {"unsigned": True}),
    "dec": ("decimal", {}),
    "numeric": ("decimal", {}),
    "fixed": ("decimal", {}),
    "float4": ("float", {}),
    "float8": ("double", {}),
    "real": ("double", {}),
    "double precision": ("double", {}),
    "character": ("char", {}),
    "character varying": ("varchar", {}),
    "char varying": ("varchar", {}),
    "varcharacter": ("varchar", {}),
    "nchar": ("char", _NATIONAL),
    "national char": ("char", _NATIONAL),
    "national character": ("char", _NATIONAL),
    "nvarchar": ("varchar", _NATIONAL),
    "nchar varchar": ("varchar", _NATIONAL),
    "nchar varying": ("varchar", _NATIONAL),
    "national varchar": ("varchar", _NATIONAL),
    "national varcharacter": ("varchar", _NATIONAL),
    "national char varying": ("varchar", _NATIONAL),
    "national character varying": ("varchar", _NATIONAL),
    "long": ("mediumtext", {}),
    "long varchar": ("mediumtext", {}),
    "long char varying": ("mediumtext", {}),
    "long character varying": ("mediumtext", {}),
    "long varbinary": ("mediumblob", {}),
    "geomcollection": ("geometrycollection", {}),
}

# Character set: most bytes of a character, and the Python codec that knows which characters it has.
CHARSETS: Final[Mapping[str, tuple[int, str]]] = {
    "utf8mb4": (4, "utf-8"),
    "utf8": (3, "utf-8"),
    "utf8mb3": (3, "utf-8"),
    "latin1": (1, "cp1252"),
    "ascii": (1, "ascii"),
    "gbk": (2, "gbk"),
    "gb2312": (2, "gb2312"),
    "gb18030": (4, "gb18030"),
    "big5": (2, "big5"),
    "ucs2": (2, "utf-16-be"),
    "utf16": (4, "utf-16-be"),
    "utf32": (4, "utf-32-be"),
    "sjis": (2, "shift_jis"),
    "euckr": (2, "euc_kr"),
    "cp1250": (1, "cp1250"),
    "cp1251": (1, "cp1251"),
    "cp1256": (1, "cp1256"),
    "cp1257": (1, "cp1257"),
    "cp850": (1, "cp850"),
    "cp852": (1, "cp852"),
    "cp866": (1, "cp866"),
    "cp932": (2, "cp932"),
    "eucjpms": (3, "euc_jp"),
    "greek": (1, "iso8859_7"),
    "hebrew": (1, "iso8859_8"),
    "hp8": (1, "hp_roman8"),
    "koi8r": (1, "koi8_r"),
    "koi8u": (1, "koi8_u"),
    "latin2": (1, "iso8859_2"),
    "latin5": (1, "iso8859_9"),
    "latin7": (1, "iso8859_13"),
    "macce": (1, "mac_latin2"),
    "macroman": (1, "mac_roman"),
    "tis620": (1, "tis_620"),
    "ujis": (3, "euc_jp"),
    "utf16le": (4, "utf-16-le"),
}
DEFAULT_CHARSET: Final = "utf8mb4"


def family(type: ColumnType) -> str:
    """`integer`, `decimal`, `float`, `bit`, `date`, `datetime`, `time`, `year`, `text`, `binary`, `json`, `enum`, `set`
    or `geometry`."""
    return TYPES[type.name].family


_CARRIERS: Final[Mapping[str, pa.DataType]] = {
    "integer": pa.int64(),
    "float": pa.float64(),
    "bit": pa.uint64(),
    "date": pa.date32(),
    "datetime": pa.timestamp("us"),
    "time": pa.duration("us"),
    "year": pa.int64(),
    "text": pa.string(),
    "binary": pa.binary(),
    "json": pa.string(),
    "enum": pa.int64(),
    "set": pa.uint64(),
    "geometry": pa.binary(),
}


def arrow_type(type: ColumnType) -> pa.DataType:
    """The Arrow type that carries the values of a column (the table of `simulator.carriers`).

    >>> arrow_type(ColumnType("bigint", unsigned=True)), arrow_type(ColumnType("decimal", 10, 2))
    (DataType(uint64), Decimal128Type(decimal128(10, 2)))
    """
    row = TYPES[type.name]
    if row.name == "bigint" and type.unsigned:
        return pa.uint64()
    if row.name == "float":
        return pa.float32()
    if row.family == "decimal":
        precision, scale = precision_scale(type)
        return pa.decimal128(precision, scale) if precision <= 38 else pa.decimal256(precision, scale)
    return _CARRIERS[row.family]


def precision_scale(type: ColumnType) -> tuple[int, int]:
    """Precision and scale of a decimal, (10, 0) when it says nothing."""
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
