"""Renderer of a run with faults: restarts of the product, and messages that are lost, repeated or
damaged on their way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa

from simulator.batch import ChangeBatch, MessageBatch
from simulator.delivery.parts import part_of
from simulator.delivery.redelivery import CATCH_UP, Lifetime
from simulator.errors import UsageError
from simulator.model import Event, Life, OrderKey
from simulator.order import BEGIN, STEP
from simulator.run.faults.apply import WINDOW, Application
from simulator.run.faults.flow import Flow, Occurrence, below, joined, spread, with_columns
from simulator.run.faults.lives import Ending, Lives, Segment, lowest
from simulator.run.faults.spec import Faults
from simulator.run.render import Rendered, Renderer
from simulator.stream.engine.block import Block
from simulator.values.draw import Ints, bits, chance, key
from simulator.values.draw import below as drawn_below

# Maximum milliseconds by which a clock step is ahead or behind.
STEP_MS: Final = 60_000
# Maximum rows of a new snapshot: it is sent within a block.
MOST_ROWS: Final = 1 << 18
_FIRST: Final = Lifetime(Life())


class FaultyRenderer(Renderer):
    """Renders blocks under faults. The snapshot at the beginning of a run only has `overlap`, which the
    plan applies.
    """

    def __init__(self, *args: Any, faults: Faults, seed: int, **options: Any) -> None:
        super().__init__(*args, **options)
        self._faults, self._seed = faults, seed
        unit = self.codec.layout.packing.window_turns(self.stream.block_turns)
        self._lives = Lives(self.stream, self.codec.layout.redelivery, faults, seed, unit=unit)
        self._lifetime = _FIRST
        binary = self.codec.format.binary
        self._apply = Application(faults, self.stream, seed, binary, self._transaction)

    def _transaction(self, turn: int) -> tuple[int, int]:
        return self._lives.floor(turn), self.stream.border(turn + 1)

    def finish(self, begun: tuple[Block, bool]) -> Rendered:
        block, snapshot = begun
        if snapshot:
            self._lifetime = _FIRST
            return super().finish(begun)
        messages, occurrences = self._faulty(block)
        parts = (part_of(messages),) if messages is not None and len(messages) else ()
        return Rendered(block, parts, snapshot, tuple(occurrences))

    def render(self, block: Block) -> MessageBatch | None:
        if block.snapshot_turn is not None:
            self._lifetime = _FIRST
            return super().render(block)
        return self._faulty(block)[0]

    def again(self, first: int, stop: int) -> Iterator[MessageBatch]:
        """The messages of turns as they come again: each transaction as the first after a crash at its end."""
        while first < stop:
            end = min(stop, self._lives.ceiling(first))
            self._lifetime = self._lives.crashed(first, end)
            if (messages := super().render(self.stream.read(first, end, self.needed))) is not None:
                yield messages
            first = end

    def _faulty(self, block: Block) -> tuple[MessageBatch | None, Sequence[Occurrence]]:
        """The messages of a block of turns, and the faults that occurred."""
        first, stop = block.first_turn, block.first_turn + block.turns
        if not self._faults.restarting:
            messages = super().render(block)
            if messages is None:
                return None, ()
            flow = Flow(spread(messages, None), self._seed)
        else:
            batches, restarts = list[MessageBatch](), list[Occurrence]()
            for segment in self._lives.segments(first, stop):
                batch = self._segment(block, segment, stop)
                if segment.ending is not None:
                    restarts.append(self._restart(segment.ending, batch))
                if batch is not None and len(batch):
                    batches.append(self._spread(batch, segment))
            if not batches:
                return None, restarts
            flow = Flow(joined(batches), self._seed)
            flow.occurrences += restarts
        self._apply(flow, stop)
        return flow.batch, sorted(flow.occurrences, key=lambda occurrence: (occurrence.order, occurrence.fault))

    def _segment(self, block: Block, segment: Segment, stop: int) -> MessageBatch | None:
        """The messages that one life sends, with the order keys of a run without faults."""
        self._lifetime = segment.lifetime
        if segment.ending is not None and segment.ending.kind == "second-snapshot":
            parts = [*self._snapshot(segment.ending), self._streamed(block, segment, stop)]
            sent = [part for part in parts if part is not None]
            return joined(sent) if sent else None
        return self._streamed(block, segment, stop)

    def _streamed(self, block: Block, segment: Segment, stop: int) -> MessageBatch | None:
        """The messages of changes that one life sends."""
        low, high = segment.low, segment.high
        if low is None and high is None:
            return super().render(block)
        if low is not None and low.turn >= stop:
            return None
        begin = block.first_turn if low is None else self._lives.floor(low.turn)
        end = stop if high is None else min(stop, self._lives.ceiling(high.turn))
        if end <= begin:
            return None
        messages = super().render(self.stream.read(begin, end, self.needed))
        if messages is None:
            return None
        is_sent = np.ones(len(messages), dtype=bool)
        if low is not None:
            is_sent &= ~below(messages, low)
        if high is not None:
            is_sent &= below(messages, high)
        return MessageBatch(messages.columns.filter(is_sent))

    def _snapshot(self, ending: Ending) -> Iterator[MessageBatch]:
        """The messages of a new snapshot, as if they came right before those of the turn that it interrupts. Raises
        UsageError if they are too many."""
        blocks = list(self.stream.snapshot_blocks(ending.stored.turn))
        if (rows := sum(block.rows for block in blocks)) > MOST_ROWS:
            raise UsageError(
                f"--faults second-snapshot: the tables have {rows:,} rows before turn {ending.stored.turn}; a snapshot "
                f"within a stream has {MOST_ROWS:,} at the most. Use a scenario with fewer."
            )
        first = lowest(ending.end.turn)
        for block in blocks:
            messages = super().render(self.stream.read_snapshot(block, self.needed))
            if messages is not None:
                same = np.ones(len(messages), dtype=np.int64)
                yield with_columns(
                    messages,
                    phase=pa.array(first.phase * same, pa.int8()),
                    turn=pa.array(first.turn * same),
                    ordinal=pa.array(first.ordinal * same),
                )

    def _restart(self, ending: Ending, batch: MessageBatch | None) -> Occurrence:
        """A restart as an occurrence: its position, and how many messages come again or are missing."""
        end = _key_for_people(ending.end)
        if ending.is_last:
            return Occurrence(ending.kind, end, "", None, 1, "sends nothing more")
        if ending.kind == "second-snapshot":
            turn = ending.stored.turn
            sent = max(0, -(-end.ordinal // STEP)) if end.turn < turn else 0
            missing = int(self.stream.count(end.turn, turn).sum()) - sent
            return Occurrence(ending.kind, end, "", None, missing, f"takes a snapshot before turn {turn}")
        again = 0 if batch is None else int(below(batch, ending.end).sum())
        return Occurrence(ending.kind, end, "", None, again, f"reads on from {_key_for_people(ending.stored)}")

    def _spread(self, batch: MessageBatch, segment: Segment) -> MessageBatch:
        try:
            return spread(batch, segment.new)
        except OverflowError:
            raise UsageError(
                f"--faults: the restart at {segment.new} repeats {len(batch):,} messages, more than a block can hold; "
                "store positions more often, as in flush=1000."
            ) from None

    # ------------------------------------------------------------------------------------------------- write times

    def _stamped(self, batch: ChangeBatch, write_ms: int | None) -> ChangeBatch:
        stamped = super()._stamped(batch, write_ms)
        envelope, life = stamped.envelope, self._lifetime.life
        if not (envelope.phase or life.number):
            return stamped
        written = envelope.write_ms
        if write_ms is None:
            turn = envelope.turn if envelope.phase else np.full_like(envelope.turn, _first_turn(life))
            written = self._written(envelope.write_ms, envelope.event_ms, turn)
        return replace(stamped, envelope=replace(envelope, write_ms=written, life=life))

    def _stamped_event(self, event: Event, write_ms: int | None) -> Event:
        event, life = super()._stamped_event(event, write_ms), self._lifetime.life
        if not (event.order.phase or life.number):
            return event
        if write_ms is None:
            turn = event.order.turn if event.order.phase else _first_turn(life)
            one = (np.array([number], dtype=np.int64) for number in (event.write_ms, event.event_ms, turn))
            event = replace(event, write_ms=int(self._written(*one)[0]))
        return replace(event, life=life)

    def _written(self, written: Ints, event_ms: Ints, turn: Ints) -> Ints:
        """Write times by the clock of the current life."""
        lifetime, rates = self._lifetime, self._faults.rates
        if lifetime.restart_ms:
            backlog_ms = np.maximum(event_ms - lifetime.begin_ms, 0) // CATCH_UP
            written = np.maximum(written, lifetime.restart_ms + backlog_ms)
        written = written + int(rates.get("clock-skew", 0))
        if share := rates.get("clock-step"):
            draws = bits(key(self._seed, "clock-step"), turn // WINDOW)
            step = drawn_below(draws, 2 * STEP_MS + 1) - STEP_MS
            written = written + np.where(chance(bits(key(self._seed, "clock-steps"), turn // WINDOW), share), step, 0)
        return written


def _first_turn(life: Life) -> int:
    """The turn of the first message of a life after the first."""
    assert life.first_new is not None
    return life.first_new.turn


def _key_for_people(key: OrderKey) -> OrderKey:
    """A key for people: the beginning of a turn is shown as that of its transaction."""
    return replace(key, ordinal=max(key.ordinal, BEGIN))
