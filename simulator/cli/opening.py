"""Options that select the scenario and format, opening their job, and its errors and warnings on stderr."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from simulator.cli.options import (
    broker_option,
    faults_option,
    force_option,
    seed_option,
    set_option,
    source_option,
    sql_engine_option,
    start_time_option,
    undocumented_option,
)
from simulator.errors import MOST_PROBLEMS, SinkError, UsageError

if TYPE_CHECKING:
    from simulator.run.job import Job
    from simulator.run.request import Subject
    from simulator.stream.engine.block import Stream


def opened(subject: Subject, broker: str | None = None) -> Job:
    """The job of a command that sends nothing, for a kind of broker (None: the subject's); errors and warnings of its
    stream are printed. Raises UsageError."""
    from simulator.run.job import job_of

    job = job_of(subject, broker)
    announce(job)
    return job


def announce(job: Job) -> None:
    """Print the errors and warnings of a job's stream, and the source if nothing names one."""
    report_errors(job.stream)
    if job.source_chosen:
        click.echo(f"No source is named, so {job.source} is used, which {job.format} supports.", err=True)


def with_start(settings: tuple[str, ...], start: str | None) -> tuple[str, ...]:
    """Changed values of a scenario, including `--start`. Raises UsageError."""
    from simulator.run.scenario import start_setting

    return settings if start is None else (*settings, start_setting(start))


def gathered(**groups: type[Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Passes options to a command as dataclass instances: options named like the fields of a class become one value.
    Fields without an option keep their defaults."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def call(**values: Any) -> Any:
            for name, group in groups.items():
                own = {field.name: values.pop(field.name) for field in fields(group) if field.name in values}
                values[name] = group(**own)
            return command(**values)

        return call

    return decorate


def without_verdict(command: Callable[..., int]) -> Callable[..., int]:
    """Ends a command with exit status 2 if what it judges cannot be read: 1 is a verdict."""

    @wraps(command)
    def call(*values: Any, **options: Any) -> int:
        try:
            return command(*values, **options)
        except SinkError as error:
            raise UsageError(str(error)) from None

    return call


def job_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Declares the options of a `Subject`, but for the scenario and the format, which come first."""
    for option in (
        sql_engine_option, force_option, undocumented_option, broker_option, start_time_option, set_option,
        seed_option, source_option, faults_option,
    ):  # fmt: skip
        command = option(command)
    return command


def report_errors(stream: Stream) -> None:
    """Print the errors after which --force continued, and warnings where a server may behave differently."""
    for error in (*stream.errors[:MOST_PROBLEMS], *stream.warnings):
        click.echo(f"cdcsim: {error}", err=True)
    if (more := len(stream.errors) - MOST_PROBLEMS) > 0:
        click.echo(f"cdcsim: {stream.file}: {more} more errors.", err=True)
