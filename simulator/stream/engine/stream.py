"""The generated stream: changes of any turns, and the rows alive before any turn, from (scenario, seed, turn) alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Final

import numpy as np
import pyarrow as pa

from simulator.batch import Before, ChangeBatch, Delta, Envelope
from simulator.errors import UsageError
from simulator.model import (
    DELETE,
    READ,
    SECOND_NUMBERS,
    UPDATE,
    Column,
    Event,
    Heartbeat,
    Kind,
    OrderKey,
    SchemaChange,
    Table,
)
from simulator.order import BEFORE_ROWS, STEP, heartbeats, schema_change
from simulator.stream.engine.alive import fixed_count, parts, states
from simulator.stream.engine.block import WRITE_LAG_MS, Block, Needed, SnapshotBlock, SnapshotPart, Stream
from simulator.stream.engine.compiled import Compiled, Version
from simulator.stream.engine.history import State, Ticks
from simulator.stream.generators.arrays import without_pool
from simulator.stream.scenario.scenario import Scenario
from simulator.stream.scenario.tables import column_names
from simulator.values.draw import Ints
from simulator.values.groups import expanded

BLOCK_TURNS: Final = 32_768
# Minimum turns of a block per table: each table adds a cost to each block.
TABLE_TURNS: Final = 2_048
MOST_TURNS: Final = 131_072


@dataclass(frozen=True)
class Structure:
    """Structure of some turns, without values: arrays over turns, and over (statement of the step, turn)."""

    turns: Ints
    cohort: Ints
    slot: Ints
    cycle: Ints
    tick: Ints  # -1 where the step has no such statement
    rows: Ints

    def until(self, turns: int) -> Structure:
        """The first of these turns."""
        n = turns
        return Structure(
            self.turns[:n], self.cohort[:n], self.slot[:n], self.cycle[:n], self.tick[:, :n], self.rows[:, :n]
        )

    @property
    def changes(self) -> Ints:
        """Row changes of each turn."""
        total: Ints = self.rows.sum(axis=0)
        return total

    def state(self, ticks: Ticks, table: str, statement: Ints, turn: Ints, row: Ints) -> State:
        """States of a table's rows after the given statements; `turn` holds indexes into these turns."""
        return State(
            ticks,
            table,
            cohort=self.cohort[turn],
            slot=self.slot[turn],
            cycle=self.cycle[turn],
            tick=self.tick[statement, turn],
            row=row,
            turn=self.turns[turn],
        )


