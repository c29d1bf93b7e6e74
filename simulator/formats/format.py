"""Formats as values: description, kinds of event, options, and `layout(settings)`, the way to write messages.

`Format.codec(source, …)` configures a format for a source and a kind of broker. A codec takes addressed packs of
changes (`simulator.delivery`) and yields finished messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa

from simulator.batch import MESSAGE_SCHEMA, PackedBatch
from simulator.delivery.pack import ONE_ROW, Packing
from simulator.delivery.parts import Limit, Part, values_of
from simulator.delivery.redelivery import AT_LEAST_ONCE, Redelivery
from simulator.delivery.routing import Destination, Routing
from simulator.delivery.steps import Step
from simulator.formats.known import Known
from simulator.formats.options import Option, described, parsed, refuse_without_effect, refuse_without_route
from simulator.formats.remarks import Remark
from simulator.formats.writing import Writer, kind_of, outside_tables
from simulator.model import HEARTBEAT, INSERT, MARKS, STATEMENT, Column, Event, Kind, SchemaChange, SchemaChangeKind
from simulator.sources import DEFAULT
from simulator.sources.source import Source
from simulator.subjects.ids import Subjects
from simulator.wire.avro import Container

# The options of a format.
O_co = TypeVar("O_co", covariant=True)
# A kind of broker, which a sink declares for its URLs: kafka, rocketmq, rabbitmq, or that of a plug-in.
Broker: TypeAlias = str


@dataclass(frozen=True)
class Settings(Generic[O_co]):
    """Settings of a layout: the format's options, the source system, and the kind of broker."""

    options: O_co
    source: Source
    broker: Broker = "kafka"


@dataclass(frozen=True)
class Layout:
    """A format's way of writing, for certain settings.

    * `writer` makes the messages.
    * `routing` and `packing`: the product's rules for addressing messages and for grouping rows into messages.
    * `steps`: the product's treatment of changes before that (`simulator.delivery.steps`), in order.
    * `known`: the part of a column's values that messages carry (`simulator.formats.known`); None: all.
    * `remarks`: sentences for a run's summary, where its messages are less than a reader expects.
    * `container`: the container of a file of values, if they are Avro. `subjects`: their schemas, if each message has
      the id of its own.
    * `properties`: the properties of each message on a broker that has such (RabbitMQ, in AMQP's names); by default the
      content type of JSON.
    * `sends`: the format's kinds of event that the settings allow; None: all.
    * `statements`: the kinds of DDL that it writes (`SchemaChange.statement`); None: all. `omits`: tests for single
      events that it leaves out although it sends their kind.
    * `heartbeat_ms`: the interval of the product's heartbeats, if it sends any and the scenario sets none.
    * `redelivery`: where the product starts again after its process ended, and what it renews then.
    * `row_images`: the settings of the source that leave columns out of its log ("": the server's log always does) and
      with which the product works; None: all. Its writer or one of its steps then reads `ChangeBatch.logged`.
    """

    writer: Writer
    routing: Routing
    packing: Packing = ONE_ROW
    steps: tuple[Step, ...] = ()
    known: Callable[[Column], Known | None] | None = None
    container: Container | None = None
    subjects: Subjects | None = None
    properties: Mapping[str, Any] = field(default_factory=dict)
    sends: frozenset[Kind] | None = None
    statements: frozenset[SchemaChangeKind] | None = None
    omits: Callable[[Event], bool] = outside_tables
    row_images: frozenset[str] | None = frozenset()
    remarks: tuple[Remark, ...] = ()
    heartbeat_ms: int | None = None
    redelivery: Redelivery = AT_LEAST_ONCE


