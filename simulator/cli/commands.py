"""The commands. They read options and print; what they do is elsewhere."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

import click

from simulator import __version__
from simulator.cli.mistakes import sentence
from simulator.cli.options import (
    MOST_CHANGES,
    MOST_PARTITIONS,
    MOST_TASKS,
    MOST_TURNS,
    MOST_WORKERS,
    WholeNumber,
    broker_option,
    colours,
    complete_format,
    complete_scenario,
    complete_source,
    force_option,
    format_option,
    json_option,
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
from simulator.errors import DeliveryFailed, SimulatorError, UnknownName, UsageError

if TYPE_CHECKING:
    from simulator.formats.format import Broker
    from simulator.run.job import Job
    from simulator.stream.engine.block import Stream

INTERRUPTED = 130


def main() -> NoReturn:
    """Run a command; every mistake becomes one sentence on stderr and an exit status."""
    # Arrow's allocator gives freed memory back to the system after 10 ms; taking it again, page by page, costs a fifth
    # of a run. Read when Arrow is loaded, so set before.
    os.environ.setdefault("MIMALLOC_PURGE_DELAY", "5000")
    if sys.stderr is None:  # closed by whoever started this: what is said there goes nowhere, and not into a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115 (until the process ends)
    try:
        status = cli(standalone_mode=False, prog_name="cdcsim")
    except (click.Abort, KeyboardInterrupt):
        sys.exit(INTERRUPTED)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(2)
    except click.ClickException as error:
        click.echo(sentence(error), err=True)
        sys.exit(2)
    except SimulatorError as error:
        click.echo("\n".join(f"cdcsim: {line}" for line in str(error).splitlines()), err=True)
        sys.exit(error.exit_status)
    except _ReaderGone:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        click.echo(f"cdcsim: {error.filename or 'the output'}: {error.strerror}.", err=True)
        if sys.stdout is not None:  # what could not be written is not tried again
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    sys.exit(status if isinstance(status, int) else 0)


class _ReaderGone(Exception):
    """Who reads the output (head, less) has seen enough."""


class _Command(click.Command):
    """An option that is given twice is a mistake; click takes the last one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        _, _, given = self.make_parser(ctx).parse_args(list(args))
        for parameter in given:
            if isinstance(parameter, click.Option) and not parameter.multiple and given.count(parameter) > 1:
                raise click.UsageError(f"{parameter.opts[-1]} is given twice: leave one out", ctx)
        return super().parse_args(ctx, args)


class _Commands(click.Group):
    """Click ends with status 1 at a broken pipe, before anybody else can see it."""

    command_class = _Command

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        try:
            return super().make_context(*args, **extra)
        except BrokenPipeError:
            raise _ReaderGone from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise _ReaderGone from None


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="cdcsim")
def cli() -> None:
    """A CDC producer without a database: believable histories in the bytes of real CDC products."""


# ---------------------------------------------------------------------------------------------------------------- run


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
    from simulator.run.job import broker_of, open_job
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
            raise UsageError(f"--start now: a run that goes on begins at the same time again; write --start {time}.")
    job = open_job(
        scenario,
        format,
        source=source,
        seed=seed,
        broker=broker_of(to, cast("Broker", broker)),
        allow_undocumented=allow_undocumented,
        force=force,
        sql_engine=sql_engine,
        settings=settings,
    )
    _report_errors(job.stream)
    if job.source_chosen and not quiet:
        _report_source(job)
    job.addressed(route=route)  # a wrong route is an error before anything is opened
    if job.codec.format.binary and not envelope and to == "-":
        raise UsageError(
            f"-f {format} is binary and makes no lines of text: write files with --to file:DIR, or JSON lines with "
            "--envelope."
        )
    pace = parse_pace(rate) if rate else None
    limits = Limits(start_at, limit, turns, parse_duration(duration) if duration else None)
    for option, path in (("--summary-to", summary_to), ("--record", record), ("--resume", resume)):
        if path is not None and not path.absolute().parent.is_dir():
            raise UsageError(f"{option} {path}: there is no folder {str(path.parent)!r}.")
    identity = job.identity(to, limits, route=route, snapshot=snapshot)
    result = outcome.Outcome(job, scenario, format, to, seed, settings, summary_to, record, quiet)
    if engine == "spark":
        from simulator.cli import spark

        unfit = {
            "--rate": rate,
            "--duration": duration,
            "--resume": resume,
            "--metrics": metrics,
            "--workers": workers > 1,
        }
        spark.check(to, [name for name, value in unfit.items() if value], clock, envelope, job)
        this_run = spark.open_run(
            job, to, limits, route=route, snapshot=snapshot, envelope=envelope, master=master, conf=conf, tasks=tasks,
            record=record is not None, quiet=quiet,
        )  # fmt: skip
        stopped: SimulatorError | None = None
        with this_run as spark_run, _stopped_by_signals(spark_run):
            try:
                done = spark_run()
            except SimulatorError as error:
                done, stopped = spark_run.summary, error
                if not done.messages:
                    raise
            if done.interrupted and not done.messages:
                click.echo(f"interrupted: {to} is not complete; remove what is there, then run again.", err=True)
                return INTERRUPTED
            result.report(done, lambda facts: spark_run.record({**facts, "run": identity}), stopped)
        return INTERRUPTED if done.interrupted else 0
    if master is not None or conf or tasks is not None:
        raise UsageError("--master, --conf and --tasks are for runs on Spark: add --engine spark, or leave them out.")
    if resume is not None and to == "-":
        raise UsageError("--resume: what went to standard output cannot be gone on with; write to files or a broker.")
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
        with serving, _stopped_by_signals(this), progress.waiting(sink, quiet=quiet):
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


