"""`bytes`: random bytes."""

from __future__ import annotations

from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator
from simulator.stream.generators.sampled import OfBits
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.stream.scenario.language.words import Span, Strict
from simulator.values import texts
from simulator.values.draw import below, mix


class BytesArguments(Strict):
    """Bytes of a given length."""

    length: Span = (1, 20)


def check(check: ColumnCheck, bytes: BytesArguments) -> None:
    low, high = bytes.length
    check.room(high, "length")
    if low == 0:
        check.nullable_literals([""], "length")


def draw(target: Target, bytes: BytesArguments) -> Draws:
    low, high = bytes.length
    return OfBits(
        target,
        lambda drawn: texts.blob(drawn, low + below(mix(drawn), high - low + 1)),
        always=low >= 8,
        most_bytes=high,
    )


GENERATOR = Generator(
    name="bytes",
    doc="random bytes: `length` (1..20)",
    example="{type: bytes(32), values: {bytes: {length: 16..32}}}",
    arguments=BytesArguments,
    alone={},
    fits=("bytes",),
    check=check,
    draw=draw,
)
