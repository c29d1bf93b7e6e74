"""Blocks of a stream made into messages: split, pack, route, encode. Pure: the same block gives the same bytes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from simulator.batch import ChangeBatch, Envelope, MessageBatch
from simulator.delivery.marks import marks
from simulator.delivery.pack import cut
from simulator.delivery.parts import Part, assembled, part_of
from simulator.delivery.router import Router
from simulator.delivery.routing import Route
from simulator.delivery.steps import Changes
from simulator.errors import UnsupportedType, UsageError
from simulator.formats.format import Codec
from simulator.model import DELETE, INSERT, MARKS, UPDATE, Event, Kind, SchemaChange, Table, TableId
from simulator.native.program import ARROW, RoomOf
from simulator.sources.source import Source
from simulator.split import split
from simulator.stream.engine.block import Block, SnapshotBlock, Stream, TurnBlock


def renders(codec: Codec, source: Source, table: Table) -> bool:
    """Whether a format can render every column of a table; it is tried with an insert of one row."""
    literals = [source.boundary_values(column.type)[0] for column in table.columns]
    image = tuple(
        source.parse_values([text], column.type) for text, column in zip(literals, table.columns, strict=True)
    )
    one = np.ones(1, dtype=np.int64)
    numbers: dict[str, Any] = dict.fromkeys(Envelope.ARRAYS, one)
    envelope = Envelope(phase=1, **numbers)
    batch = ChangeBatch(table, INSERT, envelope, image, None, row_numbers=one.copy)
    try:
        packed = cut(batch, codec.layout.packing.events(batch), topic="", partition=None, key=None)
        deque(codec.messages(packed), 0)
    except UnsupportedType:
        return False
    return True


class Renderer:
    """Turns blocks of changes into messages in stream order: the pure part of the pipeline.

    `unsent`: tables of the stream that are not sent. `now_ms`, if given, is the clock for the product's write time.
    """

    # Blocks that may wait between `begin` and `finish`, which two threads call.
    ahead = 1
    elsewhere = False

    def __init__(
        self,
        stream: Stream,
        codec: Codec,
        route: Route,
        topic: str | None,
        partitions: Callable[[str], int],
        *,
        unsent: Collection[TableId] = (),
        now_ms: Callable[[], int] | None = None,
        only: Callable[[Block], Block] | None = None,
    ) -> None:
        self.stream, self.codec, self._unsent, self._now_ms = stream, codec, frozenset(unsent), now_ms
        self._only = only
        tables, texts = stream.names_at_start, codec.layout.writer.text
        self.router = Router(codec.layout.routing, route, topic, partitions, texts, tables, database=stream.database)

    def needed(self, table: Table, kind: Kind) -> Collection[int] | None:
        """Indexes of the columns that messages of a kind need; None: all columns."""
        layout = self.codec.layout
        split = self.router.split_by(table) if kind is UPDATE else ()
        halves = kind is UPDATE and (split != () or self.stream.source.key_is_fixed)
        kinds = [*filter(self.codec.sends, (UPDATE, INSERT, DELETE) if halves else (kind,))]
        if not kinds or table.id in self._unsent:
            return ()
        if layout.packing.reads_values:
            return None
        positions = {*table.row_key_positions, *self.router.columns(table), *(split or ())}
        for sent in kinds:
            if (written := layout.writer.columns(table, sent)) is None:
                return None
            positions |= {*written}
        return positions

    def begin(self, where: TurnBlock | SnapshotBlock) -> tuple[Block, bool]:
        """A block, and whether it belongs to the snapshot."""
        return self.stream.read_block(where, self.needed), isinstance(where, SnapshotBlock)

    def finish(self, begun: tuple[Block, bool]) -> Rendered:
        """A block and its messages."""
        block, snapshot = begun
        return Rendered(block, self.parts(block), snapshot)

    def close(self) -> None:
        """No resources to release."""

    def render_block(self, where: TurnBlock | SnapshotBlock) -> MessageBatch | None:
        """The messages of a block by its position in the stream or snapshot; None if there are none."""
        return self.render(self.stream.read_block(where, self.needed))

    def render(self, block: Block) -> MessageBatch | None:
        """The messages of a block in stream order; None if there are none."""
        return _assembled(block, self.parts(block))

    def parts(self, block: Block) -> list[Part]:
        """The messages of a block: one part for each table version and kind of change."""
        changes = self._sent(block)
        for step in self.codec.layout.steps:
            changes = step(changes)
        parts = list[Part]()
        with _sizes_named(changes.batches):
            for packed in self.codec.layout.packing.packs(changes, self.router):
                parts += self.codec.messages(packed)
        if events := [event for event in changes.events if self.codec.sends_event(event)]:
            parts.append(self.codec.event_messages(events, self.router))
        return [part for part in parts if len(part)]

    def _sent(self, block: Block) -> Changes:
        """The changes and events of a block that the product sends: updates split, write time stamped."""
        write_ms = None if self._now_ms is None else self._now_ms()
        block = self._without_unsent(block if self._only is None else self._only(block))
        batches = [batch for batch in block.batches if self.codec.sends(batch.kind)]
        if self.codec.layout.row_images == frozenset() and any(batch.logged is not None for batch in batches):
            raise refusal(self.codec, self.stream)
        for kind in MARKS:
            if self.codec.sends(kind) and (marked := marks(block.batches, kind, self.stream.database)) is not None:
                batches.append(marked)
        halves = [
            half
            for batch in batches
            for half in split(self._stamped(batch, write_ms), self.router.split_by(batch.table))
        ]
        events = [self._stamped_event(event, write_ms) for event in block.events]
        return Changes(halves, events, self.stream, block.snapshot_turn)

    def _without_unsent(self, block: Block) -> Block:
        """A block without the tables that are not sent."""
        if not self._unsent:
            return block
        batches = tuple(batch for batch in block.batches if batch.table.id not in self._unsent)
        events = tuple(event for event in block.events if not self._is_unsent(event))
        return replace(block, batches=batches, events=events)

    def _is_unsent(self, event: Event) -> bool:
        table = event.after or event.before if isinstance(event, SchemaChange) else None
        return table is not None and table.id in self._unsent

    def _stamped(self, batch: ChangeBatch, write_ms: int | None) -> ChangeBatch:
        """The changes, stamped with the time at which the product writes them."""
        if write_ms is not None:
            written = np.full(len(batch), write_ms, dtype=np.int64)
        elif self.stream.delay is not None:
            written = self.stream.delay.write_ms(batch.envelope.event_ms)
        else:
            return batch
        return replace(batch, envelope=replace(batch.envelope, write_ms=written))

    def _stamped_event(self, event: Event, write_ms: int | None) -> Event:
        if write_ms is None and self.stream.delay is not None:
            write_ms = int(self.stream.delay.write_ms(np.array([event.event_ms], dtype=np.int64))[0])
        return event if write_ms is None else replace(event, write_ms=write_ms)


def renders_images(codec: Codec, stream: Stream) -> bool:
    """Whether the row images in the source's log are enough for the product."""
    works = codec.layout.row_images
    return stream.partial_images is None or works is None or stream.row_image in works


