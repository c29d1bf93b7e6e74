"""A script as a stream: literal transactions on rows that are kept in memory. An entry is a turn and a transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from simulator.batch import Before, ChangeBatch, Delta, Envelope, Ints, split
from simulator.errors import UsageError
from simulator.model import DELETE, INSERT, UPDATE, Event, Heartbeat, Kind, OrderKey, SchemaChange, Table
from simulator.stream.engine.block import WRITE_LAG_MS, Block
from simulator.stream.literal.numbers import Numbers
from simulator.stream.literal.rows import Cells, Change, Shape, Statement, Turn, prepare
from simulator.stream.scenario.loader import Loaded
from simulator.stream.scenario.scenario import Scenario
from simulator.stream.scenario.tables import column_names


@dataclass(frozen=True, slots=True)
class _RowChange:
    """What happened to a row: its cells before (None: inserted) and after (None: deleted)."""

    shape: Shape
    statement: int
    before: Cells | None
    after: Cells | None

    @property
    def kind(self) -> Kind:
        return INSERT if self.before is None else DELETE if self.after is None else UPDATE


@dataclass
class _Rows:
    """The rows of all tables at one moment, by the table's number and the row's key (a count where it has none)."""

    loaded: Loaded
    shapes: dict[int, Shape] = field(default_factory=dict)
    rows: dict[int, dict[tuple[int, ...], Cells]] = field(default_factory=dict)
    keyless: int = 0

    def insert(self, statement: Statement) -> list[tuple[None, Cells]]:
        shape = statement.shape
        rows = self.rows[shape.number]
        for row, path in zip(statement.rows, statement.paths, strict=True):
            key = self._key(shape, row)
            if key in rows:
                self.loaded.fail(path, f"{shape.table.id.name} has a row with {_told(shape, row)} already")
            rows[key] = row
        return [(None, row) for row in statement.rows]

    def update(self, statement: Statement) -> list[tuple[Cells, Cells]]:
        shape, to_set = statement.shape, statement.set or {}
        rows = self.rows[shape.number]
        places = range(len(shape.table.columns))
        changes = []
        for key, path in self._found(statement):
            old = rows[key]
            new = tuple([to_set.get(place, old[place]) for place in places])
            new_key = self._key(shape, new) if shape.table.primary_key else key
            if new_key == key:
                rows[key] = new
            else:
                if new_key in rows:
                    self.loaded.fail(path, f"{shape.table.id.name} has a row with {_told(shape, new)} already")
                del rows[key]
                rows[new_key] = new
            changes.append((old, new))
        return changes

    def delete(self, statement: Statement) -> list[tuple[Cells, None]]:
        rows = self.rows[statement.shape.number]
        return [(rows.pop(key), None) for key, _ in self._found(statement)]

    def _key(self, shape: Shape, row: Cells) -> tuple[int, ...]:
        if shape.table.primary_key:
            return shape.key(row)
        self.keyless += 1
        return (self.keyless,)

    def _found(self, statement: Statement) -> list[tuple[tuple[int, ...], tuple[str | int, ...]]]:
        """The keys of the rows that a statement names, each once, with the place that names it."""
        shape = statement.shape
        rows = self.rows[shape.number]
        found: dict[tuple[int, ...], tuple[str | int, ...]] = {}
        for where, path in zip(statement.where, statement.paths, strict=True):
            wanted = {place: shape.literals[place].identity[cell] for place, cell in where.items()}
            if shape.table.primary_key:
                key = tuple([wanted[place] for place in shape.table.key_positions])
                keys = [key] if key in rows else []
            else:
                keys = [
                    key
                    for key, row in rows.items()
                    if all(shape.literals[place].identity[row[place]] == value for place, value in wanted.items())
                ]
            if not keys:
                told = ", ".join(
                    f"{shape.table.columns[place].name} {shape.literals[place].texts[cell]!r}"
                    for place, cell in where.items()
                )
                self.loaded.fail(path, f"{shape.table.id.name} has no row with {told} at this point of the script")
            for key in keys:
                if key in found:
                    self.loaded.fail(path, "this row is named already")
                found[key] = path
        return list(found.items())

    def statement(self, statement: Statement) -> Sequence[tuple[Cells | None, Cells | None]]:
        """Run one; the rows before and after."""
        if statement.kind == "insert":
            return self.insert(statement)
        return self.update(statement) if statement.kind == "update" else self.delete(statement)

    def begin(self, shape: Shape) -> None:
        self.shapes[shape.number], self.rows[shape.number] = shape, {}

    def change(self, change: Change) -> None:
        """Run a DDL statement."""
        before, after = change.before, change.after
        if before is None and after is not None:
            self.begin(after)
        elif before is not None and after is not None:
            self.shapes[after.number] = after
            if change.moved != tuple(range(len(before.table.columns))):
                rows = self.rows[after.number]
                for key, row in rows.items():
                    rows[key] = tuple([change.new if place < 0 else row[place] for place in change.moved])
        for number in change.dropped:
            self.rows[number] = {}
            if after is None:
                del self.shapes[number]


def _told(shape: Shape, row: Cells) -> str:
    return ", ".join(
        f"{name} {shape.literals[place].texts[row[place]]!r}"
        for name, place in zip(shape.table.primary_key, shape.table.key_positions, strict=True)
    )


class ScriptStream:
    """The literal history that a scenario's `script` tells; turn i is its entry i. It is run once, when it is made.

    Raises ScenarioError for a script that cannot happen: a row that is not there, a key that is there twice.
    """

    block_turns = 4096
    failure: UsageError | None = None

    def __init__(self, scenario: Scenario) -> None:
        self.scenario, self.source = scenario, scenario.source
        self.database = self.source.place(scenario.spec.database)[0]
        self._script = prepare(scenario, self.source)
        self.first_tables: tuple[Table, ...] = tuple(shape.table for shape in self._script.first)
        self.turns = len(self._script.turns)
        rows = self._before_all()
        alive = sum(map(len, rows.rows.values()))
        self._done: list[list[_RowChange]] = []
        for turn in self._script.turns:
            done: list[_RowChange] = []
            for number, statement in enumerate(turn.statements):
                changes = rows.statement(statement)
                done += [_RowChange(statement.shape, number, before, after) for before, after in changes]
            if turn.change is not None:
                rows.change(turn.change)
            self._done.append(done)
        self._counts: Ints = np.array([len(done) for done in self._done], dtype=np.int64)
        told = [turn.change is not None and turn.change.applied.sql != "" for turn in self._script.turns]
        is_txn = [bool(turn.statements) or ddl for turn, ddl in zip(self._script.turns, told, strict=True)]
        times = [turn.event_ms for turn in self._script.turns]
        entries = [[ms] * len(done) for ms, done in zip(times, self._done, strict=True)]
        self.numbers = Numbers(alive, is_txn, entries, times)

    @property
    def column_names(self) -> frozenset[str]:
        """The columns of all tables at any time."""
        return column_names(self.scenario, self.source, self.first_tables)

    def border(self, turn: int) -> int:
        """The first transaction border at or after a turn: every turn of a script is one."""
        return turn

    def count(self, first: int, stop: int) -> Ints:
        """Row changes of each turn in [first, stop)."""
        return self._counts[first:stop]

    def read(self, first: int, stop: int) -> Block:
        """The changes and events of the turns [first, stop)."""
        stop = min(stop, self.turns)
        groups: dict[tuple[int, Kind], list[tuple[int, int, int, _RowChange]]] = {}
        events: list[Event] = []
        for number in range(first, stop):
            for place, change in enumerate(self._done[number]):
                group = groups.setdefault((id(change.shape), change.kind), [])
                group.append((number, place, change.statement, change))
            events += self._events(number, self._script.turns[number])
        batches = [self._batch(kind, group) for (_, kind), group in groups.items()]
        if self.source.key_is_fixed:
            batches = [half for batch in batches for half in split(batch, batch.table.key_positions)]
        return Block(first, stop - first, tuple(batches), tuple(events), int(self._counts[first:stop].sum()))

    def _events(self, number: int, turn: Turn) -> Iterator[Event]:
        order = OrderKey(1, number, 0)
        txn, offset = int(self.numbers.txn[number]), int(self.numbers.offset[number])
        common = (order, txn, offset, turn.event_ms, turn.event_ms + WRITE_LAG_MS)
        if turn.heartbeat:
            commits = (
                t.event_ms
                for t in reversed(self._script.turns[:number])
                if t.statements or (t.change is not None and t.change.applied.sql)
            )
            yield Heartbeat(*common, next(commits, None))
        if turn.change is not None and turn.change.applied.sql:
            applied = turn.change.applied
            facts = (applied.kind, applied.database, applied.before, applied.after, applied.sql)
            yield SchemaChange(*common, *facts, in_second=int(self.numbers.in_second(number, 0)))

    def _batch(self, kind: Kind, group: Sequence[tuple[int, int, int, _RowChange]]) -> ChangeBatch:
        turn, place, statement = (np.array([each[i] for each in group], dtype=np.int64) for i in range(3))
        changes = [each[3] for each in group]
        shape = changes[0].shape
        event_ms = np.array([self._script.turns[number].event_ms for number in turn], dtype=np.int64)
        envelope = Envelope(
            phase=1,
            turn=turn,
            ordinal=2 * place,
            statement=statement,
            txn=self.numbers.txn[turn],
            seq=place + 1,
            size=self._counts[turn],
            offset=self.numbers.offset[turn] + 2 * place,
            event_ms=event_ms,
            write_ms=event_ms + WRITE_LAG_MS,
            in_second=self.numbers.in_second(turn, place),
        )
        after = None if kind is DELETE else _cells([change.after for change in changes])
        before = None if kind is INSERT else _cells([change.before for change in changes])
        olds: tuple[Before, ...] | None = None
        if before is not None and after is not None:
            olds = tuple(_old(shape, place, before[:, place], after[:, place]) for place in range(before.shape[1]))
        elif before is not None:
            olds = _columns(shape, before)
        return ChangeBatch(shape.table, kind, envelope, None if after is None else _columns(shape, after), olds)

    # ----------------------------------------------------------------------------------------------------------- state

    def _before_all(self) -> _Rows:
        rows = _Rows(self.scenario)
        for shape in self._script.first:
            rows.begin(shape)
        for statement in self._script.snapshot:
            rows.insert(statement)
        return rows

    def _at(self, turn: int) -> _Rows:
        rows = self._before_all()
        for past in self._script.turns[:turn]:
            for statement in past.statements:
                rows.statement(statement)
            if past.change is not None:
                rows.change(past.change)
        return rows

    def previous_ms(self, turns: Ints) -> Ints:
        """When the transaction before each turn was committed, epoch milliseconds; of the first its own time."""
        return self.numbers.previous_ms(turns)

    def rows_at(self, turn: int) -> Iterator[tuple[Table, tuple[pa.Array, ...]]]:
        """The rows every table holds before a turn: (table version, columns). Tables without rows are told too."""
        rows = self._at(turn)
        for number, shape in rows.shapes.items():
            yield shape.table, _columns(shape, _cells(list(rows.rows[number].values()), len(shape.table.columns)))

    def snapshot(self, turn: int = 0) -> Iterator[Block]:
        """The rows alive before a turn as READ changes, table by table, each after its CREATE TABLE; those of snapshot
        entries from turn 0 on."""
        ms = self._script.turns[max(turn - 1, 0)].event_ms if self.turns else self.scenario.spec.start
        return self.numbers.snapshot(self.source, self.rows_at(turn), ms)


def _cells(rows: Sequence[Cells | None], columns: int = 0) -> Ints:
    """Rows as a matrix of cells, a column for each column of the table."""
    return np.array(rows, dtype=np.int64).reshape(len(rows), -1 if rows else columns)


def _columns(shape: Shape, cells: Ints) -> tuple[pa.Array, ...]:
    return tuple(shape.column(place, cells[:, place]) for place in range(len(shape.table.columns)))


def _old(shape: Shape, place: int, before: Ints, after: Ints) -> Before:
    """A column of the before image: only the rows in which it differs."""
    rows = np.flatnonzero(before != after)
    if not len(rows):
        return None
    values = shape.column(place, before[rows])
    return values if len(rows) == len(before) else Delta(rows, values)