@contextmanager
def _stopped_by_signals(this: Any) -> Iterator[None]:
    """The first Ctrl-C or SIGTERM ends the run in order, the second at once."""

    def handle(number: int, frame: object) -> None:
        if this.stop:
            raise KeyboardInterrupt
        this.stop = True

    try:
        before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not in the main thread: the caller handles signals there
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _report_source(job: Job) -> None:
    click.echo(f"Nothing names a source, so it is {job.source}, which {job.format} is for.", err=True)


def _report_errors(stream: Stream) -> None:
    """What --force continued after, and what a server may do otherwise."""
    for error in (*stream.errors, *stream.warnings):
        click.echo(f"cdcsim: {error}", err=True)


# --------------------------------------------------------------------------------------------------------------- look


@cli.command()
@scenario_argument
@format_option
@click.option(
    "-n", "count", type=WholeNumber(1, MOST_CHANGES), default=5, show_default=True, metavar="N",
    help="Print N messages.",
)  # fmt: skip
@click.option(
    "--step", metavar="NAME", help="Print only messages of this step of a lifecycle or script, such as `pay` of orders."
)
@start_time_option
@start_option
@snapshot_option
@route_option
@click.option(
    "--partitions",
    type=WholeNumber(1, MOST_PARTITIONS),
    default=1,
    show_default=True,
    metavar="N",
    help="Route each topic to N partitions.",
)
@source_option
@seed_option
@set_option
@broker_option
@undocumented_option
@force_option
@sql_engine_option
def show(
    scenario: str,
    format: str,
    count: int,
    step: str | None,
    start: str | None,
    start_at: int,
    snapshot: bool | None,
    route: str | None,
    partitions: int,
    source: str | None,
    seed: int | None,
    settings: tuple[str, ...],
    broker: str,
    allow_undocumented: bool,
    force: bool,
    sql_engine: str | None,
) -> None:
    """Print messages for people: topic, partition, key, headers, and the value indented."""
    from itertools import islice

    from simulator.cli.messages import message_text
    from simulator.run.job import Partitions, open_job
    from simulator.run.plan import Limits
    from simulator.run.scenario import start_setting

    if start is not None:
        settings = (*settings, start_setting(start))
    job = open_job(
        scenario,
        format,
        source=source,
        seed=seed,
        broker=cast("Broker", broker),
        allow_undocumented=allow_undocumented,
        force=force,
        sql_engine=sql_engine,
        settings=settings,
    )
    _report_errors(job.stream)
    if job.source_chosen:
        _report_source(job)
    if step is not None and step not in job.stream.step_names:
        names = ", ".join(map(repr, job.stream.step_names))
        hint = f"The scenario has {names}." if names else "The scenario names no steps."
        raise UnknownName("step", step, job.stream.step_names, hint)
    job = job.addressed(route=route, partitions=Partitions(partitions))
    messages = job.messages(Limits(start_at), snapshot=snapshot)
    for message in islice((each for each in messages if step in (None, each.step)), count):
        click.echo(message_text(message, job.codec))


