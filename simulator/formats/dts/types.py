"""A column type's dataTypeNumber, and the value record of the Avro union that carries its values: `types.csv`.

Source: "Use a Kafka client to consume tracked data", tables of MySQL, Oracle and PostgreSQL (`page`); the converters of
the vendor's demo and SDK, which demand a value record for each number (`reader`); printed messages (`sample`). Of SQL
Server and MongoDB nothing is published: the same rule, and records that the SDK decodes (`inferred`).

The number is the source's own code: MySQL's protocol type, else what the source's table of types has (Oracle's DUMP()
code, PostgreSQL's OID, SQL Server's system_type_id).

* MySQL: the converters take 249 to 252 for bytes, so texts have 15.
* PostgreSQL: the page gives JSONB as 3082, the vendor's code as 3802, the OID. Number 18, CHARACTER on the page, is
  `"char"`; character(n) has 1042. Types without a row are text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, cast

from simulator.tables import rows

Record = Literal[
    "Integer", "Character", "Decimal", "Float", "Timestamp", "DateTime", "TimestampWithTimeZone", "BinaryGeometry",
    "TextGeometry", "BinaryObject", "TextObject",
]  # fmt: skip
ANY_OTHER: Final = "*"


@dataclass(frozen=True, slots=True)
class DtsType:
    """A type's number and value record. A number of 0: each database numbers the type itself.

    `detail` is further content of the record: of Integer the bytes of the type (0: of as many bits as the column has),
    of DateTime and TimestampWithTimeZone the members that the type has (Y M D h m s, f for the fraction), of objects
    and geometries their `type`.
    """

    number: int
    record: Record
    detail: str = ""


def types_of(system: str, numbers: Mapping[str, int] | None = None) -> Mapping[str, DtsType]:
    """The types of a system; `numbers` are the source's own codes of its types."""
    listed = {row["type"]: row for row in rows(__file__, "types.csv", system=system)}
    names = listed if numbers is None else [name for name in numbers if name in listed or ANY_OTHER in listed]
    types = {}
    for name in names:
        row = listed.get(name) or listed[ANY_OTHER]
        number = int(row["number"]) if numbers is None else numbers[name]
        types[name] = DtsType(number, cast(Record, row["record"]), row["detail"])
    return types
