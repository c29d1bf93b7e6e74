"""`uuid`: random UUIDs."""

from __future__ import annotations

from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator
from simulator.stream.generators.sampled import OfBits
from simulator.values import texts


def draw(target: Target, arguments: bool) -> Draws:
    return OfBits(target, texts.uuid, always=True, most_bytes=36)


GENERATOR = Generator(
    name="uuid",
    doc="a random UUID",
    example="{type: uuid, values: uuid}",
    alone=True,
    fits=("text", "UUIDs", "ids"),
    unique=True,
    leaf=True,
    check=lambda check, arguments: check.room(36),
    draw=draw,
)
