"""Renderer of a run with faults: the messages that a run without them sends, as they come from a product that restarts
and over a way that loses, repeats and damages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from simulator.batch import ChangeBatch, MessageBatch
from simulator.delivery.parts import part_of
from simulator.delivery.redelivery import CATCH_UP, Lifetime
from simulator.errors import UsageError
from simulator.model import Event, Life, OrderKey
from simulator.order import BEGIN
from simulator.run.faults.apply import WINDOW, Application
from simulator.run.faults.flow import Flow, Occurrence, below, joined, spread
from simulator.run.faults.lives import Lives, Segment
from simulator.run.faults.spec import Faults
from simulator.run.render import Rendered, Renderer
from simulator.stream.engine.block import Block
from simulator.values.draw import Ints, bits, chance, key
from simulator.values.draw import below as drawn_below

# Milliseconds by which a clock step is ahead or behind at the most.
STEP_MS = 60_000


class FaultyRenderer(Renderer):
    """Renders blocks under faults. A snapshot has none but `overlap`, which the plan of a run knows."""

    def __init__(self, *args: Any, faults: Faults, seed: int, **options: Any) -> None:
        super().__init__(*args, **options)
        self._faults, self._seed = faults, seed
        unit = self.codec.layout.packing.window_turns(self.stream.block_turns)
        self._lives = Lives(self.stream, self.codec.layout.redelivery, faults, seed, unit=unit)
        self._lifetime = Lifetime(Life())
        binary = self.codec.format.binary
        self._apply = Application(faults, self.stream, seed, binary, self._transaction)

    def _transaction(self, turn: int) -> tuple[int, int]:
        return self._lives.floor(turn), self.stream.border(turn + 1)

    def finish(self, begun: tuple[Block, bool]) -> Rendered:
        block, snapshot = begun
        if snapshot:
            return super().finish(begun)
        messages, occurrences = self._faulty(block)
        parts = (part_of(messages),) if messages is not None and len(messages) else ()
        return Rendered(block, parts, snapshot, tuple(occurrences))

    def render(self, block: Block) -> MessageBatch | None:
        if block.snapshot_turn is not None:
            return super().render(block)
        return self._faulty(block)[0]

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
                    restarts.append(_restart(segment, batch))
                if batch is not None and len(batch):
                    batches.append(self._spread(batch, segment))
            if not batches:
                return None, restarts
            flow = Flow(joined(batches), self._seed)
            flow.occurrences += restarts
        self._apply(flow, stop)
        return flow.batch, sorted(flow.occurrences, key=lambda each: (each.order, each.fault))

    def _segment(self, block: Block, segment: Segment, stop: int) -> MessageBatch | None:
        """The messages that one life sends, with the order keys of a run without faults."""
        self._lifetime = segment.lifetime
        low, high = segment.low, segment.high
        if low is None and high is None:
            return super().render(block)
        begin, end = block.first_turn, stop
        if low is not None:
            begin = self._lives.floor(low.turn)
        if high is not None:
            end = self._lives.span(high, high, stop)[1]
        if end <= begin:
            return None
        messages = super().render(self.stream.read(begin, end, self.needed))
        if messages is None:
            return None
        wanted = np.ones(len(messages), dtype=bool)
        if low is not None:
            wanted &= ~below(messages, low)
        if high is not None:
            wanted &= below(messages, high)
        return MessageBatch(messages.columns.filter(wanted))

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
        envelope = stamped.envelope
        if not envelope.phase:
            return stamped
        written = envelope.write_ms if write_ms is not None else self._written(envelope)
        return replace(stamped, envelope=replace(envelope, write_ms=written, life=self._lifetime.life))

    def _written(self, envelope: Any) -> Ints:
        lifetime = self._lifetime
        written: Ints = envelope.write_ms
        if lifetime.restart_ms:
            behind = np.maximum(envelope.event_ms - lifetime.begin_ms, 0) // CATCH_UP
            written = np.maximum(written, lifetime.restart_ms + behind)
        return self._skewed(written, envelope.turn)

    def _skewed(self, written: Ints, turn: Ints) -> Ints:
        rates = self._faults.rates
        written = written + int(rates.get("clock-skew", 0))
        if share := rates.get("clock-step"):
            draws = bits(key(self._seed, "clock-step"), turn // WINDOW)
            step = drawn_below(draws, 2 * STEP_MS + 1) - STEP_MS
            written = written + np.where(chance(bits(key(self._seed, "clock-steps"), turn // WINDOW), share), step, 0)
        return written

    def _stamped_event(self, event: Event, write_ms: int | None) -> Event:
        event = super()._stamped_event(event, write_ms)
        if not event.order.phase:
            return event
        if write_ms is None:
            lifetime, written = self._lifetime, event.write_ms
            if lifetime.restart_ms:
                written = max(written, lifetime.restart_ms + max(0, event.event_ms - lifetime.begin_ms) // CATCH_UP)
            one = np.array([written], dtype=np.int64)
            event = replace(event, write_ms=int(self._skewed(one, np.array([event.order.turn], dtype=np.int64))[0]))
        return replace(event, life=self._lifetime.life)


def _restart(segment: Segment, batch: MessageBatch | None) -> Occurrence:
    """A restart as an occurrence: where it fell, and how many messages came again."""
    ending = segment.ending
    assert ending is not None
    again = 0 if batch is None else int(below(batch, ending.end).sum())
    return Occurrence(ending.kind, _shown(ending.end), "", None, again, f"reads on from {_shown(ending.stored)}")


def _shown(key: OrderKey) -> OrderKey:
    """A key for people: the begin of a turn is that of its transaction."""
    return replace(key, ordinal=max(key.ordinal, BEGIN))
