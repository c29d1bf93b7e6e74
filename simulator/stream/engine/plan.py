"""All programs of a scenario, and the cohorts of slots that run them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simulator.model import UPDATE
from simulator.stream.engine.lives import program_of
from simulator.stream.engine.program import Always, Plan, Program, Share
from simulator.stream.engine.short import short
from simulator.stream.engine.traffic.circles import Circle, even, hot_set
from simulator.stream.engine.traffic.cohorts import Cohort
from simulator.stream.engine.traffic.tiers import tiers
from simulator.stream.scenario.loader import Loaded
from simulator.stream.scenario.scenario import Scenario


def plan(scenario: Scenario, fields: Mapping[str, Sequence[str]], always: Always) -> Plan:
    """Compile a scenario's lifecycles. `fields[table]` are its columns."""
    spec = scenario.spec
    shares: list[Share] = []
    for name, life in spec.lifecycles.items():
        program = program_of(name, life, fields, scenario.seed)
        if not program.lives:
            scenario.fail(("lifecycles", name, "steps"), "no step is sure to come: raise a chance")
        shares += [Share(program, tier, life.gaps) for tier in tiers(life, life.slots, _surges(scenario, name))]
    for name, table in spec.tables.items():
        if table.rows is not None:
            shares += short(scenario, name, table, always, _surges(scenario, name))
    turns = spec.rate / sum(share.tier.weight * share.tier.slots for share in shares)
    programs: list[Program] = []
    cohorts: list[Cohort] = []
    base = 0
    for share in shares:
        if not any(share.program is other for other in programs):
            programs.append(share.program)
            _changes_something(scenario, share.program, always)
        steps = len(share.program.steps)
        circle = _hot_set(scenario, share, turns, steps) or even(share.tier.slots, steps)
        name = share.program.lifecycle
        times = tuple(
            surge.times if surge.of == name and surge.share is None else share.tier.times.get(number, 1.0)
            for number, surge in enumerate(spec.surges)
        )
        number = programs.index(share.program)
        cohorts.append(Cohort(number, base, share.tier.weight, circle, share.gaps, times))
        base += circle.count
    return Plan(tuple(programs), tuple(cohorts))


def _surges(scenario: Scenario, name: str) -> dict[int, tuple[float, float]]:
    """The surges of a share of a table's rows or of a lifecycle's entities, by their numbers: (share, times)."""
    surges = enumerate(scenario.spec.surges)
    return {number: (surge.share, surge.times) for number, surge in surges if surge.of == name and surge.share}


def _hot_set(scenario: Scenario, share: Share, turns: float, steps: int) -> Circle | None:
    """The circle in which the hot set moves, for slots whose program has `steps` steps; None if it does not move.
    `turns` is the number of turns per second for a weight of 1. Raises ScenarioError if it would move too fast.
    """
    tier = share.tier
    if tier.moving is None or tier.moving.moves is None:
        return None
    a_second = turns * tier.weight * tier.slots
    moves = tier.moving.moves / 1000 * a_second
    circle = hot_set(tier.slots, tier.moving.share, tier.moving.times, moves, steps)
    if circle is None:
        least = tier.slots * (1 + tier.moving.share * (tier.moving.times - 1)) / a_second
        name = share.program.lifecycle
        where = ("lifecycles" if name in scenario.spec.lifecycles else "tables", name, "hot")
        scenario.fail(where, f"moves: each cold row changes about once in {least:.3g} seconds; let it take longer")
    return circle


def _changes_something(loaded: Loaded, program: Program, always: Always) -> None:
    """Rejects updates that might leave the row unchanged: databases do not log them."""
    lifecycles = loaded.spec.lifecycles
    for name, act in dict.fromkeys((step.name, act) for step in program.turns for act in step.acts):
        if act.kind is not UPDATE or any(always(act.table, field, name) for field in act.sets):
            continue
        path: tuple[str | int, ...] = ("tables", act.table)
        if program.lifecycle in lifecycles:
            where, step = next((w, s) for w, s in lifecycles[program.lifecycle].walk() if s.name == name)
            number = next(i for i, s in enumerate(step.do) if s.update == act.table and act.sets == {*(s.set or ())})
            path = ("lifecycles", program.lifecycle, *where, "do", number)
        if not act.sets and program.lifecycle not in lifecycles:
            loaded.fail(path, "it has no column to update; add one, or leave updates out: mix: {insert: 1, delete: 1}")
        loaded.fail(
            path,
            f"the update of {', '.join(sorted(act.sets)) or 'no column'} might change nothing; set a column that "
            "always changes too: version, a range, even choices, a faker pool or states, without nulls",
        )
