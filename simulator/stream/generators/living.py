"""Choice of rows that are alive at a turn and outlive the row that references them, without looking at other rows."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from simulator.model import DELETE
from simulator.stream.engine.history import History, State
from simulator.stream.engine.program import Program
from simulator.stream.generators.columns import Columns
from simulator.values.draw import GOLDEN, Bits, Ints, below, mix, unit

# Attempts before a permanent row, or no row, is taken.
TRIES: Final = 6
NEVER: Final = 1 << 62

Mask = npt.NDArray[np.bool_]


class Deaths:
    """The turn at which rows of a table are deleted; NEVER if they are not."""

    def __init__(self, columns: Columns, table: str) -> None:
        self.ticks = columns.ticks
        span = self.ticks.span(table)
        self._start = span.start
        self._tick = np.full(len(span), -1, dtype=np.int64)
        for p, program in enumerate(self.ticks.plan.programs):
            if table in program.members:
                first = int(self.ticks.first[p])
                first_tick = first - span.start
                self._tick[first_tick : first_tick + len(program.acts)] = _deleted_at(program, table, first)

    def __call__(self, cohort: Ints, slot: Ints, cycle: Ints, tick: Ints) -> Ints:
        deaths = np.full(len(slot), NEVER, dtype=np.int64)
        dies_at = self._tick[tick - self._start]
        mortal = np.flatnonzero(dies_at >= 0)
        if len(mortal):
            dying = dies_at[mortal]
            deaths[mortal] = self.ticks.turn(cohort[mortal], slot[mortal], cycle[mortal], dying)
        return deaths


def _deleted_at(program: Program, table: str, first: int) -> Ints:
    """The tick that deletes the table's rows in the life of each tick of a program, -1 if none does."""
    deletes = program.by_tick(act.kind is DELETE and act.table == table for act in program.distinct_acts)
    ticks = np.flatnonzero(deletes)
    after = np.searchsorted(ticks, program.first_tick_of_life)
    dying = np.append(ticks, -1)[after]
    same_life = program.first_tick_of_life[dying] == program.first_tick_of_life
    return np.where((dying >= 0) & same_life, first + dying, -1)


class LivingRows:
    """Rows of a table that are not permanent."""

    def __init__(self, columns: Columns, table: str) -> None:
        self.columns, self.table, self.ticks, self.traffic = columns, table, columns.ticks, columns.traffic
        self.deaths = Deaths(columns, table)
        self.cohorts: list[int] = []
        # by cohort: mean number of living entities with rows, entities left behind per visit, rows per entity
        self._shares: list[tuple[float, float, float]] = []
        for number, cohort in enumerate(self.ticks.plan.cohorts):
            program = self.ticks.plan.programs[cohort.program]
            member = program.members.get(table)
            if member is not None and not member.permanent:
                self.cohorts.append(number)
                alive = cohort.count * program.share_alive(table)
                staying = int(program.leaves_rows[table].sum()) / len(program.steps)
                self._shares.append((alive, staying, (member.low + member.high) / 2))

    def rows(self, turns: Ints) -> list[Ints]:
        """Approximate number of rows of each cohort at each turn."""
        return [
            ((alive + staying * np.maximum(self.traffic.cohort_visits([number], turns), 0)) * rows).astype(np.int64)
            for number, (alive, staying, rows) in zip(self.cohorts, self._shares, strict=True)
        ]

    def pick(self, cohort: int, draws: Bits, turns: Ints, until: Ints, recent: float) -> tuple[State, Mask]:
        """A row for each draw, and whether it lives from before the turn `turns` to after the turn `until`."""
        plan, ticks = self.ticks.plan, self.ticks
        number = plan.cohorts[cohort].program
        program = plan.programs[number]
        slot = plan.cohorts[cohort].base + below(draws, plan.cohorts[cohort].count)
        cohorts = np.full(len(slot), cohort, dtype=np.int64)
        cycle, step = ticks.cycle_and_step(cohorts, self.traffic.places(cohort, slot, turns) - 1)
        tick = program.last_ticks[step] + ticks.first[number]
        life = ticks.life(cohorts, slot, cycle, tick)
        has_rows = program.has_rows[self.table]
        alive = (life >= 0) & has_rows[tick - ticks.first[number]]
        leaves = program.leaves_rows[self.table]
        if leaves.any():
            # an earlier life of the slot, except for the share `recent`
            fresh_bits = mix(draws + GOLDEN)
            lives_back = (unit(fresh_bits) * (np.maximum(life, 0) + 1)).astype(np.int64)
            lives_back = np.where(unit(mix(fresh_bits)) < recent, ~alive, lives_back)
            earlier = np.flatnonzero(lives_back)
            earlier_life = life[earlier] - lives_back[earlier]
            first = ticks.first_life(cohorts[earlier], slot[earlier])
            cycle[earlier], index = np.divmod(earlier_life + first, len(program.lives))
            tick[earlier] = program.last_ticks[program.last_steps[index]] + ticks.first[number]
            life[earlier] = earlier_life
            alive[earlier] = (earlier_life >= 0) & leaves[index]
        deaths = self.deaths(cohorts, slot, cycle, tick)
        outlives = alive & ((deaths == NEVER) | (deaths > until))
        rows = ticks.row_count(self.table, slot, tick)
        row = (unit(mix(draws ^ GOLDEN)) * rows).astype(np.int64)
        return State(ticks, self.table, cohort=cohorts, slot=slot, cycle=cycle, tick=tick, row=row), outlives


class Current:
    """Advances states of rows to later turns; rows that their entity left behind do not change any more."""

    def __init__(self, columns: Columns, table: str, history: History) -> None:
        """`history`: of the column to be read. If no update sets it, states need not advance."""
        self.ticks, self.traffic, self.table = columns.ticks, columns.traffic, table
        self.stays = not (history.count > 0).any()
        programs = self.ticks.plan.programs
        self.cohorts = [
            number for number, cohort in enumerate(self.ticks.plan.cohorts) if table in programs[cohort.program].members
        ]

    def __call__(self, rows: State, turns: Ints) -> State:
        if self.stays:
            return rows
        plan, ticks = self.ticks.plan, self.ticks
        tick, cycle = rows.tick.copy(), rows.cycle.copy()
        for cohort in self.cohorts:
            chosen = np.flatnonzero(rows.cohort == cohort) if len(self.cohorts) > 1 else slice(None)
            slot, number = rows.slot[chosen], plan.cohorts[cohort].program
            program = plan.programs[number]
            place = self.traffic.places(cohort, slot, turns[chosen]) - 1
            cohorts = np.full(len(slot), cohort, dtype=np.int64)
            now, step = ticks.cycle_and_step(cohorts, place)
            dying = program.last_ticks[step] + ticks.first[number]
            if program.members[self.table].permanent:
                born = place < 0
                tick[chosen] = np.where(born, ticks.birth[number], dying)
                cycle[chosen] = np.where(born, -1, now)
            else:
                same = ticks.life(cohorts, slot, now, dying) == rows.life[chosen]
                tick[chosen] = np.where(same, dying, tick[chosen])
                cycle[chosen] = np.where(same, now, cycle[chosen])
        current = State(ticks, self.table, cohort=rows.cohort, slot=rows.slot, cycle=cycle, tick=tick, row=rows.row)
        current.identity = rows.identity
        return current
