"""A format as a value: what it is, what it sends, its options, and `layout(settings)`, how it writes.

`Format.codec(source, …)` makes it ready for a source and a kind of broker. A codec takes packs of changes that are
addressed already (`simulator.delivery`) and yields finished messages: none, one or two for each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Generic, Literal, Protocol, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import MESSAGE_SCHEMA, MessageBatch, PackedBatch
from simulator.delivery.pack import Packing
from simulator.delivery.routing import Address, Routing
from simulator.errors import DeliveryFailed
from simulator.formats.options import Option, described, parsed, refuse_without_effect, refuse_without_route
from simulator.model import (
    DDL,
    HEARTBEAT,
    INSERT,
    MARKS,
    STATEMENT,
    WITHOUT_TABLE,
    Column,
    Event,
    Heartbeat,
    Kind,
    LoggedStatement,
    SchemaChange,
    SchemaChangeKind,
    Table,
    TableId,
)
from simulator.native.program import compiled
from simulator.sources import DEFAULT
from simulator.sources.source import Source
from simulator.text.template import Piece, join, nulls_of, program_of
from simulator.wire.avro import Container

# The options of a format.
O_co = TypeVar("O_co", covariant=True)
Broker = Literal["kafka", "rocketmq", "rabbitmq"]
# A part with more bytes, about, is written alone: if it is too large, it is known which one is.
MOST_UNWRITTEN: Final = 1 << 28


@dataclass(frozen=True)
class Settings(Generic[O_co]):
    """What a layout is made for: the format's options, the source system, and the kind of broker."""

    options: O_co
    source: Source
    broker: Broker = "kafka"


class Writer(Protocol):
    """What makes the bytes of values: the encoder of JSON fields, or one of a format's own.

    `pieces` are those of a value per message, to be joined (`simulator.text.template`); `text` gives a column's values
    as the product hashes them: plain text, nulls kept.
    """

    def pieces(self, packed: PackedBatch) -> Sequence[Piece]: ...
    def encode_event(self, event: Event, kind: Kind) -> bytes: ...
    def text(self, column: Column, array: pa.Array) -> pa.Array: ...


class Metadata(Protocol):
    """What a product sends with a value: columns of `MESSAGE_SCHEMA` by name (key, headers, tag, timestamp_ms).

    `columns` has one entry per message, `event` the same for a single event, as Python values.
    """

    def columns(self, packed: PackedBatch) -> dict[str, pa.Array]: ...
    def event(self, event: Event) -> Mapping[str, Any]: ...


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


def of_stream(event: Event) -> bool:
    """What most products omit: DDL that belongs to no table, and the CREATE TABLEs that open a snapshot."""
    return without_table(event) or opens_snapshot(event)


@dataclass(frozen=True)
class Layout:
    """How a format writes with certain settings.

    * `writer` makes the bytes of values, `metadata` what goes with them.
    * `routing` and `packing` are the product's way of addressing messages and of putting rows together.
    * `columns`: places of the columns of a table that changes of a kind print; None: all. The others are not drawn.
    * `container`: what a file of the values is, if they are Avro.
    * `rabbitmq`: the properties of each message on RabbitMQ, in AMQP's names; the content type is JSON's otherwise.
    * `sends`: of the format's kinds of event, those that the settings let through; None: all. `never`: those that no
      setting lets through.
    * `statements`: the kinds of DDL that it writes (`SchemaChange.statement`); None: all. `omits`: single events that
      it leaves out although it sends their kind.
    * `sources`: of the format's sources, those that the product offers with these settings; None: all.
    * `event_time`: changes report the commit time of their transaction, or that of the one before.
    * `second_number`: the member, if any, that has the number of a change within its second.
    * `heartbeat_ms`: how often the product sends heartbeats, where it sends any and the scenario does not say.
    * `complete`: has the last word on the messages of a pack: it may drop some or add tombstones.
    * `max_bytes`: the product refuses larger values; None: it has no limit of its own.
    * `typed_json`: the product prints binary JSON documents itself, dates and decimals in its own way.
    * `row_images`: of the source's settings with which its log lacks columns of rows ("": a server's own log does),
      those with which the product works; None: all. Its writer looks at `ChangeBatch.logged`, or `logged_is_whole`: to
      the product the columns that are there are the row.
    """

    writer: Writer
    routing: Routing
    packing: Packing | None = None
    metadata: Metadata | None = None
    columns: Callable[[Table, Kind], Collection[int]] | None = None
    container: Container | None = None
    rabbitmq: Mapping[str, Any] = field(default_factory=dict)
    sends: frozenset[Kind] | None = None
    never: frozenset[Kind] = frozenset()
    statements: frozenset[SchemaChangeKind] | None = None
    omits: Callable[[Event], bool] = of_stream
    typed_json: bool = False
    row_images: frozenset[str] | None = frozenset()
    logged_is_whole: bool = False
    sources: tuple[str, ...] | None = None
    event_time: Literal["commit", "previous commit"] = "commit"
    second_number: str = ""
    heartbeat_ms: int = 1000
    complete: Callable[[PackedBatch, MessageBatch], MessageBatch] | None = None
    max_bytes: int | None = None


