"""A run that goes on where an earlier one ended (`--resume`): what arrived then is not sent again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from simulator.batch import MessageBatch
from simulator.errors import UsageError
from simulator.model import OrderKey
from simulator.run import bookmark
from simulator.run.bookmark import Bookmark
from simulator.run.plan import Plan
from simulator.sinks.ledger import Position
from simulator.sinks.sink import Sink


class Resumed:
    """A run that can be gone on with: what arrived before is not sent again, and the file follows what arrives."""

    def __init__(self, file: Path, identity: Mapping[str, str]) -> None:
        self.file = file
        found = bookmark.read(file)
        if found is not None:
            found.check(identity, file)
        self.begins = found is None or (found.position.next is None and found.sent is None)
        self.before = found or Bookmark(identity)
        self._mark = replace(self.before, done=False)
        # Messages that an earlier run may have sent and that are sent again.
        self.repeated = 0

    def ask(self, sink: Sink) -> None:
        """Take the destination's word where it keeps the position itself."""
        if self.before.sizes:  # files are cut to the position
            self.before = replace(self.before, sent=None)
        stored = sink.stored()
        if stored == "nowhere" or self.begins:
            return
        following = None if stored is None else replace(stored, ordinal=stored.ordinal + 1)
        position = Position(following, {})
        # nothing is sent twice: what was not committed counts for no reader
        self.before = replace(self.before, position=position, sent=None)
        self._mark = replace(self._mark, position=position, sent=None)

    @property
    def sizes(self) -> Mapping[str, int] | None:
        """The bytes of each file up to the position; None where the run begins anew."""
        return None if self.begins else self.before.sizes

    @property
    def start(self) -> OrderKey | None:
        """The first order key that may be missing somewhere."""
        return self.before.position.next

    def first_turn(self, first: int, missing: MessageBatch | None) -> int:
        """The first turn at or after `first` of which not all had arrived; these messages of its block are missing."""
        start = None if self.begins else self.start
        if start is None or start.phase == 0 or start.turn < first:
            return first
        in_part = missing is not None and start.turn in np.asarray(missing["turn"])
        return start.turn if start.ordinal <= 0 or in_part else start.turn + 1

    def missing(self, batch: MessageBatch, sink: Sink) -> MessageBatch:
        """The messages that have not arrived yet."""
        start, arrived = self.start, self.before.position.acknowledged
        if not len(batch) or self.begins:
            return batch
        for topic, count in self.before.partitions.items():
            if sink.partitions(topic) != count:
                raise UsageError(
                    f"--resume {self.file}: topic {topic!r} had {count} partitions, and now it has"
                    f" {sink.partitions(topic)}; give it as many again, or name another file."
                )
        batch = sink.place(batch)
        wanted = np.ones(len(batch), dtype=bool) if start is None else ~_below(batch, start)
        names = batch["topic"].dictionary.to_pylist()
        topics, partitions = np.asarray(batch["topic"].indices), np.asarray(batch["partition"])
        for (topic, partition), key in arrived.items():
            if topic in names:
                rows = (topics == names.index(topic)) & (partitions == partition)
                wanted[rows & _below(batch, key, also=True)] = False
        if self.before.sent is not None:
            self.repeated += int((wanted & _below(batch, self.before.sent, also=True)).sum())
        return batch if wanted.all() else MessageBatch(batch.columns.filter(pa.array(wanted)))

    def sending(self, batch: MessageBatch, sink: Sink) -> None:
        """Called before a batch is sent: all of it may arrive."""
        last = batch.order_key(len(batch) - 1)
        known = self._mark.partitions
        topics = {topic: sink.partitions(topic) for topic in batch["topic"].unique().to_pylist() if topic not in known}
        sent = last if self._mark.sent is None else max(self._mark.sent, last)
        self._mark = replace(self._mark, sent=sent, partitions={**known, **topics})
        self.save(sink)

    def save(self, sink: Sink, *, done: bool = False) -> None:
        position = bookmark.merged(self.before.position, sink.ledger.position())
        self._mark = replace(self._mark, position=position, sizes={**self._mark.sizes, **sink.sizes()}, done=done)
        bookmark.write(self.file, self._mark)


def _below(batch: MessageBatch, key: OrderKey, *, also: bool = False) -> Any:
    """Which messages have an order key below this one; `also`: or this one."""
    phase, turn, ordinal = (np.asarray(batch[name]) for name in ("phase", "turn", "ordinal"))
    last = ordinal <= key.ordinal if also else ordinal < key.ordinal
    return (phase < key.phase) | ((phase == key.phase) & ((turn < key.turn) | ((turn == key.turn) & last)))


def rest(plan: Plan, start: OrderKey) -> Plan:
    """The plan from the block that has this order key; a snapshot that is not whole is read again from its start."""
    if start.phase == 0:
        return plan
    plan = plan.counted()
    number = start.turn // plan.step
    while plan.block(number).first > start.turn and number > plan.first // plan.step:
        number -= 1
    return replace(plan, first=plan.block(number).first, snapshot=False)
