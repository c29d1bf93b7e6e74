"""Which slot does turn i touch, and for which time? Arithmetic and tables only, both ways.

Slots are in cohorts: ranges of slots with one program and one weight. Two decks are between a turn and a slot:

    turn → (cohort, n-th visit of the cohort)   a period of turns deals the cohorts out by weight
    n    → (slot, v-th visit of the slot)       a deck of the cohort deals its slots out, each equally often

A large cohort is cut into groups that take turns, and each group deals from a deck of its own. Which order a deck has
is drawn by hash for each period and each deck, from a few orders that are made once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from simulator.stream.engine.decks import dealt, order
from simulator.values.draw import GOLDEN, Bits, Ints, below, bits, key, mix, unit

# Of each state, or of all.
Sizes = Ints | int
Gaps = Literal["independent", "steady", "bursts"]

# Turns in a period: from so many to so many, enough for each cohort to get RARE of them.
PERIOD: Final = 1 << 14
LONGEST_PERIOD: Final = 1 << 19
RARE: Final = 8
# Different orders of a deck or a period; of a long period one.
ORDERS: Final = 4
LONG: Final = 1 << 16
# Slots of a group at most; cards of each slot in a deck at least, cards of a deck at least.
GROUP: Final = 1 << 13
VISITS: Final = 16
CARDS: Final = 1 << 12
# Of a bursty cohort: the visits of a burst on average, and how many cards lie between them on average.
BURST: Final = 4
BURST_GAP: Final = 3


@dataclass(frozen=True, slots=True)
class Cohort:
    """`count` slots from `base` on that run one program, each with `weight` as its share of the turns."""

    program: int
    base: int
    count: int
    weight: float
    gaps: Gaps = "independent"


def fitting(slots: int) -> int:
    """The number of slots nearest to the one asked for that can be cut into groups of the same size."""
    groups = -(-slots // GROUP)
    return groups * max(1, round(slots / groups))


class Deck(NamedTuple):
    """A deck of `slots` seats, each with `visits` cards, in `ORDERS` orders."""

    slots: int
    visits: int
    seat: npt.NDArray[np.int32]  # by order and card
    number: npt.NDArray[np.int32]  # by order and card: how many cards of its seat come before
    card: npt.NDArray[np.int32]  # by order, seat and number


@lru_cache(maxsize=64)
def deck(slots: int, gaps: Gaps) -> Deck:
    """The same for all seeds, which choose among the orders and turn the seats round."""
    visits = max(VISITS, CARDS // slots)
    cards = slots * visits
    owner = np.repeat(np.arange(slots, dtype=np.int64), visits)
    seats = np.empty((ORDERS, cards), dtype=np.int32)
    for which in range(ORDERS):
        salt = key("deck", slots, gaps, which)
        if gaps == "independent":
            seats[which] = owner[order(cards, salt)]
        else:
            places = unit(bits(salt, np.arange(cards))).reshape(slots, visits)
            if gaps == "steady":  # one after the other: each once in each pass
                places += np.arange(visits)
            else:
                places = _bursts(places, visits, cards)
            seats[which] = owner[np.argsort(places.ravel(), kind="stable")]
    by_seat = np.argsort(seats.astype(np.uint16), axis=1, kind="stable")  # 16 bits are sorted by radix
    number = np.empty((ORDERS, cards), dtype=np.int32)
    np.put_along_axis(number, by_seat, np.tile(np.arange(visits, dtype=np.int32), (ORDERS, slots)), axis=1)
    return Deck(slots, visits, seats, number, by_seat.astype(np.int32))


def _bursts(places: npt.NDArray[np.float64], visits: int, cards: int) -> npt.NDArray[np.float64]:
    """Cards of a seat behind each other: each BURST of them near the first, at gaps that are exponential."""
    numbers = np.arange(visits)
    gaps = -np.log1p(-places) * BURST_GAP / cards
    gaps[:, numbers % BURST == 0] = 0
    heads = places[:, numbers // BURST * BURST]
    since = np.cumsum(gaps, axis=1)
    return heads + since - since[:, numbers // BURST * BURST]


class Traffic:
    """The closed form of turns. Arrays in, arrays out; turns and visits may be negative (before the stream began)."""

    def __init__(self, cohorts: Sequence[Cohort], seed: int) -> None:
        self.cohorts = tuple(cohorts)
        self._period_key, self._deck_key, self._turn_key = (
            key(seed, "traffic", what) for what in ("turns", "decks", "groups")
        )
        decks = [deck(cohort.count // self._groups(cohort), cohort.gaps) for cohort in cohorts]
        self._base = _ints(cohort.base for cohort in cohorts)
        self._group_count = _ints(self._groups(cohort) for cohort in cohorts)
        self._slots, self._visits = _ints(d.slots for d in decks), _ints(d.visits for d in decks)
        self._deal(decks)
        self._deal_turns()
        self._counted: dict[frozenset[int], tuple[int, Ints]] = {}

    @staticmethod
    def _groups(cohort: Cohort) -> int:
        groups = -(-cohort.count // GROUP)
        assert cohort.count % groups == 0
        return groups

    def _deal(self, decks: Sequence[Deck]) -> None:
        """The decks of all cohorts one behind the other, each different one once."""
        distinct = {id(d): d for d in decks}
        starts, at = {}, 0
        for name, each in distinct.items():
            starts[name] = at
            at += each.seat.size
        empty = np.empty(0, dtype=np.int32)
        self._start = _ints(starts[id(d)] for d in decks)
        self._seat = np.concatenate([empty, *(d.seat.ravel() for d in distinct.values())])
        self._number = np.concatenate([empty, *(d.number.ravel() for d in distinct.values())])
        self._card = np.concatenate([empty, *(d.card.ravel() for d in distinct.values())])

    def _deal_turns(self) -> None:
        weights = [cohort.weight * cohort.count for cohort in self.cohorts]
        self.single = len(weights) == 1
        if len(weights) < 2:
            self.period, self._cards, orders = 1, np.ones(len(weights), dtype=np.int64), 1
            cohort = np.zeros((1, len(weights)), dtype=np.int64)
        else:
            rarest = min(weights) / sum(weights)
            wanted = RARE / max(rarest, RARE / LONGEST_PERIOD)
            self.period = min(LONGEST_PERIOD, max(PERIOD, 1 << int(wanted).bit_length()))
            spare = self.period - len(weights)  # each cohort has a card at least
            hand = dealt(weights, spare)
            hand = (
                np.concatenate([hand, np.arange(len(weights))])
                if rarest * self.period < 1
                else dealt(weights, self.period)
            )
            self.period, orders = len(hand), 1 if self.period > LONG else ORDERS
            self._cards = np.bincount(hand, minlength=len(weights)).astype(np.int64)
            cohort = np.stack([hand[order(len(hand), key("period", which))] for which in range(orders)])
        self._orders = orders
        by_cohort = np.argsort(cohort.astype(np.uint16), axis=1, kind="stable")
        self._cohort = cohort.astype(np.int32)
        self._first_card = np.cumsum(self._cards) - self._cards
        number = np.empty(cohort.shape, dtype=np.int32)
        within = np.arange(self.period) - np.repeat(self._first_card, self._cards) if len(weights) else number[0]
        np.put_along_axis(number, by_cohort, np.tile(within.astype(np.int32), (orders, 1)), axis=1)
        self._nth = number  # by order and position: how many cards of its cohort come before
        self._position = by_cohort.astype(np.int32)  # by order, cohort and number

    # ------------------------------------------------------------------------------------------------------- forwards

    def visits(self, turns: Ints) -> tuple[Ints, Ints, Ints]:
        """(cohort, slot, visit number) of each turn."""
        if self.single:
            cohort, nth = np.zeros(len(turns), dtype=np.int64), turns
        else:
            period, position = np.divmod(turns, self.period)
            at = self._order(period), position
            cohort = self._cohort[at].astype(np.int64)
            nth = period * self._cards[cohort] + self._nth[at]
        groups, slots, visits, start, base = self._of(cohort)
        dealing, position = np.divmod(nth, groups)
        group = position + self._turned(cohort, dealing, groups)
        group -= groups * (group >= groups)
        cards = slots * visits
        number, card = np.divmod(dealing, cards)
        which, turned = self._drawn(cohort, group, number, slots)
        at_card = start + which * cards + card
        seat = self._seat[at_card] + turned
        seat -= slots * (seat >= slots)
        slot: Ints = np.asarray(base + seat * groups + group, dtype=np.int64)
        visit: Ints = np.asarray(number * visits + self._number[at_card], dtype=np.int64)
        return cohort, slot, visit

    def turns(self, cohort: Ints, slot: Ints, visit: Ints) -> Ints:
        """The turn at which a slot is visited for the `visit`-th time (from 0; negative: before turn 0)."""
        groups, slots, visits, start, base = self._of(cohort)
        seat, group = np.divmod(slot - base, groups)
        number, rank = np.divmod(visit, visits)
        which, turned = self._drawn(cohort, group, number, slots)
        seat = seat - turned
        seat += slots * (seat < 0)
        cards = slots * visits
        dealing = number * cards + self._card[start + which * cards + seat * visits + rank]
        position = group - self._turned(cohort, dealing, groups)
        position += groups * (position < 0)
        nth = dealing * groups + position
        turns: Ints = nth
        if not self.single:
            period, rank = np.divmod(nth, self._cards[cohort])
            turns = period * self.period + self._position[self._order(period), self._first_card[cohort] + rank]
        return turns

    def visits_before(self, cohort: int, slots: Ints, turns: Ints | int) -> Ints:
        """How often each of these slots of one cohort was visited before a turn, counted from turn 0 (may be 0)."""
        nth = self.cohort_visits([cohort], np.broadcast_to(np.asarray(turns, dtype=np.int64), slots.shape))
        of = np.full(len(slots), cohort, dtype=np.int64)
        groups, seats, visits, start = (
            int(x[cohort]) for x in (self._group_count, self._slots, self._visits, self._start)
        )
        seat, group = np.divmod(slots - self.cohorts[cohort].base, groups)
        dealing, position = np.divmod(nth, groups)
        place = group - self._turned(of, dealing, groups)
        place += groups * (place < 0)
        dealing = dealing + (place < position)
        cards = seats * visits
        number, card = np.divmod(dealing, cards)
        which, turned = self._drawn(of, group, number, seats)
        seat = seat - turned
        seat += seats * (seat < 0)
        # the cards of the seat before this one: a search in each seat's cards
        first = start + which * cards + seat * visits
        low, high = np.zeros(len(slots), dtype=np.int64), np.full(len(slots), visits, dtype=np.int64)
        for _ in range(visits.bit_length()):
            middle = (low + high) >> 1
            before = (low < high) & (self._card[first + np.minimum(middle, visits - 1)] < card)
            low, high = np.where(before, middle + 1, low), np.where(before, high, middle)
        before_turn: Ints = number * visits + low
        return before_turn

    # --------------------------------------------------------------------------------------------------------- counts

    def cohort_visits(self, cohorts: Sequence[int], turns: Ints) -> Ints:
        """How many turns before each of these (from turn 0; negative before it) belong to some of the cohorts."""
        chosen = frozenset(cohorts)
        if len(chosen) == len(self.cohorts):
            return turns
        if chosen not in self._counted:
            mine = np.isin(self._cohort, list(chosen))
            counts = np.cumsum(mine, axis=1, dtype=np.int64) - mine
            self._counted[chosen] = int(mine[0].sum()), counts
        whole, before = self._counted[chosen]
        period, position = np.divmod(turns, self.period)
        counted: Ints = period * whole + before[self._order(period), position]
        return counted

    def earliest(self, cohort: int, visits: int) -> int:
        """A turn that is not after the `visits`-th visit before turn 0 of any of a cohort's slots."""
        decks = -(-visits // int(self._visits[cohort]))
        nth = decks * int(self._slots[cohort] * self._visits[cohort] * self._group_count[cohort])
        return -self.period * -(-nth // int(self._cards[cohort]))

    # ---------------------------------------------------------------------------------------------------------- draws

    def _of(self, cohort: Ints) -> tuple[Sizes, Sizes, Sizes, Sizes, Sizes]:
        """(groups, slots of a group, visits of a slot in a deck, where the deck stands, first slot) of cohorts."""
        tables = self._group_count, self._slots, self._visits, self._start, self._base
        if self.single:
            groups, slots, visits, start, base = (int(table[0]) for table in tables)
            return groups, slots, visits, start, base
        return tables[0][cohort], tables[1][cohort], tables[2][cohort], tables[3][cohort], tables[4][cohort]

    def _order(self, period: Ints) -> Ints:
        return below(bits(self._period_key, period), self._orders)

    def _turned(self, cohort: Ints, dealing: Ints, groups: Sizes) -> Ints:
        """With which group a cohort begins when all its groups deal one card."""
        if isinstance(groups, int) and groups == 1:
            return np.zeros(len(dealing), dtype=np.int64)
        return _fraction(_mixed(self._turn_key, cohort, dealing), groups)

    def _drawn(self, cohort: Ints, group: Ints, number: Ints, slots: Sizes) -> tuple[Ints, Ints]:
        """(order of the deck, how far its seats are turned) of the deck `number` of a group."""
        draws = mix(_mixed(self._deck_key, cohort, number) + group.view(np.uint64) * GOLDEN)
        return (draws & np.uint64(ORDERS - 1)).view(np.int64), _fraction(draws, slots)


def _mixed(key: np.uint64, cohort: Ints, number: Ints) -> Bits:
    return mix((number.view(np.uint64) * GOLDEN + key) ^ (cohort.view(np.uint64) << np.uint64(48)))


def _fraction(draws: Bits, n: Sizes) -> Ints:
    """Numbers in [0, n), n below 2^32."""
    size = np.uint64(n) if isinstance(n, int) else n.view(np.uint64)
    return ((draws >> np.uint64(32)) * size >> np.uint64(32)).view(np.int64)


def _ints(values: object) -> Ints:
    return np.array(list(values), dtype=np.int64)  # type: ignore[call-overload]
