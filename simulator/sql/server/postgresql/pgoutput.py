"""Messages of PostgreSQL's decoding plugin `pgoutput`, protocol version 1.

Source: PostgreSQL's documentation, "Logical Replication Message Formats".
"""

from __future__ import annotations

import enum
import struct
from dataclasses import dataclass
from typing import Any, Final

from simulator.model import DELETE, INSERT, UPDATE, Kind

# Microseconds from 1970 to 2000, PostgreSQL's epoch.
_EPOCH_US: Final = 946_684_800_000_000
_KINDS: Final = {b"I": INSERT, b"U": UPDATE, b"D": DELETE}
CASCADE, RESTART_IDENTITY = 1, 2


class Unchanged(enum.Enum):
    """A large value that an update did not change: the log does not contain it."""

    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED
Cell = str | Unchanged | None


@dataclass(frozen=True, slots=True)
class Begin:
    """The beginning of a transaction: its commit time and its id."""

    at_us: int
    xid: int


@dataclass(frozen=True, slots=True)
class Commit:
    """The end of a transaction."""


@dataclass(frozen=True, slots=True)
class Relation:
    """The logged definition of a table: its columns, and the positions of its replica identity."""

    oid: int
    schema: str
    name: str
    columns: tuple[str, ...]
    identity: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one row. `before` is the logged old row: None, all columns (`full`), or the identity's columns with
    null in the others."""

    oid: int
    kind: Kind
    before: tuple[Cell, ...] | None
    after: tuple[Cell, ...] | None
    full: bool


@dataclass(frozen=True, slots=True)
class Truncate:
    """A TRUNCATE of some tables; `options` are bits: CASCADE, RESTART_IDENTITY."""

    oids: tuple[int, ...]
    options: int


@dataclass(frozen=True, slots=True)
class Message:
    """A message that a session put into the log, as a part of its transaction or at once."""

    transactional: bool
    prefix: str
    content: bytes


Event = Begin | Commit | Relation | Change | Truncate | Message


class _Reader:
    """A reader of a message, positioned after its first byte, which is its kind."""

    def __init__(self, raw: bytes) -> None:
        self.raw, self.position = raw, 1

    def number(self, code: str) -> Any:
        (value,) = struct.unpack_from(f">{code}", self.raw, self.position)
        self.position += struct.calcsize(code)
        return value

    def name(self) -> str:
        end = self.raw.index(0, self.position)
        name, self.position = self.raw[self.position : end].decode(), end + 1
        return name

    def byte(self) -> bytes:
        self.position += 1
        return self.raw[self.position - 1 : self.position]

    def row(self) -> tuple[Cell, ...]:
        return tuple([self._cell() for _ in range(self.number("H"))])

    def _cell(self) -> Cell:
        kind = self.byte()
        if kind == b"t":
            size = self.number("I")
            self.position += size
            return self.raw[self.position - size : self.position].decode()
        return None if kind == b"n" else UNCHANGED


def event(raw: bytes) -> Event | None:
    """A message as an event; None for messages that are not about rows."""
    data, code = _Reader(raw), raw[:1]
    if code == b"B":
        _, at_us, xid = data.number("q"), data.number("q"), data.number("I")
        return Begin(at_us + _EPOCH_US, xid)
    if code == b"C":
        return Commit()
    if code == b"R":
        return _relation(data)
    if code in _KINDS:
        oid, part = data.number("I"), data.byte()
        before = data.row() if part in (b"K", b"O") else None
        if before is not None and code == b"U":
            data.byte()
        return Change(oid, _KINDS[code], before, None if code == b"D" else data.row(), part == b"O")
    if code == b"T":
        count, options = data.number("I"), data.number("B")
        return Truncate(tuple(data.number("I") for _ in range(count)), options)
    if code == b"M":
        transactional, _, prefix, size = bool(data.number("B")), data.number("Q"), data.name(), data.number("I")
        return Message(transactional, prefix, raw[data.position : data.position + size])
    return None


def _relation(data: _Reader) -> Relation:
    oid, schema, name = data.number("I"), data.name(), data.name()
    data.byte()
    columns, identity = [], []
    for position in range(data.number("H")):
        if data.number("B") & 1:
            identity.append(position)
        columns.append(data.name())
        data.number("I"), data.number("i")
    return Relation(oid, schema, name, tuple(columns), tuple(identity))
