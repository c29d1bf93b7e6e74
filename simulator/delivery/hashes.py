"""The hash functions that choose partitions, on whole columns.

| name | definition | used by |
| --- | --- | --- |
| `string_hash` | h = 31·h + unit over UTF-16 units, 32 bits, signed | Java's String.hashCode |
| `murmur2` | MurmurHash2 over bytes, seed 0x9747b28c | the default of Kafka's Java producer |
| `murmur3` | MurmurHash3 over bytes, 32 bits for x86 | Maxwell |
| `crc32` | CRC-32 over bytes | the default of librdkafka |
| `to_positive_mod` | (h & 0x7fffffff) % n | after murmur2 |
| `java_abs_mod` | abs(abs(h) % n), with Java's signs | after string_hash |

A null hashes like an empty text; the caller decides what a null key means.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Hashes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint32]

_INVERSE_31: Final = pow(31, -1, 1 << 32)
# Texts are hashed in chunks of about this many units, which keeps the tables of powers small.
_RUN: Final = 1 << 20


def string_hash(array: pa.Array) -> Hashes:
    """Java's String.hashCode of each text.

    >>> string_hash(pa.array(["", "orders", "中文", "😀", None])).tolist()
    [0, -1008770331, 646394, 1772899, 0]
    """
    if pa.types.is_dictionary(array.type):
        return _spread(array, string_hash)
    data, offsets = _bytes_of(array)
    units: npt.NDArray[np.uint16 | np.uint8] = data
    if len(data) and int(data.max()) >= 0x80:
        # The first byte of a character counts one unit, that of a four-byte character two, other bytes none.
        counts = (data & 0xC0 != 0x80).astype(np.int64) + (data >= 0xF0)
        places = np.zeros(len(data) + 1, dtype=np.int64)
        np.cumsum(counts, out=places[1:])
        offsets = places[offsets]
        units = np.frombuffer(data.tobytes().decode().encode("utf-16-le"), dtype=np.uint16)
    hashes = np.empty(len(array), dtype=np.uint32)
    row = 0
    while row < len(array):
        until = max(int(np.searchsorted(offsets, offsets[row] + _RUN, side="right")) - 1, row + 1)
        hashes[row:until] = _polynomials(units, offsets[row : until + 1])
        row = until
    return hashes.view(np.int32)


def _polynomials(units: npt.NDArray[np.uint16 | np.uint8], offsets: Ints) -> npt.NDArray[np.uint32]:
    """Hashes of the texts between these offsets, all at once.

    31 has an inverse modulo 2^32, so the hash of units a to b is 31^(b-1) times the sum of unit_j · 31^-j over them: a
    difference of two running sums.
    """
    first, last = int(offsets[0]), int(offsets[-1])
    powers, inverses = _powers(1 << max(last - first, 1).bit_length())
    sums = np.zeros(last - first + 1, dtype=np.uint32)
    np.cumsum(units[first:last] * inverses[: last - first], out=sums[1:], dtype=np.uint32)
    borders = offsets - first
    hashes: npt.NDArray[np.uint32] = (sums[borders[1:]] - sums[borders[:-1]]) * powers[np.maximum(borders[1:] - 1, 0)]
    return hashes


@lru_cache(maxsize=4)
def _powers(count: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """31^i and 31^-i modulo 2^32, for i below count."""
    tables = []
    for base in (31, _INVERSE_31):
        table = np.full(count, base, dtype=np.uint32)
        table[0] = 1
        tables.append(np.cumprod(table, dtype=np.uint32))
    return tables[0], tables[1]


def murmur2(array: pa.Array) -> Hashes:
    """Kafka's Utils.murmur2 of each value's bytes, signed.

    >>> (murmur2(pa.array([b"21", b"foobar", b""])) & 0x7FFFFFFF).tolist()
    [1173551340, 1357151166, 275646681]
    """
    if pa.types.is_dictionary(array.type):
        return _spread(array, murmur2)
    words = _Words(array)
    m = np.uint32(0x5BD1E995)
    h = words.lengths.astype(np.uint32) ^ np.uint32(0x9747B28C)
    for rows, k in words.whole():
        k = k * m
        k = (k ^ (k >> np.uint32(24))) * m
        h[rows] = h[rows] * m ^ k
    rows, k = words.tails()
    h[rows] = (h[rows] ^ k) * m
    h ^= h >> np.uint32(13)
    h *= m
    h ^= h >> np.uint32(15)
    return h.view(np.int32)


def murmur3(array: pa.Array, seed: int = 0) -> Hashes:
    """MurmurHash3_x86_32 of each value's bytes, signed.

    >>> murmur3(pa.array([b"", b"test", b"Hello, world!"])).view(np.uint32).tolist()
    [0, 3127628307, 3224780355]
    """
    if pa.types.is_dictionary(array.type):
        return _spread(array, partial(murmur3, seed=seed))
    words = _Words(array)
    h = np.full(len(array), seed, dtype=np.uint32)

    def mixed(k: Words) -> Words:
        return _rotated(k * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)

    for rows, k in words.whole():
        h[rows] = _rotated(h[rows] ^ mixed(k), 13) * np.uint32(5) + np.uint32(0xE6546B64)
    rows, k = words.tails()
    h[rows] ^= mixed(k)
    h ^= words.lengths.astype(np.uint32)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        h ^= h >> np.uint32(shift)
        h *= np.uint32(factor)
    return h.view(np.int32)


def _rotated(words: Words, bits: int) -> Words:
    return words << np.uint32(bits) | words >> np.uint32(32 - bits)


class _Words:
    """The bytes of an array's values as little-endian words of four bytes, hashed for all values at once."""

    def __init__(self, array: pa.Array) -> None:
        data, offsets = _bytes_of(array)
        self.lengths, self._starts = np.diff(offsets), offsets[:-1]
        # Padding, so that four bytes can be read at any offset.
        padded = np.concatenate([data, np.zeros(4, dtype=np.uint8)])
        self._words = np.ndarray(len(data) + 1, dtype="<u4", buffer=padded, strides=(1,))

    def whole(self) -> Iterator[tuple[Ints, Words]]:
        """Yields, for each i, the values that have a word number i, and these words."""
        counts = self.lengths >> 2
        order = np.argsort(-counts, kind="stable")
        # Longest first: the rows that still have a word number i lead the order.
        for i in range(int(counts.max(initial=0))):
            rows = order[: np.searchsorted(-counts[order], -i, side="left")]
            yield rows, self._words[self._starts[rows] + 4 * i]

    def tails(self) -> tuple[Ints, Words]:
        """The values with bytes after their last whole word, and these bytes as a word."""
        counts = self.lengths & 3
        rows = np.flatnonzero(counts)
        masks = np.array([0, 0xFF, 0xFFFF, 0xFFFFFF], dtype=np.uint32)
        return rows, self._words[self._starts[rows] + 4 * (self.lengths[rows] >> 2)] & masks[counts[rows]]


