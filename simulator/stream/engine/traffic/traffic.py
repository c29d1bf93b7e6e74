"""Which slot does turn i touch, and for which time? Arithmetic and tables only, both ways.

Slots are in cohorts: ranges of slots with one program and one weight. Two deals are between a turn and a slot:

    turn → (cohort, n-th visit of the cohort)   a period of turns deals the cohorts out by weight (`deals.py`)
    n    → (slot, v-th visit of the slot)       a deck of the cohort deals its slots out (`seats.py`)

A large cohort is cut into groups that take turns, and each group deals from a deck of its own. Which order a deck has
is drawn by hash for each deck, from a few orders that are made once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from simulator.stream.engine.traffic.cohorts import Cohort
from simulator.stream.engine.traffic.deals import Deals
from simulator.stream.engine.traffic.moving import Moving
from simulator.stream.engine.traffic.seats import ORDERS, Deck, deck
from simulator.values.draw import GOLDEN, Bits, Ints, key, mix

# Of each state, or of all.
Sizes = Ints | int


class Traffic:
    """The closed form of turns. Arrays in, arrays out; turns and visits may be negative (before the stream began)."""

    def __init__(self, cohorts: Sequence[Cohort], seed: int, surges: Sequence[tuple[int, int]] = ()) -> None:
        """`surges` are ranges of turns."""
        self.cohorts = tuple(cohorts)
        weights = [cohort.weight * cohort.count for cohort in cohorts]
        times = [[cohort.times[s] if cohort.times else 1.0 for cohort in cohorts] for s in range(len(surges))]
        self._deals = Deals(weights, times, surges, seed)
        self.single = len(cohorts) == 1
        self._deck_key, self._turn_key = key(seed, "traffic", "decks"), key(seed, "traffic", "groups")
        decks = [_deck(cohort) for cohort in cohorts]
        self._base = _ints(cohort.base for cohort in cohorts)
        self._group_count = _ints(cohort.groups for cohort in cohorts)
        self._slots, self._visits = _ints(d.slots for d in decks), _ints(d.visits for d in decks)
        self._cards = _ints(d.cards for d in decks)
        self._moving = {number: cohort.moving for number, cohort in enumerate(cohorts) if cohort.moving}
        self._deal(decks)

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

    # ------------------------------------------------------------------------------------------------------- forwards

    def visits(self, turns: Ints) -> tuple[Ints, Ints, Ints]:
        """(cohort, slot, visit number) of each turn."""
        cohort, nth = self._deals.visits(turns)
        groups, slots, visits, cards, start, base = self._of(cohort)
        dealing, position = np.divmod(nth, groups)
        group = position + self._turned(cohort, dealing, groups)
        group -= groups * (group >= groups)
        number, card = np.divmod(dealing, cards)
        which, turned = self._drawn(cohort, group, number, slots)
        at_card = start + which * cards + card
        seat = self._seat[at_card] + turned
        seat -= slots * (seat >= slots)
        visit: Ints = np.asarray(number * visits + self._number[at_card], dtype=np.int64)
        for rows, moving in self._movers(cohort):
            visit[rows] += moving.extra(seat[rows], number[rows])
        slot: Ints = np.asarray(base + seat * groups + group, dtype=np.int64)
        return cohort, slot, visit

    def turns(self, cohort: Ints, slot: Ints, visit: Ints) -> Ints:
        """The turn at which a slot is visited for the `visit`-th time (from 0; negative: before turn 0)."""
        groups, slots, visits, cards, start, base = self._of(cohort)
        seat, group = np.divmod(slot - base, groups)
        number, rank = np.divmod(visit, visits)
        for rows, moving in self._movers(cohort):
            number[rows], rank[rows] = moving.decks_of(seat[rows], visit[rows])
        which, turned = self._drawn(cohort, group, number, slots)
        seat = seat - turned
        seat += slots * (seat < 0)
        first = seat * visits
        for rows, moving in self._movers(cohort):
            first[rows] += np.minimum(seat[rows], moving.hot) * moving.more
        dealing = number * cards + self._card[start + which * cards + first + rank]
        position = group - self._turned(cohort, dealing, groups)
        position += groups * (position < 0)
        return self._deals.turns(cohort, dealing * groups + position)

    def visits_before(self, cohort: int, slots: Ints, turns: Ints | int) -> Ints:
        """How often each of these slots of one cohort was visited before a turn, counted from turn 0 (may be 0)."""
        nth = self.cohort_visits([cohort], np.broadcast_to(np.asarray(turns, dtype=np.int64), slots.shape))
        of = np.full(len(slots), cohort, dtype=np.int64)
        tables = self._group_count, self._slots, self._visits, self._cards, self._start
        groups, seats, visits, cards, start = (int(table[cohort]) for table in tables)
        moving = self._moving.get(cohort)
        seat, group = np.divmod(slots - self.cohorts[cohort].base, groups)
        dealing, position = np.divmod(nth, groups)
        place = group - self._turned(of, dealing, groups)
        place += groups * (place < 0)
        dealing = dealing + (place < position)
        number, card = np.divmod(dealing, cards)
        before_deck = number * visits
        if moving:
            before_deck += moving.extra(seat, number)
        which, turned = self._drawn(of, group, number, seats)
        seat = seat - turned
        seat += seats * (seat < 0)
        # the cards of the seat before this one: a search in each seat's cards
        first = start + which * cards + seat * visits
        low, high = np.zeros(len(slots), dtype=np.int64), np.full(len(slots), visits, dtype=np.int64)
        if moving:
            first += np.minimum(seat, moving.hot) * moving.more
            high += (seat < moving.hot) * moving.more
        last = len(self._card) - 1
        for _ in range(int(high.max(initial=0)).bit_length()):
            middle = (low + high) >> 1
            before = (low < high) & (self._card[np.minimum(first + middle, last)] < card)
            low, high = np.where(before, middle + 1, low), np.where(before, high, middle)
        before_turn: Ints = before_deck + low
        return before_turn

    # --------------------------------------------------------------------------------------------------------- counts

    def cohort_visits(self, cohorts: Sequence[int], turns: Ints) -> Ints:
        """How many turns before each of these (from turn 0; negative before it) belong to some of the cohorts."""
        return self._deals.count(frozenset(cohorts), turns)

    def earliest(self, cohort: int, visits: int) -> int:
        """A turn that is not after the `visits`-th visit before turn 0 of any of a cohort's slots."""
        decks = -(-visits // int(self._visits[cohort]))
        nth = decks * int(self._cards[cohort] * self._group_count[cohort])
        return -self._deals.first.period * -(-nth // int(self._deals.first.cards[cohort]))

    # ---------------------------------------------------------------------------------------------------------- draws

    def _of(self, cohort: Ints) -> tuple[Sizes, Sizes, Sizes, Sizes, Sizes, Sizes]:
        """(groups, slots of a group, visits of a slot in a deck, cards of a deck, where it stands, first slot)."""
        groups, slots, visits, cards, start, base = (
            int(table[0]) if self.single else table[cohort]
            for table in (self._group_count, self._slots, self._visits, self._cards, self._start, self._base)
        )
        return groups, slots, visits, cards, start, base

    def _movers(self, cohort: Ints) -> Iterator[tuple[Ints, Moving]]:
        """The places of slots whose hot sets move, and how."""
        for number, moving in self._moving.items():
            rows = np.flatnonzero(cohort == number)
            if len(rows):
                yield rows, moving

    def _turned(self, cohort: Ints, dealing: Ints, groups: Sizes) -> Ints:
        """With which group a cohort begins when all its groups deal one card."""
        if isinstance(groups, int) and groups == 1:
            return np.zeros(len(dealing), dtype=np.int64)
        return _fraction(_mixed(self._turn_key, cohort, dealing), groups)

    def _drawn(self, cohort: Ints, group: Ints, number: Ints, slots: Sizes) -> tuple[Ints, Ints]:
        """(order of the deck, how far its seats are turned) of the deck `number` of a group."""
        draws = mix(_mixed(self._deck_key, cohort, number) + group.view(np.uint64) * GOLDEN)
        turned = _fraction(draws, slots)
        for rows, moving in self._movers(cohort):
            turned[rows] = moving.turned(number[rows])
        return (draws & np.uint64(ORDERS - 1)).view(np.int64), turned


def _deck(cohort: Cohort) -> Deck:
    moving = cohort.moving
    assert cohort.count % cohort.groups == 0
    if moving is None:
        return deck(cohort.count // cohort.groups, cohort.gaps)
    return deck(moving.slots, cohort.gaps, moving.visits, moving.hot, moving.more)


def _mixed(key: np.uint64, cohort: Ints, number: Ints) -> Bits:
    return mix((number.view(np.uint64) * GOLDEN + key) ^ (cohort.view(np.uint64) << np.uint64(48)))


def _fraction(draws: Bits, n: Sizes) -> Ints:
    """Numbers in [0, n), n below 2^32."""
    size = np.uint64(n) if isinstance(n, int) else n.view(np.uint64)
    return ((draws >> np.uint64(32)) * size >> np.uint64(32)).view(np.int64)


def _ints(values: object) -> Ints:
    return np.array(list(values), dtype=np.int64)  # type: ignore[call-overload]
