"""Decodes cells of rows events to stored values."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final

from simulator.errors import UsageError
from simulator.model import ColumnType, Table
from simulator.partial_dates import ZERO_US
from simulator.sources.mysql import type_table, typed_json
from simulator.sql.server.mysql.binlog import Bytes, Rows
from simulator.sql.server.mysql.json_binary import document
from simulator.sql.server.mysql.packed import clock_us, date_and_time, day_of, decimal
from simulator.sql.values import documents, temporal
from simulator.sql.values.temporal import Temporal

Cell = Callable[[Bytes, int, ColumnType], Any]


def images(event: Rows, table: Table) -> list[tuple[tuple[Any, ...], ...]]:
    """The images of each row: before, after, or both. A cell is also None if the image lacks the column."""
    data = Bytes(event.body)
    rows = []
    while data.position < len(data.raw):
        rows.append(tuple(_image(data, event, table, logged) for logged in event.logged))
    return rows


def _image(data: Bytes, event: Rows, table: Table, logged: Sequence[int]) -> tuple[Any, ...]:
    nulls = data.bits(len(logged))
    row: list[Any] = [None] * len(event.table.types)
    for position, null in zip(logged, nulls, strict=True):
        if not null:
            code, meta = event.table.types[position], event.table.meta[position]
            cell = _CELLS.get(code)
            if cell is None:
                raise UsageError(f"{table.id} has a column of type {code} in the log, which is not supported.")
            row[position] = cell(data, meta, table.columns[position].type)
    return tuple(row)


def _integer(count: int) -> Cell:
    return lambda data, meta, type: data.number(count, signed=not (type.unsigned or type.zerofill))


def _year(data: Bytes, meta: int, type: ColumnType) -> int:
    year = data.number(1)
    return year and year + 1900


def _decimal(data: Bytes, meta: int, type: ColumnType) -> Decimal:
    return decimal(data, meta >> 8, meta & 0xFF)


def _double(data: Bytes, meta: int, type: ColumnType) -> float:
    return float(struct.unpack("<f" if meta == 4 else "<d", data.take(meta))[0])


def _date(data: Bytes, meta: int, type: ColumnType) -> int:
    value = data.number(3)
    return day_of(value >> 9, value >> 5 & 15, value & 31)


def _fraction(data: Bytes, digits: int) -> int:
    count = (digits + 1) // 2
    return data.big(count) * int(10 ** (6 - 2 * count))


def _datetime(data: Bytes, meta: int, type: ColumnType) -> int:
    day, us = date_and_time(data.big(5) - 0x80_0000_0000)
    us += _fraction(data, meta)
    return temporal.us_of(Temporal("datetime", day, us))


def _timestamp(data: Bytes, meta: int, type: ColumnType) -> int:
    us = data.big(4) * 1_000_000 + _fraction(data, meta)
    return us or ZERO_US


def _time(data: Bytes, meta: int, type: ColumnType) -> int:
    count = (meta + 1) // 2
    value = data.big(3 + count) - (0x80_0000 << 8 * count)
    clock, fraction = divmod(abs(value), 1 << 8 * count)
    us = clock_us(clock) + fraction * int(10 ** (6 - 2 * count))
    return -us if value < 0 else us


def _bit(data: Bytes, meta: int, type: ColumnType) -> int:
    return data.big((meta >> 8) + (meta & 0xFF > 0))


def _text(raw: bytes, type: ColumnType) -> Any:
    family = type_table.family(type)
    if family in ("binary", "geometry"):
        return raw.ljust(type.length or 0, b"\0") if type.name == "binary" else raw
    if family == "json":
        return raw.decode()
    codec = type_table.CHARSETS[type.charset or type_table.DEFAULT_CHARSET][1]
    return raw.decode(codec, "replace")


def _varchar(data: Bytes, meta: int, type: ColumnType) -> Any:
    return _text(data.take(data.number(1 if meta < 256 else 2)), type)


def _string(data: Bytes, meta: int, type: ColumnType) -> Any:
    """CHAR and BINARY; also ENUM and SET, whose type code is in the metadata."""
    code, length = meta >> 8, meta & 0xFF
    if code in (247, 248):
        return data.number(length)
    if code & 0x30 != 0x30:
        length |= ((code & 0x30) ^ 0x30) << 4
    return _text(data.take(data.number(1 if length < 256 else 2)), type)


def _blob(data: Bytes, meta: int, type: ColumnType) -> Any:
    return _text(data.take(data.number(meta)), type)


def _json(data: Bytes, meta: int, type: ColumnType) -> str:
    raw = data.take(data.number(meta))
    return documents.text_of(document(raw)) if raw else typed_json.EMPTY


_CELLS: Final[dict[int, Cell]] = {
    1: _integer(1),
    2: _integer(2),
    9: _integer(3),
    3: _integer(4),
    8: _integer(8),
    4: _double,
    5: _double,
    10: _date,
    13: _year,
    15: _varchar,
    16: _bit,
    17: _timestamp,
    18: _datetime,
    19: _time,
    245: _json,
    246: _decimal,
    252: _blob,
    253: _varchar,
    254: _string,
    255: _blob,
}
