"""Blocks of turns and blocks of a snapshot, as columnar changes and single events; every stream returns these.

A block is addressed by numbers alone (its turns, or its rows in a snapshot), so any process can make it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa

from simulator.batch import Border, ChangeBatch, Envelope, Ints
from simulator.errors import UsageError
from simulator.model import READ, Column, Event, Kind, SchemaChange, SchemaChangeKind, Table, TableId
from simulator.order import create_table
from simulator.sources.source import Source
from simulator.split import split
from simulator.stream.engine.delay import Delay

# Delay between a commit and the product's write, where the scenario has no `delay`. `--clock wall` replaces the write
# time when the message is written.
WRITE_LAG_MS: Final = 350

# Snapshot rows belong to no transaction of the stream: their numbers are below `first_txn`, at most by this much.
SNAPSHOT_TXN: Final = -1


# Positions of the columns that a reader needs, by table and kind of change; None: all. Other columns need not be
# drawn: a generated stream replaces them by `pa.null()`.
Needed: TypeAlias = Callable[[Table, Kind], Collection[int] | None]

# Maximum turn: numbers computed from turns must fit 63 bits.
FARTHEST: Final = 10**15


@dataclass(frozen=True, slots=True)
class Block:
    """Changes of `turns` turns of a stream from `first_turn` on, or rows of a snapshot by their numbers.

    `batches` hold the row changes, each in stream order, one batch for a kind and a table version; `events` the DDL
    statements and heartbeats in stream order. Sorted by order key, both together are the stream; no two order keys are
    equal. A heartbeat carries the number of the transaction that follows it; a snapshot has the CREATE TABLE of each
    table before the first of its rows. `changes` counts the rows in `batches`. `snapshot_turn` is the turn before which
    a snapshot is taken.
    """

    first_turn: int
    turns: int
    batches: tuple[ChangeBatch, ...]
    events: tuple[Event, ...]
    changes: int
    snapshot_turn: int | None = None


@dataclass(frozen=True, slots=True)
class TurnBlock:
    """Address of changes: the turns [first, stop), which are all or a part of block `number`."""

    number: int
    first: int
    stop: int


@dataclass(frozen=True, slots=True)
class SnapshotPart:
    """Adjacent rows of a snapshot that can be counted from structure alone.

    `table` is the index of their table in the stream. In a generated stream they are rows of the slots [low, high) of a
    cohort: those of living entities, or those that the `passes` [first, stop) of these slots left behind.
    """

    table: int
    cohort: int = 0
    low: int = 0
    high: int = 0
    passes: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class SnapshotBlock:
    """Address of rows in the snapshot before `turn`: `rows` of a part, from its row `start`.

    `first` is the number of rows before them. `opens`: the block is the first of its table; `closes`: the last of its
    table; `ends`: the last of the snapshot. A table without rows has one empty block.
    """

    turn: int
    part: SnapshotPart
    start: int
    rows: int
    first: int
    opens: bool
    closes: bool = False
    ends: bool = False

    def borders(self) -> Ints:
        """Whether each row is the first or last of its table or snapshot: bits of `simulator.batch.Border`."""
        borders = np.zeros(self.rows, dtype=np.int64)
        if self.rows:
            borders[0] |= (Border.TABLE_FIRST if self.opens else 0) | (0 if self.first else Border.FIRST)
            borders[-1] |= (Border.TABLE_LAST if self.closes else 0) | (Border.LAST if self.ends else 0)
        return borders


class Stream(ABC):
    """A history that can be read from any turn: generated, or run from a script. `file` names its scenario.

    `turns` is None for an endless stream; its `last_turn` is the last whose numbers fit. `first_tables` are the tables
    as the stream finds them; `column_names` the columns of all tables at any time. A block has `block_turns` turns, so
    that its messages stay within some tens of megabytes. `first_txn` and `first_offset` are the first numbers of the
    stream: a snapshot has lower ones.

    `row_image` is what the log holds of a row, one of the source's `row_images` ("" of what a server logged);
    `partial_images` is what makes it lack columns of some rows, in words for messages; None: nothing does.

    `failure` is the error that ended a script early: for the caller to raise when all that went before is delivered.
    `errors` are those after which it went on, `notes` what whoever runs the scenario should know.
    """

    file: str
    source: Source
    database: str
    first_tables: tuple[Table, ...]
    column_names: Collection[str]
    block_turns: int
    first_txn: int
    first_offset: int
    turns: int | None = None
    last_turn: int | None = None
    failure: UsageError | None = None
    errors: tuple[str, ...] = ()
    # The product's write delay, if the scenario sets one.
    delay: Delay | None = None
    # Known differences of a script's stream from a real server's.
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    row_image: str = ""

    @property
    def partial_images(self) -> str | None:
        complete, setting = self.source.row_images[0], self.source.row_image_setting
        return None if self.row_image in ("", complete) else f"{setting} is {self.row_image}; set it to {complete}"

    def as_logged(self, batches: Iterable[ChangeBatch]) -> tuple[ChangeBatch, ...]:
        """Changes reduced to what the source's log holds."""
        if self.source.key_is_fixed:
            batches = [half for batch in batches for half in split(batch, batch.table.key_positions)]
        if self.row_image not in ("", self.source.row_images[0]):
            batches = [part for batch in batches for part in self.source.logged(batch, self.row_image)]
        return tuple(batches)

    @property
    def names_at_start(self) -> Collection[TableId]:
        """The tables that exist before the stream."""
        return {table.id for table in self.first_tables}

    @property
    def step_names(self) -> Collection[str]:
        """Names of the steps of the scenario's lifecycles, or those in its script."""
        return ()

    def steps_of(self, turns: Collection[int]) -> dict[int, str]:
        """The step of each of the given turns; turns without a lifecycle or a name are left out."""
        return {}

    def seconds_ahead(self, turn: int) -> int:
        """Seconds by which the sequence of `Envelope.in_second` runs ahead of the clock at a turn."""
        return 0

    @abstractmethod
    def border(self, turn: int) -> int:
        """The first transaction border at or after a turn."""

    @abstractmethod
    def count(self, first: int, stop: int) -> Ints:
        """Row changes of each turn in [first, stop), counted without drawing a value."""

    @abstractmethod
    def read(self, first: int, stop: int, needed: Needed | None = None) -> Block:
        """The changes and events of the turns [first, stop), which begin and end at transaction borders."""

    @abstractmethod
    def previous_ms(self, turns: Ints) -> Ints:
        """Commit time of the transaction before each turn's own, epoch milliseconds."""

    @abstractmethod
    def rows_at(self, turn: int) -> Iterator[tuple[Table, tuple[pa.Array, ...]]]:
        """The rows that the tables hold before a turn: (table version, columns), some thousands of rows at a time;
        a table without rows is yielded once.
        """

    def tables_at(self, turn: int) -> tuple[Table, ...]:
        """The tables before a turn; empty where only `rows_at` knows them."""
        return ()

    @abstractmethod
    def tables_from(self, turn: int) -> Iterator[Table]:
        """The tables before a turn, then each later version that schema changes make."""

    @abstractmethod
    def added_values(self, batch: ChangeBatch, after: Table, column: Column) -> pa.Array:
        """Values of a column in existing rows, as the schema change that added it and made the version `after` set
        them. `batch` holds rows older than the column; the value is null for rows that were deleted before the change.
        """

    # ------------------------------------------------------------------------------------------------------- snapshot

    @abstractmethod
    def snapshot_parts(self, turn: int) -> Iterator[SnapshotPart]:
        """Parts of the rows alive before a turn, table by table; each can be counted and read alone."""

    @abstractmethod
    def count_part(self, turn: int, part: SnapshotPart) -> int:
        """Number of rows of a part, counted without drawing a value."""

    @abstractmethod
    def snapshot_rows(self, block: SnapshotBlock, needed: Needed | None = None) -> tuple[Table, tuple[pa.Array, ...]]:
        """The rows of a block of the snapshot: (table version, columns)."""

    @abstractmethod
    def snapshot_row_numbers(self, block: SnapshotBlock) -> Ints:
        """Permanent row numbers of a block's rows (`ChangeBatch.row_numbers`)."""

    @abstractmethod
    def snapshot_ms(self, turn: int) -> int:
        """Commit time of the last transaction before a turn, epoch milliseconds."""

    def create_table(self, table: Table, turn: int) -> str:
        """The CREATE TABLE text of a table in the snapshot before a turn; "" if the system has none."""
        return self.source.ddl.create_table(table)

    def snapshot_tables(self, turn: int) -> Sequence[tuple[Table, str]]:
        """Tables of the snapshot before a turn, in its order, each with its `create_table` text."""
        return [(table, self.create_table(table, turn)) for table in self.tables_at(turn)]

    def snapshot_blocks(
        self, turn: int, rows_of: Callable[[Sequence[SnapshotPart]], Iterable[int]] | None = None
    ) -> Iterator[SnapshotBlock]:
        """The snapshot before a turn, block by block, without drawing a value. `rows_of` counts the rows of parts,
        possibly in other processes.
        """
        first = 0
        parts = self.snapshot_parts(turn)
        if rows_of is None:
            counted: Iterable[tuple[SnapshotPart, int]] = ((part, self.count_part(turn, part)) for part in parts)
        else:
            counted = zip(listed := tuple(parts), rows_of(listed), strict=True)
        # the last block with rows, and empty blocks after it: the next block with rows decides whether it ends the
        # snapshot
        waiting: list[SnapshotBlock] = []
        for _, of_table in groupby(counted, key=lambda counted_part: counted_part[0].table):
            opens = True
            for part, rows in of_table:
                most = self.snapshot_block_rows(turn, part) if rows else 1
                for start in range(0, rows, most):
                    count = min(most, rows - start)
                    yield from _with_marks(waiting, closes=opens)
                    waiting = [SnapshotBlock(turn, part, start, count, first, opens=opens)]
                    first, opens = first + count, False
            if opens:
                waiting.append(SnapshotBlock(turn, part, 0, 0, first, opens=True))
        yield from _with_marks(waiting, closes=True, ends=True)

    @abstractmethod
    def snapshot_block_rows(self, turn: int, part: SnapshotPart) -> int:
        """Number of a part's rows in a block."""

    def read_snapshot(self, block: SnapshotBlock, needed: Needed | None = None) -> Block:
        """A block of a snapshot: READ changes, after the CREATE TABLE of their table in its first block."""
        table, columns = self.snapshot_rows(block, needed)
        ms, number_of_table = self.snapshot_ms(block.turn), block.part.table
        number = np.arange(block.first, block.first + block.rows, dtype=np.int64)
        ones = np.ones(block.rows, dtype=np.int64)
        envelope = Envelope(
            phase=0,
            turn=number,
            ordinal=0 * ones,
            statement=0 * ones,
            txn=np.minimum(number, self.first_txn + SNAPSHOT_TXN),
            seq=ones,
            size=ones,
            offset=np.minimum(number + number_of_table + 1, self.first_offset - 1),
            event_ms=ms * ones,
            write_ms=(ms + WRITE_LAG_MS) * ones,
            borders=block.borders(),
        )
        events: tuple[Event, ...] = ()
        if block.opens and (sql := self.create_table(table, block.turn)):
            # CREATE TABLE uses no row number: it comes right before the first row, after those of tables without rows
            order, offset = create_table(block.first, number_of_table), block.first + number_of_table
            kind, database = SchemaChangeKind.CREATE_TABLE, table.id.database
            position = (order, SNAPSHOT_TXN, offset, ms, ms + WRITE_LAG_MS)
            events = (SchemaChange(*position, kind, database, None, table, sql),)
        numbers = partial(self.snapshot_row_numbers, block)
        batch = ChangeBatch(table, READ, envelope, columns, None, row_numbers=numbers)
        return Block(block.first, block.rows, (batch,) if block.rows else (), events, block.rows, block.turn)

    def read_block(self, where: TurnBlock | SnapshotBlock, needed: Needed | None = None) -> Block:
        """A block of either kind."""
        if isinstance(where, SnapshotBlock):
            return self.read_snapshot(where, needed)
        return self.read(where.first, where.stop, needed)

    def snapshot(self, turn: int) -> Iterator[Block]:
        """The rows alive before a turn as READ changes, in bounded memory."""
        for block in self.snapshot_blocks(turn):
            yield self.read_snapshot(block)


def _with_marks(waiting: Sequence[SnapshotBlock], *, closes: bool, ends: bool = False) -> Iterator[SnapshotBlock]:
    """Blocks of a snapshot with `closes` and `ends` set; only the first of `waiting` may have rows."""
    for block in waiting:
        yield replace(block, closes=closes, ends=ends) if block.rows and (closes or ends) else block
