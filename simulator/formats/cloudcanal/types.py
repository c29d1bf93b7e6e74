"""Column types as CloudCanal names and numbers them: `jdbcType`, `dbValType`, `typeName`, for every source.

The codes are java.sql.Types, or the number of the source's own driver where it has one of its own. They were read in
ClouGence/open-cdm, `clouddm-utils/cg-schema/.../adapter/<db>/*Types.java`, the type library of a sister product; that
CloudCanal uses the same table is a decision (varchar 12 and int 4 agree with the printed examples).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from simulator.formats.cloudcanal.options import CommonOptions
from simulator.formats.format import Settings
from simulator.model import Column, ColumnType
from simulator.sources import mysql

MYSQL: Final[Mapping[str, int]] = {
    "bit": -7, "tinyint": -6, "smallint": 5, "mediumint": 4, "int": 4, "bigint": -5, "decimal": 3, "float": 7,
    "double": 8, "date": 91, "datetime": 93, "timestamp": 93, "time": 92, "year": 91, "char": 1, "varchar": 12,
    "tinytext": 12, "text": -1, "mediumtext": -1, "longtext": -1, "json": -1, "enum": 1, "set": 1, "binary": -2,
    "varbinary": -3, "tinyblob": -3, "blob": -4, "mediumblob": -4, "longblob": -4, "geometry": -2, "point": -2,
    "linestring": -2, "polygon": -2, "multipoint": -2, "multilinestring": -2, "multipolygon": -2,
    "geometrycollection": -2, "vector": 1111,
}  # fmt: skip

# The numbers of ojdbc. The library has none for urowid and sdo_geometry: 1111 and 2002 are decisions.
ORACLE: Final[Mapping[str, int]] = {
    "char": 1, "nchar": -15, "varchar2": 12, "nvarchar2": -9, "long": -1, "number": 2, "integer": 2, "int": 2,
    "smallint": 2, "decimal": 2, "numeric": 2, "float": 6, "binary_float": 100, "binary_double": 101, "clob": 2005,
    "nclob": 2011, "blob": 2004, "bfile": -13, "date": 91, "timestamp": 93, "timestamp with time zone": -101,
    "timestamp with local time zone": -102, "interval year to month": -103, "interval day to second": -104,
    "raw": -2, "long raw": -4, "rowid": -8, "urowid": 1111, "object": 2002, "ref": 2006, "varray": 2003,
    "nested table": 2003, "anytype": 2007, "anydata": 2007, "xmltype": 12, "boolean": 252, "sdo_geometry": 2002,
    "json": 1111,
}  # fmt: skip
ORACLE_STANDARD: Final[Mapping[int, int]] = {100: 6, 101: 8, -101: 93, -102: 93, -103: 1111, -104: 1111}

# Under the long names of SQL, and under PostgreSQL's own for the same types.
POSTGRESQL: Final[Mapping[str, int]] = {
    **dict.fromkeys(("smallint", "smallserial", "int2"), 5),
    **dict.fromkeys(("integer", "serial", "int4"), 4),
    **dict.fromkeys(("bigint", "bigserial", "int8", "oid"), -5),
    "numeric": 2, "real": 7, "float4": 7, "double precision": 8, "float8": 8, "money": 8,
    "character": 1, "char": 1, "bpchar": 1, "character varying": 12, "varchar": 12, "text": 12, "name": 12,
    **dict.fromkeys(("timestamp", "timestamp without time zone", "timestamp with time zone", "timestamptz"), 93),
    **dict.fromkeys(("time", "time without time zone", "time with time zone", "timetz"), 92),
    "date": 91, "interval": 1111, "bit": -7, "bit varying": -7, "varbit": -7, "boolean": -7, "bool": -7, "xml": 2009,
    "bytea": -2, "refcursor": 2012, "anyarray": 2003,
    # not in the library: an enum as the driver has it, and by their meaning what GaussDB adds
    "enum": 12, '"char"': 1, "tinyint": -6, "tinyint unsigned": -6, "smallint unsigned": 5, "integer unsigned": 4,
    "bigint unsigned": -5, "nvarchar2": -9, "clob": 2005, "raw": -3, "blob": 2004, "smalldatetime": 93,
}  # fmt: skip

SQLSERVER: Final[Mapping[str, int]] = {
    "bit": 16, "decimal": 3, "numeric": 2, "smallint": 5, "tinyint": -6, "int": 4, "bigint": -5, "smallmoney": 3,
    "money": 3, "float": 6, "real": 7, "date": 91, "datetimeoffset": 1111, "datetime2": 93, "smalldatetime": 1111,
    "datetime": 93, "time": 92, "char": 1, "varchar": 12, "text": -16, "nchar": -15, "nvarchar": -9, "ntext": -16,
    "binary": -2, "varbinary": -3, "image": 2004, "timestamp": -2, "rowversion": -2, "hierarchyid": 1111,
    "uniqueidentifier": 12, "sql_variant": 1111, "xml": 2009, "geometry": 1111, "geography": 1111, "sysname": 12,
}  # fmt: skip

# MongoDB: BSON's type names to (the name that CloudCanal prints, its code).
MONGODB: Final[Mapping[str, tuple[str, int]]] = {
    "string": ("String", 12), "int": ("Integer", 4), "int32": ("Integer", 4), "long": ("Long", -5),
    "int64": ("Long", -5), "double": ("Double", 8), "bool": ("Boolean", 16), "boolean": ("Boolean", 16),
    "array": ("Array", 2003), "decimal": ("Decimal", 3), "decimal128": ("Decimal", 3), "date": ("Date", 93),
    "bindata": ("Binary", -2), "binary": ("Binary", -2), "object": ("Object", 1111), "document": ("Object", 1111),
    "objectid": ("ObjectId", 12),
}  # fmt: skip

# Source id to its type library.
LIBRARIES: Final[Mapping[str, str]] = {
    "mariadb": "mysql",
    "mysql": "mysql",
    "oceanbase-mysql": "mysql",
    "oceanbase-oracle": "oracle",
    "oracle": "oracle",
    "gaussdb": "postgresql",
    "postgresql": "postgresql",
    "sqlserver": "sqlserver",
    "mongodb": "mongodb",
}


# How the texts of types are called in the modules of the systems.
STYLES: Final[Mapping[str, str]] = {"oracle": "dictionary", "postgresql": "format_type", "sqlserver": "catalogue"}


def source_id(settings: Settings[CommonOptions]) -> str:
    """The source without its version: `oceanbase-oracle`."""
    return settings.source.id


def library(settings: Settings[CommonOptions]) -> str:
    """Which type library a source goes by: `mysql`, `oracle`, `postgresql`, `sqlserver`, `mongodb`."""
    return LIBRARIES.get(source_id(settings), "mysql")


def is_mysql(settings: Settings[CommonOptions]) -> bool:
    """A source with MySQL's types, one level of names, and a binary log."""
    return library(settings) == "mysql"


