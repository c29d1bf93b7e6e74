"""Partition by the XOR of the hashes of column values: those of the key, or of chosen columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from simulator.batch import ChangeBatch
from simulator.delivery.hashes import Hash, Hashes
from simulator.delivery.policies.columns import column_texts, places
from simulator.delivery.routing import Policy, Spread, Texts
from simulator.model import Table


@dataclass(frozen=True)
class ByXor:
    """An update is hashed by its after image. With `database_hash` the hash of the database takes part.

    `keyless`: the policy for tables without such columns; None: only the database is hashed. `names`: the chosen
    columns; None: the primary key.
    """

    hash: Hash
    keyless: Policy | None = None
    database_hash: bool = False
    names: tuple[str, ...] | None = None

    def columns(self, table: Table) -> tuple[int, ...]:
        return places(table, self.names)

    def spread(self, batch: ChangeBatch, count: int, texts: Texts) -> Spread:
        columns = self.columns(batch.table)
        if not columns and self.keyless is not None:
            return self.keyless.spread(batch, count, texts)
        hashes: Hashes = np.zeros(len(batch), dtype=np.int32)
        if self.database_hash:
            hashes ^= self.hash.of(pa.array([batch.table.id.database]))[0]
        for text in column_texts(batch, columns, texts, "after", ""):
            hashes = hashes ^ self.hash.of(text)
        return Spread(self.hash.modulo(hashes, count))
