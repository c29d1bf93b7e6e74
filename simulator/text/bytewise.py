"""Bytes translated by a table: escapes of JSON, ISO-8859-1 characters, hexadecimal digits, lists of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.carriers import validity
from simulator.native.program import Cells, Program, cells
from simulator.text.template import Compound, join, nulls_of

Bytes = npt.NDArray[np.uint8]
TOO_LONG: Final = "a column of this block holds more than 2 GiB as text"


LATIN1: Final = cells(chr(byte) for byte in range(256))
HEX: Final = cells(f"{byte:02X}" for byte in range(256))


@dataclass(frozen=True, slots=True, eq=False)
class Mapped(Compound):
    """Texts or bytes, each byte replaced by its text in the table; the first of these lacks its first `skip` bytes.
    Nulls stay."""

    values: pa.Array
    table: Cells
    skip: int = 0

    def column(self) -> pa.Array:
        data, offsets = bytes_of(self.values)
        sizes = self.table[data, 7]
        ends = np.zeros(len(data) + 1, dtype=np.int64)
        np.cumsum(sizes, out=ends[1:])
        if int(ends[-1]) >= 1 << 31:
            raise OverflowError(TOO_LONG)
        columns = self.table[data, :7][np.arange(7) < sizes[:, None]]
        buffers = [validity(self.nulls), pa.py_buffer(ends[offsets].astype(np.int32)), pa.py_buffer(columns)]
        texts = pa.Array.from_buffers(pa.string(), len(self.values), buffers, -1)
        return pc.binary_replace_slice(texts, 0, self.skip, "") if self.skip else texts

    def add_to(self, program: Program) -> None:
        program.mapped(self.values, self.table, self.skip)

    @property
    def nulls(self) -> npt.NDArray[np.bool_] | None:
        return nulls_of([self.values])


def mapped(array: pa.Array, table: Cells) -> pa.Array:
    """A column of texts or bytes translated by a table; of a dictionary array only the dictionary, and it stays one."""
    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, mapped(array.dictionary, table))
    return join([Mapped(array, table)], len(array))


def bytes_of(array: pa.Array) -> tuple[Bytes, npt.NDArray[np.int64]]:
    """The bytes of an array's texts, and their n + 1 offsets, from 0."""
    _, ends, values = array.buffers()
    if values is None or not len(array):
        return np.empty(0, dtype=np.uint8), np.zeros(len(array) + 1, dtype=np.int64)
    offsets = np.frombuffer(ends, dtype=np.int32)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    data = np.frombuffer(values, dtype=np.uint8)[offsets[0] : offsets[-1]]
    return data, offsets - offsets[0]
