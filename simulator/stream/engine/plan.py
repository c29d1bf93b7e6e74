"""All programs of a scenario, and the cohorts of slots that run them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simulator.model import UPDATE
from simulator.stream.engine.lives import program_of
from simulator.stream.engine.program import Always, Plan, Program, Share
from simulator.stream.engine.short import short
from simulator.stream.engine.tiers import tiers
from simulator.stream.engine.traffic import Cohort, fitting
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
        shares += [Share(program, count, weight, life.gaps) for weight, count in tiers(life, life.slots)]
    for name, table in spec.tables.items():
        if table.rows is not None:
            shares += short(scenario, name, table, always)
    programs: list[Program] = []
    cohorts: list[Cohort] = []
    base = 0
    for share in shares:
        if not any(share.program is other for other in programs):
            programs.append(share.program)
            _changes_something(scenario, share.program, always)
        cohorts.append(Cohort(programs.index(share.program), base, fitting(share.slots), share.weight, share.gaps))
        base += cohorts[-1].count
    return Plan(tuple(programs), tuple(cohorts))


def _changes_something(loaded: Loaded, program: Program, always: Always) -> None:
    """Refuse updates that might leave the row as it is: databases log none."""
    lifecycles = loaded.spec.lifecycles
    for name, act in dict.fromkeys((step.name, act) for step in program.turns for act in step.acts):
        if act.kind is not UPDATE or any(always(act.table, field, name) for field in act.sets):
            continue
        path: tuple[str | int, ...] = ("tables", act.table)
        if program.lifecycle in lifecycles:
            where, step = next((w, s) for w, s in lifecycles[program.lifecycle].walk() if s.name == name)
            number = next(i for i, s in enumerate(step.do) if s.update == act.table and act.sets == {*(s.set or ())})
            path = ("lifecycles", program.lifecycle, *where, "do", number)
        loaded.fail(
            path,
            f"the update of {', '.join(sorted(act.sets)) or 'no column'} might change nothing; set a column that "
            "always changes too: version, a range, even choices, a faker pool or states, without nulls",
        )