def crc32(array: pa.Array) -> npt.NDArray[np.uint32]:
    """CRC-32 of each value's bytes, unsigned.

    >>> (crc32(pa.array([b"foobar"])) % 12).tolist()
    [5]
    """
    if pa.types.is_dictionary(array.type):
        return _spread(array, crc32)
    data, offsets = _bytes_of(array)
    view = memoryview(data.tobytes())
    ends = offsets.tolist()
    return np.fromiter((zlib.crc32(view[a:b]) for a, b in pairwise(ends)), dtype=np.uint32, count=len(array))


def to_positive_mod(hashes: Hashes, n: int) -> Ints:
    """(h & 0x7fffffff) % n, as Kafka's Java producer does after murmur2.

    >>> to_positive_mod(np.array([-1, 5], dtype=np.int32), 4).tolist()
    [3, 1]
    """
    positive: Ints = (hashes & np.int32(0x7FFFFFFF)).astype(np.int64) % n
    return positive


def java_abs_mod(hashes: Hashes, n: int) -> Ints:
    """Math.abs(Math.abs(h) % n): abs of the least int stays negative in Java, and % keeps the sign.

    >>> java_abs_mod(np.array([-2147483648, -7, 7], dtype=np.int32), 3).tolist()
    [2, 1, 1]
    """
    # Uses absolute values: Java's sign does not matter here, and 64 bits hold the magnitude of the least int.
    magnitude: Ints = np.abs(hashes.astype(np.int64)) % n
    return magnitude


