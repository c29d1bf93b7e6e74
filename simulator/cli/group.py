"""The group of all commands, and what is the same for each of them."""

from __future__ import annotations

from typing import Any

import click

from simulator import __version__


class ReaderGone(Exception):
    """The program that reads the output (head, less) has closed it."""


class _Command(click.Command):
    """A command that refuses an option given twice; click would take the last one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        _, _, given = self.make_parser(ctx).parse_args(list(args))
        for parameter in given:
            if isinstance(parameter, click.Option) and not parameter.multiple and given.count(parameter) > 1:
                raise click.UsageError(f"{parameter.opts[-1]} is given twice: leave one out", ctx)
        return super().parse_args(ctx, args)


class _Commands(click.Group):
    """A group that raises ReaderGone at a broken pipe; click would exit with status 1."""

    command_class = _Command

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
