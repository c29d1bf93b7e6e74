"""What DTS makes of a column's type: its dataTypeNumber and the value record of the Avro union that carries its values.

The number is the source's own code: MySQL's protocol types, Oracle's DUMP() codes, PostgreSQL's OIDs, SQL Server's
system_type_id. Source: "Use a Kafka client to consume tracked data", tables of MySQL, Oracle and PostgreSQL; value
records: the converters that the vendor's demo and SDK have for each number. Of SQL Server and MongoDB nothing is
published: the same rule, and records that the SDK decodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

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
    that texts carry where the type names none. `name_parts` are the parts of objectName.
    """

    source_type: str
    types: Mapping[str, DtsType]
    fraction: int
    charset: str
    name_parts: tuple[str, ...] = ("database", "schema", "name")


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
# A JSON column of MariaDB is a LONGTEXT that the server checks.
MARIADB: Final = replace(MYSQL, types={**MYSQL_TYPES, "json": MYSQL_TYPES["longtext"]})

SYSTEMS: Final[Mapping[str, System]] = {
    "mariadb": MARIADB,
    "mysql": MYSQL,
    "oceanbase-mysql": MYSQL,
}
