"""SQL Server's shapes as well-known binary (WKB), which readers of geometries expect.

SQL Server stores a header (reference system, version, flags) and lists (MS-SSCLRT, "CLR UDTs"): points, figures (kind,
first point), shapes (parent, first figure, kind). Geography stores latitude before longitude.
"""

from __future__ import annotations

import struct
from typing import Final

Point = tuple[float, float]

_SINGLE_POINT, _SINGLE_LINE = 0x08, 0x10
_Z, _M = 0x01, 0x02
_POINT, _LINE, _POLYGON = 1, 2, 3
EMPTY_POINT: Final = struct.pack("<dd", float("nan"), float("nan"))


def well_known_binary(stored: bytes, *, latitude_first: bool) -> bytes:
    """A stored geometry or geography as WKB, little-endian, without its reference system.

    Raises ValueError for shapes with heights or measures.

    >>> well_known_binary(bytes.fromhex("00000000010c00000000000008400000000000001040"), latitude_first=False).hex()
    '010100000000000000000008400000000000001040'
    """
    flags = stored[5]
    if flags & (_Z | _M):
        raise ValueError("a shape with heights or measures")
    if flags & _SINGLE_POINT:
        return _header(_POINT) + _point(_points(stored, 6, 1, latitude_first)[0])
    if flags & _SINGLE_LINE:
        return _line(_points(stored, 6, 2, latitude_first), header=True)
    offset = 6
    (count,) = struct.unpack_from("<I", stored, offset)
    points = _points(stored, offset + 4, count, latitude_first)
    offset += 4 + 16 * count
    (count,) = struct.unpack_from("<I", stored, offset)
    firsts = [struct.unpack_from("<BI", stored, offset + 4 + 5 * i)[1] for i in range(count)]
    offset += 4 + 5 * count
    (count,) = struct.unpack_from("<I", stored, offset)
    shapes = [struct.unpack_from("<iiB", stored, offset + 4 + 9 * i) for i in range(count)]
    ends = [*firsts[1:], len(points)][: len(firsts)]
    figures = [points[first:end] for first, end in zip(firsts, ends, strict=True)]
    return _shape(0, shapes, figures)


def _points(stored: bytes, offset: int, count: int, latitude_first: bool) -> list[Point]:
    pairs = struct.iter_unpack("<dd", stored[offset : offset + 16 * count])
    return [(b, a) if latitude_first else (a, b) for a, b in pairs]


def _header(kind: int) -> bytes:
    return struct.pack("<BI", 1, kind)


def _point(point: Point) -> bytes:
    return struct.pack("<dd", *point)


def _line(points: list[Point], *, header: bool = False) -> bytes:
    body = struct.pack("<I", len(points)) + b"".join(map(_point, points))
    return _header(_LINE) + body if header else body


def _shape(index: int, shapes: list[tuple[int, int, int]], figures: list[list[Point]]) -> bytes:
    """A shape with its children."""
    _, first, kind = shapes[index]
    later = [shape[1] for shape in shapes[index + 1 :] if shape[1] >= 0]
    lines = figures[first : later[0] if later else None] if first >= 0 else []
    if kind == _POINT:
        return _header(kind) + (_point(lines[0][0]) if lines else EMPTY_POINT)
    if kind == _LINE:
        return _header(kind) + _line(lines[0] if lines else [])
    if kind == _POLYGON:
        return _header(kind) + struct.pack("<I", len(lines)) + b"".join(map(_line, lines))
    children = [i for i, shape in enumerate(shapes) if shape[0] == index]
    parts = b"".join(_shape(child, shapes, figures) for child in children)
    return _header(kind) + struct.pack("<I", len(children)) + parts
