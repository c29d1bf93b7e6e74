"""The messages of one partition in order, as Arrow columns: the expected ones, or those that were read.

A tape grows at its end, and a cursor moves along it. Messages behind the cursor are kept up to a number of bytes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from simulator.sinks.reading import Records

# Columns beside `value` that records may have.
MORE: Final = ("key", "tag", "timestamp_ms", "headers")

# Identity of a message: its value; its key if it is a tombstone.
Identity: TypeAlias = bytes | tuple[bytes | None]


@dataclass(slots=True)
class Item:
    """A message on a tape: its index, its identity, and its row in the columns."""

    index: int
    identity: Identity
    records: Records = field(repr=False)
    row: int

    @property
    def value(self) -> bytes | None:
        return self.identity if isinstance(self.identity, bytes) else None

    def get(self, column: str) -> object:
        """A column's value; None if it is not known."""
        return self.records.column(column)[self.row].as_py() if column in self.records.schema.names else None

    def copied(self) -> Item:
        """A copy of the message that keeps no other message in memory."""
        row_alone = self.records.slice(self.row, 1)
        return Item(
            self.index, self.identity, pa.RecordBatch.from_pylist(row_alone.to_pylist(), schema=row_alone.schema), 0
        )


class Tape:
    """Messages by index from 0; the cursor is at the next one. `final`: no more messages will be added. Messages behind
    the cursor are dropped where the tape has more than `kept_bytes`."""

    def __init__(self) -> None:
        self.cursor = self.end = self.kept_bytes = 0
        self.final = False
        self._starts: deque[int] = deque()
        self._parts: deque[Records] = deque()
        self._bytes = 0  # of all parts

    def __len__(self) -> int:
        """Number of messages from the cursor on."""
        return self.end - self.cursor

    @property
    def first(self) -> int:
        """Index of the oldest message that is kept."""
        return self._starts[0] if self._starts else self.end

    def push(self, records: Records) -> None:
        if records.num_rows:
            self._starts.append(self.end)
            self._parts.append(records)
            self.end += records.num_rows
            self._bytes += records.nbytes

    def advance(self, count: int) -> None:
        self.cursor += count
        while len(self._parts) > 1 and self._starts[1] <= self.cursor and self._bytes > self.kept_bytes:
            self._starts.popleft()
            self._bytes -= self._parts.popleft().nbytes

    def ahead(self) -> Records | None:
        """The messages from the cursor to the end of its chunk in memory."""
        if self.cursor == self.end:
            return None
        number = bisect_right(self._starts, self.cursor) - 1
        return self._parts[number].slice(self.cursor - self._starts[number])

    def item(self, index: int) -> Item | None:
        """A message by index; None if it is not kept."""
        if not self.first <= index < self.end:
            return None
        number = bisect_right(self._starts, index) - 1
        return _item(self._parts[number], index - self._starts[number], index)

    def items(self, first: int, stop: int) -> list[Item]:
        """Messages in a range of indexes, as far as they exist."""
        found = []
        for start, part in zip(self._starts, self._parts, strict=True):
            low, high = max(first, start), min(stop, start + part.num_rows)
            if low < high:
                values = part.column("value").slice(low - start, high - low).to_pylist()
                for offset, value in enumerate(values):
                    row = low - start + offset
                    identity = value if value is not None else (_key(part, row),)
                    found.append(Item(low + offset, identity, part, row))
        return found

    def behind(self, identity: Identity) -> int | None:
        """The last index of a message before the cursor; None if it is not kept."""
        for start, part in zip(reversed(self._starts), reversed(self._parts), strict=True):
            row = _row_of(part, identity, 0, self.cursor - start)
            if row is not None:
                return start + row
        return None

    def find(self, identity: Identity) -> int | None:
        """The first index of a message at or after the cursor."""
        for start, part in zip(self._starts, self._parts, strict=True):
            row = _row_of(part, identity, max(0, self.cursor - start), part.num_rows)
            if row is not None:
                return start + row
        return None


def _row_of(part: Records, identity: Identity, first: int, stop: int) -> int | None:
    """The first row of a message within a range of rows."""
    if stop <= first:
        return None
    values = part.column("value").slice(first, stop - first)
    if isinstance(identity, bytes):
        index = int(pc.index(values, pa.scalar(identity, values.type)).as_py())
        return first + index if index >= 0 else None
    for row in range(len(values)):
        if not values[row].is_valid and _key(part, first + row) == identity[0]:
            return first + row
    return None


def _item(part: Records, row: int, index: int) -> Item:
    value = part.column("value")[row].as_py()
    return Item(index, value if value is not None else (_key(part, row),), part, row)


def _key(part: Records, row: int) -> bytes | None:
    if "key" not in part.schema.names:
        return None
    key: bytes | None = part.column("key")[row].as_py()
    return key
