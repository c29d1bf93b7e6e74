"""Blocks of a stream made into messages: split, pack, route, encode. Pure: the same block gives the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from simulator.batch import MESSAGE_SCHEMA, ChangeBatch, Envelope, MessageBatch, concat, split
from simulator.delivery.marks import marks
from simulator.delivery.pack import cut, pack
from simulator.delivery.router import Route, Router
from simulator.errors import UnsupportedType
from simulator.formats.format import Codec, kind_of
from simulator.model import INSERT, MARKS, Event, Table
from simulator.sources import Source
from simulator.stream.engine.block import Block, Stream


def renders(codec: Codec, source: Source, table: Table) -> bool:
    """Whether a format has a rendering for every column of a table: tried with an insert of one row."""
    literals = [source.types.boundary_values(column.type)[0] for column in table.columns]
    image = tuple(
        source.parse_values([text], column.type) for text, column in zip(literals, table.columns, strict=True)
    )
    one = np.ones(1, dtype=np.int64)
    batch = ChangeBatch(table, INSERT, Envelope(phase=1, **dict.fromkeys(Envelope.ARRAYS, one)), image, None)
    try:
        codec.encode(cut(batch, pack(batch, codec.layout.packing), topic="", partition=None, key=None))
    except UnsupportedType:
        return False
    return True


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
        batches = list(block.batches)
        for kind in MARKS:
            if self.codec.sends(kind) and (marked := marks(block.batches, kind, self.stream.database)) is not None:
                batches.append(marked)
        for batch in batches:
            if self.codec.sends(batch.kind):
                if self.codec.layout.typed_json and batch.typed_json is not None:
                    batch = batch.typed_json
                if self.codec.layout.previous_commit and batch.envelope.phase:
                    previous = self.stream.previous_ms(batch.envelope.turn)
                    batch = replace(batch, envelope=replace(batch.envelope, event_ms=previous))
                if write_ms is not None:
                    batch = replace(batch, envelope=_written(batch.envelope, write_ms))
                made += [self._changes(half) for half in split(batch, self.router.split_by(batch.table))]
        events = [event for event in block.events if self.codec.sends_event(event)]
        if not self.codec.layout.snapshot_ddl:
            events = [event for event in events if event.order.phase]
        if self.codec.layout.previous_commit:
            events = [replace(event, event_ms=self._previous_ms(event)) for event in events]
        if events:
            made.append(self._events(events if write_ms is None else [replace(e, write_ms=write_ms) for e in events]))
        return made

    def _previous_ms(self, event: Event) -> int:
        turn = np.array([event.order.turn], dtype=np.int64)
        return int(self.stream.previous_ms(turn)[0]) if event.order.phase else event.event_ms

    def _changes(self, batch: ChangeBatch) -> MessageBatch:
        layout = self.codec.layout
        events = pack(batch, layout.packing)
        topic, partition, key = self.router.changes(batch)
        packed = cut(batch, events, topic=topic, partition=partition, key=key)
        count = len(packed)
        envelope, first = packed.changes.envelope, packed.starts[:-1]
        # the insert half of a split update counts for nothing: the change was counted with its delete
        uncounted = batch.kind in MARKS or (batch.moved and batch.kind is INSERT)
        changes = 0 * first if uncounted else np.diff(packed.starts)
        columns = {} if layout.beside is None else layout.beside.columns(packed)
        if packed.key is not None:
            columns["key"] = packed.key.cast(pa.binary())
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
            **columns,
        )

    def _events(self, events: list[Event]) -> MessageBatch:
        rows = []
        for event in events:
            topic, partitions, key = self.router.event(self.stream.database, event)
            value = self.codec.encode_event(event, kind_of(event)) + self.line_end.encode()
            order, kind, beside = event.order, kind_of(event), self.codec.layout.beside
            more: Mapping[str, Any] = {} if beside is None else beside.event(event)
            for partition in partitions:
                rows.append(
                    {
                        "phase": order.phase,
                        "turn": order.turn,
                        "ordinal": order.ordinal,
                        "kind": kind,
                        "changes": 0,
                        "topic": topic,
                        "partition": partition,
                        "key": None if key is None else key.encode(),
                        "value": value,
                        **more,
                    }
                )
        columns = {}
        for field in MESSAGE_SCHEMA:
            plain_type = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
            column = pa.array([row.get(field.name) for row in rows], plain_type)
            columns[field.name] = column.dictionary_encode() if plain_type != field.type else column
        return MessageBatch.of(len(rows), **columns)


def _written(envelope: Envelope, write_ms: int) -> Envelope:
    return replace(envelope, write_ms=np.full(len(envelope.turn), write_ms, dtype=np.int64))


def _same(text: str, count: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, dtype=np.int32)), pa.array([text], pa.string()))
