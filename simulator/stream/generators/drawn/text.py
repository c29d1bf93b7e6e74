"""`text`: random text over an alphabet."""

from __future__ import annotations

import math
from typing import Annotated, Final

from pydantic import Field

from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator
from simulator.stream.generators.sampled import OfBits
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.stream.scenario.language.words import Span, Strict
from simulator.values import texts
from simulator.values.draw import below, mix

# Texts longer than this are not tried on the type.
LONGEST_TRIED: Final = 100_000


class TextArguments(Strict):
    """Text of a given length, in characters, over an alphabet."""

    length: Span = (1, 20)
    alphabet: Annotated[
        str,
        Field(min_length=1, description=f"{', '.join(texts.ALPHABETS)}, or the characters themselves."),
    ] = "letters"

    @property
    def characters(self) -> list[str]:
        return list(dict.fromkeys(texts.ALPHABETS.get(self.alphabet, self.alphabet)))


def check(check: ColumnCheck, text: TextArguments) -> None:
    low, high = text.length
    check.room(high, "length")
    check.literals(text.characters, "alphabet")
    # try the longest text in bytes, and the shortest, which some systems read as null
    widest = max(text.characters, key=lambda character: len(character.encode()))
    check.nullable_literals([widest * min(high, LONGEST_TRIED), *([""] if low == 0 else [])], "length")


def draw(target: Target, text: TextArguments) -> Draws:
    low, high = text.length
    return OfBits(
        target,
        lambda drawn: texts.text(drawn, low + below(mix(drawn), high - low + 1), text.alphabet),
        # a chance of 1 in 2^64 counts as never
        always=low * math.log2(len(text.characters)) >= 64,
        most_bytes=high * max(len(character.encode()) for character in text.characters),
    )


GENERATOR = Generator(
    name="text",
    doc="random text: `length` in characters (1..20), `alphabet` one of "
    f"{', '.join(texts.ALPHABETS)}, or the characters themselves (letters)",
    example="{type: string(80), nulls: 0.2, values: {text: {length: 5..40, alphabet: mixed}}}",
    arguments=TextArguments,
    alone={},
    fits=("text",),
    leaf=True,
    prose=lambda text: True,
    check=check,
    draw=draw,
)
