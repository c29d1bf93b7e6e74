"""What is written about a run: its summary and its record as JSON, and its counters for Prometheus while it lasts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from simulator.errors import UsageError
from simulator.run.latencies import Latencies
from simulator.run.record import Recorder
from simulator.sinks.url import public

if TYPE_CHECKING:
    from simulator.run.job import Job
    from simulator.run.pipeline import Run, Summary
    from simulator.run.resume import Resumed
    from simulator.sinks.sink import Sink


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a run about itself; None: not written."""

    summary: Path | None = None
    record: Path | None = None

    def write(self, facts: dict[str, Any], record_of: Callable[[dict[str, Any]], object]) -> None:
        """Both, from the facts of the summary."""
        if self.summary is not None:
            _write_json(self.summary, facts)
        if self.record is not None:
            _write_json(self.record, record_of(facts))


class Account:
    """Watches a run in this process. Raises OptionError for an address that is none."""

    def __init__(self, files: Files, identity: Mapping[str, str], metrics: str | None = None) -> None:
        self._files, self._identity = files, identity
        self._latencies = Latencies()
        self._recorder: Recorder | None = None
        self._address: tuple[str, int] | None = None
        if metrics is not None:  # an HTTP server takes a while to import
            from simulator.run.metrics import parse_address

            self._address = parse_address(metrics)

    def watch(self, sink: Sink, resumed: Resumed | None) -> None:
        """From before the first message is sent."""
        if self._files.record is not None or self._address is not None:
            sink.ledger.latencies = self._latencies
        if self._files.record is not None:
            self._recorder = Recorder(sink, self._latencies)
            if resumed is not None:
                resumed.part = self._recorder.part
                if not resumed.begins:
                    self._recorder.resumed_from = resumed.start
                    self._recorder.earlier = resumed.before.parts

    def serving(self, run: Run) -> AbstractContextManager[object]:
        """Answers Prometheus while the run lasts. Raises SinkError for a port that is taken."""
        if self._address is None:
            return nullcontext()
        from simulator.run.metrics import served

        return served(self._address, run, self._latencies)

    def document(self, facts: dict[str, Any], failure: Exception | None) -> object:
        """The record."""
        if self._recorder is None:
            return None
        return self._recorder.document({**facts, "run": self._identity}, failure)


def facts_of(job: Job, to: str, summary: Summary) -> dict[str, Any]:
    """The summary with what was run, and where to, without passwords."""
    return {
        "scenario": job.scenario.file,
        "format": job.format,
        "source": str(job.source),
        "undocumented": job.undocumented,
        "left_out": list(job.left_out),
        "to": public(to),
        "seed": job.scenario.spec.seed,
        **summary.as_dict(),
    }


def check_folder(option: str, path: Path | None) -> None:
    """Raises UsageError for a file in a folder that is not there."""
    if path is not None and not path.absolute().parent.is_dir():
        raise UsageError(f"{option} {path}: there is no folder {str(path.parent)!r}.")


def _write_json(path: Path, facts: object) -> None:
    path.write_bytes(orjson.dumps(facts, option=orjson.OPT_INDENT_2) + b"\n")
