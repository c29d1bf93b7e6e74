"""`cdcsim verify`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.cli.group import cli
from simulator.cli.opening import gathered, job_options, opened, report_errors, without_verdict
from simulator.cli.options import (
    MOST_CHANGES,
    MOST_TURNS,
    MOST_WORKERS,
    WholeNumber,
    complete_format,
    route_option,
    scenario_argument,
    snapshot_option,
    start_option,
)
from simulator.errors import UsageError
from simulator.run.request import Span, Subject

if TYPE_CHECKING:
    from simulator.truth.verify.findings import Verdict


@dataclass(frozen=True)
class Following:
    """Options of `--follow`."""

    follow: bool = False
    reached: str | None = None
    quiet: str | None = None
    timeout: str | None = None


@cli.command()
@scenario_argument
@click.option(
    "-f", "--format", default="", metavar="FORMAT[,OPTION=VALUE…]", shell_complete=complete_format,
    help="The format of the messages; with --table, expect what a consumer of this format can know.",
)  # fmt: skip
@click.option(
    "--from", "origin", metavar="URL",
    help="Read messages from kafka://HOST:PORT/TOPIC, rocketmq://HOST:PORT/TOPIC, amqp://HOST/?queue=NAME, "
    "file:DIR?partitions=N, parquet:DIR, a file, or - (stdin).",
)  # fmt: skip
@click.option(
    "--limit", type=WholeNumber(0, MOST_CHANGES), metavar="N",
    help="Expect the messages of N row changes and the rest of their transaction, as the run's --limit did.",
)  # fmt: skip
@click.option(
    "--turns", type=WholeNumber(0, MOST_TURNS), metavar="N",
    help="Expect the messages of N turns; a run's summary names its first turn and the one after its last.",
)  # fmt: skip
@start_option
@snapshot_option
@route_option
@job_options
@click.option(
    "--record", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
    help="Take first turn, end, seed, route and snapshot from the file that the run's --record wrote.",
)  # fmt: skip
@click.option(
    "--at-least-once", is_flag=True,
    help="Allow messages that are repeated in order up to the point where the stream continues, as after a restart.",
)  # fmt: skip
@click.option(
    "--workers", type=WholeNumber(1, MOST_WORKERS), metavar="N",
    help="Render the messages expected in N processes of 200 to 350 MiB; default: the cores of the machine, at most 8, "
    "and 1 for less than a million changes.",
)  # fmt: skip
@click.option(
    "--report", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Write the counts and the first findings of each kind to a file as JSON.",
)  # fmt: skip
@click.option(
    "--table", "tables", multiple=True, metavar="[NAME=]FILE|URL",
    help="Compare a consumer's table instead: .parquet, .csv, .jsonl, a folder of them, of Delta Lake or Iceberg, "
    "sqlite:FILE, duckdb:FILE, mysql://…, postgresql://… (#NAME: its name there).",
)  # fmt: skip
@click.option(
    "--at", type=WholeNumber(0, MOST_TURNS), metavar="TURN",
    help="Expect the rows before the first transaction at or after this turn; default: the end of a script.",
)  # fmt: skip
@click.option(
    "--tolerate", "tolerances", multiple=True, metavar="COLUMN=FORM",
    help="Compare columns less strictly: round:N, ms, s, trim, nocase, zone:+08:00 or ignore; COLUMN may be "
    "orders.note or *_at.",
)  # fmt: skip
@click.option(
    "--preset", "presets", multiple=True, metavar="SINK",
    help="Allow what a sink's types cannot hold: connect-jdbc, flink, doris or clickhouse.",
)  # fmt: skip
@click.option(
    "--follow", is_flag=True,
    help="Read the tables of a running consumer until they are right or stay unchanged; tell lag from loss.",
)  # fmt: skip
@click.option(
    "--reached", metavar="turn:COLUMN|time:COLUMN",
    help=(
        "With --follow: a column with the turn or the commit time that the consumer has applied; default: "
        "the newest visible change."
    ),
)  # fmt: skip
@click.option(
    "--quiet", "quiet", metavar="TIME", help="With --follow: end when the tables are unchanged this long; default: 30s."
)
@click.option("--timeout", metavar="TIME", help="With --follow: end after this time; default: 10m.")
@gathered(subject=Subject, span=Span, following=Following)
@without_verdict
def verify(
    subject: Subject,
    span: Span,
    following: Following,
    origin: str | None,
    record: Path | None,
    at_least_once: bool,
    workers: int | None,
    report: Path | None,
    tables: tuple[str, ...],
    at: int | None,
    tolerances: tuple[str, ...],
    presets: tuple[str, ...],
) -> int:
    """Compare messages that were read back, or a consumer's tables, with those of the run; exit status 1 if anything is
    wrong, 2 if no verdict is possible.

    \b
    cdcsim run orders -f canal-json --limit 100k --to file:out?partitions=6 --record run.json
    cdcsim verify orders -f canal-json --from file:out?partitions=6 --record run.json
    cdcsim verify orders -f canal-json --table sqlite:consumer.db --at 20000
    cdcsim verify orders -f canal-json --table postgresql://me@host/db --at 20000 --follow --timeout 10m
    """
    from simulator.sinks import broker_of
    from simulator.truth.verify.verify import recorded, verify_job

    if (origin is None) == (not tables):
        raise UsageError("verify: expected either --from for messages, or --table for tables.")
    if tables:
        if span != Span() or record is not None or at_least_once or workers is not None:
            raise UsageError("verify --table takes the turn of the rows, --at; options of messages go with --from.")
        return _verify_tables(subject, tables, at, (tolerances, presets), following, report)
    if at is not None or tolerances or presets or following != Following():
        raise UsageError("--at, --tolerate and --follow are about tables: they go with --table.")
    assert origin is not None
    if not subject.format:
        raise UsageError("verify --from needs -f FORMAT, the format of the messages.")

    fingerprint = None
    if record is not None:
        subject, span, fingerprint = recorded(record, subject, span)
    job = opened(subject, broker_of(origin))
    verdict = verify_job(job, origin, span, fingerprint=fingerprint, at_least_once=at_least_once, workers=workers)
    return print_verdict(verdict, report)


def _verify_tables(
    subject: Subject,
    outputs: tuple[str, ...],
    at: int | None,
    allowed: tuple[tuple[str, ...], tuple[str, ...]],
    following: Following,
    report: Path | None,
) -> int:
    import orjson

    from simulator.cli.progress import Line
    from simulator.run.job import changes_of
    from simulator.truth.verify.tables.cells import find_preset, parse_tolerance
    from simulator.truth.verify.tables.following import parse_patience
    from simulator.truth.verify.tables.positions import verify_tables

    if subject.format:
        job = opened(subject)
    else:
        job = changes_of(subject)
        report_errors(job.stream)
    tolerances, presets = allowed
    parsed = [*map(find_preset, presets), *map(parse_tolerance, tolerances)]
    patience = None
    if following.follow:
        patience = parse_patience(following.timeout, following.quiet, following.reached)
    elif following != Following():
        raise UsageError("--reached, --quiet and --timeout go with --follow.")
    line = Line()
    try:
        verdicts = verify_tables(
            job, outputs, at, tolerances=parsed, patience=patience, watch=lambda progress: line.write(progress.__str__)
        )
    finally:
        line.end()
    if report is not None:
        facts = {"ok": all(verdict.ok for verdict in verdicts), "tables": [verdict.as_dict() for verdict in verdicts]}
        report.write_bytes(orjson.dumps(facts, option=orjson.OPT_INDENT_2, default=str) + b"\n")
    for verdict in verdicts:
        click.echo(str(verdict))
    return 0 if all(verdict.ok for verdict in verdicts) else 1


def print_verdict(verdict: Verdict, report: Path | None) -> int:
    """Print a verdict, and write it; the exit status."""
    import orjson

    from simulator.output import write_whole

    if report is not None:
        write_whole(report, orjson.dumps(verdict.as_dict(), option=orjson.OPT_INDENT_2) + b"\n")
    click.echo(str(verdict))
    return 0 if verdict.ok else 1
