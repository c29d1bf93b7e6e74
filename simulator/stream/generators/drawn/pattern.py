"""`pattern`: codes such as `SKU-4711-QX`."""

from __future__ import annotations

from typing import Annotated, Final

import numpy as np
import pyarrow as pa
from pydantic import Field

from simulator.stream.engine.history import State
from simulator.stream.generators.columns import Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import Generator
from simulator.stream.generators.index import Index, draws
from simulator.values import texts

# Characters that replace each placeholder.
PLACEHOLDERS: Final = {
    "#": "0123456789",
    "?": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "*": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
}
SECOND: Final = np.uint64(0x5EC0)


class Codes(Draws):
    """Codes with a random character for each placeholder. The last placeholder with the most choices never repeats its
    character, so an update changes the code.
    """

    def __init__(self, target: Target, shape: str) -> None:
        self.shape, self.history, self.salt = shape, target.history, target.salt
        self.most_bytes = len(shape.encode())
        widest = max("#?*", key=lambda placeholder: (placeholder in shape, len(PLACEHOLDERS[placeholder])))
        self.always = widest in shape
        self.characters = np.frombuffer(PLACEHOLDERS[widest].encode(), dtype=np.uint8)
        self.offset = len(shape[: shape.rfind(widest)].encode())
        self.updated = bool((target.history.count > 0).any())
        self.index = Index(len(self.characters), target.history, target.salt ^ SECOND)

    def array(self, state: State) -> pa.Array:
        codes = texts.pattern(draws(state, self.history, self.salt), self.shape)
        if not (self.always and self.updated):
            return codes
        _, ends, characters = codes.buffers()
        written = np.frombuffer(characters, dtype=np.uint8).copy()
        written[np.arange(len(codes)) * self.most_bytes + self.offset] = self.characters[self.index(state)]
        return pa.Array.from_buffers(codes.type, len(codes), [None, ends, pa.py_buffer(written)])


def draw(target: Target, shape: str) -> Draws:
    return Codes(target, shape)


GENERATOR = Generator(
    name="pattern",
    doc="`#` becomes a digit, `?` a capital letter, `*` either; all else stands for itself",
    example='{type: string(20), values: {pattern: "SKU-####-??-**"}}',
    arguments=Annotated[str, Field(min_length=1)],
    fits=("text",),
    leaf=True,
    check=lambda check, shape: check.room(len(shape)),
    draw=draw,
)
