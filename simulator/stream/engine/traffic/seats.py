"""Decks that deal turns to a cohort's slots: each slot has a seat, each seat some cards, and each card is a turn."""

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
# Maximum slots of a group; minimum cards of a slot in a deck; minimum cards of a deck.
GROUP: Final = 1 << 13
VISITS: Final = 16
CARDS: Final = 1 << 12
# Bursty cohorts: mean visits of a burst, and mean number of cards between them.
BURST: Final = 4
BURST_GAP: Final = 3


@dataclass(frozen=True, eq=False)
class Deck:
    """A deck in `ORDERS` orders. Cohorts that are alike share one."""

    seat: npt.NDArray[np.int32]  # by order and card
    rank: npt.NDArray[np.int32]  # by order and card: cards of the same seat before it
    card: npt.NDArray[np.int32]  # by order, seat and rank


@lru_cache(maxsize=64)
def deck(slots: int, gaps: Gaps, visits: int, hot: int, more: int) -> Deck:
    """A deck of `slots` seats with `visits` cards each; the first `hot` seats have `more` besides."""
    cards_of_seat = np.full(slots, visits, dtype=np.int64)
    cards_of_seat[:hot] += more
    cards = int(cards_of_seat.sum())
    owner, within = expanded(cards_of_seat)
    seats = np.empty((ORDERS, cards), dtype=np.int32)
    for order_number in range(ORDERS):
        salt = key("deck", slots, gaps, order_number)
        if gaps == "independent":
            seats[order_number] = owner[order(cards, salt)]
            continue
        drawn = unit(bits(salt, np.arange(cards)))
        split = hot * (visits + more)
        alike = drawn[:split].reshape(-1, visits + more), drawn[split:].reshape(-1, visits)
        sort_keys = [_steady(part) if gaps == "steady" else _bursts(part, cards) for part in alike if part.size]
        seats[order_number] = owner[np.argsort(np.concatenate([part.ravel() for part in sort_keys]), kind="stable")]
    by_seat = np.argsort(seats.astype(np.uint16), axis=1, kind="stable")  # NumPy sorts 16-bit numbers by radix
    rank = np.empty((ORDERS, cards), dtype=np.int32)
    np.put_along_axis(rank, by_seat, np.tile(within.astype(np.int32), (ORDERS, 1)), axis=1)
    return Deck(seats, rank, by_seat.astype(np.int32))


def _steady(drawn: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Sort keys of cards that come evenly: each seat once in each pass."""
    steady: npt.NDArray[np.float64] = (drawn + np.arange(drawn.shape[1])) / drawn.shape[1]
    return steady


def _bursts(drawn: npt.NDArray[np.float64], cards: int) -> npt.NDArray[np.float64]:
    """Sort keys of cards that come in bursts: BURST cards of a seat follow their first at exponential gaps."""
    numbers = np.arange(drawn.shape[1])
    gaps = -np.log1p(-drawn) * BURST_GAP / cards
    gaps[:, numbers % BURST == 0] = 0
    heads = drawn[:, numbers // BURST * BURST]
    since = np.cumsum(gaps, axis=1)
    bursts: npt.NDArray[np.float64] = heads + since - since[:, numbers // BURST * BURST]
    return bursts
