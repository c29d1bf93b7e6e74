"""Lifecycles as programs: what a slot does, step after step, and how the slots are shared out to programs.

The short form of a table (`rows`, `mix` …) becomes lifecycles too: immortal rows that are updated for ever, full lives
of insert, k updates, delete, and slots that only insert.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from simulator.model import DELETE, INSERT, UPDATE, Kind
from simulator.stream.engine.slots import Cohort
from simulator.stream.scenario.language import ScenarioSpec
from simulator.stream.scenario.language.tables import Hot, LifecycleSpec, TableSpec
from simulator.stream.scenario.loader import Loaded

# (table, field, step): an update of that column in that step never gives the value it had.
Always = Callable[[str, str, str], bool]


@dataclass(frozen=True)
class Act:
    """A statement of a step: all of an entity's rows of one table. `sets` holds fields (base column names)."""

    kind: Kind
    table: str
    sets: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Member:
    """The rows that an entity has in a table: `low` to `high` of them, drawn with the key `counted_as`.

    Permanent rows are born before the stream begins and never die; others belong to one pass through the program.
    """

    table: str
    low: int
    high: int
    counted_as: str
    permanent: bool


@dataclass(frozen=True)
class Program:
    """Steps that a slot takes one after the other, for ever. Each pass is a new entity, but for permanent members."""

    lifecycle: str
    steps: tuple[tuple[Act, ...], ...]
    names: tuple[str, ...]
    members: Mapping[str, Member]

    @property
    def acts(self) -> tuple[Act, ...]:
        """All statements in order; the index of one here is its tick."""
        return tuple(act for step in self.steps for act in step)

    def deletes(self, table: str) -> bool:
        """Whether an entity's rows in a table are deleted."""
        return any(act.kind is DELETE and act.table == table for act in self.acts)

    def has_rows(self, table: str) -> list[bool]:
        """For each tick whether the entity has rows in a table after it."""
        alive = self.members[table].permanent
        after = []
        for act in self.acts:
            if act.table == table and act.kind is not UPDATE:
                alive = act.kind is INSERT
            after.append(alive)
        return after


@dataclass(frozen=True)
class Plan:
    """All programs, the cohorts of slots that run them, and each lifecycle's slots [first, first + count)."""

    programs: tuple[Program, ...]
    cohorts: tuple[Cohort, ...]


def plan(loaded: Loaded, fields: Mapping[str, Sequence[str]], always: Always) -> Plan:
    """Compile a scenario's lifecycles. `fields[table]` are its columns."""
    spec = loaded.spec
    shares: list[tuple[Program, int, int]] = []  # program, tier, slots asked for
    for name, life in spec.lifecycles.items():
        shares += _long(name, life, fields)
    for name, table in spec.tables.items():
        if table.rows is not None:
            shares += _short(loaded, name, table, always)
    for program, _, _ in shares:
        _changes_something(loaded, program, always)
    programs: list[Program] = []
    cohorts: list[Cohort] = []
    base = 0
    for program, tier, asked in shares:
        if program not in programs:
            programs.append(program)
        # a whole number of slots in each of the tier's groups
        count = max(1, round(asked / (1 << tier))) << tier
        cohorts.append(Cohort(programs.index(program), tier, base, count))
        base += count
    return Plan(tuple(programs), tuple(cohorts))


def _tiers(every: int, hot: Sequence[Hot], slots: int) -> list[tuple[int, int, float]]:
    """(tier, slots, relative visits) of the hot shares, hottest first, and last the cold rest."""
    slowest = every.bit_length() - 1
    fastest = max((h.times for h in hot), default=1).bit_length() - 1
    depth = max(slowest, fastest)
    cold = slots
    tiers = []
    for share in sorted(hot, key=lambda h: -h.times):
        count = max(1, round(slots * share.share))
        cold -= count
        tiers.append((depth - (share.times.bit_length() - 1), count, float(count * share.times)))
    return [*tiers, (depth, max(cold, 1), float(max(cold, 1)))]


