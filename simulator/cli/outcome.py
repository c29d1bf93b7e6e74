"""What a run leaves behind, whichever engine did it: the summary, the record, the next command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simulator.cli import progress
from simulator.errors import SimulatorError

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
    summary_to: Path | None
    record: Path | None
    quiet: bool

    def report(
        self, summary: Summary, record_of: Callable[[dict[str, Any]], object], failure: SimulatorError | None
    ) -> None:
        """Write the files that are asked for, and the summary. Raises what failed, also in a script."""
        from simulator.native import library

        job = self.job
        facts = {
            "scenario": job.scenario.file,
            "format": self.opening.format,
            "source": str(job.source),
            "undocumented": job.undocumented,
            "left_out": list(job.left_out),
            "to": progress.public(self.to),
            "seed": job.scenario.spec.seed,
            **summary.as_dict(),
        }
        if self.summary_to is not None:
            _write_json(self.summary_to, facts)
        if self.record is not None:
            _write_json(self.record, record_of(facts))
        failure = failure or job.failure
        if not self.quiet and not (failure and summary.next_turn == 0 == summary.messages):  # nothing came before it
            click.echo(progress.summary(summary, job, self.to), err=True)
            if command := progress.expected_command(self.opening, job, summary):
                click.echo(f"rows that a consumer must hold now: {command}", err=True)
            if library.missing():
                click.echo("The compiled core was not built, so runs take longer: README.md says how it is.", err=True)
        if failure:
            raise failure


def _write_json(path: Path, facts: object) -> None:
    import orjson

    path.write_bytes(orjson.dumps(facts, option=orjson.OPT_INDENT_2) + b"\n")
