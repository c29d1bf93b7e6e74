"""`cdcsim run --engine spark`: checks of its options, the run, and its progress."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs

import click

from simulator.cli import pandas
from simulator.cli.progress import Line, counted
from simulator.cli.signals import INTERRUPTED, stopped_by_signals
from simulator.errors import SimulatorError, UsageError
from simulator.sinks import BROKERS
from simulator.sinks.files import is_file, parse_folder
from simulator.sinks.url import public

if TYPE_CHECKING:
    from simulator.cli.outcome import Outcome
    from simulator.cli.run_options import About, Engine, Sending, Span
    from simulator.run.job import Job
    from simulator.spark.engine import SparkRun

FOLDERS: Final = ("file", "parquet")


def check(job: Job, span: Span, sending: Sending, about: About, engine: Engine) -> None:
    """Raises UsageError for what only the local engine does."""
    to = sending.to
    unfit = {
        "--rate": sending.rate,
        "--duration": span.duration,
        "--resume": about.resume,
        "--metrics": about.metrics,
        "--workers": (engine.workers or 1) > 1,
        "--clock wall": sending.clock == "wall",
    }
    for option, given in unfit.items():
        if given:
            raise UsageError(f"{option}: the Spark engine does not do this; leave it out, or leave out --engine spark.")
    scheme, query = to.partition(":")[0], parse_qs(to.partition("?")[2])
    if scheme not in FOLDERS and scheme not in BROKERS:
        raise UsageError(f"--to {to}: Spark's tasks write to file:DIR, parquet:DIR or a broker; name one of these.")
    if scheme == "file" and is_file(parse_folder(to)[0]):
        raise UsageError(f"--to {to}: each Spark task writes files of its own; name a folder, --to file:DIR.")
    if query.get("exactly-once") == ["true"]:
        raise UsageError(f"--to {public(to)}: exactly-once=true is for the local engine; leave it out.")
    if sending.envelope and scheme != "file":
        raise UsageError("--envelope writes JSON lines: it goes with --to file:DIR.")
    if job.runs_on_server:
        raise UsageError(
            f"{job.scenario.file}: a server runs this script, and each Spark task would run it again; leave out "
            "--engine spark."
        )


def run(job: Job, span: Span, sending: Sending, engine: Engine, outcome: Outcome) -> int:
    """Run on a session that ends with the run, unless it was there before; the exit status. Raises SimulatorError."""
    from simulator.run.job import Partitions
    from simulator.spark.brokers import Broker, BrokerRun
    from simulator.spark.files import FileRun, Folder
    from simulator.spark.session import CONNECT, open_session, parse_settings

    to, limits, settings = sending.to, span.limits(), parse_settings(engine.conf)
    identity = sending.identity(job, span)
    if remote := (engine.master or "").startswith(CONNECT):
        pandas.let_in()
    make: Callable[..., SparkRun]
    scheme = to.partition(":")[0]
    if scheme in FOLDERS:
        path, partitions = parse_folder(to)
        if remote and not path.is_absolute():
            raise UsageError(
                f"--to {to}: the server's executors write there, on their disks; write the whole path, as in "
                f"{scheme}:/data/orders."
            )
        parquet, recorded = scheme == "parquet", outcome.files.record is not None
        folder = Folder(str(path.absolute()), partitions, sending.envelope, recorded, parquet)
        job = job.addressed(route=sending.route, partitions=Partitions(partitions))
        make = partial(FileRun, job=job, to=folder)
    else:
        broker = Broker(to, job.codec.layout.rabbitmq)
        with broker.open() as sink:  # what is wrong with it is an error before Spark starts
            job = job.addressed(route=sending.route, topic=sink.topic_pattern)
        make = partial(BrokerRun, job=job, to=broker)
    session, ours = open_session(engine.master, settings)
    try:
        report = None if outcome.quiet else reporter()
        this = make(session, limits=limits, snapshot=span.snapshot, tasks=engine.tasks, report=report)
        with stopped_by_signals(this):
            return _done(this, to, outcome, identity)
    finally:
        if ours:
            session.stop()


def _done(this: SparkRun, to: str, outcome: Outcome, identity: dict[str, Any]) -> int:
    failure: SimulatorError | None = None
    try:
        this()
    except SimulatorError as error:
        if not this.summary.messages:
            raise
        failure = error
    summary = this.summary
    if summary.interrupted and not summary.messages:
        click.echo(f"interrupted: {to} is not complete; remove what is there, then run again.", err=True)
        return INTERRUPTED
    outcome.report(summary, lambda facts: this.record({**facts, "run": identity}), failure)
    return INTERRUPTED if summary.interrupted else 0


def reporter() -> Callable[[SparkRun], None]:
    """Progress on stderr: blocks, messages, rate, time left."""
    line = Line()
    return lambda run: line.write(lambda: text(run))


def text(run: SparkRun) -> str:
    """`192 of 1,024 blocks, 2 tasks running, 3,145,700 messages, 250,000/s, 54 s left`."""
    if run.progress is None:
        return "counting where the run ends"
    tasks, seconds = run.progress.tasks, max(run.elapsed, 1e-9)
    blocks = f"{run.progress.blocks:,} of {counted(run.progress.work.blocks, 'block')}"
    parts = [blocks, f"{counted(tasks.running, 'task')} running", counted(run.messages, "message")]
    if tasks.done:
        left = seconds * (tasks.all - tasks.done) / tasks.done
        parts += [f"{run.messages / seconds:,.0f}/s", f"{left:,.0f} s left"]
    return ", ".join(parts)
