"""`cdcsim run --engine spark`: checks of its options, the run, and its progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from simulator.cli import outcome, pandas
from simulator.cli.progress import Line
from simulator.cli.signals import INTERRUPTED, stopped_by_signals
from simulator.errors import SimulatorError, UsageError, counted

if TYPE_CHECKING:
    from simulator.run.request import About, Engine, Sending, Span
    from simulator.run.session import Session
    from simulator.spark.engine import SparkRun


def check(span: Span, sending: Sending, about: About, engine: Engine) -> None:
    """Raises UsageError for what only the local engine does."""
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


def run(session: Session, engine: Engine, *, quiet: bool) -> int:
    """Run on a Spark session that ends with the run, unless it was there before; the exit status. Raises
    SimulatorError."""
    from simulator.spark.run import spark_run
    from simulator.spark.session import CONNECT, open_session, parse_settings

    settings = parse_settings(engine.conf)
    if remote := (engine.master or "").startswith(CONNECT):
        pandas.let_in()
    make = spark_run(session, remote=remote)
    spark, ours = open_session(engine.master, settings)
    try:
        spark_job = make(spark, tasks=engine.tasks, report=None if quiet else reporter())
        with stopped_by_signals(spark_job):
            return _done(spark_job, session, quiet=quiet)
    finally:
        if ours:
            spark.stop()


def _done(spark_job: SparkRun, session: Session, *, quiet: bool) -> int:
    failure: SimulatorError | None = None
    try:
        spark_job()
    except SimulatorError as error:
        if not spark_job.summary.messages:
            raise
        failure = error
    if spark_job.summary.interrupted and not spark_job.summary.messages:
        click.echo(f"interrupted: {session.where} is not complete; remove what is there, then run again.", err=True)
        return INTERRUPTED
    outcome.report(session, session.ended(spark_job.summary, failure, spark_job.record), quiet=quiet)
    return INTERRUPTED if spark_job.summary.interrupted else 0


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
