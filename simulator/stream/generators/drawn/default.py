"""`default`: what a column holds when the scenario says nothing, by its type."""

from __future__ import annotations

from typing import Any, Final

from simulator.stream.generators import find
from simulator.stream.generators.generator import Draws, Generator, Target

# A JSON column.
DOCUMENT: Final = {
    "id": {"range": ["1", "1000000"]},
    "tags": [{"choices": ["new", "sale", "gift"]}, {"choices": ["red", "green", "blue"]}],
    "active": "true",
}


def draw(target: Target, arguments: bool) -> Draws:
    if target.scenario.spec.source is None and target.field.spec.type.strip().lower() == "json":
        return _other(target, "document", DOCUMENT)
    kind, given = target.source.default_values(target.field.type)
    match kind:
        case "range" | "datetime_range":
            return _other(target, "range", (given["min"], given["max"]))
        case "text":
            length = f"{given['min_length']}..{given['max_length']}"
            return _other(target, "text", {"length": length, "alphabet": given["alphabet"]})
        case "bytes":
            return _other(target, "bytes", {"length": f"{given['min_length']}..{given['max_length']}"})
        case "choices":
            return _other(target, "choices", given["values"])
        case "uuid":
            return _other(target, "uuid", True)
        case "document":
            return _other(target, "document", DOCUMENT)
    return _other(target, "boundary", True)


def _other(target: Target, name: str, arguments: Any) -> Draws:
    generator = find(name)
    return generator.draw(target, generator.adapter.validate_python(arguments))


GENERATOR = Generator(
    name="default",
    doc="something believable for the type: what a column holds of which nothing is said",
    example="{type: float64, values: default}",
    alone=True,
    draw=draw,
)
