"""When columns were set: tables over the programs' ticks, and states of rows that use them.

A tick is one statement of one program. The state of a row after a tick is named by (cohort, slot, cycle, tick, row):
`cycle` is the pass through the program, `row` the number of the row among those of the entity in the table. From a
state follow, by look-up and arithmetic, for any column: how often it was set so far, at which tick last, at which turn.
Permanent rows were born one visit before their slot's first (cycle -1, the birth tick). Other rows belong to a life: a
program has several in a pass, and those of a slot are numbered from the one in which it stands when the stream begins.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simulator.model import DELETE, INSERT
from simulator.native import draws as native
from simulator.native.program import compiled
from simulator.stream.engine.program import Plan
from simulator.stream.engine.traffic.traffic import Traffic
from simulator.values.draw import LIFE, Bits, Ints, below, bits, identity, key
from simulator.values.groups import expanded

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class History:
    """A column's past, by tick of the programs that have its table (the index is tick - `start`): the tick that last
    set it and how many cycles ago, the count of settings in this cycle, whether this tick sets it; and by program the
    settings per cycle. `wraps`: a value may be from the cycle before.
    """

    start: int
    last: Ints
    back: Ints
    count: Ints
    per_cycle: Ints
    sets: Mask
    wraps: bool


class Ticks:
    """All statements of all programs on one axis; after its statements each program has one more tick, its birth."""

    def __init__(self, plan: Plan, traffic: Traffic, seed: int) -> None:
        self.plan, self.traffic, self.seed = plan, traffic, seed
        programs = plan.programs
        sizes = _ints(len(program.acts) + 1 for program in programs)
        self.first: Ints = np.cumsum(sizes) - sizes
        self.size: Ints = sizes - 1
        self.total = int(sizes.sum())
        self.birth: Ints = self.first + self.size
        self.program = np.repeat(np.arange(len(programs)), sizes)
        self.steps = _ints(len(program.steps) for program in programs)
        self.first_step: Ints = np.cumsum(self.steps) - self.steps
        # step of each tick inside its program; the birth's is -1: one visit before the first
        self.step = np.full(self.total, -1, dtype=np.int64)
        for program, first in zip(programs, self.first.tolist(), strict=True):
            ticks = np.diff(program.last_ticks, prepend=-1)
            self.step[first : first + len(program.acts)] = np.repeat(np.arange(len(ticks)), ticks)
        self.lives = _ints(len(program.lives) for program in programs)
        self.single_lives = bool((self.lives == 1).all())
        self.life_of_step = _ints(i for p in programs for i, life in enumerate(p.lives) for _ in life)
        steps = self.first_step[self.program] + np.maximum(self.step, 0)
        self.life_of_tick: Ints = self.life_of_step[steps] if self.total else steps
        self.cohort_program = _ints(cohort.program for cohort in plan.cohorts)
        self._histories: dict[tuple[int, tuple[bytes, ...]], History] = {}
        self._of_settings: dict[tuple[str, tuple[tuple[bool, ...], ...]], History] = {}
        self._programs: dict[str, list[int]] = {}
        self._permanent: dict[str, Mask] = {}
        self._rows: dict[str, Ints] = {}
        for number, program in enumerate(programs):
            for table in program.members:
                self._programs.setdefault(table, []).append(number)

    def cycle_and_step(self, cohort: Ints, place: Ints) -> tuple[Ints, Ints]:
        """(cycle, step) of positions in the programs of a cohort's slots."""
        cycle, step = np.divmod(place, self.steps[self.cohort_program[cohort]])
        return cycle, step

    def first_life(self, cohort: Ints, slot: Ints) -> Ints:
        """The life of its program that a slot is in when the stream begins."""
        steps = self.first_step[self.cohort_program[cohort]] + self.traffic.phases(cohort, slot)
        first: Ints = self.life_of_step[steps]
        return first

    def life(self, cohort: Ints, slot: Ints, cycle: Ints, tick: Ints) -> Ints:
        """Index of the slot's life at a tick of a cycle: 0 is the one in which the stream began; there are no rows
        before it.
        """
        if self.single_lives:
            return cycle
        lives: Ints = cycle * self.lives[self.cohort_program[cohort]] + self.life_of_tick[tick]
        lives -= self.first_life(cohort, slot)
        return lives

    def turn(self, cohort: Ints, slot: Ints, cycle: Ints, tick: Ints) -> Ints:
        """The turn at which a tick of a cycle happened (may be negative)."""
        steps = self.steps[self.cohort_program[cohort]]
        # the birth is the visit before cycle 0, step 0: its step is -1, so its cycle counts as 0
        return self.traffic.turns(cohort, slot, np.maximum(cycle, 0) * steps + self.step[tick])

    def row_count(self, table: str, slot: Ints, tick: Ints) -> Ints:
        """Number of rows that each entity has in a table, at a tick that is a statement on it."""
        counts = self.rows(table)[tick - self.span(table).start]
        drawn = np.flatnonzero(counts < 0)
        for p in np.unique(self.program[tick[drawn]]):
            member = self.plan.programs[p].members[table]
            of_program = drawn[self.program[tick[drawn]] == p]
            draws = bits(key(self.seed, "rows", self.plan.programs[p].lifecycle, member.counted_as), slot[of_program])
            counts[of_program] = member.low + below(draws, member.high - member.low + 1)
        return counts

    def rows(self, table: str) -> Ints:
        """Number of the entity's rows of a table for each tick of its span; -1 where permanent entities differ
        in it, 0 in programs without the table."""
        if table not in self._rows:
            rows = np.zeros(len(self.span(table)), dtype=np.int64)
            for p in self._programs.get(table, ()):
                program = self.plan.programs[p]
                program_ticks = slice(*(int(bounds[p]) - self.span(table).start for bounds in (self.first, self.birth)))
                of_life = program.rows(table)
                rows[program_ticks] = of_life[self.life_of_tick[self.first[p] : self.birth[p]]]
                rows[program_ticks.stop] = of_life[0] if program.members[table].permanent else 0
            self._rows[table] = rows
        return self._rows[table]

    def history(self, table: str, field: str) -> History:
        """The past of a column in every program that has its table. Columns with equal pasts share one object."""
        settings = tuple(self._setting(number, table, field) for number in self._programs.get(table, ()))
        if (table, settings) not in self._of_settings:
            self._of_settings[table, settings] = self._history(table, field)
        return self._of_settings[table, settings]

    def _history(self, table: str, field: str) -> History:
        span = self.span(table)
        last = np.full(len(span), -1, dtype=np.int64)
        cycles_back = np.zeros(len(span), dtype=np.int64)
        count = np.zeros(len(span), dtype=np.int64)
        sets = np.zeros(len(span), dtype=bool)
        per_cycle = np.zeros(len(self.plan.programs), dtype=np.int64)
        for p, program in enumerate(self.plan.programs):
            member = program.members.get(table)
            if member is None:
                continue
            first, birth = int(self.first[p]), int(self.birth[p])
            setting, inserts = self.set_by(p, table, field), self.set_by(p, table, "")
            here, born = first - span.start, birth - span.start
            sets[here + setting] = True
            last[born], sets[born] = birth, member.permanent
            per_cycle[p] = len(setting) if member.permanent else 0
            program_ticks = slice(here, born)
            ticks = np.arange(birth - first)
            settings_so_far = np.searchsorted(setting, ticks, side="right")  # settings so far in this cycle
            if member.permanent:
                # before the first setting of a cycle, the last one of the previous cycle holds
                last[program_ticks] = first + setting[settings_so_far - 1] if len(setting) else birth
                cycles_back[program_ticks] = (settings_so_far == 0) & bool(len(setting))
                count[program_ticks] = settings_so_far  # the birth set its first value
            elif len(setting):
                last[program_ticks] = np.where(settings_so_far > 0, first + setting[settings_so_far - 1], -1)
                # the insert sets value number 0
                inserted = inserts[np.maximum(np.searchsorted(inserts, ticks, side="right") - 1, 0)]
                count[program_ticks] = settings_so_far - 1 - np.searchsorted(setting, inserted)
        signature = (span.start, tuple(x.tobytes() for x in (last, cycles_back, count, per_cycle, sets)))
        history = History(span.start, last, cycles_back, count, per_cycle, sets, bool(cycles_back.any()))
        return self._histories.setdefault(signature, history)

    def permanent(self, table: str) -> Mask:
        """Mask of the programs whose rows of a table are permanent."""
        if table not in self._permanent:
            members = [program.members.get(table) for program in self.plan.programs]
            self._permanent[table] = np.array([member is not None and member.permanent for member in members])
        return self._permanent[table]

    def span(self, table: str) -> range:
        """The ticks from the first to the last program that has a table: few of all if there are many tables."""
        programs = self._programs.get(table, ())
        return range(int(self.first[programs[0]]), int(self.birth[programs[-1]]) + 1) if programs else range(0)

    def set_by(self, program: int, table: str, field: str) -> Ints:
        """Indexes of a program's statements that set a column: inserts into its table, and updates of the column.
        `field` "": inserts alone.
        """
        return np.flatnonzero(self.plan.programs[program].by_tick(self._setting(program, table, field)))

    def _setting(self, program: int, table: str, field: str) -> tuple[bool, ...]:
        """Mask of a program's distinct statements that set a column."""
        return tuple(
            act.table == table and act.kind is not DELETE and (act.kind is INSERT or field in act.sets)
            for act in self.plan.programs[program].distinct_acts
        )


