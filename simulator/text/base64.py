"""Bytes as Base64 text (RFC 4648, with padding, without line breaks), whole columns at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.carriers import primitive, unscaled, validity
from simulator.native.program import Program
from simulator.text.fixed_width import nulls_of
from simulator.text.template import Compound, join

_ALPHABET: Final = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", dtype=np.uint8)
_PAD: Final = ord("=")


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
    if not len(array) or array.buffers()[2] is None:
        return array.cast(pa.string())
    ends = np.frombuffer(array.buffers()[1], dtype=np.int32)[array.offset : array.offset + len(array) + 1]
    data = np.frombuffer(array.buffers()[2], dtype=np.uint8)[ends[0] : ends[-1]]
    sizes = np.diff(ends).astype(np.int64)
    groups = np.zeros(len(array) + 1, dtype=np.int64)
    np.cumsum((sizes + 2) // 3, out=groups[1:])
    if int(groups[-1]) * 4 >= 1 << 31:
        raise OverflowError("a column of this block holds more than 2 GiB as text")
    # each value filled up with zeros to whole groups of three bytes
    filled = np.zeros(int(groups[-1]) * 3, dtype=np.uint8)
    filled[np.arange(len(data)) + np.repeat(3 * groups[:-1] - (ends[:-1] - ends[0]), sizes)] = data
    first, second, third = filled.reshape(-1, 3).T
    digits = np.empty((len(first), 4), dtype=np.uint8)
    digits[:, 0] = _ALPHABET[first >> 2]
    digits[:, 1] = _ALPHABET[(first & 3) << 4 | second >> 4]
    digits[:, 2] = _ALPHABET[(second & 15) << 2 | third >> 6]
    digits[:, 3] = _ALPHABET[third & 63]
    flat, last = digits.reshape(-1), 4 * groups[1:] - 1
    flat[last[sizes % 3 > 0]] = _PAD
    flat[last[sizes % 3 == 1] - 1] = _PAD
    buffers = [validity(nulls_of(array)), pa.py_buffer((4 * groups).astype(np.int32)), pa.py_buffer(flat)]
    return pa.Array.from_buffers(pa.string(), len(array), buffers, -1)


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
    nulls = nulls_of(numbers)
    if pa.types.is_decimal(numbers.type):
        numbers = primitive(unscaled(numbers), pa.int64(), nulls)
    values = np.asarray(numbers.fill_null(0)).astype(np.int64)
    # a number below 2^(8n - 1) in size has n bytes; of a negative one that is the size of its complement
    magnitudes = values ^ (values >> 63)
    most = int(magnitudes.max(initial=0))
    sizes, width = np.ones(len(values), dtype=np.int32), 1
    while width < 8 and most >> (8 * width - 1):
        sizes += magnitudes >= 1 << (8 * width - 1)
        width += 1
    if nulls is not None:
        sizes[nulls] = 0
    cells = values.astype(">i8").view(np.uint8).reshape(-1, 8)[:, 8 - width :]
    present = np.arange(width, dtype=np.int32) >= width - sizes[:, None]
    ends = np.zeros(len(values) + 1, dtype=np.int32)
    np.cumsum(sizes, out=ends[1:])
    buffers = [validity(nulls), pa.py_buffer(ends), pa.py_buffer(cells[present])]
    return pa.Array.from_buffers(pa.binary(), len(values), buffers, -1)