@dataclass(frozen=True)
class Format:
    """One vendor message format: what it is, and `layout(settings)`, how it writes.

    Every kind of event is in `sends` or in `silent`, so that silence is a decision; only texts of the source's log
    (STATEMENT) need not be named to be silent. `settings` is the frozen dataclass of its options.
    """

    id: str
    title: str
    product: str
    spec: str
    sources: tuple[str, ...]
    brokers: tuple[Broker, ...]
    sends: frozenset[Kind]
    silent: frozenset[Kind]
    settings: type[Any]
    layout: Callable[[Settings[Any]], Layout]
    binary: bool = False  # values are bytes, not text
    source: str = DEFAULT  # of a run that names none

    def __post_init__(self) -> None:
        if (self.sends | self.silent | {STATEMENT}) != set(Kind) or self.sends & self.silent:
            raise ValueError(f"{self.id}: each kind of event is either sent or declared silent")

    @property
    def options(self) -> tuple[Option, ...]:
        return described(self.settings)

    def codec(self, source: Source, given: Mapping[str, str] | None = None, broker: Broker = "kafka") -> Codec:
        """The format made ready for a source and a broker. Raises OptionError for an unknown option or value."""
        given = given or {}
        settings: Settings[Any] = Settings(parsed(self.id, self.settings, given), source, broker)
        layout = self.layout(settings)
        codec = Codec(self, settings, layout, given)
        refuse_without_effect(self.id, settings.options, given, source.id, broker, codec.sends)
        return codec


class Codec:
    """A configured format: addressed changes in, finished messages out."""

    def __init__(
        self, format: Format, settings: Settings[Any], layout: Layout, given: Mapping[str, str] | None = None
    ) -> None:
        self.format, self.settings, self.layout, self._given = format, settings, layout, given or {}
        self._sends = self.format.sends if layout.sends is None else self.format.sends & layout.sends

    def sends(self, kind: Kind) -> bool:
        """Whether the product, set up like this, sends events of this kind."""
        return kind in self._sends

    def check_route(self, policy: str) -> None:
        """Raises OptionError for an option that has no effect with this policy of `--route`."""
        refuse_without_route(self.format.id, self.settings.options, self._given, policy)

    @property
    def heartbeat_ms(self) -> int | None:
        """How often it sends heartbeats of its own; None: it sends none."""
        return self.layout.heartbeat_ms if self.sends(HEARTBEAT) else None

    def sends_event(self, event: Event) -> bool:
        """Whether it sends this statement or heartbeat."""
        if not self.sends(kind_of(event)) or self.layout.omits(event):
            return False
        statements = self.layout.statements
        return not isinstance(event, SchemaChange) or statements is None or event.statement in statements

    def messages(self, packed: PackedBatch, *, part: bool = False) -> MessageBatch:
        """The messages of each pack, in stream order; partition null where the client decides by the key. Values of a
        `part` of a block may be left to be written by `concat`. Raises DeliveryFailed for a value that the product
        refuses."""
        layout, batch, count = self.layout, packed.changes, len(packed)
        envelope, first = batch.envelope, packed.starts[:-1]
        # the insert half of a split update counts for nothing: the change was counted with its delete
        uncounted = batch.kind in MARKS or (batch.counterpart is not None and batch.kind is INSERT)
        changes = 0 * first if uncounted else np.diff(packed.starts)
        columns = {} if layout.metadata is None else layout.metadata.columns(packed)
        if packed.key is not None:
            columns["key"] = packed.key.cast(pa.binary())
        if packed.partition is not None:
            columns["partition"] = pa.array(packed.partition.astype(np.int32))
        pieces = layout.writer.pieces(packed)
        if part and compiled() and layout.complete is None and nulls_of(pieces) is None:
            program = program_of(pieces)
            values = program if program.bytes_each * count < MOST_UNWRITTEN else None
        else:
            values = None
        if values is None:
            columns["value"] = join(pieces, count, pa.binary())
        check = None if layout.max_bytes is None else partial(self._check_size, batch.table.id, layout.max_bytes)
        if check is not None and values is None:
            check(pc.max(pc.binary_length(columns["value"])).as_py() or 0)
            check = None  # done, while values of a program wait for it
        messages = MessageBatch.of(
            count,
            values,
            check,
            phase=pa.array(np.full(count, envelope.phase, dtype=np.int8)),
            turn=pa.array(envelope.turn[first]),
            ordinal=pa.array(envelope.ordinal[first]),
            kind=pa.array(np.full(count, batch.kind, dtype=np.int8)),
            changes=pa.array(changes.astype(np.int32)),
            topic=_repeated(packed.topic, count),
            **columns,
        )
        return messages if layout.complete is None else layout.complete(packed, messages)

    def _check_size(self, table: TableId, most: int, longest: int) -> None:
        if longest > most:
            raise DeliveryFailed(
                f"-f {self.format.id}: a message about {table} has {longest:,} bytes, and {self.format.product} "
                f"delivers up to {most:,}. Write smaller values, or drop the column."
            )

    def event_messages(self, events: Sequence[Event], addresses: Sequence[Address]) -> MessageBatch:
        """The messages of DDL statements, logged texts and heartbeats: one for each partition of their addresses."""
        rows = []
        for event, address in zip(events, addresses, strict=True):
            kind = kind_of(event)
            message = {
                "phase": event.order.phase,
                "turn": event.order.turn,
                "ordinal": event.order.ordinal,
                "kind": kind,
                "changes": 0,
                "topic": address.topic,
                "key": None if address.key is None else address.key.encode(),
                "value": self.layout.writer.encode_event(event, kind),
                **({} if self.layout.metadata is None else self.layout.metadata.event(event)),
            }
            rows += [{**message, "partition": partition} for partition in address.partitions]
        columns = {}
        for member in MESSAGE_SCHEMA:
            plain = member.type.value_type if pa.types.is_dictionary(member.type) else member.type
            column = pa.array([row.get(member.name) for row in rows], plain)
            columns[member.name] = column if plain == member.type else column.dictionary_encode()
        return MessageBatch.of(len(rows), **columns)


def _repeated(text: str, count: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, dtype=np.int32)), pa.array([text], pa.string()))
