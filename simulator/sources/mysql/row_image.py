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

from dataclasses import replace
from typing import Final

import numpy as np

from simulator.batch import ChangeBatch, LoggedColumns, changed_rows
from simulator.model import DELETE, UPDATE

LARGE: Final = frozenset(("tinytext", "text", "mediumtext", "longtext", "tinyblob", "blob", "mediumblob", "longblob"))


def as_logged(batch: ChangeBatch, image: str, *, keyless: bool = True) -> list[ChangeBatch]:
    """The changes with what the log holds of them, those with the same columns together. `keyless`: it lacks columns of
    tables without a key, too."""
    table, every = batch.table, range(len(batch.table.columns))
    key = set(table.row_key_positions)
    if image == "full" or batch.kind not in (UPDATE, DELETE) or not (key or keyless):
        return [batch]
    large = {i for i in every if table.columns[i].type.name in LARGE} if image == "noblob" else set(every)
    before = tuple(i for i in every if i not in large or i in key or not key)
    if batch.kind is DELETE:
        return [_with(batch, before, tuple(every))]
    changed = np.zeros((len(batch), len(every)), dtype=bool)
    for i in every:
        if (rows := changed_rows(batch, i)) is not None:
            changed[rows, i] = True
    kinds, of_row = np.unique(changed[:, sorted(large)], axis=0, return_inverse=True)
    parts = []
    for number, kind in enumerate(kinds):
        held = {i for i, is_changed in zip(sorted(large), kind.tolist(), strict=True) if is_changed}
        after = tuple(i for i in every if i not in large or i in held)
        part = batch if len(kinds) == 1 else batch.take(np.flatnonzero(of_row.reshape(-1) == number))
        parts.append(_with(part, before, after))
    return parts


def _with(batch: ChangeBatch, before: tuple[int, ...], after: tuple[int, ...]) -> ChangeBatch:
    whole = tuple(range(len(batch.table.columns)))
    logged = LoggedColumns(None if before == whole else before, None if after == whole else after)
    return batch if logged == LoggedColumns(None, None) else replace(batch, logged=logged)
