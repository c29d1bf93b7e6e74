"""`bytes`: random bytes."""

from __future__ import annotations

import pyarrow as pa

from simulator.stream.engine.history import State
from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator
from simulator.stream.generators.index import draws
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.stream.scenario.language.words import Span, Strict
from simulator.values import texts
from simulator.values.draw import below, mix


class BytesArguments(Strict):
    """Bytes of a given length."""

    length: Span = (1, 20)


class Blobs(Draws):
    def __init__(self, length: tuple[int, int], target: Target) -> None:
        self.low, self.high = length
        self.history, self.salt = target.history, target.salt
        self.always, self.most_bytes = self.low >= 8, self.high

    def array(self, state: State) -> pa.Array:
        drawn = draws(state, self.history, self.salt)
        return texts.blob(drawn, self.low + below(mix(drawn), self.high - self.low + 1))


def check(check: ColumnCheck, bytes: BytesArguments) -> None:
    low, high = bytes.length
    check.room(high, "length")
    if low == 0:
        check.nullable_literals([""], "length")


def draw(target: Target, bytes: BytesArguments) -> Draws:
    return Blobs(bytes.length, target)


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
