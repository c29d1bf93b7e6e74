"""One partition for all rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.batch import ChangeBatch
from simulator.delivery.routing import Spread, Texts, fill
from simulator.model import Table


@dataclass(frozen=True)
class Single:
    """Partition `number`; `text` is a pattern of names, used in place of the hashed text if messages have keys."""

    number: int = 0
    text: str | None = None

    def columns(self, table: Table) -> tuple[int, ...]:
        return ()

    def spread(self, batch: ChangeBatch, count: int, texts: Texts) -> Spread:
        table_id = batch.table.id
        text = (
            None
            if self.text is None
            else fill(self.text, database=table_id.database, schema=table_id.schema, table=table_id.name)
        )
        return Spread(np.full(len(batch), self.number), text)
