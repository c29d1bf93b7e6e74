"""`cdcsim run`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.cli.group import cli
from simulator.cli.opening import Opening, gathered, job_options
from simulator.cli.options import (
    MOST_CHANGES,
    MOST_TASKS,
    MOST_TURNS,
    MOST_WORKERS,
    WholeNumber,
    format_option,
    route_option,
    scenario_argument,
    snapshot_option,
    start_option,
)
from simulator.cli.run_options import About, Engine, Sending, Span
from simulator.cli.signals import INTERRUPTED, stopped_by_signals
from simulator.errors import DeliveryFailed, SimulatorError, UsageError

if TYPE_CHECKING:
    from simulator.cli.outcome import Outcome
    from simulator.run.job import Job


@cli.command()
@scenario_argument
@format_option
@click.option(
    "--to", default="-", metavar="URL",
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
    help="Send so many row changes a second: 50000/s, or 2000messages/s, 20MB/s, ramp:, sine:, spike:1k..50k/10m, "
    "steps:1k,5k,2k/10m, curve:FILE (CSV of seconds,rate); default: no rate.",
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
    help="Keep the position in a file; if it is there, go on from it.",
)  # fmt: skip
@click.option("--metrics", metavar="HOST:PORT", help="Serve the run's counters to Prometheus while it lasts.")
@click.option(
    "--engine", type=click.Choice(["local", "spark"]), default="local", show_default=True,
    help="Run in this process, or as tasks of Spark.",
)  # fmt: skip
@click.option(
    "--master", metavar="URL", help="Use this Spark master, or sc://HOST; default: spark-submit's, else local[*]."
)
@click.option("--conf", multiple=True, metavar="KEY=VALUE", help="Set Spark's setting, such as spark.driver.memory=4g.")
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
@gathered(opening=Opening, span=Span, sending=Sending, about=About, engine=Engine)
def run(opening: Opening, span: Span, sending: Sending, about: About, engine: Engine, quiet: bool) -> int:
    """Generate changes, encode them and publish the messages, until Ctrl-C if nothing else ends the run."""
    from simulator.cli.outcome import Outcome
    from simulator.run.resume import check_resumable

    if opening.start == "now" and about.resume is not None:
        time = opening.all_settings[-1].removeprefix("start=")
        raise UsageError(f"--start now: a resumed run must begin at the same time as before; write --start {time}.")
    job = opening.job(sending.to, quiet=quiet)
    job.addressed(route=sending.route)  # a wrong route is an error before anything is opened
    if job.codec.format.binary and not sending.envelope and sending.to == "-":
        raise UsageError(
            f"-f {opening.format} is binary, not lines of text: write files with --to file:DIR, or JSON lines with "
            "--envelope."
        )
    files = about.files()
    outcome = Outcome(job, opening, sending.to, files, quiet)
    if engine.engine == "spark":
        from simulator.cli.commands import spark

        spark.check(job, span, sending, about, engine)
        return spark.run(job, span, sending, engine, outcome)
    if engine.master is not None or engine.conf or engine.tasks is not None:
        raise UsageError("--master, --conf and --tasks are for runs on Spark: add --engine spark, or leave them out.")
    if about.resume is not None:
        check_resumable("--resume", sending.to)
    return _run_here(job, span, sending, about, engine.workers, outcome)


def _run_here(job: Job, span: Span, sending: Sending, about: About, workers: int | None, outcome: Outcome) -> int:
    """Run in this process and its workers; the exit status. Raises SimulatorError."""
    from simulator.cli import progress
    from simulator.run.account import Account
    from simulator.run.pacing import parse_pace
    from simulator.run.resume import Resumed
    from simulator.sinks import open_sink

    pace, limits = parse_pace(sending.rate) if sending.rate else None, span.limits()
    identity = sending.identity(job, span)
    account = Account(outcome.files, identity, about.metrics)
    layout = job.codec.layout
    with ExitStack() as opened:
        resumed = None if about.resume is None else opened.enter_context(Resumed(about.resume, identity))
        sink = opened.enter_context(
            open_sink(
                sending.to, envelope=sending.envelope, container=layout.container, properties=layout.rabbitmq,
                files=None if resumed is None else resumed.files,
            )
        )  # fmt: skip
        if resumed is not None:
            resumed.ask(sink)
        account.watch(sink, resumed)
        this = job.run(
            sink, limits=limits, route=sending.route, snapshot=span.snapshot, pace=pace,
            wall_clock=sending.clock == "wall", report=progress.reporter(limits, sending.to, quiet=outcome.quiet),
            resumed=resumed, workers=workers,
        )  # fmt: skip
        failure: SimulatorError | None = None
        with account.serving(this), stopped_by_signals(this), progress.waiting(sink, quiet=outcome.quiet):
            try:
                this()
            except SimulatorError as error:
                # what was sent before is accounted for; a run that never began has only its error
                if not isinstance(error, DeliveryFailed) and not this.summary.messages:
                    raise
                failure = error
            except KeyboardInterrupt:  # the second: what is on its way is counted as failed
                sink.close()
                this.summary.delivered, this.summary.failed = sink.delivered, sink.failed
        earlier = None if resumed is None or resumed.begins else identity
        outcome.report(this.summary, lambda facts: account.document(facts, failure or job.failure), failure, earlier)
        return INTERRUPTED if this.summary.interrupted else 0
