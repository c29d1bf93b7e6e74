"""Values of a PostgreSQL column: boundary values of every type, and believable default values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import pyarrow as pa

from simulator.model import ColumnType
from simulator.sources import believable, boundaries
from simulator.sources.believable import Drawn
from simulator.sources.boundaries import LARGE_BYTES
from simulator.sources.postgresql.type_table import EVERY_TYPE, arrow_type, bounds, element, family, fraction_digits
from simulator.sources.postgresql.types import POSTGRESQL_16, Dialect
from simulator.tables import lists


def _listed(name: str) -> tuple[str, ...]:
    return lists(__file__, "boundaries.yaml")[name]


def boundary_values(type: ColumnType, dialect: Dialect = POSTGRESQL_16, *, large: bool = False) -> list[str | None]:
    """Literals at the edges of a type, the last of them None; each is one that `parse_values` takes.

    `large` adds a value of 70 000 bytes where the type holds it.

    >>> boundary_values(ColumnType("smallint"))
    ['-32768', '-1', '0', '1', '127', '128', '255', '256', '32767', None]
    """
    large = large and EVERY_TYPE[type.name].max_bytes >= LARGE_BYTES and type.length is None
    return boundaries.literals(_edges(type, dialect), _large(type) if large else None)


def _edges(type: ColumnType, dialect: Dialect) -> Sequence[str]:
    family_name, listed = family(type), lists(__file__, "boundaries.yaml")
    if family_name == "array":
        return [*_listed("array"), *_arrays(type, dialect)]
    if family_name == "decimal":
        return _decimals(type, dialect)
    if family_name in _BOUNDARIES:
        return _BOUNDARIES[family_name](type)
    return listed.get(type.name) or listed[family_name]


def _large(type: ColumnType) -> str:
    match type.name:
        case "bytea":
            return "\\x" + "00ff" * (LARGE_BYTES // 2)
        case "hstore":
            return f'"k"=>"{"x" * LARGE_BYTES}"'
        case "tsvector":
            return " ".join(f"w{number:05}" for number in range(LARGE_BYTES // 7))
    family_name = family(type)
    return (
        boundaries.large(family_name).removeprefix("0x")
        if family_name in ("json", "binary")
        else boundaries.full(LARGE_BYTES)
    )


def _arrays(type: ColumnType, dialect: Dialect) -> list[str]:
    """Array literals: all boundary values of the element type in one, two of them in two dimensions, and one with other
    bounds.
    """
    inner = element(type)
    if inner.name in ("text", "character varying"):
        edges = list(_listed("elements of texts"))
    else:
        edges = [edge for edge in _edges(inner, dialect) if edge][:6]
    if type.length is not None and family(inner) == "text":
        edges = [edge for edge in edges if len(edge) <= type.length]
    mark = ";" if inner.name == "box" else ","
    quoted = ['"' + edge.replace("\\", "\\\\").replace('"', '\\"') + '"' for edge in edges]
    two = (quoted * 2)[:2]
    return [
        "{" + mark.join([*quoted, "NULL"]) + "}",
        f"{{{{{mark.join(two)}}},{{{two[0]}{mark}NULL}}}}".replace("},{", f"}}{mark}{{"),
        f"[0:0]={{{two[0]}}}",
    ]


def _decimals(type: ColumnType, dialect: Dialect) -> list[str]:
    if type.length is None:
        infinite = dialect.system == "postgresql" and dialect.version >= 14
        return [*_listed("numeric"), *(["Infinity", "-Infinity"] if infinite else [])]
    precision, scale = type.length, type.scale or 0
    if not 0 <= scale <= precision:
        most = f"{'9' * precision}e{-scale}"
        return ["0", f"1e{-scale}", most, "-" + most]
    least, widest = boundaries.fixed_point(precision, scale)
    values = ["0", least, widest, "-" + least, "-" + widest]
    if precision > scale:
        values += ["5", "5.1"] if scale else ["5"]
    return values + ([] if pa.types.is_decimal(arrow_type(type)) else ["NaN"])


def _texts(type: ColumnType) -> Sequence[str]:
    if type.name == '"char"':
        return _listed('"char"')
    most = type.length if type.length is not None else EVERY_TYPE[type.name].max_bytes
    values = ["", *(text for text in _listed("text") if len(text) <= most)]
    if type.name == "name":
        values = [value for value in values if len(value.encode()) <= most]
    return [*values, boundaries.full(most)] if type.length is not None and most <= 1000 else values


def _bits(type: ColumnType) -> list[str]:
    if type.name == "bit varying" and type.length is None:
        return ["", "0", "1", "101", "1" * 65]
    length = type.length or 1
    values = ["0" * length, "1" * length, "1" + "0" * (length - 1), "0" * (length - 1) + "1"]
    return ["", "1", *values] if type.name == "bit varying" else values


def _times(type: ColumnType) -> Sequence[str]:
    if type.name == "smalldatetime":
        return _listed("smalldatetime")
    return boundaries.times(
        _listed("time" if family(type) == "time" else "datetime"), boundaries.fractions(fraction_digits(type))
    )


_BOUNDARIES: Final[Mapping[str, Callable[[ColumnType], Sequence[str]]]] = {
    "integer": lambda type: boundaries.integers(bounds(type), _listed("integer")),
    "text": _texts,
    "binary": lambda type: ["", *(("\\x" if type.name == "bytea" else "") + digits for digits in _listed("binary"))],
    "bit": _bits,
    "datetime": _times,
    "timestamptz": _times,
    "time": _times,
    "json": lambda type: _listed("json"),
    "enum": lambda type: type.labels,
}


def default_values(type: ColumnType) -> Drawn:
    """The default generator of a column whose values the scenario does not set.

    >>> default_values(ColumnType("character varying", 40))
    ('text', {'length': '3..24', 'alphabet': 'letters'})
    >>> default_values(ColumnType("numeric", 10, 2)), default_values(ColumnType("money"))
    (('range', ('0', '9999.99')), ('boundary', True))
    """
    family_name = family(type)
    if type.name in _DEFAULT_CHOICES:
        return believable.choices(_DEFAULT_CHOICES[type.name])
    return _DEFAULTS[family_name](type) if family_name in _DEFAULTS else believable.of_family(family_name)


def _default_decimal(type: ColumnType) -> Drawn:
    scale = type.scale or 0
    if not pa.types.is_decimal(arrow_type(type)):
        literals = ["0.5", "12.50", "1000"] if type.length is None else [f"{digit}e{-scale}" for digit in "147"]
        return believable.choices(literals)
    assert type.length is not None
    integer_digits = min(type.length - scale, 4)
    if integer_digits + scale > 18:  # a range cannot draw numbers this wide
        return believable.choices(["0.5", "0.125", "0.75"] if integer_digits < 2 else ["0.5", "12.125", "99.75"])
    return believable.decimals(type.length, scale)


def _default_text(type: ColumnType) -> Drawn:
    most = type.length if type.length is not None else EVERY_TYPE[type.name].max_bytes
    long = type.length is None and type.name != "name"
    return believable.texts(most, fixed=type.name == "character", long=long)


_DEFAULT_CHOICES: Final[Mapping[str, Sequence[str]]] = {
    "integer[]": ("{1,2,3}", "{}", "{10,NULL}", "{7}"),
    "text[]": ("{red,green}", "{}", '{"a b",c}', "{blue}"),
    "interval": ("1 day", "02:30:00", "1 mon 15 days", "10 years"),
    "inet": ("192.168.1.5/24", "10.0.0.1", "172.16.0.9", "2001:db8::1"),
    "point": ("(1,2)", "(-1.5,0)", "(116.4,39.9)", "(0,0)"),
    '"char"': "abc",
}
_DEFAULTS: Final[Mapping[str, Callable[[ColumnType], Drawn]]] = {
    "integer": lambda type: believable.integers(bounds(type)[1]),
    "decimal": _default_decimal,
    "text": _default_text,
    "binary": lambda type: believable.binaries(32),
    "datetime": lambda type: ("range", ("2015-01-01 00:00:00", "2029-12-31 23:59:00")),
    "enum": lambda type: believable.choices(type.labels),
}
