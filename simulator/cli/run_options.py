"""The options of `cdcsim run`, in groups: what is run, where it goes, what is written about it, what runs it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulator.run.account import Files
    from simulator.run.job import Job
    from simulator.run.plan import Limits


@dataclass(frozen=True, slots=True)
class Span:
    """Which part of the stream is run."""

    limit: int | None
    turns: int | None
    duration: str | None
    start_at: int
    snapshot: bool | None

    def limits(self) -> Limits:
        """Raises UsageError for a duration that is none."""
        from simulator.run.pacing import parse_duration
        from simulator.run.plan import Limits

        seconds = parse_duration(self.duration) if self.duration else None
        return Limits(self.start_at, self.limit, self.turns, seconds)


@dataclass(frozen=True, slots=True)
class Sending:
    """Where messages go, in what form, and when."""

    to: str
    route: str | None
    envelope: bool
    rate: str | None
    clock: str

    def identity(self, job: Job, span: Span) -> dict[str, str]:
        """What a run that goes on must have like the one before it."""
        return job.identity(
            self.to, span.limits(), route=self.route, snapshot=span.snapshot, envelope=self.envelope,
            wall_clock=self.clock == "wall",
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class About:
    """What a run writes about itself."""

    summary_to: Path | None
    record: Path | None
    resume: Path | None
    metrics: str | None

    def files(self) -> Files:
        """Raises UsageError for a folder that is not there."""
        from simulator.run.account import Files, check_folder

        for option, path in (("--summary-to", self.summary_to), ("--record", self.record), ("--resume", self.resume)):
            check_folder(option, path)
        return Files(self.summary_to, self.record)


@dataclass(frozen=True, slots=True)
class Engine:
    """What runs the job: threads of this process, more processes, or Spark."""

    engine: str
    workers: int | None  # None: as many as pay
    master: str | None
    conf: tuple[str, ...]
    tasks: int | None
