"""Circles: rotation of a group's slots over the seats of its decks, which decides how often and when each is visited.

Every `decks` decks each slot moves on by `shift` seats. The first seats have more cards than the others. So the visits
of a slot before any deck follow from the seats it has passed, and the inverse is a division.

If slots move one seat per deck, a slot visits each seat once in a round, and takes the same steps of its program at a
seat each time. So a card stands for the same step in every deck: how often a step was taken before any turn is a
product and a look-up. Hot sets that move are the other kind: their slots stay on the seats with more cards for some
time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from simulator.stream.engine.traffic.seats import CARDS, GROUP, VISITS
from simulator.values.draw import Ints

# Maximum cards of a hot set's deck, and cards of a cold slot in it where the deck would be larger.
MOST_CARDS: Final = 1 << 17
FEW_VISITS: Final = 4
# Shifts in which the window of a hot set passes a slot, if time allows.
STEPS: Final = 4
# Numbers of visits to try, so that the slots spread over their program.
TRIES: Final = 64


@dataclass(frozen=True, slots=True)
class Circle:
    """Layout of a cohort's slots: `groups` groups of `slots` slots. A seat has `visits` cards in a deck, each of the
    first `hot` seats `more` besides.

    `steps` is the length of the slots' program. `bound`: a round is a whole number of programs, so a card stands for
    the same step in every deck.
    """

    groups: int
    slots: int
    hot: int
    visits: int
    more: int
    shift: int
    decks: int
    steps: int
    bound: bool

    @property
    def count(self) -> int:
        return self.groups * self.slots

    @property
    def cards(self) -> int:
        return self.slots * self.visits + self.hot * self.more


class Rounds(NamedTuple):
    """Arithmetic of circles, one for all slots or one per slot. Slots are counted within their group."""

    groups: Ints
    slots: Ints
    hot: Ints
    visits: Ints
    more: Ints
    shift: Ints
    decks: Ints
    steps: Ints

    def turned(self, number: Ints) -> Ints:
        """Number of seats that the slots have moved along in deck `number`."""
        turned: Ints = number // self.decks % (self.slots // self.shift) * self.shift
        return turned

    def ahead(self, slot: Ints, number: Ints | int) -> Ints:
        """Visits of a slot before deck `number`, counted from its arrival at the seats with more cards."""
        deck = number + self._zero(slot)
        rounds, within_round = np.divmod(deck, self._round)
        ahead: Ints = deck * self.visits + (rounds * self._stay + np.minimum(within_round, self._stay)) * self.more
        return ahead

    def decks_of(self, slot: Ints, ahead: Ints) -> tuple[Ints, Ints]:
        """(deck, number of the card within its seat) of the visit with `ahead` visits before it."""
        more_visits, fewer_visits = self.visits + self.more, self.visits
        rounds, within_round = np.divmod(ahead, self._round * fewer_visits + self._stay * self.more)
        cold = within_round - self._stay * more_visits
        number, rank = np.divmod(np.where(cold < 0, within_round, cold), np.where(cold < 0, more_visits, fewer_visits))
        return rounds * self._round + number + np.where(cold < 0, 0, self._stay) - self._zero(slot), rank

    @property
    def _round(self) -> Ints:
        """Decks in which a slot completes a round."""
        return self.slots // self.shift * self.decks

    @property
    def _stay(self) -> Ints:
        """Decks in which a slot has more cards."""
        return self.hot // self.shift * self.decks

    def _zero(self, slot: Ints) -> Ints:
        """Decks from the slot's arrival at the seats with more cards to deck 0."""
        zero: Ints = (self.hot // self.shift - 1 - slot // self.shift) * self.decks
        return zero


def rounds(circles: Sequence[Circle]) -> Ints:
    """Fields of `Rounds` for each circle: one row per field."""
    fields = [[c.groups, c.slots, c.hot, c.visits, c.more, c.shift, c.decks, c.steps] for c in circles]
    return np.array(fields, dtype=np.int64).reshape(-1, len(Rounds._fields)).T.copy()


def even(slots: int, steps: int) -> Circle:
    """About `slots` slots of the same weight, rounded to groups of the same size."""
    groups = -(-slots // GROUP)
    seats = max(1, round(slots / groups))
    visits, hot = _spread(seats, steps)
    return Circle(groups, seats, hot, visits, 1, 1, 1, steps, True)


@lru_cache(maxsize=256)
def _spread(seats: int, steps: int) -> tuple[int, int]:
    """Cards of a seat, and the number of seats with one more. A round is then a whole number of programs, and at any
    time the slots are spread over the steps of theirs.
    """
    least = max(VISITS, CARDS // seats)
    bins = min(seats, steps)
    number = np.arange(seats, dtype=np.int64)
    best: tuple[int, int, int] | None = None
    for visits in range(least, least + TRIES + steps // seats):
        hot = -seats * visits % steps
        if hot >= seats:
            continue
        starts = (number * visits + np.minimum(number, hot)) % steps
        fullest = int(np.bincount(starts * bins // steps).max())
        if best is None or fullest < best[0]:
            best = fullest, visits, hot
        if fullest <= 1.25 * seats / bins + 3 * (bins > 64):
            break
    assert best is not None
    return best[1:]


def hot_set(slots: int, share: float, times: float, turns: float, steps: int) -> Circle | None:
    """About `slots` slots, a share of which is hot for about `turns` of the cohort's turns; None if too short."""
    average = 1 + share * (times - 1)  # cards of a slot, per card of a cold one
    groups = -(-slots // max(2, min(GROUP, int(MOST_CARDS / FEW_VISITS / average))))
    seats = max(2, round(slots / groups))
    hot = min(max(1, round(seats * share)), seats // 2)
    visits = max(1, min(int(MOST_CARDS / average / seats), max(VISITS, CARDS // seats)))
    visits = max(1, min(visits, int(turns / (STEPS * groups * average * seats))))
    stay = turns / (groups * average * seats * visits)
    if stay < 0.7:
        return None
    # as many shifts as time and the number of hot slots allow
    most = max(1, min(hot, round(stay)))
    windows = min(range(most, most // 2, -1), key=lambda n: abs(n * round(hot / n) - hot))
    shift = round(hot / windows)
    return Circle(
        groups,
        shift * max(windows + 1, round(seats / shift)),
        shift * windows,
        visits,
        max(1, round(visits * (times - 1))),
        shift,
        max(1, round(stay / windows)),
        steps,
        False,
    )
