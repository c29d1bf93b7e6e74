"""PostgreSQL values: literals as a person writes them to carrier arrays, and back to the text that the server prints.

Nothing is vectorised: literals come from scenarios and scripts, a few at a time. Times are printed in UTC.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from simulator.carriers import INFINITE_DAYS
from simulator.errors import short
from simulator.model import ColumnType
from simulator.sources import literals
from simulator.sources.postgresql import times as postgresql_times
from simulator.sources.postgresql.literals import containers as postgresql_containers
from simulator.sources.postgresql.literals import json as postgresql_json
from simulator.sources.postgresql.literals import numbers as postgresql_numbers
from simulator.sources.postgresql.literals import search as postgresql_search
from simulator.sources.postgresql.literals import texts as postgresql_texts
from simulator.sources.postgresql.literals.containers import Bounds
from simulator.sources.postgresql.type_table import (
    EVERY_TYPE,
    arrow_type,
    bounds,
    element,
    family,
    fraction_digits,
    padding,
)
from simulator.sources.postgresql.types import POSTGRESQL_16, Dialect, type_text

_HEX: Final = re.compile(r"(?:\\x|0x)((?:[0-9A-Fa-f]{2})*)|[xX]'((?:[0-9A-Fa-f]{2})*)'")
_TRUE: Final = ("t", "tr", "tru", "true", "y", "ye", "yes", "on", "1")
_FALSE: Final = ("f", "fa", "fal", "fals", "false", "n", "no", "of", "off", "0")
# The first version of PostgreSQL whose numeric has infinities.
_INFINITE_SINCE: Final = 14


def parse_values(texts: Sequence[str | None], type: ColumnType, dialect: Dialect = POSTGRESQL_16) -> pa.Array:
    """Literals of a column's type as its carrier array; None is null. Raises ValueError with one sentence.

    | family | literals |
    | --- | --- |
    | boolean | `true`, `f`, `yes`, `0` … |
    | integer | `-5` |
    | decimal | `12.345`, `1e3`, `NaN`; rounded half away from zero to the scale, if there is one |
    | float | `1.5`, `1e3`, `NaN`, `-Infinity` |
    | date | `2024-02-29`, `0044-03-15 BC`, `infinity` |
    | datetime, timestamptz | `2024-02-29 12:34:56.789`, or with `T`; with a zone UTC, or as it says: `+08`, `-05:30` |
    | time | `00:00:00` to `24:00:00`; one with a zone says `+08` |
    | interval | `1 year 2 mons 3 days 04:05:06.789`, `P1DT2H` |
    | text | itself, filled with blanks if it is a character(n) |
    | binary | `\\x6a67`, `0x6a67`, `x'6a67'`, or text, as UTF-8 |
    | bit | `101`, `b'101'`, `x'5f'` |
    | json, xml | any such text; a jsonb is printed anew |
    | enum | a label |
    | array, range, geometry, and the rest | as PostgreSQL reads them |
    """
    read = _reader(type, dialect)
    return literals.carried([None if text is None else read(text) for text in texts], arrow_type(type))


def format_values(array: pa.Array, type: ColumnType) -> list[str | None]:
    """The inverse of `parse_values`: each value as PostgreSQL prints it, which can be read back."""
    return [None if value is None else show_value(value, type) for value in literals.raw_values(array)]


def _reader(type: ColumnType, dialect: Dialect) -> Callable[[str], Any]:
    family_name = family(type)
    if family_name == "array":
        inner = element(type)
        read = _reader(inner, dialect)
        delimiter = ";" if inner.name == "box" else ","
        return lambda text: postgresql_containers.array(text, lambda item: show_value(read(item), inner), delimiter)
    if family_name == "decimal":
        return lambda text: _decimal(text, type, dialect)
    if family_name == "range":
        edges = _BOUNDS[type.name.replace("multi", "")]
        make = postgresql_containers.multirange if "multi" in type.name else postgresql_containers.range_
        return lambda text: make(text, edges)
    if family_name in ("geometry", "other") or family_name in _BY_FAMILY:
        parse = _BY_NAME.get(type.name) or _BY_FAMILY[family_name]
        return lambda text: parse(text, type)
    raise AssertionError(f"no literals of {type.name}")


def show_value(value: Any, type: ColumnType) -> str:
    """A carrier's raw value as PostgreSQL prints it: `t`, `\\x00ff`, `2024-02-29`."""
    if isinstance(value, str):
        return value
    return _SHOWN[family(type)](value, type)


