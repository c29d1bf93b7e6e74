"""`cdcsim verify --table … --follow`: a consumer's tables compared while it runs, up to a turn.

The tables are read again and again, until they hold the rows of the turn, do not change any more, or the time is up.
Then lag is told from loss. The consumer has reached a turn: that of a column, or of the newest change that is visible
in its tables. A row that is right for that turn waits for later changes; any other wrong row lacks earlier ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final

import numpy as np
import pyarrow as pa

from simulator.batch import ChangeBatch
from simulator.carriers import storage
from simulator.errors import SinkError, UsageError
from simulator.run.pacing import parse_duration
from simulator.stream.engine.block import Stream
from simulator.truth.known import KnownRows
from simulator.truth.verify.findings import EXAMPLES
from simulator.truth.verify.tables.causes import Causes, blocks_back
from simulator.truth.verify.tables.cells import Hashes, Tolerance
from simulator.truth.verify.tables.comparer import Comparer, ExpectedTable, Side, TableVerdict, WrongRow
from simulator.truth.verify.tables.consumed import Consumed

QUIET_SECS: Final = 30.0
TIMEOUT_SECS: Final = 600.0
PAUSE_SECS: Final = 1.0
# Blocks before the turn that are searched for the newest visible change.
MOST_BLOCKS: Final = 64
# A change counts as applied if it is visible, and so are half of as many changes before it: a row may have the same
# cells as earlier.
NEIGHBOURS: Final = 20
MOST_NEIGHBOURS: Final = 2_000


@dataclass(frozen=True, slots=True)
class Reached:
    """The consumer's report of what it has applied: a column with turns, or with commit times of changes."""

    column: str
    is_time: bool


def parse_reached(text: str) -> Reached:
    """Parses `turn:COLUMN` or `time:COLUMN`. Raises UsageError."""
    word, colon, column = text.partition(":")
    if word not in ("turn", "time") or not colon or not column:
        raise UsageError(
            f"--reached {text}: write turn:COLUMN for a column with turns, or time:COLUMN for one with commit times."
        )
    return Reached(column, word == "time")


@dataclass(frozen=True, slots=True)
class Patience:
    """Time that tables are followed, and their consumer's report of what it has applied (None: visible changes)."""

    timeout_secs: float = TIMEOUT_SECS
    quiet_secs: float = QUIET_SECS
    reached: Reached | None = None


def parse_patience(timeout: str | None, quiet: str | None, reached: str | None) -> Patience:
    """Parses durations (`10m`) and `turn:COLUMN` or `time:COLUMN`; None: the default. Raises UsageError."""
    return Patience(
        TIMEOUT_SECS if timeout is None else parse_duration(timeout, "--timeout"),
        QUIET_SECS if quiet is None else parse_duration(quiet, "--quiet"),
        None if reached is None else parse_reached(reached),
    )


@dataclass(slots=True)
class Followed:
    """A consumer's table with the rows expected at the end, and the last reading."""

    comparer: Comparer
    consumed: Consumed
    table: ExpectedTable
    wanted: Side
    came: Side

    def right(self) -> int:
        return int(np.isin(self.wanted.pairs, self.came.pairs).sum())


@dataclass(frozen=True, slots=True)
class Progress:
    """State of a reading: rows that are right, of how many, and the turn reached, if a column says so."""

    right: int
    expected: int
    reached: int | None
    turn: int

    def __str__(self) -> str:
        reached = "" if self.reached is None else f"turn {self.reached:,} of {self.turn:,} reached, "
        return f"{reached}{self.right:,} of {self.expected:,} rows are right"


@dataclass(frozen=True, slots=True, order=True)
class ObservedChange:
    """A change, and whether the consumer's table has the row as it was after it."""

    offset: int
    turn: int
    key: int
    is_visible: bool
    table: int
    is_delete: bool


