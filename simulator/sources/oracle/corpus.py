"""Values of an Oracle column: boundary values of every type, and believable default values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from simulator.model import ColumnType
from simulator.sources import believable, boundaries
from simulator.sources.believable import Drawn
from simulator.sources.oracle.type_table import TYPES, family, most_bytes, number_digits
from simulator.tables import lists


def corpus_types() -> tuple[str, ...]:
    """A text of every type, with the arguments at which products change their output."""
    return _listed("types")


def _listed(name: str) -> tuple[str, ...]:
    return lists(__file__, "boundaries.yaml")[name]


def boundary_values(type: ColumnType, *, large: bool = False) -> list[str | None]:
    """Literals at the edges of a type, the last of them None; each is one that `parse_values` takes.

    The empty text is among them; it is null. `large` adds a value of 70 000 bytes where the type holds it.

    >>> from simulator.sources.oracle.types import parse_type
    >>> boundary_values(parse_type("number(2)"))
    ['0', '1', '-1', '99', '-99', None]
    """
    make = _BOUNDARIES.get(type.name) or _BOUNDARIES.get(family(type))
    large = large and TYPES[type.name].max_bytes > boundaries.LARGE_BYTES
    return boundaries.literals(
        make(type) if make else _listed(type.name if family(type) in ("float", "other") else family(type)),
        boundaries.large(family(type)) if large else None,
    )


def _numbers(type: ColumnType) -> Sequence[str]:
    if type.length is None:
        return _listed("number")
    scale = type.scale or 0
    if scale < 0:
        unit = "1" + "0" * -scale
        most = "9" * type.length + "0" * -scale
        return ["0", unit, "-" + unit, most, "-" + most, "15" + "0" * (-scale - 1)]
    if scale > type.length:
        most = "0." + ("9" * type.length).zfill(scale)
        return ["0", most, "-" + most, "0." + "1".zfill(scale)]
    least, most = boundaries.fixed_point(type.length, scale)
    values = ["0", least, "-" + least, most, "-" + most]
    if scale and type.length > scale:
        values += ["5", "5.1", "-0.5" if scale == 1 else "-0.50"]
    if not scale and type.length > 2:
        values += [edge for edge in _listed("integer") if len(edge.lstrip("-")) <= type.length]
    return values


def _datetimes(type: ColumnType) -> list[str]:
    return boundaries.times(_listed("datetime"), boundaries.fractions(type.length or 0))


def _zoned(type: ColumnType) -> list[str]:
    zones = _listed("zones")
    values = [f"{text} {zones[i % 6]}" for i, text in enumerate(_datetimes(type))]
    last = boundaries.fractions(type.length or 0)[-1]
    return [*values, *(f"2024-02-29 12:34:56{last} {zone}" for zone in zones)]


def _months(type: ColumnType) -> list[str]:
    most = "9" * (type.length or 2)
    return ["0-0", "0-1", "-0-1", "1-0", "2-3", "-3-6", f"{most}-11", f"-{most}-11"]


def _seconds(type: ColumnType) -> list[str]:
    days = "9" * (2 if type.length is None else type.length) or "0"
    digits = 6 if type.scale is None else type.scale
    least, most = ("." + "1".zfill(digits), "." + "9" * digits) if digits else ("", "")
    values = ["0 00:00:00", f"0 00:00:00{least}", f"-0 00:00:00{least}", "0 12:34:56", "1 02:03:04", "-1 02:03:04"]
    return [*values, f"-1 02:03:04{most}", f"{days} 23:59:59{most}", f"-{days} 23:59:59{most}"]


def _texts(type: ColumnType) -> list[str]:
    if type.labels:
        return ["", *type.labels]
    most = most_bytes(type)
    national = type.name in ("nchar", "nvarchar2")
    values = [""]
    for value in _listed("text"):
        size = len(value.encode("utf-16-le" if national else "utf-8"))
        count = size // 2 if national else len(value)
        if size <= most and (type.length is None or not type.characters or count <= type.length):
            values.append(value)
    length = type.length if type.length is not None else 0
    if 0 < length <= 1000:
        values.append(boundaries.full(length))
        if type.characters and length * 3 <= most and not national:
            values.append("中" * length)
    return values + (["empty_clob()"] if type.name in ("clob", "nclob") else [])


def _binaries(type: ColumnType) -> list[str]:
    values = boundaries.binaries(_listed("binary"), most_bytes(type))
    return values + (["empty_blob()"] if type.name == "blob" else [])


_BOUNDARIES: Final[Mapping[str, Callable[[ColumnType], Sequence[str]]]] = {
    "number": _numbers,
    "float": lambda type: _listed("short float" if (type.length or 126) < 126 else "float"),
    "binary_float": lambda type: _listed("binary_float"),
    "binary_double": lambda type: _listed("binary_double"),
    "datetime": _datetimes,
    "zoned": _zoned,
    "timestamptz": _datetimes,
    "interval year to month": _months,
    "interval day to second": _seconds,
    "text": _texts,
    "binary": _binaries,
}


def default_values(type: ColumnType) -> Drawn:
    """The default generator of a column whose values the scenario does not set.

    >>> from simulator.sources.oracle.types import parse_type
    >>> default_values(parse_type("number(10,2)")), default_values(parse_type("number(1)"))
    (('range', ('0', '9999.99')), ('choices', ['0', '1']))
    """
    make = _DEFAULTS.get(type.name) or _DEFAULTS.get(family(type))
    return make(type) if make else believable.of_family(family(type))


def _default_number(type: ColumnType) -> Drawn:
    digits = number_digits(type)
    if digits is None:
        return believable.choices(["0", "1", "2.5", "10"]) if type.length else believable.up_to("9999.99")
    precision, scale = digits
    if (type.scale or 0) < 0:
        return believable.up_to("9" * min(type.length or 1, 4) + "0" * -(type.scale or 0))
    if type.length == 1 and not scale:
        return believable.choices("01")
    if not scale:
        return believable.up_to("9" * min(precision, 9))
    if min(type.length or 0, 18) < scale:
        return believable.up_to("0." + ("9" * min(type.length or 0, 18)).zfill(scale))
    return believable.decimals(precision, scale)


def _default_zoned(type: ColumnType) -> Drawn:
    zones = ("+08:00", "+00:00", "-05:00", "+01:00")
    return believable.choices(f"20{year}-05-{year} 10:11:{year} {zones[year % 4]}" for year in range(15, 29))


def _default_text(type: ColumnType) -> Drawn:
    if type.labels:
        return believable.choices(type.labels)
    most = min(type.length if type.length is not None else 60, most_bytes(type))
    return believable.texts(most, fixed=type.name in ("char", "nchar"), long=type.length is None)


def _default_rowid(type: ColumnType) -> Drawn:
    return believable.choices(f"AAAR3sAAEAAAACXAA{letter}" for letter in "ABCDEFGH")


_DEFAULTS: Final[Mapping[str, Callable[[ColumnType], Drawn]]] = {
    "number": _default_number,
    "float": lambda type: believable.choices(["0", "0.5", "1", "2.5", "10", "12", "99"]),
    "binary_float": lambda type: believable.FLOATS,
    "binary_double": lambda type: believable.FLOATS,
    "date": lambda type: ("range", ("2015-01-01", "2029-12-31")),
    "zoned": _default_zoned,
    "interval year to month": lambda type: believable.choices(["0-1", "0-6", "1-0", "2-3", "5-0"]),
    "interval day to second": lambda type: ("range", ("0 00:00:00", "0 23:59:59")),
    "text": _default_text,
    "binary": lambda type: believable.binaries(most_bytes(type)),
    "xml": lambda type: believable.choices(f'<item n="{n}"/>' for n in range(1, 9)),
    "rowid": _default_rowid,
    "urowid": _default_rowid,
    "bfile": lambda type: believable.choices(f"bfilename('DATA_DIR', 'scan{n}.pdf')" for n in range(1, 9)),
}
