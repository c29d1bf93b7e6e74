"""Steps: a product's own treatment of a block's changes, before they are packed and written.

A step is a function from changes to changes. A format lists its steps in order (`Layout.steps`); they are in its
package, or here if several products share them. Updates are split before the first step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from simulator.batch import ChangeBatch, Ints
from simulator.model import Event, Table


class Block(Protocol):
    """Changes of some turns."""

    @property
    def batches(self) -> Sequence[ChangeBatch]: ...


class History(Protocol):
    """Interface of the stream for steps and packing; blocks have `block_turns` turns."""

    block_turns: int

    def previous_ms(self, turns: Ints) -> Ints:
        """Commit time of the transaction before that of each turn, epoch milliseconds."""
        ...

    def read(self, first: int, stop: int) -> Block:
        """The changes of the turns [first, stop), which begin and end at transaction borders."""
        ...

    def border(self, turn: int) -> int:
        """The first transaction border at or after a turn."""
        ...

    def snapshot_tables(self, turn: int) -> Sequence[tuple[Table, str]]:
        """The tables of the snapshot before a turn, in its order, with the statements that create them ("": the system
        has none)."""
        ...


@dataclass(frozen=True, slots=True)
class Changes:
    """Contents of a block: row changes and transaction marks of the kinds that the product sends, one batch per table
    version and kind; and all single events, also those that the product does not send. `snapshot_turn`: in a block of
    a snapshot, the turn that the snapshot precedes."""

    batches: Sequence[ChangeBatch]
    events: Sequence[Event]
    history: History
    snapshot_turn: int | None = None


Step: TypeAlias = Callable[[Changes], Changes]
