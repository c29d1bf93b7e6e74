"""Steps: what a product does with the changes of a block before they are packed and written.

A step is a function from changes to changes. A format lists its steps in their order (`Layout.steps`); they stand in
its package, or here where several products share them. Updates are split before the first of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from simulator.batch import ChangeBatch, Ints
from simulator.model import Event


class History(Protocol):
    """What steps ask of the stream."""

    def previous_ms(self, turns: Ints) -> Ints:
        """When the transaction before that of each turn was committed, epoch milliseconds."""
        ...


@dataclass(frozen=True, slots=True)
class Changes:
    """What a block holds of the kinds that the product sends: row changes and transaction marks, a batch for a table
    version and kind, and single events."""

    batches: Sequence[ChangeBatch]
    events: Sequence[Event]
    history: History


Step: TypeAlias = Callable[[Changes], Changes]
