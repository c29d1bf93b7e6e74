"""A compiled scenario: programs, table versions, columns, and precomputed tables for reading turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil
from typing import Final

import numpy as np
import pyarrow as pa

from simulator.model import ColumnType, Table
from simulator.order import BEFORE_ROWS
from simulator.sources.source import Source
from simulator.stream.engine.arrivals import Arrivals
from simulator.stream.engine.block import FARTHEST
from simulator.stream.engine.history import State, Ticks
from simulator.stream.engine.plan import plan
from simulator.stream.engine.program import Plan
from simulator.stream.engine.sizes import COLUMN_BYTES, sizes
from simulator.stream.engine.timeline import Timeline
from simulator.stream.engine.traffic.traffic import Traffic
from simulator.stream.generators.columns import Columns, CompiledColumn
from simulator.stream.generators.computed.sequence import Numbers, row_numbers
from simulator.stream.generators.keys import KeyColumn
from simulator.stream.scenario.language import Surge
from simulator.stream.scenario.scenario import Change, Field, Scenario
from simulator.values.draw import Ints

# Sentinel turn: before any turn.
ALWAYS: Final = -(1 << 62)
# 9999-12-31T00:00:00Z
LAST_MS: Final = 253_402_214_400_000
# Maximum heartbeats between two transactions.
MOST_HEARTBEATS: Final = 1000


@dataclass(frozen=True)
class Version:
    """A table version, with the turn from which it holds."""

    since: int
    table: Table
    columns: tuple[CompiledColumn | KeyColumn, ...]


class Compiled:
    """Everything about a scenario that does not depend on the turn. Raises ScenarioError.

    `heartbeat_ms`: interval of heartbeats where the scenario sets none; longer where there would be too many.
    """

    def __init__(self, scenario: Scenario, heartbeat_ms: int | None = None) -> None:
        spec = scenario.spec
        self.scenario, self.source, self.seed = scenario, scenario.source, scenario.seed
        self.names = list(spec.tables)
        arrivals = Arrivals(
            seed=self.seed,
            start_us=spec.start * 1000,
            rate=spec.rate,
            gaps=spec.arrivals,
            hours=spec.curve.hours,
            days=spec.curve.days,
        )
        self.timeline = Timeline(
            spec.transactions, arrivals, seed=self.seed, start_ms=spec.start, durations=spec.durations
        )
        self.timeline.heartbeat_ms = self._heartbeat_ms(heartbeat_ms)
        changes = [(self.timeline.border(change.at), change) for change in scenario.changes]
        fields = {
            name: {key: self._dated(field) for key, field in columns.items()}
            for name, columns in scenario.fields.items()
        }
        always = _Always(self, fields)
        self.plan = plan(scenario, {name: list(fields[name]) for name in self.names}, always)
        self.traffic = Traffic(self.plan.cohorts, self.seed, [self._turns_of(surge) for surge in spec.surges])
        self.ticks = Ticks(self.plan, self.traffic, self.seed)
        self.drawn = self.columns(fields, self.ticks, self.traffic)
        self._row_numbers: dict[str, Numbers] = {}
        self.versions = self._versions(self.drawn, changes)
        self.ddl = [(border, change.applied) for border, change in changes if change.applied.sql]
        self.ddl_turns: Ints = np.array([border for border, _ in self.ddl], dtype=np.int64)
        self._lay_out_steps()
        self._number()
        self._measure()

    def row_numbers(self, state: State) -> Ints:
        """The permanent number of each row of a table."""
        if state.table not in self._row_numbers:
            self._row_numbers[state.table] = row_numbers(self.drawn, state.table)
        return self._row_numbers[state.table].numbers(state)

    def _heartbeat_ms(self, otherwise: int | None) -> int | None:
        """Interval of heartbeats. Raises ScenarioError if more than MOST_HEARTBEATS could occur between two
        transactions.
        """
        heartbeat = self.scenario.spec.heartbeat
        longest_ms = self.timeline.arrivals.longest_us(self.timeline.largest + 1) / 1000
        if heartbeat is None:
            return otherwise and max(otherwise, 1000 * ceil(longest_ms / MOST_HEARTBEATS / 1000))
        if longest_ms / heartbeat > MOST_HEARTBEATS:
            self.scenario.fail(
                ("heartbeat",),
                f"at this rate up to {longest_ms / heartbeat:.0f} heartbeats would come between two transactions, "
                f"more than {MOST_HEARTBEATS}; take a longer time, or a higher rate",
            )
        return heartbeat

    def _turns_of(self, surge: Surge) -> tuple[int, int]:
        """The turns of a surge; an empty range if it ends before the stream begins."""
        arrivals, (unit, first), (lasting, long) = self.timeline.arrivals, surge.at, surge.lasts
        begins_us = first * 1000
        if unit == "ms":
            first = arrivals.turn_near(begins_us)
        elif lasting == "ms":
            begins_us = int(arrivals.us(np.array([first], dtype=np.int64))[0])
        stop = first + long if lasting == "turns" else max(first + 1, arrivals.turn_near(begins_us + long * 1000))
        return max(first, 0), max(stop, 0)

    def columns(self, fields: Mapping[str, Mapping[str, Field]], ticks: Ticks, traffic: Traffic) -> Columns:
        return Columns(self.scenario, fields, ticks, traffic, self.timeline)

    def _dated(self, field: Field) -> Field:
        """The field with the transaction borders at which it is added and dropped."""
        since, until = (None if turn is None else self.timeline.border(turn) for turn in (field.since, field.until))
        return replace(field, since=since, until=until)

    def _versions(self, columns: Columns, changes: Sequence[tuple[int, Change]]) -> dict[str, list[Version]]:
        """The versions of each table, first to last."""

        def version(since: int, name: str, table: Table) -> Version:
            return Version(since, table, tuple(columns.column_or_key(name, column) for column in table.columns))

        first = zip(self.names, self.scenario.first_tables, strict=True)
        versions_by_table = {name: [version(ALWAYS, name, table)] for name, table in first}
        for border, change in changes:
            versions_by_table[change.table].append(version(border, change.table, change.after))
        return versions_by_table

    def _lay_out_steps(self) -> None:
        """Builds arrays over steps (of all programs, on one axis) and ticks: statements, tables, row counts."""
        programs = self.plan.programs
        self.step_first: Ints = np.cumsum([0, *(len(p.steps) for p in programs)]).astype(np.int64)
        steps = int(self.step_first[-1])
        widest = max(len(step.acts) for program in programs for step in program.turns)
        self.statements = np.full((widest, steps), -1, dtype=np.int64)  # ticks, -1 where a step has fewer
        self.last_tick: Ints = np.empty(steps, dtype=np.int64)
        self.group = np.full(self.ticks.total, -1, dtype=np.int64)  # table · 4 + kind
        self.rows = np.zeros(self.ticks.total, dtype=np.int64)  # -1: permanent entities differ in their number of rows
        numbers = {name: number for number, name in enumerate(self.names)}
        for p, program in enumerate(programs):
            tick = int(self.ticks.first[p])
            acts = program.distinct_acts
            program_ticks = slice(tick, tick + len(program.acts))
            self.group[program_ticks] = program.by_tick(numbers[act.table] * 4 + act.kind for act in acts)
            for table in program.members:
                table_ticks = tick + np.flatnonzero(program.by_tick(act.table == table for act in acts))
                self.rows[table_ticks] = self.ticks.rows(table)[table_ticks - self.ticks.span(table).start]
            ends = tick + program.last_ticks + 1
            sizes = np.diff(ends, prepend=tick)
            steps_here = slice(self.step_first[p], self.step_first[p + 1])
            self.last_tick[steps_here] = ends - 1
            for j in range(int(sizes.max())):
                self.statements[j, steps_here] = np.where(j < sizes, ends - sizes + j, -1)

    def _number(self) -> None:
        """Sets the first transaction number and offset, their distance between turns, and the last turn that fits."""
        programs = self.plan.programs
        fullest = max(sum(p.members[act.table].high for act in step.acts) for p in programs for step in p.turns)
        self.stride = 2 * (fullest + 1) + 2 * BEFORE_ROWS  # + 1: a COMMIT comes after the last change
        # Numbers within a second count rows and statements; an update may become two changes.
        self.statements_a_turn = max(Counter(turn for turn, _ in self.ddl).values(), default=0)
        self.second_stride = self.statements_a_turn + 2 * fullest
        alive = sum(c.count * member.high for c in self.plan.cohorts for member in programs[c.program].members.values())
        # The numbers of a snapshot must fit below the first number of the stream.
        self.first_txn = 10 ** len(str(alive + 1))
        self.first_offset = self.first_txn * self.stride
        keys = (
            (
                column.generator.last_turn(highest(self.source, column.field.type)),
                f"the key {name}.{column.field.name} is full",
            )
            for name, versions in self.versions.items()
            for column in versions[0].columns
            if isinstance(column, CompiledColumn)
            and isinstance(column.generator, Numbers)
            and not pa.types.is_string(column.arrow)
        )
        arrivals = self.timeline.arrivals
        last_commit = arrivals.turn_near(LAST_MS * 1000) - self.timeline.largest - 2
        last_offset = ((1 << 62) - self.first_offset) // self.stride
        self.last_turn, self.last_reason = min(
            *keys,
            (last_commit, "commit times pass the year 9999"),
            (min(last_offset, FARTHEST), "numbers computed from turns are full"),
        )

    def _measure(self) -> None:
        """Rejects values so large that a transaction does not fit a block."""
        versions = {
            name: [(version.table, version.columns) for version in held] for name, held in self.versions.items()
        }
        self.sizes = sizes(self.plan, versions)
        peak, turns = self.sizes.peak, self.timeline.largest
        if peak.bytes * turns > COLUMN_BYTES:
            field = self.scenario.fields[peak.table].get(peak.field)
            self.scenario.fail(
                ("tables", peak.table) if field is None else field.path,
                f"{peak.rows * turns:,} values of {peak.value_bytes:,} bytes may be in one transaction, and a block "
                f"holds at most {COLUMN_BYTES >> 20} MiB of a column; shorten the values or the transactions",
            )


@lru_cache(maxsize=4)
def compiled(scenario: Scenario, heartbeat_ms: int | None = None) -> Compiled:
    """The compiled scenario, cached: comparisons, tests and Spark's workers open one many times."""
    return Compiled(scenario, heartbeat_ms)


