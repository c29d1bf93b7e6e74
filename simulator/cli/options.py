"""Options that several commands share, and what a shell completes in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# No stream is longer; what is computed from turns fits 64 bits.
MOST_TURNS = 1 << 50


def _complete_scenario(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from simulator.stream.scenario.loader import shipped

    names = [CompletionItem(name) for name in shipped() if name.startswith(incomplete)]
    return [*names, CompletionItem(incomplete, type="file")]


def complete_format(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from simulator.formats import FORMATS

    return [CompletionItem(name) for name in FORMATS if name.startswith(incomplete)]


def _complete_source(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from simulator.sources import SOURCES

    names = [name for id, (_, _, versions) in SOURCES.items() for name in (id, *(f"{id}-{v}" for v in versions))]
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


scenario_argument = click.argument("scenario", shell_complete=_complete_scenario)
format_option = click.option(
    "-f", "--format", required=True, metavar="FORMAT[,OPTION=VALUE…]", shell_complete=complete_format,
    help="Message format, such as canal-json or dts-canal-json,images=before-2022-03-20.",
)  # fmt: skip
source_option = click.option(
    "--source", metavar="ID[-VERSION]", shell_complete=_complete_source,
    help="Source system, such as mysql-5.7; default: the scenario's, else mysql.",
)  # fmt: skip
seed_option = click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), metavar="N", help="Another seed than the scenario's."
)
snapshot_option = click.option(
    "--snapshot/--no-snapshot",
    default=None,
    help="Begin with the rows that are there already; default: the scenario's.",
)
start_option = click.option(
    "--start-at", type=click.IntRange(0, MOST_TURNS), default=0, metavar="TURN", show_default=True,
    help="Begin at the first transaction border at or after this turn.",
)  # fmt: skip
route_option = click.option(
    "--route", metavar="single|table|key|columns:a,b", help="Partition policy; default: the product's."
)
broker_option = click.option(
    "--broker",
    type=click.Choice(["kafka", "rocketmq", "rabbitmq"]),
    default="kafka",
    show_default=True,
    help="Write names, keys and tags as for this kind of broker, where the destination is none.",
)
undocumented_option = click.option(
    "--allow-undocumented",
    is_flag=True,
    help="Write what the product does not offer: a source or a broker that it has not.",
)
force_option = click.option(
    "--force", is_flag=True, help="Go on after a SQL script's errors, which are told on stderr."
)
json_option = click.option("--json", "as_json", is_flag=True, help="JSON, for programs.")