def _ints(values: Iterable[int]) -> Ints:
    return np.array(list(values), dtype=np.int64)


class Written(NamedTuple):
    """The state in which a column was last set: cycle and tick of each row."""

    cycle: Ints
    tick: Ints


class State:
    """Rows of one table, each after some tick. Arrays have one element per row; `turn` is None if not computed."""

    def __init__(
        self,
        ticks: Ticks,
        table: str,
        *,
        cohort: Ints,
        slot: Ints,
        cycle: Ints,
        tick: Ints,
        row: Ints,
        turn: Ints | None = None,
    ) -> None:
        self.ticks, self.table = ticks, table
        self.cohort, self.slot, self.cycle, self.tick, self.row, self.turn = cohort, slot, cycle, tick, row, turn
        # cache of generators' results for these rows, by generator
        self.kept: dict[object, Any] = {}
        self._written: dict[History, Written] = {}
        self._turns: dict[History, Ints] = {}
        self._changes: dict[History, Ints] = {}

    def __len__(self) -> int:
        return len(self.slot)

    def take(self, rows: npt.NDArray[np.intp]) -> State:
        """The states of some of the rows."""
        taken_rows = State(
            self.ticks,
            self.table,
            cohort=self.cohort[rows],
            slot=self.slot[rows],
            cycle=self.cycle[rows],
            tick=self.tick[rows],
            row=self.row[rows],
            turn=None if self.turn is None else self.turn[rows],
        )
        taken_rows.identity = self.identity[rows]  # computed once for all the columns
        return taken_rows

    def replace(self, rows: npt.NDArray[np.intp], others: State) -> None:
        """Replaces the states of some rows. In both, only `identity` may have been computed."""
        if len(rows):
            for target, replacement in (
                (self.cohort, others.cohort),
                (self.slot, others.slot),
                (self.cycle, others.cycle),
                (self.tick, others.tick),
                (self.row, others.row),
                (self.identity, others.identity),
            ):
                target[rows] = replacement

    def before(self, rows: npt.NDArray[np.intp]) -> State:
        """The states of some of the rows before their tick. They must have one: no inserts among them."""
        ticks = self.ticks
        tick, cycle, cohort = self.tick[rows], self.cycle[rows], self.cohort[rows]
        program = ticks.program[tick]
        wraps = tick == ticks.first[program]
        # the end of the previous cycle precedes a cycle's first tick; the birth precedes the very first tick
        first_cycle = wraps & (cycle == 0)
        tick = np.where(first_cycle, ticks.birth[program], np.where(wraps, tick + ticks.size[program], tick) - 1)
        old = State(
            ticks, self.table, cohort=cohort, slot=self.slot[rows], cycle=cycle - wraps, tick=tick, row=self.row[rows]
        )
        old.identity = self.identity[rows]
        return old

    @cached_property
    def program(self) -> Ints:
        return self.ticks.cohort_program[self.cohort]

    @cached_property
    def permanent(self) -> Mask:
        return self.ticks.permanent(self.table)[self.program]

    @cached_property
    def life(self) -> Ints:
        """The life of its slot that each row belongs to; -1 for permanent rows."""
        if self.permanent.all():
            return np.full(len(self), -1, dtype=np.int64)
        return np.where(self.permanent, -1, self.ticks.life(self.cohort, self.slot, self.cycle, self.tick))

    @cached_property
    def identity(self) -> Bits:
        """Hash of the row, the same in all its states; rows of a table have different ones."""
        if compiled():
            return native.identities(self.slot, self.life * LIFE + self.row)
        return identity(self.slot, self.life, self.row)

    @cached_property
    def place(self) -> Ints:
        """Position of the row among its neighbours; the next row, and the next life, has the next number."""
        return self.slot + self.row + self.life + 1

    def changes(self, history: History) -> Ints:
        """Number of times the column was set before: 0 for the value that the row was born with."""
        if history not in self._changes and compiled():
            self._changes[history] = native.changes(
                self.tick, self.cycle, self.program, history.start, history.count, history.per_cycle
            )
        if history not in self._changes:
            per_cycle = history.per_cycle[self.program]
            count = history.count[self.tick - history.start]
            self._changes[history] = np.add(count, np.maximum(self.cycle, 0) * per_cycle, dtype=int)
        return self._changes[history]

    def written(self, history: History) -> Written:
        """The tick that gave the column its value."""
        if history not in self._written:
            index = self.tick - history.start
            cycle = self.cycle - history.back[index] if history.wraps else self.cycle
            tick = history.last[index]
            if history.wraps or (tick == self.ticks.birth[self.program]).any():
                born = (cycle < 0) | (tick == self.ticks.birth[self.program])
                tick = np.where(born, self.ticks.birth[self.program], tick)
                cycle = np.where(born, -1, cycle)
            self._written[history] = Written(cycle, tick)
        return self._written[history]

    def turns(self, history: History) -> Ints:
        """The turn at which the column got its value; negative before the stream's start."""
        if history not in self._turns:
            cycle, tick = self.written(history)
            if self.turn is None:
                turns = self.ticks.turn(self.cohort, self.slot, cycle, tick)
            else:
                turns = self.turn.copy()
                older = np.flatnonzero((tick != self.tick) | (cycle != self.cycle))
                if len(older):
                    turns[older] = self.ticks.turn(self.cohort[older], self.slot[older], cycle[older], tick[older])
            self._turns[history] = turns
        return self._turns[history]

    def at(self, table: str, written: Written, row: Ints) -> State:
        """Rows of another table of the same entities, at the given ticks."""
        return State(
            self.ticks,
            table,
            cohort=self.cohort,
            slot=self.slot,
            cycle=written.cycle,
            tick=written.tick,
            row=row,
        )


class EntityRows(State):
    """Rows of entities: `entities.row` is the number of rows of each entity, `owner` the index of each row's entity.
    Values that depend on the entity alone, such as turns, are computed once per entity.
    """

    def __init__(self, entities: State) -> None:
        self._entities = entities
        self.owner, row = expanded(entities.row)
        owner = self.owner
        super().__init__(
            entities.ticks,
            entities.table,
            cohort=entities.cohort[owner],
            slot=entities.slot[owner],
            cycle=entities.cycle[owner],
            tick=entities.tick[owner],
            row=row,
        )

    def turns(self, history: History) -> Ints:
        if history not in self._turns:
            self._turns[history] = self._entities.turns(history)[self.owner]
        return self._turns[history]