class _Always:
    """Whether setting a field in a step always changes its value. The generators know; they are asked before there is a
    plan, so their columns have no programs yet.
    """

    def __init__(self, compiled: Compiled, fields: Mapping[str, Mapping[str, Field]]) -> None:
        traffic = Traffic((), compiled.seed)
        self._lifecycles = compiled.scenario.spec.lifecycles.values()
        self._fields = fields
        self.drawn = compiled.columns(fields, Ticks(Plan((), ()), traffic, compiled.seed), traffic)

    def __call__(self, table: str, name: str, step: str) -> bool:
        field = self._fields[table][name]
        if field.since is not None or field.until is not None:
            return False
        steps = [s for life in self._lifecycles for _, s in life.walk() if s.name == step]
        values = field.spec.values
        if values.kind == "states" and (step not in values.arguments or any(s.times[1] > 1 for s in steps)):
            return False
        if values.kind == "of" and values.arguments.via is None:
            # a copy changes when its original is set in the same step
            parent, key = values.arguments.table, values.arguments.name
            follows = any(s.update == parent and key in (s.set or ()) for taken_step in steps for s in taken_step.do)
            return not field.spec.nulls and follows and self(parent, key, step)
        return self.drawn.column(table, name).always


_HIGHEST: Final = sorted(
    (*(2**bits - 1 for bits in range(3, 65)), *(10**digits - 1 for digits in range(1, 20))), reverse=True
)


def highest(source: Source, type: ColumnType) -> int:
    """The highest integer that a column accepts, found by asking the type system about the limits of integer types."""

    def takes(number: int) -> bool:
        try:
            source.parse_values([str(number)], type)
        except ValueError:
            return False
        return True

    return next(filter(takes, _HIGHEST), 0)
