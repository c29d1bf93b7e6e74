"""`cdcsim hunt`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from simulator.cli.group import cli
from simulator.cli.options import (
    MOST_WORKERS,
    WholeNumber,
    complete_format,
    complete_scenario,
    set_option,
    source_option,
)
from simulator.errors import UsageError

SCENARIOS = ("orders", "tour", "boundary", "hostile")


@cli.command()
@click.option(
    "-s", "--scenario", "scenarios", multiple=True, metavar="SCENARIO", shell_complete=complete_scenario,
    help=f"Take histories from this scenario; give it once for each; default: {', '.join(SCENARIOS)}.",
)  # fmt: skip
@click.option(
    "-f", "--format", default="", metavar="FORMAT[,OPTION=VALUE…]", shell_complete=complete_format,
    help="The format of the messages.",
)  # fmt: skip
@source_option
@set_option
@click.option("--seed", type=WholeNumber(0, 2**63 - 1), default=0, metavar="N", help="Propose other cases; default: 0.")
@click.option(
    "--minutes", type=click.FloatRange(0, min_open=True), default=2.0, metavar="N", show_default=True,
    help="Search for this long; making a failing case smaller takes up to half as long again.",
)  # fmt: skip
@click.option("--rounds", type=WholeNumber(1, 10**9), metavar="N", help="Try at most this many cases.")
@click.option(
    "--jobs", type=WholeNumber(1, MOST_WORKERS), metavar="N", help="Run this many cases at once; default: one per core."
)
@click.option(
    "--timeout", "seconds", type=click.FloatRange(0, min_open=True), default=60.0, metavar="SECONDS",
    show_default=True, help="A consumer that takes longer for a case has failed.",
)  # fmt: skip
@click.option(
    "--faults", multiple=True, metavar="FAULT=VALUE,…|none",
    help="Inject these faults in every other case, as run --faults does; give it once for each alternative; default: "
    "redelivery, duplicates, and partitions ahead of each other.",
)  # fmt: skip
@click.option("--envelope", is_flag=True, help="Write whole messages as JSON lines, with topic, partition and key.")
@click.option(
    "--through", metavar="URL",
    help="Send the messages of each case to a broker first, such as kafka://HOST:PORT/hunt-{case}?partitions="
    "{partitions}.",
)  # fmt: skip
@click.option(
    "--table", default="{tables}", metavar="FOLDER|URL", show_default=True,
    help="The consumer's tables: a folder of .parquet, .csv or .jsonl files, or sqlite:{tables}/out.db.",
)  # fmt: skip
@click.option(
    "--tolerate", "tolerances", multiple=True, metavar="COLUMN=FORM",
    help="Compare columns less strictly, as verify does.",
)  # fmt: skip
@click.option(
    "--to", "folder", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
    help="Write a failing case to this folder: as YAML, with a test for pytest that replays it.",
)  # fmt: skip
@click.option(
    "--replay", "case_file", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
    help="Replay a case that a hunt wrote, instead of searching.",
)  # fmt: skip
@click.argument("command", nargs=-1, metavar="[-- COMMAND…]")
def hunt(
    scenarios: tuple[str, ...],
    format: str,
    source: str | None,
    settings: tuple[str, ...],
    seed: int,
    minutes: float,
    rounds: int | None,
    jobs: int | None,
    seconds: float,
    faults: tuple[str, ...],
    envelope: bool,
    through: str | None,
    table: str,
    tolerances: tuple[str, ...],
    folder: Path | None,
    case_file: Path | None,
    command: tuple[str, ...],
) -> int:
    """Search for a history that breaks a consumer, and make it small; exit status 1 if one is found.

    COMMAND is the consumer. It reads the messages of a case on stdin, or from the file {messages}, and leaves its
    tables in the folder {tables}; it must start empty for each case.

    \b
    cdcsim hunt -s orders -f canal-json -- python consumer.py {messages} {tables}
    cdcsim hunt -f debezium-json --to tests/regressions -- ./consumer {messages} {tables}
    cdcsim hunt --replay tests/regressions/orders_missing_1.yaml
    """
    from simulator.hunting.case import Case, read_case
    from simulator.hunting.cases import AT_LEAST_ONCE
    from simulator.hunting.consumer import Command
    from simulator.hunting.hunt import replay_case, search
    from simulator.hunting.regression import write_regression

    if case_file is not None:
        case, words = read_case(case_file)
        if not (command or words):
            raise UsageError(f"--replay {case_file}: it names no command; write it behind --.")
        result = replay_case(case, Command(command or words, envelope, table, through, seconds), tolerances)
        click.echo(str(result))
        return 0 if result.ok else 1
    if not command:
        raise UsageError("hunt needs a consumer: cdcsim hunt -f canal-json -- COMMAND {messages} {tables}.")
    if not format:
        raise UsageError("hunt needs -f FORMAT, the format of the messages.")
    bases = [Case(name, format, source, None, settings) for name in scenarios or SCENARIOS]
    result = search(
        bases,
        Command(command, envelope, table, through, seconds),
        seed=seed,
        minutes=minutes,
        rounds=rounds,
        jobs=jobs,
        faults=faults or AT_LEAST_ONCE,
        tolerate=tolerances,
        report=_progress,
    )
    click.echo(str(result))
    if result.ok:
        return 0
    assert result.case is not None
    if folder is not None:
        click.echo(f"written: {write_regression(result, folder, command)}")
    else:
        click.echo("\n" + result.case.as_yaml(result.sentence, command).rstrip())
    return 1


def _progress(tried: int, failure: object) -> None:
    """Progress on a terminal; a line in any case when something fails."""
    if failure is not None:
        click.echo(f"case {tried:,} failed; making it smaller …", err=True)
    elif sys.stderr.isatty() and tried % 10 == 0:
        click.echo(f"\r{tried:,} cases", err=True, nl=False)
