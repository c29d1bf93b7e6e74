"""Loads the compiled library, if it was built and CDCSIM_PURE does not switch it off."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any, Final, cast

import numpy.typing as npt

# Version of the C interface: a library with another number was built from other sources.
ABI: Final = 13
# Path of the compiled library.
FILE: Final = Path(__file__).with_name("cdcsim.lib")

_POINTER, _LONG, _BITS, _BYTE = ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint64, ctypes.c_char


def load(path: Path = FILE) -> ctypes.CDLL | None:
    """The library, or None: without a compiler none was built, and CDCSIM_PURE=1 leaves it out."""
    if _unwanted():
        return None
    try:
        library = ctypes.CDLL(str(path))
        return _declared(library) if library.cdcsim_abi() == ABI else None
    except (OSError, AttributeError):
        return None


def _unwanted() -> bool:
    return os.environ.get("CDCSIM_PURE", "0") not in ("", "0")


def missing() -> bool:
    """Whether the library is wanted and was not built."""
    return LIBRARY is None and not _unwanted()


def _declared(library: ctypes.CDLL) -> ctypes.CDLL:
    """The library with the types of its functions. Raises AttributeError for one that it lacks."""
    library.cdcsim_write.restype = _LONG
    library.cdcsim_write.argtypes = [
        _POINTER, _POINTER, _LONG, _POINTER, _POINTER, _LONG, _LONG, _POINTER, _LONG, _POINTER,
    ]  # fmt: skip
    library.cdcsim_changes.restype = _LONG
    library.cdcsim_changes.argtypes = [
        _POINTER, _POINTER, _POINTER, _LONG, _LONG, _POINTER, _LONG, _POINTER, _LONG, _POINTER,
    ]  # fmt: skip
    library.cdcsim_in_turn.restype = _LONG
    library.cdcsim_in_turn.argtypes = [_POINTER, _POINTER, _LONG, _LONG, _POINTER]
    library.cdcsim_decimals.restype = None
    library.cdcsim_decimals.argtypes = [_POINTER, _LONG, ctypes.c_int, _POINTER, _POINTER]
    library.cdcsim_draws.restype = library.cdcsim_index.restype = library.cdcsim_nulls.restype = None
    library.cdcsim_draws.argtypes = [_POINTER, _POINTER, _LONG, _BITS, _POINTER]
    library.cdcsim_index.argtypes = [_POINTER, _POINTER, _LONG, _BITS, _BITS, _POINTER]
    library.cdcsim_nulls.argtypes = [_POINTER, _POINTER, _LONG, _BITS, _BITS, _BITS, _POINTER]
    for function, arrays, outputs in (
        (library.cdcsim_visits, 2, 2),
        (library.cdcsim_nth, 3, 1),
        (library.cdcsim_phases, 2, 1),
        (library.cdcsim_places, 3, 1),
    ):
        function.restype = _LONG
        function.argtypes = [_POINTER, *[_POINTER] * arrays, _LONG, *[_POINTER] * outputs]
    library.cdcsim_shuffle.restype = _LONG
    library.cdcsim_shuffle.argtypes = [_POINTER, _LONG, _BITS, _BITS, _BITS, _BITS, _LONG, _POINTER]
    library.cdcsim_calls.restype = _POINTER
    library.cdcsim_calls.argtypes = [_POINTER, _POINTER, _POINTER, _LONG, _POINTER, _LONG, _POINTER, _LONG]
    library.cdcsim_results.restype = library.cdcsim_each.restype = library.cdcsim_join.restype = None
    library.cdcsim_results.argtypes = [_POINTER, _POINTER, _LONG, _POINTER]
    library.cdcsim_each.argtypes = [_POINTER, _POINTER, _LONG]
    library.cdcsim_join.argtypes = [_POINTER, _POINTER, _LONG, _POINTER]
    return library


LIBRARY: Final = load()


def memory(array: npt.NDArray[Any]) -> int:
    """Address of a contiguous array's elements. Raises ValueError if they are not contiguous."""
    try:
        return ctypes.addressof(_BYTE.from_buffer(cast(Any, array)))  # five times as quick as asking NumPy
    except (TypeError, ValueError):  # read-only, empty, or apart
        if not array.flags.c_contiguous:
            raise ValueError("the elements of the array lie apart") from None
        return int(array.__array_interface__["data"][0])