def _bytes_of(array: pa.Array) -> tuple[npt.NDArray[np.uint8], Ints]:
    """The bytes of an array's texts, and the offsets of each text and of the end, from 0. A null is empty."""
    if not len(array) or array.buffers()[2] is None:
        return np.empty(0, dtype=np.uint8), np.zeros(len(array) + 1, dtype=np.int64)
    if array.null_count:
        array = array.fill_null(b"" if pa.types.is_binary(array.type) else "")
    offsets = np.frombuffer(array.buffers()[1], dtype=np.int32)[array.offset : array.offset + len(array) + 1]
    data = np.frombuffer(array.buffers()[2] or b"", dtype=np.uint8)[offsets[0] : offsets[-1]]
    return data, offsets.astype(np.int64) - int(offsets[0])


def _spread(array: pa.Array, hashed: Callable[[pa.Array], npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """The hash of each row, computed once per dictionary text; a null hashes like the empty text."""
    empty = pa.array([b""]).cast(array.dictionary.type)
    hashes = np.append(hashed(array.dictionary), hashed(empty))
    row_hashes: npt.NDArray[Any] = hashes[np.asarray(array.indices.fill_null(len(array.dictionary)))]
    return row_hashes


def md5(array: pa.Array) -> Hashes:
    """The first four bytes of the MD5 of each text.

    >>> md5(pa.array(["", "7"])).tolist()
    [-736260903, -1894456225]
    """
    return _of_distinct(array, lambda text: int.from_bytes(hashlib.md5(text.encode()).digest()[:4], signed=True))


def original(array: pa.Array) -> Hashes:
    """The number that a text spells, its low 31 bits; Java's String.hashCode of a text that is no number.

    >>> original(pa.array(["7", "-1", "orders"])).tolist()
    [7, -1, -1008770331]
    """

    def number(text: str) -> int:
        if not text.lstrip("-").isdecimal():
            return int(string_hash(pa.array([text]))[0])
        return int(np.int64(int(text) & 0xFFFFFFFF).astype(np.int32))

    return _of_distinct(array, number)


def _of_distinct(array: pa.Array, hash_of: Callable[[str], int]) -> Hashes:
    coded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    hashes = np.array([hash_of(text) for text in coded.dictionary.to_pylist()] or [0], dtype=np.int32)
    rows: Hashes = hashes[np.asarray(coded.indices.fill_null(0))]
    return rows


@dataclass(frozen=True, slots=True)
class Hash:
    """A hash function, and the function that maps its result to a partition."""

    of: Callable[[pa.Array], Hashes]
    modulo: Callable[[Hashes, int], Ints]

    def partitions(self, texts: pa.Array, count: int) -> Ints:
        """The partition of each text."""
        return self.modulo(self.of(texts), count)

    def partition(self, text: str, count: int) -> int:
        return int(self.partitions(pa.array([text]), count)[0])


# Java's String.hashCode: |hash mod n| with Java's signs, or (hash & 0x7fffffff) mod n.
JAVA_ABS: Final = Hash(string_hash, java_abs_mod)
JAVA_MASK: Final = Hash(string_hash, to_positive_mod)
# The default partitioner of Kafka's Java client.
MURMUR2: Final = Hash(murmur2, to_positive_mod)
# Hash of an MD5 digest, and the number that a text spells.
MD5: Final = Hash(md5, to_positive_mod)
ORIGINAL: Final = Hash(original, to_positive_mod)
