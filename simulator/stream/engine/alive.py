"""The rows alive before a turn, in closed form: no change is replayed.

The structure alone cuts them into parts, which can be counted and drawn without the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from simulator.stream.engine.block import SnapshotPart
from simulator.stream.engine.compiled import Compiled
from simulator.stream.engine.history import EntityRows, State
from simulator.stream.engine.program import Member, Program
from simulator.values.draw import Ints

# Size of a part: slots, or earlier passes of slots.
CHUNK: Final = 32_768


def parts(compiled: Compiled, turn: int) -> Iterator[SnapshotPart]:
    """Parts of all rows alive before a turn, table by table. A part may have no row."""
    for table, name in enumerate(compiled.names):
        for c, cohort in enumerate(compiled.plan.cohorts):
            program = compiled.plan.programs[cohort.program]
            member = program.members.get(name)
            if member is None:
                continue
            for low in range(cohort.base, cohort.base + cohort.count, CHUNK):
                part = SnapshotPart(table, c, low, min(low + CHUNK, cohort.base + cohort.count))
                if not member.permanent and program.leaves_rows[name].any():
                    # rows of earlier lives remain
                    lives = int(_lives(compiled, part, turn).sum())
                    for first in range(0, lives, CHUNK):
                        yield SnapshotPart(table, c, part.low, part.high, (first, min(first + CHUNK, lives)))
                yield part


def fixed_count(compiled: Compiled, part: SnapshotPart) -> int | None:
    """The number of rows of a part; None where its slots must be examined to count them."""
    program, member = _program_and_member(compiled, part)
    if member.low == member.high and part.passes is not None and program.leaves_rows[member.table].all():
        return (part.passes[1] - part.passes[0]) * member.low
    if member.low == member.high and member.permanent:
        return (part.high - part.low) * member.low
    return None


def states(compiled: Compiled, part: SnapshotPart, turn: int) -> State:
    """The rows of a part, each as it was last changed."""
    _, member = _program_and_member(compiled, part)
    slot, cycle, tick = (
        _departed_entities(compiled, part, turn) if part.passes else _current_entities(compiled, part, turn)
    )
    cohort = np.full(len(slot), part.cohort, dtype=np.int64)
    counts = compiled.ticks.row_count(member.table, slot, tick)
    return EntityRows(State(compiled.ticks, member.table, cohort=cohort, slot=slot, cycle=cycle, tick=tick, row=counts))


def _program_and_member(compiled: Compiled, part: SnapshotPart) -> tuple[Program, Member]:
    program = compiled.plan.programs[compiled.plan.cohorts[part.cohort].program]
    return program, program.members[compiled.names[part.table]]


def _visits(compiled: Compiled, part: SnapshotPart, turn: int) -> tuple[Ints, Ints, Ints, Ints]:
    """(slot, cycle, tick, life) of the last statement of each slot of a part before a turn."""
    slot = np.arange(part.low, part.high, dtype=np.int64)
    cohort = np.full(len(slot), part.cohort, dtype=np.int64)
    cycle, step = compiled.ticks.cycle_and_step(cohort, compiled.traffic.places(part.cohort, slot, turn) - 1)
    tick = compiled.last_tick[compiled.step_first[compiled.plan.cohorts[part.cohort].program] + step]
    return slot, cycle, tick, compiled.ticks.life(cohort, slot, cycle, tick)


def _current_entities(compiled: Compiled, part: SnapshotPart, turn: int) -> tuple[Ints, Ints, Ints]:
    """(slot, cycle, tick) of the entities that have rows in the current life of their slots."""
    program, member = _program_and_member(compiled, part)
    number = compiled.plan.cohorts[part.cohort].program
    slot, cycle, tick, life = _visits(compiled, part, turn)
    if member.permanent:
        return slot, cycle, np.where(cycle < 0, compiled.ticks.birth[number], tick)
    has_rows = program.has_rows[member.table]
    has_rows_now = (life >= 0) & has_rows[tick - compiled.ticks.first[number]]
    return slot[has_rows_now], cycle[has_rows_now], tick[has_rows_now]


def _lives(compiled: Compiled, part: SnapshotPart, turn: int) -> Ints:
    """The number of completed lives of each slot of a part."""
    return np.maximum(_visits(compiled, part, turn)[3], 0)


def _departed_entities(compiled: Compiled, part: SnapshotPart, turn: int) -> tuple[Ints, Ints, Ints]:
    """(slot, cycle, tick) of entities whose life is over and whose rows remain; those of a slot are adjacent."""
    assert part.passes is not None
    program, member = _program_and_member(compiled, part)
    number = compiled.plan.cohorts[part.cohort].program
    lives = _lives(compiled, part, turn)
    ends = np.cumsum(lives)
    numbers = np.arange(*part.passes, dtype=np.int64)
    owner = np.searchsorted(ends, numbers, side="right")
    slot = part.low + owner
    first = compiled.ticks.first_life(np.full(len(slot), part.cohort, dtype=np.int64), slot)
    cycle, life = np.divmod(numbers - (ends - lives)[owner] + first, len(program.lives))
    tick = compiled.last_tick[compiled.step_first[number] + program.last_steps[life]]
    stays = np.flatnonzero(program.leaves_rows[member.table][life])
    return slot[stays], cycle[stays], tick[stays]
