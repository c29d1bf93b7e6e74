"""Causes of a consumer's wrong rows: the row's last changes in the stream, and the state that the consumer has."""

from __future__ import annotations

import enum
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch, decoded
from simulator.carriers import as_integers
from simulator.model import DELETE, INSERT, UPDATE, Kind, OrderKey, SchemaChange, SchemaChangeKind, TableId
from simulator.stream.engine.block import Stream
from simulator.truth.verify.tables.cells import Hashes
from simulator.truth.verify.tables.comparer import Cells, Comparer, Explained, WrongRow, cell

# Number of blocks before the position that are searched for the changes of a row.
MOST_BLOCKS: Final = 16


class Ending(enum.IntEnum):
    """Effects of the last change of a key on the row that has it."""

    INSERT = 0
    DELETE = 1
    MOVED_AWAY = 2
    MOVED_IN = 3
    UPDATE = 4


class Fault(enum.Enum):
    """Mistakes of a consumer; those that say more come first."""

    SNAPSHOT = enum.auto()
    END = enum.auto()
    DELETES = enum.auto()
    TRUNCATE = enum.auto()
    DEFAULTS = enum.auto()
    INSERTS = enum.auto()
    OLD_KEYS = enum.auto()
    NEW_KEYS = enum.auto()
    KEYS = enum.auto()
    BEFORE = enum.auto()
    PARTIAL = enum.auto()
    NULLS = enum.auto()
    UPDATES = enum.auto()
    REVIVED = enum.auto()
    STALE = enum.auto()


WORDS: Final = {
    Fault.SNAPSHOT: "all of these rows are of the snapshot, of which only rows are there that changed afterwards: the"
    " run or the consumer may have begun without it (--snapshot)",
    Fault.END: "all rows that changed from turn {turn} on are wrong, and no others: the consumer may not have read to"
    " the end, or have stopped there",
    Fault.DELETES: "all of these rows were deleted: the consumer may ignore deletes",
    Fault.TRUNCATE: "all of these rows were removed by TRUNCATE or DROP TABLE: the consumer may ignore it",
    Fault.DEFAULTS: "all of these rows lack the default of a column that was added: the consumer may ignore defaults of"
    " ALTER TABLE",
    Fault.INSERTS: "all of these rows were inserted: the consumer may ignore inserts",
    Fault.OLD_KEYS: "all of these rows have another key now: the consumer may not remove the row with the old key",
    Fault.NEW_KEYS: "all of these rows got their key by an update: the consumer may not write the row with the new key,"
    " or delete it afterwards",
    Fault.KEYS: "the key of all of these rows was updated: the consumer may ignore updates of the key",
    Fault.BEFORE: "all of these rows are as they were before their last update: the consumer may take the old row for"
    " the new",
    Fault.PARTIAL: "all of these rows have nulls where their last update changed nothing: the consumer may take the"
    " changed columns for the row",
    Fault.NULLS: "all of these rows have an earlier value where they must have null: the consumer may ignore nulls of"
    " updates",
    Fault.UPDATES: "all of these rows are as they were inserted: the consumer may ignore updates",
    Fault.REVIVED: "all of these rows were deleted and inserted again: the consumer may let an old DELETE win, such as"
    " one that came again and has a newer time",
    Fault.STALE: "all of these rows have an earlier state: the consumer may let older changes win, since it orders them"
    " by a clock or by arrival across partitions, or may have lost later ones, or not have read to the end",
}
# Rows with these last changes are wrong at a consumer with a fault, all of them.
ENDINGS: Final[Mapping[Fault, tuple[Ending, ...]]] = {
    Fault.DELETES: (Ending.DELETE,),
    Fault.INSERTS: (Ending.INSERT,),
    Fault.OLD_KEYS: (Ending.MOVED_AWAY,),
    Fault.NEW_KEYS: (Ending.MOVED_IN,),
    Fault.KEYS: (Ending.MOVED_AWAY, Ending.MOVED_IN),
    Fault.BEFORE: (Ending.UPDATE,),
    Fault.UPDATES: (Ending.UPDATE,),
}
ARRIVAL: Final = (
    "only rows are wrong whose key was updated, and not all of them: the consumer may apply changes in the order of"
    " their arrival, where an older change from another partition came last"
)
# DDL that removes the rows of a table.
REMOVING: Final = (SchemaChangeKind.TRUNCATE_TABLE, SchemaChangeKind.DROP_TABLE)
# Wrong rows have something in common if it would be so by chance less often than this.
CHANCE: Final = 0.01

