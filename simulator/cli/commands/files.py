"""Commands that write files besides a run's: expected, pack, record, init."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.cli.group import cli
from simulator.cli.opening import gathered, job_options, opened, report_errors
from simulator.cli.options import (
    MOST_CHANGES,
    MOST_PARTITIONS,
    MOST_TURNS,
    WholeNumber,
    complete_format,
    complete_source,
    force_option,
    format_option,
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
    undocumented_option,
)
from simulator.errors import UsageError
from simulator.run.request import Span, Subject

if TYPE_CHECKING:
    from simulator.stream.engine.block import Stream


@cli.command()
@scenario_argument
@click.option(
    "--at",
    type=WholeNumber(0, MOST_TURNS),
    metavar="TURN",
    help="Write the rows before the first transaction that starts at or after this turn; default: the end of a script.",
)
@click.option("--to", "folder", required=True, type=click.Path(path_type=Path), metavar="DIR", help="A new folder.")
@click.option(
    "--as", "form", type=click.Choice(["parquet", "csv", "jsonl"]), default="parquet", show_default=True,
    help="Parquet has types; CSV and JSON lines hold values as the database's client prints them.",
)  # fmt: skip
@click.option(
    "-f", "--format", metavar="FORMAT[,OPTION=VALUE…]", shell_complete=complete_format,
    help=(
        "Write what a consumer of this format can know, without the tables, columns and digits that it "
        "does not send; default: complete rows."
    ),
)  # fmt: skip
@click.option(
    "--ledger", is_flag=True,
    help=(
        "Also write a ledger per table: for each key the number of changes, the last one, and a digest of "
        "the row; with -f, also one of messages: for each topic and partition their number and a digest."
    ),
)  # fmt: skip
@route_option
@click.option(
    "--partitions", type=WholeNumber(1, MOST_PARTITIONS), metavar="N",
    help="For the ledger of messages, route each topic to N partitions; default: 1.",
)  # fmt: skip
@snapshot_option
@source_option
@seed_option
@set_option
@start_time_option
@undocumented_option
@force_option
@sql_engine_option
def expected(
    scenario: str,
    at: int | None,
    folder: Path,
    form: str,
    format: str | None,
    ledger: bool,
    route: str | None,
    partitions: int | None,
    snapshot: bool | None,
    source: str | None,
    seed: int | None,
    settings: tuple[str, ...],
    start: str | None,
    allow_undocumented: bool,
    force: bool,
    sql_engine: str | None,
) -> None:
    """Write the rows that every table must hold before a turn, one file per table."""
    from simulator.errors import counted
    from simulator.run.job import Partitions, changes_of, job_of
    from simulator.truth.expected import border_before, write_expected
    from simulator.truth.known import KnownRows
    from simulator.truth.ledger import write_ledger, write_ledgers
    from simulator.truth.partitions import partition_ledger

    subject = Subject(
        scenario, format or "", source, seed, settings, start, allow_undocumented=allow_undocumented, force=force,
        sql_engine=sql_engine,
    )  # fmt: skip
    known = None
    if (route, partitions, snapshot) != (None, None, None) and not (format and ledger):
        raise UsageError("--route, --partitions and --snapshot are about the ledger of messages: add -f and --ledger.")
    if format is not None:
        job = job_of(subject).addressed(route=route, partitions=Partitions(partitions or 1))
        known = KnownRows(job.format, job.codec, job.unsent)
    else:
        if allow_undocumented:
            raise UsageError("--allow-undocumented is about a format: add -f, or leave it out.")
        job = changes_of(subject)
    stream = job.stream
    tables = write_expected(stream, at, folder, form, known)
    for table in tables:
        click.echo(f"{folder / table.file}: {counted(table.rows, 'row')}", err=True)
    if ledger:
        for file, keys in write_ledgers(stream, at, folder, form, known):
            click.echo(f"{folder / file}: {counted(keys, 'key')}", err=True)
    if ledger and format is not None:
        messages = partition_ledger(job, border_before(stream, at), snapshot=snapshot)
        write_ledger(messages, folder, f"partitions.ledger.{form}", form)
        click.echo(f"{folder / f'partitions.ledger.{form}'}: {counted(len(messages), 'partition')}", err=True)
    from simulator.run.faults.report import undefined
    from simulator.run.faults.spec import of_section

    for line in undefined(of_section(getattr(job.scenario.spec, "faults", {}), job.scenario.file)):
        click.echo(line, err=True)
    if stream.failure is not None:
        raise stream.failure


def _print_reader(ctx: click.Context, param: click.Parameter, language: str | None) -> None:
    from importlib.resources import files

    if language is None or ctx.resilient_parsing:
        return
    text = (files("simulator.packs") / "readers" / READERS[language]).read_text("utf-8")
    click.echo(text, nl=False)
    ctx.exit()


READERS = {"java": "CdcsimPack.java", "go": "cdcsimpack.go"}
# A pack is read into memory by whoever tests with it.
PACKED_CHANGES = 1_000


@cli.command()
@scenario_argument
@format_option
@click.option(
    "--to", "file", required=True, type=click.Path(dir_okay=False, path_type=Path), metavar="FILE.zip",
    help="Write a new file.",
)  # fmt: skip
@click.option(
    "--limit", type=WholeNumber(0, MOST_CHANGES), metavar="N",
    help=f"Stop after the transaction that reaches N row changes; default: all of a script, {PACKED_CHANGES:,} of "
    "another scenario.",
)  # fmt: skip
@start_option
@snapshot_option
@route_option
@partitions_option
@job_options
@click.option(
    "--reader", type=click.Choice(list(READERS)), is_eager=True, expose_value=False, callback=_print_reader,
    help="Print the source of a reader to copy, and end.",
)  # fmt: skip
@gathered(subject=Subject, span=Span)
def pack(subject: Subject, span: Span, file: Path, partitions: int) -> None:
    """Write messages, and the rows that a consumer must hold after them, to a zip file for tests in any language.

    \b
    cdcsim pack orders -f canal-json --snapshot --limit 500 --to orders.zip
    cdcsim pack --reader java > src/test/java/CdcsimPack.java
    """
    from simulator.errors import counted
    from simulator.library import Simulation
    from simulator.packs.pack import write_pack
    from simulator.run.job import SINGLE_TURNS, Partitions
    from simulator.run.session import limits_of

    job = opened(subject).addressed(route=span.route, partitions=Partitions(partitions))
    if span.limit is None and job.stream.turns is None:
        span = replace(span, limit=PACKED_CHANGES)
    plan = job.plan(limits_of(span), snapshot=span.snapshot, most_turns=SINGLE_TURNS).counted()
    manifest = write_pack(Simulation(job, plan), file, partitions=partitions)
    rows = sum(table["rows"] for table in manifest["tables"])
    click.echo(
        f"{file}: {counted(manifest['messages']['messages'], 'message')}, {counted(rows, 'expected row')} of "
        f"{counted(len(manifest['tables']), 'table')}",
        err=True,
    )


@cli.command()
@click.argument("script", metavar="SCRIPT.sql|URL")
@click.option(
    "--to", required=True, type=click.Path(dir_okay=False, path_type=Path), metavar="FILE.cdc", help="Write this file."
)
@click.option("--from", "start", metavar="FILE:OFFSET", help="Read the binlog of the server URL from here.")
@click.option("--until", metavar="FILE:OFFSET", help="Read the binlog up to here; default: its end.")
@click.option("--databases", default="", metavar="A,B", help="Read only these databases from the binlog; default: all.")
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
    """Write the history of a SQL script, or of a MySQL or MariaDB server's binlog, to a file that every command takes
    as a scenario, without a server.

    \b
    cdcsim record fixture.sql --source postgresql --to fixture.cdc
    cdcsim record mysql://root@127.0.0.1:3306 --from mysql-bin.000003:4 --to history.cdc
    cdcsim run fixture.cdc -f drs-json
    """
    from simulator.errors import counted
    from simulator.run.scenario import load
    from simulator.sql import RECORDING, is_script
    from simulator.sql import stream as sql_stream

    if to.suffix != RECORDING or not ("://" in script or (is_script(script) and not script.endswith(RECORDING))):
        raise UsageError(f"record {script} --to {to}: expected SCRIPT.sql, or a server's URL, and --to FILE.cdc.")
    if "://" in script:
        if start is None or source or settings or force or sql_engine:
            raise UsageError(
                "record of a server's binlog needs --from FILE:OFFSET; besides it only --until and --databases apply."
            )
        stream: Stream = sql_stream.record_log(
            script, start, until, [name for name in databases.split(",") if name], to
        )
    else:
        if start or until or databases:
            raise UsageError(f"--from, --until and --databases are about a server's binlog, and {script} is a script.")
        loaded, system = load(script, source, sql_engine, settings)
        stream = sql_stream.record(loaded, system, to, force=force)  # type: ignore[arg-type]
        report_errors(stream)
    click.echo(f"{to}: {counted(stream.turns or 0, 'transaction')} of {stream.source}", err=True)


@cli.command()
@click.argument("file", type=click.Path(allow_dash=True), metavar="FILE|URL")
@click.option(
    "--to", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Write to a new file; default: standard output.",
)  # fmt: skip
@click.option(
    "--source", metavar="ID[-VERSION]", shell_complete=complete_source,
    help="Read the statements as this server does: mysql, mysql-5.7, mariadb, postgresql, gaussdb, oracle, "
    "oceanbase-oracle, sqlserver; default: as the file says, else mysql.",
)  # fmt: skip
def init(file: str, to: Path | None, source: str | None) -> None:
    """Write a scenario for the tables of a dump, of CREATE TABLE statements, of an Avro or JSON schema, or of a running
    MySQL, MariaDB or PostgreSQL server; `-` reads standard input.

    \b
    mysqldump --no-data shop | cdcsim init - --to shop.yaml
    pg_dump --schema-only shop | cdcsim init - --to shop.yaml
    cdcsim init order.avsc --to orders.yaml
    cdcsim init mysql://root:PASSWORD@127.0.0.1:3306/shop --to shop.yaml
    cdcsim run shop.yaml -f canal-json --limit 5
    """
    from simulator.drafts.scenario import draft
    from simulator.output import write_whole

    if to is not None and to.exists():
        raise UsageError(f"--to {to}: it is already there; name another file, or remove it.")
    text = draft(file, source)
    if to is None:
        click.echo(text, nl=False)
        return
    write_whole(to, text.encode())
    click.echo(f"{to}: {text.count(chr(10))} lines; `cdcsim check {to}` tells what will happen.", err=True)
