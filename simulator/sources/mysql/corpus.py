"""Values of a MySQL column: boundary values of every type, and believable default values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from simulator.model import ColumnType
from simulator.sources import believable, boundaries
from simulator.sources.believable import Drawn
from simulator.sources.mysql.type_table import CHARSETS, DEFAULT_CHARSET, TYPES, bounds, family, precision_scale
from simulator.tables import lists


def corpus_types() -> tuple[str, ...]:
    """A text of every type, with the arguments at which products change their output."""
    return _listed("types")


def _listed(name: str) -> tuple[str, ...]:
    return lists(__file__, "boundaries.yaml")[name]


def boundary_values(type: ColumnType, *, large: bool = False) -> list[str | None]:
    """Literals at the edges of a type, the last of them None; each is one that `parse_values` takes.

    `large` adds a value of 70 000 bytes where the type holds it.

    >>> from simulator.sources.mysql.types import parse_type
    >>> boundary_values(parse_type("tinyint unsigned"))
    ['0', '1', '127', '128', '255', None]
    """
    family_name = family(type)
    values = _BOUNDARIES[family_name](type) if family_name in _BOUNDARIES else _listed(family_name)
    large = large and TYPES[type.name].max_bytes >= boundaries.LARGE_BYTES
    return boundaries.literals(values, boundaries.large(family_name) if large else None)


def _decimals(type: ColumnType) -> list[str]:
    precision, scale = precision_scale(type)
    least, widest = boundaries.fixed_point(precision, scale)
    values = ["0", least, widest]
    if precision - scale >= 1:
        values += ["5", "5.1"] if scale else ["5"]
    if scale > 9:
        values.append("0.123456789")
    if not type.unsigned:
        values += ["-" + least, "-" + widest]
    return values


def _floats(type: ColumnType) -> list[str]:
    if type.scale is None:
        return [*_listed(type.name), *([] if type.unsigned else ["-0e0", "-1.5"])]
    most = 10.0 ** ((type.length or 0) - type.scale)
    values = [value for value in _listed("float with digits") if float(value) < most]
    return [*values, *([] if type.unsigned else ["-0e0"])]


def _bits(type: ColumnType) -> list[str]:
    bits = type.length or 1
    return ["0", "1", str(1 << bits - 1), str((1 << bits) - 1)]


def _times(type: ColumnType) -> list[str]:
    name = "timestamp" if type.name == "timestamp" else family(type)
    return boundaries.times(_listed(name), boundaries.fractions(type.length or 0))


def _texts(type: ColumnType) -> list[str]:
    row = TYPES[type.name]
    width, codec = CHARSETS[type.charset or DEFAULT_CHARSET]
    most = type.length if row.arguments in ("char", "varchar") else row.max_bytes // width
    assert most is not None
    values = [""]
    for value in _listed("text"):
        value = value.rstrip(" ") if type.name == "char" else value
        fits = value.isascii() if width == 1 else width == 4 or all(ord(character) <= 0xFFFF for character in value)
        if fits and len(value) <= most and not _lacks(value, codec):
            values.append(value)
    return [*values, boundaries.full(most)] if 0 < most <= 1000 else values


def _lacks(value: str, codec: str) -> bool:
    try:
        value.encode(codec)
    except UnicodeEncodeError:
        return True
    return False


def _most_bytes(type: ColumnType) -> int:
    return type.length if type.length is not None else TYPES[type.name].max_bytes


def _geometries(type: ColumnType) -> list[str]:
    every = [name for name, row in TYPES.items() if row.family == "geometry" and name != "geometry"]
    return [text for name in (every if type.name == "geometry" else [type.name]) for text in _listed(name)]


_BOUNDARIES: Final[Mapping[str, Callable[[ColumnType], list[str]]]] = {
    "integer": lambda type: boundaries.integers(bounds(type), _listed("integer")),
    "decimal": _decimals,
    "float": _floats,
    "bit": _bits,
    "datetime": _times,
    "time": _times,
    "text": _texts,
    "binary": lambda type: boundaries.binaries(_listed("binary"), _most_bytes(type)),
    "enum": lambda type: ["", *type.labels],
    "set": lambda type: ["", *type.labels, ",".join(type.labels)],
    "geometry": _geometries,
}


def default_values(type: ColumnType) -> Drawn:
    """The default generator of a column whose values the scenario does not set.

    >>> from simulator.sources.mysql.types import parse_type
    >>> default_values(parse_type("varchar(40)"))
    ('text', {'length': '3..24', 'alphabet': 'letters'})
    >>> default_values(parse_type("decimal(10,2)"))
    ('range', ('0', '9999.99'))
    """
    family_name = family(type)
    return _DEFAULTS[family_name](type) if family_name in _DEFAULTS else believable.of_family(family_name)


def _default_integer(type: ColumnType) -> Drawn:
    if type.name == "tinyint" and type.length == 1:
        return believable.choices("01")
    return believable.integers(bounds(type)[1])


def _default_float(type: ColumnType) -> Drawn:
    if type.scale is None:
        return believable.FLOATS
    return believable.up_to(str(10 ** min((type.length or 0) - type.scale, 4) - 1))


def _default_text(type: ColumnType) -> Drawn:
    short = TYPES[type.name].arguments in ("char", "varchar")
    most = (type.length or 0) if short else TYPES[type.name].max_bytes // 4
    return believable.texts(most, fixed=type.name == "char", long=not short)


_DEFAULTS: Final[Mapping[str, Callable[[ColumnType], Drawn]]] = {
    "integer": _default_integer,
    "decimal": lambda type: believable.decimals(*precision_scale(type)),
    "float": _default_float,
    "bit": lambda type: believable.bits(type.length or 1),
    "year": lambda type: ("range", ("1970", "2029")),
    "text": _default_text,
    "binary": lambda type: believable.binaries(_most_bytes(type), fixed=type.name == "binary"),
    "enum": lambda type: believable.choices(type.labels),
    "set": lambda type: believable.bits(len(type.labels)),
}