class Follower:
    """Follows the tables of a consumer up to a turn. Raises UsageError, SinkError, MissingPackage."""

    def __init__(
        self,
        stream: Stream,
        turn: int,
        tables: Sequence[tuple[ExpectedTable, Consumed]],
        tables_before: Callable[[int], Sequence[ExpectedTable]],
        *,
        known: KnownRows | None = None,
        tolerances: Sequence[Tolerance] = (),
        patience: Patience = Patience(),
        examples: int = EXAMPLES,
    ) -> None:
        """`tables` are those expected before a turn, each with the consumer's; `tables_before` gives those expected
        before an earlier border of the stream."""
        self._stream, self._turn, self._tables_before, self._known = stream, turn, tables_before, known
        self._tolerances, self._patience, self._examples = tolerances, patience, examples
        self._tables = []
        for table, consumed in tables:
            comparer = self._comparer(table, consumed, mark=True)
            self._tables.append(Followed(comparer, consumed, table, comparer.expected_side(), comparer.found_side()))

    def follow(
        self,
        watch: Callable[[Progress], object] = lambda progress: None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> list[TableVerdict]:
        """The verdicts, once the tables are right, quiet, or the time is up. `watch` gets each reading's progress."""
        patience, start = self._patience, clock()
        changed = start
        digests = [followed.came.digest for followed in self._tables]
        while True:
            watch(self._progress())
            seconds = clock()
            if (
                self._all_right()
                or seconds - changed >= patience.quiet_secs
                or seconds - start >= patience.timeout_secs
            ):
                return self._verdicts()
            sleep(PAUSE_SECS)
            for followed in self._tables:
                try:
                    followed.came = followed.comparer.found_side()
                except (SinkError, UsageError):  # it is being written: read before, and maybe again
                    if clock() - start >= patience.timeout_secs:
                        raise
            latest = [followed.came.digest for followed in self._tables]
            if latest != digests:
                digests, changed = latest, clock()

    def _all_right(self) -> bool:
        return all(not any(map(len, f.comparer.wrong_keys(f.wanted, f.came).values())) for f in self._tables)

    def _progress(self) -> Progress:
        reached = self._span_of_column()
        right = sum(followed.right() for followed in self._tables)
        expected = sum(len(followed.wanted.keys) for followed in self._tables)
        return Progress(right, expected, None if reached is None else reached[1], self._turn)

    def _comparer(self, table: ExpectedTable, consumed: Consumed, *, mark: bool) -> Comparer:
        column = self._patience.reached.column if mark and self._patience.reached else None
        return Comparer(table, consumed, self._stream.source, self._tolerances, column)

    # -------------------------------------------------------------------------------------------------- lag and loss

    def _verdicts(self) -> list[TableVerdict]:
        span = None if self._all_right() else self._span_of_column() or self._span_of_changes()
        return [self._verdict(followed, span) for followed in self._tables]

    def _verdict(self, followed: Followed, span: tuple[int, int] | None) -> TableVerdict:
        """The verdict on a table. `span`: the consumer is between these two turns."""
        comparer, wanted, came = followed.comparer, followed.wanted, followed.came
        wrong = comparer.wrong_keys(wanted, came)
        if span is None or not any(map(len, wrong.values())):
            return self._caused(followed, comparer, self._turn, wanted)
        first, stop = span
        (reached, side), earlier = self._rows_at(followed, stop), self._rows_at(followed, first)
        wrong_now = _keys(reached.wrong_keys(side, came))
        right = wrong_now - _keys(earlier[0].wrong_keys(earlier[1], came))
        right |= self._between(followed, wrong_now - right, first, stop)
        verdict = self._caused(followed, reached, stop, side, right)
        verdict.expected, verdict.reached = len(wanted.keys), stop
        verdict.behind = len(_keys(wrong) - (wrong_now - right))
        return verdict

    def _caused(
        self, followed: Followed, comparer: Comparer, turn: int, wanted: Side, known: Collection[int] = ()
    ) -> TableVerdict:
        """The verdict on a table with the rows before a turn, and what explains all rows that are wrong."""
        causes = Causes(self._stream, turn, followed.table.id, comparer)
        verdict = comparer.verdict(wanted, followed.came, causes.cause, self._examples, known)
        if not known:
            verdict.hint = causes.hint or verdict.hint
        return verdict

    def _rows_at(self, followed: Followed, turn: int) -> tuple[Comparer, Side]:
        """The table's rows before a turn. Those of the end, if a schema change between has changed the columns."""
        names = [column.name for column in followed.table.columns]
        for table in self._tables_before(turn):
            if table.id == followed.table.id and [column.name for column in table.columns] == names:
                comparer = self._comparer(table, followed.consumed, mark=False)
                return comparer, comparer.expected_side()
        return followed.comparer, followed.wanted

    def _between(self, followed: Followed, keys: set[int], first: int, stop: int) -> set[int]:
        """The keys of rows that have a state of a change between two turns."""
        visible: set[int] = set()
        if keys and stop > first:
            for batch, side in self._images(followed, first, stop):
                if batch.after is not None:
                    visible |= set(side.keys[np.isin(side.pairs, followed.came.pairs)].tolist())
        return keys & visible

    # ------------------------------------------------------------------------------------------------- turn reached

    def _span_of_column(self) -> tuple[int, int] | None:
        """The turns between which the consumer is by its column; None without a column or a value."""
        greatest = [f.comparer.greatest for f in self._tables if f.comparer.greatest is not None]
        if (reached := self._patience.reached) is None or not greatest:
            return None
        if not reached.is_time:
            turn = min(max(int(max(map(_number, greatest))), 0), self._turn)
            return self._before(turn), min(self._stream.border(turn + 1), self._turn)
        low, high = max(map(_epoch_ms, greatest))
        return self._at_time(low), self._at_time(high + 1)

    def _before(self, turn: int) -> int:
        """The last border at or before a turn."""
        while self._stream.border(turn) != turn:
            turn -= 1
        return turn

    def _at_time(self, ms: int) -> int:
        """The border before the first transaction that was committed at a time or later."""
        low, high = 0, self._turn
        while low < high:
            middle = (low + high) // 2
            border = self._stream.border(middle + 1)
            if border <= self._turn and self._committed_ms(border) < ms:
                low = border
            else:
                high = middle
        return min(low, self._turn)

    def _committed_ms(self, border: int) -> int:
        """The commit time of the transaction that ends at a border."""
        last = self._before(border - 1)
        batches = self._stream.read(last, border).batches
        return max((int(batch.envelope.event_ms.max()) for batch in batches if len(batch)), default=0)

    def _span_of_changes(self) -> tuple[int, int] | None:
        """The transaction of the newest change that is visible; None if none is."""
        changes: list[ObservedChange] = []
        for first, stop in blocks_back(self._stream, self._turn, MOST_BLOCKS):
            for number, followed in enumerate(self._tables):
                for batch, side in self._images(followed, first, stop):
                    visible = np.isin(side.pairs, followed.came.pairs) & (batch.after is not None)
                    columns = (batch.envelope.offset, batch.envelope.turn, side.keys, visible)
                    rows = zip(*(column.tolist() for column in columns), strict=True)
                    is_delete = batch.after is None
                    changes += [
                        ObservedChange(o, turn, key, is_visible, number, is_delete) for o, turn, key, is_visible in rows
                    ]
            if (turn := _newest(sorted(changes, reverse=True), ended=first <= 0)) is not None:
                return self._before(turn), min(self._stream.border(turn + 1), self._turn)
        return None

    def _images(self, followed: Followed, first: int, stop: int) -> list[tuple[ChangeBatch, Side]]:
        """The rows after the changes of a table between two turns (before deletes), with their changes."""
        names = [column.name for column in followed.table.columns]
        images = []
        for batch in self._stream.read(first, stop).batches:
            if batch.table.id != followed.table.id or not len(batch):
                continue
            image = batch.full_before if batch.after is None else batch.after.__getitem__
            values: list[pa.Array] = [storage(image(i)) for i in range(len(batch.table.columns))]
            columns = list(batch.table.columns)
            if self._known is not None:
                columns, values = self._known.rows(batch.table, values)
            if [column.name for column in columns] == names:
                images.append((batch, followed.comparer.side_of(values)))
        return images


def _newest(changes: Sequence[ObservedChange], *, ended: bool) -> int | None:
    """The newest turn whose change is visible, and so are half of the last changes of the `NEIGHBOURS` rows that
    changed before it. A deleted row shows nothing: it may never have been there."""
    for index, change in enumerate(changes):
        if not change.is_visible:
            continue
        last: dict[tuple[int, int], ObservedChange] = {}
        before = changes[index : index + MOST_NEIGHBOURS]
        for other in before:
            last.setdefault((other.table, other.key), other)
            if len(last) == NEIGHBOURS:
                break
        else:
            if len(before) < MOST_NEIGHBOURS and not ended:
                return None
        kept = [other.is_visible for other in last.values() if not other.is_delete]
        if 2 * sum(kept) >= len(kept):
            return change.turn
    return None


def _keys(wrong: dict[WrongRow, Hashes]) -> set[int]:
    return {key for keys in wrong.values() for key in keys.tolist()}


def _number(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise UsageError(f"--reached: {value!r} is no turn: it is a whole number.") from None


def _epoch_ms(value: Any) -> tuple[int, int]:
    """The first and last millisecond of a time: a date and time, its text, or a number since 1970 in s, ms, µs or
    ns. A time without a zone is in UTC."""
    if isinstance(value, str):
        try:
            value = int(value) if value.lstrip("-").isdigit() else datetime.fromisoformat(value)
        except ValueError:
            raise UsageError(f"--reached: {value!r} is no time, such as 2024-05-01 12:30:00.250.") from None
    if isinstance(value, datetime):
        value = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        ms = int(value.timestamp() * 1000)
        return ms, ms if value.microsecond else ms + 999
    if isinstance(value, date) or not isinstance(value, int | float):
        raise UsageError(f"--reached: {value!r} is no time, such as 2024-05-01 12:30:00.250.")
    number = int(value)
    if number < 10**11:
        return number * 1000, number * 1000 + 999
    while number >= 10**14:
        number //= 1000
    return number, number if number % 1000 else number + 999