@dataclass(frozen=True)
class Format:
    """A vendor's message format: its description, and `layout(settings)`, its way of writing.

    Every kind of event is in `sends` or in `silent`, so leaving one out is a decision; only texts of the source's log
    (STATEMENT) may be in neither. `settings` is the frozen dataclass of its options. `links`: kinds of broker that the
    product supports for only some of its sources.
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
    source: str = DEFAULT  # if the run names none
    links: Mapping[Broker, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.sends | self.silent | {STATEMENT}) != set(Kind) or self.sends & self.silent:
            raise ValueError(f"{self.id}: each kind of event is either sent or declared silent")

    @property
    def options(self) -> tuple[Option, ...]:
        return described(self.settings)

    def sources_to(self, broker: Broker) -> tuple[str, ...]:
        """The sources whose changes the product can write to a kind of broker."""
        return self.links.get(broker, self.sources)

    def codec(self, source: Source, given: Mapping[str, str] | None = None, broker: Broker = "kafka") -> Codec:
        """Configures the format for a source and a broker. Raises OptionError for an unknown option or value."""
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
        """Tests whether the product, with these settings, sends events of a kind."""
        return kind in self._sends

    def check_route(self, policy: str) -> None:
        """Raises OptionError for an option that has no effect with this policy of `--route`."""
        refuse_without_route(self.format.id, self.settings.options, self._given, policy)

    @property
    def heartbeat_ms(self) -> int | None:
        """The interval of the heartbeats that are sent; None: there are none."""
        return self.layout.heartbeat_ms if self.sends(HEARTBEAT) else None

    def sends_event(self, event: Event) -> bool:
        """Tests whether it sends this statement or heartbeat."""
        if not self.sends(kind_of(event)) or self.layout.omits(event):
            return False
        statements = self.layout.statements
        return not isinstance(event, SchemaChange) or statements is None or event.statement in statements

    def messages(self, packed: PackedBatch) -> Iterator[Part]:
        """The messages of packs, one part per result of the writer; the partition is null if the client decides by the
        key. Messages of a pack share its order key; the first result for all packs counts the changes."""
        batch, count = packed.changes, len(packed)
        envelope, first = batch.envelope, packed.starts[:-1]
        # the insert half of a split update does not count: its change was counted with the delete
        uncounted = batch.kind in MARKS or (batch.counterpart is not None and batch.kind is INSERT)
        changes = 0 * first if uncounted else np.diff(packed.starts)
        common = {
            "phase": pa.array(np.full(count, envelope.phase, dtype=np.int8)),
            "turn": pa.array(envelope.turn[first]),
            "ordinal": pa.array(envelope.ordinal[first]),
            "kind": pa.array(np.full(count, batch.kind, dtype=np.int8)),
        }
        if packed.key is not None:
            common["key"] = packed.key.cast(pa.binary())
        if packed.partition is not None:
            common["partition"] = pa.array(packed.partition.astype(np.int32))
        for written in self.layout.writer.messages(packed):
            columns, messages, counted = {**common, **written.columns}, count, changes
            if written.packs is not None:
                messages, rows = len(written.packs), pa.array(written.packs)
                columns = {**{name: column.take(rows) for name, column in common.items()}, **written.columns}
                counted = np.zeros(messages)
            columns["changes"] = pa.array(counted.astype(np.int32))
            columns["topic"] = _repeated(written.topic or packed.topic, messages)
            limit = None
            if written.most_bytes is not None:
                limit = Limit(written.most_bytes, self.format.id, self.format.product, str(batch.table.id))
            yield Part(messages, columns, values_of(written.pieces, messages), limit)
            if written.packs is None:
                changes = 0 * first

    def event_messages(self, events: Sequence[Event], to: Destination) -> Part:
        """The messages of DDL statements, logged texts and heartbeats: one per partition of their addresses."""
        rows = []
        for event in events:
            for written in self.layout.writer.event(event, to):
                address = written.address
                message = {
                    "phase": event.order.phase,
                    "turn": event.order.turn,
                    "ordinal": event.order.ordinal,
                    "kind": kind_of(event),
                    "changes": 0,
                    "topic": address.topic,
                    "key": None if address.key is None else address.key.encode(),
                    "value": written.value,
                    **written.columns,
                }
                rows += [{**message, "partition": partition} for partition in address.partitions]
        columns = {}
        for member in MESSAGE_SCHEMA:
            plain = member.type.value_type if pa.types.is_dictionary(member.type) else member.type
            column = pa.array([row.get(member.name) for row in rows], plain)
            columns[member.name] = column if plain == member.type else column.dictionary_encode()
        return Part(len(rows), columns, columns.pop("value"))


def _repeated(text: str, count: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, dtype=np.int32)), pa.array([text], pa.string()))
