"""What every stream hands on: a block of turns as columnar changes and single events.

A generated stream and a script have the same shape: `turns` (None: endless), `border(turn)`, `count(first, stop)`,
`read(first, stop)`, `snapshot(turn)`; and `rows_at(turn)`, the rows before a turn.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from simulator.batch import ChangeBatch, Ints
from simulator.errors import UsageError
from simulator.model import Event, OrderKey, SchemaChange, SchemaChangeKind, Table
from simulator.sources import Source

# A product writes a change this much after its commit at the source (milliseconds). Fixed, so that the write time is a
# function of the stream; `--clock wall` replaces it at the last moment.
WRITE_LAG_MS: Final = 350

# Snapshot rows belong to no transaction of the stream: they carry the number below the first one.
SNAPSHOT_TXN: Final = -1


@dataclass(frozen=True, slots=True)
class Block:
    """Some turns of a stream, from `first_turn`, `turns` of them.

    `batches` hold the row changes, each in stream order, one batch for a kind and a table version; `events` the DDL
    statements and heartbeats in stream order. The order keys of both together make the stream; no two are equal. A
    heartbeat carries the number of the transaction that follows it; a snapshot has the CREATE TABLE of each table
    before the first of its rows. `changes` counts the rows in `batches`.
    """

    first_turn: int
    turns: int
    batches: tuple[ChangeBatch, ...]
    events: tuple[Event, ...]
    changes: int


def snapshot_table(source: Source, table: Table, turn: int, offset: int, ms: int) -> tuple[Event, ...]:
    """The CREATE TABLE before the rows that a snapshot has of a table, for products that send one, if the source has
    one. It takes no number of a row: it stands right before the first (`turn`)."""
    at = (OrderKey(0, turn, -1), SNAPSHOT_TXN, offset, ms, ms + WRITE_LAG_MS)
    sql = source.ddl.create_table(table)
    if not sql:
        return ()
    return (SchemaChange(*at, SchemaChangeKind.CREATE_TABLE, table.id.database, None, table, sql),)


class Stream(Protocol):
    """A generated stream or a script. `previous_ms`: when the transaction before that of each turn was committed.

    `failure` is the error that ended a script early: for the caller to raise when all that went before is delivered.
    `column_names` are the columns of all tables at any time.
    """

    block_turns: int
    database: str
    first_tables: tuple[Table, ...]
    failure: UsageError | None

    @property
    def column_names(self) -> Collection[str]: ...

    @property
    def turns(self) -> int | None: ...
    def border(self, turn: int) -> int: ...
    def count(self, first: int, stop: int) -> Ints: ...
    def read(self, first: int, stop: int) -> Block: ...
    def snapshot(self, turn: int) -> Iterator[Block]: ...
    def previous_ms(self, turns: Ints) -> Ints: ...
