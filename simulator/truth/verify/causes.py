"""Causes of a consumer's wrong rows: the row's last changes in the stream, and the state that the consumer has."""

from __future__ import annotations

import enum
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch, decoded
from simulator.carriers import as_integers
from simulator.model import DELETE, INSERT, UPDATE, Kind, OrderKey, TableId
from simulator.stream.engine.block import Stream
from simulator.truth.verify.cells import Hashes
from simulator.truth.verify.tables import Cells, Comparer, WrongRow, cell

# Number of blocks before the position that are searched for the changes of a row.
MOST_BLOCKS: Final = 16


class Fault(enum.IntEnum):
    """Mistakes of a consumer, by the change that shows each."""

    DELETES = 1
    OLD_KEYS = 2
    BEFORE = 3
    REVIVED = 4
    STALE = 5


WORDS: Final = {
    Fault.DELETES: "all of these rows were deleted: the consumer may ignore deletes",
    Fault.OLD_KEYS: "all of these rows have another key now: the consumer may not remove the row with the old key",
    Fault.BEFORE: "all of these rows are as they were before their last update: the consumer may take the old row for"
    " the new",
    Fault.REVIVED: "all of these rows were deleted and inserted again: the consumer may let an old DELETE win, such as"
    " one that came again and has a newer time",
    Fault.STALE: "all of these rows have an earlier state: the consumer may let older changes win, since it orders them"
    " by a clock or by arrival across partitions, or may have lost later ones, or not have read to the end",
}
ARRIVAL: Final = (
    "only rows are wrong whose key was updated, and not all of them: the consumer may apply changes in the order of"
    " their arrival, where an older change from another partition came last"
)
# Wrong rows have something in common if it would be so by chance less often than this.
CHANCE: Final = 0.01
# Changes that show no fault: of a row that begins with its key, or gets it.
INSERTED: Final = 0
MOVED: Final = -1

Mask: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
Ints: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
# Of changes: hashes of keys, the fault that each would show, its turn and ordinal.
Changes: TypeAlias = tuple[Hashes, Ints, Ints, Ints]


@dataclass(frozen=True, slots=True)
class RowState:
    """A change of a row, and its cells before and after; None if there is no such row or it has another key."""

    order: OrderKey
    kind: Kind
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


