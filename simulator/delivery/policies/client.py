"""The broker's client chooses the partition by the message's key; without a key as it likes."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.batch import ChangeBatch
from simulator.delivery.routing import Spread, Texts
from simulator.model import Table


@dataclass(frozen=True)
class ByClient:
    """No partition is named. An update of the key moves the row: the key's columns decide."""

    def columns(self, table: Table) -> tuple[int, ...]:
        return table.key_positions

    def spread(self, batch: ChangeBatch, count: int, texts: Texts) -> Spread:
        return Spread(None)
