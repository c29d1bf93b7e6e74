"""Draws of columns by the compiled library; callers check first that it is available."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from simulator.native.library import LIBRARY, memory

Ints = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint64]


def changes(ticks: Ints, cycles: Ints, programs: Ints, start: int, counts: Ints, per_cycle: Ints) -> Ints:
    """Counts how often each row's column was set before, by the row's tick, cycle and program."""
    assert LIBRARY is not None
    counts_before = np.empty(len(ticks), dtype=np.int64)
    within = LIBRARY.cdcsim_changes(
        memory(ticks), memory(cycles), memory(programs), len(ticks), start, memory(counts), len(counts),
        memory(per_cycle), len(per_cycle), memory(counts_before),
    )  # fmt: skip
    assert within, "a tick or a program that the column's past does not have"
    return counts_before


def draws(identities: Bits, changes: Ints, salt: np.uint64) -> Bits:
    """64 fresh bits for each setting."""
    assert LIBRARY is not None
    drawn = np.empty(len(changes), dtype=np.uint64)
    LIBRARY.cdcsim_draws(memory(identities), memory(changes), len(changes), int(salt), memory(drawn))
    return drawn


def identities(slots: Ints, numbers: Ints) -> Bits:
    """Permanent identities of rows, from their slots and row numbers: `simulator.values.draw.identity`."""
    hashed = draws(numbers.view(np.uint64), np.zeros(len(numbers), dtype=np.int64), np.uint64(0))
    return draws(hashed, slots, np.uint64(0))


def index(identities: Bits, changes: Ints, salt: np.uint64, size: int) -> Ints:
    """Numbers in [0, size) as `generators.index.Index` draws them."""
    assert LIBRARY is not None
    numbers = np.empty(len(changes), dtype=np.int64)
    LIBRARY.cdcsim_index(memory(identities), memory(changes), len(changes), int(salt), size, memory(numbers))
    return numbers


def in_turn(places: Ints, changes: Ints, size: int) -> npt.NDArray[np.int32]:
    """Numbers in [0, size), one after the other over neighbouring rows, and over the settings of each."""
    assert LIBRARY is not None
    numbers = np.empty(len(changes), dtype=np.int32)
    counted = LIBRARY.cdcsim_in_turn(memory(places), memory(changes), len(changes), size, memory(numbers))
    assert counted, "a place is negative"
    return numbers


def nulls(identities: Bits, changes: Ints, salt: np.uint64, share: int, between: int) -> npt.NDArray[np.bool_]:
    """Mask of the settings that are null, as `generators.nulls.Nulls` draws them; the shares are of 2^64."""
    assert LIBRARY is not None
    is_null = np.empty(len(changes), dtype=np.bool_)
    LIBRARY.cdcsim_nulls(memory(identities), memory(changes), len(changes), int(salt), share, between, memory(is_null))
    return is_null


def decimals(values: npt.NDArray[np.floating[Any]]) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Unscaled number and scale of each value, and a mask of those that Java certainly prints with the same digits."""
    assert LIBRARY is not None
    with np.errstate(invalid="ignore"):  # some processors' signal for a signaling NaN
        wide = np.ascontiguousarray(values, dtype=np.float64)
    pairs, easy = np.empty((len(wide), 2), dtype=np.int64), np.empty(len(wide), dtype=np.bool_)
    LIBRARY.cdcsim_decimals(memory(wide), len(wide), values.dtype == np.float32, memory(pairs), memory(easy))
    return pairs, easy


def shuffle(positions: Ints, key: np.uint64, size: int, a: int, b: int, *, back: bool) -> Ints:
    """Each position as `generators.shuffle.Shuffle` moves it."""
    assert LIBRARY is not None
    positions = np.ascontiguousarray(positions, dtype=np.int64)
    shuffled = np.empty(len(positions), dtype=np.int64)
    succeeded = LIBRARY.cdcsim_shuffle(memory(positions), len(positions), int(key), size, a, b, back, memory(shuffled))
    assert succeeded, "a position that is not among those shuffled"
    return shuffled
