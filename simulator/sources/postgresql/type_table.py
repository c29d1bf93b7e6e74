"""The table of PostgreSQL's and GaussDB's column types: their numbers in the catalog, JDBC codes, bounds and carriers.

Type names are those of PostgreSQL's `format_type` without a modifier (`integer`, `character varying`,
`timestamp with time zone`), arrays those of their elements with `[]`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from simulator.model import ColumnType
from simulator.tables import CsvTable

POSTGRESQL: Final = "postgresql"
GAUSSDB: Final = "gaussdb"
BOTH: Final = (POSTGRESQL, GAUSSDB)


@dataclass(frozen=True, slots=True)
class PostgresType:
    """A row of the table of types.

    `oid` is the type's number in pg_type, 0 where each database numbers it itself (enums, extensions) or none is
    published. `jdbc` is the java.sql.Types code. `size` is pg_type.typlen: bytes of a value, -1 where they vary.
    `arguments` says what may stand in brackets. `bits` belongs to integers, `max_bytes` to what may be large. `since`
    is the first version of PostgreSQL that has it.
    """

    name: str
    family: str
    carrier: pa.DataType
    jdbc: int
    oid: int = 0
    size: int = -1
    arguments: str = ""
    bits: int = 0
    unsigned: bool = False
    max_bytes: int = 0
    systems: tuple[str, ...] = BOTH
    since: int = 0


@dataclass(frozen=True, slots=True)
class Alias:
    """Another spelling of a type, and the systems that know it."""

    name: str
    systems: tuple[str, ...] = BOTH


EVERY_TYPE: Final = CsvTable(__file__, "types.csv", PostgresType)
_ALIASES: Final = CsvTable(__file__, "aliases.csv", Alias)


def types_of(system: str, version: int = 0) -> dict[str, PostgresType]:
    """The types of a system; of PostgreSQL those that a major version has (0: all)."""
    return {
        name: row for name, row in EVERY_TYPE.items() if system in row.systems and not (version and row.since > version)
    }


def aliases_of(system: str) -> dict[str, str]:
    """Other spellings to canonical names."""
    return {spelling: alias.name for spelling, alias in _ALIASES.items() if system in alias.systems}


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


# Maximum digits of Arrow's decimals.
_MOST_DIGITS: Final = 76


def arrow_type(type: ColumnType) -> pa.DataType:
    """The Arrow type that carries the values of a column (the table of `simulator.carriers`); text unless it says so.

    A numeric without precision keeps each value's own scale and may be NaN: it travels as text, and so does one that
    Arrow's decimals do not hold (above 76 digits, a scale below 0 or above the precision).

    >>> arrow_type(ColumnType("numeric", 10, 2)), arrow_type(ColumnType("numeric")), arrow_type(ColumnType("jsonb"))
    (Decimal128Type(decimal128(10, 2)), DataType(string), DataType(string))
    """
    row = EVERY_TYPE[type.name]
    if row.family == "decimal" and type.length is not None:
        scale = type.scale or 0
        if type.length <= _MOST_DIGITS and 0 <= scale <= type.length:
            return pa.decimal128(type.length, scale) if type.length <= 38 else pa.decimal256(type.length, scale)
    return row.carrier


def bounds(type: ColumnType) -> tuple[int, int]:
    """Least and greatest value of an integer type.

    >>> bounds(ColumnType("smallint")), bounds(ColumnType("oid")), bounds(ColumnType("tinyint"))
    ((-32768, 32767), (0, 4294967295), (0, 255))
    """
    row = EVERY_TYPE[type.name]
    return (-(1 << row.bits - 1), (1 << row.bits - 1) - 1) if not row.unsigned else (0, (1 << row.bits) - 1)


def fraction_digits(type: ColumnType) -> int:
    """Fraction digits of seconds: the number in brackets, six by default; a smalldatetime has whole minutes.

    >>> fraction_digits(ColumnType("time with time zone", 3)), fraction_digits(ColumnType("interval"))
    (3, 6)
    """
    if type.name == "smalldatetime":
        return 0
    return 6 if type.length is None else type.length


def padding(type: ColumnType) -> int:
    """Number of characters to which a value is padded with blanks: n for character(n), else 0."""
    return (type.length or 1) if type.name == "character" else 0
