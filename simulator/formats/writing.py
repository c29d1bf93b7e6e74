"""Writers of a format's messages, from addressed packs of changes and addressed single events.

A `Writer` yields any number of messages for each. Most products send one for each: their writer is `OneMessage`, which
uses `Values` to make the bytes of a value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa

from simulator.batch import Ints, PackedBatch
from simulator.delivery.routing import Address, Destination
from simulator.model import (
    DDL,
    HEARTBEAT,
    STATEMENT,
    WITHOUT_TABLE,
    Column,
    Event,
    Heartbeat,
    Kind,
    LoggedStatement,
    SchemaChange,
    Table,
)
from simulator.text.template import Piece


@dataclass(frozen=True, slots=True)
class Written:
    """Messages: one for each pack of a batch, or for some of its packs.

    `pieces` make the values (`simulator.text.template`); None: null values (tombstones). `columns`: other columns of
    `MESSAGE_SCHEMA` by name (key, partition, headers, tag, timestamp_ms), one entry per message; key and partition
    default to the pack's. `topic`: a topic other than the pack's. `most_bytes`: the product refuses longer values;
    None: it has no limit. `packs`: the indexes of the packs, ascending, None for all; messages for only some packs
    count no changes.
    """

    pieces: Sequence[Piece] | None
    columns: Mapping[str, pa.Array] = field(default_factory=dict)
    topic: str | None = None
    most_bytes: int | None = None
    packs: Ints | None = None


@dataclass(frozen=True, slots=True)
class WrittenEvent:
    """A message of a single event, for each partition of its address. `columns`: columns of `MESSAGE_SCHEMA` by name
    (headers, tag, timestamp_ms, a key in bytes), as Python values."""

    address: Address
    value: bytes | None
    columns: Mapping[str, Any] = field(default_factory=dict)


class Writer(Protocol):
    """Makes the messages of a format. Messages of the same change or event are sent in the order in which they are
    yielded.

    `event` may use the router's addresses (`to.event`, one per table of a statement) or any others. `columns` returns
    the indexes of the table's columns that changes of a kind need; None: all. Other columns are not generated. `text`
    returns a column's values as the product hashes them: plain text, nulls kept.
    """

    def messages(self, packed: PackedBatch) -> Iterable[Written]: ...
    def event(self, event: Event, to: Destination) -> Iterable[WrittenEvent]: ...
    def columns(self, table: Table, kind: Kind) -> Collection[int] | None: ...
    def text(self, column: Column, array: pa.Array) -> pa.Array: ...


class Values(Protocol):
    """Makes the bytes of values: the encoder of JSON fields, or a format's own. `pieces`: the pieces of one value per
    pack."""

    def pieces(self, packed: PackedBatch) -> Sequence[Piece]: ...
    def encode_event(self, event: Event, kind: Kind) -> bytes: ...
    def text(self, column: Column, array: pa.Array) -> pa.Array: ...


class Metadata(Protocol):
    """Makes a message's metadata: columns of `MESSAGE_SCHEMA` by name (key, headers, tag, timestamp_ms).

    `columns`: one entry per pack; `event`: for a single event, as Python values.
    """

    def columns(self, packed: PackedBatch) -> Mapping[str, pa.Array]: ...
    def event(self, event: Event) -> Mapping[str, Any]: ...


@dataclass(frozen=True)
class OneMessage:
    """Writer of products that send one message for each pack, and one for each destination of an event."""

    values: Values
    metadata: Metadata | None = None

    def messages(self, packed: PackedBatch) -> Iterable[Written]:
        columns = {} if self.metadata is None else self.metadata.columns(packed)
        yield Written(self.values.pieces(packed), columns)

    def event(self, event: Event, to: Destination) -> Iterable[WrittenEvent]:
        for part, address in to.event(event):
            columns = {} if self.metadata is None else self.metadata.event(part)
            yield WrittenEvent(address, self.values.encode_event(part, kind_of(part)), columns)

    def columns(self, table: Table, kind: Kind) -> Collection[int] | None:
        return None

    def text(self, column: Column, array: pa.Array) -> pa.Array:
        return self.values.text(column, array)


def kind_of(event: Event) -> Kind:
    if isinstance(event, LoggedStatement):
        return STATEMENT
    return HEARTBEAT if isinstance(event, Heartbeat) else DDL


def without_table(event: Event) -> bool:
    """Tests for DDL that belongs to no table; few products send it."""
    return isinstance(event, SchemaChange) and event.kind in WITHOUT_TABLE


def opens_snapshot(event: Event) -> bool:
    """Tests for a CREATE TABLE before a snapshot's rows."""
    return event.order.phase == 0


def outside_tables(event: Event) -> bool:
    """Tests for an event that most products omit: DDL that belongs to no table, CREATE TABLE before a snapshot."""
    return without_table(event) or opens_snapshot(event)
