"""A run: generates, renders and sends the blocks of a plan. Threads, pacing, wall clock and counters are here."""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import pyarrow.compute as pc

from simulator.batch import MessageBatch
from simulator.errors import SimulatorError, UsageError
from simulator.model import Heartbeat, SchemaChange
from simulator.run.pacing import Pace, Schedule, Unit
from simulator.run.plan import Plan
from simulator.run.processes.workers import WorkerEnded
from simulator.run.render import Rendered, Renderer
from simulator.run.resume import Resumed
from simulator.run.summary import Summary
from simulator.sinks.ledger import Ints, Seconds
from simulator.sinks.sink import Sink
from simulator.stream.engine.block import Block, SnapshotBlock, TurnBlock

T = TypeVar("T")

REPORT_SECONDS = 0.5
# Seconds between two sends of a paced run; each costs about a millisecond.
TICK_SECONDS = 0.01
# Seconds between two updates of the resume file.
NOTE_SECONDS = 0.1
# Seconds to wait for a stuck sink after a second Ctrl-C.
ABANDON_SECONDS = 2.0


class Stage(Generic[T]):
    """A step of the pipeline in a thread of its own: generating changes, rendering and sending overlap.

    Items are processed in order. At most `waiting` items wait: a slow stage slows down those before it. An error of the
    work is raised again by the next call, in whichever thread makes it, and so travels back up the pipeline.
    """

    def __init__(self, name: str, work: Callable[[T], None], waiting: int = 1) -> None:
        self._work_on = work
        self._queue: queue.Queue[T | None] = queue.Queue(maxsize=waiting)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name=f"cdcsim-{name}", daemon=True)
        self._thread.start()

    def put(self, item: T) -> None:
        self._put(item)
        self._check()

    def finish(self) -> None:
        """Waits until all items are processed. Raises the error of the work."""
        self.wait()
        self._check()

    def wait(self) -> None:
        """Waits until all items are processed, or the work has failed."""
        self._put(None)
        while self._thread.is_alive():
            self._thread.join(0.1)

    def abandon(self) -> None:
        """Begins no further item; after `finish` there is nothing left to do."""
        while self._thread.is_alive():
            try:
                self._queue.get_nowait()
            except queue.Empty:
                break
        self._put(None)
        self._thread.join(ABANDON_SECONDS)

    def _put(self, item: T | None) -> None:
        while self._thread.is_alive():
            try:
                self._queue.put(item, timeout=0.1)  # in slices, so that signals are handled
            except queue.Full:
                continue
            return

    def _check(self) -> None:
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        try:
            while (item := self._queue.get()) is not None:
                self._work_on(item)
        except BaseException as error:
            self._error = error


class Rendering(Protocol):
    """Renders blocks as messages: `begin` starts a block, `finish` returns the next one that was started.

    `ahead` blocks may be started before the first is finished. `elsewhere`: other processes do the work and `finish`
    only waits for them; otherwise two threads start and finish blocks.
    """

    ahead: int
    elsewhere: bool

    def begin(self, where: TurnBlock | SnapshotBlock) -> Any: ...
    def finish(self, begun: Any) -> Rendered: ...
    def close(self) -> None: ...


def now_ms() -> int:
    return int(time.time() * 1000)


