"""Functions that make geometries."""

from __future__ import annotations

import struct
from typing import Any

from simulator.sources.mysql import geometry as mysql_geometry
from simulator.sql.errors import SqlError
from simulator.sql.functions.arguments import integer_of
from simulator.sql.values.kinds import Shape, number_of, text_of


def from_text(session: Any, text: Any, srid: Any = 0, *_: Any) -> Any:
    try:
        stored = mysql_geometry.to_bytes(text_of(text), "geometry")
    except ValueError:
        raise SqlError(3037, "st_geomfromtext") from None
    number = integer_of(srid)
    if number == 4326 and session.server.swaps_axes:
        stored = mysql_geometry.swapped(stored)
    return Shape(struct.pack("<I", number) + stored[4:])


def point(session: Any, x: Any, y: Any) -> Shape:
    return Shape(struct.pack("<IBIdd", 0, 1, 1, float(number_of(x)), float(number_of(y))))