# ------------------------------------------------------------------------------------------------------------- parsers


def _boolean(text: str, type: ColumnType) -> bool:
    word = text.strip().lower()
    if word not in _TRUE and word not in _FALSE:
        raise ValueError(f"{short(text)} is not true or false")
    return word in _TRUE


def _integer(text: str, type: ColumnType) -> int:
    return literals.integer(text, bounds(type), type.name)


def _decimal(text: str, type: ColumnType, dialect: Dialect) -> Decimal | str:
    infinite = dialect.system == "postgresql" and dialect.version >= _INFINITE_SINCE
    value = postgresql_numbers.decimal(text, type, infinite=infinite)
    if pa.types.is_decimal(arrow_type(type)):
        if isinstance(value, str):
            raise ValueError(f"{type_text(type, style='format_type')} cannot hold {value} here; declare it as numeric")
        return value
    return postgresql_numbers.plain_decimal(value) if isinstance(value, Decimal) else value


def _text(text: str, type: ColumnType) -> str:
    if "\0" in text:
        raise ValueError(f"{short(text)} has the character \\x00, which no text of this system holds")
    row = EVERY_TYPE[type.name]
    if row.arguments == "characters" and type.length is not None:
        value = text
        if len(value) > type.length and not value[type.length :].strip(" "):
            value = value[: type.length]  # excess trailing blanks are cut silently
        if len(value) > type.length:
            type_name = type_text(type, style="format_type")
            raise ValueError(f"{short(text)} has {len(text)} characters, and {type_name} holds fewer")
        return value.ljust(padding(type))
    if len(text.encode()) > row.max_bytes:
        raise ValueError(f"{short(text)} has {len(text.encode())} bytes, and {row.name} holds {row.max_bytes}")
    return text


def _binary(text: str, type: ColumnType) -> bytes:
    if match := _HEX.fullmatch(text):
        return bytes.fromhex(match[1] or match[2] or "")
    if type.name != "bytea" and len(text) % 2 == 0 and re.fullmatch(r"[0-9A-Fa-f]+", text):
        return bytes.fromhex(text)  # raw and blob read and print bare digits
    return text.encode()


def _enum(text: str, type: ColumnType) -> int:
    if text not in type.labels:
        raise ValueError(f"{short(text)} is none of the labels {literals.listed(type.labels)}")
    return type.labels.index(text) + 1


def _timestamp(text: str, type: ColumnType) -> int:
    zoned = type.name == "timestamp with time zone"
    digits = fraction_digits(type)
    return postgresql_times.parse_timestamp(text, digits, zoned=zoned, minutes=type.name == "smalldatetime")


