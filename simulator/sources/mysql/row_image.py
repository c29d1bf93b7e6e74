"""binlog_row_image: which columns of a change the log holds.

| setting | before | after |
| --- | --- | --- |
| full | all | all |
| minimal | the key; all without a key | those that changed |
| noblob | all but TEXT and BLOB columns outside of the key | all but TEXT and BLOB columns that did not change |

An INSERT names all columns. The key is the primary key, or the first unique key that is NOT NULL. MariaDB logs whole
rows of tables without a key.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from simulator.batch import ChangeBatch
from simulator.model import DELETE, UPDATE
from simulator.sources.partial_images import changed, nothing, parts

LARGE: Final = frozenset(("tinytext", "text", "mediumtext", "longtext", "tinyblob", "blob", "mediumblob", "longblob"))


def as_logged(batch: ChangeBatch, image: str, *, keyless: bool = True) -> list[ChangeBatch]:
    """The changes with the columns in the log, one batch per set of columns. `keyless`: the setting applies to tables
    without a key, too.
    """
    columns = batch.table.columns
    key = list(batch.table.row_key_positions)
    if image == "full" or batch.kind not in (UPDATE, DELETE) or not (key or keyless):
        return [batch]
    large = np.array([image == "minimal" or column.type.name in LARGE for column in columns])
    before = np.tile(~large, (len(batch), 1))
    before[:, key or slice(None)] = True
    return parts(batch, before, changed(batch) | ~large if batch.kind is UPDATE else ~nothing(batch))
