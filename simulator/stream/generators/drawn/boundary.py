"""`boundary`: the boundary values of the column's type."""

from __future__ import annotations

from simulator.carriers import storage
from simulator.stream.generators.columns import Target
from simulator.stream.generators.drawn.choices import in_turn
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator


def draw(target: Target, arguments: bool) -> Draws:
    texts = target.source.boundary_values(target.field.type)
    table = target.scenario.spec.tables[target.field.table]
    if target.field.spec.nullable is False or target.field.name in table.key:
        texts = [text for text in texts if text is not None]
    values = target.literals(texts)
    if values.null_count > 1:  # in some systems an empty text is a null, too
        values = storage(values).unique()
    return in_turn(values, target.history)


GENERATOR = Generator(
    name="boundary",
    doc="the boundary values of the type, one after the other",
    example="{type: int64, values: boundary}",
    alone=True,
    draw=draw,
)
