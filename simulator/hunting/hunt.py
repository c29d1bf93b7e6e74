"""The search: cases, several at once, until one fails or the time is over; what fails is made smaller."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

from simulator.errors import UsageError
from simulator.hunting.case import Case, read_case
from simulator.hunting.cases import AT_LEAST_ONCE, cases
from simulator.hunting.consumer import Command, Consumer, Function, PythonConsumer
from simulator.hunting.history import history_of
from simulator.hunting.shrink import shrink
from simulator.hunting.trial import Failure, UnfitCase, try_case, words_of
from simulator.model import READ
from simulator.run.job import job_of
from simulator.truth.verify.tables.cells import parse_tolerance

Outcome = TypeVar("Outcome")
# Called with the number of cases tried, and the failure that is being made smaller.
Report = Callable[[int, Failure | None], None]


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a hunt: the smallest failing case and its failure (None: no case failed), the sentence about it,
    the number of cases that were tried, and the tables that were not compared."""

    case: Case | None
    failure: Failure | None
    sentence: str
    tried: int
    uncompared: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no case failed."""
        return self.failure is None

    def __str__(self) -> str:
        """The result as text."""
        cases = f"{self.tried:,} case{'' if self.tried == 1 else 's'}"
        if self.failure:
            return self.sentence
        without = f" Not compared, without a primary key: {', '.join(self.uncompared)}." if self.uncompared else ""
        return f"The consumer was right in {cases}.{without}"


def hunt(
    scenarios: str | Path | Sequence[str | Path],
    format: str,
    consumer: Function,
    *,
    source: str | None = None,
    seed: int = 0,
    settings: Mapping[str, object] | None = None,
    minutes: float = 2.0,
    rounds: int | None = None,
    faults: Sequence[str] = AT_LEAST_ONCE,
    tolerate: Sequence[str] = (),
) -> Found:
    """Searches for a history that breaks a consumer: `hunt("orders", "canal-json", my_consumer).ok`.

    `consumer` is a function: it gets the messages of a case in the order of their arrival and returns rows by table as
    mappings (values as the database's client prints them, or Python's), or the path of a folder or database. It begins
    with nothing each time. In every other case one of the `faults` occurs, each a text of `--faults`; by default those
    of a delivery at least once. The search ends after `minutes`, or after `rounds` cases; a failing case is made
    smaller for up to half of that time more. The same `seed` proposes the same cases. Raises UsageError.
    """
    names = [scenarios] if isinstance(scenarios, str | Path) else list(scenarios)
    texts = tuple(f"{name}={value}" for name, value in (settings or {}).items())
    bases = [Case(str(name), format, source, None, texts) for name in names]
    return search(
        bases, PythonConsumer(consumer), seed=seed, minutes=minutes, rounds=rounds, faults=faults, tolerate=tolerate
    )


def replay(path: str | Path, consumer: Function | None = None, *, tolerate: Sequence[str] = ()) -> Found:
    """Runs the case in a file against a consumer, or against the command that it was found with:
    `assert simulator.replay("lost-delete.yaml").ok`. Raises UsageError."""
    case, command = read_case(Path(path))
    if consumer is None and not command:
        raise UsageError(f"{path}: it names no command; pass the consumer.")
    runner: Consumer = Command(command) if consumer is None else PythonConsumer(consumer)
    return replay_case(case, runner, tolerate)


def replay_case(case: Case, consumer: Consumer, tolerate: Sequence[str] = ()) -> Found:
    """Runs one case. Raises UsageError."""
    failure = try_case(case, consumer, [parse_tolerance(text) for text in tolerate])
    return Found(case, failure, "" if failure is None else words_of(case, failure), 1)


def search(
    bases: Sequence[Case],
    consumer: Consumer,
    *,
    seed: int = 0,
    minutes: float = 2.0,
    rounds: int | None = None,
    jobs: int | None = None,
    faults: Sequence[str] = AT_LEAST_ONCE,
    tolerate: Sequence[str] = (),
    report: Report = lambda tried, failure: None,
) -> Found:
    """The hunt for cases of these bases; `jobs` of them run at once if the consumer allows. Raises UsageError."""
    tolerances = [parse_tolerance(text) for text in tolerate]
    tables = [table for base in bases for table in history_of(base).job.stream.first_tables]
    uncompared = tuple(dict.fromkeys(str(table.id) for table in tables if not table.primary_key))
    if uncompared and not any(table.primary_key for table in tables):
        raise UsageError(
            f"hunt: no table has a primary key ({', '.join(uncompared)}), and rows of others are compared with nothing."
        )
    sends_rows = all(history_of(base).job.codec.sends(READ) for base in bases)
    proposed = islice(cases(bases, seed, snapshots=sends_rows, faults=_fitting(bases, faults)), rounds)
    jobs = (jobs or os.cpu_count() or 1) if consumer.concurrent else 1
    end, tried, first = time.monotonic() + 60 * minutes, 0, None

    def outcome(case: Case) -> tuple[Case, Failure | None]:
        try:
            return case, try_case(case, consumer, tolerances)
        except UnfitCase:  # a proposed number of rows
            return case, None

    with ThreadPoolExecutor(jobs) as pool:
        in_order = partial(_in_order, pool, jobs)
        for case, failure in in_order(outcome, proposed):
            tried += 1
            report(tried, failure)
            if failure is not None:
                first = (case, failure)
                break
            if time.monotonic() > end:
                break
        if first is None:
            return Found(None, None, "", tried, uncompared)
        case, failure = first
        failures = {case: failure}
        end = max(end, time.monotonic() + 30 * minutes)

        def fails(smaller: Case) -> bool:
            if time.monotonic() > end:
                return False
            own = try_case(smaller, consumer, tolerances)
            if own is None or own.kind != failure.kind:
                return False
            failures[smaller] = own
            return True

        smallest = shrink(case, fails, in_order)
    return Found(smallest, failures[smallest], words_of(smallest, failures[smallest]), tried)


def _fitting(bases: Sequence[Case], faults: Sequence[str]) -> list[str]:
    """The faults that messages of the bases can have; all that a user names must be. Raises UsageError."""
    fitting = []
    for text in faults:
        try:
            for base in bases:
                job_of(replace(base, faults=text).subject)
        except UsageError:
            if faults is not AT_LEAST_ONCE:
                raise
        else:
            fitting.append(text)
    return fitting


def _in_order(
    pool: ThreadPoolExecutor, jobs: int, function: Callable[[Case], Outcome], cases: Iterable[Case]
) -> Iterator[Outcome]:
    """The outcomes in the order of the cases, of which `jobs` run at once: so the first failure is the same however
    many they are."""
    waiting = iter(cases)
    running = deque(pool.submit(function, case) for case in islice(waiting, jobs))
    while running:
        yield running.popleft().result()
        running.extend(pool.submit(function, case) for case in islice(waiting, 1))
