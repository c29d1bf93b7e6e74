"""Compiles lifecycles into programs: ways, chances and repetitions are dealt to the lives of a deck."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from simulator.model import DELETE, INSERT, UPDATE
from simulator.stream.engine.decks import dealt, order
from simulator.stream.engine.program import Act, Member, Program, Step
from simulator.stream.scenario.language import tables as language
from simulator.stream.scenario.language.tables import LifecycleSpec, Statement
from simulator.values.draw import bits, key, unit

# Maximum lives of a deck, and its approximate number of steps.
LIVES: Final = 512
STEPS: Final = 2048
FEWEST: Final = 16
# Irrational numbers: their multiples modulo 1 spread evenly.
GOLDEN_MEAN: Final = (5**0.5 - 1) / 2
SILVER_MEAN: Final = 2**0.5 - 1


def program_of(name: str, life: LifecycleSpec, fields: Mapping[str, Sequence[str]], seed: int) -> Program:
    """A lifecycle's program; `fields[table]` are its columns."""
    members: dict[str, Member] = {}
    for path, step in life.walk():
        for statement in step.do:
            if statement.insert:
                permanent = life.repeats and path == ("steps", 0)
                members[statement.insert] = _member(statement.insert, statement.rows, members, permanent)
    steps = life.steps[1:] if life.repeats else life.steps
    count, varied = 1, [m for m in members.values() if m.low < m.high and not m.permanent]
    if varied or any(_varies(step) for step in steps):
        count = max(FEWEST, min(LIVES, int(STEPS / max(1.0, _mean(steps)))))
    lives: list[list[Step]] = [[] for _ in range(count)]
    _Deal(seed, name, fields).steps(steps, ("steps",), lives)
    shuffled_lives = [_possible(lives[i], members) for i in order(count, key(seed, name, "lives"))]
    nonempty_lives = tuple(life for life in shuffled_lives if life)
    counts = {}
    for member in varied:
        evenly = member.low + dealt([1.0] * (member.high - member.low + 1), len(nonempty_lives))
        counts[member.counted_as] = evenly[order(len(nonempty_lives), key(seed, name, "rows", member.counted_as))]
    return Program(name, members, nonempty_lives, counts)


def _varies(step: language.Step) -> bool:
    return step.varies or any(_varies(inner) for way in step.either for inner in way.steps)


def _mean(steps: Sequence[language.Step]) -> float:
    """Mean number of steps of a life."""
    total = 0.0
    for step in steps:
        weights = sum(way.weight for way in step.either)
        once = 1.0 if step.do else sum(way.weight / weights * _mean(way.steps) for way in step.either)
        total += step.chance * (step.times[0] + step.times[1]) / 2 * once
    return total


def _possible(life: Sequence[Step], members: Mapping[str, Member]) -> tuple[Step, ...]:
    """The life without empty steps, and without statements on tables in which the entity has no rows at that step."""
    tables_with_rows = {table for table, member in members.items() if member.permanent}
    possible_steps = []
    for step in life:
        acts = []
        for act in step.acts:
            if act.kind is INSERT:
                tables_with_rows.add(act.table)
            if act.table in tables_with_rows:
                acts.append(act)
            if act.kind is DELETE:
                tables_with_rows.discard(act.table)
        if acts:
            possible_steps.append(Step(step.name, tuple(acts)))
    return tuple(possible_steps)


class _Deal:
    """Deals steps to lives."""

    def __init__(self, seed: int, lifecycle: str, fields: Mapping[str, Sequence[str]]) -> None:
        self.seed, self.lifecycle, self.fields = seed, lifecycle, fields

    def steps(self, steps: Sequence[language.Step], path: tuple[str | int, ...], lives: list[list[Step]]) -> None:
        for s, step in enumerate(steps):
            path_of_step = (*path, s)
            low, high = step.times
            # how often each life takes the step; 0 for lives that skip it by `chance`
            repetitions = [
                low + i for i in self._hand([1.0] * (high - low + 1), lives, GOLDEN_MEAN, *path_of_step, "times")
            ]
            if step.chance < 1:
                skips = self._hand([step.chance, 1 - step.chance], lives, SILVER_MEAN, *path_of_step, "chance")
                repetitions = [0 if skipped else n for n, skipped in zip(repetitions, skips, strict=True)]
            for time in range(high):
                taking = [life for life, n in zip(lives, repetitions, strict=True) if n > time]
                if step.do:
                    taken_step = Step(step.name, tuple(self._act(statement) for statement in step.do))
                    for life in taking:
                        life.append(taken_step)
                else:
                    ways = self._hand(
                        [way.weight for way in step.either], taking, GOLDEN_MEAN, *path_of_step, "either", time
                    )
                    for w, way in enumerate(step.either):
                        chosen = [life for life, way_of_life in zip(taking, ways, strict=True) if way_of_life == w]
                        self.steps(way.steps, (*path_of_step, "either", w, time), chosen)

    def _hand(self, weights: Sequence[float], lives: Sequence[list[Step]], mean: float, *what: object) -> list[int]:
        """The index of the weight of each life. Shares are kept, also among lives that have taken the same steps so
        far.

        Lives are sorted by the steps they have taken; multiples of an irrational number spread evenly over any range of
        them.
        """
        count = len(lives)
        if len(weights) == 1 or not count:
            return [0] * count
        salt = key(self.seed, self.lifecycle, *what)
        shuffled = order(count, salt).tolist()
        by_past = sorted(shuffled, key=lambda i: [step.name for step in lives[i]])
        fractions = np.empty(count)
        fractions[by_past] = (np.arange(count) * mean + float(unit(bits(salt, np.array([0])))[0])) % 1
        ends = np.cumsum(np.array(weights)) / sum(weights)
        hand: list[int] = np.minimum(np.searchsorted(ends, fractions, side="right"), len(weights) - 1).tolist()
        return hand

    def _act(self, statement: Statement) -> Act:
        if statement.insert:
            return Act(INSERT, statement.insert, frozenset(self.fields[statement.insert]))
        if statement.update:
            return Act(UPDATE, statement.update, frozenset(statement.set or ()))
        return Act(DELETE, statement.table)


def _member(table: str, rows: str | None, members: Mapping[str, Member], permanent: bool) -> Member:
    if rows is None:
        return Member(table, 1, 1, table, permanent)
    if rows in members:
        other = members[rows]
        return Member(table, other.low, other.high, other.counted_as, permanent)
    low, _, high = rows.partition("..")
    return Member(table, int(low), int(high or low), table, permanent)


def lengths(mean: float, lives: int) -> list[int]:
    """`lives` integers with the given mean, geometrically distributed."""
    if not mean:
        return [0] * lives
    chances = 1 - (np.arange(lives) + 0.5) / lives
    drawn = np.floor(np.log(chances) / np.log(mean / (1 + mean))).astype(int)
    # the longest life takes what is missing to the mean
    drawn[-1] += round(mean * lives) - int(drawn.sum())
    return [int(n) for n in drawn]
