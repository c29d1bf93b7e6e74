"""Numbers of rows, made of the values of their keys: the same key gives the same number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.values.draw import mix

Ints = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint64]


def row_numbers(columns: Sequence[pa.Array]) -> Ints:
    """A number of each row made of its key's columns: that of a single whole number, else a hash."""
    hashes = [_hashed(column) for column in columns]
    if len(columns) == 1 and (pa.types.is_integer(columns[0].type) or pa.types.is_decimal(columns[0].type)):
        return (hashes[0] & np.uint64(2**63 - 1)).view(np.int64)
    total: Bits = np.zeros(len(columns[0]) if columns else 0, dtype=np.uint64)
    for each in hashes:
        total = mix(total * np.uint64(31) + each)
    return (total >> np.uint64(1)).view(np.int64)


def _hashed(column: pa.Array) -> Bits:
    """64 bits of each value; null is 0."""
    if pa.types.is_dictionary(column.type):
        return _hashed(column.dictionary_decode())
    column = pa.concat_arrays([column])  # buffers from their start
    if pa.types.is_string(column.type) or pa.types.is_binary(column.type):
        offsets = np.frombuffer(column.buffers()[1], dtype=np.int32)[: len(column) + 1].astype(np.int64)
        data = np.frombuffer(column.buffers()[2] or b"", dtype=np.uint8)[: offsets[-1]].astype(np.uint64)
        return _polynomial(data, offsets)
    width = column.type.bit_width // 8
    words = np.frombuffer(column.buffers()[1], dtype=np.uint8).reshape(-1, width)[: len(column), : min(width, 8)]
    whole = np.zeros((len(column), 8), dtype=np.uint8)
    whole[:, : words.shape[1]] = words
    bits: Bits = whole.view(np.uint64).reshape(-1)
    return np.where(np.asarray(column.is_null()), np.uint64(0), bits)


def _polynomial(data: Bits, offsets: Ints) -> Bits:
    """Of each text its bytes times powers of 31, summed in 64 bits: differences of one running sum."""
    factor = np.uint64(31)
    powers = np.cumprod(np.full(len(data) + 1, factor, dtype=np.uint64))
    inverse = np.cumprod(np.full(len(data) + 1, pow(31, -1, 1 << 64), dtype=np.uint64))
    sums = np.concatenate(
        [np.zeros(1, dtype=np.uint64), np.cumsum((data + np.uint64(1)) * powers[:-1], dtype=np.uint64)]
    )
    hashed: Bits = (sums[offsets[1:]] - sums[offsets[:-1]]) * inverse[offsets[:-1]]
    return hashed
