"""`ean`: article numbers with their check digit."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator
from simulator.stream.generators.sampled import OfBits
from simulator.stream.scenario.language.words import Strict
from simulator.values import check_digits


class Ean(Strict):
    """An EAN-13."""

    prefix: Annotated[str, Field(pattern=r"^\d{1,7}$", description="Its first digits: 400 to 440 are German.")] = "400"


def draw(target: Target, ean: Ean) -> Draws:
    return OfBits(target, lambda drawn: check_digits.checked(drawn, ean.prefix, 13, check_digits.ean))


GENERATOR = Generator(
    name="ean",
    doc="an article number (EAN-13, GTIN) whose check digit is right; `prefix` are its first digits (400)",
    example="{type: string(13), values: {ean: {prefix: 400}}}",
    arguments=Ean,
    alone={},
    fits=("text",),
    leaf=True,
    check=lambda check, ean: check.room(13),
    draw=draw,
)
