"""`cdcsim verify` of messages: runs the job again and compares its messages with `--from` instead of sending them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import orjson

from simulator.errors import SimulatorError, SinkError, UsageError
from simulator.model import OrderKey
from simulator.run.faults.flow import SPREAD
from simulator.run.faults.spec import OCCURRING
from simulator.run.job import Job
from simulator.run.processes.workers import WorkerEnded
from simulator.run.request import Span, Subject
from simulator.run.session import limits_of, local_run
from simulator.sinks.reading import Reader
from simulator.truth.verify.comparison import Comparison
from simulator.truth.verify.findings import EXAMPLES, Finding, Verdict, Wrong
from simulator.truth.verify.opening import open_reader

# What faults of a run make of messages, where they make them wrong.
WRONG: Final[Mapping[str, Wrong]] = {
    **dict.fromkeys(("crash", "stop", "failover", "duplicates", "ddl-twice"), Wrong.DOUBLED),
    **dict.fromkeys(("gap", "loss", "ddl-missing", "second-snapshot", "task-failure"), Wrong.MISSING),
    **dict.fromkeys(("ddl-late", "ddl-early"), Wrong.REORDERED),
    **dict.fromkeys(("poison", "truncated", "malformed", "wrong-schema-id"), Wrong.UNDECODABLE),
    **dict.fromkeys(("unknown-column", "unknown-type", "missing-old", "unavailable"), Wrong.ALTERED),
}
# Members of a run's record that a check needs: those of the run's identity are texts.
VERSION: Final = 1
MEMBERS: Final[Mapping[str, type]] = {
    "version": int, "scenario": str, "format": str, "source": str, "seed": int, "first_turn": int, "next_turn": int,
    "run": dict,
}  # fmt: skip
RUN: Final = {"broker", "route", "snapshot", "fingerprint of the scenario"}


def verify_job(
    job: Job,
    origin: str | Reader,
    span: Span,
    *,
    fingerprint: str | None = None,
    at_least_once: bool = False,
    examples: int = EXAMPLES,
    workers: int | None = 1,
) -> Verdict:
    """Compares the messages read with those that a run of the job would send; `fingerprint` is that of the scenario
    that was sent, if it is known; `workers` processes render the messages expected (None: as many as are worthwhile).
    Raises SinkError, and UsageError if the run has no end or none of the messages read is expected."""
    limits = limits_of(span)
    if job.stream.turns is None and limits.changes is None and limits.turns is None:
        raise UsageError(
            f"{job.scenario.file} has no end: say how much was sent, with --limit, --turns or --record of the run."
        )
    if fingerprint not in (None, job.scenario.fingerprint):
        raise UsageError(
            f"{job.scenario.file} is not as it was for the run that --record is of: give the file and the --set and"
            " --start of that run."
        )
    if isinstance(origin, str):
        container = job.codec.layout.container
        prefix_bytes = 0 if container is None else container.framing
        origin = open_reader(origin, prefix_bytes=prefix_bytes, binary=job.codec.format.binary)
    try:
        spread = SPREAD if job.faults else 1
        sink = Comparison(origin, job.format, _keys(job), spread=spread, at_least_once=at_least_once, examples=examples)
        job = job.addressed(route=span.route).starting(limits)
        done = local_run(job, sink, limits=limits, snapshot=span.snapshot, workers=workers)()
        verdict = sink.finish()
    except (UsageError, SinkError):
        raise
    except WorkerEnded as error:
        raise UsageError(f"{error.__cause__}; there is no verdict: verify again, with fewer --workers.") from None
    except SimulatorError as error:  # after its first message, a run raises mistakes as failures
        raise UsageError(str(error)) from None
    finally:
        origin.close()
    for occurrence in done.occurrences:
        add_fault(verdict, occurrence, at_least_once=at_least_once)
    return verdict


def add_fault(verdict: Verdict, occurrence: Mapping[str, Any], *, at_least_once: bool) -> None:
    """Adds a fault of the run to the verdict: it is allowed if a correct consumer survives it and delivery is at least
    once, or if no message is wrong for it. Else it is a finding."""
    fault, count = occurrence["fault"], occurrence["messages"]
    kind, wrong = OCCURRING[fault], WRONG.get(fault)
    if wrong is None or (kind.survivable and at_least_once):
        verdict.allowed[fault] += 1
        if wrong is Wrong.DOUBLED:
            verdict.redelivered += count
    elif count:
        _, turn = occurrence["order"].split(" ")
        key = OrderKey(1, *map(int, turn.split(".")))
        then = "" if kind.survivable else f"; a consumer cannot survive it, and defined stay {kind.then}"
        text = f"{fault} at {key}: {kind.text}{then}"
        verdict.add(Finding(wrong, occurrence["topic"], occurrence["partition"] or 0, key, text, count))


def _keys(job: Job) -> Mapping[str, Sequence[str]]:
    """Columns of the primary key by table."""
    return {table.id.name: table.primary_key for table in job.stream.first_tables}


def recorded(path: Path, subject: Subject, span: Span) -> tuple[Subject, Span, str]:
    """A subject and a span completed from a run's record, and the fingerprint of its scenario. Raises UsageError."""
    facts = _read(path)
    run = facts["run"]
    if run.get("--clock") == "wall":
        raise UsageError(
            f"--record {path}: the run had --clock wall, so its messages have the time of their writing: bytes of"
            " another run cannot be the same. Verify a run with --clock simulated."
        )
    for option, said, found in (
        ("-f", subject.format, facts["format"]),
        ("--source", subject.source, facts["source"]),
        ("--seed", subject.seed, facts["seed"]),
        ("--route", span.route, run["route"] or "left out"),
        ("--snapshot", None if span.snapshot is None else str(span.snapshot).lower(), run["snapshot"]),
    ):
        same = str(said) == str(found) or (option == "--source" and str(found).startswith(f"{said}-"))
        if said is not None and not same:
            raise UsageError(f"{option} {said}: --record {path} is of a run with {option} {found}.")
    if span.limit is not None or span.turns is not None or span.start_at:
        raise UsageError(f"--record {path} says what was sent: leave out --limit, --turns and --start-at.")
    if Path(str(subject.scenario)).stem != Path(facts["scenario"]).stem:
        raise UsageError(f"{subject.scenario}: --record {path} is of a run of {facts['scenario']}.")
    faults = subject.faults or run.get("--faults", "none")
    if faults != run.get("--faults", "none"):
        raise UsageError(f"--faults {faults}: --record {path} is of a run with --faults {run.get('--faults', 'none')}.")
    subject = replace(subject, source=facts["source"], seed=facts["seed"], broker=run["broker"], faults=faults)
    first, stop = facts["first_turn"], facts["next_turn"]
    span = Span(turns=stop - first, start_at=first, snapshot=run["snapshot"] == "true", route=run["route"] or None)
    return subject, span, run["fingerprint of the scenario"]


def _read(path: Path) -> dict[str, Any]:
    """Reads a record. Raises UsageError if the file is none."""
    try:
        facts = dict(orjson.loads(path.read_bytes()))
        run = facts["run"]
        if (
            facts["version"] == VERSION
            and all(type(facts[name]) is kind for name, kind in MEMBERS.items())
            and run.keys() >= RUN
            and all(isinstance(text, str) for text in run.values())
            and 0 <= facts["first_turn"] <= facts["next_turn"]
        ):
            return facts
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise UsageError(f"--record {path}: it is no record of a run, as `cdcsim run --record` writes them.")
