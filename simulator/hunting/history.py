"""The messages of a case as a consumer gets them, and the rows that a correct consumer then holds."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np
import pyarrow as pa

from simulator.batch import ChangeBatch, MessageBatch
from simulator.formats.options import parse_format
from simulator.hunting.case import Case
from simulator.hunting.rows import Identity, groups_of, only, rows_left
from simulator.library import Simulation, expected_of
from simulator.model import DELETE, Kind, Message, SchemaChange
from simulator.run.faults.edits import compact
from simulator.run.faults.spec import NONE
from simulator.run.job import SINGLE_TURNS, Job, Partitions, job_of
from simulator.run.plan import Limits
from simulator.stream.engine.block import Block
from simulator.truth import decoders
from simulator.truth.decoders.change import Change
from simulator.truth.known import KnownRows
from simulator.truth.verify.tables.comparer import ExpectedTable
from simulator.values.draw import below, bits, key

# Whole tables are read before this turn only: later they may have any number of rows.
NEAR: Final = 5_000
# Lengths of the stretches in which partitions run ahead of each other.
STRETCHES: Final = (1, 3, 20)


@lru_cache(maxsize=16)
def _job(
    scenario: str, format: str, source: str | None, seed: int | None, settings: tuple[str, ...], faults: str
) -> Job:
    """The job of a case; cases that differ in turns or rows alone share it."""
    return job_of(Case(scenario, format, source, seed, settings, faults=faults).subject)


def history_of(case: Case) -> History:
    """The history of a case. Raises UsageError."""
    job = _job(case.scenario, case.format, case.source, case.seed, case.settings, case.faults)
    limits = Limits(case.first_turn, None, case.turns)
    job = job.addressed(partitions=Partitions(case.partitions)).starting(limits)
    return History(case, Simulation(job, job.plan(limits, snapshot=case.snapshot, most_turns=SINGLE_TURNS).counted()))


@dataclass(frozen=True)
class History:
    """A run in memory of which only some rows may be sent, and whose partitions may run ahead of each other."""

    case: Case
    run: Simulation

    @property
    def job(self) -> Job:
        return self.run.job

    def _only(self, block: Block) -> Block:
        rows = self.case.rows
        return block if rows is None else only(block, rows, self.job.stream.source)

    @cached_property
    def _read(self) -> list[Block]:
        return [self.job.stream.read_block(where) for where in self.run.plan.all_blocks()]

    @cached_property
    def blocks(self) -> list[Block]:
        """The changes and events that are sent."""
        return [self._only(block) for block in self._read]

    @property
    def changes(self) -> list[ChangeBatch]:
        return [batch for block in self.blocks for batch in block.batches]

    # --------------------------------------------------------------------------------------------------------- messages

    def rendered(self, job: Job) -> MessageBatch:
        """The messages as a job like that of the case sends them."""
        render = job.renderer(only=self._only).render
        batches = [batch.columns for block in self._read if (batch := render(block)) is not None]
        return MessageBatch(pa.Table.from_batches(batches).combine_chunks().to_batches()[0]) if batches else NO_MESSAGES

    @cached_property
    def faultless(self) -> MessageBatch:
        """The messages in stream order, as they come where nothing goes wrong."""
        return self.rendered(replace(self.job, faults=NONE))

    @cached_property
    def sent(self) -> MessageBatch:
        """The messages as they are sent, with faults."""
        return self.rendered(self.job) if self.job.faults else self.faultless

    @cached_property
    def arrived(self) -> MessageBatch:
        """The messages in the order of their arrival."""
        if not self.case.arrival or self.case.partitions == 1:
            return self.sent
        order = arrivals(list(self.sent.messages()), self.case.partitions, self.case.arrival)
        return MessageBatch(self.sent.columns.take(pa.array(order, pa.int64())))

    @property
    def is_survivable(self) -> bool:
        """Whether a consumer that applies each change by its key, and leaves out what it cannot read, ends with the
        same rows as where nothing goes wrong."""
        return self.arrived is self.faultless or self._applied(self.arrived) == self._applied(self.faultless)

    @property
    def is_survivable_in_any_order(self) -> bool:
        """Whether that holds for one partition read after the other, in both directions, too."""
        messages = list(self.sent.messages())
        lanes = [(message.topic, partition_of(message, self.case.partitions)) for message in messages]
        expected_rows = self._applied(self.faultless)
        for reverse in (False, True):
            order = sorted(range(len(messages)), key=lanes.__getitem__, reverse=reverse)
            if self._applied(MessageBatch(self.sent.columns.take(pa.array(order, pa.int64())))) != expected_rows:
                return False
        return True

    def _applied(self, batch: MessageBatch) -> dict[Identity, Any]:
        keys = {table.id.name: table.primary_key for table in self.job.stream.first_tables}
        decoder, options = decoders.find(self.job.format), parse_format(self.job.format)[1]
        rows = dict[Identity, Any]()
        for message in batch.messages():
            try:
                items = (
                    []
                    if message.value is None
                    else decoders.items_of(decoder, decoder.parse(compact(message.value), options))
                )
            except ValueError:
                continue
            for item in items:
                if not isinstance(item, Change):
                    continue
                names = keys.get(item.table, ())
                if item.before is not None:
                    rows.pop(_identity(item.table, names, {**(item.after or {}), **item.before}), None)
                if item.after is not None and item.op is not DELETE:
                    rows[_identity(item.table, names, item.after)] = item.after
        return rows

    # ------------------------------------------------------------------------------------------------------------- rows

    @property
    def groups(self) -> list[tuple[Identity, ...]]:
        """The rows that change, in groups that cannot be separated."""
        return groups_of(self.changes, self.job.stream.source)

    @cached_property
    def expected_tables(self) -> list[ExpectedTable] | None:
        """The rows that a correct consumer holds after all messages, of each table with a key. None: statements change
        tables so far along the stream that too many rows would have to be read."""
        events = (event for block in self.blocks for event in block.events)
        if any(isinstance(event, SchemaChange) and event.order.phase for event in events):
            is_near = self.job.stream.turns is not None or (self.run.plan.stop or 0) <= NEAR
            return [table for table in expected_of(self.run) if table.key] if is_near else None
        known = KnownRows(self.job.format, self.job.codec, self.job.unsent)
        return rows_left(self.changes, known, self.job.stream.source)


NO_MESSAGES: Final = MessageBatch.of(0)


def _identity(table: str, names: Sequence[str], image: Mapping[str, Any]) -> Identity:
    return table, tuple(str(image.get(name)) for name in names or sorted(image))


def arrivals(messages: Iterable[Message], partitions: int, seed: int) -> list[int]:
    """Positions of messages in the order of their arrival: partitions run ahead of each other in stretches, but none
    over a statement, which is in each partition."""
    order, waiting = list[int](), defaultdict[tuple[str, int], list[int]](list)
    drawn = iter(bits(key(seed, "arrival"), np.arange(1 << 16)).reshape(-1, 2))

    def merge() -> None:
        queues = [queue[::-1] for queue in waiting.values()]
        waiting.clear()
        while queues:
            draws = next(drawn)
            queue = queues[int(below(draws[:1], len(queues))[0])]
            for _ in range(min(len(queue), STRETCHES[int(below(draws[1:], len(STRETCHES))[0])])):
                order.append(queue.pop())
            queues = [queue for queue in queues if queue]

    for position, message in enumerate(messages):
        if message.kind in (Kind.DDL, Kind.STATEMENT):
            merge()
            order.append(position)
            continue
        waiting[message.topic, partition_of(message, partitions)].append(position)
    merge()
    return order


def partition_of(message: Message, partitions: int) -> int:
    """The partition of a message; where the client decides, one by the key."""
    return zlib.crc32(message.key or b"") % partitions if message.partition is None else message.partition