def refusal(codec: Codec, stream: Stream) -> UsageError:
    """Error of a product that needs complete row images, for a stream whose log lacks columns."""
    format = codec.format
    return UsageError(
        f"-f {format.id}: {format.product} requires whole row images, and the log of {stream.file} has partial ones: "
        f"{stream.partial_images}."
    )


@dataclass(frozen=True, slots=True)
class Rendered:
    """A block and its messages in parts, which another thread joins; `faults` are those that occurred in it."""

    block: Block
    parts: Sequence[Part]
    snapshot: bool
    faults: Sequence[Any] = ()

    def messages(self) -> MessageBatch | None:
        """The messages in stream order; None if there are none. Raises UsageError for more than 2 GiB."""
        return _assembled(self.block, self.parts)

    def finished(self, room_of: RoomOf) -> Rendered:
        """The messages as one part, with only the counts of the block. `room_of` allocates memory for values."""
        messages = _assembled(self.block, self.parts, room_of)
        return replace(
            self, block=replace(self.block, batches=()), parts=() if messages is None else (part_of(messages),)
        )


def _assembled(block: Block, parts: Sequence[Part], room_of: RoomOf = ARROW) -> MessageBatch | None:
    with _sizes_named(block.batches):
        return assembled(parts, room_of) if parts else None


@contextmanager
def _sizes_named(batches: Sequence[ChangeBatch]) -> Iterator[None]:
    """Raises UsageError, which names the largest column, if messages do not fit into one Arrow array."""
    try:
        yield
    except (OverflowError, pa.ArrowCapacityError, pa.ArrowInvalid) as error:
        if isinstance(error, pa.ArrowInvalid) and "overflow" not in str(error):
            raise
        largest = max(batches, key=lambda batch: sum(array.nbytes for array in batch.image()))
        raise UsageError(_too_large(largest)) from None


def _too_large(batch: ChangeBatch) -> str:
    """Error text for messages larger than the 2 GiB of an Arrow array."""
    sizes = [array.nbytes for array in batch.image()]
    widest = batch.table.columns[sizes.index(max(sizes))].name
    return (
        f"the messages of {len(batch)} changes of {batch.table.id} have more than 2 GiB together, most of it values of "
        f"{widest}; shorten them, or change fewer rows in a transaction."
    )
