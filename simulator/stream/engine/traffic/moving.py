"""Hot sets that move: every slot of a cohort is hot for some time, one part of them after the other.

A window of seats gets more cards than the others. It slides over the slots, which stand in a circle: every `decks`
decks it leaves `shift` slots behind it and takes as many in. So how many visits any slot had by any deck follows from
how far the window has gone, and the way back is a division.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from simulator.stream.engine.traffic.seats import CARDS, GROUP, VISITS
from simulator.values.draw import Ints

# Cards of a deck at most; cards of a cold slot in it, where the deck of a group would have more.
MOST_CARDS: Final = 1 << 17
FEW_VISITS: Final = 4
# In which the window passes a slot, where there is time for them.
STEPS: Final = 4


@dataclass(frozen=True, slots=True)
class Moving:
    """Each of `groups` groups has `slots` slots with `visits` cards in a deck; `hot` of them have `more` on top."""

    groups: int
    slots: int
    hot: int
    visits: int
    more: int
    shift: int
    decks: int

    def turned(self, number: Ints) -> Ints:
        """How far the slots have moved along the seats in deck `number`."""
        return number // self.decks % (self.slots // self.shift) * self.shift

    def extra(self, slot: Ints, number: Ints) -> Ints:
        """By how many visits a slot is ahead of `visits` in each deck before deck `number`."""
        zero = self._zero(slot)
        extra: Ints = (self._hot_decks(number + zero) - self._hot_decks(zero)) * self.more
        return extra

    def decks_of(self, slot: Ints, visit: Ints) -> tuple[Ints, Ints]:
        """(deck, which of the slot's cards in it) of a visit."""
        zero = self._zero(slot)
        visit = visit + zero * self.visits + self._hot_decks(zero) * self.more
        much, few = self.visits + self.more, self.visits
        cycle, rest = np.divmod(visit, self._cycle * few + self._stay * self.more)
        hot = rest < self._stay * much
        number, rank = np.divmod(np.where(hot, rest, rest - self._stay * much), np.where(hot, much, few))
        return cycle * self._cycle + number + np.where(hot, 0, self._stay) - zero, rank

    @property
    def _cycle(self) -> int:
        """Decks until the window has gone round."""
        return self.slots // self.shift * self.decks

    @property
    def _stay(self) -> int:
        """Decks for which a slot is hot."""
        return self.hot // self.shift * self.decks

    def _zero(self, slot: Ints) -> Ints:
        """The number of deck 0, counted from a deck in which the slot becomes hot."""
        return (self.hot // self.shift - 1 - slot // self.shift) * self.decks

    def _hot_decks(self, number: Ints) -> Ints:
        """How many of so many decks a slot is hot for, from one in which it becomes hot."""
        cycle, rest = np.divmod(number, self._cycle)
        decks: Ints = cycle * self._stay + np.minimum(rest, self._stay)
        return decks


def moving(slots: int, share: float, times: float, turns: float) -> Moving | None:
    """About so many slots, of which a share is hot for about so many of the cohort's turns; None: that is too short."""
    average = 1 + share * (times - 1)  # cards of a slot, per card of a cold one
    groups = -(-slots // max(2, min(GROUP, int(MOST_CARDS / FEW_VISITS / average))))
    seats = max(2, round(slots / groups))
    hot = min(max(1, round(seats * share)), seats // 2)
    visits = max(1, min(int(MOST_CARDS / average / seats), max(VISITS, CARDS // seats)))
    visits = max(1, min(visits, int(turns / (STEPS * groups * average * seats))))
    stay = turns / (groups * average * seats * visits)
    if stay < 0.7:
        return None
    # as many steps as there is time for, and as suit the number of hot slots
    most = max(1, min(hot, round(stay)))
    steps = min(range(most, most // 2, -1), key=lambda n: abs(n * round(hot / n) - hot))
    shift = round(hot / steps)
    return Moving(
        groups,
        shift * max(steps + 1, round(seats / shift)),
        shift * steps,
        visits,
        max(1, round(visits * (times - 1))),
        shift,
        max(1, round(stay / steps)),
    )
