"""`states`: the state of an entity after each step."""

from __future__ import annotations

import numpy as np

from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator
from simulator.stream.generators.sampled import Picked
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.stream.scenario.language.words import Name, Text


def check(check: ColumnCheck, states: dict[str, str | None]) -> None:
    home, name = check.home, check.field.name
    if home.spec is None:
        check.fail(f"{check.field.table} has no steps: states belong to a table in a lifecycle")
    if next(iter(states), None) != home.insert_step:
        check.fail(f"states begin with the step that inserts the row, {home.insert_step!r}", *list(states)[:1])
    steps = [step.name for _, step in home.spec.walk()]
    setting = {step for step, _, columns in home.updates if name in columns}
    for i, (step, text) in enumerate(states.items()):
        if step not in steps:
            check.unknown("step", step, steps, step)
        if i and step not in setting:
            check.fail(f"step {step!r} has no update of {check.field.table} that sets {name}", step)
        check.nullable_literals([text], step)


def draw(target: Target, states: dict[str, str | None]) -> Draws:
    ticks, order = target.columns.ticks, list(states)
    span = ticks.span(target.field.table)
    index = np.zeros(len(span), dtype=np.int64)
    for p, program in enumerate(ticks.plan.programs):
        if target.field.table not in program.members:
            continue
        numbers = {step.name: order.index(step.name) if step.name in states else -1 for step in program.turns}
        of_step = np.array([numbers[step.name] for step in program.steps])
        set_by = np.maximum.accumulate(np.where(of_step >= 0, np.arange(len(of_step)), -1))
        state_index = np.where(set_by >= 0, of_step[set_by], 0)
        first_tick = ticks.first[p] - span.start
        index[first_tick : first_tick + len(program.acts)] = state_index[ticks.step[ticks.first[p] : ticks.birth[p]]]
    history = target.history
    return Picked(target.literals(states.values()), lambda state: index[state.written(history).tick - history.start])


GENERATOR = Generator(
    name="states",
    doc="the state that an entity is in after each step of its lifecycle: `step: literal`",
    example="{type: string(8), values: {states: {place: NEW, pay: PAID}}}",
    arguments=dict[Name, Text],
    check=check,
    draw=draw,
)