Mask: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
Ints: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
# Of changes: hashes of keys, what each does to the row with the key (`Ending`), its turn and ordinal.
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
        self._ddl: list[SchemaChange] = []  # of the table, in the blocks that were read
        self._shown = defaultdict[Fault, list[OrderKey]](list)  # by which changes
        self._first_missing: list[OrderKey] = []  # the first change that a row lacks
        self._newest: OrderKey | None = None  # change that a row lacking later ones has
        self._rows = 0

    @property
    def hint(self) -> str:
        """A likely mistake of the consumer, if the same explains all rows that were asked for, at least two."""
        if self._rows < 2 or not self._shown or not any(self._read.values()):
            return ""
        history = self._by_key()
        of_all = [fault for fault in Fault if len(self._shown[fault]) == self._rows]
        refuted = {fault for fault in self._shown if self._shown[fault] and self._is_refuted(fault, history)}
        if Fault.OLD_KEYS in refuted and self._have_moved(history):
            return ARRIVAL
        if (turn := self._end(history)) is not None and Fault.SNAPSHOT not in of_all:
            return WORDS[Fault.END].format(turn=f"{turn:,}")
        return next((WORDS[fault] for fault in of_all if fault not in refuted), "")

    def _by_key(self) -> Changes:
        """The changes that were read, by key and in stream order."""
        parts = [part for read in self._read.values() for batch in read for part in self._keys_changed(batch)]
        keys, faults, turns, ordinals = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.lexsort((ordinals, turns, keys))
        return keys[order], faults[order], turns[order], ordinals[order]

    def _is_refuted(self, fault: Fault, history: Changes) -> bool:
        """Whether a row is right that a consumer with this fault would have wrong. Only those count that were inserted
        after the first change that shows it, so the consumer had them."""
        keys, endings, turns, ordinals = history
        if fault is Fault.SNAPSHOT:
            return not self._comparer.are_wrong(self._comparer.keys_besides(keys)).all()
        first = min(self._shown[fault])
        later = (turns > first.turn) | ((turns == first.turn) & (ordinals >= first.ordinal))
        if fault is Fault.UPDATES:  # the consumer has the rows that show it, as they began
            last = _last_of_keys(keys)
            return not self._comparer.are_wrong(keys[last][endings[last] == Ending.UPDATE]).all()
        keys, endings = keys[later], endings[later]
        last = _last_of_keys(keys)
        begun = np.append(0, last[:-1] + 1)[: len(last)]
        had = endings[begun] == Ending.INSERT
        shown = keys[last][had & np.isin(endings[last], ENDINGS.get(fault, ()))]
        return not self._comparer.are_wrong(shown).all()

    def _end(self, history: Changes) -> int | None:
        """The turn of the first change that the consumer lacks, if it lacks all from there on and no earlier one."""
        keys, endings, turns, ordinals = history
        last = _last_of_keys(keys)
        wrong = self._comparer.are_wrong(keys[last])
        count = int(wrong.sum())
        right = len(last) + len(self._comparer.keys_besides(keys)) - count
        # as many rows could be wrong in at least so many ways
        ways = math.comb(right + count, min(count, right, 4))
        if not count or count < self._comparer.wrong_count or ways * CHANCE < 1:
            return None
        orders = [(int(turns[row]), int(ordinals[row])) for row in last[wrong]]
        first = min([*orders, *((order.turn, order.ordinal) for order in self._first_missing)])
        if self._newest is not None and (self._newest.turn, self._newest.ordinal) >= first:
            return None
        from_there = (turns > first[0]) | ((turns == first[0]) & (ordinals >= first[1]))
        inserted_there = np.isin(keys[last], keys[from_there & np.isin(endings, (Ending.INSERT, Ending.MOVED_IN))])
        is_gone = np.isin(endings[last], (Ending.DELETE, Ending.MOVED_AWAY)) & inserted_there
        return first[0] if bool((wrong | is_gone)[from_there[last]].all()) else None

    def _have_moved(self, history: Changes) -> bool:
        """Whether an update of the key gave or took the key of every wrong row, which is no chance."""
        keys, endings = history[:2]
        moved = np.unique(keys[(endings == Ending.MOVED_IN) | (endings == Ending.MOVED_AWAY)])
        several = np.union1d(moved, keys[1:][keys[1:] == keys[:-1]])
        wrong = np.unique(keys[self._comparer.are_wrong(keys)])
        share = len(moved) / len(several)
        return bool(np.isin(wrong, moved).all()) and share ** len(wrong) < CHANCE

    def _keys_changed(self, batch: ChangeBatch) -> Iterator[Changes]:
        """The keys that changes are of, what they do to the row with it, and their turns and ordinals. An update of
        the key is of both keys."""
        turns, ordinals = batch.envelope.turn, batch.envelope.ordinal
        positions = [batch.table.positions[name] for name in self._key if name in batch.table.positions]
        if len(positions) < len(self._key):
            return

        def part(keys: Hashes, endings: Any, rows: Any = slice(None)) -> Changes:
            return keys[rows], np.broadcast_to(endings, len(keys))[rows], turns[rows], ordinals[rows]

        old, new = (
            None if image is None else self._comparer.key_hashes([image(position) for position in positions])
            for image in images_of(batch)
        )
        if old is None:
            assert new is not None
            yield part(new, Ending.INSERT)
        elif new is None:
            yield part(old, Ending.DELETE)
        else:
            yield part(new, np.where(old == new, Ending.UPDATE, Ending.MOVED_IN))
            yield part(old, Ending.MOVED_AWAY, old != new)

    def cause(self, wrong: WrongRow, key: Cells, found: Cells | None) -> Explained:
        """A sentence about a row: its state at the consumer, and the changes that are missing."""
        if not self._key:
            return Explained("")
        self._rows += 1
        history, first = self._history(key, found)
        if not history:
            return Explained(self._unchanged(wrong, first))
        last = history[0]
        if wrong is WrongRow.EXTRA and last.after is not None and (removing := self._removing(last.order)):
            self._show(Fault.TRUNCATE, last)
            return Explained(f"{removing} removed it, which was not applied", is_state=True)
        state = _state_of(history, found)
        if wrong is WrongRow.MISSING:
            return Explained(self._missing(history, first))
        if state is not None and state:
            self._show(Fault.STALE, last)
            self._first_missing.append(history[state - 1].order)
            if state < len(history):
                self._newest = max(self._newest or history[state].order, history[state].order)
            if _is_begin(history, state, first) and all(change.kind is UPDATE for change in history[:state]):
                self._show(Fault.UPDATES, last)
        had = "" if state is None else f"it has the state {_state_words(history, state)}; "
        if wrong is WrongRow.EXTRA and last.kind is DELETE:
            self._show(Fault.DELETES, last)
            return Explained(f"{had}it was deleted at {last.order}, which was not applied", state is not None)
        if wrong is WrongRow.EXTRA and last.after is None and last.kind is UPDATE:
            self._show(Fault.OLD_KEYS, last)
            self._show(Fault.KEYS, last)
            if _same(last.before, found):
                self._show(Fault.BEFORE, last)
            return Explained(
                f"UPDATE at {last.order} gave it another key, and this one was not removed", state is not None
            )
        if wrong is WrongRow.DIFFERENT and found is not None:
            if last.kind is UPDATE and _same(last.before, found):
                self._show(Fault.BEFORE, last)
            if state:
                return Explained(f"{had}{_missing_words(history[:state])}", is_state=True)
            if not state and (adding := self._adding(last, found)):
                self._show(Fault.DEFAULTS, last)
                return Explained(f"its last change is {_words(last)}; {adding}", is_state=True)
            if state is None:
                return Explained(f"its last change is {_words(last)}; {self._mixed(history, found)}")
        return Explained(f"its last change is {_words(last)}")

    def _show(self, fault: Fault, change: RowState) -> None:
        self._shown[fault].append(change.order)

    def _unchanged(self, wrong: WrongRow, first: int) -> str:
        """The words for a row of which no change was found after turn `first`."""
        if first:
            return f"its last change is before turn {first:,}"
        if wrong is WrongRow.EXTRA and (removing := self._removing(OrderKey(0, 0, 0))):
            return f"no change of it is in the stream; {removing} removed all rows that were there"
        if wrong is WrongRow.EXTRA:
            return "no change of it is in the stream, nor is it of the snapshot"
        if wrong is WrongRow.MISSING:
            self._shown[Fault.SNAPSHOT].append(OrderKey(0, 0, 0))
        return "it is of the snapshot, and was not changed since"

    def _removing(self, order: OrderKey) -> str:
        """The statement after a change that removed all rows, in words; empty if there is none."""
        for ddl in self._ddl:
            if ddl.order > order and (kind := next((kind for kind in ddl.kinds if kind in REMOVING), None)):
                return f"{kind.value.upper()} at {ddl.order}"
        return ""

    def _adding(self, last: RowState, found: Cells) -> str:
        """The statement after a row's last change that added columns whose default it lacks, in words."""
        names = [name for name, value in found.items() if value is None and name not in (last.after or {})]
        for ddl in self._ddl:
            if ddl.order > last.order and SchemaChangeKind.ADD_COLUMN in ddl.kinds and ddl.after is not None:
                added = [name for name in names if name in ddl.after.positions]
                if added:
                    return f"ALTER TABLE at {ddl.order} added {', '.join(added)}, whose default is missing"
        return ""

    def _missing(self, history: Sequence[RowState], first: int) -> str:
        """The words for a row that is missing."""
        last = history[0]
        deleted = next((state for state in history if state.kind is DELETE), None)
        if deleted is not None and deleted is not last:
            self._show(Fault.REVIVED, last)
            return f"it was deleted at {deleted.order} and inserted again; its last change is {_words(last)}"
        begin = history[-1]
        if begin.kind is UPDATE and begin.before is None:
            for fault in (Fault.NEW_KEYS, Fault.KEYS, Fault.UPDATES, *([Fault.BEFORE] if begin is last else [])):
                self._show(fault, begin)
            then = "" if begin is last else f"; its last change is {_words(last)}"
            return f"UPDATE at {begin.order} gave it this key{then}"
        if begin.kind is INSERT:
            self._show(Fault.INSERTS, begin)
            self._first_missing.append(begin.order)
        elif begin.before is not None and not first:
            self._show(Fault.SNAPSHOT, begin)
        return f"its last change is {_words(last)}"

    def _mixed(self, history: Sequence[RowState], found: Cells) -> str:
        """The words for a row with no state of the history: what else it consists of."""
        last = history[0]
        if last.kind is UPDATE and last.before is not None and last.after is not None:
            before, after = last.before, last.after
            wrong = [name for name, value in found.items() if after.get(name) != value]
            if all(found[name] is None and before.get(name) == after.get(name) for name in wrong):
                self._show(Fault.PARTIAL, last)
                return "what it left as it was is null"
            earlier = [image for state in history for image in (state.before, state.after) if image is not None]
            if all(
                after.get(name) is None and any(image.get(name) == found[name] for image in earlier) for name in wrong
            ):
                self._show(Fault.NULLS, last)
                return "nulls of it are missing"
        return "no state of it is like this one"

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
            ddl = (event for event in block.events if isinstance(event, SchemaChange))
            self._ddl += [
                e for e in ddl if any(table and table.id == self._table for pair in e.tables for table in pair)
            ]
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


