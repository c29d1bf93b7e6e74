"""A run: the blocks of a plan are generated, rendered and sent. Threads, pacing, the wall clock, counters are here."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

from simulator.batch import MessageBatch, concat
from simulator.errors import SimulatorError, UsageError
from simulator.model import Heartbeat, SchemaChange
from simulator.run.pacing import Pace
from simulator.run.plan import Plan
from simulator.run.render import Renderer
from simulator.sinks.sink import Sink
from simulator.stream.engine.block import Block

T = TypeVar("T")

REPORT_SECONDS = 0.5
# After a second Ctrl-C nobody waits for a sink that is stuck.
ABANDON_SECONDS = 2.0


@dataclass
class Summary:
    """What a run did. `changes` are the row changes of the turns from `first_turn` up to `next_turn`, counted before
    splitting; `messages` were rendered from them; `delivered` and `failed` are what the sink reports of these."""

    first_turn: int = 0
    next_turn: int = 0
    changes: int = 0
    snapshot_rows: int = 0
    ddl: int = 0
    heartbeats: int = 0
    messages: int = 0
    delivered: int = 0
    failed: int = 0
    bytes: int = 0
    seconds: float = 0.0
    interrupted: bool = False
    topics: dict[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Stage(Generic[T]):
    """A step of the line in a thread of its own, so that generating changes, rendering and sending overlap.

    What comes in is worked on in its order. At most one item waits: a slow stage slows down those before it. What the
    work raised is raised again by the next call, in whichever thread makes it, and so comes back up the line.
    """

    def __init__(self, name: str, work: Callable[[T], None]) -> None:
        self._work_on = work
        self._queue: queue.Queue[T | None] = queue.Queue(maxsize=1)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name=f"cdcsim-{name}", daemon=True)
        self._thread.start()

    def put(self, item: T) -> None:
        self._put(item)
        self._check()

    def finish(self) -> None:
        """Wait until everything is worked on."""
        self.wait()
        self._check()

    def wait(self) -> None:
        """Wait until everything is worked on, or the work raised an error."""
        self._put(None)
        while self._thread.is_alive():
            self._thread.join(0.1)

    def abandon(self) -> None:
        """Begin nothing more; after `finish` there is nothing left to do."""
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
                self._queue.put(item, timeout=0.1)  # in slices, so that a signal gets through
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
        wall_clock: bool = False,
        report: Callable[[Run], None] | None = None,
    ) -> None:
        self.plan, self.renderer, self.sink = plan, renderer, sink
        self.seconds, self.pace, self.wall_clock = seconds, pace, wall_clock
        self.summary = Summary(plan.first, plan.first)
        self.stop = False
        self._reporter = report
        self._reported_at = 0.0
        self._began = 0.0
        self._sent_changes = 0
        self._stages: list[Stage[Any]] = []

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._began

    @property
    def lag(self) -> float:
        """Row changes behind the rate."""
        return max(0.0, self.pace.changes(self.elapsed) - self._sent_changes) if self.pace else 0.0

    def __call__(self) -> Summary:
        """Run to the end. Raises DeliveryFailed, SinkError; the summary is complete then, too."""
        summary = self.summary
        self._began = started = time.monotonic()
        if self.pace is None:  # a pace is kept batch by batch, so nothing may run ahead of it
            sender = Stage[list[MessageBatch]]("sender", self._deliver)
            self._stages = [Stage[Block]("renderer", lambda block: self._render(block, sender)), sender]
        try:
            try:
                self._generate()
            except UsageError as error:  # the stream cannot go on; what was generated before is sent and counted
                for stage in self._stages:
                    stage.wait()
                self.sink.flush()
                if self.sink.delivered:
                    raise SimulatorError(str(error)) from None
                raise
            self._finish()
        finally:
            for stage in reversed(self._stages):
                stage.abandon()
            summary.interrupted = self.stop
            summary.delivered, summary.failed = self.sink.delivered, self.sink.failed
            summary.seconds = time.monotonic() - started
            self._report_progress(last=True)
        return summary

    def _generate(self) -> None:
        """The snapshot, if asked for, and the stream up to its limits."""
        plan, stream = self.plan, self.plan.stream
        for rows in plan.snapshot_blocks():
            if self.stop:
                return
            self._send_snapshot(stream.read_block(rows, self.renderer.needed))
        # rate and duration count from here, however long the snapshot took
        self._began = time.monotonic()
        for turns in plan.blocks():
            self._send(stream.read_block(turns, self.renderer.needed))
            if self.stop or self._time_is_up():
                return

    def _finish(self) -> None:
        """Returns when all is delivered or has failed."""
        for stage in self._stages:
            stage.finish()
        self.sink.flush()

    # ------------------------------------------------------------------------------------------------------------ send

    def _send_snapshot(self, block: Block) -> None:
        if self._stages:
            self._stages[0].put(block)
        elif parts := self._parts(block):
            messages = concat(parts)
            self.sink.send(messages)
            self._count(messages)
        self.summary.snapshot_rows += block.changes
        self._report_progress()

    def _send(self, block: Block) -> None:
        """Send a block and count what was sent: all of it, but for a paced run whose time is up within."""
        stop = block.first_turn + block.turns
        if self._stages:
            self._stages[0].put(block)
        elif parts := self._parts(block):
            messages = concat(parts)
            sent = self._paced_count(messages)
            if sent < len(messages):
                last = messages["turn"][sent - 1].as_py() if sent else None
                stop = block.first_turn if last is None else self.plan.stream.border(last + 1)
            self._count(messages.slice(0, sent))
        summary = self.summary
        whole = stop == block.first_turn + block.turns
        summary.next_turn = stop
        summary.changes += block.changes if whole else int(self.plan.stream.count(block.first_turn, stop).sum())
        events = [event for event in block.events if event.order.turn < stop]
        summary.ddl += sum(isinstance(event, SchemaChange) for event in events)
        summary.heartbeats += sum(isinstance(event, Heartbeat) for event in events)
        self._report_progress()

    def _parts(self, block: Block) -> list[MessageBatch]:
        return self.renderer.parts(block, write_ms=int(time.time() * 1000) if self.wall_clock else None)

    def _render(self, block: Block, sender: Stage[list[MessageBatch]]) -> None:
        if parts := self._parts(block):
            sender.put(parts)

    def _deliver(self, parts: list[MessageBatch]) -> None:
        messages = concat(parts)
        self._count(messages)
        self.sink.send(messages)

    def _paced_count(self, messages: MessageBatch) -> int:
        """Send as the pace allows; when time is up, up to the next transaction border. Returns how many were sent."""
        assert self.pace is not None
        done = np.cumsum(np.asarray(messages["changes"]))
        turns = np.asarray(messages["turn"])
        base, at, end = self._sent_changes, 0, len(messages)
        ending = False
        while at < end:
            if not ending and (self.stop or self._time_is_up()):
                ending = True
                border = self.plan.stream.border(int(turns[at - 1]) + 1) if at else int(turns[0])
                end = int(np.searchsorted(turns, border))
                continue
            allowed = self.pace.changes(self.elapsed) - base
            upto = end if ending else min(int(np.searchsorted(done, allowed, side="right")), end)
            if upto > at:
                self.sink.send(messages.slice(at, upto - at))
                self._sent_changes = base + int(done[upto - 1])
                at = upto
                self._report_progress()
            else:
                time.sleep(0.002)
        return end

    def _time_is_up(self) -> bool:
        return self.seconds is not None and self.elapsed >= self.seconds

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
