"""MySQL's geometries: well-known text to the bytes that MySQL stores (4-byte little-endian SRID, then WKB) and back.

`SRID=4326;POINT(1 2)` sets the reference system, else it is 0. Coordinates are written as they are stored, first x,
then y: MySQL 8.0 itself swaps the axes of SRID 4326 when its functions read and write text.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Final

from simulator.sources.mysql.json import plain_double

KINDS: Final = {
    "point": 1,
    "linestring": 2,
    "polygon": 3,
    "multipoint": 4,
    "multilinestring": 5,
    "multipolygon": 6,
    "geometrycollection": 7,
}
NAMES: Final = {number: name for name, number in KINDS.items()}
# Kind of the parts of each collection; the rings of polygons are lines without a header.
_PARTS: Final = {4: 1, 5: 2, 6: 3}
_TOKEN: Final = re.compile(r"\s*([A-Za-z]+|[(),;=]|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)")


def to_bytes(text: str, kind: str) -> bytes:
    """A geometry's stored bytes. `kind` is the column's type: `geometry` takes all.

    >>> to_bytes("POINT(1 2)", "point").hex()
    '000000000101000000000000000000f03f0000000000000040'
    """
    tokens = _tokens(text)
    srid = 0
    if tokens[:2] == ["SRID", "="]:
        if len(tokens) < 4 or not tokens[2].isdecimal() or tokens[3] != ";" or int(tokens[2]) >= 1 << 32:
            raise ValueError(f"{text!r} wants a number and a semicolon after SRID, as in SRID=4326;POINT(1 2)")
        srid = int(tokens[2])
        tokens = tokens[4:]
    reader = _Reader(text, tokens)
    body = reader.geometry()
    if reader.index != len(tokens):
        raise reader.problem()
    actual = NAMES[body[1]]
    if kind != "geometry" and actual != kind:
        raise ValueError(f"{text!r} is a {actual}, not a {kind}")
    return struct.pack("<I", srid) + body


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    end = 0
    while match := _TOKEN.match(text, end):
        tokens.append(match[1].upper())
        end = match.end()
    if text[end:].strip():
        raise ValueError(f"{text!r} is not a geometry such as POINT(1 2) or LINESTRING(0 0,1 1)")
    return tokens


class _Reader:
    """A recursive reader of well-known text; each method returns WKB."""

    def __init__(self, text: str, tokens: list[str]) -> None:
        self.text, self.tokens, self.index = text, tokens, 0

    def problem(self) -> ValueError:
        token = self.tokens[self.index] if self.index < len(self.tokens) else "its end"
        return ValueError(f"{self.text!r} is not a geometry such as POINT(1 2): it goes wrong at {token}")

    def peek(self) -> str:
        return self.tokens[self.index] if self.index < len(self.tokens) else ""

    def take(self, token: str) -> None:
        if self.peek() != token:
            raise self.problem()
        self.index += 1

    def geometry(self) -> bytes:
        name = self.peek().lower()
        number = KINDS["geometrycollection"] if name == "geomcollection" else KINDS.get(name)
        if number is None:
            raise self.problem()
        self.index += 1
        return self.body(number)

    def body(self, number: int) -> bytes:
        header = struct.pack("<BI", 1, number)
        if number == KINDS["point"]:
            self.take("(")
            point = self.point()
            self.take(")")
            return header + point
        if number == KINDS["linestring"]:
            return header + self.line(2)
        if number == KINDS["polygon"]:
            return header + self.listed(self.ring)
        if number == KINDS["geometrycollection"]:
            if self.peek() == "EMPTY":
                self.index += 1
                return header + struct.pack("<I", 0)
            if self.tokens[self.index : self.index + 2] == ["(", ")"]:
                self.index += 2
                return header + struct.pack("<I", 0)
            return header + self.listed(self.geometry)
        if number == KINDS["multipoint"]:
            return header + self.listed(self.loose_point)
        return header + self.listed(lambda: self.body(_PARTS[number]))

    def listed(self, part: Callable[[], bytes]) -> bytes:
        self.take("(")
        parts = [part()]
        while self.peek() == ",":
            self.index += 1
            parts.append(part())
        self.take(")")
        return struct.pack("<I", len(parts)) + b"".join(parts)

    def loose_point(self) -> bytes:
        """A part of a multipoint: MULTIPOINT(0 0,1 1) and MULTIPOINT((0 0),(1 1)) are the same."""
        if self.peek() == "(":
            return self.body(KINDS["point"])
        return struct.pack("<BI", 1, KINDS["point"]) + self.point()

    def point(self) -> bytes:
        coordinates = []
        for _ in range(2):
            try:
                coordinates.append(float(self.peek()))
            except ValueError:
                raise self.problem() from None
            self.index += 1
        return struct.pack("<dd", *coordinates)

    def line(self, least: int) -> bytes:
        line = self.listed(self.point)
        if struct.unpack_from("<I", line)[0] < least:
            raise ValueError(f"{self.text!r} has a line of fewer than {least} points")
        return line

    def ring(self) -> bytes:
        ring = self.line(4)
        if ring[4:20] != ring[-16:]:
            raise ValueError(f"{self.text!r} has a ring that does not end where it begins")
        return ring


def to_text(stored: bytes) -> str:
    """The inverse: `POINT(1 2)`, `SRID=4326;POINT(1 2)`."""
    srid = int.from_bytes(stored[:4], "little")
    text, _ = _show(stored, 4)
    return f"SRID={srid};{text}" if srid else text


def _show(data: bytes, offset: int, *, with_name: bool = True) -> tuple[str, int]:
    number = struct.unpack_from("<I", data, offset + 1)[0]
    offset += 5
    if number == KINDS["point"]:
        text, offset = _show_point(data, offset)
        text = f"({text})"
    elif number == KINDS["linestring"]:
        text, offset = _show_list(data, offset, _show_point)
    elif number == KINDS["polygon"]:
        text, offset = _show_list(data, offset, lambda d, a: _show_list(d, a, _show_point))
    elif number == KINDS["geometrycollection"]:
        text, offset = _show_list(data, offset, _show)
        text = " EMPTY" if text == "()" else text
    else:
        text, offset = _show_list(data, offset, lambda d, a: _show(d, a, with_name=False))
    return (NAMES[number].upper() if with_name else "") + text, offset


def _show_point(data: bytes, offset: int) -> tuple[str, int]:
    x, y = struct.unpack_from("<dd", data, offset)
    return f"{plain_double(x)} {plain_double(y)}", offset + 16


def _show_list(data: bytes, offset: int, part: Callable[[bytes, int], tuple[str, int]]) -> tuple[str, int]:
    count = struct.unpack_from("<I", data, offset)[0]
    offset += 4
    parts = []
    for _ in range(count):
        text, offset = part(data, offset)
        parts.append(text)
    return f"({','.join(parts)})", offset


def swapped(stored: bytes) -> bytes:
    """A geometry with the two coordinates of every point exchanged.

    >>> to_text(swapped(to_bytes("LINESTRING(1 2,3 4)", "geometry")))
    'LINESTRING(2 1,4 3)'
    """
    swapped_bytes = bytearray(stored)
    _swap(swapped_bytes, 4)
    return bytes(swapped_bytes)


def _swap(data: bytearray, offset: int) -> int:
    number = struct.unpack_from("<I", data, offset + 1)[0]
    offset += 5
    if number == KINDS["point"]:
        return _swap_points(data, offset, 1)
    count = struct.unpack_from("<I", data, offset)[0]
    if number == KINDS["linestring"]:
        return _swap_points(data, offset + 4, count)
    offset += 4
    for _ in range(count):
        if number == KINDS["polygon"]:
            offset = _swap_points(data, offset + 4, struct.unpack_from("<I", data, offset)[0])
        else:
            offset = _swap(data, offset)
    return offset


def _swap_points(data: bytearray, start: int, count: int) -> int:
    for offset in range(start, start + 16 * count, 16):
        data[offset : offset + 16] = data[offset + 8 : offset + 16] + data[offset : offset + 8]
    return start + 16 * count
