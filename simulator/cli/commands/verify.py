"""`cdcsim verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.cli.group import cli
from simulator.cli.opening import gathered, job_options, opened
from simulator.cli.options import (
    MOST_CHANGES,
    MOST_TURNS,
    WholeNumber,
    format_option,
    route_option,
    scenario_argument,
    snapshot_option,
    start_option,
)
from simulator.run.request import Subject

if TYPE_CHECKING:
    from simulator.truth.verify.findings import Verdict


@cli.command()
@scenario_argument
@format_option
@click.option(
    "--from", "origin", required=True, metavar="URL",
    help="Read messages from kafka://HOST:PORT/TOPIC, file:DIR?partitions=N, parquet:DIR, a file, or - (stdin).",
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
    help="Take begin, end, seed, route and snapshot from what the run's --record wrote.",
)  # fmt: skip
@click.option(
    "--at-least-once", is_flag=True,
    help="Allow stretches that come again in the old order up to where the stream goes on, as after a restart.",
)  # fmt: skip
@click.option(
    "--report", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Write the counts and the first findings of each kind to a file as JSON.",
)  # fmt: skip
@gathered(subject=Subject)
def verify(
    subject: Subject,
    origin: str,
    limit: int | None,
    turns: int | None,
    start_at: int,
    snapshot: bool | None,
    route: str | None,
    record: Path | None,
    at_least_once: bool,
    report: Path | None,
) -> int:
    """Compare messages that were read back with those that the run sent; exit status 1 if anything is wrong.

    \b
    cdcsim run orders -f canal-json --limit 100k --to file:out?partitions=6 --record run.json
    cdcsim verify orders -f canal-json --from file:out?partitions=6 --record run.json
    """
    from simulator.sinks import broker_of
    from simulator.truth.verify.verify import Expectation, recorded, verify_job

    expectation = Expectation(limit, turns, start_at, snapshot, route)
    if record is not None:
        subject, expectation = recorded(record, subject, expectation)
    job = opened(subject, broker_of(origin))
    verdict = verify_job(job, origin, expectation, at_least_once=at_least_once)
    return print_verdict(verdict, report)


def print_verdict(verdict: Verdict, report: Path | None) -> int:
    """Print a verdict, and write it; the exit status."""
    import orjson

    from simulator.output import write_whole

    if report is not None:
        write_whole(report, orjson.dumps(verdict.as_dict(), option=orjson.OPT_INDENT_2) + b"\n")
    click.echo(str(verdict))
    return 0 if verdict.ok else 1
