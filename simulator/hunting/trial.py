"""A case run against a consumer, and its tables compared with the rows that a correct one holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Final

from simulator.errors import SinkError, UsageError
from simulator.hunting.case import Case
from simulator.hunting.consumer import Consumer, ConsumerEnded, Output
from simulator.hunting.history import History, history_of
from simulator.truth.verify.tables.cells import Tolerance
from simulator.truth.verify.tables.comparer import Comparer, ExpectedTable, TableVerdict, WrongRow
from simulator.truth.verify.tables.consumed import DATABASES, SUFFIXES, Consumed, open_table
from simulator.truth.verify.tables.positions import in_memory

# The consumer ended with an error; other kinds are those of rows.
ENDED: Final = "ended"

_ONE = Lock()  # streams are read by one thread at a time


class UnfitCase(UsageError):
    """The scenario of a case, or its settings, cannot be run."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A consumer's mistake: its kind, and a sentence that names the first wrong row, or the error."""

    kind: str
    text: str


def try_case(case: Case, consumer: Consumer, tolerances: Sequence[Tolerance]) -> Failure | None:
    """The failure of a consumer in a case; None: its tables are right, or no consumer could be right. Raises UnfitCase
    and, for mistakes of the consumer, UsageError."""
    with _ONE:
        try:
            history = history_of(case)
        except UsageError as error:
            raise UnfitCase(str(error)) from error
        if not len(history.arrived) or not history.is_survivable:
            return None
        if consumer.chooses_order and not history.is_survivable_in_any_order:
            return None
        tables = history.expected_tables
    if tables is None:
        return None
    try:
        with consumer.tables(history) as output, _ONE:
            return _compared(history, tables, output, tolerances)
    except ConsumerEnded as error:
        return Failure(ENDED, str(error))


def _compared(
    history: History, tables: Sequence[ExpectedTable], output: Output, tolerances: Sequence[Tolerance]
) -> Failure | None:
    by_table: Mapping[str, Any] = output if isinstance(output, Mapping) else {}
    for table in tables:
        if isinstance(output, Mapping):
            rows = by_table.get(str(table.id), by_table.get(table.id.name, ()))
            consumed = in_memory(table.id, list(rows), table.columns)
        else:
            consumed = _opened(str(output), table)
        verdict = Comparer(table, consumed, history.job.stream.source, tolerances).compare(examples=1)
        if not verdict.ok:
            return _failure(verdict)
    return None


def _opened(place: str, table: ExpectedTable) -> Consumed:
    """The consumer's table; a missing table or an empty file has no rows."""
    if place.partition(":")[0] in DATABASES:
        return open_table(place, table.id.name)
    for name in (str(table.id), table.id.name):
        for file in (Path(place) / f"{name}{suffix}" for suffix in SUFFIXES):
            if file.exists() and file.stat().st_size:
                try:
                    return open_table(str(file), name)
                except SinkError as error:
                    raise ConsumerEnded(f"the consumer's table is no whole file: {error}") from None
    return in_memory(table.id, [], table.columns)


def _failure(verdict: TableVerdict) -> Failure:
    wrong = next(wrong for wrong in WrongRow if verdict.counts[wrong])
    finding = next(finding for finding in verdict.examples if finding.wrong is wrong)
    key = ", ".join(f"{name}={value}" for name, value in finding.key.items())
    return Failure(wrong.name.lower(), f"{verdict.table} {key}: {finding.text}")


def words_of(case: Case, failure: Failure) -> str:
    """Sentence about a failing case: its changes, and the consumer's wrong result."""
    history = history_of(case)
    orders = sorted(
        (turn, ordinal, batch.kind.name.lower())
        for batch in history.changes
        for turn, ordinal in zip(batch.envelope.turn.tolist(), batch.envelope.ordinal.tolist(), strict=True)
    )
    kinds = ", ".join(kind for *_, kind in orders[:10]) + (", …" if len(orders) > 10 else "")
    tables = ", ".join(dict.fromkeys(str(batch.table.id) for batch in history.changes))
    count = f"{len(orders):,} change{'' if len(orders) == 1 else 's'}"
    how = f" in {case.partitions} partitions" if case.partitions > 1 else ""
    how += f" with --faults {case.faults}" if case.faults != "none" else ""
    return f"After {count} of {tables} ({kinds}){how}: {failure.text}"
