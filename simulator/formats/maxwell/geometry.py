"""Geometries as JTS prints them: `POINT (1 2)`, `MULTIPOINT ((0 0), (1 1))`, coordinates without an exponent."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from simulator.sources.mysql.geometry import to_text

_NUMBER: Final = re.compile(r"-?[0-9.]+(?:e[-+]?[0-9]+)?")
_POINTS: Final = re.compile(r"(?<=MULTIPOINT\()[^A-Z]*(?=\))")


def well_known_text(stored: bytes) -> str:
    """A geometry's stored bytes as JTS's `toText`, coordinates in the order in which they are stored.

    >>> from simulator.sources.mysql.geometry import to_bytes
    >>> well_known_text(to_bytes("MULTIPOINT(-1.5 1e10,1 1)", "geometry"))
    'MULTIPOINT ((-1.5 10000000000), (1 1))'
    """
    text = to_text(stored).rpartition(";")[2]
    text = _POINTS.sub(lambda points: ",".join(f"({point.strip('()')})" for point in points[0].split(",")), text)
    text = re.sub(r"(?<=[A-Z])\(", " (", text).replace(",", ", ")
    return _NUMBER.sub(lambda number: f"{Decimal(number[0]):f}", text)
