"""Lifecycles as programs: what a slot does, step after step, and how the slots are shared out to programs.

A program is a deck of lives, one after the other: what differs from life to life (ways, chances, how often, columns of
an update) is dealt to them in the shares that the scenario asks for. A slot begins anywhere in it and goes on for
ever.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simulator.model import INSERT, UPDATE, Kind
from simulator.stream.engine.traffic import Cohort, Gaps
from simulator.values.draw import Ints

# (table, field, step): an update of that column in that step never gives the value it had.
Always = Callable[[str, str, str], bool]


class Act(NamedTuple):
    """A statement of a step: all of an entity's rows of one table. `sets` holds fields (base column names)."""

    kind: Kind
    table: str
    sets: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Member:
    """The rows that an entity has in a table: `low` to `high` of them, drawn with the key `counted_as`.

    Permanent rows are born before the stream begins and never die; others belong to one life of the program.
    """

    table: str
    low: int
    high: int
    counted_as: str
    permanent: bool


class Step(NamedTuple):
    """What an entity does in one turn."""

    name: str
    acts: tuple[Act, ...]


@dataclass(frozen=True, eq=False)
class Program:
    """Lives that a slot lives one after the other, for ever. Each is a new entity, but for permanent members."""

    lifecycle: str
    members: Mapping[str, Member]
    lives: tuple[tuple[Step, ...], ...]

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        return tuple(step for life in self.lives for step in life)

    @cached_property
    def acts(self) -> tuple[Act, ...]:
        """All statements in order; the index of one here is its tick."""
        return tuple(act for step in self.steps for act in step.acts)

    @cached_property
    def turns(self) -> tuple[tuple[Act, ...], ...]:
        """What may happen in one turn: each different step once."""
        return tuple(dict.fromkeys(step.acts for step in self.steps))

    @cached_property
    def longest(self) -> int:
        """Steps of the longest life."""
        return max(len(life) for life in self.lives)

    @cached_property
    def has_rows(self) -> Mapping[str, npt.NDArray[np.bool_]]:
        """By table: for each tick whether the entity has rows in it after it; and one more, before its first tick."""
        return {table: self._has_rows(table) for table in self.members}

    def _has_rows(self, table: str) -> npt.NDArray[np.bool_]:
        permanent = self.members[table].permanent
        after = []
        for life in self.lives:
            alive = permanent
            for step in life:
                for act in step.acts:
                    if act.table == table and act.kind is not UPDATE:
                        alive = act.kind is INSERT
                    after.append(alive)
        return np.array([*after, permanent])

    def share_alive(self, table: str) -> float:
        """How many of its slots hold a row of an entity that still lives, where each stands anywhere."""
        if self.members[table].permanent:
            return 1.0
        after = iter(self.has_rows[table].tolist())
        alive = 0
        for life in self.lives:
            # by the last statement of each step; behind the last step the slot waits for the next entity
            alive += sum([[next(after) for _ in step.acts][-1] for step in life][:-1])
        return alive / len(self.steps)

    @cached_property
    def leaves_rows(self) -> Mapping[str, npt.NDArray[np.bool_]]:
        """By table: for each life whether its entity's rows in it stay behind."""
        return {table: np.array([_ends_with(life, table) for life in self.lives]) for table in self.members}

    @cached_property
    def last_ticks(self) -> Ints:
        """The last tick of each step."""
        return np.cumsum([len(step.acts) for step in self.steps]) - 1


def _ends_with(life: tuple[Step, ...], table: str) -> bool:
    kinds = [act.kind for step in life for act in step.acts if act.table == table and act.kind is not UPDATE]
    return bool(kinds) and kinds[-1] is INSERT


@dataclass(frozen=True)
class Share:
    """Slots that run a program: about `slots` of them, each with `weight` as its share of the turns."""

    program: Program
    slots: int
    weight: float
    gaps: Gaps


@dataclass(frozen=True)
class Plan:
    """All programs, and the cohorts of slots that run them."""

    programs: tuple[Program, ...]
    cohorts: tuple[Cohort, ...]
