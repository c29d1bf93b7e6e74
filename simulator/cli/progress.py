"""Progress and summary of a run on stderr."""

from __future__ import annotations

import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from simulator.errors import counted
from simulator.formats.remarks import Delivered
from simulator.model import HEARTBEAT, INSERT, READ
from simulator.sinks.url import public

if TYPE_CHECKING:
    from simulator.run.job import Job
    from simulator.run.pipeline import Run
    from simulator.run.plan import Limits
    from simulator.run.session import Outcome, Session
    from simulator.run.summary import Summary
    from simulator.sinks.sink import Sink
    from simulator.stream.engine.block import Stream

# Seconds between lines of progress outside of a terminal; on a terminal one line is updated.
PLAIN_SECONDS = 5.0
# Warn after this many seconds without an acknowledgement.
STALLED_SECONDS = 1.5
# At this share of the rate or more, the rate counts as kept.
ON_RATE = 0.95


class Line:
    """A line on stderr that is kept up to date on a terminal, and written every few seconds elsewhere."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._last = time.monotonic()

    def write(self, text: Callable[[], str]) -> None:
        now = time.monotonic()
        if self._terminal:
            sys.stderr.write(f"\r\x1b[K{text()}")
            sys.stderr.flush()
        elif now - self._last >= PLAIN_SECONDS:
            self._last = now
            sys.stderr.write(text() + "\n")
            sys.stderr.flush()

    def end(self) -> None:
        """Removes the line from a terminal."""
        if self._terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class Reporter:
    """Progress on stderr: rate, delivered, failed, lag behind the rate, time left."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._line = Line()

    def __call__(self, run: Run) -> None:
        self._line.write(lambda: self.text(run))

    def text(self, run: Run) -> str:
        seconds = max(run.elapsed, 1e-9)
        changes = run.summary.changes
        parts = [f"{changes:,} row changes", f"{changes / seconds:,.0f}/s", f"{run.sink.delivered:,} delivered"]
        if run.sink.failed:
            parts.append(f"{run.sink.failed:,} failed")
        if run.pace is not None:
            unit = "" if run.pace.unit == "changes" else f" {run.pace.unit}"
            parts.append(f"{run.lag:,.0f}{unit} behind")
        left = self._left(run, seconds)
        if left is not None:
            parts.append(f"{left:,.0f} s left")
        return ", ".join(parts)

    def _left(self, run: Run, seconds: float) -> float | None:
        limits, changes = self._limits, run.summary.changes
        ends = []
        if limits.changes is not None and changes:
            ends.append(seconds * (limits.changes / changes - 1))
        if limits.seconds is not None:
            ends.append(limits.seconds - seconds)
        return max(0.0, min(ends)) if ends else None


def reporter(session: Session, *, quiet: bool) -> Reporter | None:
    """Reporter of progress; None if progress would mix with messages on the same terminal."""
    mixes = session.where == "-" and sys.stdout.isatty() and sys.stderr.isatty()
    return None if quiet or mixes else Reporter(session.limits)


@contextmanager
def waiting(sink: Sink, *, quiet: bool) -> Iterator[None]:
    """Reports on stderr when the destination stops answering, and when it answers again."""
    ended = threading.Event()

    def watch() -> None:
        since, has_shown = 0.0, False
        while not ended.wait(0.25):
            stalled = sink.ledger.stalled_seconds
            if stalled >= STALLED_SECONDS and not has_shown:
                has_shown = True
                sys.stderr.write(
                    f"{_lead()}waiting: no message was acknowledged for {stalled:.0f} s: {_trouble(sink)}.\n"
                )
            elif has_shown and stalled < since and not ended.is_set():
                has_shown = False
                sys.stderr.write(f"{_lead()}messages are acknowledged again, after {since:.0f} s.\n")
            since = stalled

    thread = threading.Thread(target=watch, name="cdcsim-watch", daemon=True)
    if not quiet:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        if not quiet:
            thread.join()


def _trouble(sink: Sink) -> str:
    return (sink.trouble or "the destination does not answer").rstrip(".")


def _lead() -> str:
    """Escape sequence that clears the line of progress on a terminal."""
    return "\r\x1b[K" if sys.stderr.isatty() else ""