@cli.command()
@click.argument("scenario", default="compare", shell_complete=complete_scenario)
@click.option(
    "-f", "--format", "formats", multiple=True, metavar="FORMAT[,OPTION=VALUE…]", shell_complete=complete_format,
    help="Compare this format; give it once for each. Default: all that the source can have.",
)  # fmt: skip
@click.option(
    "--base", metavar="FORMAT", shell_complete=complete_format,
    help="Mark what differs from this format; default: the first.",
)  # fmt: skip
@click.option(
    "--source", "sources", multiple=True, metavar="ID[-VERSION]", shell_complete=complete_source,
    help="Simulate this source system; a page can have several. Default: the scenario's, of a page all.",
)  # fmt: skip
@click.option(
    "--kind", "kinds", multiple=True, type=click.Choice(["read", "insert", "update", "delete", "ddl", "heartbeat"]),
    help="Compare events of this kind; give it once for each. Default: all.",
)  # fmt: skip
@click.option(
    "--limit", type=WholeNumber(0, MOST_CHANGES), metavar="N",
    help="Compare so many row changes; default: a script's all, 5 of another scenario.",
)  # fmt: skip
@start_option
@snapshot_option
@seed_option
@json_option
@click.option(
    "--html", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Write a page for the browser, with all messages, kinds of events, column types and formats.",
)  # fmt: skip
def compare(
    scenario: str,
    formats: tuple[str, ...],
    base: str | None,
    sources: tuple[str, ...],
    kinds: tuple[str, ...],
    limit: int | None,
    start_at: int,
    snapshot: bool | None,
    seed: int | None,
    as_json: bool,
    html: Path | None,
) -> None:
    """Show the same changes in several formats, side by side.

    \b
    cdcsim compare -f canal-json -f dts-canal-json --kind update
    cdcsim compare --html formats.html
    """
    if base is not None and formats and base not in formats:
        raise UsageError(
            f"--base {base}: it is none of the formats compared, {', '.join(formats)}; give -f {base}, too."
        )
    if html is not None:
        from simulator.compare.page import page

        text = page(
            scenario, formats, sources=sources, base=base, seed=seed, start_at=start_at, limit=limit, snapshot=snapshot,
            report=lambda source: click.echo(f"{source} …", err=True),
        )  # fmt: skip
        html.write_text(text, encoding="utf-8")
        click.echo(f"{html}: {len(text.encode()):,} bytes; open it in a browser.", err=True)
        return
    from simulator.cli import listings
    from simulator.compare.comparison import compare as compare_formats
    from simulator.compare.terminal import text as as_text

    if len(sources) > 1:
        raise UsageError(
            "--source: a terminal shows one source system; leave the others out, or write a page with --html."
        )
    found = compare_formats(
        scenario, formats, source=sources[0] if sources else None, seed=seed, start_at=start_at, limit=limit,
        snapshot=snapshot, kinds=kinds,
    )  # fmt: skip
    if base is not None and base not in found.formats:
        raise UsageError(f"--base {base}: the formats compared are {', '.join(found.formats)}.")
    if as_json:
        click.echo(listings.as_json(found.facts()))
    else:
        width = shutil.get_terminal_size((120, 24)).columns
        click.echo(as_text(found, base=base or found.formats[0], width=width), color=colours())
    if found.failure is not None:
        raise found.failure


@cli.command()
@click.argument("scenario", default="compare", shell_complete=complete_scenario)
@click.option(
    "--port", type=WholeNumber(0, 65535), default=0, metavar="PORT",
    help="Listen on this port of 127.0.0.1; default: one that is free.",
)  # fmt: skip
@click.option("--no-browser", is_flag=True, help="Print the address of the page only.")
def explore(scenario: str, port: int, no_browser: bool) -> int:
    """Edit a small scenario in the browser and see its messages change, until Ctrl-C.

    SCENARIO (default: compare) is what the editor begins with; nothing is written to its file.

    \b
    cdcsim explore
    cdcsim explore fixture.sql --no-browser
    """
    from simulator.cli.explore import serve

    serve(scenario, port, browser=not no_browser)
    return INTERRUPTED


