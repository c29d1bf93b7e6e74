"""The stream of literal transactions, from a scenario's script in YAML or from SQL that was run."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from math import ceil
from typing import Any, Final, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import Before, ChangeBatch, Delta, Envelope, Ints, LoggedColumns, decoded
from simulator.errors import UsageError
from simulator.model import (
    DELETE,
    INSERT,
    Column,
    Event,
    Heartbeat,
    Kind,
    LoggedStatement,
    OrderKey,
    SchemaChange,
    Table,
)
from simulator.order import STEP
from simulator.sources.source import Source
from simulator.stream.engine.block import WRITE_LAG_MS, Block, Needed, SnapshotBlock, SnapshotPart, Stream
from simulator.stream.engine.sizes import BLOCK_BYTES, CHANGE_BYTES, COLUMN_BYTES
from simulator.stream.literal.numbers import Numbers
from simulator.stream.literal.transactions import Ddl, Positions, Row, RowChange, Text, Transaction

BLOCK_TURNS: Final = 4096
# Most heartbeats of the product between two transactions.
MOST_HEARTBEATS: Final = 1000

# (turn, index among its entries from 0, number among its row changes from 1, the change).
_Numbered = tuple[int, int, int, RowChange]


class LiteralStream(Stream):
    """A history of literal transactions; turn i is transaction i. `alive` is the number of rows before the first.
    Subclasses turn cells into columns (`column`) and list the rows at a turn (`numbered_rows`).
    """

    turns: int
    block_bytes = BLOCK_BYTES  # maximum bytes of a block's rows

    def __init__(
        self,
        file: str,
        source: Source,
        database: str,
        transactions: Sequence[Transaction],
        *,
        alive: int,
        start_ms: int,
        first_tables: Sequence[Table],
        column_names: Iterable[str],
    ) -> None:
        self.file, self.source, self.database, self.start_ms = file, source, database, start_ms
        self.first_tables, self.column_names = tuple(first_tables), frozenset(column_names)
        self.transactions = transactions
        self.turns = len(transactions)
        rows = [sum(isinstance(entry, RowChange) for entry in transaction.entries) for transaction in transactions]
        self._counts: Ints = np.array(rows, dtype=np.int64)
        self._alive = alive
        self._number([()] * self.turns)
        self._cached_rows: tuple[int, list[tuple[Table, tuple[pa.Array, ...], Ints]]] | None = None

    def _number(self, idle_ms: Sequence[Sequence[int]]) -> None:
        self._idle_ms = idle_ms
        self.numbers = Numbers(
            self._alive,
            [bool(transaction.entries) for transaction in self.transactions],
            [[entry.ms for entry in transaction.entries] for transaction in self.transactions],
            [transaction.ms for transaction in self.transactions],
            idle_ms,
        )
        self.first_txn, self.first_offset = self.numbers.first_txn, self.numbers.first_offset

    def beat(self, every_ms: int) -> None:
        """Adds the product's heartbeats every `every_ms` between transactions; less often if there would be too many,
        none if the script has its own.
        """
        if any(transaction.heartbeat for transaction in self.transactions):
            return
        times = [transaction.ms for transaction in self.transactions]
        self._number([_beats(start, stop, every_ms) for start, stop in zip(times[:1] + times, times, strict=False)])

    @abstractmethod
    def column(self, table: Table, position: int, cells: Sequence[Any]) -> pa.Array:
        """Cells of a column of a table as its carrier."""

    @abstractmethod
    def numbered_rows(self, turn: int) -> Iterator[tuple[Table, tuple[pa.Array, ...], Ints]]:
        """The rows of each table before a turn, all at once, and their numbers."""

    @abstractmethod
    def row_bytes(self, table: Table, row: Row) -> int:
        """Size of a row's texts and bytes."""

    @cached_property
    def block_turns(self) -> int:  # type: ignore[override]
        """Number of turns that make some tens of megabytes, not counting the largest. Raises UsageError for a turn too
        large for a block.
        """
        turns = np.array([self._turn_bytes(transaction) for transaction in self.transactions] or [0], dtype=np.int64)
        if turns.max() > COLUMN_BYTES:
            self._too_large(int(turns.argmax()))
        step = BLOCK_TURNS
        while step > 1:
            starts = np.arange(0, len(turns), step)
            if (np.add.reduceat(turns, starts) - np.maximum.reduceat(turns, starts)).max() <= self.block_bytes:
                break
            step //= 2
        return step

    def _turn_bytes(self, transaction: Transaction) -> int:
        total = 0
        for entry in transaction.entries:
            total += CHANGE_BYTES
            if isinstance(entry, RowChange):
                total += sum(self.row_bytes(entry.table, row) for row in (entry.before, entry.after) if row is not None)
        return total

    def _too_large(self, turn: int) -> NoReturn:
        changes = [entry for entry in self.transactions[turn].entries if isinstance(entry, RowChange)]
        sizes: dict[str, int] = {}
        for batch in self.read(turn, turn + 1).batches if changes else ():
            for column, array in zip(batch.table.columns, batch.image(), strict=True):
                name = f"{batch.table.id.name}.{column.name}"
                sizes[name] = max(sizes.get(name, 0), array.nbytes)
        widest = max(sizes, key=lambda name: sizes[name])
        raise UsageError(
            f"{self.file}: turn {turn} has {sizes[widest] >> 20} MiB of values of {widest}, and a block holds at most "
            f"{COLUMN_BYTES >> 20} MiB; shorten them, or change fewer rows in a transaction."
        )

    @cached_property
    def partial_turn(self) -> int | None:
        """The first turn with a row whose columns are not all in the log."""
        return next(
            (
                turn
                for turn, transaction in enumerate(self.transactions)
                if any(isinstance(entry, RowChange) and _logged(entry) for entry in transaction.entries)
            ),
            None,
        )

    # ---------------------------------------------------------------------------------------------------------- turns

    def border(self, turn: int) -> int:
        """Every turn of a script is a transaction border."""
        return turn

    def count(self, first: int, stop: int) -> Ints:
        return self._counts[first:stop]

    def previous_ms(self, turns: Ints) -> Ints:
        """When the transaction before each turn was committed; for the first one, its own time."""
        return self.numbers.previous_ms(turns)

    def read(self, first: int, stop: int, needed: Needed | None = None) -> Block:
        stop = min(stop, self.turns)
        groups: dict[tuple[Table, Kind, Positions, Positions], list[_Numbered]] = {}
        group: list[_Numbered] = []
        last: RowChange | None = None
        events: list[Event] = []
        for turn in range(first, stop):
            transaction = self.transactions[turn]
            if transaction.heartbeat:
                events.append(self._heartbeat(turn, transaction))
            idle_ms = self._idle_ms[turn]
            events += [self._idle_heartbeat(turn, number - len(idle_ms), ms) for number, ms in enumerate(idle_ms)]
            rows = 0
            for number, entry in enumerate(transaction.entries):
                if not isinstance(entry, RowChange):
                    events.append(self._event(turn, number, entry, transaction))
                    continue
                rows += 1
                # adjacent changes mostly share a batch, and hashing tables is slow
                if last is None or not _alike(last, entry):
                    shape = (entry.table, entry.kind, entry.logged_before, entry.logged_after)
                    group, last = groups.setdefault(shape, []), entry
                group.append((turn, number, rows, entry))
        batches = [self._batch(group) for group in groups.values()]
        return Block(first, stop - first, self.as_logged(batches), tuple(events), int(self._counts[first:stop].sum()))

    def _heartbeat(self, turn: int, transaction: Transaction) -> Heartbeat:
        commits = (past.ms for past in reversed(self.transactions[:turn]) if past.entries)
        in_second = int(self.numbers.in_second(turn, 0))
        common = self._common(turn, 0, transaction.ms)
        return Heartbeat(*common, next(commits, None), in_second=in_second, header=transaction.header)

    def _idle_heartbeat(self, turn: int, number: int, ms: int) -> Heartbeat:
        """A heartbeat of the product before a turn; the last one has number -1."""
        common = self._common(turn, number, ms)
        last_ms = int(self.previous_ms(np.array([turn], dtype=np.int64))[0])
        in_second = int(self.numbers.in_second(turn, number))
        return Heartbeat(*common, last_ms, in_second=in_second, header=self.transactions[turn].header)

    def _common(self, turn: int, number: int, ms: int) -> tuple[OrderKey, int, int, int, int]:
        txn, offset = int(self.numbers.txn[turn]), int(self.numbers.offset[turn]) + STEP * number
        return OrderKey(1, turn, STEP * number), txn, offset, ms, ms + WRITE_LAG_MS

    def _event(self, turn: int, number: int, entry: Ddl | Text, transaction: Transaction) -> Event:
        common = self._common(turn, number, entry.ms)
        in_second = int(self.numbers.in_second(turn, number))
        if isinstance(entry, Ddl):
            ddl = (entry.kind, entry.database, entry.before, entry.after, entry.sql)
            return SchemaChange(
                *common,
                *ddl,
                kinds=entry.kinds,
                more=entry.more,
                in_second=in_second,
                header=transaction.header,
            )
        text = (entry.kind, entry.database, entry.table, entry.sql)
        return LoggedStatement(*common, *text, in_second=in_second, header=transaction.header)

    def _batch(self, group: Sequence[_Numbered]) -> ChangeBatch:
        turn, number, seq = (np.array([numbered[i] for numbered in group], dtype=np.int64) for i in range(3))
        changes = [numbered[3] for numbered in group]
        event_ms = np.array([change.ms for change in changes], dtype=np.int64)
        envelope = Envelope(
            phase=1,
            turn=turn,
            ordinal=STEP * number,
            statement=np.array([change.run for change in changes], dtype=np.int64),
            txn=self.numbers.txn[turn],
            seq=seq,
            size=self._counts[turn],
            offset=self.numbers.offset[turn] + STEP * number,
            event_ms=event_ms,
            write_ms=event_ms + WRITE_LAG_MS,
            in_second=self.numbers.in_second(turn, number),
            txn_in_second=self.numbers.in_second(turn, 0) if self.source.log.one_a_transaction else None,
        )
        headers = [self.transactions[number].header for number in turn.tolist()]
        if headers[0] is not None:
            envelope = replace(envelope, header=np.array(headers, dtype=object))
        return self._images(changes, envelope)

    def _images(self, changes: Sequence[RowChange], envelope: Envelope) -> ChangeBatch:
        """The before and after images of changes, as a batch."""
        first = changes[0]
        table, kind, logged = first.table, first.kind, _logged(first)
        positions = range(len(table.columns))
        numbers = partial(_row_numbers, changes)
        after: tuple[pa.Array, ...] | None = None
        if kind is not DELETE:
            new = [_cells([change.after for change in changes], position) for position in positions]
            after = tuple(self.column(table, position, cells) for position, cells in zip(positions, new, strict=True))
        if kind is INSERT:
            return ChangeBatch(table, kind, envelope, after, None, logged=logged, row_numbers=numbers)
        old = [_cells([change.before for change in changes], position) for position in positions]
        if kind is DELETE:
            gone = tuple(self.column(table, position, cells) for position, cells in zip(positions, old, strict=True))
            return ChangeBatch(table, kind, envelope, None, gone, logged=logged, row_numbers=numbers)
        before = tuple(
            self._old(table, position, old_cells, new_cells)
            for position, old_cells, new_cells in zip(positions, old, new, strict=True)
        )
        return ChangeBatch(table, kind, envelope, after, before, logged=logged, row_numbers=numbers)

    def _old(self, table: Table, position: int, old: list[Any], new: list[Any]) -> Before:
        """A column of the before image, with only the rows in which it differs (0.0 differs from -0.0)."""
        rows = [
            i
            for i, (a, b) in enumerate(zip(old, new, strict=True))
            if a is not b and (a != b or (isinstance(a, float) and repr(a) != repr(b)))
        ]
        if not rows:
            return None
        values = self.column(table, position, [old[i] for i in rows])
        return values if len(rows) == len(old) else Delta(np.array(rows, dtype=np.int64), values)

    # ------------------------------------------------------------------------------------------------------- snapshot

    def snapshot_block_rows(self, turn: int, part: SnapshotPart) -> int:
        _, columns, _ = self._rows_before(turn)[part.table]
        byte_count = int(sum(column.nbytes for column in columns))
        return max(1, BLOCK_BYTES // (CHANGE_BYTES + byte_count // max(len(columns[0]), 1)))

    def rows_at(self, turn: int) -> Iterator[tuple[Table, tuple[pa.Array, ...]]]:
        """The rows of every table before a turn, tables without rows included."""
        return ((table, columns) for table, columns, _ in self.numbered_rows(turn))

    def tables_from(self, turn: int) -> Iterator[Table]:
        yield from (table for table, _ in self.rows_at(turn))
        for event in self.read(turn, self.turns).events:
            if isinstance(event, SchemaChange):
                yield from (after for _, after in event.tables if after is not None)

    def added_values(self, batch: ChangeBatch, after: Table, column: Column) -> pa.Array:
        assert batch.row_numbers is not None
        for event in self.read(0, self.turns).events:
            if isinstance(event, SchemaChange) and event.after == after:
                for table, columns, numbers in self.numbered_rows(event.order.turn + 1):
                    if table == after:
                        rows = pc.index_in(pa.array(batch.row_numbers()), pa.array(numbers))
                        return decoded(columns[after.columns.index(column)]).take(rows)
        return self.source.parse_values([None] * len(batch), column.type)

    def _rows_before(self, turn: int) -> list[tuple[Table, tuple[pa.Array, ...], Ints]]:
        """`numbered_rows`, cached for the other blocks of a snapshot."""
        if self._cached_rows is None or self._cached_rows[0] != turn:
            self._cached_rows = turn, list(self.numbered_rows(turn))
        return self._cached_rows[1]

    def snapshot_tables(self, turn: int) -> Sequence[tuple[Table, str]]:
        return [(table, self.create_table(table, turn)) for table, _, _ in self._rows_before(turn)]

    def snapshot_parts(self, turn: int) -> Iterator[SnapshotPart]:
        return (SnapshotPart(table) for table in range(len(self._rows_before(turn))))

    def count_part(self, turn: int, part: SnapshotPart) -> int:
        _, columns, _ = self._rows_before(turn)[part.table]
        return len(columns[0]) if columns else 0

    def snapshot_rows(self, block: SnapshotBlock, needed: Needed | None = None) -> tuple[Table, tuple[pa.Array, ...]]:
        table, columns, _ = self._rows_before(block.turn)[block.part.table]
        return table, tuple(column.slice(block.start, block.rows) for column in columns)

    def snapshot_row_numbers(self, block: SnapshotBlock) -> Ints:
        _, _, numbers = self._rows_before(block.turn)[block.part.table]
        return numbers[block.start : block.start + block.rows]

    def snapshot_ms(self, turn: int) -> int:
        return self.transactions[max(turn - 1, 0)].ms if self.turns else self.start_ms


def _beats(start_ms: int, stop_ms: int, every_ms: int) -> range:
    """Times of heartbeats between two transactions."""
    step = max(every_ms, 1000 * ceil((stop_ms - start_ms) / MOST_HEARTBEATS / 1000))
    return range(start_ms + step, stop_ms, step)


def _alike(a: RowChange, b: RowChange) -> bool:
    """Whether two changes may share a batch. Tables are compared by identity, which is fast."""
    return (
        a.table is b.table
        and a.kind is b.kind
        and a.logged_before == b.logged_before
        and a.logged_after == b.logged_after
    )


def _cells(rows: Sequence[Row | None], position: int) -> list[Any]:
    return [row[position] for row in rows]  # type: ignore[index]


def _row_numbers(changes: Sequence[RowChange]) -> Ints:
    return np.array([change.number for change in changes], dtype=np.int64)


def _logged(change: RowChange) -> LoggedColumns | None:
    """The columns that the log holds; None: all."""
    every = len(change.table.columns)
    before, after = (
        None if positions is None or len(positions) == every else positions
        for positions in (change.logged_before, change.logged_after)
    )
    return None if before is None and after is None else LoggedColumns(before, after)
