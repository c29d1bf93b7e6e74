"""Assignment of turns to cohorts: each period deals its turns to the cohorts by weight; surges change the weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from simulator.stream.engine.decks import dealt, order
from simulator.stream.engine.traffic.seats import ORDERS
from simulator.values.draw import Ints, below, bits, key
from simulator.values.groups import numbered

# Minimum and maximum turns in a period; between them, as many as give the rarest cohort RARE turns.
PERIOD: Final = 1 << 14
LONGEST_PERIOD: Final = 1 << 19
RARE: Final = 8
# Longest period, in turns, that has several orders.
LONG: Final = 1 << 16
# Maximum cached 4-byte counts of turns of sets of cohorts.
KEPT: Final = 1 << 24


class Deal:
    """Turns dealt to cohorts by weight, period after period. A hash picks the order of each period from a few."""

    def __init__(self, weights: Sequence[float], salt: np.uint64) -> None:
        self._key = salt
        self.single = len(weights) == 1
        self.period, orders = max(1, len(weights)), 1
        hand: Ints = np.arange(len(weights))
        if len(weights) > 1:
            rarest = min(weights) / sum(weights)
            required_turns = RARE / max(rarest, RARE / LONGEST_PERIOD)
            self.period = min(LONGEST_PERIOD, max(PERIOD, 1 << int(required_turns).bit_length()))
            if rarest * self.period < 1:  # each cohort gets at least one card
                hand = np.concatenate([dealt(weights, self.period - len(weights)), hand])
            else:
                hand = dealt(weights, self.period)
            orders = 1 if self.period > LONG else ORDERS
        self._orders = orders
        self.cards: Ints = np.bincount(hand, minlength=len(weights)).astype(np.int64)
        shuffled = [order(len(hand), key("period", order_number)) for order_number in range(orders)]
        cohort = np.stack([hand[positions] for positions in shuffled])
        by_cohort = np.argsort(cohort.astype(np.uint16), axis=1, kind="stable")
        self._cohort = cohort.astype(np.int32)
        self._first = np.cumsum(self.cards) - self.cards
        number = np.empty(cohort.shape, dtype=np.int32)
        within = numbered(self.cards)
        np.put_along_axis(number, by_cohort, np.tile(within.astype(np.int32), (orders, 1)), axis=1)
        self._nth = number  # by order and position: cards of the same cohort before it
        self._position = by_cohort.astype(np.int32)  # by order, cohort and number
        self._counted: dict[frozenset[int], tuple[int, npt.NDArray[np.int32]]] = {}

    def visits(self, turns: Ints) -> tuple[Ints, Ints]:
        """(cohort, which of its turns) of turns."""
        if self.single:
            return np.zeros(len(turns), dtype=np.int64), turns
        period, position = np.divmod(turns, self.period)
        index = self._order(period), position
        cohort = self._cohort[index].astype(np.int64)
        return cohort, period * self.cards[cohort] + self._nth[index]

    def turns(self, cohort: Ints, nth: Ints) -> Ints:
        """The turns that `visits` gives as these cohorts and numbers."""
        if self.single:
            return nth
        period, rank = np.divmod(nth, self.cards[cohort])
        turns: Ints = period * self.period + self._position[self._order(period), self._first[cohort] + rank]
        return turns

    def count(self, cohorts: frozenset[int], turns: Ints) -> Ints:
        """Number of turns before each of these that belong to some of the cohorts."""
        if len(cohorts) == len(self.cards):
            return turns
        if cohorts not in self._counted:
            if (len(self._counted) + 1) * self._cohort.size > KEPT:
                self._counted.clear()
            is_counted = np.isin(self._cohort, list(cohorts))
            counts: npt.NDArray[np.int32] = (np.cumsum(is_counted, axis=1) - is_counted).astype(np.int32)
            self._counted[cohorts] = int(is_counted[0].sum()), counts
        per_period, before = self._counted[cohorts]
        period, position = np.divmod(turns, self.period)
        counted: Ints = np.add(period * per_period, before[self._order(period), position], dtype=np.int64)
        return counted

    def counts(self, turn: int) -> Ints:
        """Turns of each cohort before the given one."""
        period, position = divmod(turn, self.period)
        order = int(self._order(np.array([period], dtype=np.int64))[0])
        counts: Ints = period * self.cards + np.bincount(self._cohort[order, :position], minlength=len(self.cards))
        return counts

    def _order(self, period: Ints) -> Ints:
        return below(bits(self._key, period), self._orders)


class Span(NamedTuple):
    """Turns from `first` on, dealt with the same weights; `before` is how many turns each cohort had by then."""

    first: int
    deal: Deal
    before: Ints


class Deals:
    """Spans of turns, each with its deal. The first has no beginning and the last no end."""

    def __init__(
        self, weights: Sequence[float], times: Sequence[Sequence[float]], surges: Sequence[tuple[int, int]], seed: int
    ) -> None:
        """`times[surge][cohort]` is the factor of a cohort's weight in the turns of a surge (first, stop)."""
        salt = key(seed, "traffic", "turns")
        deals: dict[tuple[float, ...], Deal] = {}

        def deal(turn: int | None) -> Deal:
            current_weights = np.array(weights)
            for (first, stop), factors in zip(surges, times, strict=True):
                if turn is not None and first <= turn < stop:
                    current_weights = current_weights * factors
            weights_key = tuple(current_weights.tolist())
            if weights_key not in deals:
                deals[weights_key] = Deal(weights_key, salt)
            return deals[weights_key]

        self.first = deal(None)
        self._spans = [Span(0, self.first, np.zeros(len(weights), dtype=np.int64))]
        for turn in sorted({turn for surge in surges for turn in surge}):
            last = self._spans[-1]
            self._spans.append(Span(turn, deal(turn), last.before + last.deal.counts(turn - last.first)))
        self._starts: Ints = np.array([span.first for span in self._spans[1:]], dtype=np.int64)

    def visits(self, turns: Ints) -> tuple[Ints, Ints]:
        """(cohort, which of its turns) of turns."""
        if len(self._spans) == 1:
            return self.first.visits(turns)
        cohort, nth = np.empty_like(turns), np.empty_like(turns)
        for rows, span in self._parted(np.searchsorted(self._starts, turns, side="right")):
            cohort[rows], nth[rows] = span.deal.visits(turns[rows] - span.first)
            nth[rows] += span.before[cohort[rows]]
        return cohort, nth

    def turns(self, cohort: Ints, nth: Ints) -> Ints:
        """The turns that `visits` gives as these cohorts and numbers."""
        if len(self._spans) == 1:
            return self.first.turns(cohort, nth)
        turns = np.empty_like(nth)
        span_numbers = np.sum([span.before[cohort] <= nth for span in self._spans[1:]], axis=0)
        for rows, span in self._parted(span_numbers):
            turns[rows] = span.first + span.deal.turns(cohort[rows], nth[rows] - span.before[cohort[rows]])
        return turns

    def count(self, cohorts: frozenset[int], turns: Ints) -> Ints:
        """Number of turns before each of these (from turn 0; negative before it) that belong to some of the cohorts."""
        if len(self._spans) == 1:
            return self.first.count(cohorts, turns)
        counts = np.empty_like(turns)
        for rows, span in self._parted(np.searchsorted(self._starts, turns, side="right")):
            counts[rows] = span.deal.count(cohorts, turns[rows] - span.first) + span.before[list(cohorts)].sum()
        return counts

    def _parted(self, span_numbers: Ints) -> list[tuple[Ints | slice, Span]]:
        """The spans, with the rows that belong to each."""
        numbers = np.flatnonzero(np.bincount(span_numbers))
        if len(numbers) == 1:
            return [(slice(None), self._spans[numbers[0]])]
        return [(np.flatnonzero(span_numbers == number), self._spans[number]) for number in numbers]
