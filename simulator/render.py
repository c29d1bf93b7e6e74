"""Blocks of a stream made into messages: split, pack, route, encode. Pure: the same block gives the same bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa

from simulator.batch import ChangeBatch, Envelope, MessageBatch, concat
from simulator.delivery.pack import cut, pack
from simulator.delivery.router import Route, Router
from simulator.delivery.split import split
from simulator.model import DDL, HEARTBEAT, INSERT, STATEMENT, Event, Heartbeat, Kind, LoggedStatement
from simulator.stream.block import Block, Stream
from simulator.wire.format import Codec


class Renderer:
    """Blocks of changes in, messages in stream order out: the pure part of the line."""

    def __init__(
        self,
        stream: Stream,
        codec: Codec,
        route: Route,
        topic: str | None,
        partitions: Callable[[str], int],
        *,
        line_end: str = "",
    ) -> None:
        self.stream, self.codec, self.line_end = stream, codec, line_end
        self.router = Router(codec.layout.routing, route, topic, partitions, codec.text)

    def render(self, block: Block) -> MessageBatch | None:
        """The messages of a block in stream order, None if there are none."""
        parts = self.parts(block)
        return concat(parts) if parts else None

    def parts(self, block: Block, *, write_ms: int | None = None) -> list[MessageBatch]:
        """The messages of a block, one batch a table and kind, each in stream order; `concat` puts them together.

        `write_ms` takes the place of the product's write time.
        """
        made: list[MessageBatch] = []
        for batch in block.batches:
            if self.codec.sends(batch.kind):
                if write_ms is not None:
                    batch = replace(batch, envelope=_written(batch.envelope, write_ms))
                made += [self._changes(half) for half in self._split(batch)]
        events = [e for e in block.events if self.codec.sends(kind_of(e)) and not self.codec.omits(e)]
        if events:
            made.append(self._events(events if write_ms is None else [replace(e, write_ms=write_ms) for e in events]))
        return made

    def _split(self, batch: ChangeBatch) -> list[ChangeBatch]:
        return split(batch, self.router.columns(batch.table)) if self.codec.layout.routing.split else [batch]

    def _changes(self, batch: ChangeBatch) -> MessageBatch:
        events = pack(batch, self.codec.layout.packing)
        topic, partition = self.router.changes(batch)
        packed = cut(batch, events, topic=topic, partition=partition, key=None)
        count = len(packed)
        envelope, first = packed.changes.envelope, packed.starts[:-1]
        # the insert half of a split update counts for nothing: the change was counted with its delete
        changes = 0 * first if batch.moved and batch.kind is INSERT else np.diff(packed.starts)
        return MessageBatch.of(
            count,
            phase=pa.array(np.full(count, envelope.phase, dtype=np.int8)),
            turn=pa.array(envelope.turn[first]),
            ordinal=pa.array(envelope.ordinal[first]),
            kind=pa.array(np.full(count, batch.kind, dtype=np.int8)),
            changes=pa.array(changes.astype(np.int32)),
            topic=_same(topic, count),
            partition=pa.array(packed.partition.astype(np.int32)),  # type: ignore[union-attr]
            value=self.codec.encode(packed, self.line_end).cast(pa.binary()),
        )

    def _events(self, events: list[Event]) -> MessageBatch:
        rows = []
        for event in events:
            topic, partition = self.router.event(self.stream.database, event)
            value = self.codec.encode_event(event, kind_of(event)) + self.line_end.encode()
            order = event.order
            rows.append((order.phase, order.turn, order.ordinal, kind_of(event), 0, topic, partition, value))
        names = ("phase", "turn", "ordinal", "kind", "changes", "topic", "partition", "value")
        types = (pa.int8(), pa.int64(), pa.int64(), pa.int8(), pa.int32(), pa.string(), pa.int32(), pa.binary())
        columns = {
            name: pa.array(list(column), type)
            for name, column, type in zip(names, zip(*rows, strict=True), types, strict=True)
        }
        columns["topic"] = columns["topic"].dictionary_encode()
        return MessageBatch.of(len(rows), **columns)


def kind_of(event: Event) -> Kind:
    if isinstance(event, LoggedStatement):
        return STATEMENT
    return HEARTBEAT if isinstance(event, Heartbeat) else DDL


def _written(envelope: Envelope, write_ms: int) -> Envelope:
    return replace(envelope, write_ms=np.full(len(envelope.turn), write_ms, dtype=np.int64))


def _same(text: str, count: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, dtype=np.int32)), pa.array([text], pa.string()))
