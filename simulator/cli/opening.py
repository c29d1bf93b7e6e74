"""Opening what a command is about, with what there is to say of it on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from simulator.run.job import Job
    from simulator.stream.engine.block import Stream


def opened(scenario: str, format: str, *, quiet: bool = False, **options: Any) -> Job:
    """The job of a run; the options are those of `open_job`. Raises UsageError."""
    from simulator.run.job import open_job

    job = open_job(scenario, format, **options)
    report_errors(job.stream)
    if job.source_chosen and not quiet:
        click.echo(f"Nothing names a source, so it is {job.source}, which {job.format} is for.", err=True)
    return job


def report_errors(stream: Stream) -> None:
    """What --force continued after, and what a server may do otherwise."""
    for error in (*stream.errors, *stream.warnings):
        click.echo(f"cdcsim: {error}", err=True)
