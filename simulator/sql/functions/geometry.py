"""Functions that make geometries."""

from __future__ import annotations

import struct
from typing import Any, Final

from simulator.sources.mysql import geometry as mysql_geometry
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.functions.arguments import integer_of
from simulator.sql.values.kinds import Shape, number_of, text_of

# Whether y is written first in texts of SRID 4326, by the option of MySQL 8.0.
_Y_FIRST: Final = {"axis-order=srid-defined": True, "axis-order=lat-long": True, "axis-order=long-lat": False}


def from_text(session: Any, text: Any, srid: Any = 0, options: Any = b"axis-order=srid-defined") -> Any:
    y_first = _Y_FIRST.get(text_of(options).lower().replace(" ", ""))
    if y_first is None:
        raise Unsupported(f"the option {text_of(options)!r} of ST_GeomFromText")
    try:
        stored = mysql_geometry.to_bytes(text_of(text), "geometry")
    except ValueError:
        raise SqlError(3037, "st_geomfromtext") from None
    number = integer_of(srid)
    if number == 4326 and session.server.swaps_axes and y_first:
        stored = mysql_geometry.swapped(stored)
    return Shape(struct.pack("<I", number) + stored[4:])


def point(session: Any, x: Any, y: Any) -> Shape:
    return Shape(struct.pack("<IBIdd", 0, 1, 1, float(number_of(x)), float(number_of(y))))
