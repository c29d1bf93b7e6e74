"""MySQL's binary JSON: documents of rows events with their types.

Source: mysql-server `sql-common/json_binary.h`.
"""

from __future__ import annotations

import struct
from typing import Any, Final

from simulator.sql.server.mysql.binlog import Bytes
from simulator.sql.server.mysql.packed import clock_us, date_and_time, decimal
from simulator.sql.values.documents import Opaque
from simulator.sql.values.temporal import Temporal

_LITERALS: Final = (None, True, False)
# Numbers stored inside the list of values, with struct's letters; four-byte numbers only in large containers.
_NUMBERS: Final = {5: "<h", 6: "<H", 7: "<i", 8: "<I", 9: "<q", 10: "<Q", 11: "<d"}
_DATES: Final = {10: "date", 7: "datetime", 12: "datetime"}


def document(raw: bytes) -> Any:
    """The value of a JSON column."""
    return _value(raw[0], raw, 1)


def _value(code: int, raw: bytes, offset: int) -> Any:
    if code < 4:
        return _container(code, raw, offset)
    if code == 4:
        return _LITERALS[raw[offset]]
    if code in _NUMBERS:
        return struct.unpack_from(_NUMBERS[code], raw, offset)[0]
    if code == 12:
        length, start = _length(raw, offset)
        return raw[start : start + length].decode("utf-8", "surrogatepass")
    length, start = _length(raw, offset + 1)
    return _opaque(raw[offset], raw[start : start + length])


def _length(raw: bytes, offset: int) -> tuple[int, int]:
    """A length in groups of seven bits, and the offset after it."""
    length = shift = 0
    while True:
        byte = raw[offset]
        length |= (byte & 0x7F) << shift
        offset, shift = offset + 1, shift + 7
        if not byte & 0x80:
            return length, offset


def _container(code: int, raw: bytes, start: int) -> Any:
    """An object (0, 1) or array (2, 3); offsets count from its beginning, in two bytes or (1, 3) in four."""
    width = 4 if code & 1 else 2

    def number(entry_offset: int, count: int = width) -> int:
        return int.from_bytes(raw[entry_offset : entry_offset + count], "little")

    count, entries = number(start), start + 2 * width
    keys = []
    if code < 2:
        for i in range(count):
            entry_offset = entries + i * (width + 2)
            offset, length = start + number(entry_offset), number(entry_offset + width, 2)
            keys.append(raw[offset : offset + length].decode("utf-8", "surrogatepass"))
        entries += count * (width + 2)
    values = []
    for i in range(count):
        entry_offset = entries + i * (width + 1)
        kind = raw[entry_offset]
        inlined = kind in (4, 5, 6) or (width == 4 and kind in (7, 8))
        values.append(_value(kind, raw, entry_offset + 1 if inlined else start + number(entry_offset + 1)))
    return dict(zip(keys, values, strict=True)) if code < 2 else values


def _opaque(code: int, raw: bytes) -> Any:
    if code == 246:
        return decimal(Bytes(raw, 2), raw[0], raw[1])
    if code in _DATES or code == 11:
        packed = int.from_bytes(raw, "little", signed=True)
        clock, fraction = abs(packed) >> 24, abs(packed) & 0xFFFFFF
        if code == 11:
            us = clock_us(clock) + fraction
            return Temporal("time", 0, -us if packed < 0 else us, 6)
        day, us = date_and_time(clock)
        return Temporal(_DATES[code], day, us + fraction, 6) if code != 10 else Temporal("date", day)
    return Opaque(raw, code)