def blocks_back(stream: Stream, turn: int, most: int) -> Iterator[tuple[int, int]]:
    """The blocks [first, stop) of whole transactions before a turn, the latest first, `most` of them at most."""
    stop, step = turn, stream.block_turns
    for _ in range(most):
        if stop <= 0:
            break
        first = stream.border(max(0, (stop - 1) // step * step))
        if first >= stop:
            first = stream.border(max(0, first - step))
        yield first, stop
        stop = first


class Causes:
    """Searches the history of rows of one table before a turn, newest changes first."""

    def __init__(self, stream: Stream, turn: int, table: TableId, comparer: Comparer) -> None:
        self._stream, self._turn, self._table, self._comparer = stream, turn, table, comparer
        self._key = tuple(comparer.key)
        self._read: dict[int, list[ChangeBatch]] = {}  # changes of the table by the first turn of their block
        self._shown = defaultdict[Fault, list[OrderKey]](list)  # by which changes
        self._rows = 0

    @property
    def hint(self) -> str:
        """A likely mistake of the consumer, if the same explains all rows that were asked for, at least two."""
        if self._rows < 2 or not self._shown:
            return ""
        history = self._by_key()
        refuted = {fault for fault, orders in self._shown.items() if self._is_refuted(fault, min(orders), history)}
        if Fault.OLD_KEYS in refuted and self._have_moved(history):
            return ARRIVAL
        of_all = (fault for fault, orders in self._shown.items() if len(orders) == self._rows)
        return next((WORDS[fault] for fault in of_all if fault not in refuted), "")

    def _by_key(self) -> Changes:
        """The changes that were read, by key and in stream order."""
        parts = [part for read in self._read.values() for batch in read for part in self._keys_changed(batch)]
        keys, faults, turns, ordinals = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.lexsort((ordinals, turns, keys))
        return keys[order], faults[order], turns[order], ordinals[order]

    def _is_refuted(self, fault: Fault, first: OrderKey, history: Changes) -> bool:
        """Whether a row is right that a consumer with this fault would have wrong. Only those count that were inserted
        after the `first` change that shows it, so the consumer had them."""
        turns, ordinals = history[2:]
        later = (turns > first.turn) | ((turns == first.turn) & (ordinals > first.ordinal))
        keys, faults = history[0][later], history[1][later]
        begins = np.ones(len(keys) + 1, dtype=bool)
        begins[1:-1] = keys[1:] != keys[:-1]
        begun, ended = np.flatnonzero(begins[:-1]), np.flatnonzero(begins[1:])
        shown = keys[ended][(faults[begun] == INSERTED) & (faults[ended] == fault)]
        return not self._comparer.are_wrong(shown).all()

    def _have_moved(self, history: Changes) -> bool:
        """Whether an update of the key gave or took the key of every wrong row, which is no chance."""
        keys, faults = history[:2]
        moved = np.unique(keys[(faults == MOVED) | (faults == Fault.OLD_KEYS)])
        several = np.union1d(moved, keys[1:][keys[1:] == keys[:-1]])
        wrong = np.unique(keys[self._comparer.are_wrong(keys)])
        share = len(moved) / len(several)
        return bool(np.isin(wrong, moved).all()) and share ** len(wrong) < CHANCE

    def _keys_changed(self, batch: ChangeBatch) -> Iterator[Changes]:
        """The keys that changes are of, the fault that each would show, and its turn and ordinal. An update of the key
        is of both keys."""
        turns, ordinals = batch.envelope.turn, batch.envelope.ordinal
        positions = [batch.table.positions[name] for name in self._key if name in batch.table.positions]
        if len(positions) < len(self._key):
            return

        def part(keys: Hashes, faults: Any, rows: Any = slice(None)) -> Changes:
            return keys[rows], np.broadcast_to(faults, len(keys))[rows], turns[rows], ordinals[rows]

        old, new = (
            None if image is None else self._comparer.key_hashes([image(position) for position in positions])
            for image in images_of(batch)
        )
        if old is None:
            assert new is not None
            yield part(new, INSERTED)
        elif new is None:
            yield part(old, Fault.DELETES)
        else:
            yield part(new, np.where(old == new, Fault.BEFORE, MOVED))
            yield part(old, Fault.OLD_KEYS, old != new)

    def cause(self, wrong: WrongRow, key: Cells, found: Cells | None) -> str:
        """A sentence about a row: its state at the consumer, and the changes that are missing."""
        if not self._key:
            return ""
        self._rows += 1
        history, first = self._history(key, found)
        if not history:
            return f"its last change is before turn {first:,}" if first else "no change of it is in the stream"
        last = history[0]
        if wrong is WrongRow.EXTRA and last.kind is DELETE:
            states = [n for n, state in enumerate(history) if _same(state.after, found)]
            had = f"it has the state after {history[states[0]].order}; " if states else ""
            if not states and _same(history[-1].before, found):
                had = f"it has the state before {history[-1].order}; "
            self._shown[Fault.DELETES].append(last.order)
            if had:
                self._shown[Fault.STALE].append(last.order)
            return f"{had}it was deleted at {last.order}, which was not applied"
        if wrong is WrongRow.EXTRA and last.after is None and last.kind is UPDATE:
            self._shown[Fault.OLD_KEYS].append(last.order)
            return f"UPDATE at {last.order} gave it another key, and this one was not removed"
        if wrong is WrongRow.MISSING:
            deleted = next((state for state in history if state.kind is DELETE), None)
            if deleted is not None and deleted is not last:
                self._shown[Fault.REVIVED].append(last.order)
                return f"it was deleted at {deleted.order} and inserted again; its last change is {_words(last)}"
            return f"its last change is {_words(last)}"
        if found is not None:
            if last.kind is UPDATE and _same(last.before, found):
                self._shown[Fault.BEFORE].append(last.order)
            for number, state in enumerate(history):
                if _same(state.after, found):
                    if not number:
                        return f"its last change is {_words(last)}"
                    self._shown[Fault.STALE].append(last.order)
                    return f"it has the state after {state.order}; {_missing(history[:number])}"
            if _same(history[-1].before, found):
                self._shown[Fault.STALE].append(last.order)
                return f"it has the state before {history[-1].order}; {_missing(history)}"
        return f"its last change is {_words(last)}; no state of it is like this one"

    def _history(self, key: Cells, found: Cells | None) -> tuple[list[RowState], int]:
        """Changes of a row, newest first, and the turn at which the search ended: at the consumer's state, at the row's
        first change, or at the limit."""
        stop, states = self._turn, list[RowState]()
        for first, end in blocks_back(self._stream, self._turn, MOST_BLOCKS):
            own = [state for batch in self._batches(first, end) for state in self._states(batch, key)]
            states += sorted(own, key=lambda state: state.order, reverse=True)
            stop = first
            if found is None and states:
                break
            if any(state.kind is INSERT or _same(state.after, found) for state in states):
                break
        return states, stop

    def _batches(self, first: int, stop: int) -> list[ChangeBatch]:
        """The table's changes in a range of turns, cached for the next row."""
        if first not in self._read:
            block = self._stream.read(first, stop)
            self._read[first] = [batch for batch in block.batches if batch.table.id == self._table]
        return self._read[first]

    def _states(self, batch: ChangeBatch, key: Cells) -> list[RowState]:
        """The changes of one row in a batch."""
        table = batch.table
        if not all(name in table.positions for name in self._key):
            return []
        states = []
        rows = np.zeros(len(batch), dtype=bool)
        before_of, after_of = images_of(batch)
        for image in (after_of, before_of):
            if image is not None:
                same = np.ones(len(batch), dtype=bool)
                for name in self._key:
                    same &= _equal(decoded(image(table.positions[name])), key[name])
                rows |= same
        for row in np.flatnonzero(rows).tolist():
            order = OrderKey(batch.envelope.phase, int(batch.envelope.turn[row]), int(batch.envelope.ordinal[row]))
            before, after = (
                self._image(None if image is None else [image(i) for i in range(len(table.columns))], batch, row, key)
                for image in (before_of, after_of)
            )
            states.append(RowState(order, batch.kind, before, after))
        return states

    def _image(
        self, arrays: Sequence[pa.Array] | None, batch: ChangeBatch, row: int, key: Cells
    ) -> Mapping[str, Any] | None:
        """A row's cells; None if the image has another key."""
        if arrays is None:
            return None
        cells = {c.name: cell(decoded(a), row) for c, a in zip(batch.table.columns, arrays, strict=True)}
        return cells if all(cells[name] == key[name] for name in self._key) else None


def images_of(batch: ChangeBatch) -> tuple[Callable[[int], pa.Array] | None, Callable[[int], pa.Array] | None]:
    """The rows before and after changes, by column; None if there are none."""
    return (
        None if batch.before is None else batch.full_before,
        None if batch.after is None else batch.after.__getitem__,
    )


def _equal(array: pa.Array, value: Any) -> Mask:
    array = as_integers(array)
    if value is None or isinstance(value, str) != pa.types.is_string(array.type):
        return np.zeros(len(array), dtype=bool)
    return np.asarray(pc.equal(array, pa.scalar(value, array.type)).fill_null(False))


def _same(state: Mapping[str, Any] | None, found: Cells | None) -> bool:
    if state is None or found is None:
        return False
    return all(state.get(name) == value for name, value in found.items())


def _words(state: RowState) -> str:
    return f"{state.kind.name} at {state.order}"


def _missing(states: Sequence[RowState]) -> str:
    """`3 later changes are missing: 2 UPDATE, 1 DELETE (turn 7.0 to turn 9.0)`."""
    counts = Counter(state.kind.name for state in states)
    if len(states) == 1:
        return f"{_words(states[0])} is missing"
    kinds = ", ".join(f"{count} {name}" for name, count in counts.items())
    return f"{len(states)} later changes are missing: {kinds}, from {states[-1].order} to {states[0].order}"
