"""Opens the job of a command, and reports its errors and warnings on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from simulator.run.job import Job
    from simulator.stream.engine.block import Stream


def opened(scenario: str, format: str, *, quiet: bool = False, **options: Any) -> Job:
    """The job of a run; `options` are those of `open_job`. Raises UsageError."""
    from simulator.run.job import open_job

    job = open_job(scenario, format, **options)
    report_errors(job.stream)
    if job.source_chosen and not quiet:
        click.echo(f"No source is named, so {job.source} is used, which {job.format} supports.", err=True)
    return job


def report_errors(stream: Stream) -> None:
    """Print the errors after which --force continued, and warnings where a server may behave differently."""
    for error in (*stream.errors, *stream.warnings):
        click.echo(f"cdcsim: {error}", err=True)