def _postgresql_code(type: ColumnType) -> int:
    if type.name.endswith("[]"):
        return 2003
    # what the library has no number for, it calls OTHER: json, uuid, inet, ranges, geometries …
    return POSTGRESQL.get(type.name, 1111)


CODES: Final[Mapping[str, Callable[[ColumnType], int]]] = {
    "mysql": lambda type: MYSQL[type.name],
    "oracle": lambda type: ORACLE.get(type.name, 1111),
    "postgresql": _postgresql_code,
    "sqlserver": lambda type: SQLSERVER.get(type.name, 1111),
    "mongodb": lambda type: MONGODB.get(type.name.lower(), ("", 1111))[1],
}


def code(column: Column, settings: Settings[CommonOptions]) -> int:
    """The column's `jdbcType`; unsigned columns have that of the signed type."""
    found = CODES[library(settings)](column.type)
    if settings.options.oracle_std_codes and library(settings) == "oracle":
        return ORACLE_STANDARD.get(found, found)
    return found


def expression(column: Column, settings: Settings[CommonOptions]) -> str:
    """`dbValType`, `typeExpression`: the type with its arguments, in the source's spelling: `varchar(22)`."""
    if library(settings) == "mongodb":
        return MONGODB.get(column.type.name.lower(), ("Object", 1111))[0]
    if is_mysql(settings):
        return mysql.type_text(column.type, style=mysql.VERSIONS[str(settings.source)].type_style)
    return settings.source.types.type_text(column.type, style=STYLES[library(settings)])


def name(column: Column, settings: Settings[CommonOptions]) -> str:
    """`typeName`: the bare name in lower case: `varchar`."""
    return column.type.name
