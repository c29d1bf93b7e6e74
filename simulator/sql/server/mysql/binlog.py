"""Parses events of MySQL's and MariaDB's row binlog; rows stay bytes until their table is known.

Source: the servers' `libbinlogevents` and `log_event.h`; versions 1 and 2 of rows events.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from simulator.errors import UsageError
from simulator.model import DELETE, INSERT, UPDATE, Kind

_QUERY, _ROTATE, _XID, _TABLE_MAP, _ROWS_QUERY, _XA_PREPARE, _ANNOTATE = 2, 4, 16, 19, 29, 38, 160
_GTID, _MARIADB_GTID = 33, 162
_ROWS: Final = {23: INSERT, 24: UPDATE, 25: DELETE, 30: INSERT, 31: UPDATE, 32: DELETE}
_VERSION_2: Final = 30
# Unsupported events with changes, and the setting that enables them.
_UNREAD: Final = {
    39: "binlog_row_value_options", 40: "binlog_transaction_compression", 165: "log_bin_compress",
    166: "log_bin_compress", 167: "log_bin_compress", 168: "log_bin_compress", 169: "log_bin_compress",
    170: "log_bin_compress", 171: "log_bin_compress",
}  # fmt: skip
_HEADER_BYTES: Final = 19
# What a statement's event begins with: flags, sql_mode, catalog (its length first), AUTO_INCREMENT, character sets.
_FACT_BYTES: Final = {0: 4, 1: 8, 6: 0, 3: 4, 4: 6}
_SQL_MODE, _CATALOG, _CHARSET = 1, 6, 4


@dataclass(frozen=True, slots=True)
class TableMap:
    """The table of rows events: names, and for each column its type code, its metadata and whether it can be null.
    `metadata` is the optional metadata, in bytes."""

    database: str
    table: str
    types: bytes
    meta: tuple[int, ...]
    nullable: tuple[bool, ...] = ()
    metadata: bytes = b""


@dataclass(frozen=True, slots=True)
class Rows:
    """A rows event. `logged`: the positions of the columns in each image (updates: before, after)."""

    at_s: int
    kind: Kind
    table: TableMap
    logged: tuple[tuple[int, ...], ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class Query:
    """A statement logged as text: default database, thread id, the bits of its sql_mode, and the number of the client's
    character set."""

    at_s: int
    database: str
    sql: str
    thread: int
    mode: int
    charset: int


@dataclass(frozen=True, slots=True)
class Commit:
    """The end of a transaction."""

    at_s: int


@dataclass(frozen=True, slots=True)
class Note:
    """The statement of the rows that follow: MariaDB's annotation, MySQL's rows query."""

    annotation: bool
    sql: str


@dataclass(frozen=True, slots=True)
class Gtid:
    """The GTID of the transaction that begins: `3e11fa47-…:7`, of MariaDB `0-1-7`."""

    text: str


@dataclass(frozen=True, slots=True)
class FileEnd:
    """The end of the log's file."""


Event = Rows | Query | Commit | Note | Gtid | FileEnd