def _state_of(history: Sequence[RowState], found: Cells | None) -> int | None:
    """The number of changes that a row lacks to be right: it has the state before them. None: it has no state."""
    for number, state in enumerate(history):
        if _same(state.after, found):
            return number
    return len(history) if _same(history[-1].before, found) else None


def _state_words(history: Sequence[RowState], state: int) -> str:
    return f"after {history[state].order}" if state < len(history) else f"before {history[-1].order}"


def _is_begin(history: Sequence[RowState], state: int, first: int) -> bool:
    """Whether a state is that with which the row begins: after its INSERT, or that of the snapshot."""
    return history[state].kind is INSERT if state < len(history) else not first


def _last_of_keys(keys: Hashes) -> Ints:
    """The positions of the last change of each key, of changes by key."""
    ends = np.ones(len(keys), dtype=bool)
    ends[:-1] = keys[1:] != keys[:-1]
    last: Ints = np.flatnonzero(ends)
    return last


def _words(state: RowState) -> str:
    return f"{state.kind.name} at {state.order}"


def _missing_words(states: Sequence[RowState]) -> str:
    """`3 later changes are missing: 2 UPDATE, 1 DELETE (turn 7.0 to turn 9.0)`."""
    counts = Counter(state.kind.name for state in states)
    if len(states) == 1:
        return f"{_words(states[0])} is missing"
    kinds = ", ".join(f"{count} {name}" for name, count in counts.items())
    return f"{len(states)} later changes are missing: {kinds}, from {states[-1].order} to {states[0].order}"
