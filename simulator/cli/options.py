"""Options that several commands share, and their shell completion."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import click

from simulator.errors import short
from simulator.run.request import parse_whole

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# No stream is longer (`simulator.stream.engine.block.FARTHEST`): what is computed from turns fits 64 bits.
MOST_TURNS = 10**15
MOST_CHANGES = 10**18
MOST_PARTITIONS = 10_000
MOST_TASKS = 10_000_000
MOST_WORKERS = 64  # `simulator.run.processes.workers.MOST_WORKERS`


class WholeNumber(click.ParamType[int]):
    """A whole number within bounds, also as 250k or 2.5e5. Click's own type prints the bounds in every help text."""

    name = "number"

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value)
        try:
            return parse_whole(text, self.low, self.high)
        except ValueError as expected:
            self.fail(f"{short(text)} is not {expected}", param, ctx)


def colours() -> bool | None:
    """Whether output is coloured: on terminals, unless NO_COLOR says no. None leaves it to click, which looks."""
    return False if os.environ.get("NO_COLOR") else None


def complete_scenario(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from simulator.stream.scenario.shipped import shipped

    names = [CompletionItem(name) for name in shipped() if name.startswith(incomplete)]
    return [*names, CompletionItem(incomplete, type="file")]


def complete_format(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Formats; behind a comma the options that are not written yet, and behind `=` their values."""
    from click.shell_completion import CompletionItem

    from simulator.errors import UnknownName
    from simulator.formats import find
    from simulator.formats.listing import names

    written, comma, last = incomplete.rpartition(",")
    if not comma:
        return [CompletionItem(name) for name in names() if name.startswith(incomplete)]
    name, *options_typed = written.split(",")
    try:
        options = find(name).options
    except UnknownName:
        return []
    option, equals, start = last.partition("=")
    if equals:
        values = next((known.choices for known in options if known.name == option), ())
        return [CompletionItem(f"{written},{option}={value}") for value in values if value.startswith(start)]
    used = {text.partition("=")[0] for text in options_typed}
    return [
        CompletionItem(f"{written},{unused.name}=", help=unused.doc)
        for unused in options
        if unused.name.startswith(last) and unused.name not in used
    ]


def complete_target(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Schemes of `--to`, and behind `?` and `&` the options of the URL."""
    from click.shell_completion import CompletionItem

    from simulator.errors import SimulatorError
    from simulator.sinks import schemes, transport

    before, mark, query = re.fullmatch(r"(.*?)([?&]?)([^?&]*)", incomplete, re.DOTALL).groups()  # type: ignore[union-attr]
    if not mark:
        forms = [transport(name).form for name in schemes() if name.startswith(incomplete)]
        return [CompletionItem(re.split("[A-Z]", form)[0], help=form) for form in forms]
    try:
        options = transport(incomplete.partition(":")[0]).options
    except SimulatorError:
        return []
    return [CompletionItem(f"{before}{mark}{name}=") for name in options if name.startswith(query)]


def complete_source(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from simulator.sources import VENDORS, listed

    names = [name for id, (_, versions) in listed().items() for name in (id, *(f"{id}-{v}" for v in versions))]
    return [CompletionItem(name) for name in (*names, *VENDORS) if name.startswith(incomplete)]


def complete_broker(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from simulator.sinks import brokers

    return [CompletionItem(kind) for kind in brokers() if kind.startswith(incomplete)]


def complete_setting(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Keys of the scenario and of its language, one part of the path at a time: `tables.orders.rows=`."""
    from click.shell_completion import CompletionItem

    from simulator.errors import SimulatorError
    from simulator.stream.scenario.lines import Mapping
    from simulator.stream.scenario.loader import load
    from simulator.stream.scenario.problems import keys_at

    if "=" in incomplete:
        return []
    above, dot, last = incomplete.rpartition(".")
    path = tuple(above.split(".")) if above else ()
    try:
        # click leaves the words before an option without its value in `args`
        data: Any = load(next(filter(None, [ctx.params.get("scenario"), *ctx.args]), "")).data
        for name in path:
            data = data[name]
    except (SimulatorError, KeyError, TypeError):
        data = None
    written = list(data) if isinstance(data, Mapping) else []
    names = [name for name in dict.fromkeys([*written, *sorted(keys_at(path))]) if name.startswith(last)]
    # what holds keys itself goes on with a dot
    return [
        CompletionItem(f"{above}{dot}{name}{'.' if _holds_keys(data, name) or keys_at((*path, name)) else '='}")
        for name in names
    ]


def _holds_keys(data: Any, name: str) -> bool:
    from simulator.stream.scenario.lines import Mapping

    return isinstance(data, Mapping) and isinstance(data.get(name), Mapping)


scenario_argument = click.argument("scenario", shell_complete=complete_scenario)
format_option = click.option(
    "-f", "--format", required=True, metavar="FORMAT[,OPTION=VALUE…]", shell_complete=complete_format,
    help="Encode in this format, such as canal-json or dts-canal-json,images=before-2022-03-20.",
)  # fmt: skip
source_option = click.option(
    "--source", metavar="ID[-VERSION]", shell_complete=complete_source,
    help="Simulate this source system, such as mysql-5.7; default: the scenario's, else mysql.",
)  # fmt: skip
seed_option = click.option(
    "--seed",
    type=WholeNumber(0, 2**63 - 1),
    metavar="N",
    help="Draw values with this seed; default: the scenario's.",
)
snapshot_option = click.option(
    "--snapshot/--no-snapshot",
    default=None,
    help="Begin with the rows that exist before the first turn; default: as the scenario says.",
)
start_option = click.option(
    "--start-at", type=WholeNumber(0, MOST_TURNS), default=0, metavar="TURN", show_default=True,
    help="Begin with the first transaction that starts at or after this turn (turns number the steps of the stream "
    "from 0).",
)  # fmt: skip
route_option = click.option(
    "--route",
    metavar="single|table|key|columns:a,b",
    help="Choose partitions by this policy of the product; default: the product's default.",
)
partitions_option = click.option(
    "--partitions", type=WholeNumber(1, MOST_PARTITIONS), default=1, show_default=True, metavar="N",
    help="Route each topic to N partitions.",
)  # fmt: skip
broker_option = click.option(
    "--broker", default="kafka", metavar="KIND", show_default=True, shell_complete=complete_broker,
    help=(
        "Write topics, keys and tags as for this kind of broker (kafka, rocketmq, rabbitmq, or a "
        "plug-in's) if messages do not go to a broker."
    ),
)  # fmt: skip
undocumented_option = click.option(
    "--allow-undocumented",
    is_flag=True,
    help="Allow sources and brokers that the real product does not support.",
)
force_option = click.option("--force", is_flag=True, help="Continue after SQL errors; report them on stderr.")
sql_engine_option = click.option(
    "--sql-engine",
    metavar="embedded|mysql|mariadb|URL",
    help="Run a SQL script on a real server and read its log: mysql, mysql-5.7 and mariadb are started for the run; "
    "mysql://user:password@host:port, mariadb://… and postgresql://…/database are running servers.",
)
set_option = click.option(
    "--set", "settings", multiple=True, metavar="KEY.KEY=VALUE", shell_complete=complete_setting,
    help="Change a value of the scenario, such as tables.users.rows=1e6; * is every name: tables.*.rows=1e6. "
    "Give it once for each value.",
)  # fmt: skip
start_time_option = click.option(
    "--start", metavar="TIME",
    help="Commit turn 0 at this time: now, or 2024-05-01T10:00:00Z; default: the scenario's.",
)  # fmt: skip
faults_option = click.option(
    "--faults", metavar="FAULT[=RATE],…",
    help="Inject faults: redelivery, poison=0.001, … (`cdcsim faults` lists them), or none; default: what the "
    "scenario says.",
)  # fmt: skip
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
