"""Values of a field: boundary values of every BSON type, and believable default values."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from simulator.model import ColumnType
from simulator.sources import believable, boundaries
from simulator.sources.believable import Drawn
from simulator.sources.mongodb.type_table import bounds, subtype
from simulator.tables import lists

_LONG: Final = boundaries.full(boundaries.LARGE_BYTES)
_LARGE: Final = {
    "string": _LONG,
    "binData": "0x" + "00ff" * 35_000,
    "object": json.dumps({"x": _LONG}),
    "array": json.dumps([_LONG]),
}


def boundary_values(type: ColumnType, *, large: bool = False) -> list[str | None]:
    """Literals at the edges of a type, the last of them None; each is one that `parse_values` takes.

    >>> boundary_values(ColumnType("int"))[:4]
    ['-2147483648', '-1', '0', '1']
    """
    return boundaries.literals(_edges(type), _LARGE.get(type.name) if large and subtype(type) != 4 else None)


def _edges(type: ColumnType) -> Sequence[str]:
    listed = lists(__file__, "boundaries.yaml")
    if type.name in ("int", "long"):
        return boundaries.integers(bounds(type), listed["integer"])
    if type.name == "decimal" and type.length is not None:
        least, most = boundaries.fixed_point(type.length, type.scale or 0)
        return ["0", least, most, "-" + least, "-" + most]
    return type.labels or listed["uuid" if subtype(type) == 4 else type.name]


def default_values(type: ColumnType) -> Drawn:
    """The default generator of a field whose values the scenario does not set; an objectId is derived from a UUID.

    >>> default_values(ColumnType("bool"))
    ('choices', ['false', 'true'])
    """
    drawn = _DEFAULTS.get(type.name)
    return drawn(type) if drawn is not None else believable.BOUNDARY


def _default_decimal(type: ColumnType) -> Drawn:
    if type.length is None:
        return believable.choices(["0.10", "1.5", "19.99", "1E+3"])
    return believable.decimals(type.length, type.scale or 0)


def _default_bytes(type: ColumnType) -> Drawn:
    return believable.binaries(16, fixed=True) if subtype(type) in (3, 4) else believable.binaries(32)


_DEFAULTS: Final[Mapping[str, Callable[[ColumnType], Drawn]]] = {
    "double": lambda type: believable.FLOATS,
    "string": lambda type: believable.choices(type.labels) if type.labels else believable.texts(24),
    "object": lambda type: believable.DOCUMENTS,
    "array": lambda type: believable.choices(['["new", "sale"]', '["gift"]', "[]", '["new", "gift", "red"]']),
    "binData": _default_bytes,
    "objectId": lambda type: believable.UUIDS,
    "bool": lambda type: believable.BOOLEANS,
    "date": lambda type: ("range", ("2015-01-01T00:00:00Z", "2029-12-31T23:59:59Z")),
    "int": lambda type: believable.integers(bounds(type)[1]),
    "long": lambda type: believable.up_to("1000000000000"),
    "decimal": _default_decimal,
}
