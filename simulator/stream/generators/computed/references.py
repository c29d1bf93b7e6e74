"""`references`: the key of a row of another table that lives as long as it is referred to."""

from __future__ import annotations

from math import prod
from typing import Annotated, Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import BeforeValidator, Field

from simulator.stream.engine.history import State
from simulator.stream.generators.arrays import with_nulls
from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator
from simulator.stream.generators.index import draws
from simulator.stream.generators.living import TRIES, Deaths, LivingRows, Mask
from simulator.stream.generators.permanent import MOST_IN_TABLE
from simulator.stream.generators.shuffle import Shuffle
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.stream.scenario.language.words import WORD, Name, Share, Strict
from simulator.values.draw import GOLDEN, Bits, Ints, below, mix, unit

# Salt of the draws that replace a row equal to that of `distinct_from`.
Floats = npt.NDArray[np.float64]

OTHERWISE: Final = np.uint64(0xD157)


class Reference(Strict):
    """The key of a row of another table."""

    table: Name
    skew: Annotated[
        float, Field(ge=1, le=20, description="1 picks evenly; more picks some of the permanent rows more often.")
    ] = 1
    recent: Annotated[Share, Field(description="Share of the references that are to the newest rows.")] = 0
    distinct_from: Annotated[
        Name | None,
        Field(
            description="Another reference to the same table, never to the same row; its own: that of the line before."
        ),
    ] = None


