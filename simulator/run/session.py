"""The one place that turns a request into a run: the command, the library and Spark all begin here.

`open_session` checks a request and opens its scenario; nothing is written yet. `Session.run` runs it in this process,
`simulator.spark` in tasks. Both end with `Session.ended`, which writes the summary and the record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from simulator.errors import DeliveryFailed, SimulatorError, UsageError
from simulator.run.job import Job, job_of
from simulator.run.pacing import Pace, StalledPace, parse_duration, parse_pace
from simulator.run.pipeline import Run
from simulator.run.plan import Limits, Plan
from simulator.run.processes.workers import Workers, default_workers
from simulator.run.report.account import Account, facts_of, write
from simulator.run.request import About, Sending, Span, Subject
from simulator.run.resume import Resumed, rest
from simulator.run.summary import Summary
from simulator.sinks import parse_target
from simulator.sinks.sink import Sink
from simulator.sinks.target import Contents, Target

# Seconds of a paced run per block: a block costs 20 to 60 ms however small it is, but messages that carry their write
# time must not wait long before they are sent.
BLOCK_SECONDS = 1.0
STAMPED_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a run. `failure` is the error that ended the run or its script; `earlier` is the identity of the
    earlier run that this one resumed."""

    summary: Summary
    failure: SimulatorError | None = None
    earlier: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Session:
    """A checked request with its scenario open: the job, its limits and pace, and the destination (a target, or a sink
    that stays open)."""

    subject: Subject
    job: Job
    limits: Limits
    snapshot: bool
    to: Target | Sink
    pace: Pace | None = None
    wall_clock: bool = False
    envelope: bool = False
    about: About = field(default_factory=About)

    @property
    def where(self) -> str:
        """The destination for people, without secrets."""
        return str(self.to) if isinstance(self.to, Target) else type(self.to).__name__

    @property
    def is_on_broker(self) -> bool:
        return isinstance(self.to, Target) and self.to.transport.broker is not None

    @cached_property
    def identity(self) -> dict[str, str]:
        """Properties that a run must share with this one to continue it."""
        deciding = self.to.deciding() if isinstance(self.to, Target) else {"destination": self.where}
        return identity(
            self.job, self.limits, deciding, snapshot=self.snapshot, envelope=self.envelope, wall_clock=self.wall_clock
        )

    def run(
        self,
        *,
        workers: int | None = 1,
        report: Callable[[Run], None] | None = None,
        around: Callable[[Run], AbstractContextManager[object]] = nullcontext,
    ) -> Outcome:
        """Runs in this process with `workers` that render (None: as many as are worthwhile), within the context
        `around`. An error after messages were sent is part of the outcome. Raises SimulatorError before that."""
        account = Account(self.about, self.identity)
        with ExitStack() as stack:
            resumed = None
            if self.about.resume is not None:
                resumed = stack.enter_context(Resumed(self.about.resume, self.identity))
            sink = self.to
            if isinstance(sink, Target):
                sink = stack.enter_context(sink.open(contents_of(self.job, envelope=self.envelope, resumed=resumed)))
            if resumed is not None:
                resumed.ask(sink)
            account.watch(sink, resumed)
            run = local_run(
                self.job, sink, limits=self.limits, snapshot=self.snapshot, pace=self.pace, wall_clock=self.wall_clock,
                report=report, resumed=resumed, workers=workers,
            )  # fmt: skip
            failure: SimulatorError | None = None
            with account.serving(run), around(run):
                try:
                    run()
                except SimulatorError as error:
                    # the outcome accounts for messages sent before; a run that never began has only its error
                    if not isinstance(error, DeliveryFailed) and not run.summary.messages:
                        raise
                    failure = error
            earlier = None if resumed is None or resumed.begins else self.identity
            return self.ended(run.summary, failure, account.document, earlier)

    def ended(
        self,
        summary: Summary,
        failure: SimulatorError | None,
        record_of: Callable[[dict[str, Any], Exception | None], object],
        earlier: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Writes the requested summary and record. `record_of` makes the record from the summary's facts and the
        failure."""
        failure = failure or self.job.failure
        write(self.about, facts_of(self.job, self.where, summary), lambda facts: record_of(facts, failure))
        return Outcome(summary, failure, earlier)


def open_session(
    subject: Subject,
    span: Span,
    sending: Sending,
    about: About,
    *,
    opened: Callable[[Job], None] = lambda job: None,
) -> Session:
    """Checks a request and opens its scenario. `opened` gets the job before its route is checked. Raises UsageError
    before anything is written."""
    limits = limits_of(span)
    pace = parse_pace(sending.rate) if sending.rate else None
    to = target_of(sending.to)
    target = to if isinstance(to, Target) else None
    if about.resume is not None:
        if subject.start == "now":
            time = subject.all_settings[-1].removeprefix("start=")
            raise UsageError(f"--start now: a resumed run must begin at the same time as before; write --start {time}.")
        if target is None:
            raise UsageError("--resume: a run to an open sink cannot be resumed; name a URL of files or a broker.")
        target.check_resumable()
    job = job_of(subject, None if target is None else target.transport.broker)
    opened(job)
    job = job.addressed(route=span.route).starting(limits)
    moved = sorted({"late", "early", "halves"}.intersection(job.faults.rates))
    if moved and target is not None and target.options.get("exactly-once") == "true":
        raise UsageError(
            f"--faults {moved[0]}: with exactly-once=true the place of a run is one message, before which no other is"
            " missing; leave one of them out."
        )
    if pace is not None and "stall" in job.faults.rates:
        pace = StalledPace(pace.unit, pace, job.faults.rates["stall"], job.scenario.spec.seed)
    if target is not None:
        check_contents(job, target, envelope=sending.envelope)
    snapshot = job.scenario.spec.snapshot if span.snapshot is None else span.snapshot
    wall_clock = sending.clock == "wall"
    return Session(subject, job, limits, snapshot, to, pace, wall_clock, sending.envelope, about)


def target_of(to: object) -> Target | Sink:
    """Destination of messages, from a URL, the path of a folder or file, or a sink. Raises UsageError."""
    match to:
        case str():
            return parse_target(to)
        case Path():
            return parse_target(f"file:{to}")
        case Sink():
            return to
    raise UsageError(f"to is {to!r}: it is a URL, a Path or a sink.")


def limits_of(span: Span) -> Limits:
    """Limits of a span. Raises UsageError for an invalid duration."""
    seconds = parse_duration(span.duration) if span.duration else None
    return Limits(span.start_at, span.limit, span.turns, seconds)


def check_contents(job: Job, target: Target, *, envelope: bool) -> None:
    """Raises UsageError for messages in a form that the target does not accept."""
    if envelope and not target.transport.lines:
        raise UsageError(
            f"--envelope writes JSON lines: it goes with --to - or --to file:DIR, not with {target.scheme}."
        )
    if job.codec.format.binary and not envelope and not target.transport.binary:
        raise UsageError(
            f"-f {job.format} is binary, not lines of text: write files with --to file:DIR, or JSON lines with "
            "--envelope."
        )


def contents_of(job: Job, *, envelope: bool = False, resumed: Resumed | None = None) -> Contents:
    """Description of a job's messages for the sink."""
    layout = job.codec.layout
    return Contents(envelope, layout.container, layout.properties, None if resumed is None else resumed.files)


def identity(
    job: Job,
    limits: Limits,
    deciding: Mapping[str, str],
    *,
    snapshot: bool | None = None,
    envelope: bool = False,
    wall_clock: bool = False,
) -> dict[str, str]:
    """Properties that must be equal for a run to continue: all that change a byte or its destination (`deciding`)."""
    return {
        "scenario": Path(job.scenario.file).name,
        "seed": str(job.scenario.spec.seed),
        "source": str(job.source),
        "format": job.format,
        "broker": job.broker,
        "route": job.addressing.route or "",
        **deciding,
        "envelope": str(envelope).lower(),
        "--clock": "wall" if wall_clock else "simulated",
        "--force": str(job.force).lower(),
        "snapshot": str(job.scenario.spec.snapshot if snapshot is None else snapshot).lower(),
        "--start-at": str(limits.start_at),
        "fingerprint of the scenario": job.scenario.fingerprint,
        **({"--faults": str(job.faults)} if job.faults else {}),
    }


def local_run(
    job: Job,
    sink: Sink,
    *,
    limits: Limits,
    snapshot: bool | None = None,
    pace: Pace | None = None,
    wall_clock: bool = False,
    report: Callable[[Run], None] | None = None,
    resumed: Resumed | None = None,
    workers: int | None = 1,
) -> Run:
    """The run of a job into an open sink, ready to be called. `workers` processes render; None: as many as are
    worthwhile. Raises UsageError if the stream does not have the first turn."""
    if workers is not None and workers > 1 and job.runs_on_server:
        raise UsageError(
            f"--workers {workers}: a server runs {job.scenario.file}, and each worker would run it again; leave out"
            " --workers."
        )
    job = job.to_topic(sink.topic_pattern)
    plan = job.plan(limits, snapshot=snapshot)
    if pace is not None:
        plan = plan.shortened(pace.high_changes * (STAMPED_SECONDS if wall_clock else BLOCK_SECONDS))
    if workers is None:
        workers = 1 if pace is not None or job.runs_on_server else default_workers(plan)
    if resumed is not None and resumed.start is not None:
        plan = rest(plan, resumed.start)
    if resumed is not None:
        resumed.check_end(plan)
    return Run(
        plan,
        job.renderer(sink.partitions, wall_clock=wall_clock),
        sink,
        seconds=limits.seconds,
        pace=pace,
        report=report,
        resumed=resumed,
        rendering=Workers(workers, job, sink.partitions, wall_clock=wall_clock) if workers > 1 else None,
    )


def share_run(job: Job, share: Plan, sink: Sink) -> Run:
    """The run of a part of a plan, in a process of its own."""
    return Run(share, job.renderer(sink.partitions), sink)
