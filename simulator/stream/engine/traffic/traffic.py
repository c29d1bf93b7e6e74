"""The slot that turn i touches, and the step of its program; and the way back. Arithmetic and tables only.

Slots are in cohorts: ranges of slots with one program and one weight. Two deals are between a turn and a slot:

    turn → (cohort, n-th visit of the cohort)   a period of turns deals the cohorts out by weight (`deals.py`)
    n    → (slot, place in its program)         a deck of the cohort deals its slots out (`seats.py`, `circles.py`)

A large cohort is cut into groups that take turns, and each group deals from a deck of its own. A deck is in one of a
few orders that are made once: drawn by hash for each deck where a cohort has one group, else always the same.

The place of a visit counts the steps of the slot's program: those of the first time through it are 0, 1 …, and where
a slot stands when the stream begins is its phase.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from simulator.native.program import compiled
from simulator.native.traffic import Tables
from simulator.stream.engine.traffic.circles import Rounds, rounds
from simulator.stream.engine.traffic.cohorts import Cohort
from simulator.stream.engine.traffic.deals import Deals
from simulator.stream.engine.traffic.seats import GROUP, ORDERS, Deck, deck
from simulator.values.draw import GOLDEN, Bits, Ints, key, mix


class Traffic:
    """The closed form of turns, for arrays. Turns and places may be negative (before the stream began)."""

    def __init__(self, cohorts: Sequence[Cohort], seed: int, surges: Sequence[tuple[int, int]] = ()) -> None:
        """`surges` are ranges of turns."""
        self.cohorts = tuple(cohorts)
        weights = [cohort.weight * cohort.count for cohort in cohorts]
        times = [[cohort.times[s] if cohort.times else 1.0 for cohort in cohorts] for s in range(len(surges))]
        self._deals = Deals(weights, times, surges, seed)
        self.single = len(cohorts) == 1
        self._deck_key, self._turn_key = key(seed, "traffic", "decks"), key(seed, "traffic", "groups")
        self._phase_key = key(seed, "phase")
        circles = [cohort.circle for cohort in cohorts]
        self._rounds = rounds(circles)
        self._base, self._cards = _ints(c.base for c in cohorts), _ints(c.cards for c in circles)
        self._bound = np.array([c.bound for c in circles], dtype=bool)
        self._deal([_deck(cohort) for cohort in cohorts])

    def _deal(self, decks: Sequence[Deck]) -> None:
        """Concatenates the distinct decks of all cohorts."""
        starts, end = dict[Deck, int](), 0
        for distinct in dict.fromkeys(decks):
            starts[distinct] = end
            end += distinct.seat.size
        empty = np.empty(0, dtype=np.int32)
        self._start = _ints(map(starts.__getitem__, decks))
        self._seat = np.concatenate([empty, *(distinct_deck.seat.ravel() for distinct_deck in starts)])
        self._rank = np.concatenate([empty, *(distinct_deck.rank.ravel() for distinct_deck in starts)])
        self._card = np.concatenate([empty, *(distinct_deck.card.ravel() for distinct_deck in starts)])

    @cached_property
    def _tables(self) -> Tables:
        """Cohorts and decks in the form of the compiled library."""
        rows = np.vstack([self._base, self._rounds, self._cards, self._start, self._bound]).T.astype(np.int64)
        decks = self._seat, self._rank, self._card
        return Tables(rows, *decks, self._deck_key, self._turn_key, self._phase_key)

    # ------------------------------------------------------------------------------------------------------- forwards

    def visits(self, turns: Ints) -> tuple[Ints, Ints, Ints]:
        """(cohort, slot, place) of each turn."""
        cohort, nth = self._deals.visits(turns)
        if compiled():
            return cohort, *self._tables.visits(cohort, nth)
        rounds, cards, start, base = self._circle_facts(cohort)
        dealing, position = np.divmod(nth, rounds.groups)
        number, card = np.divmod(dealing, cards)
        group = position + self._turned(cohort, card, rounds.groups)
        group -= rounds.groups * (group >= rounds.groups)
        index = start + self._order(cohort, group, number, rounds.groups) * cards + card
        slot = self._seat[index] + rounds.turned(number)
        slot -= rounds.slots * (slot >= rounds.slots)
        place = rounds.ahead(slot, number) + self._rank[index] + self._origin(cohort, slot, group, rounds)
        return cohort, base + slot * rounds.groups + group, place

    def turns(self, cohort: Ints, slot: Ints, place: Ints) -> Ints:
        """The turn at which a slot reaches a place (negative: before turn 0)."""
        if compiled():
            return self._deals.turns(cohort, self._tables.nth(cohort, slot, place))
        rounds, cards, start, base = self._circle_facts(cohort)
        slot, group = np.divmod(slot - base, rounds.groups)
        number, rank = rounds.decks_of(slot, place - self._origin(cohort, slot, group, rounds))
        first = (
            start + self._order(cohort, group, number, rounds.groups) * cards + self._first_card(slot, number, rounds)
        )
        card = self._card[first + rank].astype(np.int64)
        position = group - self._turned(cohort, card, rounds.groups)
        position += rounds.groups * (position < 0)
        return self._deals.turns(cohort, (number * cards + card) * rounds.groups + position)

    def phases(self, cohort: Ints, slot: Ints) -> Ints:
        """The place of each slot's first visit of the stream."""
        if compiled():
            return self._tables.phases(cohort, slot)
        rounds, _, _, base = self._circle_facts(cohort)
        slot, group = np.divmod(slot - base, rounds.groups)
        return rounds.ahead(slot, 0) + self._origin(cohort, slot, group, rounds)

    def places(self, cohort: int, slots: Ints, turns: Ints | int) -> Ints:
        """The place of the first visit at or after a turn, for each of these slots of one cohort."""
        nth = self.cohort_visits([cohort], np.broadcast_to(np.asarray(turns, dtype=np.int64), slots.shape))
        cohorts = np.full(len(slots), cohort, dtype=np.int64)
        if compiled():
            return self._tables.places(cohorts, slots, nth)
        rounds, cards, start, _ = self._circle_facts(np.array([cohort], dtype=np.int64))
        slot, group = np.divmod(slots - self.cohorts[cohort].base, rounds.groups)
        dealing, position = np.divmod(nth, rounds.groups)
        number, card = np.divmod(dealing, cards)
        place = group - self._turned(cohorts, card, rounds.groups)
        place += rounds.groups * (place < 0)
        # if the group's card of this dealing has been dealt already, the next one counts
        card = card + (place < position)
        # count the seat's cards before this one: binary search in each seat's cards
        first = (
            start + self._order(cohorts, group, number, rounds.groups) * cards + self._first_card(slot, number, rounds)
        )
        low, high = np.zeros(len(slots), dtype=np.int64), np.full(len(slots), rounds.visits[0], dtype=np.int64)
        high += (self._seat_of(slot, number, rounds) < rounds.hot) * rounds.more
        last = len(self._card) - 1
        for _ in range(int(high.max(initial=0)).bit_length()):
            middle = (low + high) >> 1
            before = (low < high) & (self._card[np.minimum(first + middle, last)] < card)
            low, high = np.where(before, middle + 1, low), np.where(before, high, middle)
        return rounds.ahead(slot, number) + low + self._origin(cohorts, slot, group, rounds)

    # --------------------------------------------------------------------------------------------------------- counts

    def cohort_visits(self, cohorts: Sequence[int], turns: Ints) -> Ints:
        """Number of turns before each of these (from turn 0; negative before it) that belong to some of the cohorts."""
        return self._deals.count(frozenset(cohorts), turns)

    def earliest(self, cohort: int, visits: int) -> int:
        """A turn at or before the `visits`-th last visit before turn 0 of every slot of a cohort."""
        circle = self.cohorts[cohort].circle
        nth = -(-visits // circle.visits) * circle.cards * circle.groups
        return -self._deals.first.period * -(-nth // int(self._deals.first.cards[cohort]))

    def deck_of(self, cohort: int, nth: Ints) -> tuple[Ints, Ints]:
        """(deck, place in `deck_steps`) of the n-th visit of a cohort."""
        circle = self.cohorts[cohort].circle
        size = circle.cards * circle.groups
        number, visit = np.divmod(nth, size)
        if circle.groups == 1:
            cohorts = np.full(len(nth), cohort, dtype=np.int64)
            groups = np.ones(1, dtype=np.int64)
            visit += self._order(cohorts, np.zeros(len(nth), dtype=np.int64), number, groups) * size
        return number, visit

    def deck_steps(self, cohort: int) -> npt.NDArray[np.int32]:
        """The step that each visit in a deck of a bound cohort takes: for all groups, in each possible order."""
        circle = self.cohorts[cohort].circle
        rounds, cards, start = Rounds(*self._rounds[:, cohort : cohort + 1]), circle.cards, int(self._start[cohort])
        cohorts, groups = (np.full(n, cohort, dtype=np.int64) for n in (cards, circle.groups))
        phases = self._offsets(cohorts[:1].repeat(circle.groups), groups * 0, np.arange(circle.groups), rounds.steps)
        at_seat = rounds.ahead(np.arange(circle.slots), 0)
        turned = self._turned(cohorts, np.arange(cards), rounds.groups)
        steps = np.empty((ORDERS if circle.groups == 1 else 1, cards, circle.groups), dtype=np.int32)
        for order in range(max(len(steps), circle.groups)):
            index = slice(start + order % ORDERS * cards, start + order % ORDERS * cards + cards)
            group = 0 if circle.groups == 1 else order
            step = (at_seat[self._seat[index]] + self._rank[index] + phases[group]) % circle.steps
            steps[order if circle.groups == 1 else 0, np.arange(cards), (group - turned) % circle.groups] = step
        return steps.ravel()

    # ---------------------------------------------------------------------------------------------------------- draws

    def _circle_facts(self, cohort: Ints) -> tuple[Rounds, Ints, Ints, Ints]:
        """(circle, cards of its deck, offset of the deck, first slot) of each cohort."""
        if self.single:
            return Rounds(*self._rounds), self._cards, self._start, self._base
        return Rounds(*self._rounds[:, cohort]), self._cards[cohort], self._start[cohort], self._base[cohort]

    def _turned(self, cohort: Ints, card: Ints, groups: Ints) -> Ints:
        """The first group in a dealing, in which all groups of a cohort deal one card each."""
        if len(groups) == 1 and groups[0] == 1:
            return np.zeros(len(card), dtype=np.int64)
        return _fraction(_mixed(self._turn_key, cohort, card), groups)

    def _order(self, cohort: Ints, group: Ints, number: Ints, groups: Ints) -> Ints:
        """The order of the deck `number` of a group."""
        if len(groups) == 1 and groups[0] > 1:
            return group & (ORDERS - 1)
        drawn = _mixed(self._deck_key, cohort, number).view(np.int64)
        return np.where(groups == 1, drawn, group) & (ORDERS - 1)

    def _origin(self, cohort: Ints, slot: Ints, group: Ints, rounds: Rounds) -> Ints:
        """The place of a slot less its `ahead`, so that its phase is below the steps of its program."""
        offset = self._offsets(cohort, slot, group, rounds.steps)
        origin: Ints = offset - (rounds.ahead(slot, 0) + offset) // rounds.steps * rounds.steps
        return origin

    def _offsets(self, cohort: Ints, slot: Ints, group: Ints, steps: Ints) -> Ints:
        """Offset in steps of a group's slots, or of a slot of a hot set, so that they differ from others."""
        who = (slot + 1) * ~self._bound[cohort] * GROUP + group
        return _fraction(_mixed(self._phase_key, cohort, who), steps)

    def _seat_of(self, slot: Ints, number: Ints, rounds: Rounds) -> Ints:
        seat = slot - rounds.turned(number)
        seat += rounds.slots * (seat < 0)
        return seat

    def _first_card(self, slot: Ints, number: Ints, rounds: Rounds) -> Ints:
        """Index of the first card of a slot's seat."""
        seat = self._seat_of(slot, number, rounds)
        first: Ints = np.add(seat * rounds.visits, np.minimum(seat, rounds.hot) * rounds.more, dtype=np.int64)
        return first


def _deck(cohort: Cohort) -> Deck:
    circle = cohort.circle
    return deck(circle.slots, cohort.gaps, circle.visits, circle.hot, circle.more if circle.hot else 0)


def _mixed(key: np.uint64, cohort: Ints, number: Ints) -> Bits:
    return mix((number.view(np.uint64) * GOLDEN + key) ^ (cohort.view(np.uint64) << np.uint64(48)))


def _fraction(draws: Bits, n: Ints) -> Ints:
    """Numbers in [0, n), n below 2^32."""
    return ((draws >> np.uint64(32)) * n.view(np.uint64) >> np.uint64(32)).view(np.int64)


def _ints(values: object) -> Ints:
    return np.array(list(values), dtype=np.int64)  # type: ignore[call-overload]
