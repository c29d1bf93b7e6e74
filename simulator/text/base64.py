"""Bytes as Base64 text (RFC 4648, with padding, without line breaks), whole columns at once."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.carriers import primitive, unscaled, validity
from simulator.native.program import Program
from simulator.text.columns import distinct_text, nulls_of
from simulator.text.template import Compound, join


def base64(array: pa.Array) -> pa.Array:
    """Binary values as text; null stays null, and of a dictionary array only the dictionary is encoded.

    >>> base64(pa.array([b"hello world", b"", b"\\x05", b"\\x00\\x05", None])).to_pylist()
    ['aGVsbG8gd29ybGQ=', '', 'BQ==', 'AAU=', None]
    """
    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, base64(array.dictionary))
    return join([Base64(array)], len(array))


@dataclass(frozen=True, slots=True, eq=False)
class Base64(Compound):
    """Bytes in Base64; nulls stay."""

    values: pa.Array

    def column(self) -> pa.Array:
        return _encoded(self.values)

    def add_to(self, program: Program) -> None:
        program.base64(self.values)

    @property
    def nulls(self) -> npt.NDArray[np.bool_] | None:
        return nulls_of(self.values)


def _encoded(array: pa.Array) -> pa.Array:
    return distinct_text(array.cast(pa.binary()), lambda value: b64encode(value).decode())


def number_bytes(numbers: pa.Array, width: int | None = None) -> pa.Array:
    """Integers as big-endian bytes: `width` of them, or (None) as few as hold the number, at least one.

    >>> number_bytes(pa.array([5, 0, 256, None], pa.uint64())).to_pylist()
    [b'\\x05', b'\\x00', b'\\x01\\x00', None]
    >>> number_bytes(pa.array([5], pa.uint64()), 2).to_pylist()
    [b'\\x00\\x05']
    """
    nulls = nulls_of(numbers)
    values = np.asarray(numbers.fill_null(0)).astype(np.uint64)
    cells = values.astype(">u8").view(np.uint8).reshape(-1, 8)
    if width is None:
        present = np.logical_or.accumulate(cells > 0, axis=1)
        present[:, 7] = True
    else:
        present = np.zeros(cells.shape, dtype=bool)
        present[:, 8 - width :] = True
    if nulls is not None:
        present[nulls] = False
    ends = np.zeros(len(values) + 1, dtype=np.int32)
    np.cumsum(present.sum(axis=1), out=ends[1:])
    buffers = [validity(nulls), pa.py_buffer(ends), pa.py_buffer(np.ascontiguousarray(cells[present]))]
    return pa.Array.from_buffers(pa.binary(), len(values), buffers, -1)


@dataclass(frozen=True, slots=True, eq=False)
class SignedBase64(Compound):
    """The bytes of `signed_bytes` in Base64; nulls stay."""

    numbers: pa.Array

    def column(self) -> pa.Array:
        return _encoded(signed_bytes(self.numbers))

    def add_to(self, program: Program) -> None:
        program.signed(self.numbers, base64=True)

    @property
    def nulls(self) -> npt.NDArray[np.bool_] | None:
        return nulls_of(self.numbers)


def signed_bytes(numbers: pa.Array) -> pa.Array:
    """Signed 64-bit numbers, or decimals with such unscaled numbers, in two's complement, big-endian, as few bytes as
    hold the number and its sign.

    >>> signed_bytes(pa.array([0, 127, 128, -128, -129, None], pa.int64())).to_pylist()
    [b'\\x00', b'\\x7f', b'\\x00\\x80', b'\\x80', b'\\xff\\x7f', None]
    """
    if pa.types.is_decimal(numbers.type):
        numbers = primitive(unscaled(numbers), pa.int64(), nulls_of(numbers))
    return pa.array([None if number is None else _signed(number) for number in numbers.to_pylist()], pa.binary())


def _signed(number: int) -> bytes:
    # the size of a negative number is that of its complement
    size = number.bit_length() if number >= 0 else (~number).bit_length()
    return number.to_bytes(size // 8 + 1, signed=True)
