"""The group of all commands, and their common behavior."""

from __future__ import annotations

from typing import Any, Final

import click

from simulator import __version__


class ReaderGone(Exception):
    """The program that reads the output (head, less) has closed it."""


# Description of each argument, by its name.
ARGUMENTS: Final = {
    "scenario": "A name from `cdcsim scenarios`, or a file: YAML (.yaml), a SQL script (.sql), a recording (.cdc); `-` "
    "reads YAML from standard input.",
}


class _Command(click.Command):
    """A command that refuses an option given twice, of which click would take the last one, and whose help explains
    its arguments, too."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        arguments = [known for known in self.params if isinstance(known, click.Argument) and known.name in ARGUMENTS]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl([(known.make_metavar(ctx), ARGUMENTS[str(known.name)]) for known in arguments])
        super().format_options(ctx, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        _, _, arguments = self.make_parser(ctx).parse_args(list(args))
        for parameter in arguments:
            if isinstance(parameter, click.Option) and not parameter.multiple and arguments.count(parameter) > 1:
                raise click.UsageError(f"{parameter.opts[-1]} is given twice: leave one out", ctx)
        return super().parse_args(ctx, args)


class _Commands(click.Group):
    """A group that raises ReaderGone at a broken pipe, where click would exit with status 1, and whose help has each
    command's first sentence, which click would cut off."""

    command_class = _Command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, self.commands[name].get_short_help_str(limit=200)) for name in self.list_commands(ctx)]
            )

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        try:
            return super().make_context(*args, **extra)
        except BrokenPipeError:
            raise ReaderGone from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise ReaderGone from None


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="cdcsim")
def cli() -> None:
    """A CDC producer without a database: believable histories in the bytes of real CDC products."""
