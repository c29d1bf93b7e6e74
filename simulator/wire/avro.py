"""Avro's binary encoding, column by column: each field is a column of bytes, and columns are joined like text.

| Avro | bytes |
| --- | --- |
| int, long | zig-zag, seven bits a byte, the least first; 0x80 means that more follow |
| string, bytes | the length as a long, then the bytes |
| float, double | IEEE 754, little-endian |
| boolean | one byte |
| union | the branch's number as a long, then its value |
| array, map | blocks of a count and that many items, closed by a zero |
| record | its fields, one after the other |

Source: Apache Avro specification, "Binary Encoding".
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.native.program import Kind, Program
from simulator.text import template
from simulator.text.base64 import signed_bytes
from simulator.text.template import Compound, Piece, nulls_of

Ints = npt.NDArray[np.int64]
Nulls = npt.NDArray[np.bool_] | None
# A constant, a column with one value per row, or a compound that makes such a column.
Bytes: TypeAlias = bytes | pa.Array | Compound


# The schema of a file of whole messages; a tombstone is null.
MESSAGES: Final = '["null","bytes"]'


@dataclass(frozen=True, slots=True)
class Container:
    """Facts for a file of values: their schema as JSON text, and the number of bytes before each datum. `keys`: keys
    are made like values. `whole`: values have several schemas, so files have the schema MESSAGES and each value is a
    datum.
    """

    schema: str
    framing: int = 0
    keys: bool = False
    whole: bool = False

    def decoded(self, value: bytes) -> Any:
        """The datum of a message's value as Python data, without the branch names of unions.

        >>> Container('"string"', framing=1).decoded(b"\\x00\\x04ok")
        'ok'
        """
        from fastavro import schemaless_reader

        return schemaless_reader(BytesIO(value[self.framing :]), parsed(self.schema), None)


@cache
def parsed(schema: str) -> Any:
    """fastavro's form of a schema in JSON text."""
    from fastavro import parse_schema

    return parse_schema(json.loads(schema))


def long(number: int) -> bytes:
    """One int or long.

    >>> long(0), long(-1), long(64), long(-(1 << 63)).hex()
    (b'\\x00', b'\\x01', b'\\x80\\x01', 'ffffffffffffffffff01')
    """
    rest = (number << 1) ^ (number >> 63) if number < 0 else number << 1
    out = bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def string(text: str | bytes) -> bytes:
    """One string or bytes: `string("hi")` is b'\\x04hi'."""
    data = text.encode() if isinstance(text, str) else text
    return long(len(data)) + data


def double(number: float) -> bytes:
    return struct.pack("<d", number)


@dataclass(frozen=True, slots=True, eq=False)
class Longs(Compound):
    """A column of ints or longs, null where the mask is true.

    >>> Longs(np.array([0, -1, 64])).column().to_pylist()
    [b'\\x00', b'\\x01', b'\\x80\\x01']
    """

    numbers: Ints
    nulls: Nulls = None

    def column(self) -> pa.Array:
        distinct, inverse = np.unique(self.numbers, return_inverse=True)
        encoded = pa.array(map(long, distinct.tolist()), pa.binary())
        return encoded.take(pa.array(inverse, mask=self.nulls))

    def add_to(self, program: Program) -> None:
        program.numbers(np.ascontiguousarray(self.numbers, np.int64), Kind.LONG)


@dataclass(frozen=True, slots=True, eq=False)
class Strings(Compound):
    """A column of strings or bytes, or a dictionary of them; nulls stay.

    >>> Strings(pa.array(["", "hi", None])).column().to_pylist()
    [b'\\x00', b'\\x04hi', None]
    """

    values: pa.Array

    def column(self) -> pa.Array:
        values = self.values
        if pa.types.is_dictionary(values.type):
            return Strings(values.dictionary).column().take(values.indices)
        lengths = np.asarray(pc.binary_length(values).fill_null(0)).astype(np.int64)
        return join([Longs(lengths), values], len(values))

    def add_to(self, program: Program) -> None:
        program.texts(self.values, sized=True)

    @property
    def nulls(self) -> Nulls:
        return nulls_of([self.values])


@dataclass(frozen=True, slots=True, eq=False)
class SignedBytes(Compound):
    """Numbers as bytes of two's complement (`signed_bytes`); nulls stay.

    >>> SignedBytes(pa.array([5, -129, None])).column().to_pylist()
    [b'\\x02\\x05', b'\\x04\\xff\\x7f', None]
    """

    numbers: pa.Array

    def column(self) -> pa.Array:
        return Strings(signed_bytes(self.numbers)).column()

    def add_to(self, program: Program) -> None:
        program.signed(self.numbers)

    @property
    def nulls(self) -> Nulls:
        return nulls_of([self.numbers])


@dataclass(frozen=True, slots=True, eq=False)
class Sized(Compound):
    """Strings of `count` rows, each made of pieces; null where a piece is.

    >>> Sized(["n", pa.array([7, 12])], 2).column().to_pylist()
    [b'\\x04n7', b'\\x06n12']
    """

    pieces: Sequence[Piece]
    count: int

    def column(self) -> pa.Array:
        return Strings(template.join(self.pieces, self.count)).column()

    def add_to(self, program: Program) -> None:
        opened = program.length()
        template.add(program, self.pieces)
        program.close(opened)

    @property
    def nulls(self) -> Nulls:
        return nulls_of(self.pieces)


def strings(values: pa.Array) -> pa.Array:
    """Encoded strings or bytes, nulls kept; a dictionary column stays one, and only its entries are encoded."""
    if pa.types.is_dictionary(values.type):
        return pa.DictionaryArray.from_arrays(values.indices, strings(values.dictionary))
    return join([Strings(values)], len(values))


def looked_up(values: Sequence[bytes], indexes: npt.NDArray[np.integer]) -> pa.Array:
    """A dictionary column: `values` by their indexes."""
    return pa.DictionaryArray.from_arrays(pa.array(indexes.astype(np.int32)), pa.array(values, pa.binary()))


def present(column: pa.Array, null: bytes = b"\x00") -> pa.Array:
    """The column with nulls replaced, by default by the first branch of a union, which is mostly null. A dictionary
    column stays one; its entries have no nulls.
    """
    if not column.null_count:
        return column
    if pa.types.is_dictionary(column.type):
        entries = pa.concat_arrays([column.dictionary, pa.array([null], pa.binary())])
        indices = pc.coalesce(column.indices, pa.scalar(len(entries) - 1, column.indices.type))
        return pa.DictionaryArray.from_arrays(indices, entries)
    return column.fill_null(pa.scalar(null, pa.binary()))


def doubles(numbers: npt.NDArray[np.float64]) -> pa.Array:
    """A column of doubles."""
    data = np.ascontiguousarray(numbers, dtype="<f8")
    return pa.Array.from_buffers(pa.binary(8), len(data), [None, pa.py_buffer(data)], 0).cast(pa.binary())


def join(pieces: Iterable[Bytes], count: int) -> pa.Array:
    """`count` values, each the concatenated pieces of its row; null where a column is."""
    return template.join(pieces, count, pa.binary())
