"""The rows that are there before a turn, in closed form: no change is replayed.

They are cut into parts that follow from structure alone: each can be counted and drawn without the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from simulator.stream.engine.block import SnapshotPart
from simulator.stream.engine.compiled import Compiled
from simulator.stream.engine.history import State, row_count
from simulator.stream.engine.program import Member, Program
from simulator.values.draw import Ints

# Slots, or earlier passes of slots, in a part.
CHUNK: Final = 32_768


def parts(compiled: Compiled, turn: int) -> Iterator[SnapshotPart]:
    """All rows alive before a turn, table by table. A part may turn out to have no row."""
    for table, name in enumerate(compiled.names):
        for c, cohort in enumerate(compiled.plan.cohorts):
            program = compiled.plan.programs[cohort.program]
            member = program.members.get(name)
            if member is None:
                continue
            for low in range(cohort.base, cohort.base + cohort.count, CHUNK):
                part = SnapshotPart(table, c, low, min(low + CHUNK, cohort.base + cohort.count))
                if not member.permanent and not program.deletes(name):
                    # the rows of all earlier passes are still there
                    passes = int(_passes(compiled, part, turn).sum())
                    for first in range(0, passes, CHUNK):
                        yield SnapshotPart(table, c, part.low, part.high, (first, min(first + CHUNK, passes)))
                yield part


def fixed_count(compiled: Compiled, part: SnapshotPart) -> int | None:
    """How many rows a part has, where that follows without looking at its slots; else None."""
    _, member = _of(compiled, part)
    if member.low == member.high and part.passes is not None:
        return (part.passes[1] - part.passes[0]) * member.low
    if member.low == member.high and member.permanent:
        return (part.high - part.low) * member.low
    return None


def states(compiled: Compiled, part: SnapshotPart, turn: int) -> State:
    """The rows of a part, each as it was last changed."""
    program, member = _of(compiled, part)
    slot, cycle, tick = _earlier(compiled, part, turn) if part.passes else _now(compiled, part, turn)
    counts = row_count(member, program.lifecycle, compiled.seed, slot, cycle)
    owner = np.repeat(np.arange(len(slot)), counts)
    row = np.arange(len(owner), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)
    cohort = np.full(len(owner), part.cohort, dtype=np.int64)
    return State(
        compiled.ticks, member.table, cohort=cohort, slot=slot[owner], cycle=cycle[owner], tick=tick[owner], row=row
    )


def _of(compiled: Compiled, part: SnapshotPart) -> tuple[Program, Member]:
    program = compiled.plan.programs[compiled.plan.cohorts[part.cohort].program]
    return program, program.members[compiled.names[part.table]]


def _visits(compiled: Compiled, part: SnapshotPart, turn: int) -> tuple[Ints, Ints, Ints]:
    """(slot, cycle, step) of the last visit of each slot of a part before a turn."""
    slot = np.arange(part.low, part.high, dtype=np.int64)
    cohort = np.full(len(slot), part.cohort, dtype=np.int64)
    cycle, step = compiled.ticks.cycle_and_step(
        cohort, slot, compiled.rounds.visits_before(part.cohort, slot, turn) - 1
    )
    return slot, cycle, step


def _now(compiled: Compiled, part: SnapshotPart, turn: int) -> tuple[Ints, Ints, Ints]:
    """(slot, cycle, tick) of the entities that have rows in the present pass of their slots."""
    program, member = _of(compiled, part)
    number = compiled.plan.cohorts[part.cohort].program
    slot, cycle, step = _visits(compiled, part, turn)
    tick = compiled.last_tick[compiled.step_first[number] + step]
    if member.permanent:
        return slot, cycle, np.where(cycle < 0, compiled.ticks.birth[number], tick)
    has_rows = np.array(program.has_rows(member.table))
    here = (cycle >= 0) & has_rows[tick - compiled.ticks.first[number]]
    return slot[here], cycle[here], tick[here]


def _passes(compiled: Compiled, part: SnapshotPart, turn: int) -> Ints:
    """How many passes each slot of a part has behind it."""
    return np.maximum(_visits(compiled, part, turn)[1], 0)


def _earlier(compiled: Compiled, part: SnapshotPart, turn: int) -> tuple[Ints, Ints, Ints]:
    """(slot, cycle, tick) of entities whose pass is over: those of one slot follow each other."""
    assert part.passes is not None
    passes = _passes(compiled, part, turn)
    ends = np.cumsum(passes)
    numbers = np.arange(*part.passes, dtype=np.int64)
    owner = np.searchsorted(ends, numbers, side="right")
    last = int(compiled.ticks.birth[compiled.plan.cohorts[part.cohort].program]) - 1
    return part.low + owner, numbers - (ends - passes)[owner], np.full(len(numbers), last, dtype=np.int64)
