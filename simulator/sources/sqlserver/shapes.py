"""Stored shapes of SQL Server read again: geometry and geography to well-known text.

Format: [MS-SSCLRT] "SQL Server CLR Types Serialization Formats", version 1; `clr.shape` writes it.
"""

from __future__ import annotations

import struct
from typing import Final

from simulator.sources.mysql.json import plain_double

_NAMES: Final = {
    1: "POINT",
    2: "LINESTRING",
    3: "POLYGON",
    4: "MULTIPOINT",
    5: "MULTILINESTRING",
    6: "MULTIPOLYGON",
    7: "GEOMETRYCOLLECTION",
}
_SINGLE_POINT, _SINGLE_LINE = 8, 16
# srid, version, properties
_HEADER: Final = struct.Struct("<IBB")


def well_known(stored: bytes, kind: str) -> tuple[int, str]:
    """(SRID, text) of a `geometry` or a `geography`, whose points are stored latitude first.

    >>> well_known(bytes.fromhex("00000000010c00000000000008400000000000001040"), "geometry")
    (0, 'POINT(3 4)')
    """
    srid, _, properties = _HEADER.unpack_from(stored)
    offset = _HEADER.size
    count = {_SINGLE_POINT: 1, _SINGLE_LINE: 2}.get(properties & (_SINGLE_POINT | _SINGLE_LINE), 0)
    single = count > 0
    if not single:
        (count,) = struct.unpack_from("<I", stored, offset)
        offset += 4
    pairs = list(struct.iter_unpack("<dd", stored[offset : offset + 16 * count]))
    points = [f"{plain_double(x)} {plain_double(y)}" for x, y in (p[::-1] if kind == "geography" else p for p in pairs)]
    if single:
        return srid, f"{_NAMES[count]}({','.join(points)})"
    figures, offset = _rows(stored, offset + 16 * count, struct.Struct("<BI"))
    shapes, _ = _rows(stored, offset, struct.Struct("<iiB"))
    return srid, _shape_text(0, points, [figure[1] for figure in figures], shapes, named=True)


def _rows(stored: bytes, offset: int, row: struct.Struct) -> tuple[list[tuple[int, ...]], int]:
    (count,) = struct.unpack_from("<I", stored, offset)
    end = offset + 4 + count * row.size
    return list(row.iter_unpack(stored[offset + 4 : end])), end


def _shape_text(
    index: int, points: list[str], figures: list[int], shapes: list[tuple[int, ...]], *, named: bool
) -> str:
    """The shape at an index, with its parts."""
    _, first, kind = shapes[index]
    name = _NAMES[kind] if named else ""
    if kind <= 3:
        later = [start for _, start, _ in shapes[index + 1 :] if start >= 0]
        numbers = range(first, later[0] if later else len(figures)) if first >= 0 else range(0)
        ends = [*figures[1:], len(points)]
        lines = [",".join(points[figures[n] : ends[n]]) for n in numbers]
        if kind == 3:
            lines = [f"({line})" for line in lines]
        return f"{name}({','.join(lines)})" if lines else f"{name} EMPTY"
    parts = [n for n in range(index + 1, len(shapes)) if shapes[n][0] == index]
    texts = [_shape_text(n, points, figures, shapes, named=kind == 7) for n in parts]
    return f"{name}({','.join(texts)})" if texts else f"{name} EMPTY"
