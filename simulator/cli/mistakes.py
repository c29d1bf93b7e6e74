"""A wrong command line as one sentence with a way out."""

from __future__ import annotations

from typing import Final

import click

from simulator.errors import did_you_mean

# What to write where a parameter of this name is missing.
_MISSING: Final = {
    "format": "name a format, such as -f canal-json; `cdcsim formats` lists them all.",
    "scenario": "name a scenario, such as orders, or a file; `cdcsim scenarios` lists those that come with cdcsim.",
}


def sentence(error: click.ClickException) -> str:
    """Click's message as one sentence with a way out."""
    text = " ".join(error.format_message().split())
    if not isinstance(error, click.UsageError) or error.ctx is None:
        return text
    command = error.ctx.command_path
    if isinstance(error, click.NoSuchOption):
        names = [
            name for parameter in error.ctx.command.params for name in (*parameter.opts, *parameter.secondary_opts)
        ]
        hint = did_you_mean(error.option_name, names, f" `{command} --help` lists them all.")
        return f"{command}: no option {error.option_name!r}.{hint}"
    if isinstance(error, click.MissingParameter) and error.param is not None and error.param.name in _MISSING:
        return f"{command}: {_MISSING[error.param.name]}"
    if isinstance(error.ctx.command, click.Group) and "No such command" in text:
        name = text.split("'")[1]
        known = error.ctx.command.list_commands(error.ctx)
        hint = did_you_mean(name, known, f" `{command} --help` lists them all.")
        return f"{command}: no command {name!r}.{hint}"
    return f"{command}: {text.rstrip('.')}. `{command} --help` lists the options."
