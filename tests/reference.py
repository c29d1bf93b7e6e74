"""The pages that are made of the program: commands, formats and brokers' URLs with their options; a terminal's picture.

`pytest tests/test_docs.py -k reference --update-goldens` writes them; PAGES has each page's file and its text.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Final

import click
from click.testing import CliRunner

from simulator.cli.commands import cli
from simulator.formats import FORMATS, find
from simulator.formats.facts import format_facts

ROOT: Final = Path(__file__).parent.parent
# The table of a broker's page stands between these lines; all else there is written by hand.
BEGIN: Final = "<!-- options: made by tests/reference.py -->"
END: Final = "<!-- end of options -->"
NAMES: Final = re.compile(r'"[\w-]+"(?=:)')


def commands() -> str:
    """`simulator/cli/REFERENCE.md`: every command as its `--help` says it."""
    lines = [
        "# Commands and options",
        "",
        "All commands, as `cdcsim COMMAND --help` describes them. [Tasks](README.md) says which to take; options of",
        "formats are in [FORMATS.md](../formats/FORMATS.md), those of URLs on the pages of",
        "[sinks](../sinks/README.md#options-of-urls). This page is made of the program.",
        "",
    ]
    lines += [
        f"* [`cdcsim {name}`](#cdcsim-{name}): {_first(command)}" for name, command in sorted(cli.commands.items())
    ]
    for name, command in sorted(cli.commands.items()):
        lines += ["", f"## `cdcsim {name}`", "", *_command(command)]
    return "\n".join(lines) + "\n"


def _first(command: click.Command) -> str:
    """The first sentence of a command's help."""
    return re.split(r"(?<=[.]) |\n\n", " ".join((command.help or "").partition("\n\n")[0].split()))[0]


def _command(command: click.Command) -> Iterator[str]:
    for part in (command.help or "").split("\n\n"):
        # click's mark of lines that are kept as they are
        if "\b" in part:
            yield from ("```shell", *(line.strip() for line in part.partition("\b")[2].strip().splitlines()), "```", "")
        else:
            yield from (" ".join(part.split()), "")
    arguments = [
        each.make_metavar(click.Context(command)) for each in command.params if isinstance(each, click.Argument)
    ]
    if arguments:
        yield f"Arguments: {' '.join(f'`{each}`' for each in arguments)}"
        yield ""
    yield from ("| option | meaning | default |", "| --- | --- | --- |")
    for option in command.params:
        if isinstance(option, click.Option) and not option.hidden:
            yield f"| {_names(option)} | {_cell(option.help or '')} | {_default(option)} |"


def _names(option: click.Option) -> str:
    names = [*option.opts, *option.secondary_opts]
    metavar = "" if option.is_flag else f" {option.make_metavar(click.Context(cli))}"
    return ", ".join(f"`{_escaped(name + metavar)}`" for name in names)


def _default(option: click.Option) -> str:
    value = option.default
    if option.is_flag or option.multiple or value is None or "Sentinel" in repr(type(value)) or callable(value):
        return ""
    return f"`{value}`"


def _cell(text: str) -> str:
    return _escaped(" ".join(text.split()))


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def formats() -> str:
    """The options of formats, below the table of events in `simulator/formats/FORMATS.md`."""
    lines = []
    for name in FORMATS:
        facts = format_facts(find(name))
        lines += [
            f"## `{name}`",
            "",
            f"{facts['product']}: {facts['title']}. Sources: {', '.join(facts['sources'])}. "
            f"Brokers: {', '.join(facts['brokers'])}. Described in {_cell(facts['spec'])}.",
            "",
        ]
        if facts["options"]:
            lines += ["| option | what it does | choices | default |", "| --- | --- | --- | --- |"]
            for option in facts["options"]:
                default = (
                    "by source" if option["default"] is None else f"`{option['default']}`" if option["default"] else ""
                )
                choices = ", ".join(f"`{each}`" for each in option["choices"])
                mark = "\\*" if option["decided"] else ""
                lines.append(f"| `{option['name']}`{mark} | {_cell(option['doc'])} | {choices} | {default} |")
        else:
            lines.append("It has no options.")
        lines.append("")
    return "\n".join(lines).rstrip()


def url_options(module: str) -> Callable[[], str]:
    """The table of the module that reads a broker's URLs."""

    def table() -> str:
        text = importlib.import_module(module).__doc__ or ""
        return "\n".join(line for line in text.splitlines() if line.startswith("|"))

    return table


SHOWN: Final = ("show", "orders", "-f", "dts-canal-json", "--step", "pay", "-n", "2")
LINES: Final = 30


def terminal() -> str:
    """The picture of a terminal with the first lines that a command prints, dark on every page."""
    lines = [f"$ cdcsim {' '.join(SHOWN)}", *CliRunner().invoke(cli, SHOWN, standalone_mode=False).output.splitlines()]
    lines = [*lines[: LINES - 1], "…"] if len(lines) > LINES else lines
    height = 18 * len(lines) + 32
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 820 {height}" role="img" aria-label="A terminal">',
        f'<rect width="820" height="{height}" rx="10" fill="#0d1117"/>',
        '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" fill="#e6edf3">',
    ]
    for number, line in enumerate(lines):
        text = NAMES.sub(r'<tspan fill="#79b8ff">\g<0></tspan>', escape(line, quote=False))
        colour = ' fill="#56d364"' if line.startswith(("$ ", "-- ")) else ""
        parts.append(f'<text x="16" y="{18 * number + 30}" xml:space="preserve"{colour}>{text}</text>')
    return "\n".join([*parts, "</g>", "</svg>"]) + "\n"


# Pages that are made as a whole, and pages with a part that is.
PAGES: Final[dict[str, Callable[[], str]]] = {
    ".github/pictures/show.svg": terminal,
    "simulator/cli/REFERENCE.md": commands,
    "simulator/formats/FORMATS.md": formats,
    "simulator/sinks/kafka/README.md": url_options("simulator.sinks.kafka.url"),
    "simulator/sinks/rocketmq/README.md": url_options("simulator.sinks.rocketmq.url"),
    "simulator/sinks/rabbitmq/README.md": url_options("simulator.sinks.rabbitmq.url"),
}


def written(name: str) -> str:
    """The page as it should be: its text with the part that the program makes."""
    made = PAGES[name]()
    path = ROOT / name
    if made.startswith(("# ", "<svg")):
        return made
    head, _, rest = path.read_text("utf-8").partition(BEGIN)
    return f"{head}{BEGIN}\n\n{made}\n\n{END}{rest.partition(END)[2]}"
