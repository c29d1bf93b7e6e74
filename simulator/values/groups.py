"""Numbering of rows in consecutive groups."""

from __future__ import annotations

import numpy as np

from simulator.values.draw import Ints


def numbered(sizes: Ints) -> Ints:
    """The number of each row in its group, from 0, of groups of these sizes.

    >>> numbered(np.array([2, 0, 1])).tolist()
    [0, 1, 0]
    """
    numbers: Ints = np.arange(int(sizes.sum()), dtype=np.int64) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return numbers


def expanded(sizes: Ints) -> tuple[Ints, Ints]:
    """The index of each row's group, and the row's number in it.

    >>> [numbers.tolist() for numbers in expanded(np.array([2, 0, 1]))]
    [[0, 0, 2], [0, 1, 0]]
    """
    return np.repeat(np.arange(len(sizes), dtype=np.int64), sizes), numbered(sizes)
