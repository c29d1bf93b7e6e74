"""Resumed runs (`--resume`): a run continues where an earlier one ended and does not send its messages again.

`Resumed(file, identity)` locks the file and checks that the run is the same, `ask(sink)` that the destination is; then
`check_end(plan)`, and for each block `missing`, `sending` and `save`.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from simulator.batch import MessageBatch
from simulator.errors import SimulatorError, UsageError, counted
from simulator.model import OrderKey
from simulator.order import following
from simulator.run import bookmark
from simulator.run.bookmark import Bookmark, Lock
from simulator.run.plan import Plan
from simulator.sinks.ledger import Ledger, Place, Position, by_partition
from simulator.sinks.sink import FileState, Sink


class Resumed:
    """A resumable run: skips messages that have arrived, and keeps the file up to date with what arrives.

    `part`, if set, returns the record of this part of the run, which is saved with the position; `seconds` is the time
    spent sending turns, in all parts of the run.
    """

    def __init__(self, file: Path, identity: Mapping[str, str]) -> None:
        """Raises UsageError for a file of another run, a damaged file, and a file that another run is using."""
        self.file = file
        self.part: Callable[[], dict[str, Any]] | None = None
        self.seconds: Callable[[], float] = lambda: self.before.seconds
        self._lock = Lock(file)
        try:
            before = bookmark.read(file)
            if before is not None:
                bookmark.check(file, before.identity, identity)
        except BaseException:
            self._lock.close()
            raise
        self.begins = before is None or (before.position.next is None and before.sent is None)
        self.before = before or Bookmark(identity)
        self._mark = replace(self.before, done=False)
        # Messages sent again since an earlier part may have sent them already, in all parts of the run.
        self._repeated: Counter[Place] = Counter(self.before.repeated)
        self._writing = threading.RLock()
        self._is_over = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with self._writing:
            self._is_over = True
        self._lock.close()

    @property
    def repeated(self) -> Counter[Place]:
        """Messages that were sent again, in all parts of the run: a part ended before they were acknowledged, or an
        earlier part resent them after a broken connection."""
        return self._repeated

    def ask(self, sink: Sink) -> None:
        """Takes the position from the destination if it stores one. Raises UsageError if the destination has
        changed."""
        ledger = sink.ledger
        ledger.keep_repeated = lambda: self._keep_repeated(ledger)
        settings = sink.settings_of_places()
        if self.begins:
            self._mark = replace(self._mark, settings=settings)
        else:
            bookmark.check(self.file, self.before.settings, settings)
            self._check_arrived(sink)
        if self.before.files:  # files are truncated to the position
            self.before = replace(self.before, sent=None)
        stored = sink.stored(self._mark.run_id, self._mark.partitions)
        if stored == "nowhere" or self.begins:
            return
        arrived = max(self.before.position.acknowledged.values(), default=None)
        if arrived is not None and (stored is None or stored < arrived):
            raise UsageError(
                f"--resume {self.file}: messages up to {arrived} were committed, and the broker knows of"
                f" {'none' if stored is None else f'those up to {stored}'}: its topics were deleted, or it has"
                " forgotten the run's position since; begin anew with another resume file."
            )
        position = Position(None if stored is None else following(stored), {})
        # nothing is sent twice: readers do not see uncommitted messages
        self.before = replace(self.before, position=position, sent=None)
        self._mark = replace(self._mark, position=position, sent=None)

    def _check_arrived(self, sink: Sink) -> None:
        """Raises UsageError if messages that had arrived are gone: nobody would send them again. Topics that have
        another count of partitions now are left to `missing`."""
        before = self.before
        most = {topic: sink.most_arrived(topic) for topic in {topic for topic, _ in before.arrived}}
        for (topic, partition), count in sorted(before.arrived.items()):
            counts = most[topic]
            if counts is None or len(counts) not in (0, before.partitions.get(topic)):
                continue
            if not counts or counts[partition] < count:
                raise UsageError(
                    f"--resume {self.file}: {counted(count, 'message')} had arrived at topic {topic!r}, partition"
                    f" {partition}, and it cannot have as many now: it was deleted since, or the broker has lost"
                    " messages; begin anew with another resume file."
                )

    @property
    def files(self) -> Mapping[str, FileState] | None:
        """State of each file at the position; None for a run that starts from the beginning."""
        if self.begins:
            return None
        mark = self.before
        # whether all that was sent has arrived: nothing of the run stands behind the position then
        ended = mark.done or mark.sent is None or (mark.position.next is not None and mark.position.next > mark.sent)
        return {name: replace(state, may_grow=not ended) for name, state in mark.files.items()}

    @property
    def start(self) -> OrderKey | None:
        """The first order key that may be missing on a partition."""
        return self.before.position.next

    def check_end(self, plan: Plan) -> None:
        """Raises UsageError if an earlier part went beyond the end of this run."""
        if self.begins:
            return
        keys = [self.before.sent, *self.before.position.acknowledged.values()]
        if (stop := plan.counted().stop) is None:
            return
        turns = [key.turn for key in keys if key is not None and key.phase]
        if self.start is not None and self.start.phase:  # at the first key of a turn nothing of it has arrived
            turns.append(self.start.turn if self.start.ordinal > 0 else self.start.turn - 1)
        if (last := max(turns, default=-1)) >= stop:
            raise UsageError(
                f"--resume {self.file}: that run is at turn {last} already, beyond the end of this one, turn"
                f" {stop - 1}; raise its limit, or name another file."
            )

    def first_turn(self, first: int, missing: MessageBatch | None) -> int:
        """The first turn at or after `first` that had not arrived completely; `missing` are the missing messages of its
        block."""
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
        return batch if wanted.all() else MessageBatch(batch.columns.filter(pa.array(wanted)))

    def sending(self, batch: MessageBatch, sink: Sink) -> None:
        """Notes that a batch may arrive from now on, and counts its messages that an earlier part may have sent.
        Call it once for each message, before sending it."""
        # the last message, unless faults delay a partition
        turns = np.asarray(batch["turn"])
        last = batch.order_key(len(batch) - 1)
        if turns.max() > last.turn:
            last = batch.order_key(int(turns.argmax()))
        known = self._mark.partitions
        topics = {topic: sink.partitions(topic) for topic in batch["topic"].unique().to_pylist() if topic not in known}
        sent = last if self._mark.sent is None else max(self._mark.sent, last)
        batch = sink.place(batch)
        new = {name: FileState(0, "") for name in sink.new_files(batch)}
        files = {**self._mark.files, **new}
        with self._writing:
            self._repeated.update(self._sent_before(batch))
            self._mark = replace(self._mark, sent=sent, partitions={**known, **topics}, files=files)
            self.save(sink)
            if new:  # only then are they its own: before that, another run may have created one
                sink.make_files(batch)
                self.save(sink)

    def _sent_before(self, batch: MessageBatch) -> dict[Place, int]:
        """Number of messages that an earlier part may have sent, by partition."""
        if self.before.sent is None:
            return {}
        again = _below(batch, self.before.sent, also=True)
        return {place: int(again[rows].sum()) for place, rows in by_partition(batch)} if again.any() else {}

    def save(self, sink: Sink, *, done: bool = False) -> None:
        with self._writing:
            self._mark = replace(
                self._mark,
                position=bookmark.merged(self.before.position, sink.ledger.position()),
                arrived=Counter(self.before.arrived) + sink.ledger.arrived,
                files={**self._mark.files, **sink.files()},
                parts=[*self.before.parts, *([] if self.part is None else [self.part()])],
                seconds=round(self.seconds(), 3),
                done=done,
            )
            self._keep_repeated(sink.ledger)

    def _keep_repeated(self, ledger: Ledger) -> None:
        """Writes the file with the current count of repeated messages. A thread of the sink calls this before it sends
        messages again: should the run be killed then, its count has them."""
        with self._writing:
            if self._is_over:  # another run may have the file now
                raise SimulatorError("the run is over.")
            self._mark = replace(self._mark, repeated=+(self._repeated + ledger.repeated))
            bookmark.write(self.file, self._mark)


def _below(batch: MessageBatch, key: OrderKey, *, also: bool = False) -> Any:
    """Mask of the messages with an order key below this one; `also`: or equal to it."""
    phase, turn, ordinal = (np.asarray(batch[name]) for name in ("phase", "turn", "ordinal"))
    last = ordinal <= key.ordinal if also else ordinal < key.ordinal
    return (phase < key.phase) | ((phase == key.phase) & ((turn < key.turn) | ((turn == key.turn) & last)))


def rest(plan: Plan, start: OrderKey) -> Plan:
    """The plan from the block with this order key on; an incomplete snapshot is read again from its start."""
    if start.phase == 0:
        return plan
    plan = plan.counted()
    number = start.turn // plan.step
    while plan.block(number).first > start.turn and number > plan.first // plan.step:
        number -= 1
    return replace(plan, first=plan.block(number).first, snapshot=False)
