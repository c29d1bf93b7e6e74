"""The `cdcsim` command: its commands are those of the modules imported here."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import click

from simulator.cli import pandas
from simulator.cli.commands import about, decode, files, hunt, look, run, verify  # noqa: F401 (their commands are the group's)
from simulator.cli.group import ReaderGone, cli
from simulator.cli.mistakes import sentence
from simulator.cli.signals import INTERRUPTED
from simulator.errors import SimulatorError


def main() -> NoReturn:
    """Run a command; every mistake becomes one sentence on stderr and an exit status."""
    # Arrow's allocator gives freed memory back to the system after 10 ms; taking it again, page by page, costs a fifth
    # of a run. Read when Arrow is loaded, so set before.
    os.environ.setdefault("MIMALLOC_PURGE_DELAY", "5000")
    # NumPy's library of linear algebra would start a thread for each core, and nothing here multiplies matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    pandas.keep_away()
    if sys.stderr is None:  # closed by whoever started this: what is said there goes nowhere, and not into a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115 (until the process ends)
    try:
        status = cli(standalone_mode=False, prog_name="cdcsim")
    except (click.Abort, KeyboardInterrupt):
        sys.exit(INTERRUPTED)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(2)
    except click.ClickException as error:
        click.echo(sentence(error), err=True)
        sys.exit(2)
    except SimulatorError as error:
        click.echo("\n".join(f"cdcsim: {line}" for line in str(error).splitlines()), err=True)
        sys.exit(error.exit_status)
    except ReaderGone:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        click.echo(f"cdcsim: {error.filename or 'the output'}: {error.strerror}.", err=True)
        if sys.stdout is not None:  # what could not be written is not tried again
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    sys.exit(status if isinstance(status, int) else 0)