class ChangeStream(Stream):
    """The history that a scenario describes. Endless; `last_turn` is the last one whose keys fit their columns."""

    last_turn: int

    def __init__(self, scenario: Scenario, heartbeat_ms: int | None = None, compiled: Compiled | None = None) -> None:
        """`compiled`: the compiled scenario, if there is one already."""
        self.scenario, self.file, self.source = scenario, scenario.file, scenario.source
        self.row_image = scenario.row_image
        self.database = self.source.table_id(scenario.spec.database, "").database
        self.compiled = compiled = compiled or Compiled(scenario, heartbeat_ms)
        self.timeline, self.traffic, self.plan = compiled.timeline, compiled.traffic, compiled.plan
        self.first_tables, self.last_turn = scenario.first_tables, compiled.last_turn
        self.first_txn, self.first_offset = compiled.first_txn, compiled.first_offset
        self.column_names = column_names(scenario, self.source, self.first_tables)
        self.notes = tuple(self._notes())
        self.block_turns = compiled.sizes.block_turns(
            min(max(BLOCK_TURNS, TABLE_TURNS * len(compiled.names)), MOST_TURNS)
        )
        self._structure: Structure | None = None
        self._part: tuple[int, SnapshotPart, State] | None = None

    # ------------------------------------------------------------------------------------------------------ structure

    def _notes(self) -> Iterator[str]:
        growing = []
        for name in self.compiled.names:
            programs = [program for program in self.plan.programs if name in program.members]
            if any(not program.members[name].permanent and program.leaves_rows[name].any() for program in programs):
                growing.append(name)
        if len(growing) == 1:
            yield f"{growing[0]} only grows: a snapshot late in the stream is as long as the table by then."
        elif growing:
            yield f"{', '.join(growing)} only grow: a snapshot late in the stream is as long as the tables by then."
        yield f"The stream ends after turn {self.last_turn}, where {self.compiled.last_reason}."

    def seconds_ahead(self, turn: int) -> int:
        turns = np.array([turn], dtype=np.int64)
        event_ms = self.timeline.commit_us(turns) // 1000
        return int(self._in_second(turns, event_ms, 0)[0]) // SECOND_NUMBERS

    def border(self, turn: int) -> int:
        """The first transaction border at or after a turn."""
        return self.timeline.border(turn)

    def structure(self, first: int, stop: int) -> Structure:
        """The structure of the turns [first, stop), which begin and end at transaction borders."""
        last = self._structure
        if last is not None and last.turns[0] == first and last.turns[-1] + 1 >= stop:
            return last if last.turns[-1] + 1 == stop else last.until(stop - first)
        if stop - 1 > self.last_turn:
            raise UsageError(
                f"{self.scenario.file}: turn {stop - 1} is beyond turn {self.last_turn}, where "
                f"{self.compiled.last_reason}; ask for fewer turns, or an earlier one."
            )
        turns = np.arange(first, stop, dtype=np.int64)
        cohort, slot, place = self.traffic.visits(turns)
        cycle, step = self.compiled.ticks.cycle_and_step(cohort, place)
        tick = self.compiled.statements[:, self.compiled.step_first[self.compiled.ticks.cohort_program[cohort]] + step]
        rows = np.where(tick >= 0, self.compiled.rows[tick], 0)
        varied = np.where(rows < 0, self.compiled.group[tick] // 4, -1)
        for table in np.unique(varied[varied >= 0]):
            statement, turn = np.nonzero(varied == table)
            name, ticks = self.compiled.names[table], tick[statement, turn]
            rows[statement, turn] = self.compiled.ticks.row_count(name, slot[turn], ticks)
        self._structure = Structure(turns, cohort, slot, cycle, tick, rows)
        return self._structure

    def count(self, first: int, stop: int) -> Ints:
        """Row changes of each turn in [first, stop), counted without drawing a value."""
        return self.structure(first, stop).changes

    @property
    def step_names(self) -> Collection[str]:
        lifecycles = self.scenario.spec.lifecycles
        programs = (program for program in self.plan.programs if program.lifecycle in lifecycles)
        return dict.fromkeys(step.name for program in programs for step in program.turns)

    def steps_of(self, turns: Collection[int]) -> dict[int, str]:
        numbers = np.array(list(turns), dtype=np.int64)
        cohort, _, place = self.traffic.visits(numbers)
        _, step = self.compiled.ticks.cycle_and_step(cohort, place)
        programs = [self.plan.programs[number] for number in self.compiled.ticks.cohort_program[cohort]]
        return {
            turn: program.steps[step_number].name
            for turn, program, step_number in zip(numbers.tolist(), programs, step.tolist(), strict=True)
            if program.lifecycle in self.scenario.spec.lifecycles
        }

    # ---------------------------------------------------------------------------------------------------------- turns

    def read(self, first: int, stop: int, needed: Needed | None = None) -> Block:
        """The changes and events of the turns [first, stop), which begin and end at transaction borders."""
        structure = self.structure(first, stop)
        changes = structure.changes
        transactions = number, begins, lengths = self.timeline.transactions(structure.turns)
        txn = self._txn(structure.turns, number)
        event_ms = self.timeline.commits_us(transactions) // 1000
        statement_ms = None
        if self.timeline.durations and self.source.logs_statement_times:
            statement_ms = self.timeline.statement_us(structure.turns) // 1000
        in_second = self._in_second(structure.turns, event_ms, self.compiled.statements_a_turn)
        txn_in_second = in_second[begins - first] if self.source.log.one_a_transaction else None
        changes_so_far = np.cumsum(changes)
        before = changes_so_far - changes  # row changes before the turn
        before_txn = before[begins - first]
        size = changes_so_far[begins - first + lengths - 1] - before_txn
        ordinal = np.cumsum(structure.rows, axis=0) - structure.rows  # row changes of the turn before the statement

        batches: list[ChangeBatch] = []
        # turn-major order is stream order; a stable sort of 16-bit numbers is a radix sort
        group = np.where(structure.tick >= 0, self.compiled.group[structure.tick], -1).T.ravel()
        group = group.astype(np.min_scalar_type(-1 - int(group.max(initial=0))))
        order = np.argsort(group, kind="stable")
        cuts = np.flatnonzero(np.diff(group[order], prepend=-1, append=-1))
        for start, end in pairwise(cuts.tolist()):
            table_and_kind = int(group[order[start]])
            turn, statement = np.divmod(order[start:end], len(structure.tick))
            rows = structure.rows[statement, turn]
            if (rows == 1).all():
                row = np.zeros(len(turn), dtype=np.int64)
            else:
                owner, row = expanded(rows)
                turn, statement = turn[owner], statement[owner]
            number_in_turn = ordinal[statement, turn] + row
            envelope = Envelope(
                phase=1,
                turn=structure.turns[turn],
                ordinal=STEP * number_in_turn,
                statement=statement,
                txn=txn[turn],
                seq=before[turn] - before_txn[turn] + number_in_turn + 1,
                size=size[turn],
                offset=self._offset(structure.turns[turn], STEP * number_in_turn),
                event_ms=event_ms[turn],
                write_ms=event_ms[turn] + WRITE_LAG_MS,
                in_second=in_second[turn] + STEP * number_in_turn,
                txn_in_second=None if txn_in_second is None else txn_in_second[turn],
                statement_ms=None if statement_ms is None else statement_ms[turn],
            )
            state = structure.state(self.compiled.ticks, self.compiled.names[table_and_kind // 4], statement, turn, row)
            batches += self._batches(Kind(table_and_kind % 4), envelope, state, needed)
        changes_of_all = int(changes_so_far[-1]) if len(changes_so_far) else 0
        return Block(first, stop - first, self.as_logged(batches), tuple(self._events(first, stop)), changes_of_all)

    def _txn(self, turns: Ints, number: Ints) -> Ints:
        """Dense transaction numbers: schema changes are transactions too."""
        numbers: Ints = self.compiled.first_txn + number + np.searchsorted(self.compiled.ddl_turns, turns, side="right")
        return numbers

    def _in_second(self, turns: Ints, event_ms: Ints, number: Ints | int, *, follow: bool = True) -> Ints:
        """`Envelope.in_second` of entry `number` of each turn: statements first, then rows in steps of two."""
        numbers = np.broadcast_to(np.asarray(number, dtype=np.int64), turns.shape)
        return self.timeline.in_second(turns, event_ms, numbers, self.compiled.second_stride, follow=follow)

    def _offset(self, turn: Ints, ordinal: Ints) -> Ints:
        offset: Ints = self.compiled.first_offset + turn * self.compiled.stride + ordinal + 2 * BEFORE_ROWS
        return offset

    def _batches(self, kind: Kind, envelope: Envelope, state: State, needed: Needed | None) -> Iterator[ChangeBatch]:
        """The changes of one table and kind, cut where the table's version changes."""
        versions = self.compiled.versions[state.table]
        cuts = [0, *np.searchsorted(envelope.turn, [v.since for v in versions[1:]]).tolist(), len(state)]
        for version, (start, stop) in zip(versions, pairwise(cuts), strict=True):
            if start == stop:
                continue
            if start == 0 and stop == len(state):
                yield self._batch(kind, version, envelope, state, needed)
            else:
                rows = np.arange(start, stop)
                yield self._batch(kind, version, envelope.take(rows), state.take(rows), needed)

    def _batch(
        self, kind: Kind, version: Version, envelope: Envelope, state: State, needed: Needed | None
    ) -> ChangeBatch:
        everything = np.arange(len(state))
        positions = self._positions(version, kind, needed)
        after: tuple[pa.Array, ...] | None = None
        before: tuple[Before, ...] | None = None
        if kind is DELETE:
            before = self._image(version, state.before(everything), positions)
        else:
            after = self._image(version, state, positions)
        if kind is UPDATE:
            old = state.before(everything)
            deltas: list[Before] = []
            for position, column in enumerate(version.columns):
                rows = np.flatnonzero(column.history.sets[state.tick - column.history.start])
                if not len(rows) or position not in positions:
                    deltas.append(None)
                elif len(rows) == len(state):
                    deltas.append(self._column(version, position, old))
                else:
                    deltas.append(Delta(rows, self._column(version, position, old.take(rows))))
            before = tuple(deltas)
        numbers = partial(self.compiled.row_numbers, state)
        return ChangeBatch(version.table, kind, envelope, after, before, row_numbers=numbers)

    def _positions(self, version: Version, kind: Kind, needed: Needed | None) -> Collection[int]:
        """Indexes of the columns to draw. The key is always among them: some systems split updates by it."""
        positions = None if needed is None else needed(version.table, kind)
        return range(len(version.columns)) if positions is None else {*positions, *version.table.key_positions}

    def _image(self, version: Version, state: State, positions: Collection[int]) -> tuple[pa.Array, ...]:
        count = range(len(version.columns))
        return tuple(self._column(version, i, state) if i in positions else pa.nulls(len(state)) for i in count)

    def _column(self, version: Version, position: int, state: State) -> pa.Array:
        """A column's values as the carrier of this version's type."""
        values = version.columns[position].pooled(state)
        type = version.table.columns[position].type
        if type == version.columns[position].field.type:
            return values
        return self.source.stored(without_pool(values), type)

    # --------------------------------------------------------------------------------------------------------- events

    def _events(self, first: int, stop: int) -> list[Event]:
        """Heartbeats and schema changes before transactions of these turns, in stream order."""
        events = [*self._heartbeats(first, stop), *self._schema_changes(first, stop)]
        return sorted(events, key=lambda event: (event.order.turn, event.order.ordinal))

    def _schema_changes(self, first: int, stop: int) -> Iterator[Event]:
        numbers = np.arange(*np.searchsorted(self.compiled.ddl_turns, [first, stop]))
        turns = self.compiled.ddl_turns[numbers]
        event_ms = self.timeline.commit_us(turns) // 1000
        txn = self.compiled.first_txn + self.timeline.transactions(turns)[0] + numbers
        statements = numbers - np.searchsorted(self.compiled.ddl_turns, turns)  # index within its turn
        in_second = self._in_second(turns, event_ms, statements, follow=False)
        orders = [schema_change(turn, number) for turn, number in zip(turns.tolist(), numbers.tolist(), strict=True)]
        offsets = self._offset(turns, np.array([order.ordinal for order in orders], dtype=np.int64))
        columns = (numbers, txn, offsets, event_ms, in_second)
        for order, (number, transaction, offset, ms, within) in zip(orders, np.array(columns).T.tolist(), strict=True):
            change = self.compiled.ddl[number][1]
            ddl = (change.kind, change.database, change.before, change.after, change.sql)
            yield SchemaChange(order, transaction, offset, ms, ms + WRITE_LAG_MS, *ddl, in_second=within)

    def _heartbeats(self, first: int, stop: int) -> Iterator[Heartbeat]:
        """Heartbeats before the schema changes and rows of their turns; each has the number of the next transaction."""
        beats = np.array(self.timeline.heartbeats(first, stop - first), dtype=np.int64).reshape(-1, 2)
        turns, ms = beats.T
        ordinals = heartbeats(np.arange(len(turns)) - np.searchsorted(turns, turns))
        last_ms = self.timeline.commit_us(turns - 1) // 1000
        number, _, _ = self.timeline.transactions(turns)
        ddl = np.searchsorted(self.compiled.ddl_turns, turns, side="left")
        txn = self.compiled.first_txn + number + ddl
        columns = (
            turns,
            ordinals,
            txn,
            self._offset(turns, ordinals),
            ms,
            last_ms,
            self._in_second(turns, ms, 0, follow=False),
        )
        for turn, ordinal, transaction, offset, beat_ms, commit_ms, in_second in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            order = OrderKey(1, turn, ordinal)
            yield Heartbeat(order, transaction, offset, beat_ms, beat_ms + WRITE_LAG_MS, commit_ms, in_second=in_second)

    # ---------------------------------------------------------------------------------------------------------- state

    def tables_at(self, turn: int) -> tuple[Table, ...]:
        """The tables as they are before a turn and the schema changes at it."""
        return tuple(self._version_at(name, turn).table for name in self.compiled.names)

    def tables_from(self, turn: int) -> Iterator[Table]:
        for name, versions in self.compiled.versions.items():
            first = self._version_at(name, turn)
            yield from (version.table for version in versions if version.since >= first.since)

    def added_values(self, batch: ChangeBatch, after: Table, column: Column) -> pa.Array:
        listed = self.compiled.versions.items()
        name = next(name for name, versions in listed if any(version.table == after for version in versions))
        fields = self.compiled.scenario.fields[name].values()
        default = next(field.added_default for field in fields if field.name == column.field)
        return pa.repeat(self.source.parse_values([default], column.type)[0], len(batch))

    def _version_at(self, name: str, turn: int) -> Version:
        """The table as it is before a turn and the schema changes at it."""
        return next(v for v in reversed(self.compiled.versions[name]) if v.since < turn)

    def previous_ms(self, turns: Ints) -> Ints:
        """When the transaction before that of each turn was committed, epoch milliseconds."""
        return self.timeline.previous_commit_us(turns) // 1000

    def rows_at(self, turn: int) -> Iterator[tuple[Table, tuple[pa.Array, ...]]]:
        return map(self.snapshot_rows, self.snapshot_blocks(turn))

    def snapshot_parts(self, turn: int) -> Iterator[SnapshotPart]:
        return parts(self.compiled, turn)

    def count_part(self, turn: int, part: SnapshotPart) -> int:
        rows = fixed_count(self.compiled, part)
        return len(self._alive(turn, part)) if rows is None else rows

    def snapshot_block_rows(self, turn: int, part: SnapshotPart) -> int:
        return self.compiled.sizes.block_rows(self.compiled.names[part.table])

    def _alive(self, turn: int, part: SnapshotPart) -> State:
        """The rows of a part; the last result is cached, since a part is counted before it is read."""
        if self._part is None or self._part[:2] != (turn, part):
            self._part = turn, part, states(self.compiled, part, turn)
        return self._part[2]

    def snapshot_rows(self, block: SnapshotBlock, needed: Needed | None = None) -> tuple[Table, tuple[pa.Array, ...]]:
        version = self._version_at(self.compiled.names[block.part.table], block.turn)
        return version.table, self._image(version, self._scanned(block), self._positions(version, READ, needed))

    def _scanned(self, block: SnapshotBlock) -> State:
        state = self._alive(block.turn, block.part)
        return state if block.rows == len(state) else state.take(np.arange(block.start, block.start + block.rows))

    def snapshot_row_numbers(self, block: SnapshotBlock) -> Ints:
        return self.compiled.row_numbers(self._scanned(block))

    def snapshot_ms(self, turn: int) -> int:
        return int(self.timeline.commit_us(np.array([turn - 1], dtype=np.int64))[0]) // 1000
