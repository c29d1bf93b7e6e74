"""What DTS makes of a column's type: its dataTypeNumber and the value record of the Avro union that carries its values.

The number is the source's own code: MySQL's protocol types, Oracle's DUMP() codes, PostgreSQL's OIDs, SQL Server's
system_type_id. Source: "Use a Kafka client to consume tracked data", tables of MySQL, Oracle and PostgreSQL; value
records: the converters that the vendor's demo and SDK have for each number. Of SQL Server and MongoDB nothing is
published: the same rule, and records that the SDK decodes.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from simulator.errors import UnsupportedType
from simulator.model import Column, ColumnType, Table
from simulator.sources.postgresql import type_table as postgresql_table
from simulator.sources.postgresql import types as postgresql_types

Record = Literal[
    "Integer", "Character", "Decimal", "Float", "Timestamp", "DateTime", "TimestampWithTimeZone", "BinaryGeometry",
    "TextGeometry", "BinaryObject", "TextObject",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class DtsType:
    """A type's number and value record.

    `detail` is what else the record says: of Integer the bytes of the type (0: of the bits that it has), of DateTime
    and TimestampWithTimeZone the members that are there (Y M D h m s, f for the fraction), of objects and geometries
    their `type`.
    """

    number: int
    record: Record
    detail: str | int = ""


@dataclass(frozen=True, slots=True)
class System:
    """What DTS says of a source system: its SourceType, the unit of DateTime's fractions, how names are put together.

    `fraction` is how many of its units a microsecond has: 1 for MySQL and PostgreSQL, else 1000. `charset` is the name
    that texts carry where the type names none. `name_parts` are the parts of objectName. `documents`: rows are
    documents, which are written whole, and columns have no types of their own.
    """

    source_type: str
    types: Mapping[str, DtsType]
    fraction: int
    charset: str
    name_parts: tuple[str, ...] = ("database", "schema", "name")
    documents: bool = False


def _integers(**rows: tuple[int, int]) -> dict[str, DtsType]:
    return {name: DtsType(number, "Integer", size) for name, (number, size) in rows.items()}


MYSQL_TYPES: Final[Mapping[str, DtsType]] = {
    **_integers(tinyint=(1, 1), smallint=(2, 2), mediumint=(9, 3), int=(3, 4), bigint=(8, 8), bit=(16, 0)),
    "decimal": DtsType(246, "Decimal"),
    "float": DtsType(4, "Float"),
    "double": DtsType(5, "Float"),
    "date": DtsType(10, "DateTime", "YMD"),
    "datetime": DtsType(12, "DateTime", "YMDhmsf"),
    "timestamp": DtsType(7, "Timestamp"),
    "time": DtsType(11, "DateTime", "hmsf"),
    "year": DtsType(13, "DateTime", "Y"),
    "char": DtsType(254, "Character"),
    "varchar": DtsType(253, "Character"),
    # 249 to 252 are bytes to the converters, so that texts keep the number of a VARCHAR of old
    **{name: DtsType(15, "Character") for name in ("tinytext", "text", "mediumtext", "longtext")},
    "binary": DtsType(252, "BinaryObject", "BINARY"),
    "varbinary": DtsType(252, "BinaryObject", "BINARY"),
    "tinyblob": DtsType(249, "BinaryObject", "BLOB"),
    "mediumblob": DtsType(250, "BinaryObject", "BLOB"),
    "longblob": DtsType(251, "BinaryObject", "BLOB"),
    "blob": DtsType(252, "BinaryObject", "BLOB"),
    "json": DtsType(245, "TextObject", "JSON"),
    "enum": DtsType(247, "TextObject", "ENUM"),
    "set": DtsType(248, "TextObject", "SET"),
    **{
        name: DtsType(255, "BinaryGeometry", "GEOMETRY")
        for name in (
            "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon",
            "geometrycollection",
        )
    },
}  # fmt: skip
MYSQL: Final = System("MySQL", MYSQL_TYPES, 1, "utf8mb4", ("database", "name"))
ORACLE_TYPES: Final[Mapping[str, DtsType]] = {
    "varchar2": DtsType(1, "Character"),
    "nvarchar2": DtsType(1, "Character"),
    "number": DtsType(2, "Decimal"),
    "float": DtsType(2, "Decimal"),
    "long": DtsType(8, "Character"),
    "date": DtsType(12, "DateTime", "YMDhms"),
    "raw": DtsType(23, "BinaryObject", "RAW"),
    "long raw": DtsType(24, "BinaryObject", "LONG_RAW"),
    "xmltype": DtsType(58, "Character"),
    "rowid": DtsType(69, "TextObject", "ROWID"),
    "char": DtsType(96, "Character"),
    "nchar": DtsType(96, "Character"),
    # not in the vendor's table: DUMP()'s code, and the record that other systems' documents have
    "json": DtsType(119, "TextObject", "JSON"),
    "binary_float": DtsType(100, "Float"),
    "binary_double": DtsType(101, "Float"),
    "clob": DtsType(112, "Character"),
    "nclob": DtsType(112, "Character"),
    "blob": DtsType(113, "BinaryObject", "BLOB"),
    "bfile": DtsType(114, "TextObject", "BFILE"),
    "timestamp": DtsType(180, "DateTime", "YMDhmsf"),
    "timestamp with time zone": DtsType(181, "TimestampWithTimeZone", "YMDhmsf"),
    "interval year to month": DtsType(182, "DateTime", "YM"),
    "interval day to second": DtsType(183, "DateTime", "Dhmsf"),
    "urowid": DtsType(208, "TextObject", "UROWID"),
    "timestamp with local time zone": DtsType(231, "TimestampWithTimeZone", "YMDhmsf"),
}

# The numbers are those of pg_type. The vendor's table has JSONB as 3082, its code has the catalogue's 3802; CHARACTER
# with number 18 is `"char"`, and character(n) is 1042. What neither knows (arrays, ranges, types of users) is text.
_POSTGRESQL: Final[Mapping[str, DtsType]] = {
    **_integers(smallint=(21, 2), integer=(23, 4), bigint=(20, 8), oid=(26, 4), xid=(28, 4)),
    "boolean": DtsType(16, "TextObject", "BOOL"),
    "real": DtsType(700, "Float"),
    "double precision": DtsType(701, "Float"),
    "numeric": DtsType(1700, "Decimal"),
    '"char"': DtsType(18, "Character"),
    "name": DtsType(19, "Character"),
    "text": DtsType(25, "Character"),
    "character": DtsType(1042, "Character"),
    "bpchar": DtsType(1042, "Character"),
    "character varying": DtsType(1043, "Character"),
    "bytea": DtsType(17, "BinaryObject", "BYTEA"),
    "date": DtsType(1082, "DateTime", "YMD"),
    "time without time zone": DtsType(1083, "DateTime", "hmsf"),
    "time with time zone": DtsType(1266, "TimestampWithTimeZone", "hmsf"),
    "timestamp without time zone": DtsType(1114, "DateTime", "YMDhmsf"),
    "timestamp with time zone": DtsType(1184, "TimestampWithTimeZone", "YMDhmsf"),
    "json": DtsType(114, "TextObject", "JSON"),
    "jsonb": DtsType(3802, "BinaryObject", "JSON"),
    "xml": DtsType(142, "TextObject", "XML"),
    "uuid": DtsType(2950, "TextObject", "UUID"),
    **{
        name: DtsType(number, "TextGeometry", "GEOMETRY")
        for name, number in {
            "point": 600, "lseg": 601, "path": 602, "box": 603, "polygon": 604, "line": 628, "circle": 718
        }.items()
    },
}  # fmt: skip


def _of_postgresql(row: postgresql_table.PostgresType) -> DtsType:
    """What stands for a type of PostgreSQL or GaussDB, which has some of its own."""
    match row.family:
        case _ if row.name in _POSTGRESQL:
            return _POSTGRESQL[row.name]
        case "integer":
            return DtsType(row.oid, "Integer", row.size)
        case "binary":
            return DtsType(row.oid, "BinaryObject", row.name.upper())
        case "datetime":
            return DtsType(row.oid, "DateTime", "YMDhmsf")
        case "text" if row.oid:
            return DtsType(row.oid, "Character")
    return DtsType(row.oid, "TextObject", "XTYPE")


POSTGRESQL: Final = System(
    "PostgreSQL",
    {name: _of_postgresql(row) for name, row in postgresql_table.types_of("postgresql").items()},
    1,
    "UTF-8",
)
# Databases number the types of their users and extensions from here on.
FIRST_OWN: Final = 16_384

# sys.types.system_type_id; records as decided here.
SQLSERVER_TYPES: Final[Mapping[str, DtsType]] = {
    **_integers(tinyint=(48, 1), smallint=(52, 2), int=(56, 4), bigint=(127, 8), bit=(104, 1)),
    "image": DtsType(34, "BinaryObject", "BLOB"),
    "text": DtsType(35, "Character"),
    "uniqueidentifier": DtsType(36, "TextObject", "UUID"),
    "date": DtsType(40, "DateTime", "YMD"),
    "time": DtsType(41, "DateTime", "hmsf"),
    "datetime2": DtsType(42, "DateTime", "YMDhmsf"),
    "datetimeoffset": DtsType(43, "TimestampWithTimeZone", "YMDhmsf"),
    "smalldatetime": DtsType(58, "DateTime", "YMDhmsf"),
    "real": DtsType(59, "Float"),
    "money": DtsType(60, "Decimal"),
    "datetime": DtsType(61, "DateTime", "YMDhmsf"),
    "float": DtsType(62, "Float"),
    "sql_variant": DtsType(98, "TextObject", "XTYPE"),
    "ntext": DtsType(99, "Character"),
    "decimal": DtsType(106, "Decimal"),
    "numeric": DtsType(108, "Decimal"),
    "smallmoney": DtsType(122, "Decimal"),
    "varbinary": DtsType(165, "BinaryObject", "BINARY"),
    "varchar": DtsType(167, "Character"),
    "binary": DtsType(173, "BinaryObject", "BINARY"),
    "char": DtsType(175, "Character"),
    "timestamp": DtsType(189, "BinaryObject", "BINARY"),
    "nvarchar": DtsType(231, "Character"),
    "nchar": DtsType(239, "Character"),
    "hierarchyid": DtsType(240, "BinaryObject", "XTYPE"),
    "geometry": DtsType(240, "BinaryGeometry", "GEOMETRY"),
    "geography": DtsType(240, "BinaryGeometry", "GEOMETRY"),
    "xml": DtsType(241, "TextObject", "XML"),
}

# A JSON column of MariaDB is a LONGTEXT that the server checks.
MARIADB: Final = replace(MYSQL, types={**MYSQL_TYPES, "json": MYSQL_TYPES["longtext"]})

ORACLE: Final = System("Oracle", ORACLE_TYPES, 1000, "UTF-8", ("schema", "name"))

# OceanBase and GaussDB, which DTS does not read, are what they are compatible with.
SYSTEMS: Final[Mapping[str, System]] = {
    "gaussdb": replace(
        POSTGRESQL,
        types={name: _of_postgresql(row) for name, row in postgresql_table.types_of("gaussdb").items()},
    ),
    "mariadb": MARIADB,
    "mongodb": System("MongoDB", {}, 1000, "UTF-8", ("database", "name"), documents=True),
    "mysql": MYSQL,
    "oceanbase-mysql": MYSQL,
    "oceanbase-oracle": ORACLE,
    "oracle": ORACLE,
    "postgresql": POSTGRESQL,
    "sqlserver": System("SQLServer", SQLSERVER_TYPES, 1000, "UTF-8"),
}


def system_of(source: str) -> System:
    """The system of a source such as `mysql-8.0`."""
    return SYSTEMS[source.rpartition("-")[0]]


def type_of(format: str, source: str, table: Table, column: Column) -> DtsType:
    """The number and value record of a column. Raises UnsupportedType."""
    system = system_of(source)
    found = system.types.get(column.type.name)
    if found is None:
        raise UnsupportedType(
            f"{format} has no rendering for {column.type.name} of {system.source_type} ({table.id}.{column.name}). "
            "Drop the column or use another format."
        )
    return replace(found, number=number_of(source, column.type))


def number_of(source: str, type: ColumnType) -> int:
    """The number of a type that the system has. Types that each PostgreSQL database numbers itself have one made of
    their name here, the same in all of them."""
    system = system_of(source)
    number = system.types[type.name].number
    if number or system.source_type != "PostgreSQL":
        return number
    return FIRST_OWN + zlib.crc32(postgresql_types.type_text(type, style="bare").encode()) % 100_000
