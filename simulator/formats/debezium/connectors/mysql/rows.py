"""Numbers of rows in their rows events: `source.row`, from 0. A statement without rows has that of the last row before
it in the same file of the log, of whatever table, else 0 (`BinlogOffsetContext`).

A rows event holds rows of one statement and table, up to `binlog_row_event_max_size` bytes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeGuard

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch, Ints
from simulator.delivery.steps import Changes, History, Step
from simulator.formats.debezium.connectors.connector import members_of
from simulator.model import MARKS, UPDATE, Event, SchemaChange, TableId
from simulator.sources.log import entries, entry
from simulator.sources.mysql.log import MysqlLog
from simulator.sources.mysql.row_bytes import FIXED, event_header, event_starts, packed_row_bytes
from simulator.sources.mysql.type_table import family
from simulator.text.template import Piece
from simulator.values.groups import numbered

# The number of a row's file, and its own.
LastRow = tuple[int, int]
# Default of binlog_row_event_max_size.
EVENT_BYTES: Final = 8192
# Turns that are read at once to find the last row before a statement.
_TURNS: Final = 64


@dataclass(frozen=True, slots=True)
class AfterRow(SchemaChange):
    """A statement, and the number of the last row before it."""

    row: int = 0


def row_numbers(log: MysqlLog) -> Step:
    """The step that numbers rows, and the statements between them."""

    def step(changes: Changes) -> Changes:
        batches = _numbered(changes.batches)
        if not any(_keeps_number(event) for event in changes.events):
            return replace(changes, batches=batches)
        last = _LastRows(batches, log)
        events = list[Event]()
        for event in changes.events:
            if _keeps_number(event):
                turn, ordinal = event.order.turn, event.order.ordinal
                file, row = last.before(turn, ordinal) or _row_before(turn, changes.history, log)
                is_of_file = file == int(log.file_number(entry(event))[0])
                event = AfterRow(**members_of(event), row=row if is_of_file else 0)
            events.append(event)
        return replace(changes, batches=batches, events=tuple(events))

    return step


def _keeps_number(event: Event) -> TypeGuard[SchemaChange]:
    """Tests for a statement of the stream; one of a snapshot has 0."""
    return isinstance(event, SchemaChange) and event.order.phase != 0


def _row_before(turn: int, history: History, log: MysqlLog) -> LastRow:
    """The last row before a turn, which is searched for backwards."""
    stop, span = turn, _TURNS
    while stop > 0:
        first = history.border(max(stop - span, 0))
        if first < stop:
            row = _LastRows(_numbered(history.read(first, stop).batches), log).before(stop, 0)
            if row is not None:
                return row
            stop = first
        span *= 2
    return 0, 0


class _LastRows:
    """Rows by their place in the stream."""

    def __init__(self, batches: Sequence[ChangeBatch], log: MysqlLog) -> None:
        rows = [batch for batch in batches if _has_rows(batch)]
        turns, ordinals, files, numbers = (
            np.concatenate(arrays or [np.zeros(0, dtype=np.int64)])
            for arrays in (
                [batch.envelope.turn for batch in rows],
                [batch.envelope.ordinal for batch in rows],
                [log.file_number(entries(batch.envelope)) for batch in rows],
                [_row_of(batch) for batch in rows],
            )
        )
        order = np.lexsort((ordinals, turns))
        self.places = list(zip(turns[order].tolist(), ordinals[order].tolist(), strict=True))
        self.files, self.numbers = files[order], numbers[order]

    def before(self, turn: int, ordinal: int) -> LastRow | None:
        """The last row before a place; None without one."""
        position = bisect_left(self.places, (turn, ordinal)) - 1
        if position < 0:
            return None
        return int(self.files[position]), int(self.numbers[position])


def row_pieces(batch: ChangeBatch) -> Ints | list[Piece]:
    """The number of each row; a constant where each is the first."""
    return ["0"] if batch.envelope.row is None else batch.envelope.row


def _row_of(batch: ChangeBatch) -> Ints:
    return np.zeros(len(batch), dtype=np.int64) if batch.envelope.row is None else batch.envelope.row


def _has_rows(batch: ChangeBatch) -> bool:
    return batch.kind not in MARKS and batch.envelope.phase != 0


def _numbered(batches: Sequence[ChangeBatch]) -> list[ChangeBatch]:
    """Batches with the numbers of their rows. Halves of updates are numbered together with the other rows of their
    table: a statement may have both."""
    split = {batch.table.id for batch in batches if batch.moved}
    together: dict[TableId, list[int]] = {}
    numbered_batches = list(batches)
    for index, batch in enumerate(batches):
        if _has_rows(batch) and batch.table.id in split:
            together.setdefault(batch.table.id, []).append(index)
        elif _has_rows(batch):
            numbered_batches[index] = _with_numbers(batch, _numbers(_Rows.of(batch)))
    for indexes in together.values():
        parts = [_Rows.of(batches[index]) for index in indexes]
        rows, back = _joined(parts)
        numbers = _numbers(rows)
        if numbers is not None:
            ends = np.cumsum([len(part.turn) for part in parts])[:-1]
            for index, part in zip(indexes, np.split(numbers[back], ends), strict=True):
                numbered_batches[index] = _with_numbers(batches[index], part)
    return numbered_batches


def _with_numbers(batch: ChangeBatch, numbers: Ints | None) -> ChangeBatch:
    return batch if numbers is None else replace(batch, envelope=replace(batch.envelope, row=numbers))


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows in the order of the stream. `room`: bytes that an event has for rows; `most`: those that no row exceeds, if
    they are known; `sizes()` are those of each row."""

    turn: Ints
    statement: Ints
    ordinal: Ints
    room: int
    most: int | None
    sizes: Callable[[], Ints]

    @classmethod
    def of(cls, batch: ChangeBatch) -> _Rows:
        envelope, images = batch.envelope, 2 if batch.kind is UPDATE or batch.moved else 1
        room = EVENT_BYTES - event_header(len(batch.table.columns), images)
        whole = envelope.ordinal & ~1  # the halves of an update are one row
        return cls(envelope.turn, envelope.statement, whole, room, images * _most(batch), lambda: _sizes(batch))


