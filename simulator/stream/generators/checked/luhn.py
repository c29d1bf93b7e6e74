"""`luhn`: numbers with a check digit by Luhn's rule: payment cards, IMEIs."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator
from simulator.stream.generators.sampled import OfBits
from simulator.stream.scenario.language.words import Strict
from simulator.values import check_digits


class Luhn(Strict):
    """A number of a card."""

    prefix: Annotated[str, Field(pattern=r"^\d{0,12}$", description="Its first digits: 4 is Visa, 51 Mastercard.")] = (
        "4"
    )
    length: Annotated[int, Field(ge=13, le=19, description="All its digits.")] = 16


def draw(target: Target, luhn: Luhn) -> Draws:
    return OfBits(target, lambda drawn: check_digits.checked(drawn, luhn.prefix, luhn.length, check_digits.luhn))


GENERATOR = Generator(
    name="luhn",
    doc="a number whose last digit is right by Luhn's rule, as payment cards have: `prefix` are its first digits (4), "
    "`length` counts all of them (16)",
    example="{type: string(16), values: {luhn: {prefix: 51}}}",
    arguments=Luhn,
    alone={},
    fits=("text",),
    leaf=True,
    check=lambda check, luhn: check.room(luhn.length, "length"),
    draw=draw,
)
