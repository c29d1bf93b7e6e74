"""Calls of another library's functions for many objects, and copies of what they point to; see `calls.c`.

Each has an equivalent in Python, for a library that was not built or that was built from sources without it.
"""

from __future__ import annotations

import ctypes
from collections import deque
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.native.library import LIBRARY, memory

Addresses: TypeAlias = npt.NDArray[np.uint64]

_POINTER, _LONG = ctypes.c_void_p, ctypes.c_int64


def _declared(name: str, *arguments: Any) -> Any:
    function = getattr(LIBRARY, name, None)
    if function is not None:
        function.restype, function.argtypes = None, arguments
    return function


RESULTS: Final = _declared("cdcsim_results", _POINTER, _POINTER, _LONG, _POINTER)
EACH: Final = _declared("cdcsim_each", _POINTER, _POINTER, _LONG)
JOIN: Final = _declared("cdcsim_join", _POINTER, _POINTER, _LONG, _POINTER)


def results(function: Any, objects: Addresses) -> Addresses:
    """Calls a function with each object and the address of a result; 0 where it writes none."""
    found = np.zeros(len(objects), np.uint64)
    if RESULTS is not None:
        RESULTS(ctypes.cast(function, _POINTER), memory(objects), len(objects), memory(found))
    else:
        starts = range(memory(found), memory(found) + found.nbytes, found.itemsize)
        deque(map(function, objects.tolist(), starts), 0)
    return found


def each(function: Any, objects: Addresses) -> None:
    """Calls a function with each object."""
    if EACH is not None:
        EACH(ctypes.cast(function, _POINTER), memory(objects), len(objects))
    else:
        deque(map(function, objects.tolist()), 0)


def joined(starts: Addresses, sizes: npt.NDArray[np.int64]) -> pa.Buffer:
    """A copy of spans of memory, one behind the other."""
    if JOIN is None:
        return pa.py_buffer(b"".join(map(ctypes.string_at, starts.tolist(), sizes.tolist())))
    room = pa.allocate_buffer(int(sizes.sum()))
    JOIN(memory(starts), memory(sizes), len(starts), room.address)
    return room
