"""GaussDB and openGauss as a source: PostgreSQL's type system with what they add, and without what came after 9.2.

A database of compatibility PG is meant: an empty text is not null, `date` has no time of day, and the length of a text
counts characters. (In compatibility A, `date` is `timestamp(0) without time zone` and an empty text is null.)

| added | what it is |
| --- | --- |
| tinyint | 0 to 255 |
| tinyint, smallint, integer, bigint unsigned | 0 to 2^n - 1 |
| nvarchar2(n), clob | texts |
| raw, blob | bytes, printed as bare hexadecimal digits in capitals |
| smalldatetime | whole minutes, half a minute counts up |
| number, varchar2, binary_integer, binary_double | numeric, character varying, integer, double precision |

Not there: multiranges, macaddr8, line, pg_lsn and the extensions' citext, hstore and ltree; a 32-bit xid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import pyarrow as pa

from simulator.model import ColumnType
from simulator.sources import postgresql
from simulator.sources.postgresql import (
    LARGE_BYTES,
    STYLES,
    PostgresTypes,
    arrow_type,
    bounds,
    default_values,
    element,
    enum_name,
    family,
    format_values,
    fraction_digits,
    identifier,
    oid,
    packed_bytes,
    padding,
    show_value,
    stored,
    table_id,
    type_text,
    unit_us,
)
from simulator.sources.postgresql.types import Dialect

__all__ = [
    "ALIASES",
    "LARGE_BYTES",
    "PORTABLE",
    "STYLES",
    "TYPES",
    "arrow_type",
    "boundary_values",
    "bounds",
    "ddl",
    "default_values",
    "element",
    "enum_name",
    "family",
    "format_values",
    "fraction_digits",
    "from_portable",
    "identifier",
    "oid",
    "packed_bytes",
    "padding",
    "parse_type",
    "parse_values",
    "show_value",
    "stored",
    "table_id",
    "type_text",
    "unit_us",
]

ddl = postgresql.ddl

PORTABLE: Final[Mapping[str, tuple[tuple[int, ...], str]]] = {**postgresql.PORTABLE, "blob": ((0,), "blob")}
_TYPES: Final = PostgresTypes(Dialect("gaussdb", "GaussDB"), PORTABLE)
TYPES: Final = _TYPES.TYPES
ALIASES: Final = _TYPES.ALIASES
parse_type = _TYPES.parse_type
from_portable = _TYPES.from_portable
boundary_values = _TYPES.boundary_values


def parse_values(texts: Sequence[str | None], type: ColumnType, *, server: str = "gaussdb-505") -> pa.Array:
    """Literals as carriers: see `values.parse_values`. Raises ValueError."""
    return _TYPES.parse_values(texts, type)
