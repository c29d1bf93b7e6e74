"""SQL Server's CLR types as they are stored: hierarchyid, geometry and geography.

Formats: [MS-SSCLRT] "SQL Server CLR Types Serialization Formats" for the shapes; for hierarchyid, the prefixes of
ordinals, derived from values of a server (`/1/` is 0x58, `/98/` begins 1110).
"""

from __future__ import annotations

import re
import struct
from typing import Final

from simulator.sources.mysql import geometry as mysql_geometry

# Prefix, first ordinal and the pattern behind the prefix: x is a bit of the ordinal above the first, 0 and 1 are fixed.
_ORDINALS: Final = (
    (-72, "0010", "xx0x1xxx"),
    (-8, "00111", "xxx"),
    (0, "01", "xx"),
    (4, "100", "xx"),
    (8, "101", "xxx"),
    (16, "110", "xx0x1xxx"),
    (80, "1110", "xxx0xxx0x1xxx"),
    (1104, "11110", "xxxxx0xxx0x1xxx"),
)
_LAST_ORDINAL: Final = 5199
_NODE: Final = re.compile(r"/(?:-?\d+/)*")


def hierarchyid(text: str) -> bytes:
    """The bytes of a node: `/` is the root and has none. Raises ValueError.

    >>> hierarchyid("/1/").hex(), hierarchyid("/1/1/").hex(), hierarchyid("/-1/").hex(), hierarchyid("/16/").hex()
    ('58', '5ac0', '3f80', 'c110')
    """
    if not _NODE.fullmatch(text):
        raise ValueError(f"{text!r} is not a node such as /1/3/")
    bits = "".join(map(_ordinal, re.findall(r"-?\d+", text)))
    return int(bits.ljust(-(-len(bits) // 8) * 8, "0"), 2).to_bytes(-(-len(bits) // 8), "big") if bits else b""


def _ordinal(digits: str) -> str:
    number = int(digits)
    if not _ORDINALS[0][0] <= number <= _LAST_ORDINAL:
        raise ValueError(f"{digits} is outside -72 to {_LAST_ORDINAL}, the ordinals of a hierarchyid known here")
    first, prefix, pattern = next(row for row in reversed(_ORDINALS) if row[0] <= number)
    bits = list(f"{number - first:0{pattern.count('x')}b}")
    # the last bit marks the end of the level
    return prefix + "".join(bits.pop(0) if bit == "x" else bit for bit in pattern) + "1"


def node(data: bytes) -> str:
    """The inverse: `node(bytes.fromhex("5ac0"))` is `/1/1/`."""
    bits = "".join(f"{byte:08b}" for byte in data).rstrip("0")
    path = "/"
    while bits:
        first, prefix, pattern = next(row for row in _ORDINALS if bits.startswith(row[1]))
        body = bits[len(prefix) : len(prefix) + len(pattern)]
        value = "".join(bit for bit, pattern_bit in zip(body, pattern, strict=True) if pattern_bit == "x")
        path += f"{first + int(value, 2)}/"
        bits = bits[len(prefix) + len(pattern) + 1 :]
    return path


# ------------------------------------------------------------------------------------------------------------- shapes

_POINT, _LINE, _POLYGON = 1, 2, 3
_VALID, _SINGLE_POINT, _SINGLE_LINE = 0x04, 0x08, 0x10
_INTERIOR, _STROKE, _EXTERIOR = 0, 1, 2


class _Shapes:
    """The four lists of a stored shape: points, figures (attribute, first point), shapes (parent, figure, kind)."""

    def __init__(self, wkb: bytes) -> None:
        self.wkb, self.offset = wkb, 0
        self.points: list[tuple[float, float]] = []
        self.figures: list[tuple[int, int]] = []
        self.shapes: list[tuple[int, int, int]] = []
        self.add(-1)

    def read(self, form: str) -> tuple[float, ...]:
        numbers = struct.unpack_from("<" + form, self.wkb, self.offset)
        self.offset += struct.calcsize("<" + form)
        return numbers

    def line(self, attribute: int, count: int | None = None) -> None:
        count = int(self.read("I")[0]) if count is None else count
        self.figures.append((attribute, len(self.points)))
        for _ in range(count):
            x, y = self.read("dd")
            self.points.append((x, y))

    def add(self, parent: int) -> None:
        kind = int(self.read("BI")[1])
        index = len(self.shapes)
        self.shapes.append((parent, len(self.figures), kind))
        if kind == _POINT:
            self.line(_STROKE, 1)
        elif kind == _LINE:
            self.line(_STROKE)
        elif kind == _POLYGON:
            for ring in range(int(self.read("I")[0])):
                self.line(_INTERIOR if ring else _EXTERIOR)
        else:
            for _ in range(int(self.read("I")[0])):
                self.add(index)
            if index == 0 and len(self.shapes) == 1:
                self.shapes[0] = (parent, -1, kind)  # an empty collection has no figure


def shape(text: str, kind: str) -> bytes:
    """A geometry or geography as it is stored, from well-known text; `SRID=4326;` before it sets the reference system.

    Without it that is 0 for geometry and 4326 for geography, whose points are stored latitude first.

    >>> shape("POINT(3 4)", "geometry").hex()
    '00000000010c00000000000008400000000000001040'
    """
    stored = mysql_geometry.to_bytes(text, "geometry")
    srid = struct.unpack_from("<I", stored)[0]
    if kind == "geography" and not text.upper().lstrip().startswith("SRID"):
        srid = 4326
    shapes = _Shapes(stored[4:])
    points = [(y, x) if kind == "geography" else (x, y) for x, y in shapes.points]
    if kind == "geography" and any(abs(latitude) > 90 for latitude, _ in points):
        raise ValueError(f"{text!r} has a latitude outside -90 to 90; text says longitude first")
    body = b"".join(struct.pack("<dd", *point) for point in points)
    only = shapes.shapes[0][2] if len(shapes.shapes) == 1 else 0
    if only == _POINT:
        return struct.pack("<IBB", srid, 1, _VALID | _SINGLE_POINT) + body
    if only == _LINE and len(points) == 2:
        return struct.pack("<IBB", srid, 1, _VALID | _SINGLE_LINE) + body
    out = struct.pack("<IBBI", srid, 1, _VALID, len(points)) + body + struct.pack("<I", len(shapes.figures))
    out += b"".join(struct.pack("<BI", *figure) for figure in shapes.figures)
    return out + struct.pack("<I", len(shapes.shapes)) + b"".join(struct.pack("<iiB", *s) for s in shapes.shapes)
