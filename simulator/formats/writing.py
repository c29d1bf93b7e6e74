"""Messages as a format writes them: of packs of changes, and of single events, each with its address.

A `Writer` yields none, one or several messages for each. Most products send one for each: `OneMessage` is their writer,
around what makes the bytes of a value (`Values`).
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
    """A message for each pack of a batch, or for some of them.

    `pieces` make the values (`simulator.text.template`); None: they are null, which is a tombstone. `columns` are
    others of `MESSAGE_SCHEMA` by name (key, partition, headers, tag, timestamp_ms), an entry a message; key and
    partition are those of the pack where they are not among them. `topic`: another one than the pack's. `most_bytes`:
    the product refuses longer values; None: it has no limit of its own. `packs`: the positions of the packs, ascending,
    None for all; messages beside some packs count no changes.
    """

    pieces: Sequence[Piece] | None
    columns: Mapping[str, pa.Array] = field(default_factory=dict)
    topic: str | None = None
    most_bytes: int | None = None
    packs: Ints | None = None


@dataclass(frozen=True, slots=True)
class WrittenEvent:
    """A message about a single event, for each partition of its address. `columns` are those of `MESSAGE_SCHEMA` by
    name (headers, tag, timestamp_ms, a key in bytes), as Python values."""

    address: Address
    value: bytes | None
    columns: Mapping[str, Any] = field(default_factory=dict)


class Writer(Protocol):
    """What makes the messages of a format. Messages about the same change or event are sent in the order in which they
    are yielded.

    `event` may send an event to where the router says (`to.event`), which addresses a statement about several tables
    once for each, or anywhere else. `columns` gives the positions of the columns of a table that changes of a kind are
    written from; None: all. The others are not drawn. `text` gives a column's values as the product hashes them: plain
    text, nulls kept.
    """

    def messages(self, packed: PackedBatch) -> Iterable[Written]: ...
    def event(self, event: Event, to: Destination) -> Iterable[WrittenEvent]: ...
    def columns(self, table: Table, kind: Kind) -> Collection[int] | None: ...
    def text(self, column: Column, array: pa.Array) -> pa.Array: ...


class Values(Protocol):
    """What makes the bytes of values: the encoder of JSON fields, or one of a format's own. `pieces` are those of a
    value per pack."""

    def pieces(self, packed: PackedBatch) -> Sequence[Piece]: ...
    def encode_event(self, event: Event, kind: Kind) -> bytes: ...
    def text(self, column: Column, array: pa.Array) -> pa.Array: ...


class Metadata(Protocol):
    """What a product sends with a value: columns of `MESSAGE_SCHEMA` by name (key, headers, tag, timestamp_ms).

    `columns` has one entry per pack, `event` the same for a single event, as Python values.
    """

    def columns(self, packed: PackedBatch) -> Mapping[str, pa.Array]: ...
    def event(self, event: Event) -> Mapping[str, Any]: ...


@dataclass(frozen=True)
class OneMessage:
    """The writer of products that send one message for each pack, and for each place that an event is sent to."""

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
    """DDL that belongs to no table; few products send it."""
    return isinstance(event, SchemaChange) and event.kind in WITHOUT_TABLE


def opens_snapshot(event: Event) -> bool:
    """The CREATE TABLEs before a snapshot's rows."""
    return event.order.phase == 0


def outside_tables(event: Event) -> bool:
    """Single events that most products omit: DDL that belongs to no table, CREATE TABLEs that open a snapshot."""
    return without_table(event) or opens_snapshot(event)