def _joined(parts: Sequence[_Rows]) -> tuple[_Rows, Ints]:
    """Rows of several batches, and the index of each of theirs."""
    turn, statement, ordinal, sizes = (
        np.concatenate(arrays)
        for arrays in zip(*((part.turn, part.statement, part.ordinal, part.sizes()) for part in parts), strict=True)
    )
    _, firsts, back = np.unique(np.stack((turn, ordinal)), axis=1, return_index=True, return_inverse=True)
    sizes_of_rows = sizes[firsts]
    room = min(part.room for part in parts)
    rows = _Rows(turn[firsts], statement[firsts], ordinal[firsts], room, None, lambda: sizes_of_rows)
    return rows, back.ravel()


def _numbers(rows: _Rows) -> Ints | None:
    """The number of each row in its event; None if all are 0."""
    turn, statement = rows.turn, rows.statement
    continued = (turn[1:] == turn[:-1]) & (statement[1:] == statement[:-1])
    if not continued.any():
        return None
    begins: Ints = np.append(0, np.flatnonzero(~continued) + 1)
    counts = np.diff(begins, append=len(turn))
    if rows.most is None or int(counts.max()) * rows.most > rows.room:
        counts = np.diff(event_starts(rows.sizes(), begins, rows.room))
    return numbered(counts)


def _most(batch: ChangeBatch) -> int:
    """Bytes that no image of a batch exceeds."""
    total = 1 + len(batch.table.columns) // 8 + 1
    for column, array in zip(batch.table.columns, batch.image(), strict=True):
        fixed = FIXED.get(family(column.type))
        if fixed is not None:
            total += fixed(column.type)
            continue
        texts = array.dictionary if pa.types.is_dictionary(array.type) else array
        longest = pc.max(pc.binary_length(texts)).as_py() or 0
        total += 4 + longest * (4 if column.type.name == "json" else 1)
    return total


def _sizes(batch: ChangeBatch) -> Ints:
    """Bytes of each row: of an update those of both images."""
    columns = batch.table.columns
    sizes = packed_row_bytes(columns, batch.image())
    if batch.counterpart is not None:
        return sizes + packed_row_bytes(columns, batch.counterpart)
    if batch.kind is UPDATE:
        return sizes + packed_row_bytes(columns, [batch.full_before(i) for i in range(len(columns))])
    return sizes
