"""Decks that deal a cohort's slots out: each slot sits on a seat, and each seat has some cards."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from simulator.stream.engine.decks import order
from simulator.values.draw import bits, key, unit
from simulator.values.groups import expanded

Gaps = Literal["independent", "steady", "bursts"]

# Different orders of a deck.
ORDERS: Final = 4
# Slots of a group at most; cards of each slot in a deck at least, cards of a deck at least.
GROUP: Final = 1 << 13
VISITS: Final = 16
CARDS: Final = 1 << 12
# Of a bursty cohort: the visits of a burst on average, and how many cards lie between them on average.
BURST: Final = 4
BURST_GAP: Final = 3


@dataclass(frozen=True, eq=False)
class Deck:
    """A deck in `ORDERS` orders. Cohorts that are alike share one."""

    seat: npt.NDArray[np.int32]  # by order and card
    rank: npt.NDArray[np.int32]  # by order and card: how many cards of its seat come before
    card: npt.NDArray[np.int32]  # by order, seat and rank


@lru_cache(maxsize=64)
def deck(slots: int, gaps: Gaps, visits: int, hot: int, more: int) -> Deck:
    """A deck of `slots` seats that have `visits` cards each, and the first `hot` ones `more`."""
    cards_of_seat = np.full(slots, visits, dtype=np.int64)
    cards_of_seat[:hot] += more
    cards = int(cards_of_seat.sum())
    owner, within = expanded(cards_of_seat)
    seats = np.empty((ORDERS, cards), dtype=np.int32)
    for which in range(ORDERS):
        salt = key("deck", slots, gaps, which)
        if gaps == "independent":
            seats[which] = owner[order(cards, salt)]
            continue
        drawn = unit(bits(salt, np.arange(cards)))
        split = hot * (visits + more)
        alike = drawn[:split].reshape(-1, visits + more), drawn[split:].reshape(-1, visits)
        sort_keys = [_steady(part) if gaps == "steady" else _bursts(part, cards) for part in alike if part.size]
        seats[which] = owner[np.argsort(np.concatenate([part.ravel() for part in sort_keys]), kind="stable")]
    by_seat = np.argsort(seats.astype(np.uint16), axis=1, kind="stable")  # 16 bits are sorted by radix
    rank = np.empty((ORDERS, cards), dtype=np.int32)
    np.put_along_axis(rank, by_seat, np.tile(within.astype(np.int32), (ORDERS, 1)), axis=1)
    return Deck(seats, rank, by_seat.astype(np.int32))


def _steady(drawn: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Cards of a seat one after the other: each seat once in each pass."""
    steady: npt.NDArray[np.float64] = (drawn + np.arange(drawn.shape[1])) / drawn.shape[1]
    return steady


def _bursts(drawn: npt.NDArray[np.float64], cards: int) -> npt.NDArray[np.float64]:
    """Cards of a seat behind each other: each BURST of them near the first, at gaps that are exponential."""
    numbers = np.arange(drawn.shape[1])
    gaps = -np.log1p(-drawn) * BURST_GAP / cards
    gaps[:, numbers % BURST == 0] = 0
    heads = drawn[:, numbers // BURST * BURST]
    since = np.cumsum(gaps, axis=1)
    bursts: npt.NDArray[np.float64] = heads + since - since[:, numbers // BURST * BURST]
    return bursts
