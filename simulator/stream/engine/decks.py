"""Decks: a fixed number of cards in the shares that are asked for, shuffled.

What happens by chance is dealt from a deck. Shares come out exactly, the order is that of dice, and since a deck has a
fixed length, the place of any card of an endless stream of decks is arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from simulator.values.draw import Ints, bits

# A deck is no longer, so its places fit into the low bits of a sort key.
MOST_CARDS = 1 << 22


def dealt(weights: Sequence[float] | npt.NDArray[np.float64], cards: int) -> Ints:
    """The number of each card's weight, in order: shares as close as whole cards can be."""
    ends = np.cumsum(np.asarray(weights, dtype=np.float64))
    middles = (np.arange(cards) + 0.5) / cards * ends[-1]
    cards_of: Ints = np.minimum(np.searchsorted(ends, middles, side="right"), len(ends) - 1).astype(np.int64)
    return cards_of


def order(cards: int, key: np.uint64) -> Ints:
    """A shuffled order of `cards` cards: the number of the card at each position."""
    low = np.uint64(MOST_CARDS - 1)
    draws = bits(key, np.arange(cards)) & ~low | np.arange(cards).astype(np.uint64)
    draws.sort()
    return (draws & low).view(np.int64)
