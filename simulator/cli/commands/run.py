"""`cdcsim run`."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from simulator.cli.group import cli
from simulator.cli.opening import opened
from simulator.cli.options import (
    MOST_CHANGES,
    MOST_TASKS,
    MOST_TURNS,
    MOST_WORKERS,
    WholeNumber,
    broker_option,
    force_option,
    format_option,
    route_option,
    scenario_argument,
    seed_option,
    set_option,
    snapshot_option,
    source_option,
    sql_engine_option,
    start_option,
    start_time_option,
    undocumented_option,
)
from simulator.cli.signals import INTERRUPTED, stopped_by_signals
from simulator.errors import DeliveryFailed, SimulatorError, UsageError

if TYPE_CHECKING:
    from simulator.formats.format import Broker


@cli.command()
@scenario_argument
@format_option
@click.option(
    "--to", default="-", metavar="URL",
    help="Write to file:DIR, kafka://HOST:PORT/TOPIC, rocketmq://HOST:PORT/TOPIC or amqp://HOST/VHOST; default: - "
    "(standard output).",
)  # fmt: skip
@click.option(
    "--limit", type=WholeNumber(0, MOST_CHANGES), metavar="N",
    help="Stop at the first transaction border at or after N row changes; default: no limit.",
)  # fmt: skip
@click.option(
    "--turns",
    type=WholeNumber(0, MOST_TURNS),
    metavar="N",
    help="Stop at the first transaction border at or after N turns; default: no limit.",
)
@start_time_option
@start_option
@snapshot_option
@click.option(
    "--rate", metavar="RATE",
    help="Send so many row changes a second: 50000/s, or 2000messages/s, 20MB/s, ramp:, sine:, spike:1k..50k/10m, "
    "steps:1k,5k,2k/10m, curve:FILE (CSV of seconds,rate); default: no rate.",
)  # fmt: skip
@click.option(
    "--duration", metavar="TIME",
    help="Stop at the first transaction border after this time: 90s, 10m; default: no limit.",
)  # fmt: skip
@click.option(
    "--clock", type=click.Choice(["simulated", "wall"]), default="simulated", show_default=True,
    help="Stamp the product's write time (`ts`) with simulated time, or with the current time (wall); event times stay "
    "simulated: --start now begins them at the current time.",
)  # fmt: skip
@route_option
@source_option
@seed_option
@set_option
@broker_option
@undocumented_option
@force_option
@sql_engine_option
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
@click.option("--master", metavar="URL", help="Use this Spark master; default: spark-submit's, else local[*].")
@click.option("--conf", multiple=True, metavar="KEY=VALUE", help="Set Spark's setting, such as spark.driver.memory=4g.")
@click.option(
    "--tasks", type=WholeNumber(1, MOST_TASKS), metavar="N",
    help="Divide the run among N Spark tasks; default: by its size and the cores.",
)  # fmt: skip
@click.option(
    "--workers", type=WholeNumber(1, MOST_WORKERS), metavar="N", default=1, show_default=True,
    help="Render in N processes, to the same bytes; no faster on machines of two cores.",
)  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="Print no progress and no summary.")
def run(
    scenario: str,
    format: str,
    to: str,
    limit: int | None,
    turns: int | None,
    start: str | None,
    start_at: int,
    snapshot: bool | None,
    rate: str | None,
    duration: str | None,
    clock: str,
    route: str | None,
    source: str | None,
    seed: int | None,
    settings: tuple[str, ...],
    broker: str,
    allow_undocumented: bool,
    force: bool,
    sql_engine: str | None,
    envelope: bool,
    summary_to: Path | None,
    record: Path | None,
    resume: Path | None,
    metrics: str | None,
    engine: str,
    master: str | None,
    conf: tuple[str, ...],
    tasks: int | None,
    workers: int,
    quiet: bool,
) -> int:
    """Generate changes, encode them and publish the messages, until Ctrl-C if nothing else ends the run."""
    from simulator.cli import outcome, progress
    from simulator.run.job import broker_of
    from simulator.run.latencies import Latencies
    from simulator.run.pacing import parse_duration, parse_pace
    from simulator.run.plan import Limits
    from simulator.run.record import Recorder
    from simulator.run.resume import Resumed
    from simulator.run.scenario import start_setting
    from simulator.sinks import open_sink

    if start is not None:
        settings = (*settings, start_setting(start))
        if start == "now" and resume is not None:
            time = settings[-1].removeprefix("start=")
            raise UsageError(f"--start now: a resumed run must begin at the same time as before; write --start {time}.")
    job = opened(
        scenario, format, quiet=quiet, source=source, seed=seed, broker=broker_of(to, cast("Broker", broker)),
        allow_undocumented=allow_undocumented, force=force, sql_engine=sql_engine, settings=settings,
    )  # fmt: skip
    job.addressed(route=route)  # a wrong route is an error before anything is opened
    if job.codec.format.binary and not envelope and to == "-":
        raise UsageError(
            f"-f {format} is binary, not lines of text: write files with --to file:DIR, or JSON lines with --envelope."
        )
    pace = parse_pace(rate) if rate else None
    limits = Limits(start_at, limit, turns, parse_duration(duration) if duration else None)
    for option, path in (("--summary-to", summary_to), ("--record", record), ("--resume", resume)):
        if path is not None and not path.absolute().parent.is_dir():
            raise UsageError(f"{option} {path}: there is no folder {str(path.parent)!r}.")
    identity = job.identity(to, limits, route=route, snapshot=snapshot)
    result = outcome.Outcome(job, scenario, format, to, seed, settings, summary_to, record, quiet)
    if engine == "spark":
        from simulator.cli.commands import spark

        unfit = {
            "--rate": rate,
            "--duration": duration,
            "--resume": resume,
            "--metrics": metrics,
            "--workers": workers > 1,
        }
        spark.check(to, [name for name, value in unfit.items() if value], clock, envelope, job)
        return spark.run(
            job, to, limits, result, identity, route=route, snapshot=snapshot, envelope=envelope, master=master,
            conf=conf, tasks=tasks,
        )  # fmt: skip
    if master is not None or conf or tasks is not None:
        raise UsageError("--master, --conf and --tasks are for runs on Spark: add --engine spark, or leave them out.")
    if resume is not None and to == "-":
        raise UsageError("--resume: a run to standard output cannot be resumed; add --to file:DIR or a broker's URL.")
    address = None
    if metrics is not None:  # an HTTP server takes a while to import
        from simulator.run.metrics import parse_address, served

        address = parse_address(metrics)
    resumed = None if resume is None else Resumed(resume, identity)
    sizes = None if resumed is None else resumed.sizes
    layout = job.codec.layout
    with open_sink(to, envelope=envelope, container=layout.container, properties=layout.rabbitmq, sizes=sizes) as sink:
        if resumed is not None:
            resumed.ask(sink)
        latencies = Latencies()
        if record is not None or metrics is not None:
            sink.ledger.latencies = latencies
        recorder = None if record is None else Recorder(sink, latencies)
        report = None if quiet else progress.Reporter(limits)
        this = job.run(
            sink, limits=limits, route=route, snapshot=snapshot, pace=pace, wall_clock=clock == "wall", report=report,
            resumed=resumed, workers=workers,
        )  # fmt: skip
        failure: SimulatorError | None = None
        serving = nullcontext() if address is None else served(address, this, latencies)
        with serving, stopped_by_signals(this), progress.waiting(sink, quiet=quiet):
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

        def recorded(facts: dict[str, Any]) -> object:
            return None if recorder is None else recorder.document({**facts, "run": identity}, failure or job.failure)

        result.report(this.summary, recorded, failure)
        return INTERRUPTED if this.summary.interrupted else 0