@cli.command()
@scenario_argument
@click.option(
    "--at",
    type=click.IntRange(min=0),
    metavar="TURN",
    help="Write the rows before the first transaction border at or after this turn; default: the end of a script.",
)
@click.option("--to", "folder", required=True, type=click.Path(path_type=Path), metavar="DIR", help="A new folder.")
@click.option(
    "--as", "form", type=click.Choice(["parquet", "csv", "jsonl"]), default="parquet", show_default=True,
    help="Parquet has types; CSV and JSON lines hold values as the database's client prints them.",
)  # fmt: skip
@source_option
@seed_option
@set_option
@force_option
@sql_engine_option
def expected(
    scenario: str,
    at: int | None,
    folder: Path,
    form: str,
    source: str | None,
    seed: int | None,
    settings: tuple[str, ...],
    force: bool,
    sql_engine: str | None,
) -> None:
    """Write the rows that every table must hold before a turn, one file per table."""
    from simulator.cli.progress import counted
    from simulator.run.scenario import load, open_stream, resolve
    from simulator.truth.expected import write_expected

    loaded, system = load(scenario, source, sql_engine, settings)
    stream = open_stream(resolve(loaded, system, seed=seed), system, force=force)
    tables = write_expected(stream, at, folder, form)
    for each in tables:
        click.echo(f"{folder / each.file}: {counted(each.rows, 'row')}", err=True)
    if stream.failure is not None:
        raise stream.failure


@cli.command()
@click.argument("script", metavar="SCRIPT.sql|URL")
@click.option(
    "--to", required=True, type=click.Path(dir_okay=False, path_type=Path), metavar="FILE.cdc", help="Write this file."
)
@click.option("--from", "start", metavar="FILE:OFFSET", help="Read the binlog of the server URL from here.")
@click.option("--until", metavar="FILE:OFFSET", help="Read the binlog up to here; default: its end.")
@click.option("--databases", default="", metavar="A,B", help="Read of the binlog these databases alone; default: all.")
@source_option
@set_option
@force_option
@sql_engine_option
def record(
    script: str,
    to: Path,
    start: str | None,
    until: str | None,
    databases: str,
    source: str | None,
    settings: tuple[str, ...],
    force: bool,
    sql_engine: str | None,
) -> None:
    """Write a history to a file, which every command takes for a scenario, without a server: that of a SQL script,
    which is run, or one that a MySQL or MariaDB server has in its binlog.

    \b
    cdcsim record fixture.sql --source postgresql --to fixture.cdc
    cdcsim record mysql://root@127.0.0.1:3306 --from mysql-bin.000003:4 --to history.cdc
    cdcsim run fixture.cdc -f drs-json
    """
    from simulator.cli.progress import counted
    from simulator.run import scenario
    from simulator.sql import RECORDING, is_script

    if to.suffix != RECORDING or not ("://" in script or (is_script(script) and not script.endswith(RECORDING))):
        raise UsageError(f"record {script} --to {to}: expected SCRIPT.sql, or a server's URL, and --to FILE.cdc.")
    if "://" in script:
        if start is None or source or settings or force or sql_engine:
            raise UsageError("record of a server's binlog needs --from, and takes --until and --databases besides.")
        stream = scenario.record_log(script, start, until, [name for name in databases.split(",") if name], to)
    else:
        if start or until or databases:
            raise UsageError(f"--from, --until and --databases are about a server's binlog, and {script} is a script.")
        loaded, system = scenario.load(script, source, sql_engine, settings)
        stream = scenario.record(loaded, system, to, force=force)
        _report_errors(stream)
    click.echo(f"{to}: {counted(stream.turns or 0, 'transaction')} of {stream.source}", err=True)


@cli.command()
@scenario_argument
@source_option
@set_option
@force_option
@sql_engine_option
@json_option
def check(
    scenario: str, source: str | None, settings: tuple[str, ...], force: bool, sql_engine: str | None, as_json: bool
) -> int:
    """Check a scenario; print its tables and what its stream will look like. An error names file, line and key."""
    from simulator.cli import listings
    from simulator.run.scenario import load, open_stream, resolve

    loaded, system = load(scenario, source, sql_engine, settings)
    stream = open_stream(resolve(loaded, system), system, force=force)
    _report_errors(stream)
    if stream.failure is not None:
        raise stream.failure
    facts = listings.checked(stream)
    click.echo(listings.as_json(facts) if as_json else listings.checked_text(facts))
    return 2 if facts["errors"] else 0


