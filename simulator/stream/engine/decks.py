"""Decks: a fixed number of cards, in requested shares, in shuffled order.

Random choices are dealt from a deck. So shares are exact, the order looks random, and the position of any card in an
endless sequence of decks follows by arithmetic, since all decks have the same length.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from simulator.values.draw import Ints, bits

# Maximum length of a deck: positions must fit into the low bits of a sort key.
MOST_CARDS = 1 << 22


def dealt(weights: Sequence[float] | npt.NDArray[np.float64], cards: int) -> Ints:
    """The index of the weight of each card, ascending; shares are as exact as whole cards allow."""
    ends = np.cumsum(np.asarray(weights, dtype=np.float64))
    middles = (np.arange(cards) + 0.5) / cards * ends[-1]
    cards_of: Ints = np.minimum(np.searchsorted(ends, middles, side="right"), len(ends) - 1).astype(np.int64)
    return cards_of


def order(cards: int, key: np.uint64) -> Ints:
    """A permutation: the card at each position."""
    low = np.uint64(MOST_CARDS - 1)
    draws = bits(key, np.arange(cards)) & ~low | np.arange(cards).astype(np.uint64)
    draws.sort()
    return (draws & low).view(np.int64)
