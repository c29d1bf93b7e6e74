"""Values of a SQL Server column: boundary values of every type, and believable default values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from simulator.model import ColumnType
from simulator.sources import believable, boundaries
from simulator.sources.believable import Drawn
from simulator.sources.sqlserver.type_table import FILLED, NATIONAL, bounds, codec, digits, family, precision_scale
from simulator.sources.sqlserver.values import MONEY
from simulator.tables import lists


def boundary_values(type: ColumnType, *, large: bool = False) -> list[str | None]:
    """Literals at the edges of a type, the last of them None; each is one that `parse_values` takes.

    `large` adds a value of 70 000 bytes where the type holds it.

    >>> from simulator.sources.sqlserver.types import parse_type
    >>> boundary_values(parse_type("tinyint"))
    ['0', '1', '127', '128', '255', None]
    """
    family_name, listed = family(type), lists(__file__, "boundaries.yaml")
    values = (
        _BOUNDARIES[family_name](type) if family_name in _BOUNDARIES else listed.get(type.name) or listed[family_name]
    )
    large = large and type.length is None and type.name != "timestamp" and family_name in ("text", "binary", "xml")
    return boundaries.literals(values, _large(family_name) if large else None)


def _large(family_name: str) -> str:
    if family_name == "binary":
        return "0x" + "00FF" * (boundaries.LARGE_BYTES // 2)
    text = boundaries.full(boundaries.LARGE_BYTES)
    return f"<a>{text}</a>" if family_name == "xml" else text


def _listed(name: str) -> tuple[str, ...]:
    return lists(__file__, "boundaries.yaml")[name]


def _point(unscaled: int, scale: int) -> str:
    text = str(abs(unscaled)).zfill(scale + 1)
    return ("-" if unscaled < 0 else "") + (f"{text[:-scale]}.{text[-scale:]}" if scale else text)


def _decimals(type: ColumnType) -> list[str]:
    precision, scale = precision_scale(type)
    most = MONEY.get(type.name, 10**precision - 1)
    least = -most - (type.name in MONEY)
    edges = [0, 1, -1, most, least]
    if precision > scale:
        edges += [5 * 10**scale, 51 * 10**scale // 10]
    return [_point(value, scale) for value in edges]


def _times(type: ColumnType) -> list[str]:
    steps = ["", ".003", ".007", ".990", ".997"] if type.name == "datetime" else boundaries.fractions(digits(type))
    return boundaries.times(_listed(type.name), steps)


def _texts(type: ColumnType) -> Sequence[str]:
    if type.labels:
        return type.labels
    most = type.length if type.length is not None else 1000
    values = ["", *(value for value in _listed("text") if _size(value, type) <= most)]
    return [*values, boundaries.full(most)] if most <= 1000 else values


def _size(value: str, type: ColumnType) -> int:
    try:
        encoded = value.encode(codec(type))
    except UnicodeEncodeError:
        return 1 << 31
    return len(encoded) // 2 if type.name in NATIONAL else len(encoded)


def _binaries(type: ColumnType) -> Sequence[str]:
    if type.name == "timestamp":
        return _listed("timestamp")
    return boundaries.binaries(_listed("binary"), type.length if type.length is not None else 1000)


_BOUNDARIES: Final[Mapping[str, Callable[[ColumnType], Sequence[str]]]] = {
    "integer": lambda type: boundaries.integers(bounds(type), _listed("integer")),
    "decimal": _decimals,
    "time": _times,
    "datetime": _times,
    "zoned": _times,
    "text": _texts,
    "binary": _binaries,
    "geometry": lambda type: _listed("geometry"),
}


def default_values(type: ColumnType) -> Drawn:
    """The default generator of a column whose values the scenario does not set.

    >>> from simulator.sources.sqlserver.types import parse_type
    >>> default_values(parse_type("nvarchar(40)"))
    ('text', {'length': '3..24', 'alphabet': 'letters'})
    """
    family_name = family(type)
    return _DEFAULTS[family_name](type) if family_name in _DEFAULTS else believable.of_family(family_name)


def _default_text(type: ColumnType) -> Drawn:
    if type.labels:
        return believable.choices(type.labels)
    most = type.length if type.length is not None else 60
    return believable.texts(most, fixed=type.name in FILLED, long=type.length is None)


def _default_bytes(type: ColumnType) -> Drawn:
    if type.name == "timestamp":
        return believable.binaries(8, fixed=True)
    return believable.binaries(type.length if type.length is not None else 32, fixed=type.name == "binary")


_DEFAULTS: Final[Mapping[str, Callable[[ColumnType], Drawn]]] = {
    "bit": lambda type: believable.up_to("1"),
    "integer": lambda type: believable.integers(bounds(type)[1]),
    "decimal": lambda type: believable.decimals(*precision_scale(type)),
    "text": _default_text,
    "binary": _default_bytes,
}
