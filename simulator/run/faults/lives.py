"""Lives of a product's process: where each ends and where the next resumes, as a closed form of seed and turn.

The stream is cut into windows of a fixed number of turns. A window has at most one restart. The row before which it
occurs, its kind and the time since the position was last stored are drawn by hashing the window's number. The next life
resumes at the stored position, which is within the window. So the life that writes a change follows from the restarts
of two windows, wherever a process begins to read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from simulator.delivery.redelivery import CATCH_UP, Lifetime, Redelivery
from simulator.model import Life, OrderKey, SchemaChange
from simulator.order import COMMIT, STEP
from simulator.run.faults.spec import MILLION, RESTARTS, Faults, Restart
from simulator.stream.engine.block import FARTHEST, WRITE_LAG_MS, Stream
from simulator.values.draw import below, bits, key, unit

# Maximum turns that come again, so that memory is bounded.
MOST_TURNS: Final = 1 << 16
# Maximum windows to search back for the last restart, and lives that may still be catching up when the next begins.
MOST_BACK: Final = 64
MOST_LAGGING: Final = 4
# Milliseconds from the end of a process to the first message of the next (captured: 2 to 10 s; a takeover: decided).
RESTART_MS: Final[Mapping[Restart, tuple[int, int]]] = {
    "crash": (2_000, 10_000),
    "stop": (2_000, 10_000),
    "failover": (30_000, 60_000),
    "second-snapshot": (2_000, 10_000),
}
# Stored position of a life that sends nothing: beyond all turns.
NEVER: Final = OrderKey(1, FARTHEST + 1, 0)


@dataclass(frozen=True, slots=True)
class Ending:
    """A restart: messages below `end` were sent before it, and the next life, `number`, resumes at `stored`. A new
    snapshot is taken there; after the failure of a task, `stored` is beyond all turns.
    """

    kind: Restart
    number: int
    end: OrderKey
    stored: OrderKey
    draw: float

    @property
    def is_last(self) -> bool:
        return self.stored == NEVER


@dataclass(frozen=True, slots=True)
class Segment:
    """Messages of one life: the keys [low, high), where None is open; those below `new` were written before. `ending`
    is the restart before it, if that falls into the block."""

    lifetime: Lifetime
    low: OrderKey | None
    high: OrderKey | None
    new: OrderKey | None
    ending: Ending | None


class Lives:
    """The lives of a run of a stream. `unit`: blocks of messages begin at multiples of this many turns."""

    def __init__(self, stream: Stream, rule: Redelivery, faults: Faults, seed: int, *, unit: int = 1) -> None:
        self.stream, self.rule, self._faults, self._unit = stream, rule, faults, unit
        self._key = key(seed, "restarts")
        total = sum(faults.restarts.values())
        self._turns = max(2, int(MILLION / total)) if total else 0
        self._interval_ms = int(faults.rates.get("flush", 0)) or rule.interval_ms
        self.ending: Callable[[int], Ending | None] = lru_cache(maxsize=1024)(self._ending)
        self.lifetime: Callable[[int], Lifetime] = lru_cache(maxsize=1024)(self._lifetime)
        self._starts: Callable[[int], int] = lru_cache(maxsize=1024)(self._first_txn)

    # -------------------------------------------------------------------------------------------------------- segments

    def segments(self, first: int, stop: int) -> Iterator[Segment]:
        """Segments of the messages of the turns [first, stop), in the order of sending."""
        low: OrderKey | None = None
        new: OrderKey | None = None
        before: Ending | None = None
        number = self._number_at(lowest(first))
        if (earlier := self.ending(number) if number else None) is not None and earlier.stored.turn > first:
            low = earlier.stored
        for ending in self._endings(first, stop):
            yield Segment(self.lifetime(number), low, ending.end, new, before)
            number, low, new, before = ending.number, ending.stored, ending.end, ending
        yield Segment(self.lifetime(number), low, None, new, before)

    def _endings(self, first: int, stop: int) -> Iterator[Ending]:
        if self._faults.places:
            for number in range(1, len(self._faults.places) + 1):
                ending = self.ending(number)
                if ending is not None and first <= ending.end.turn < stop:
                    yield ending
            return
        for window in range(first // self._turns, -(-stop // self._turns) + 1):
            ending = self.ending(window + 1)
            if ending is not None and first <= ending.end.turn < stop:
                yield ending

    def _number_at(self, key: OrderKey) -> int:
        """Number of the life that is current at a key."""
        if self._faults.places:
            ends = [
                n for n in range(1, len(self._faults.places) + 1) if (e := self.ending(n)) is not None and e.end <= key
            ]
            return max(ends, default=0)
        latest = max(key.turn, 0) // self._turns + 1
        for number in range(latest, max(0, latest - MOST_BACK), -1):
            ending = self.ending(number)
            if ending is not None and ending.end <= key:
                return number
        return 0

    # --------------------------------------------------------------------------------------------------------- restarts

    def _ending(self, number: int) -> Ending | None:
        """The restart before life `number`; None if its window has no room for one."""
        stream = self.stream
        if self._faults.places:
            fixed_restart = self._faults.places[number - 1]
            if stream.turns is not None and fixed_restart.key.turn >= stream.turns:
                return None
            # a life never resumes before the run's first turn
            low = stream.border(self._faults.first)
            earlier = next((e for n in range(number - 1, 0, -1) if (e := self.ending(n)) is not None), None)
            if earlier is not None and earlier.stored.turn > fixed_restart.key.turn:
                return None
            if earlier is not None:
                low = max(low, self.floor(earlier.stored.turn))
            if fixed_restart.key.turn < low:
                return None
            draw = float(unit(bits(self._key, np.array([number])))[0])
            kind, end = fixed_restart.kind, self._end(fixed_restart.kind, fixed_restart.key)
            if kind == "second-snapshot":
                turn = (
                    self._away(kind, end, draw, FARTHEST) if fixed_restart.stored is None else fixed_restart.stored.turn
                )
                return Ending(kind, number, end, lowest(self._border(turn)), draw)
            stored = max(fixed_restart.stored or self._stored(kind, end, low, draw), lowest(low))
            if kind == "task-failure":
                kind, stored = ("task-failure", NEVER) if self._fails(stored, end) else ("crash", stored)
            return Ending(kind, number, end, stored, draw)
        window = number - 1
        low, stop = (stream.border(number * self._turns) for number in (window, window + 1))
        low = max(low, stream.border(self._faults.first))
        if stream.turns is not None:
            stop = min(stop, stream.turns)
        if stop - low < 2:
            return None
        draws = bits(self._key, np.arange(4, dtype=np.int64) + 4 * number)
        share = unit(draws)
        turn = low + 1 + int(below(draws[:1], stop - low - 1)[0])
        rows = int(stream.count(turn, turn + 1)[0])
        weights = np.cumsum([self._faults.restarts[kind] for kind in RESTARTS])
        kind = RESTARTS[int(np.searchsorted(weights, share[1] * weights[-1], side="right"))]
        end = self._end(kind, OrderKey(1, turn, STEP * int(below(draws[2:3], rows + 1)[0])))
        if end.turn <= low or end.turn >= stop:
            return None
        if kind == "second-snapshot":
            turn = self._away(kind, end, float(share[3]), stop)
            return Ending(kind, number, end, lowest(turn), float(share[3]))
        low = max(low, stream.border(max(0, end.turn - MOST_TURNS)))
        stored = self._stored(kind, end, min(low, self.floor(end.turn)), float(share[3]))
        return Ending(kind, number, end, stored, float(share[3]))

    def _end(self, kind: Restart, end: OrderKey) -> OrderKey:
        """The first key that is not sent before a restart. A product that repeats nothing after a clean stop ends its
        transaction first, if it reads whole ones."""
        if kind == "stop" and self.rule.stop == "nothing" and self.rule.resumes != "record":
            return lowest(self.stream.border(end.turn))
        return end

    def _stored(self, kind: Restart, end: OrderKey, low: int, draw: float) -> OrderKey:
        """The key at which the next life resumes."""
        stream, rule = self.stream, self.rule
        if kind == "stop":
            return end if rule.resumes == "record" else lowest(self.floor(end.turn))
        # a process that takes over uses the position that the other one stored
        committed = self._ms(self.ceiling(end.turn))
        tick = committed - int(draw * self._interval_ms)
        if rule.resumes == "second":
            tick = tick // 1000 * 1000 - 1
        turn = self._transaction_after(tick, low, self.floor(end.turn))
        if rule.resumes != "record":
            return lowest(turn)
        last = min(stream.border(turn + 1) - 1, end.turn)
        fine = int(draw * MILLION * 1009) % 1009  # a second draw: position within the transaction
        if fine % 2 and turn > self._faults.first:
            # the stored position is the end of a transaction
            if not rule.repeats_commit:
                return lowest(turn)
            rows = int(stream.count(turn - 1, turn)[0])
            return OrderKey(1, turn - 1, STEP * (rows - 1) + COMMIT)
        turn += fine % (last - turn + 1)
        row = fine % (int(stream.count(turn, turn + 1)[0]) + 1)
        return min(OrderKey(1, turn, STEP * row), end)

    def _away(self, kind: Restart, end: OrderKey, draw: float, stop: int) -> int:
        """The border, before turn `stop`, at which a new process takes its snapshot."""
        first = self.ceiling(end.turn)
        stop = max(first, self._border(min(stop, first + MOST_TURNS)))
        return self._transaction_after(self._ms(first) + _delay_ms(kind, draw), first, stop)

    def _fails(self, stored: OrderKey, end: OrderKey) -> bool:
        """Whether rows come again that precede a change of their table's column count."""
        block = self.stream.read(self.floor(stored.turn), self.ceiling(end.turn))
        for event in block.events:
            if not (isinstance(event, SchemaChange) and event.before and event.after and stored <= event.order < end):
                continue
            old = [batch.envelope for batch in block.batches if batch.table.id == event.before.id]
            if len(event.before.columns) != len(event.after.columns) and any(
                stored <= OrderKey(1, int(turn), int(ordinal)) < event.order
                for envelope in old
                for turn, ordinal in zip(envelope.turn, envelope.ordinal, strict=True)
            ):
                return True
        return False

    # ------------------------------------------------------------------------------------------------ turns and times

    def floor(self, turn: int) -> int:
        """The last border of blocks of messages at or before a turn."""
        low, step = turn, 1
        while low > 0 and self._border(low) > turn:
            low, step = max(0, low - step), 2 * step
        high = turn  # border(low) <= turn
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._border(middle) <= turn else (low, middle - 1)
        return self._border(low)

    def ceiling(self, turn: int) -> int:
        """The first border of blocks of messages after a turn."""
        return self._border(turn + 1)

    def _border(self, turn: int) -> int:
        border = self.stream.border(-(-turn // self._unit) * self._unit)
        return border if self.stream.turns is None else min(border, self.stream.turns)

    def _ms(self, border: int) -> int:
        """Commit time of the transaction before a border, epoch milliseconds."""
        last = border if self.stream.turns is None else min(border, self.stream.turns - 1)
        return int(self.stream.previous_ms(np.array([last], dtype=np.int64))[0])

    def _transaction_after(self, tick: int, low: int, high: int) -> int:
        """The last border in [low, high] before which all transactions were committed by a time."""
        left, right = low, high
        while left < right:
            middle = (left + right + 1) // 2
            left, right = (middle, right) if self._ms(middle) <= tick else (left, middle - 1)
        return max(low, self.floor(left))

    # ------------------------------------------------------------------------------------------------------ lifetimes

    def _lifetime(self, number: int) -> Lifetime:
        ending = self.ending(number) if number else None
        return Lifetime(Life()) if ending is None or ending.is_last else self._after(ending, MOST_LAGGING)

    def crashed(self, first: int, stop: int) -> Lifetime:
        """The life after a crash at turn `stop`, which sends the turns from `first` again."""
        return self._after(Ending("crash", 1, lowest(stop), lowest(first), 0.5), 0)

    def _after(self, ending: Ending, depth: int) -> Lifetime:
        life = Life(ending.number, self._starts(ending.stored.turn), ending.end)
        restart_ms = self._restart_ms(ending, depth) if self.rule.rewrites else 0
        return Lifetime(life, restart_ms, self._ms(self.floor(ending.stored.turn)))

    def _restart_ms(self, ending: Ending, depth: int) -> int:
        """Time of a life's first message: some seconds after the last message of the previous life."""
        commit_ms = self._ms(self.ceiling(ending.end.turn))
        delay = self.stream.delay
        last_ms = commit_ms + (WRITE_LAG_MS if delay is None else delay.high_ms)
        earlier = self._number_at(OrderKey(1, ending.end.turn, ending.end.ordinal - 1)) if depth else 0
        if earlier and earlier < ending.number and (before := self.ending(earlier)) is not None:
            begin_ms = self._ms(self.floor(before.stored.turn))
            last_ms = max(last_ms, self._restart_ms(before, depth - 1) + max(0, commit_ms - begin_ms) // CATCH_UP)
        return last_ms + _delay_ms(ending.kind, ending.draw)

    def _first_txn(self, turn: int) -> int:
        """Number of the transaction that a turn belongs to."""
        first = self.floor(turn)
        block = self.stream.read(first, self.ceiling(first))
        numbers = [int(batch.envelope.txn.min()) for batch in block.batches if len(batch)]
        return min([*numbers, *(event.txn for event in block.events)], default=1)


def lowest(turn: int) -> OrderKey:
    """The lowest key of a turn."""
    return OrderKey(1, turn, -(1 << 40))


def _delay_ms(kind: Restart, draw: float) -> int:
    """Milliseconds from the end of a process to the first message of the next."""
    low, high = RESTART_MS[kind]
    return low + int(draw * (high - low))
