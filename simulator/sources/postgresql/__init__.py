"""PostgreSQL as a source: one door to the type system, its values, its DDL and its log. GaussDB has its own, `gaussdb`.

| module | holds |
| --- | --- |
| `type_table` | the types, GaussDB's beside PostgreSQL's: names, numbers in pg_type, codes, bounds, carriers |
| `types` | types as text: read from SQL, printed as `format_type` does |
| `values` | literals to carrier arrays and back |
| `numbers`, `_times`, `_json`, `_texts`, `_containers`, `_search` | the same, a kind of types each |
| `corpus` | boundary values and believable defaults of every type |
| `ddl` | statements |
| `log` | places in the write-ahead log, transaction numbers, bytes of a row |

The functions of this module are those of the newest version here; `type_system` gives another version's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator import carriers
from simulator.carriers import INFINITE_US, primitive
from simulator.model import ColumnType, TableId
from simulator.sources import portable
from simulator.sources.postgresql import corpus as postgresql_corpus
from simulator.sources.postgresql import types as postgresql_types
from simulator.sources.postgresql import values as postgresql_values
from simulator.sources.postgresql.corpus import LARGE_BYTES, default_values
from simulator.sources.postgresql.ddl import ddl
from simulator.sources.postgresql.log import packed_bytes
from simulator.sources.postgresql.type_table import (
    PostgresType,
    arrow_type,
    bounds,
    element,
    family,
    fraction_digits,
    oid,
    padding,
)
from simulator.sources.postgresql.types import STYLES, Dialect, enum_name, type_text
from simulator.sources.postgresql.values import format_values, show_value

__all__ = [
    "ALIASES",
    "LARGE_BYTES",
    "PORTABLE",
    "STYLES",
    "TYPES",
    "PostgresType",
    "PostgresTypes",
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
    "type_system",
    "type_text",
    "unit_us",
]

# The portable types of scenarios: how many arguments, and PostgreSQL's type with them put in. Unsigned integers take
# the next wider type; times without digits have whole seconds, as on other systems.
PORTABLE: Final[Mapping[str, tuple[tuple[int, ...], str]]] = {
    "bool": ((0,), "boolean"),
    "int16": ((0,), "smallint"),
    "int32": ((0,), "integer"),
    "int64": ((0,), "bigint"),
    "uint16": ((0,), "integer"),
    "uint32": ((0,), "bigint"),
    "uint64": ((0,), "numeric(20,0)"),
    "decimal": ((0, 1, 2), "numeric"),
    "float32": ((0,), "real"),
    "float64": ((0,), "double precision"),
    "string": ((1,), "character varying"),
    "text": ((0,), "text"),
    "bytes": ((1,), "bytea"),
    "blob": ((0,), "bytea"),
    "date": ((0,), "date"),
    "time": ((0, 1), "time without time zone"),
    "timestamp": ((0, 1), "timestamp without time zone"),
    "timestamptz": ((0, 1), "timestamp with time zone"),
    "json": ((0,), "jsonb"),
    "uuid": ((0,), "uuid"),
}
# What stands in brackets if a portable type says nothing.
_PORTABLE_DEFAULTS: Final = {"decimal": (10, 0), "time": (0, None), "timestamp": (0, None), "timestamptz": (0, None)}
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_\u0080-\uffff][0-9A-Za-z_$\u0080-\uffff]*")
_UPPER: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
SCHEMA: Final = "public"


def identifier(name: str) -> str:
    """Lower case; a name that wants quotes is typed with them and keeps its own. Never more than 63 bytes.

    >>> identifier("Orders"), identifier("Order No"), identifier("ÄNDERUNG")
    ('orders', 'Order No', 'Änderung')
    """
    text = name.translate(_UPPER) if _PLAIN_NAME.fullmatch(name) else name
    return text.encode()[:63].decode(errors="ignore")


def table_id(database: str, name: str) -> TableId:
    """A table of which nobody says more is in the schema `public`."""
    return TableId(identifier(database), identifier(name), SCHEMA)


def unit_us(type: ColumnType) -> int:
    """The step between the values of a date or time type, in microseconds; whole minutes of a smalldatetime."""
    return 60_000_000 if type.name == "smalldatetime" else int(10 ** (6 - fraction_digits(type)))


def stored(array: pa.Array, type: ColumnType) -> pa.Array:
    """Generated values, or those of a type that this one widens, as a column of the type's carrier: times cut to the
    type's fraction digits, a character(n) filled with blanks.

    >>> stored(pa.array(["ab", None]), ColumnType("character", 4)).to_pylist()
    ['ab  ', None]
    """
    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, stored(array.dictionary, type))
    wanted = arrow_type(type)
    if pa.types.is_decimal(array.type) and pa.types.is_string(wanted):
        # Arrow would write 1E-7
        texts = [None if value is None else format(value, "f") for value in array.to_pylist()]
        return pa.array(texts, wanted)
    if array.type != wanted:
        array = array.cast(wanted)
    if width := padding(type):
        return pc.utf8_rpad(array, width=width)
    if (pa.types.is_timestamp(wanted) or pa.types.is_duration(wanted)) and (unit := unit_us(type)) > 1:
        us = carriers.numbers(array)  # not the module here
        rest = us % unit
        if rest.any():
            cut = np.where(np.abs(us) == INFINITE_US, us, us - rest)
            nulls = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
            return primitive(cut, wanted, nulls)
    return array


class PostgresTypes:
    """The type system of one system in one version: the functions of `simulator.sources.TypeSystem`."""

    ddl = ddl
    STYLES = STYLES
    LARGE_BYTES = LARGE_BYTES

    arrow_type = staticmethod(arrow_type)
    bounds = staticmethod(bounds)
    default_values = staticmethod(default_values)
    element = staticmethod(element)
    enum_name = staticmethod(enum_name)
    family = staticmethod(family)
    format_values = staticmethod(format_values)
    fraction_digits = staticmethod(fraction_digits)
    identifier = staticmethod(identifier)
    oid = staticmethod(oid)
    packed_bytes = staticmethod(packed_bytes)
    padding = staticmethod(padding)
    show_value = staticmethod(show_value)
    stored = staticmethod(stored)
    table_id = staticmethod(table_id)
    type_text = staticmethod(type_text)
    unit_us = staticmethod(unit_us)

    def __init__(self, dialect: Dialect, portable: Mapping[str, tuple[tuple[int, ...], str]]) -> None:
        self.dialect, self.PORTABLE = dialect, portable
        self.TYPES: Mapping[str, PostgresType] = dialect.types
        self.ALIASES: Mapping[str, str] = dialect.aliases

    def parse_type(self, text: str) -> ColumnType:
        """See `types.parse_type`."""
        return postgresql_types.parse_type(text, self.dialect)

    def parse_values(self, texts: Sequence[str | None], type: ColumnType, *, server: str = "") -> pa.Array:
        """See `values.parse_values`; `server` is the version that this is."""
        return postgresql_values.parse_values(texts, type, self.dialect)

    def boundary_values(self, type: ColumnType, *, large: bool = False) -> list[str | None]:
        """See `corpus.boundary_values`."""
        return postgresql_corpus.boundary_values(type, self.dialect, large=large)

    def from_portable(self, text: str) -> ColumnType:
        """The type of a portable one; nothing is `spelled`, since nobody typed it for this system. An `enum` becomes an
        enum type that is called by its labels.

        >>> type_text(from_portable("string(40)"), style="format_type"), from_portable("timestamp(3)").length
        ('character varying(40)', 3)
        >>> from_portable("uuid").name, from_portable("bytes(16)").name, from_portable("enum('a','b')").labels
        ('uuid', 'bytea', ('a', 'b'))
        """
        if re.match(r"\s*enum\s*\(", text, re.IGNORECASE):
            return _unspelled(self.parse_type(text))
        name, target, given = portable.parsed(text, self.PORTABLE)
        if name == "bytes":
            return _unspelled(self.parse_type(target))
        if not given and name in _PORTABLE_DEFAULTS:
            return ColumnType(target, *_PORTABLE_DEFAULTS[name])
        first, blank, rest = target.partition(" ")
        if given and rest.endswith("time zone"):
            target = f"{first}({','.join(given)}){blank}{rest}"
        elif given:
            target = f"{target}({','.join(given)})"
        return _unspelled(self.parse_type(target))


def _unspelled(type: ColumnType) -> ColumnType:
    return ColumnType(type.name, type.length, type.scale, labels=type.labels)


_VERSIONS: Final[Mapping[str, PostgresTypes]] = {
    f"postgresql-{version}": PostgresTypes(Dialect("postgresql", "PostgreSQL", version), PORTABLE)
    for version in (16, 14, 12)
}


def type_system(server: str) -> PostgresTypes:
    """The type system of a version: 12 has no multiranges, and no infinite numeric; scales below 0 came with 15."""
    return _VERSIONS[server]


_NEWEST: Final = _VERSIONS["postgresql-16"]
TYPES: Final = _NEWEST.TYPES
ALIASES: Final = _NEWEST.ALIASES
parse_type = _NEWEST.parse_type
from_portable = _NEWEST.from_portable
boundary_values = _NEWEST.boundary_values


def parse_values(texts: Sequence[str | None], type: ColumnType, *, server: str = "postgresql-16") -> pa.Array:
    """Literals as carriers: see `values.parse_values`. Raises ValueError."""
    return type_system(server).parse_values(texts, type)
