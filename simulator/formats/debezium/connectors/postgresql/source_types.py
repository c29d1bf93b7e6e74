"""Types of PostgreSQL as its JDBC driver describes them: name, length and scale (`DatabaseMetaData.getColumns`).

Captured from the engine with `column.propagate.source.type`. Rows of snapshots have the same, but for `numeric`, whose
length is 0 there without a scale; here they have that of the stream. A domain is described as its base type.
"""

from __future__ import annotations

from typing import Final

from simulator.model import ColumnType
from simulator.sources.postgresql import type_table

UNBOUNDED: Final = 2_147_483_647
# Names of the catalog, with length and scale where they are fixed; others have their own name.
_FIXED: Final[dict[str, tuple[str, int, int]]] = {
    "boolean": ("bool", 1, 0), "smallint": ("int2", 5, 0), "integer": ("int4", 10, 0), "bigint": ("int8", 19, 0),
    "real": ("float4", 8, 8), "double precision": ("float8", 17, 17), "date": ("date", 13, 0), "oid": ("oid", 10, 0),
}  # fmt: skip
# Names, and lengths of values without fractions.
_TIMES: Final = {
    "time without time zone": ("time", 8), "time with time zone": ("timetz", 14),
    "timestamp without time zone": ("timestamp", 22),
    "timestamp with time zone": ("timestamptz", 28),
}  # fmt: skip
_SIZED: Final = {"character varying": "varchar", "bit varying": "varbit"}


def described(type: ColumnType) -> tuple[str, int | None, int | None]:
    """(name, length, scale).

    >>> described(ColumnType("timestamp with time zone", 3)), described(ColumnType("numeric"))
    (('timestamptz', 32, 3), ('numeric', 131089, 0))
    >>> described(ColumnType("character varying", 8)), described(ColumnType("integer[]"))
    (('varchar', 8, 0), ('_int4', 10, 0))
    """
    name, length = type.name, type.length
    if type_table.family(type) == "array":
        element, size, scale = described(type_table.element(type))
        return f"_{element}", size, scale
    if name in _FIXED:
        return _FIXED[name]
    if name in _TIMES:
        digits = 6 if length is None else length
        known, width = _TIMES[name]
        return known, width + (digits + 1 if digits else 0), digits
    match name:
        case "numeric":
            return (name, 131_089, 0) if length is None else (name, length, type.scale or 0)
        case "interval":
            return name, 49, 6 if length is None else length
        case "character":
            return "bpchar", 1 if length is None else length, 0
        case "bit":
            return name, 1 if length is None else length, 0
        case "enum":
            return type.spelled or name, UNBOUNDED, 0
    return _SIZED.get(name, name), UNBOUNDED if length is None else length, 0