class References(Draws):
    """Keys of permanent rows, or of rows that exist before the turn and outlive the referring row."""

    def __init__(self, target: Target, reference: Reference) -> None:
        self.table, self.skew, self.recent = reference.table, reference.skew, reference.recent
        (key,) = target.scenario.spec.tables[self.table].key
        self.column = target.columns.column(self.table, key)
        self.most_bytes = self.column.most_bytes
        self.permanent = target.columns.permanent(self.table)
        self.living = LivingRows(target.columns, self.table)
        self.deaths = Deaths(target.columns, target.field.table)
        self.pairs = target.columns.pairs(target.field)
        self.own, self.name = target.field.table, target.field.name
        self.other: References | None = None
        if reference.distinct_from is not None:
            own = reference.distinct_from == target.field.name
            excluded = self if own else target.columns.column(self.own, reference.distinct_from).generator
            assert isinstance(excluded, References)
            self.other = excluded
            if self.permanent.rows == 1 and not target.field.column.nullable:
                target.scenario.fail(target.field.path, f"{self.table} has one permanent row, and this needs another")
        self.history, self.salt = target.history, target.salt
        # maps popularity ranks to rows, so that the popular ones are scattered
        self.preferred = Shuffle(max(self.permanent.rows, 1), target.salt)
        self._by_rank: Ints | None = None

    def array(self, state: State) -> pa.Array:
        rows, missing = self.rows(state)
        return with_nulls(self.column.array(rows), missing)

    def rows(self, state: State) -> tuple[State, Mask]:
        """The referenced rows, as they were when they were picked, and a mask of rows without a reference."""
        if self not in state.kept:
            state.kept[self] = self._rows(state)
        rows: tuple[State, Mask] = state.kept[self]
        return rows

    def _rows(self, state: State) -> tuple[State, Mask]:
        if self.pairs is not None:
            picked = self._born(self.pairs.numbers(self.name, state))
            return picked, np.zeros(len(state), dtype=bool)
        drawn = draws(state, self.history, self.salt)
        rows, missing = self._drawn(drawn, state)
        if self.other is None:
            return rows, missing
        excluded_rows, without_exclusion = self._excluded(state)
        for _ in range(TRIES):
            same = np.flatnonzero((rows.identity == excluded_rows.identity) & ~without_exclusion & ~missing)
            if not len(same):
                return rows, missing
            drawn[same] = mix(drawn[same] + OTHERWISE)
            again, gone = self._drawn(drawn[same], state.take(same))
            rows.replace(same, again)
            missing[same] = gone
        same = np.flatnonzero((rows.identity == excluded_rows.identity) & ~without_exclusion & ~missing)
        permanent = same[rows.cycle[same] < 0] if self.permanent.rows > 1 else same[:0]
        missing[same] = True
        if len(permanent):  # take the next permanent row
            number = self.permanent.number(rows.cohort[permanent], rows.slot[permanent], rows.row[permanent])
            following = self._born((number + 1) % self.permanent.rows)
            rows.replace(permanent, following)
            missing[permanent] = False
        return rows, missing

    def _excluded(self, state: State) -> tuple[State, Mask]:
        """The rows that each reference must differ from, and a mask of references without such a row."""
        assert self.other is not None
        current = state.at(self.own, state.written(self.history), state.row)
        if self.other is not self:
            return self.other.rows(current)
        # the previous row of the same entity, whose own choice depends on the one before it
        later = np.flatnonzero(state.row > 0)
        without_exclusion = np.ones(len(state), dtype=bool)
        excluded_rows = self._permanent(np.zeros(len(state), dtype=np.uint64))
        if len(later):
            before = current.take(later)
            before = before.at(self.own, before.written(self.history), before.row - 1)
            rows, without_exclusion[later] = self.rows(before)
            excluded_rows.replace(later, rows)
        return excluded_rows, without_exclusion

    def _born(self, numbers: Ints) -> State:
        """Permanent rows by their numbers, in their initial state."""
        ticks = self.living.ticks
        cohort, slot, row, names = self.permanent.identified(numbers)
        cycle, tick = np.full(len(slot), -1, dtype=np.int64), ticks.birth[ticks.cohort_program[cohort]]
        born = State(ticks, self.table, cohort=cohort, slot=slot, cycle=cycle, tick=tick, row=row)
        born.identity = names
        return born

    def _drawn(self, drawn: Bits, state: State) -> tuple[State, Mask]:
        """A referenced row for each draw, and a mask of draws that found none."""
        rows = self._permanent(drawn)
        missing = np.zeros(len(rows), dtype=bool)
        if self.living.cohorts:
            turns = state.turns(self.history)
            groups, whose = self._groups(drawn, turns), (state.cohort, state.slot, state.cycle, state.tick)
            missing[:] = not self.permanent.rows
            for group, number in enumerate(self.living.cohorts):
                open_rows = np.flatnonzero(groups == group)
                tried, until = drawn[open_rows], self.deaths(*(x[open_rows] for x in whose))
                for _ in range(TRIES):
                    if not len(open_rows):
                        break
                    tried = mix(tried + GOLDEN)
                    picked, is_alive = self.living.pick(number, tried, turns[open_rows], until, self.recent)
                    rows.replace(open_rows[is_alive], picked.take(np.flatnonzero(is_alive)))
                    missing[open_rows[is_alive]] = False
                    open_rows, tried, until = open_rows[~is_alive], tried[~is_alive], until[~is_alive]
        return rows, missing

    def _permanent(self, drawn: Bits) -> State:
        """Permanent rows for draws; arbitrary states if there are no permanent rows."""
        rows = self.permanent.rows
        if not rows:
            ticks, zeros = self.living.ticks, np.zeros(len(drawn), dtype=np.int64)
            cohort = zeros + self.living.cohorts[0]
            slot = zeros + ticks.plan.cohorts[self.living.cohorts[0]].base
            birth = ticks.birth[ticks.cohort_program[cohort]]
            return State(ticks, self.table, cohort=cohort, slot=slot, cycle=zeros - 1, tick=birth, row=zeros)
        if self.skew == 1:
            return self._born(below(drawn, rows))
        rank = np.minimum((self._power(unit(drawn)) * rows).astype(np.int64), rows - 1)
        return self._born(self._preferred(rank))

    def _preferred(self, rank: Ints) -> Ints:
        """Numbers of permanent rows, by rank of popularity."""
        if self.permanent.rows > MOST_IN_TABLE:
            return self.preferred.forward(rank)
        if self._by_rank is None:
            self._by_rank = self.preferred.forward(np.arange(self.permanent.rows, dtype=np.int64))
        numbers: Ints = self._by_rank[rank]
        return numbers

    def _power(self, fractions: Floats) -> Floats:
        """Fractions moved towards 0 by the skew; integer powers are computed as products, which are many
        times as fast.
        """
        exponent = int(self.skew)
        if exponent != self.skew or exponent > 8:
            moved: Floats = fractions**self.skew
            return moved
        return prod((fractions,) * exponent)  # type: ignore[return-value]

    def _groups(self, drawn: Bits, turns: Ints) -> Ints:
        """The cohort of living rows to pick from, -1 for permanent rows; in proportion to their numbers of rows."""
        ends = np.cumsum(self.living.rows(turns), axis=0)
        fresh_bits = mix(drawn ^ GOLDEN)
        newest = unit(mix(fresh_bits)) < self.recent
        permanent = np.where(newest, 0, self.permanent.rows)
        drawn_row = unit(fresh_bits) * (permanent + ends[-1]) - permanent
        return np.where(drawn_row < 0, -1, np.minimum((drawn_row >= ends).sum(axis=0), len(ends) - 1))


