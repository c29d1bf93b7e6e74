"""`default`: plausible values by the column's type; used when the scenario sets no `values`."""

from __future__ import annotations

from simulator.sources.believable import DOCUMENTS
from simulator.stream.generators import find
from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator


def draw(target: Target, arguments: bool) -> Draws:
    name, value = target.source.default_values(target.field.type)
    if target.scenario.spec.source is None and target.field.spec.type.strip().lower() == "json":
        name, value = DOCUMENTS  # also where the system has no JSON type
    generator = find(name)
    draws: Draws = generator.draw(target, generator.adapter.validate_python(value))
    return draws


GENERATOR = Generator(
    name="default",
    doc="something believable for the type: what a column holds if the scenario names no values for it",
    example="{type: float64, values: default}",
    alone=True,
    draw=draw,
)
