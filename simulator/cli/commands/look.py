"""Commands that show a scenario before it is run: show, check, explain, compare, explore."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from simulator.cli.group import cli
from simulator.cli.opening import gathered, job_options, opened, report_errors, with_start
from simulator.cli.options import (
    MOST_CHANGES,
    WholeNumber,
    colours,
    complete_format,
    complete_scenario,
    complete_source,
    complete_target,
    force_option,
    format_option,
    json_option,
    partitions_option,
    route_option,
    scenario_argument,
    seed_option,
    set_option,
    snapshot_option,
    source_option,
    sql_engine_option,
    start_option,
    start_time_option,
)
from simulator.cli.signals import INTERRUPTED
from simulator.errors import UnknownName, UsageError
from simulator.run.request import Span, Subject


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
@start_option
@snapshot_option
@route_option
@partitions_option
@job_options
@gathered(subject=Subject, span=Span)
def show(subject: Subject, span: Span, count: int, step: str | None, partitions: int) -> None:
    """Print messages for people: topic, partition, key, headers, and the value indented."""
    from itertools import islice

    from simulator.cli.messages import message_text
    from simulator.run.job import Partitions
    from simulator.run.session import limits_of

    job = opened(subject)
    if step is not None and step not in job.stream.step_names:
        names = ", ".join(map(repr, job.stream.step_names))
        hint = f"The scenario has {names}." if names else "The scenario names no steps."
        raise UnknownName("step", step, job.stream.step_names, hint)
    job = job.addressed(route=span.route, partitions=Partitions(partitions))
    messages = job.messages(limits_of(span), snapshot=span.snapshot)
    for message in islice((message for message in messages if step in (None, message.step)), count):
        click.echo(message_text(message, job.codec))


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
    from simulator.errors import counted
    from simulator.run.scenario import load, open_stream, resolve

    loaded, system = load(scenario, source, sql_engine, settings)
    stream = open_stream(resolve(loaded, system), system, force=True)  # all errors of a SQL script, not the first alone
    report_errors(stream)
    if len(stream.errors) == 1 and not force:
        return 2
    if stream.errors and not force:
        raise UsageError(
            f"{scenario}: {counted(len(stream.errors), 'statement')} failed, as listed above, the later ones perhaps "
            "because of the first; --force prints what the others do."
        )
    facts = listings.checked(stream)
    if section := getattr(loaded.spec, "faults", None):
        from simulator.run.faults.report import described
        from simulator.run.faults.spec import of_section

        facts["faults"] = list(described(of_section(section, loaded.file)))
    click.echo(listings.as_json(facts) if as_json else listings.checked_text(facts))
    return 2 if facts["errors"] else 0


@cli.command()
@scenario_argument
@format_option
@click.option(
    "--limit", type=WholeNumber(1, MOST_CHANGES), default=100_000, show_default=True, metavar="N",
    help="Estimate a run of N row changes.",
)  # fmt: skip
@click.option("--rate", metavar="RATE", help="Estimate the time at this rate, such as 50000/s.")
@click.option(
    "--to", default="-", metavar="URL", shell_complete=complete_target,
    help="Name the topics of a run to this URL, such as kafka://localhost:9092/{database}.{table}; it is not opened.",
)  # fmt: skip
@start_option
@snapshot_option
@job_options
@json_option
@gathered(subject=Subject, span=Span)
def explain(subject: Subject, span: Span, rate: str | None, to: str, as_json: bool) -> None:
    """Estimate what a run will send: messages, sizes, topics, bytes and time, then the tables' shares.

    \b
    cdcsim explain orders -f canal-json --limit 1000000 --rate 5000/s
    """
    from simulator.cli import listings
    from simulator.run.pacing import parse_pace
    from simulator.run.report.estimate import estimate, text
    from simulator.run.session import limits_of, target_of
    from simulator.sinks.target import Target

    pace = parse_pace(rate) if rate else None
    target = target_of(to)
    assert isinstance(target, Target)
    job = opened(subject, target.transport.broker).to_topic(target.topic)
    facts = estimate(job, limits_of(span), snapshot=span.snapshot)
    shares = listings.outlook_of(job.stream)
    if as_json:
        click.echo(listings.as_json({**facts, "outlook": shares}))
        return
    click.echo(text(facts, pace))
    if shares is not None:
        click.echo("\nThe scenario, whatever the run:\n" + listings.outlook_text(shares))


@cli.command()
@click.argument("scenario", default="compare", shell_complete=complete_scenario)
@click.option(
    "-f", "--format", "formats", multiple=True, metavar="FORMAT[,OPTION=VALUE…]", shell_complete=complete_format,
    help="Compare this format; give it once for each. Default: all that the source can have.",
)  # fmt: skip
@click.option(
    "--base", metavar="FORMAT", shell_complete=complete_format,
    help="Mark differences from this format; default: the first.",
)  # fmt: skip
@click.option(
    "--source", "sources", multiple=True, metavar="ID[-VERSION]", shell_complete=complete_source,
    help="Simulate this source system; give it once for each in a page. Default: the scenario's; in a page: all.",
)  # fmt: skip
@click.option(
    "--kind", "kinds", multiple=True, type=click.Choice(["read", "insert", "update", "delete", "ddl", "heartbeat"]),
    help="Compare events of this kind; give it once for each. Default: all.",
)  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="Show all messages of all formats instead of the summary.")
@click.option(
    "--redelivered", is_flag=True,
    help="Also show each message as the product sends it again after a crash; renewed members are marked.",
)  # fmt: skip
@click.option(
    "--limit", type=WholeNumber(0, MOST_CHANGES), metavar="N",
    help="Compare the first N row changes; default: all of a script, 5 of another scenario.",
)  # fmt: skip
@start_time_option
@start_option
@snapshot_option
@seed_option
@set_option
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
    everything: bool,
    redelivered: bool,
    limit: int | None,
    start: str | None,
    start_at: int,
    snapshot: bool | None,
    seed: int | None,
    settings: tuple[str, ...],
    as_json: bool,
    html: Path | None,
) -> None:
    """Show the same changes in several formats, side by side; without -f, --kind and --all a summary.

    \b
    cdcsim compare
    cdcsim compare -f canal-json -f dts-canal-json --kind update
    cdcsim compare -f canal-json --redelivered
    cdcsim compare --html formats.html
    """
    if base is not None and formats and base not in formats:
        raise UsageError(
            f"--base {base}: it is none of the formats compared, {', '.join(formats)}; give -f {base}, too."
        )
    settings = with_start(settings, start)
    if html is not None:
        if redelivered:
            raise UsageError("--redelivered: a page does not show it; leave it or --html out.")
        if not html.absolute().parent.is_dir():
            raise UsageError(f"--html {html}: there is no folder {str(html.parent)!r}.")
        from simulator.compare.page import page
        from simulator.output import write_whole

        text = page(
            scenario, formats, sources=sources, base=base, seed=seed, settings=settings, start_at=start_at, limit=limit,
            snapshot=snapshot, report=lambda line: click.echo(line, err=True),
        )  # fmt: skip
        write_whole(html, text.encode())
        click.echo(f"{html}: {len(text.encode()):,} bytes; open it in a browser.", err=True)
        return
    from simulator.cli import listings
    from simulator.compare.comparison import compare as compare_formats
    from simulator.compare.summary import summary
    from simulator.compare.terminal import text as all_text

    if len(sources) > 1:
        raise UsageError(
            "--source: a terminal shows one source system; leave the others out, or write a page with --html."
        )
    comparison = compare_formats(
        scenario, formats, source=sources[0] if sources else None, seed=seed, settings=settings,
        start_at=start_at, limit=limit, snapshot=snapshot, kinds=kinds, redelivered=redelivered,
    )  # fmt: skip
    if base is not None and base not in comparison.formats:
        raise UsageError(f"--base {base}: the formats compared are {', '.join(comparison.formats)}.")
    if as_json:
        click.echo(listings.as_json(comparison.facts()))
    elif not comparison.events:
        what = f"no event of the kind {' or '.join(kinds)}" if kinds else "nothing"
        click.echo(
            f"{comparison.scenario}: there is {what} in this part: give a larger --limit, or --start-at.", err=True
        )
    else:
        width = shutil.get_terminal_size((120, 24)).columns
        as_text = all_text if formats or kinds or everything or redelivered else summary
        click.echo(as_text(comparison, base=base or comparison.formats[0], width=width), color=colours())
    if comparison.failure is not None:
        raise comparison.failure


@cli.command()
@click.argument("scenario", default="compare", shell_complete=complete_scenario)
@click.option(
    "--port", type=WholeNumber(0, 65535), default=0, metavar="PORT",
    help="Listen on this port of 127.0.0.1; default: a free one.",
)  # fmt: skip
@click.option("--no-browser", is_flag=True, help="Print the address of the page only.")
def explore(scenario: str, port: int, no_browser: bool) -> int:
    """Edit a small scenario in the browser and see its messages change, until Ctrl-C.

    The editor begins with SCENARIO (default: compare) and does not change its file. The page's Share button makes an
    address that contains the scenario; open it like a file.

    \b
    cdcsim explore
    cdcsim explore fixture.sql --no-browser
    cdcsim explore '#messages?draft=yaml.eJy…'
    """
    from simulator.cli.commands.explore import serve

    serve(scenario, port, browser=not no_browser)
    return INTERRUPTED