def _word(data: Any) -> Any:
    return {"table": data} if isinstance(data, str) else data


def check(check: ColumnCheck, reference: Reference) -> None:
    table = reference.table
    if table not in check.fields:
        check.unknown("table", table, check.fields, "table")
    spec = check.spec.tables[table]
    if len(spec.key) != 1:
        check.fail(f"{table} has no key of a single column to refer to", "table")
    home = check.homes[table]
    if not home.permanent and not check.field.column.nullable:
        check.fail(
            f"{table} has no permanent rows, so there may be none to refer to: leave out `nullable: no`, or insert "
            f"{table} in the first step of a lifecycle that repeats",
            "table",
        )
    if spec.key_updates or any(spec.key[0] in columns for _, _, columns in home.updates):
        check.fail(f"the key of {table} changes, so nothing can refer to it", "table")
    check.reads(table, spec.key[0])
    check.fits(check.fields[table][spec.key[0]])
    if reference.distinct_from is not None:
        _check_distinct(check, reference, reference.distinct_from)


def _check_distinct(check: ColumnCheck, reference: Reference, name: str) -> None:
    """Fails unless the other column references the same table and is set whenever this one is."""
    table, own = check.field.table, check.field.name
    columns = check.fields[table]
    if name not in columns:
        check.unknown(f"column of {table}", name, columns, "distinct_from")
    values = columns[name].spec.values
    if values.kind != "references" or values.arguments.table != reference.table:
        check.fail(f"{name} is not a reference to {reference.table}", "distinct_from")
    home = check.home
    changes = any(columns[column].spec.changes for column in (name, own))
    if home.lifecycle is None and check.spec.tables[table].mix.update and changes:
        check.fail(f"an update might set {name} alone: write `changes: no` for both", "distinct_from")
    for step, _, sets in home.updates:
        if name in sets and own not in sets:
            check.fail(f"step {step!r} sets {name} alone: let it set {own}, too", "distinct_from")
    if name != own:
        check.reads(table, name)


def draw(target: Target, reference: Reference) -> Draws:
    return References(target, reference)


GENERATOR = Generator(
    name="references",
    doc="the key of a row of another `table` (or its name alone) that is there by then and is deleted only after this "
    "row; `skew` above 1 picks some permanent rows more often, `recent` is the share that are to the newest rows; "
    "`distinct_from` another reference of this row, to whose row this one never leads; or this one itself: lines of an "
    "entity that follow each other never lead to the same row",
    example="{type: int64, values: {references: {table: products, skew: 2}}}",
    arguments=Annotated[Reference, BeforeValidator(_word), WORD],
    check=check,
    draw=draw,
)
