"""Partition chosen by the broker's client: by the message's key, or freely without a key."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.batch import ChangeBatch
from simulator.delivery.routing import Spread, Texts
from simulator.model import Table


@dataclass(frozen=True)
class ByClient:
    """Leaves the partition to the client. The key's columns decide, so an update of the key moves the row."""

    def columns(self, table: Table) -> tuple[int, ...]:
        return table.key_positions

    def spread(self, batch: ChangeBatch, count: int, texts: Texts) -> Spread:
        return Spread(None)