# ----------------------------------------------------------------------------------------------------------- long form


def _long(name: str, life: LifecycleSpec, fields: Mapping[str, Sequence[str]]) -> list[tuple[Program, int, int]]:
    forever = life.repeats
    members: dict[str, Member] = {}
    for number, step in enumerate(life.steps):
        for statement in step.do:
            if statement.insert:
                members[statement.insert] = _member(statement.insert, statement.rows, members, forever and number == 0)
    steps: list[tuple[Act, ...]] = []
    names: list[str] = []
    for step in life.steps[1:] if forever else life.steps:
        acts = tuple(
            Act(INSERT, s.insert, frozenset(fields[s.insert]))
            if s.insert
            else Act(UPDATE, s.update, frozenset(s.set or ()))
            if s.update
            else Act(DELETE, s.table)
            for s in step.do
        )
        steps += [acts] * step.times
        names += [step.name] * step.times
    program = Program(name, tuple(steps), tuple(names), members)
    return [(program, tier, count) for tier, count, _ in _tiers(life.every, life.hot, life.slots)]


def _member(table: str, rows: str | None, members: Mapping[str, Member], permanent: bool) -> Member:
    if rows is None:
        return Member(table, 1, 1, table, permanent)
    if rows in members:
        other = members[rows]
        return Member(table, other.low, other.high, other.counted_as, permanent)
    low, _, high = rows.partition("..")
    return Member(table, int(low), int(high or low), table, permanent)


# ---------------------------------------------------------------------------------------------------------- short form


@dataclass(frozen=True)
class Cold:
    """The rows of a short form that are not hot, as shares of all row changes: full lives of insert, `updates` updates
    and delete; lone inserts; updates of rows that live for ever."""

    full: float
    append: float
    forever: float
    updates: int

    @property
    def visits(self) -> float:
        return self.full + self.append + self.forever

    @property
    def alive(self) -> float:
        """Share of its slots that hold a row at any time."""
        return (self.full * (self.updates + 1) / (self.updates + 2) + self.forever) / self.visits


def _cold(shares: tuple[float, float, float], hot: float) -> Cold:
    """What is left of a mix when hot rows take a share `hot` of the changes, all of them updates."""
    insert, update, delete = shares
    update = max(update - hot, 0.0)
    k = int(update / delete + 1e-9) if delete else 0
    return Cold(delete * (k + 2), insert - delete, update - k * delete, k)


