"""The rows that are there before a turn, in closed form: no change is replayed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from simulator.model import DELETE
from simulator.stream.engine.compiled import Compiled
from simulator.stream.engine.history import State, row_count
from simulator.stream.engine.program import Member, Program
from simulator.stream.generators.derived import ticks_alive
from simulator.values.draw import Ints

# Slots, or earlier passes of slots, that are worked on at once.
CHUNK: Final = 32_768


def alive(compiled: Compiled, name: str, turn: int) -> Iterator[State]:
    """The rows of a table that are there before a turn, some thousands at a time, each as it was last changed."""
    for c, cohort in enumerate(compiled.plan.cohorts):
        program = compiled.plan.programs[cohort.program]
        member = program.members.get(name)
        if member is None:
            continue
        immortal = not any(act.kind is DELETE and act.table == name for act in program.acts)
        has_rows = np.array(ticks_alive(program, name))
        for low in range(cohort.base, cohort.base + cohort.count, CHUNK):
            slot = np.arange(low, min(low + CHUNK, cohort.base + cohort.count), dtype=np.int64)
            which = np.full(len(slot), c, dtype=np.int64)
            visits = compiled.rounds.visits_before(c, slot, turn)
            cycle, step = compiled.ticks.place(which, slot, visits - 1)
            tick = compiled.last_tick[compiled.step_first[cohort.program] + step]
            if member.eternal:
                born = cycle < 0
                tick = np.where(born, compiled.ticks.birth[cohort.program], tick)
                yield from _expand(compiled, program, member, which, slot, cycle, tick)
                continue
            if immortal:
                # all earlier passes left their rows; a slot's passes are told one after the other
                yield from _earlier(compiled, program, member, which, slot, cycle)
            here = (cycle >= 0) & has_rows[tick - compiled.ticks.first[cohort.program]]
            yield from _expand(compiled, program, member, which[here], slot[here], cycle[here], tick[here])


def _earlier(
    compiled: Compiled, program: Program, member: Member, which: Ints, slot: Ints, cycle: Ints
) -> Iterator[State]:
    last = int(compiled.ticks.birth[compiled.ticks.cohort_program[which[0]]]) - 1
    passes = np.maximum(cycle, 0)
    ends = np.cumsum(passes)
    for low in range(0, int(ends[-1]), CHUNK):
        rows = np.arange(low, min(low + CHUNK, int(ends[-1])), dtype=np.int64)
        owner = np.searchsorted(ends, rows, side="right")
        past = rows - (ends - passes)[owner]
        yield from _expand(
            compiled, program, member, which[owner], slot[owner], past, np.full(len(rows), last, dtype=np.int64)
        )


def _expand(
    compiled: Compiled, program: Program, member: Member, which: Ints, slot: Ints, cycle: Ints, tick: Ints
) -> Iterator[State]:
    """One state per row of the entities' member."""
    counts = row_count(member, program.lifecycle, compiled.seed, slot, cycle)
    owner = np.repeat(np.arange(len(slot)), counts)
    if not len(owner):
        return
    row = np.arange(len(owner), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)
    yield State(
        compiled.ticks,
        member.table,
        cohort=which[owner],
        slot=slot[owner],
        cycle=cycle[owner],
        tick=tick[owner],
        row=row,
    )
