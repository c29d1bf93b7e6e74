"""`cdcsim run`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.cli.group import cli
from simulator.cli.opening import announce, gathered, job_options
from simulator.cli.options import (
    MOST_CHANGES,
    MOST_TASKS,
    MOST_TURNS,
    MOST_WORKERS,
    WholeNumber,
    complete_target,
    format_option,
    route_option,
    scenario_argument,
    snapshot_option,
    start_option,
)
from simulator.cli.signals import INTERRUPTED, stopped_by_signals
from simulator.errors import UsageError
from simulator.run.request import About, Engine, Sending, Span, Subject

if TYPE_CHECKING:
    from simulator.run.pipeline import Run


@cli.command()
@scenario_argument
@format_option
@click.option(
    "--to", default="-", metavar="URL", shell_complete=complete_target,
    help="Write to file:DIR, parquet:DIR, kafka://HOST:PORT/TOPIC, rocketmq://HOST:PORT/TOPIC or amqp://HOST/VHOST; "
    "default: - (standard output).",
)  # fmt: skip
@click.option(
    "--limit", type=WholeNumber(0, MOST_CHANGES), metavar="N",
    help="Stop after the transaction that reaches N row changes (250k, 1e6); default: no limit.",
)  # fmt: skip
@click.option(
    "--turns",
    type=WholeNumber(0, MOST_TURNS),
    metavar="N",
    help="Stop after the transaction that reaches N turns; default: no limit.",
)
@start_option
@snapshot_option
@click.option(
    "--rate", metavar="RATE",
    help="Row changes to send each second: 50000/s, or 2000messages/s, 20MB/s; rising ramp:1k..50k/10m, waves "
    "sine:1k..50k/10m, spike:1k..50k/10m (50k in the first tenth of each ten minutes, else 1k), steps:1k,5k,2k/10m, "
    "curve:FILE (CSV of seconds,rate); several: 'ramp:1k..50k/10m then 50k/s for 5m then 2k/s'; default: no rate.",
)  # fmt: skip
@click.option(
    "--duration", metavar="TIME",
    help="Stop after the transaction that reaches this time: 90s, 10m; default: no limit.",
)  # fmt: skip
@click.option(
    "--clock", type=click.Choice(["simulated", "wall"]), default="simulated", show_default=True,
    help="Stamp the product's write time (`ts`) with simulated time, or with the current time (wall); event times stay "
    "simulated: --start now begins them at the current time.",
)  # fmt: skip
@route_option
@job_options
@click.option(
    "--envelope", is_flag=True,
    help="Write each message as a JSON line: topic, partition, key, headers, value; default: values alone.",
)  # fmt: skip
@click.option(
    "--summary-to", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Write the summary to a file as JSON.",
)  # fmt: skip
@click.option(
    "--record", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Write what was sent to each partition, failures, rates and latencies to a file as JSON.",
)  # fmt: skip
@click.option(
    "--resume", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Keep the position in a file; continue from it if the file exists.",
)  # fmt: skip
@click.option("--metrics", metavar="HOST:PORT", help="Serve the run's counters to Prometheus while it lasts.")
@click.option(
    "--engine", type=click.Choice(["local", "spark"]), default="local", show_default=True,
    help="Run in this process, or as tasks of Spark.",
)  # fmt: skip
@click.option(
    "--master", metavar="URL", help="Use this Spark master, or sc://HOST; default: spark-submit's, else local[*]."
)
@click.option("--conf", multiple=True, metavar="KEY=VALUE", help="Set a Spark setting, such as spark.driver.memory=4g.")
@click.option(
    "--tasks", type=WholeNumber(1, MOST_TASKS), metavar="N",
    help="Divide the run among N Spark tasks; default: by its size and the cores.",
)  # fmt: skip
@click.option(
    "--workers", type=WholeNumber(1, MOST_WORKERS), metavar="N",
    help="Render in N processes of 200 to 350 MiB, to the same bytes; default: the cores of the machine, at most 8, "
    "and 1 with --rate or for less than a million changes.",
)  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="Print no progress and no summary.")
@gathered(subject=Subject, span=Span, sending=Sending, about=About, engine=Engine)
def run(subject: Subject, span: Span, sending: Sending, about: About, engine: Engine, quiet: bool) -> int:
    """Generate changes, encode them and publish the messages, until Ctrl-C if nothing else ends the run."""
    from simulator.cli import outcome, progress
    from simulator.run.session import open_session

    if engine.engine == "spark":
        from simulator.cli.commands import spark

        spark.check(span, sending, about, engine)
    elif engine.master is not None or engine.conf or engine.tasks is not None:
        raise UsageError("--master, --conf and --tasks are for runs on Spark: add --engine spark, or leave them out.")
    session = open_session(subject, span, sending, about, opened=announce)
    if engine.engine == "spark":
        return spark.run(session, engine, quiet=quiet)
    done = session.run(
        workers=engine.workers,
        report=progress.reporter(session, quiet=quiet),
        around=partial(_watched, quiet=quiet),
    )
    outcome.report(session, done, quiet=quiet)
    return INTERRUPTED if done.summary.interrupted else 0


@contextmanager
def _watched(run: Run, *, quiet: bool) -> Iterator[None]:
    """Handles signals during a run (the first ends it in order, the second at once) and reports waits on stderr."""
    from simulator.cli import progress

    if run.sink.notice is not None and not quiet:
        click.echo(run.sink.notice, err=True)
    with stopped_by_signals(run), progress.waiting(run.sink, quiet=quiet):
        try:
            yield
        except KeyboardInterrupt:
            run.abandon()
