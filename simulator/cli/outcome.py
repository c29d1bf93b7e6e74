"""Report at the end of a run on any engine: the summary, and the next command."""

from __future__ import annotations

import click

from simulator.cli import progress
from simulator.native import library
from simulator.run.session import Outcome, Session


def report(session: Session, outcome: Outcome, *, quiet: bool) -> None:
    """Prints the summary. Raises the error that ended the run or its script."""
    summary, failure = outcome.summary, outcome.failure
    if not quiet and not (failure and summary.next_turn == 0 == summary.messages):  # nothing came before it
        click.echo(progress.summary(summary, session), err=True)
        if command := progress.expected_command(session, outcome):
            click.echo(f"rows that a consumer must hold now: {command}", err=True)
        if library.missing():
            click.echo(
                "The compiled core was not built, so runs take longer: simulator/INSTALL.md says how it is.", err=True
            )
    if failure:
        raise failure