class Run:
    """One run of a stream into a sink. `stop` may be set from a signal handler."""

    def __init__(
        self,
        plan: Plan,
        renderer: Renderer,
        sink: Sink,
        *,
        seconds: float | None = None,
        pace: Pace | None = None,
        report: Callable[[Run], None] | None = None,
        resumed: Resumed | None = None,
        rendering: Rendering | None = None,
    ) -> None:
        self.plan, self.renderer, self.sink = plan, renderer, sink
        self.seconds, self.pace = seconds, pace
        self.summary = Summary(plan.first, plan.first)
        self.stop = False
        self.resumed = resumed
        self.rendering: Rendering = rendering or renderer
        self._reporter = report
        self._reported_at = 0.0
        self._began = 0.0
        # seconds of the rate and the duration that earlier parts of the run have used
        self._before = 0.0 if resumed is None else resumed.before.seconds
        self._clock = None if pace is None else Schedule(pace, self._before)
        self._turns_begun = False
        if resumed is not None:
            resumed.seconds = lambda: self._before + (self.elapsed if self._turns_begun else 0.0)
        self._ended = False  # set when time is up within a block: later blocks are not sent
        self._stages: list[Stage[Any]] = []

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._began

    @property
    def lag(self) -> float:
        """Row changes, messages or bytes by which the run lags behind the rate."""
        clock = self._clock
        return clock.behind(self.elapsed) if clock is not None and clock.has_begun else 0.0

    @property
    def wanted(self) -> float:
        """Row changes, messages or bytes that the rate asks for by now."""
        clock = self._clock
        return clock.wanted(self.elapsed) if clock is not None and clock.has_begun else 0.0

    def __call__(self) -> Summary:
        """Runs to the end. Raises DeliveryFailed, SinkError; the summary is complete then, too."""
        summary = self.summary
        self._began = started = time.monotonic()
        sender = Stage[Rendered]("sender", self._send)
        rendering = self.rendering
        # if other processes render, this thread sends meanwhile: blocks waiting for another thread would take memory
        pass_on = self._send if rendering.elsewhere else sender.put
        renderer = Stage[Any]("renderer", lambda begun: pass_on(rendering.finish(begun)), rendering.ahead)
        self._stages = [renderer, sender]
        done = False
        try:
            try:
                self._generate(renderer)
                for stage in self._stages:
                    stage.finish()
            except (UsageError, WorkerEnded) as error:  # blocks rendered before it are sent and counted
                for stage in self._stages:
                    stage.wait()
                self.sink.flush()
                if isinstance(error, WorkerEnded):
                    raise WorkerEnded(f"{error}; {self._reached()}, or with fewer --workers.") from error
                if self.sink.delivered:
                    raise SimulatorError(str(error)) from None
                raise
            if self._clock is not None:
                summary.rate_unit = self._clock.pace.unit
                summary.rate_wanted, summary.rate_reached = self._clock.rates()
            self.sink.flush()
            done = not self.stop
        finally:
            self.rendering.close()
            for stage in reversed(self._stages):
                stage.abandon()
            summary.interrupted = self.stop
            summary.delivered, summary.failed = self.sink.delivered, self.sink.failed
            summary.seconds = time.monotonic() - started
            repeated = self.sink.ledger.repeated + (Counter() if self.resumed is None else self.resumed.repeated)
            summary.count_repeated(repeated)
            if self.resumed is not None:
                self._keep(self.resumed, done=done)
            self._report_progress(last=True)
        return summary

    def abandon(self) -> None:
        """Stops waiting: messages in flight count as failed."""
        self.sink.close()
        self.summary.delivered, self.summary.failed = self.sink.delivered, self.sink.failed

    def _keep(self, resumed: Resumed, *, done: bool) -> None:
        """Saves the position at the end of a run. An error of saving does not hide a failure of the run."""
        failure = sys.exception()
        try:
            resumed.save(self.sink, done=done)
        except SimulatorError as error:
            if failure is None:
                raise SimulatorError(str(error)) from None
            if isinstance(failure, SimulatorError) and str(error) not in str(failure):
                raise type(failure)(f"{failure} {error}") from None

    def _reached(self) -> str:
        """Sentence for a run that fails between two blocks: what has been delivered, and how to continue."""
        turn = self.summary.next_turn
        if turn == self.summary.first_turn:
            return f"{self.summary.snapshot_rows:,} snapshot rows and no turn were delivered: run it again"
        how = f"go on with --start-at {turn}" if self.resumed is None else "run it again to go on"
        return f"all messages up to turn {turn - 1} were delivered: {how}"

    def _generate(self, renderer: Stage[Any]) -> None:
        """Generates the snapshot, if requested, and the stream up to its limits."""
        for rows in self.plan.snapshot_blocks():
            if self.stop:
                return
            renderer.put(self.rendering.begin(rows))
            self._report_progress()
        if self._clock is not None:
            self._make_topics()
        # the duration starts here, after the snapshot; the rate starts with the first block
        self._began = time.monotonic()
        self._turns_begun = self._clock is None
        for turns in self.plan.blocks():
            renderer.put(self.rendering.begin(turns))
            self._report_progress()
            if self.stop or self._ended or self._time_is_up():
                return

    def _make_topics(self) -> None:
        """Creates topics before the rate's clock begins: a broker takes a tenth of a second and more for each. A topic
        that cannot be created is an error when the first message goes to it."""
        topics = self.renderer.router.topics
        for topic in {topics.of(table.id) for table in self.plan.stream.first_tables}:
            with suppress(SimulatorError):
                self.sink.partitions(topic)

    # ------------------------------------------------------------------------------------------------------------ send

    def _send(self, item: Rendered) -> None:
        """Sends a block and counts the sent messages: all of them, unless a paced run ends within the block."""
        if self._ended or self.stop:
            return
        block, stop = item.block, item.block.first_turn + item.block.turns
        messages = item.messages()
        if item.faults:
            self.summary.add_faults(
                Counter(fault.fault for fault in item.faults), [fault.as_dict() for fault in item.faults]
            )
        first = block.first_turn
        if self.resumed is not None:
            messages = None if messages is None else self.resumed.missing(messages, self.sink)
            first = min(self.resumed.first_turn(first, messages), stop)
        if item.snapshot:
            self.summary.snapshot_rows += block.changes
            self.summary.ddl += sum(map(self.renderer.codec.sends_event, block.events))
        elif self._clock is None:
            self._count_block(block, first, stop)
        if messages is not None and len(messages):
            if self._clock is None or item.snapshot:
                if self.resumed is not None:
                    self.resumed.sending(messages, self.sink)
                self._deliver(messages)
            else:
                sent = self._send_paced(messages, self._clock)
                if sent < len(messages):
                    last = messages["turn"][sent - 1].as_py() if sent else None
                    stop = block.first_turn if last is None else min(stop, self.plan.border(last + 1))
            if self.resumed is not None:
                self.resumed.save(self.sink)
        if self._clock is not None and not item.snapshot:
            self._count_block(block, first, stop)

    def _deliver(self, messages: MessageBatch, *, due: Seconds | None = None, whole: bool = True) -> None:
        """Sends messages, and counts those that the sink has accepted, even if sending fails."""
        before = self.sink.ledger.sent
        try:
            self.sink.send(messages, due=due, whole=whole)
        finally:
            if self.sink.ledger.sent > before:
                self._count(messages)

    def _count_block(self, block: Block, first: int, stop: int) -> None:
        """Counts the turns [first, stop) of a block."""
        summary = self.summary
        if summary.next_turn == summary.first_turn:  # the first turns of a resumed run's block have arrived before
            summary.first_turn = min(first, stop)
        summary.next_turn = stop
        if (first, stop) == (block.first_turn, block.first_turn + block.turns):
            summary.changes += block.changes
        elif first < stop:
            summary.changes += int(self.plan.stream.count(first, stop).sum())
        events = [event for event in block.events if first <= event.order.turn < stop]
        statements = [event for event in events if isinstance(event, SchemaChange)]
        summary.ddl += len(statements)
        summary.ddl_not_sent += sum(not self.renderer.codec.sends_event(event) for event in statements)
        summary.heartbeats += sum(isinstance(event, Heartbeat) for event in events)

    def _send_paced(self, messages: MessageBatch, clock: Schedule) -> int:
        """Sends as the pace allows; when time is up, up to the next transaction border. Returns the number of
        messages."""
        if not clock.has_begun:  # the clock starts with the first block
            self._began = time.monotonic()
            clock.begin(self._began)
            self._turns_begun = True
        counts = np.cumsum(_amounts(messages, clock.pace.unit)) + clock.sent
        turns = np.asarray(messages["turn"])
        start, noted, end = 0, 0, len(messages)
        while start < end:
            if not self._ended and (self.stop or self._time_is_up()):
                self._ended = True
                border = self.plan.border(int(turns[start - 1]) + 1) if start else int(turns[0])
                end = int(np.searchsorted(turns, border))
                continue
            allowed = clock.allowed(self.elapsed)
            upto = end if self._ended else min(int(np.searchsorted(counts, allowed, side="right")), end)
            if upto > start:
                if self.resumed is not None and upto > noted:
                    soon = clock.wanted(self.elapsed + NOTE_SECONDS)
                    later = max(upto, min(int(np.searchsorted(counts, soon, side="right")), end))
                    self.resumed.sending(messages.slice(noted, later - noted), self.sink)
                    noted = later
                whole = upto == end or self._is_border(int(turns[upto - 1]), int(turns[upto]))
                part = messages.slice(start, upto - start)
                self._deliver(part, due=clock.due(counts[start:upto]), whole=whole)
                clock.send(int(counts[upto - 1]), self.elapsed)
                start = upto
            if start < end:
                self.sink.poll()
                time.sleep(TICK_SECONDS)
        return end

    def _is_border(self, last: int, following: int) -> bool:
        """Whether a transaction ends between two messages of these turns."""
        return following > last and self.plan.border(last + 1) <= following

    def _time_is_up(self) -> bool:
        return self.seconds is not None and self._before + self.elapsed >= self.seconds

    def _count(self, messages: MessageBatch) -> None:
        self.summary.messages += len(messages)
        self.summary.bytes += messages.nbytes
        counts = messages["topic"].value_counts().to_pylist()
        for entry in counts:
            topic = entry["values"]
            self.summary.topics[topic] = self.summary.topics.get(topic, 0) + entry["counts"]

    def _report_progress(self, *, last: bool = False) -> None:
        now = time.monotonic()
        if self._reporter is not None and (last or now - self._reported_at >= REPORT_SECONDS):
            self._reported_at = now
            self._reporter(self)


def _amounts(messages: MessageBatch, unit: Unit) -> Ints:
    """Amount of each message in the unit of a pace."""
    match unit:
        case "changes":
            return np.asarray(messages["changes"]).astype(np.int64)
        case "messages":
            return np.ones(len(messages), np.int64)
        case "bytes":
            return np.asarray(pc.binary_length(messages["value"]).fill_null(0)).astype(np.int64)
