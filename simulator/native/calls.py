"""Calls of another library's functions for many objects, and copies of what they point to; see `calls.c`.

Each has an equivalent in Python, where the library is not loaded.
"""

from __future__ import annotations

import ctypes
from collections import deque
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.native.library import LIBRARY, memory

Addresses: TypeAlias = npt.NDArray[np.uint64]


def results(function: Any, objects: Addresses) -> Addresses:
    """Calls a function with each object and the address of a result; 0 where it writes none."""
    found = np.zeros(len(objects), np.uint64)
    if LIBRARY is not None:
        LIBRARY.cdcsim_results(ctypes.cast(function, ctypes.c_void_p), memory(objects), len(objects), memory(found))
    else:
        starts = range(memory(found), memory(found) + found.nbytes, found.itemsize)
        deque(map(function, objects.tolist(), starts), 0)
    return found


def each(function: Any, objects: Addresses) -> None:
    """Calls a function with each object."""
    if LIBRARY is not None:
        LIBRARY.cdcsim_each(ctypes.cast(function, ctypes.c_void_p), memory(objects), len(objects))
    else:
        deque(map(function, objects.tolist()), 0)


def joined(starts: Addresses, sizes: npt.NDArray[np.int64]) -> pa.Buffer:
    """A copy of spans of memory, one behind the other."""
    if LIBRARY is None:
        return pa.py_buffer(b"".join(map(ctypes.string_at, starts.tolist(), sizes.tolist())))
    room = pa.allocate_buffer(int(sizes.sum()))
    LIBRARY.cdcsim_join(memory(starts), memory(sizes), len(starts), room.address)
    return room
