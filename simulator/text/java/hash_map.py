"""Iteration order of java.util.HashMap.

Since JDK 8: bucket of a key = (h ^ (h >>> 16)) & (capacity - 1) with h = String.hashCode; buckets in ascending order,
keys of one bucket in insertion order. Buckets of eight or more keys, which turn into trees, are not modelled.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

DEFAULT_CAPACITY = 16


def capacity(entries: int, initial: int = DEFAULT_CAPACITY) -> int:
    """Buckets of a map that has grown to this many entries: doubled whenever three quarters are exceeded.

    >>> capacity(12), capacity(13), capacity(4, 4)
    (16, 32, 8)
    """
    buckets = initial
    while entries > buckets * 3 // 4:
        buckets *= 2
    return buckets


def string_hash(text: str) -> int:
    """String.hashCode, without its sign.

    >>> string_hash("orders") - (1 << 32), string_hash("\N{GRINNING FACE}")
    (-1008770331, 1772899)
    """
    units = text.encode("utf-16-le")
    hashed = 0
    for low, high in zip(units[::2], units[1::2], strict=True):
        hashed = (31 * hashed + (high << 8 | low)) & 0xFFFFFFFF
    return hashed


def hash_order(names: Sequence[str], entries: int | None = None, *, initial: int = DEFAULT_CAPACITY) -> tuple[int, ...]:
    """Indexes of names in the order of a HashMap with `entries` of them (all, if None), inserted in the given order.

    >>> [("id", "name", "qty")[i] for i in hash_order(("id", "name", "qty"))]
    ['qty', 'name', 'id']
    """
    return _hash_order(tuple(names), capacity(len(names) if entries is None else entries, initial))


@lru_cache(maxsize=1024)
def _hash_order(names: tuple[str, ...], buckets: int) -> tuple[int, ...]:
    def bucket(index: int) -> int:
        hashed = string_hash(names[index])
        return (hashed ^ hashed >> 16) & (buckets - 1)

    return tuple(sorted(range(len(names)), key=bucket))
