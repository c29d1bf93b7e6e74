"""The table of PostgreSQL's and GaussDB's column types: their numbers in the catalog, JDBC codes, bounds and carriers.

Type names are those of PostgreSQL's `format_type` without a modifier (`integer`, `character varying`,
`timestamp with time zone`), arrays those of their elements with `[]`; aliases are data beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from simulator.model import ColumnType

POSTGRESQL: Final = "postgresql"
GAUSSDB: Final = "gaussdb"
_BOTH: Final = (POSTGRESQL, GAUSSDB)


@dataclass(frozen=True, slots=True)
class PostgresType:
    """A row of the table of types.

    `oid` is the type's number in pg_type, 0 where each database numbers it itself (enums, extensions) or none is
    published; `array` the number of its array type, 0 if columns of such arrays are not offered here. `jdbc` is the
    java.sql.Types code. `size` is pg_type.typlen: bytes of a value, -1 where they vary. `arguments` says what may stand
    in brackets. `bits` belongs to integers, `max_bytes` to what may be large. `since` is the first version of
    PostgreSQL that has it.
    """

    name: str
    family: str
    oid: int
    array: int
    jdbc: int
    size: int = -1
    arguments: str = ""
    bits: int = 0
    signed: bool = True
    max_bytes: int = 0
    systems: tuple[str, ...] = _BOTH
    since: int = 0


_LARGE: Final = 1 << 30
_POSTGRESQL: Final = (POSTGRESQL,)
_GAUSSDB: Final = (GAUSSDB,)

# Numbers and sizes of PostgreSQL's own types: read from pg_type of a PostgreSQL 15. JDBC codes: those of the PostgreSQL
# driver and of CloudCanal's type library, which agree. GaussDB's numbers: pg_type.h of openGauss-server; its unsigned
# integers have none that is published. GaussDB's JDBC codes are inferred from the meaning of the types.
_ROWS: Final = (
    PostgresType("boolean", "boolean", 16, 1000, -7, 1),
    PostgresType("smallint", "integer", 21, 1005, 5, 2, bits=16),
    PostgresType("integer", "integer", 23, 1007, 4, 4, bits=32),
    PostgresType("bigint", "integer", 20, 1016, -5, 8, bits=64),
    PostgresType("tinyint", "integer", 5545, 0, -6, 1, bits=8, signed=False, systems=_GAUSSDB),
    PostgresType("tinyint unsigned", "integer", 0, 0, -6, 1, bits=8, signed=False, systems=_GAUSSDB),
    PostgresType("smallint unsigned", "integer", 0, 0, 5, 2, bits=16, signed=False, systems=_GAUSSDB),
    PostgresType("integer unsigned", "integer", 0, 0, 4, 4, bits=32, signed=False, systems=_GAUSSDB),
    PostgresType("bigint unsigned", "integer", 0, 0, -5, 8, bits=64, signed=False, systems=_GAUSSDB),
    PostgresType("oid", "integer", 26, 1028, -5, 4, bits=32, signed=False),
    PostgresType("xid", "integer", 28, 0, 1111, 4, bits=32, signed=False, systems=_POSTGRESQL),
    PostgresType("numeric", "decimal", 1700, 1231, 2, arguments="precision"),
    PostgresType("money", "other", 790, 791, 8, 8),
    PostgresType("real", "float", 700, 1021, 7, 4),
    PostgresType("double precision", "float", 701, 1022, 8, 8),
    PostgresType("character", "text", 1042, 1014, 1, arguments="characters", max_bytes=_LARGE),
    PostgresType("character varying", "text", 1043, 1015, 12, arguments="characters", max_bytes=_LARGE),
    PostgresType("text", "text", 25, 1009, 12, max_bytes=_LARGE),
    PostgresType("bpchar", "text", 1042, 0, 1, max_bytes=_LARGE),
    PostgresType('"char"', "text", 18, 0, 1, 1, max_bytes=1),
    PostgresType("name", "text", 19, 0, 12, 64, max_bytes=63),
    PostgresType("citext", "text", 0, 0, 1111, max_bytes=_LARGE, systems=_POSTGRESQL),
    PostgresType("nvarchar2", "text", 3969, 3968, -9, arguments="characters", max_bytes=_LARGE, systems=_GAUSSDB),
    PostgresType("clob", "text", 90, 0, 2005, max_bytes=_LARGE, systems=_GAUSSDB),
    PostgresType("bytea", "binary", 17, 1001, -2, max_bytes=_LARGE),
    PostgresType("raw", "binary", 86, 0, -3, max_bytes=_LARGE, systems=_GAUSSDB),
    PostgresType("blob", "binary", 88, 0, 2004, max_bytes=_LARGE, systems=_GAUSSDB),
    PostgresType("date", "date", 1082, 1182, 91, 4),
    PostgresType("time without time zone", "time", 1083, 1183, 92, 8, "fraction"),
    PostgresType("time with time zone", "other", 1266, 1270, 92, 12, "fraction"),
    PostgresType("timestamp without time zone", "datetime", 1114, 1115, 93, 8, "fraction"),
    PostgresType("timestamp with time zone", "timestamptz", 1184, 1185, 93, 8, "fraction"),
    PostgresType("smalldatetime", "datetime", 9003, 0, 93, 8, systems=_GAUSSDB),
    PostgresType("interval", "interval", 1186, 1187, 1111, 16, "fraction"),
    PostgresType("bit", "bit", 1560, 1561, -7, arguments="bits"),
    PostgresType("bit varying", "bit", 1562, 1563, -7, arguments="bits"),
    PostgresType("json", "json", 114, 199, 1111, max_bytes=_LARGE),
    PostgresType("jsonb", "json", 3802, 3807, 1111, max_bytes=_LARGE),
    PostgresType("xml", "xml", 142, 143, 2009, max_bytes=_LARGE),
    PostgresType("uuid", "uuid", 2950, 2951, 1111, 16),
    PostgresType("enum", "enum", 0, 0, 12, 4, "labels"),
    PostgresType("point", "geometry", 600, 1017, 1111, 16),
    PostgresType("line", "geometry", 628, 0, 1111, 24, systems=_POSTGRESQL),
    PostgresType("lseg", "geometry", 601, 0, 1111, 32),
    PostgresType("box", "geometry", 603, 1020, 1111, 32),
    PostgresType("path", "geometry", 602, 0, 1111),
    PostgresType("polygon", "geometry", 604, 0, 1111),
    PostgresType("circle", "geometry", 718, 0, 1111, 24),
    PostgresType("inet", "other", 869, 1041, 1111),
    PostgresType("cidr", "other", 650, 651, 1111),
    PostgresType("macaddr", "other", 829, 1040, 1111, 6),
    PostgresType("macaddr8", "other", 774, 0, 1111, 8, systems=_POSTGRESQL),
    PostgresType("int4range", "range", 3904, 3905, 1111),
    PostgresType("int8range", "range", 3926, 0, 1111),
    PostgresType("numrange", "range", 3906, 0, 1111),
    PostgresType("tsrange", "range", 3908, 0, 1111),
    PostgresType("tstzrange", "range", 3910, 0, 1111),
    PostgresType("daterange", "range", 3912, 0, 1111),
    PostgresType("int4multirange", "range", 4451, 0, 1111, systems=_POSTGRESQL, since=14),
    PostgresType("int8multirange", "range", 4536, 0, 1111, systems=_POSTGRESQL, since=14),
    PostgresType("nummultirange", "range", 4532, 0, 1111, systems=_POSTGRESQL, since=14),
    PostgresType("tsmultirange", "range", 4533, 0, 1111, systems=_POSTGRESQL, since=14),
    PostgresType("tstzmultirange", "range", 4534, 0, 1111, systems=_POSTGRESQL, since=14),
    PostgresType("datemultirange", "range", 4535, 0, 1111, systems=_POSTGRESQL, since=14),
    PostgresType("tsvector", "other", 3614, 0, 1111, max_bytes=1 << 20),
    PostgresType("tsquery", "other", 3615, 0, 1111),
    PostgresType("pg_lsn", "other", 3220, 0, 1111, 8, systems=_POSTGRESQL),
    PostgresType("txid_snapshot", "other", 2970, 0, 1111),
    PostgresType("hstore", "other", 0, 0, 1111, max_bytes=_LARGE, systems=_POSTGRESQL),
    PostgresType("ltree", "other", 0, 0, 1111, systems=_POSTGRESQL),
)
_ARRAYS: Final = tuple(
    PostgresType(row.name + "[]", "array", row.array, 0, 2003, arguments=row.arguments, systems=row.systems)
    for row in _ROWS
    if row.array
)
EVERY_TYPE: Final[Mapping[str, PostgresType]] = {row.name: row for row in (*_ROWS, *_ARRAYS)}

# Other spellings, the canonical name, and which systems know them.
_ALIASES: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    *((alias, "boolean", _BOTH) for alias in ("bool",)),
    *((alias, "smallint", _BOTH) for alias in ("int2", "smallserial", "serial2")),
    *((alias, "integer", _BOTH) for alias in ("int", "int4", "serial", "serial4")),
    *((alias, "bigint", _BOTH) for alias in ("int8", "bigserial", "serial8")),
    *((alias, "numeric", _BOTH) for alias in ("decimal", "dec")),
    *((alias, "real", _BOTH) for alias in ("float4",)),
    *((alias, "double precision", _BOTH) for alias in ("float8", "float")),
    *((alias, "character", _BOTH) for alias in ("char", "nchar", "national character", "national char")),
    *((alias, "character varying", _BOTH) for alias in ("varchar", "char varying")),
    *((alias, "character varying", _BOTH) for alias in ("national character varying", "national char varying")),
    *((alias, "time without time zone", _BOTH) for alias in ("time",)),
    *((alias, "time with time zone", _BOTH) for alias in ("timetz",)),
    *((alias, "timestamp without time zone", _BOTH) for alias in ("timestamp",)),
    *((alias, "timestamp with time zone", _BOTH) for alias in ("timestamptz",)),
    *((alias, "bit varying", _BOTH) for alias in ("varbit",)),
    *((alias, "tinyint", _GAUSSDB) for alias in ("int1",)),
    *((f"{alias} unsigned", "integer unsigned", _GAUSSDB) for alias in ("int", "int4")),
    *((alias, "integer", _GAUSSDB) for alias in ("binary_integer",)),
    *((alias, "numeric", _GAUSSDB) for alias in ("number",)),
    *((alias, "double precision", _GAUSSDB) for alias in ("binary_double",)),
    *((alias, "character varying", _GAUSSDB) for alias in ("varchar2",)),
    *((alias, "nvarchar2", _GAUSSDB) for alias in ("nvarchar",)),
)


def types_of(system: str, version: int = 0) -> dict[str, PostgresType]:
    """The types of a system; of PostgreSQL those that a major version has (0: all)."""
    return {
        name: row for name, row in EVERY_TYPE.items() if system in row.systems and not (version and row.since > version)
    }


def aliases_of(system: str) -> dict[str, str]:
    """Other spellings to canonical names."""
    return {alias: name for alias, name, systems in _ALIASES if system in systems}


def family(type: ColumnType) -> str:
    """`integer`, `decimal`, `float`, `boolean`, `text`, `binary`, `date`, `time`, `datetime`, `timestamptz`,
    `interval`, `bit`, `json`, `xml`, `uuid`, `enum`, `geometry`, `range`, `array`, `other`."""
    return EVERY_TYPE[type.name].family


def oid(type: ColumnType) -> int:
    """The type's number in pg_type; 0 for enums and types of extensions, which each database numbers itself.

    >>> oid(ColumnType("integer")), oid(ColumnType("integer[]")), oid(ColumnType("character varying", 40))
    (23, 1007, 1043)
    """
    return EVERY_TYPE[type.name].oid


def element(type: ColumnType) -> ColumnType:
    """The type of an array's elements.

    >>> element(ColumnType("numeric[]", 10, 2)) == ColumnType("numeric", 10, 2)
    True
    """
    return ColumnType(type.name.removesuffix("[]"), type.length, type.scale)


_CARRIERS: Final[Mapping[str, pa.DataType]] = {
    "boolean": pa.bool_(),
    "integer": pa.int64(),
    "float": pa.float64(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "time": pa.duration("us"),
    "datetime": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us"),
    "enum": pa.int64(),
}
# The widest decimal of Arrow.
_MOST_DIGITS: Final = 76


def arrow_type(type: ColumnType) -> pa.DataType:
    """The Arrow type that carries the values of a column (the table of `simulator.carriers`); text unless it says so.

    A numeric without precision keeps each value's own scale and may be NaN: it travels as text, and so does one that
    Arrow's decimals do not hold (above 76 digits, a scale below 0 or above the precision).

    >>> arrow_type(ColumnType("numeric", 10, 2)), arrow_type(ColumnType("numeric")), arrow_type(ColumnType("jsonb"))
    (Decimal128Type(decimal128(10, 2)), DataType(string), DataType(string))
    """
    row = EVERY_TYPE[type.name]
    if row.name == "real":
        return pa.float32()
    if row.name == "bigint unsigned":
        return pa.uint64()
    if row.family == "decimal" and type.length is not None:
        scale = type.scale or 0
        if type.length <= _MOST_DIGITS and 0 <= scale <= type.length:
            return pa.decimal128(type.length, scale) if type.length <= 38 else pa.decimal256(type.length, scale)
    return _CARRIERS.get(row.family, pa.string())


def bounds(type: ColumnType) -> tuple[int, int]:
    """Least and greatest value of an integer type.

    >>> bounds(ColumnType("smallint")), bounds(ColumnType("oid")), bounds(ColumnType("tinyint"))
    ((-32768, 32767), (0, 4294967295), (0, 255))
    """
    row = EVERY_TYPE[type.name]
    return (-(1 << row.bits - 1), (1 << row.bits - 1) - 1) if row.signed else (0, (1 << row.bits) - 1)


def fraction_digits(type: ColumnType) -> int:
    """Fraction digits of seconds: what stands in brackets, six where nothing does; a smalldatetime has whole minutes.

    >>> fraction_digits(ColumnType("time with time zone", 3)), fraction_digits(ColumnType("interval"))
    (3, 6)
    """
    if type.name == "smalldatetime":
        return 0
    return 6 if type.length is None else type.length


def padding(type: ColumnType) -> int:
    """To how many characters a value is filled with blanks; 0 where it is not. A character(n) is."""
    return (type.length or 1) if type.name == "character" else 0
