"""The short form of a table (`rows`, `mix` …) as programs.

It becomes full lives (insert, some updates, delete), slots that only insert, and permanent rows that are updated
endlessly, hot rows among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle, islice
from typing import Final

import numpy as np

from simulator.model import DELETE, INSERT, UPDATE
from simulator.stream.engine.decks import dealt, order
from simulator.stream.engine.lives import LIVES, lengths
from simulator.stream.engine.program import Act, Always, Member, Program, Share, Step
from simulator.stream.engine.traffic.tiers import Tier, tiers
from simulator.stream.scenario.language.tables import TableSpec
from simulator.stream.scenario.loader import Loaded
from simulator.values.draw import bits, key

# Approximate number of steps of a deck.
STEPS: Final = 2048
FEWEST_LIVES: Final = 8
# Slots that insert where all other rows are permanent.
APPENDING: Final = 256
# Kinds of values that every update sets.
STAMPS: Final = ("commit_time", "statement_time", "version")


@dataclass(frozen=True)
class Cold:
    """The rows of a short form that are not hot, as shares of all row changes: full lives (insert, about `updates`
    updates, delete), inserts alone, and updates of permanent rows.
    """

    full: float
    append: float
    forever: float
    updates: float

    @property
    def visits(self) -> float:
        return self.full + self.append + self.forever

    @property
    def alive(self) -> float:
        """Share of its slots that hold a row at any time."""
        return (self.full * (self.updates + 1) / (self.updates + 2) + self.forever) / self.visits


def _cold(shares: tuple[float, float, float], hot: float) -> Cold:
    """The cold rows of a mix of which hot rows take the share `hot`, all updates."""
    insert, update, delete = shares
    update = max(update - hot, 0.0)
    if not delete:
        return Cold(0.0, insert, update, 0.0)
    return Cold(delete * 2 + update, insert - delete, 0.0, update / delete)


def short(
    loaded: Loaded, name: str, table: TableSpec, always: Always, surges: Mapping[int, tuple[float, float]]
) -> list[Share]:
    """Distributes slots to programs so that row changes (here: visits) have the shares of the mix."""
    assert table.rows is not None
    rows = max(1, table.rows // table.rows_per_statement)
    deck = _Deck(loaded, name, table, always)
    all_tiers = tiers(table, rows, surges)
    *warm, cold_tier = all_tiers
    weight, cold_rows = cold_tier.weight, cold_tier.slots
    insert, update, _ = table.shares
    if table.zipf or table.moves or surges:
        # all rows are permanent; a few slots insert new ones
        shares = [Share(deck.forever, tier, table.gaps) for tier in all_tiers if update]
        visits = sum(tier.weight * tier.slots for tier in all_tiers)
        slots = min(rows, APPENDING)
        weight = visits * (insert / update if update else 1) / slots
        return [*shares, Share(deck.append, Tier(weight, slots), table.gaps)] if insert else shares
    warm_visits = sum(tier.weight * tier.slots for tier in warm)
    # Cold slots are empty between two lives, so there are more slots than rows. The ratio depends on the cold rows'
    # mix, which depends on the share that hot rows take: iterate.
    slots_asked = float(cold_rows)
    for _ in range(30):
        hot = warm_visits / (warm_visits + weight * slots_asked)
        if hot > update + 1e-9:
            loaded.fail(
                ("tables", name, "hot"),
                f"hot rows would take {hot:.0%} of the changes, all updates, but the mix has {update:.0%} "
                "updates; make them fewer or less hot, or raise the updates",
            )
        cold = _cold(table.shares, hot)
        slots_asked = cold_rows / cold.alive if cold.visits and cold.alive else float(cold_rows)
    programs: list[tuple[float, Callable[[], Program]]] = [
        (cold.full, lambda: deck.full(cold.updates)),
        (cold.append, lambda: deck.append),
        (cold.forever, lambda: deck.forever),
    ]
    return [
        *(Share(deck.forever, tier, table.gaps) for tier in warm),
        *(
            Share(program(), Tier(weight, max(1, round(share / cold.visits * slots_asked))), table.gaps)
            for share, program in programs
            if share > 1e-9
        ),
    ]


def _packs(cards: int, dealt: int, key: np.uint64) -> Iterator[list[int]]:
    """Shuffled packs of `cards` cards, enough for `dealt` cards; repeated if more are needed."""
    packs = dealt // max(cards, 1) + 1
    return cycle(np.argsort(bits(key, np.arange(packs * cards)).reshape(packs, cards), axis=1).tolist())


class _Deck:
    """Programs of a short-form table."""

    def __init__(self, loaded: Loaded, name: str, table: TableSpec, always: Always) -> None:
        self.name, self.table, self.seed = name, table, loaded.spec.seed
        self._insert = Step("insert", (Act(INSERT, name, frozenset(table.columns)),))
        self._delete = Step("delete", (Act(DELETE, name),))
        changing = [field for field, column in table.columns.items() if column.changes and field not in table.key]
        # every update sets these, beyond `columns_per_update`
        self.stamped = [field for field in changing if table.columns[field].values.kind in STAMPS]
        self.dealt = [field for field in changing if field not in self.stamped]
        self._always = always

    def full(self, updates: float) -> Program:
        """A program of full lives: insert, about `updates` updates, delete."""
        update_counts = lengths(updates, max(FEWEST_LIVES, min(LIVES, int(STEPS / (updates + 2)))))
        updates_of = iter(self._updates(sum(update_counts)))
        lives = [
            (self._insert, *islice(updates_of, update_counts[i]), self._delete) for i in self._order(len(update_counts))
        ]
        return self._program(lives, permanent=False)

    @cached_property
    def append(self) -> Program:
        """A program that only inserts."""
        return self._program([(self._insert,)], permanent=False)

    @cached_property
    def forever(self) -> Program:
        """A program that updates permanent rows."""
        return self._program([tuple(self._updates(STEPS))], permanent=True)

    def _program(self, lives: Sequence[tuple[Step, ...]], *, permanent: bool) -> Program:
        rows = self.table.rows_per_statement
        return Program(self.name, {self.name: Member(self.name, rows, rows, self.name, permanent)}, tuple(lives))

    def _order(self, cards: int, *what: object) -> list[int]:
        shuffled: list[int] = order(cards, key(self.seed, self.name, "deck", *what)).tolist()
        return shuffled

    def _updates(self, count: int) -> list[Step]:
        """`count` update steps, with the columns that each sets; a share of them sets the key."""
        if not count:
            return []
        hands = self._asked(count) if self.table.updates else self._any(count)
        keys: set[int] = set()
        if self.table.key_updates and self.table.key:
            keys = set(self._order(count, "keys")[: max(1, round(self.table.key_updates * count))])
        dealt_hands = [(hand, i in keys) for i, hand in enumerate(hands)]
        steps = {}  # thousands of steps, few distinct ones
        for hand, of_key in set(dealt_hands):
            sets = hand.union(self.stamped, self.table.key[:of_key])
            steps[hand, of_key] = Step("update", (Act(UPDATE, self.name, sets),))
        return [steps[hand_and_key] for hand_and_key in dealt_hands]

    def _asked(self, count: int) -> list[frozenset[str]]:
        """Columns that each update sets, by the weights of `updates`."""
        kinds = [frozenset(columns) for columns in self.table.updates]
        numbers = dealt(list(self.table.updates.values()), count)
        return [kinds[numbers[i]] for i in self._order(count, "updates")]

    def _any(self, count: int) -> list[frozenset[str]]:
        """Columns that each update sets, chosen from all."""
        low, high = (min(n, len(self.dealt)) for n in self.table.columns_per_update)
        sizes = low + dealt([1.0] * (high - low + 1), count)
        return self._hands([int(sizes[i]) for i in self._order(count, "sizes")], high)

    def _hands(self, sizes: Sequence[int], most: int) -> list[frozenset[str]]:
        """Columns of each update, dealt from packs that hold each column once, so that all occur equally often. A hand
        in which no column always changes gets one that does; the column it replaces goes to a later hand if hands have
        several columns.
        """
        certain, stamped = (
            [field for field in fields if self._always(self.name, field, "update")]
            for fields in (self.dealt, self.stamped)
        )
        if min(sizes) == len(self.dealt):  # each update sets all
            return [frozenset(self.dealt)] * len(sizes)
        short_of = bool(certain) and not stamped
        packs = _packs(len(self.dealt), sum(sizes), key(self.seed, self.name, "deck", "packs"))
        pack: list[str] = []
        hands = []
        for number, size in enumerate(sizes):
            hand: list[str] = []
            set_aside: list[str] = []
            while len(hand) < size:
                if not pack:
                    pack = [self.dealt[i] for i in next(packs)]
                card = pack.pop()
                (set_aside if card in hand else hand).append(card)
            if short_of and not any(field in certain for field in hand):
                if most > 1 and hand:
                    set_aside.append(hand.pop())
                hand.append(certain[number % len(certain)])
            pack += set_aside
            hands.append(frozenset(hand))
        return hands
