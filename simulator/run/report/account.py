"""Account of a run: summary and record as JSON files, and counters for Prometheus while the run lasts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from simulator.output import write_whole
from simulator.run.report.record import Latencies, Recorder
from simulator.run.request import About

if TYPE_CHECKING:
    from simulator.run.job import Job
    from simulator.run.pipeline import Run
    from simulator.run.resume import Resumed
    from simulator.run.summary import Summary
    from simulator.sinks.sink import Sink


class Account:
    """Watches a run in this process. Raises OptionError for an invalid address."""

    def __init__(self, about: About, identity: Mapping[str, str]) -> None:
        self._about, self._identity = about, identity
        self._latencies = Latencies()
        self._recorder: Recorder | None = None
        self._address: tuple[str, int] | None = None
        if about.metrics is not None:  # an HTTP server takes a while to import
            from simulator.run.report.metrics import parse_address

            self._address = parse_address(about.metrics)

    def watch(self, sink: Sink, resumed: Resumed | None) -> None:
        """Begins to watch a sink; call it before the first message is sent."""
        if self._about.record is not None or self._address is not None:
            sink.ledger.latencies = self._latencies
        recorder = Recorder(sink, self._latencies, digests=self._about.record is not None)
        if resumed is not None:  # a later part may be asked for the record of the whole run
            resumed.part = recorder.part
            if not resumed.begins:
                recorder.resumed_from = resumed.start
                recorder.earlier = resumed.before.parts
        if self._about.record is not None:
            self._recorder = recorder

    def serving(self, run: Run) -> AbstractContextManager[object]:
        """Answers Prometheus while the run lasts. Raises SinkError for a port that is taken."""
        if self._address is None:
            return nullcontext()
        from simulator.run.report.metrics import served

        return served(self._address, run, self._latencies)

    def document(self, facts: dict[str, Any], failure: Exception | None) -> object:
        """The record as JSON data; `failure` is the error that ended the run."""
        if self._recorder is None:
            return None
        return self._recorder.document({**facts, "run": self._identity}, failure)


def facts_of(job: Job, to: str, summary: Summary) -> dict[str, Any]:
    """The summary, together with the job and the destination (without secrets)."""
    return {
        "scenario": job.scenario.file,
        "format": job.format,
        "source": str(job.source),
        "undocumented": job.undocumented,
        "left_out": list(job.left_out),
        "to": to,
        "seed": job.scenario.spec.seed,
        **summary.as_dict(),
    }


def write(about: About, facts: dict[str, Any], record_of: Callable[[dict[str, Any]], object]) -> None:
    """Writes the requested files from the facts of the summary."""
    if about.summary_to is not None:
        _write_json(about.summary_to, facts)
    if about.record is not None:
        _write_json(about.record, record_of(facts))


def _write_json(path: Path, facts: object) -> None:
    write_whole(path, orjson.dumps(facts, option=orjson.OPT_INDENT_2) + b"\n")