def _short(loaded: Loaded, name: str, table: TableSpec, always: Always) -> list[tuple[Program, int, int]]:
    """Share the slots out so that visits, which are row changes here, come in the shares of the mix."""
    assert table.rows is not None
    each = table.rows_per_statement
    rows = max(1, table.rows // each)
    *warm, (tier, cold_rows, _) = _tiers(table.every, table.hot, rows)
    warm_visits = sum(weight for _, _, weight in warm)
    # Cold slots are empty between two lives, so there are more of them than rows; how many more depends on what they
    # do, which depends on how much the hot rows leave over.
    slots = float(cold_rows)
    for _ in range(30):
        hot = warm_visits / (warm_visits + slots)
        if hot > table.shares[1] + 1e-9:
            loaded.fail(
                ("tables", name, "hot"),
                f"hot rows would take {hot:.0%} of the changes, all updates, but the mix has {table.shares[1]:.0%} "
                "updates; make them fewer or less hot, or raise the updates",
            )
        cold = _cold(table.shares, hot)
        slots = cold_rows / cold.alive if cold.visits and cold.alive else float(cold_rows)

    def build(steps: list[Act], permanent: bool) -> Program:
        acts = tuple((act,) for act in steps)
        names = tuple(act.kind.name.lower() for act in steps)
        return Program(name, acts, names, {name: Member(name, each, each, name, permanent)})

    updates = _update_acts(loaded, name, table, always) if table.shares[1] else []
    fields, key = frozenset(table.columns), frozenset(table.key[:1])
    shares: list[tuple[Program, int, int]] = []
    for warmer, count, _ in warm:
        shares += [(build(acts, True), warmer, n) for acts, n in _key_updates(updates, key, table.key_updates, count)]
    if cold.visits:
        full, append, forever = (
            _slots(share / cold.visits * slots) for share in (cold.full, cold.append, cold.forever)
        )
        life = [Act(INSERT, name, fields), *_cycle(updates, cold.updates), Act(DELETE, name)]
        if full:
            shares += [(build(acts, False), tier, n) for acts, n in _key_updates(life, key, table.key_updates, full)]
        if append:
            shares.append((build(life[:1], False), tier, append))
        if forever:
            shares += [
                (build(acts, True), tier, n) for acts, n in _key_updates(updates, key, table.key_updates, forever)
            ]
    return shares


def _slots(asked: float) -> int:
    """A whole number of slots; what is asked for at all gets one."""
    return max(1, round(asked)) if asked > 1e-6 else 0


def _cycle(acts: Sequence[Act], count: int) -> list[Act]:
    return [acts[i % len(acts)] for i in range(count)]


def _update_acts(loaded: Loaded, name: str, table: TableSpec, always: Always) -> list[Act]:
    """One update after the other, rotating through the columns that may change, `columns_per_update` at a time.

    Columns that are stamped by every update (commit time, version) are set each time and not counted.
    """
    changing = [field for field, column in table.columns.items() if column.changes and field not in table.key]
    stamped = [field for field in changing if table.columns[field].values.kind in ("commit_time", "version")]
    rotating = [field for field in changing if field not in stamped]
    sure = [field for field in rotating if always(name, field, "update")]
    low, high = table.columns_per_update
    acts: list[Act] = []
    start = 0
    for turn in range(max(len(rotating), 1) * (1 if low == high else 2)):
        count = min(low + turn % (high - low + 1), len(rotating))
        sets = {rotating[(start + i) % len(rotating)] for i in range(count)}
        start += max(count, 1)
        if sure and not any(always(name, field, "update") for field in [*sets, *stamped]):
            sets.add(sure[turn % len(sure)])
        acts.append(Act(UPDATE, name, frozenset(sets | set(stamped))))
    return acts


def _key_updates(acts: list[Act], key: frozenset[str], share: float, slots: int) -> list[tuple[list[Act], int]]:
    """Share slots out between the program and a sibling in which one update also changes the key."""
    updates = [i for i, act in enumerate(acts) if act.kind is UPDATE]
    if not share or not updates or not key:
        return [(acts, slots)]
    # In the sibling at least the asked share of the updates change the key; just as many slots run it as are needed.
    most = ceil(share * len(updates))
    changing = [updates[(i + 1) * len(updates) // most - 1] for i in range(most)]
    sibling = list(acts)
    for i in changing:
        sibling[i] = Act(UPDATE, acts[i].table, acts[i].sets | key)
    changed = min(slots, max(1, round(slots * share * len(updates) / len(changing))))
    return [(part, n) for part, n in ((acts, slots - changed), (sibling, changed)) if n]


def _changes_something(loaded: Loaded, program: Program, always: Always) -> None:
    """Refuse updates that might leave the row as it is: databases log none."""
    spec: ScenarioSpec = loaded.spec
    for name, step in zip(program.names, program.steps, strict=True):
        for number, act in enumerate(step):
            if act.kind is not UPDATE or any(always(act.table, field, name) for field in act.sets):
                continue
            if program.lifecycle in spec.lifecycles:
                life = spec.lifecycles[program.lifecycle]
                index = next(i for i, s in enumerate(life.steps) if s.name == name)
                path: tuple[str | int, ...] = ("lifecycles", program.lifecycle, "steps", index, "do", number)
            else:
                path = ("tables", act.table)
            loaded.fail(
                path,
                f"the update of {', '.join(sorted(act.sets)) or 'no column'} might change nothing; set a column that "
                "always changes too: version, a range, even choices, a faker pool or states, without nulls",
            )
