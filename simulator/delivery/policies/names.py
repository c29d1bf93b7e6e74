"""Partition by a hash of the table's (or schema's) name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.batch import ChangeBatch
from simulator.delivery.hashes import Hash
from simulator.delivery.routing import Spread, Texts, fill
from simulator.model import Table


@dataclass(frozen=True)
class ByName:
    """`text` is the pattern of the hashed text: `{database}.{table}`."""

    text: str
    hash: Hash

    def name(self, table: Table) -> str:
        return fill(self.text, database=table.id.database, schema=table.id.schema, table=table.id.name)

    def partition(self, table: Table, count: int) -> int:
        return self.hash.partition(self.name(table), count)

    def columns(self, table: Table) -> tuple[int, ...]:
        return ()

    def spread(self, batch: ChangeBatch, count: int, texts: Texts) -> Spread:
        name = self.name(batch.table)
        return Spread(np.full(len(batch), self.hash.partition(name, count)), name)
