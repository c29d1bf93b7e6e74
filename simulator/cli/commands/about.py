"""Commands that list what there is (formats, sources, scenarios), and schema and completion."""

from __future__ import annotations

import click

from simulator.cli.group import cli
from simulator.cli.options import complete_format, json_option
from simulator.errors import UsageError


@cli.command()
@click.argument("format", required=False, shell_complete=complete_format)
@json_option
@click.option("--schema", is_flag=True, help="Print the Avro schema of the FORMAT's values.")
def formats(format: str | None, as_json: bool, schema: bool) -> None:
    """List the message formats, one per line; with a FORMAT: its sources, brokers, kinds of events and options."""
    from simulator.cli import listings
    from simulator.formats import find, listing

    if schema:
        click.echo(_schema(format))
        return
    if not format and not as_json:
        click.echo(listings.formats_text(listing.listed()))
        return
    from simulator.formats.facts import format_facts

    facts = [format_facts(find(name)) for name in ([format] if format else listing.names())]
    click.echo(listings.as_json(facts) if as_json else listings.format_text(facts[0]))


def _schema(format: str | None) -> str:
    """The Avro schema of a format with its options, indented. Raises UsageError."""
    from simulator import formats, sources
    from simulator.compare.members import indented

    binary = ", ".join(name for name in formats.FORMATS if formats.find(name).binary)
    if not format:
        raise UsageError(f"formats --schema: name a format; those of Avro are {binary}.")
    source = sources.find(formats.find(format.partition(",")[0]).source)
    container = formats.open_codec(format, source).layout.container
    if container is None:
        raise UsageError(f"formats {format} --schema: its values are text; the formats of Avro are {binary}.")
    if container.whole:
        raise UsageError(f"formats {format} --schema: each table has a schema of its own.")
    return indented(container.schema)


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
@json_option
def faults(as_json: bool) -> None:
    """List the faults that `--faults` and a scenario's `faults:` can name."""
    from simulator.cli import listings
    from simulator.run.faults.report import described
    from simulator.run.faults.report import facts as facts_of
    from simulator.run.faults.spec import KINDS, Faults

    every = Faults({kind.name: kind.default for kind in KINDS})
    click.echo(listings.as_json(facts_of(every)) if as_json else "\n".join(described(every)))


@cli.command()
def schema() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    from simulator.cli import listings
    from simulator.stream.scenario.language import ScenarioSpec

    click.echo(listings.as_json(ScenarioSpec.model_json_schema()))


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a completion script: `eval "$(cdcsim completion bash)"`."""
    from click.shell_completion import get_completion_class

    completer = get_completion_class(shell)
    assert completer is not None
    click.echo(completer(cli, {}, "cdcsim", "_CDCSIM_COMPLETE").source())