@cli.command()
@scenario_argument
@format_option
@click.option(
    "--limit", type=WholeNumber(1, MOST_CHANGES), default=100_000, show_default=True, metavar="N",
    help="Estimate a run of so many row changes.",
)  # fmt: skip
@click.option("--rate", metavar="RATE", help="Tell the time at this rate, such as 50000/s.")
@start_option
@snapshot_option
@source_option
@seed_option
@set_option
@broker_option
@json_option
def explain(
    scenario: str,
    format: str,
    limit: int,
    rate: str | None,
    start_at: int,
    snapshot: bool | None,
    source: str | None,
    seed: int | None,
    settings: tuple[str, ...],
    broker: str,
    as_json: bool,
) -> None:
    """Estimate what a run will send: messages, sizes, topics, bytes and time, then the tables' shares.

    \b
    cdcsim explain orders -f canal-json --limit 1000000 --rate 5000/s
    """
    from simulator.cli import listings
    from simulator.run.estimate import estimate, text
    from simulator.run.job import open_job
    from simulator.run.pacing import parse_pace
    from simulator.run.plan import Limits

    pace = parse_pace(rate) if rate else None
    job = open_job(scenario, format, source=source, seed=seed, broker=cast("Broker", broker), settings=settings)
    facts = estimate(job, Limits(start_at, limit), snapshot=snapshot)
    shares = listings.outlook_of(job.stream)
    if as_json:
        click.echo(listings.as_json({**facts, "outlook": shares}))
        return
    click.echo(text(facts, pace))
    if shares is not None:
        click.echo("\nThe scenario, whatever the run:\n" + listings.outlook_text(shares))


@cli.command()
def schema() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    from simulator.cli import listings
    from simulator.stream.scenario.language import ScenarioSpec

    click.echo(listings.as_json(ScenarioSpec.model_json_schema()))


@cli.command()
@click.argument("format", required=False, shell_complete=complete_format)
@json_option
def formats(format: str | None, as_json: bool) -> None:
    """List the message formats, a line each; with a FORMAT: its sources, brokers, kinds of events and options."""
    from simulator.cli import listings
    from simulator.formats import find, listing

    if not format and not as_json:
        click.echo(listings.formats_text(listing.listed()))
        return
    from simulator.formats.facts import format_facts

    facts = [format_facts(find(name)) for name in ([format] if format else listing.known())]
    click.echo(listings.as_json(facts) if as_json else listings.format_text(facts[0]))


@cli.command()
@json_option
def sources(as_json: bool) -> None:
    """List the source systems and their versions."""
    from simulator.cli import listings
    from simulator.sources import listed

    facts = [{"id": id, "title": title, "versions": list(versions)} for id, (title, versions) in listed().items()]
    click.echo(listings.as_json(facts) if as_json else listings.sources_text(facts))


@cli.command()
@json_option
def scenarios(as_json: bool) -> None:
    """List the shipped scenarios."""
    from simulator.cli import listings
    from simulator.stream.scenario.shipped import about, shipped

    facts = [{"name": name, "about": about(path), "file": str(path)} for name, path in shipped().items()]
    click.echo(listings.as_json(facts) if as_json else listings.scenarios_text(facts))


@cli.command()
@click.argument("file", type=click.Path(allow_dash=True), metavar="FILE.sql")
@click.option(
    "--to", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Write to a new file; default: standard output.",
)  # fmt: skip
@click.option(
    "--source", metavar="ID[-VERSION]", shell_complete=complete_source,
    help="Read the statements as this server does: mysql, mysql-5.7, mariadb; default: as the file says, else mysql.",
)  # fmt: skip
def init(file: str, to: Path | None, source: str | None) -> None:
    """Write a scenario for the tables of a dump or of CREATE TABLE statements; `-` reads standard input.

    \b
    mysqldump --no-data shop | cdcsim init - --to shop.yaml
    cdcsim run shop.yaml -f canal-json --limit 5
    """
    from simulator.drafts.scenario import draft

    if to is not None and to.exists():
        raise UsageError(f"--to {to}: it is already there; name another file, or remove it.")
    text = draft(file, source)
    if to is None:
        click.echo(text, nl=False)
        return
    with to.open("x", encoding="utf-8") as output:
        output.write(text)
    click.echo(f"{to}: {text.count(chr(10))} lines; `cdcsim check {to}` tells what will happen.", err=True)


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a completion script: `eval "$(cdcsim completion bash)"`."""
    from click.shell_completion import get_completion_class

    completer = get_completion_class(shell)
    assert completer is not None
    click.echo(completer(cli, {}, "cdcsim", "_CDCSIM_COMPLETE").source())