def summary(done: Summary, session: Session) -> str:
    """Summary of a run: messages delivered, destination, rate, next turn; then one line for each thing not sent."""
    seconds, job = max(done.seconds, 1e-9), session.job
    verb = "delivered" if session.is_on_broker else "written"
    sends = job.codec.sends
    occurred = [  # what, how many, and how many of them were sent
        ("snapshot row", done.snapshot_rows, done.snapshot_rows * sends(READ)),
        ("DDL statement", done.ddl, done.ddl - done.ddl_not_sent),
        ("heartbeat", done.heartbeats, done.heartbeats * sends(HEARTBEAT)),
    ]
    sent = "".join(f", {counted(count, name)}" for name, _, count in occurred if count)
    turns = f"turns {done.first_turn} to {done.next_turn - 1}" if done.next_turn > done.first_turn else "no turns"
    first = (
        f"{_lead()}{'interrupted: ' if done.interrupted else ''}{counted(done.delivered, 'message')} {verb} to "
        f"{'stdout' if session.where == '-' else session.where}: {counted(done.changes, 'row change')}{sent}; "
        f"{done.seconds:.1f} s, {done.delivered / seconds:,.0f} messages/s, {done.bytes / seconds / 1e6:,.1f} MB/s; "
        f"{turns}, next turn {done.next_turn}" + (f"; {counted(done.failed, 'message')} failed" if done.failed else "")
    )
    name = job.codec.format.id
    silent = [
        f"{counted(all_ - count, what)} {'is' if all_ - count == 1 else 'are'} not sent by {name}."
        for what, all_, count in occurred
        if all_ > count
    ]
    return "\n".join([first, *silent, *_faults(done, job), *_rates(done), *_departures(job), *_remarks(done, job)])


def _faults(done: Summary, job: Job) -> Iterator[str]:
    if job.faults:
        from simulator.run.faults.report import fates

        yield from fates(job.faults, done.faults)


def _rates(done: Summary) -> Iterator[str]:
    if done.rate_reached < ON_RATE * done.rate_wanted:
        unit = "row changes" if done.rate_unit == "changes" else done.rate_unit
        yield (
            f"the rate was missed: {done.rate_reached:,.0f} of {done.rate_wanted:,.0f} {unit}/s; messages went out"
            " later than they were due."
        )
    if done.repeated:
        yield (
            f"{counted(done.repeated, 'message')} may be there twice: sent again, since a broken connection, an earlier"
            " part of the run or a Spark task that died left open whether they had arrived."
        )


def _remarks(done: Summary, job: Job) -> Iterator[str]:
    """Sentences of the format about the run's messages."""
    stream = job.stream
    delivered = Delivered(
        job.codec.format.id,
        stream.first_tables,
        done.snapshot_rows if job.codec.sends(READ) else 0,
        stream.seconds_ahead(done.next_turn - 1) if done.changes else 0,
    )
    yield from filter(None, (remark(delivered) for remark in job.codec.layout.remarks))


def _departures(job: Job) -> Iterator[str]:
    """Differences between the messages and those of the real product."""
    format = job.codec.format
    if job.undocumented and job.broker not in format.brokers:
        yield f"{format.product} does not write {format.id} to {job.broker}: these are not its bytes."
    elif job.undocumented:
        yield f"{format.product} does not read {job.source}: these are not its bytes."
    if unsent := unsent_columns(job):
        verb = "is" if len(unsent) == 1 else "are"
        yield f"{', '.join(unsent)} {verb} not sent by {format.id}: it leaves out columns of such types."
    if job.left_out:
        yield f"{format.id} cannot write {', '.join(job.left_out)}: their tables change in the stream and are not sent."


def unsent_columns(job: Job) -> list[str]:
    """Columns that are in no message."""
    if not job.codec.sends(INSERT):
        return []
    sent = job.codec.layout.writer.columns
    return [
        f"{table.id}.{column.name}"
        for table in job.stream.first_tables
        if (positions := sent(table, INSERT)) is not None
        for position, column in enumerate(table.columns)
        if position not in positions
    ]


def _rows_before(stream: Stream) -> bool:
    """Whether a script finds rows, which only a snapshot can send."""
    return any(stream.count_part(0, part) for part in stream.snapshot_parts(0))


def expected_command(session: Session, outcome: Outcome) -> str | None:
    """The command that writes the rows that a consumer of the run must hold; None if the consumer lacks rows."""
    from simulator.truth.known import KnownRows

    subject, job, done, identity = session.subject, session.job, outcome.summary, outcome.earlier
    first_turn = done.first_turn if identity is None else int(identity["--start-at"])
    snapshot = done.snapshot_rows or (identity is not None and identity["snapshot"] == "true")
    sent_whole = job.stream.turns is not None and not first_turn and not _rows_before(job.stream)
    if done.failed or not ((snapshot and job.codec.sends(READ)) or sent_whole):
        return None
    words = ["cdcsim", "expected", str(subject.scenario), "--at", str(done.next_turn), "--source", str(job.source)]
    if KnownRows(job.format, job.codec, job.unsent).differ(job.stream):
        words += ["-f", subject.format, *(["--allow-undocumented"] if subject.allow_undocumented else [])]
    if subject.seed is not None:
        words += ["--seed", str(subject.seed)]
    for setting in subject.all_settings:
        words += ["--set", setting]
    if subject.sql_engine is not None:
        words += ["--sql-engine", public(subject.sql_engine)]
    return f"{shlex.join([*words, *(['--force'] if subject.force else [])])} --to DIR"
