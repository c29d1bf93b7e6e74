"""What a run leaves behind, whichever engine did it: the summary, the record, the next command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from simulator.cli import progress
from simulator.errors import SimulatorError
from simulator.run.account import Files, facts_of

if TYPE_CHECKING:
    from simulator.cli.opening import Opening
    from simulator.run.job import Job
    from simulator.run.pipeline import Summary


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where a run's facts go."""

    job: Job
    opening: Opening
    to: str
    files: Files
    quiet: bool

    def report(
        self,
        summary: Summary,
        record_of: Callable[[dict[str, Any]], object],
        failure: SimulatorError | None,
        resumed: Mapping[str, str] | None = None,
    ) -> None:
        """Write the files that are asked for, and the summary; `resumed` is the identity of a run that began earlier.
        Raises what failed, also in a script."""
        from simulator.native import library

        job = self.job
        self.files.write(facts_of(job, self.to, summary), record_of)
        failure = failure or job.failure
        if not self.quiet and not (failure and summary.next_turn == 0 == summary.messages):  # nothing came before it
            click.echo(progress.summary(summary, job, self.to), err=True)
            if command := progress.expected_command(self.opening, job, summary, resumed):
                click.echo(f"rows that a consumer must hold now: {command}", err=True)
            if library.missing():
                click.echo("The compiled core was not built, so runs take longer: README.md says how it is.", err=True)
        if failure:
            raise failure
