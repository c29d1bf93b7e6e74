"""What a command opens: the options that say what is simulated, and the errors and warnings of a stream on stderr."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, cast

import click

from simulator.cli.options import (
    broker_option,
    force_option,
    seed_option,
    set_option,
    source_option,
    sql_engine_option,
    start_time_option,
    undocumented_option,
)
from simulator.errors import MOST_PROBLEMS

if TYPE_CHECKING:
    from simulator.formats.format import Broker
    from simulator.run.job import Job
    from simulator.stream.engine.block import Stream


@dataclass(frozen=True)
class Opening:
    """What is simulated, as the options of a command say it; `job_options` declares them."""

    scenario: str
    format: str
    source: str | None
    seed: int | None
    settings: tuple[str, ...]
    start: str | None
    broker: str
    allow_undocumented: bool
    force: bool
    sql_engine: str | None

    def job(self, to: str = "-", *, quiet: bool = False) -> Job:
        """The job, for a run to this URL; errors and warnings of its stream are printed. Raises UsageError."""
        from simulator.run.job import broker_of, open_job

        job = open_job(
            self.scenario, self.format, source=self.source, seed=self.seed, settings=self.all_settings,
            broker=broker_of(to, cast("Broker", self.broker)), allow_undocumented=self.allow_undocumented,
            force=self.force, sql_engine=self.sql_engine,
        )  # fmt: skip
        report_errors(job.stream)
        if job.source_chosen and not quiet:
            click.echo(f"No source is named, so {job.source} is used, which {job.format} supports.", err=True)
        return job

    @cached_property
    def all_settings(self) -> tuple[str, ...]:
        """The values of the scenario that are changed, its start among them: `now` is the same time in all uses."""
        return with_start(self.settings, self.start)


def with_start(settings: tuple[str, ...], start: str | None) -> tuple[str, ...]:
    """Values of a scenario that are changed, with what `--start` says. Raises UsageError."""
    from simulator.run.scenario import start_setting

    return settings if start is None else (*settings, start_setting(start))


def gathered(**groups: type[Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command some of its options as one value each: those named like the fields of a dataclass."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def call(**values: Any) -> Any:
            for name, group in groups.items():
                values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
            return command(**values)

        return call

    return decorate


def job_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Declares the options of an `Opening`, but for the scenario and the format, which come first."""
    for option in (
        sql_engine_option, force_option, undocumented_option, broker_option, start_time_option, set_option,
        seed_option, source_option,
    ):  # fmt: skip
        command = option(command)
    return command


def report_errors(stream: Stream) -> None:
    """Print the errors after which --force continued, and warnings where a server may behave differently."""
    for error in (*stream.errors[:MOST_PROBLEMS], *stream.warnings):
        click.echo(f"cdcsim: {error}", err=True)
    if (more := len(stream.errors) - MOST_PROBLEMS) > 0:
        click.echo(f"cdcsim: {stream.file}: {more} more errors.", err=True)
