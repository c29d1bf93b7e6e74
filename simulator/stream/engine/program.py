"""Lifecycles as programs: the steps of a slot in order, and how many slots run each program.

A program is a deck of lives, one after the other. Choices (ways, chances, repetitions, columns of an update) are dealt
to the lives in the scenario's shares. A slot starts at any step and repeats the program endlessly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simulator.model import DELETE, INSERT, Kind
from simulator.stream.engine.traffic.cohorts import Cohort
from simulator.stream.engine.traffic.seats import Gaps
from simulator.stream.engine.traffic.tiers import Tier
from simulator.values.draw import Ints

# (table, field, step): whether an update of the column in this step always changes its value.
Always = Callable[[str, str, str], bool]


class Act(NamedTuple):
    """A statement of a step: all of an entity's rows of one table. `sets` holds fields (base column names)."""

    kind: Kind
    table: str
    sets: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Member:
    """The rows that an entity has in a table: `low` to `high`; tables with equal `counted_as` have equally many.

    Permanent rows are born before the stream begins and never die; others belong to one life of the program.
    """

    table: str
    low: int
    high: int
    counted_as: str
    permanent: bool


class Step(NamedTuple):
    """The statements of an entity in one turn."""

    name: str
    acts: tuple[Act, ...]


@dataclass(frozen=True, eq=False)
class Program:
    """Lives of a slot, one after the other, repeated endlessly. Each is a new entity, except for permanent members."""

    lifecycle: str
    members: Mapping[str, Member]
    lives: tuple[tuple[Step, ...], ...]
    counts: Mapping[str, Ints] = field(default_factory=dict)  # by `Member.counted_as`: the number of rows in each life

    def rows(self, table: str) -> Ints:
        """Number of the entity's rows of a table in each life; -1 where permanent entities differ in it."""
        member = self.members[table]
        same = member.low if member.low == member.high else -1
        return self.counts.get(member.counted_as, np.full(len(self.lives), same, dtype=np.int64))

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        return tuple(chain.from_iterable(self.lives))

    @cached_property
    def acts(self) -> tuple[Act, ...]:
        """All statements in order; the index of one here is its tick."""
        return tuple(chain.from_iterable(step.acts for step in self.steps))

    @cached_property
    def turns(self) -> Mapping[Step, int]:
        """Distinct steps, and how often each occurs. Thousands of steps have few distinct ones."""
        return Counter(self.steps)

    @cached_property
    def distinct_acts(self) -> tuple[Act, ...]:
        """Each different statement once."""
        return tuple(dict.fromkeys(act for step in self.turns for act in step.acts))

    def by_tick(self, of_act: Iterable[int]) -> Ints:
        """The number of each tick's statement; `of_act` has one for each distinct statement."""
        return np.array(list(of_act), dtype=np.int64)[self._act_numbers]

    @cached_property
    def _act_numbers(self) -> Ints:
        numbers = {act: number for number, act in enumerate(self.distinct_acts)}
        return np.array([numbers[act] for act in self.acts], dtype=np.int64)

    @cached_property
    def longest(self) -> int:
        """Steps of the longest life."""
        return max(map(len, self.lives))

    @cached_property
    def last_steps(self) -> Ints:
        """The last step of each life."""
        return np.cumsum(list(map(len, self.lives))) - 1

    @cached_property
    def last_ticks(self) -> Ints:
        """The last tick of each step."""
        return np.cumsum([len(step.acts) for step in self.steps]) - 1

    @cached_property
    def first_tick_of_life(self) -> Ints:
        """The first tick of each tick's life."""
        ends = self.last_ticks[self.last_steps] + 1
        ticks = np.diff(ends, prepend=0)
        return np.repeat(ends - ticks, ticks)

    def last_where(self, table: str, *kinds: Kind) -> Ints:
        """The last tick up to each one, in its life, that is a statement of these kinds on a table; or -1."""
        matching = self.by_tick(act.table == table and act.kind in kinds for act in self.distinct_acts)
        last = np.maximum.accumulate(np.where(matching, np.arange(len(matching)), -1))
        return np.where(last >= self.first_tick_of_life, last, -1)

    @cached_property
    def has_rows(self) -> Mapping[str, npt.NDArray[np.bool_]]:
        """Masks by table: whether the entity has rows in it after each tick; last element: before the first."""
        return {table: self._has_rows(table) for table in self.members}

    def _has_rows(self, table: str) -> npt.NDArray[np.bool_]:
        permanent = self.members[table].permanent
        inserted, deleted = self.last_where(table, INSERT), self.last_where(table, DELETE)
        return np.append(np.where(inserted == deleted, permanent, inserted > deleted), permanent)

    def share_alive(self, table: str) -> float:
        """Share of the slots that hold a row of a living entity, if slots are spread evenly over the steps."""
        if self.members[table].permanent:
            return 1.0
        # after the last statement of each step; after a life's last step the slot has no entity
        alive = np.delete(self.has_rows[table][self.last_ticks], self.last_steps)
        return int(alive.sum()) / len(self.steps)

    @cached_property
    def leaves_rows(self) -> Mapping[str, npt.NDArray[np.bool_]]:
        """Masks by table: whether the entity's rows in it remain after each life."""
        ends = self.last_ticks[self.last_steps]
        return {
            table: self.last_where(table, INSERT)[ends] > self.last_where(table, DELETE)[ends] for table in self.members
        }


@dataclass(frozen=True)
class Share:
    """A program for about as many slots as a tier has."""

    program: Program
    tier: Tier
    gaps: Gaps


@dataclass(frozen=True)
class Plan:
    """All programs, and the cohorts of slots that run them."""

    programs: tuple[Program, ...]
    cohorts: tuple[Cohort, ...]