@dataclass
class Bytes:
    """A reader of bytes."""

    raw: bytes
    position: int = 0

    def take(self, count: int) -> bytes:
        self.position += count
        return self.raw[self.position - count : self.position]

    def number(self, count: int, *, signed: bool = False) -> int:
        return int.from_bytes(self.take(count), "little", signed=signed)

    def big(self, count: int) -> int:
        return int.from_bytes(self.take(count), "big")

    def packed(self) -> int:
        length = self.number(1)
        return length if length < 251 else self.number({252: 2, 253: 3, 254: 8}[length])

    def bits(self, count: int) -> list[bool]:
        raw = self.take((count + 7) // 8)
        return [bool(raw[i // 8] >> i % 8 & 1) for i in range(count)]


def events(packets: Iterator[bytes]) -> Iterator[Event]:
    """The events of a log. Raises UsageError for changes in an unsupported form."""
    tables: dict[int, TableMap] = {}
    for packet in packets:
        at_s, code = struct.unpack_from("<IB", packet)
        data = Bytes(packet, _HEADER_BYTES)
        if code == _TABLE_MAP:
            id = data.number(6)
            tables[id] = _table_map(data)
        elif code in _ROWS:
            yield _rows(at_s, code, data, tables)
        elif code == _QUERY:
            yield _query(at_s, data)
        elif code == _GTID:
            data.take(1)
            yield Gtid(f"{UUID(bytes=data.take(16))}:{data.number(8)}")
        elif code == _MARIADB_GTID:
            (server,) = struct.unpack_from("<I", packet, 5)
            number = data.number(8)
            yield Gtid(f"{data.number(4)}-{server}-{number}")
        elif code in (_XID, _XA_PREPARE):
            yield Commit(at_s)
        elif code == _ROWS_QUERY:
            data.take(1)
            yield Note(False, data.raw[data.position :].decode("utf-8", "surrogateescape"))
        elif code == _ANNOTATE:
            yield Note(True, data.raw[data.position :].decode("utf-8", "surrogateescape"))
        elif code == _ROTATE and at_s:  # those without a time begin a dump
            yield FileEnd()
        elif code in _UNREAD:
            raise UsageError(f"the server logs with {_UNREAD[code]}, which is not read: turn it off.")


def rotated(packet: bytes) -> str | None:
    """The name of the next file in a rotate event."""
    return packet[_HEADER_BYTES + 8 :].decode() if packet[4] == _ROTATE else None


def _query(at_s: int, data: Bytes) -> Query:
    thread = data.number(4)
    data.take(4)
    database = data.number(1)
    data.take(2)
    facts = Bytes(data.take(data.number(2)))
    name = data.take(database).decode()
    data.take(1)
    values = dict.fromkeys(_FACT_BYTES, 0)
    while facts.position < len(facts.raw) and (code := facts.number(1)) in _FACT_BYTES:
        values[code] = facts.number(facts.number(1) if code == _CATALOG else _FACT_BYTES[code])
    sql = data.raw[data.position :].decode("utf-8", "surrogateescape")
    return Query(at_s, name, sql, thread, values[_SQL_MODE], values[_CHARSET] & 0xFFFF)


def _table_map(data: Bytes) -> TableMap:
    data.take(2)
    database = data.take(data.number(1)).decode()
    data.take(1)
    name = data.take(data.number(1)).decode()
    data.take(1)
    types = data.take(data.packed())
    facts = Bytes(data.take(data.packed()))
    meta = tuple(_meta(code, facts) for code in types)
    nullable = tuple(data.bits(len(types)))
    return TableMap(database, name, types, meta, nullable, data.raw[data.position :])


# Metadata bytes of a type code; types of the second set have the high byte first.
_META_BYTES: Final = {4: 1, 5: 1, 252: 1, 245: 1, 255: 1, 17: 1, 18: 1, 19: 1, 15: 2, 16: 2, 246: 2, 253: 2, 254: 2}
_HIGH_FIRST: Final = frozenset({246, 253, 254})


def _meta(code: int, facts: Bytes) -> int:
    count = _META_BYTES.get(code, 0)
    return facts.big(count) if code in _HIGH_FIRST else facts.number(count)


def _rows(at_s: int, code: int, data: Bytes, tables: dict[int, TableMap]) -> Rows:
    id = data.number(6)
    data.take(2)
    if code >= _VERSION_2:
        data.take(data.number(2) - 2)
    count, kind = data.packed(), _ROWS[code]
    images = 2 if kind is UPDATE else 1
    logged = tuple(tuple(i for i, bit in enumerate(data.bits(count)) if bit) for _ in range(images))
    return Rows(at_s, kind, tables[id], logged, data.raw[data.position :])
