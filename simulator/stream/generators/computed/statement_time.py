"""`statement_time`: start time of the statement that set the value."""

from __future__ import annotations

from dataclasses import replace

from simulator.stream.generators.columns import Target
from simulator.stream.generators.computed import commit_time
from simulator.stream.generators.draws import Draws


def draw(target: Target, arguments: bool) -> Draws:
    return commit_time.Times(target, target.columns.timeline.statement_us)


GENERATOR = replace(
    commit_time.GENERATOR,
    name="statement_time",
    doc="when the statement that set the value began: before the commit, by what `durations` say of its transaction",
    example="{type: timestamp(3), values: statement_time}",
    draw=draw,
)