_BY_NAME: Final[Mapping[str, Callable[[str, ColumnType], Any]]] = {
    "jsonb": lambda text, type: postgresql_json.normalised(text),
    "money": lambda text, type: postgresql_numbers.money(text),
    "time with time zone": lambda text, type: postgresql_times.time_zoned(text, fraction_digits(type)),
    "bit": lambda text, type: postgresql_texts.bits(text, type.length, varying=False),
    "bit varying": lambda text, type: postgresql_texts.bits(text, type.length, varying=True),
    "inet": lambda text, type: postgresql_texts.inet(text),
    "cidr": lambda text, type: postgresql_texts.cidr(text),
    "macaddr": lambda text, type: postgresql_texts.macaddr(text, 6),
    "macaddr8": lambda text, type: postgresql_texts.macaddr(text, 8),
    "tsvector": lambda text, type: postgresql_search.vector(text),
    "tsquery": lambda text, type: postgresql_search.query(text),
    "pg_lsn": lambda text, type: postgresql_texts.lsn(text),
    "txid_snapshot": lambda text, type: postgresql_texts.snapshot(text),
    "hstore": lambda text, type: postgresql_texts.hstore(text),
    "ltree": lambda text, type: postgresql_texts.ltree(text),
}
_BY_FAMILY: Final[Mapping[str, Callable[[str, ColumnType], Any]]] = {
    "boolean": _boolean,
    "integer": _integer,
    "float": lambda text, type: postgresql_numbers.float_(text, single=type.name == "real"),
    "text": _text,
    "binary": _binary,
    "date": lambda text, type: postgresql_times.date(text),
    "time": lambda text, type: postgresql_times.time(text, fraction_digits(type)),
    "datetime": _timestamp,
    "timestamptz": _timestamp,
    "interval": lambda text, type: postgresql_times.interval(text, fraction_digits(type)),
    "bit": lambda text, type: text,
    "json": lambda text, type: postgresql_json.checked(text),
    "xml": lambda text, type: postgresql_texts.xml(text),
    "uuid": lambda text, type: postgresql_texts.uuid(text),
    "enum": _enum,
    "geometry": lambda text, type: postgresql_texts.geometry(text, type.name),
}


def _hexadecimal(value: bytes, type: ColumnType) -> str:
    return "\\x" + value.hex() if type.name == "bytea" else value.hex().upper()


_SHOWN: Final[Mapping[str, Callable[[Any, ColumnType], str]]] = {
    "boolean": lambda value, type: "t" if value else "f",
    "integer": lambda value, type: str(value),
    "decimal": lambda value, type: format(value, "f"),
    "float": lambda value, type: postgresql_numbers.show_float(value, single=type.name == "real"),
    "binary": _hexadecimal,
    "date": lambda value, type: postgresql_times.show_date(value),
    "time": lambda value, type: postgresql_times.show_clock(value),
    "datetime": lambda value, type: postgresql_times.show_timestamp(value),
    "timestamptz": lambda value, type: postgresql_times.show_timestamp(value, 0),
    "enum": lambda value, type: type.labels[value - 1],
}

# ------------------------------------------------------------------------------------------------------- range bounds


class _Numeric:
    """A bound of a range of numerics: NaN is above all others; equal bounds may have different scales."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.value = Decimal("Infinity") if text == "NaN" else Decimal(text)

    def _key(self) -> tuple[bool, Decimal]:
        return self.text == "NaN", self.value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Numeric) and self._key() == other._key()

    def __lt__(self, other: _Numeric) -> bool:
        return self._key() < other._key()

    def __gt__(self, other: _Numeric) -> bool:
        return self._key() > other._key()

    def __le__(self, other: _Numeric) -> bool:
        return self._key() <= other._key()

    __hash__ = None  # type: ignore[assignment]


def _integer_bounds(name: str) -> Bounds:
    type = ColumnType(name)

    def step(value: int) -> int:
        if value == bounds(type)[1]:
            raise ValueError(f"{value} has no number of {name} after it, which its range would end at")
        return value + 1

    return Bounds(lambda text: _integer(text, type), str, step)


def _moments(name: str) -> Bounds:
    type = ColumnType(name)
    return Bounds(lambda text: _timestamp(text, type), lambda value: show_value(value, type))


_NUMERIC: Final = ColumnType("numeric")
_BOUNDS: Final[Mapping[str, Bounds]] = {
    "int4range": _integer_bounds("integer"),
    "int8range": _integer_bounds("bigint"),
    "numrange": Bounds(
        lambda text: _Numeric(str(postgresql_numbers.decimal(text, _NUMERIC, infinite=True))), lambda value: value.text
    ),
    "tsrange": _moments("timestamp without time zone"),
    "tstzrange": _moments("timestamp with time zone"),
    "daterange": Bounds(
        postgresql_times.date,
        postgresql_times.show_date,
        lambda value: None if abs(value) == INFINITE_DAYS else value + 1,
    ),
}
