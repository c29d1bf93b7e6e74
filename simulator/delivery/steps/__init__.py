"""Steps: what a product does with the changes of a block before they are packed and written.

A step is a function from changes to changes. A format lists its steps in their order (`Layout.steps`); they stand in
its package, or here where several products share them. Updates are split before the first of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from simulator.batch import ChangeBatch, Ints
from simulator.model import Event, Table


class History(Protocol):
    """What steps and packing ask of the stream; its blocks have `block_turns` turns."""

    block_turns: int

    def previous_ms(self, turns: Ints) -> Ints:
        """When the transaction before that of each turn was committed, epoch milliseconds."""
        ...

    def border(self, turn: int) -> int:
        """The first transaction border at or after a turn."""
        ...

    def snapshot_tables(self, turn: int) -> Sequence[tuple[Table, str]]:
        """The tables of the snapshot before a turn in its order, and the texts that create them ("": the system has
        none)."""
        ...


@dataclass(frozen=True, slots=True)
class Changes:
    """What a block holds: row changes and transaction marks of the kinds that the product sends, a batch for a table
    version and kind, and all single events, those that it does not send among them. `snapshot_turn`: of a block of a
    snapshot, the turn that it stands before."""

    batches: Sequence[ChangeBatch]
    events: Sequence[Event]
    history: History
    snapshot_turn: int | None = None


Step: TypeAlias = Callable[[Changes], Changes]
